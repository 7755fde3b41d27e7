//! Files that another user puts into a shared folder to attack a process with more rights: links
//! to files that only that process may write or read, and pipes without a writer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use selenite::offline::{Offline, offline};
use selenite::reencrypt::{self, Reencrypt, reencrypt};
use selenite::storage::Disk;
use selenite::{Class, Database, EngineError, Layout, VerifyNotes, Watch, verify};

use crate::support::{Collected, Fixture, query};

const VICTIM: &str = "what only the owner may write";

fn sealed(fixture: &Fixture) -> PathBuf {
    let path = fixture.path("app.db");
    let database = Database::create(&Disk, &path, &fixture.access(), &Layout::default()).unwrap();
    let sql = "CREATE TABLE t (a); INSERT INTO t VALUES (hex(randomblob(40000)))";
    database.run(sql, &mut Collected::default()).unwrap();
    path
}

fn victim(fixture: &Fixture) -> PathBuf {
    let victim = fixture.path("victim");
    fs::write(&victim, VICTIM).unwrap();
    victim
}

fn verified(fixture: &Fixture, path: &Path) -> verify::Report {
    let how = verify::Verify::default();
    verify::verify(&Disk, path, &fixture.access(), &how, &Watch::none()).unwrap()
}

fn pipe(path: &Path) {
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
}

#[test]
fn a_note_replaces_a_link_and_not_its_target() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let notes = VerifyNotes::of(Some(&fixture.path("state")));
    let report = verified(&fixture, &path);
    notes.keep(&path, &report).unwrap();
    let folder = fixture.path("state").join("verified");
    let note = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    let victim = victim(&fixture);
    for target in [&victim, &fixture.path("nothing")] {
        fs::remove_file(&note).unwrap();
        symlink(target, &note).unwrap();
        notes.keep(&path, &report).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), VICTIM);
        assert!(!fixture.path("nothing").exists());
        assert!(fs::symlink_metadata(&note).unwrap().is_file());
        assert!(notes.find(report.physical.sealed.database_id, &path).is_some());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}

#[test]
fn a_note_is_read_neither_through_a_link_nor_from_a_pipe() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let notes = VerifyNotes::of(Some(&fixture.path("state")));
    let report = verified(&fixture, &path);
    notes.keep(&path, &report).unwrap();
    let id = report.physical.sealed.database_id;
    let note = fs::read_dir(fixture.path("state").join("verified")).unwrap();
    let note = note.into_iter().next().unwrap().unwrap().path();
    fs::rename(&note, fixture.path("note")).unwrap();
    symlink(fixture.path("note"), &note).unwrap();
    assert_eq!(notes.find(id, &path), None);
    fs::remove_file(&note).unwrap();
    pipe(&note);
    assert_eq!(notes.find(id, &path), None);
    fs::remove_file(&note).unwrap();
    fs::rename(fixture.path("note"), &note).unwrap();
    assert!(notes.find(id, &path).is_some());
}

#[test]
fn no_note_is_written_to_a_folder_that_is_a_link() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let (state, other) = (fixture.path("state"), fixture.path("other"));
    fs::create_dir(&state).unwrap();
    fs::create_dir(&other).unwrap();
    symlink(&other, state.join("verified")).unwrap();
    let notes = VerifyNotes::of(Some(&state));
    let report = verified(&fixture, &path);
    let kept = notes.keep(&path, &report);
    assert!(matches!(kept, Err(EngineError::Io { .. })), "{kept:?}");
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    assert_eq!(notes.find(report.physical.sealed.database_id, &path), None);
    // The state folder itself is the choice of the user who verifies.
    symlink(&other, fixture.path("elsewhere")).unwrap();
    VerifyNotes::of(Some(&fixture.path("elsewhere")))
        .keep(&path, &report)
        .unwrap();
    assert_eq!(fs::read_dir(other.join("verified")).unwrap().count(), 1);
}

