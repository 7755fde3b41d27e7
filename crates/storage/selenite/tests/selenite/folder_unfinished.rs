//! Interrupted operations that can be continued, in the listing of a folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use selenite::folder::{Limits, ListingContext, Warning};
use selenite::storage::{Disk, Storage};
use selenite::{EngineError, Watch, reencrypt};

use crate::folder::{NOTE, codes, list, notes, only, sealed, verified};
use crate::support::Fixture;

/// A full copy, which is unencrypted after `--off`.
#[test]
fn an_interrupted_offline_copy_is_reported_as_drafts() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    let draft = fixture.plain(".app.db.selenite-tmp-offline", NOTE);
    let done = fixture.path(".app.db.selenite-tmp-offline-done");
    fs::write(&done, [0; 40]).unwrap();
    verified(&fixture, &path);
    let listing = list(&fixture);
    let one = only(&listing);
    let files: Vec<Option<&Path>> = one.warnings.iter().map(Warning::file).collect();
    assert_eq!(
        (codes(one), files),
        (vec!["draft", "draft"], vec![Some(&*draft), Some(&*done)])
    );
    let context = ListingContext::new(&fixture.access(), Limits::default()).unwrap();
    let listing = context.with_notes(notes(&fixture)).file(&path).unwrap();
    assert_eq!(codes(only(&listing)), ["draft", "draft"]);
    fs::remove_file(&path).unwrap();
    assert_eq!(codes(only(&list(&fixture))), ["draft"]);
}

struct Stopped;

impl selenite::Observer for Stopped {
    fn progress(&self, _: selenite::Progress) {}

    fn is_interrupted(&self) -> bool {
        true
    }
}

#[test]
fn an_interrupted_re_encryption_that_no_process_continues_is_a_warning() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    verified(&fixture, &path);
    let watch = Watch::new(std::sync::Arc::new(Stopped));
    let how = reencrypt::Reencrypt::default();
    let stopped = reencrypt::reencrypt(&Disk, &path, &fixture.access(), &how, &watch);
    assert!(matches!(stopped, Err(EngineError::Unfinished { .. })), "{stopped:?}");
    let context = || {
        ListingContext::new(&fixture.access(), Limits::default())
            .unwrap()
            .with_notes(notes(&fixture))
    };
    let link = fixture.path("link");
    symlink(&path, &link).unwrap();
    let found = |codes_of: &[&str]| {
        assert_eq!(codes(only(&list(&fixture))), codes_of);
        for path in [&path, &link] {
            let of_file = context().file(path).unwrap();
            assert_eq!(
                only(&of_file)
                    .warnings
                    .last()
                    .is_some_and(|last| *last == Warning::Unfinished),
                !codes_of.is_empty()
            );
            let status = selenite::status(&Disk, path, &fixture.access()).unwrap();
            let judged = context().judge(&status);
            assert_eq!(judged.warnings.contains(&Warning::Unfinished), !codes_of.is_empty());
        }
    };
    found(&["unfinished"]);
    // A process that works on it, here or in another pid namespace.
    let claim = Disk.claim(&fixture.path("app.db-selenite")).unwrap().unwrap();
    for pid in [std::process::id(), u32::MAX] {
        claim.write(&format!("pid {pid}\n")).unwrap();
        found(&[]);
    }
    drop(claim);
    found(&["unfinished"]);
    let how = reencrypt::Reencrypt {
        goal: reencrypt::Goal::GoOn,
        ..how
    };
    reencrypt::reencrypt(&Disk, &path, &fixture.access(), &how, &Watch::none()).unwrap();
    found(&[]);
}