#[test]
fn a_claim_is_neither_taken_nor_read_through_a_link() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let (victim, claim) = (victim(&fixture), fixture.path("app.db-selenite"));
    for plant in [
        |target: &Path, name: &Path| symlink(target, name),
        |target: &Path, name: &Path| fs::hard_link(target, name),
    ] {
        plant(&victim, &claim).unwrap();
        let done = reencrypt(&Disk, &path, &fixture.access(), &Reencrypt::default(), &Watch::none());
        assert_eq!(done.unwrap_err().class(), Class::Io);
        assert_eq!(fs::read_to_string(&victim).unwrap(), VICTIM);
        fs::remove_file(&claim).unwrap();
    }
    fs::write(&victim, format!("pid {}\nsince 1\n", std::process::id())).unwrap();
    symlink(&victim, &claim).unwrap();
    assert!(reencrypt::report(&Disk, &path).is_err());
    fs::remove_file(&claim).unwrap();
    pipe(&claim);
    assert!(reencrypt::report(&Disk, &path).is_err());
    fs::remove_file(&claim).unwrap();
    reencrypt(&Disk, &path, &fixture.access(), &Reencrypt::default(), &Watch::none()).unwrap();
}

#[test]
fn a_pause_replaces_a_dangling_link() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let pause = fixture.path("app.db-selenite-pause");
    symlink(fixture.path("nothing"), &pause).unwrap();
    reencrypt::pause(&Disk, &path).unwrap();
    assert!(reencrypt::is_paused(&Disk, &path));
    assert!(!fixture.path("nothing").exists());
    assert!(reencrypt::resume(&Disk, &path).unwrap());
    assert!(!reencrypt::is_paused(&Disk, &path));
}

#[test]
fn the_files_of_an_offline_copy_replace_links() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let victim = victim(&fixture);
    for tail in ["offline", "offline-done"] {
        let name = fixture.path(&format!(".app.db.selenite-tmp-{tail}"));
        for target in [&victim, &fixture.path("nothing")] {
            symlink(target, &name).unwrap();
            offline(&Disk, &path, &fixture.access(), &Offline::default(), &Watch::none()).unwrap();
        }
        fs::hard_link(&victim, &name).unwrap();
        offline(&Disk, &path, &fixture.access(), &Offline::default(), &Watch::none()).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), VICTIM);
    }
    assert_eq!(fixture.names(), ["app.db", "victim"]);
    query(&path, &fixture.access(), "SELECT a FROM t").unwrap();
}

/// A run that continues a draft creates only the file of done runs.
#[test]
fn a_continued_offline_copy_writes_its_done_file_through_no_link() {
    let fixture = Fixture::new();
    let path = sealed(&fixture);
    let victim = victim(&fixture);
    let steps = std::sync::Arc::new(Stopped);
    let watch = Watch::new(steps);
    let stopped = offline(&Disk, &path, &fixture.access(), &Offline::default(), &watch);
    assert!(matches!(stopped, Err(EngineError::Interrupted)), "{stopped:?}");
    assert!(fixture.path(".app.db.selenite-tmp-offline").exists());
    let done = fixture.path(".app.db.selenite-tmp-offline-done");
    for plant in [
        |target: &Path, name: &Path| symlink(target, name),
        |target: &Path, name: &Path| fs::hard_link(target, name),
    ] {
        let _ = fs::remove_file(&done);
        plant(&victim, &done).unwrap();
        let watch = Watch::new(std::sync::Arc::new(Stopped));
        let stopped = offline(&Disk, &path, &fixture.access(), &Offline::default(), &watch);
        assert!(matches!(stopped, Err(EngineError::Interrupted)), "{stopped:?}");
        assert_eq!(fs::read_to_string(&victim).unwrap(), VICTIM);
    }
    offline(&Disk, &path, &fixture.access(), &Offline::default(), &Watch::none()).unwrap();
    assert_eq!(fixture.names(), ["app.db", "victim"]);
}

struct Stopped;

impl selenite::Observer for Stopped {
    fn progress(&self, _: selenite::Progress) {}

    fn is_interrupted(&self) -> bool {
        true
    }
}
