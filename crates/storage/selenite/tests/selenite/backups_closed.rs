//! Backups of which the given keys open only some.

use selenite::backups::{ArchiveOutcome, BaseState, Prune, Reason, Rules, Verify, list, prune, verify};
use selenite::{Access, Watch, now};
use selenite_backup::{ArchiveName, ArchiveWriter};
use selenite_format::PageSize;
use selenite_format::archive::{Base, Facts};
use selenite_keyring::AgeRecipient;

use crate::backups::{BackupFixture, last, removed};
use crate::support::superblock_of;

/// A backup for these recipients, with no page of its own.
fn made_for(
    fixture: &BackupFixture,
    made: u64,
    base: Option<Base>,
    page_count: u32,
    to: &[AgeRecipient],
) -> (ArchiveName, Base) {
    let unlocked = superblock_of(&fixture.fixture, &fixture.database);
    let mut writer = ArchiveWriter::begin(&fixture.place, &unlocked, made, to).unwrap();
    let facts = Facts {
        begun: [0; 32],
        base,
        page_size: PageSize::DEFAULT,
        page_count,
        change_counter: 1,
        generation: 1,
        made,
        log: None,
        digest: None,
        parts: Vec::new(),
        indexes: Vec::new(),
        missing: Vec::new(),
    };
    let manifest = writer.finish(facts).unwrap();
    let archive_id = writer.key().archive_id();
    (writer.name().clone(), Base { archive_id, manifest })
}

/// The access of an escrow holder, who has only a key of backups, and the recipient.
fn escrow(fixture: &BackupFixture) -> (Access, AgeRecipient) {
    let key = selenite_keyring::keygen(0);
    let path = fixture.fixture.path("escrow-key");
    std::fs::write(&path, key.text.as_bytes()).unwrap();
    let access = Access {
        identity: Some(format!("age:{}", path.display()).parse().unwrap()),
        // A recipient's archive does not show who sealed it.
        origin: Some(selenite_keyring::OriginPolicy::Any),
        ..fixture.fixture.access()
    };
    (access, key.recipient.parse().unwrap())
}

#[test]
fn a_backup_on_a_closed_base_is_neither_good_nor_bad_nor_broken() {
    let fixture = BackupFixture::new();
    let (access, recipient) = escrow(&fixture);
    let to = [recipient];
    let full = fixture.full();
    let (base, page_count) = fixture.base_of(&full);
    let (above, above_base) = made_for(&fixture, now(), Some(base), page_count, &to);
    let (top, _) = made_for(&fixture, now() + 1, Some(above_base), page_count, &to);
    let found = verify(fixture.place.as_ref(), &access, &Verify::default(), &Watch::none()).unwrap();
    assert_eq!((found.good_count(), found.bad_count(), found.closed_count()), (0, 0, 3));
    for name in [&above, &top] {
        let one = found.archives.iter().find(|one| one.entry.name == *name).unwrap();
        assert!(
            matches!(&one.outcome, ArchiveOutcome::OnClosed(base) if *base == full),
            "{:?}",
            one.outcome
        );
    }
    assert!(found.closed().is_some());
    // Verified alone, it still names the closed backups.
    let what = Verify {
        name: Some(top.clone()),
        ..Verify::default()
    };
    let found = verify(fixture.place.as_ref(), &access, &what, &Watch::none()).unwrap();
    assert_eq!((found.archives.len(), found.closed_count()), (3, 3));

    let listing = list(fixture.place.as_ref(), &access, None, &Watch::none()).unwrap();
    let known = |name: &ArchiveName| {
        let one = listing.archives.iter().find(|one| one.entry.name == *name).unwrap();
        one.known.clone().unwrap()
    };
    assert_eq!((known(&above).base, known(&above).base_is_there), (Some(full), true));
    assert_eq!(
        (known(&above).chain_state, known(&top).chain_state),
        (BaseState::Closed, BaseState::Closed)
    );

    let pruned = prune(fixture.place.as_ref(), &access, &keep_last(), &Watch::none()).unwrap();
    assert_eq!(removed(&pruned), []);
    let kept = pruned.kept.iter().find(|kept| kept.entry.name == top).unwrap();
    assert!(!kept.reasons.contains(&Reason::Broken), "{:?}", kept.reasons);

    // An altered archive is bad, whatever it depends on.
    let manifest = fixture.folder(&top).join("manifest");
    let mut bytes = std::fs::read(&manifest).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&manifest, bytes).unwrap();
    let found = verify(fixture.place.as_ref(), &access, &Verify::default(), &Watch::none()).unwrap();
    assert_eq!((found.bad_count(), found.closed_count()), (1, 2));
}

fn keep_last() -> Prune {
    Prune {
        rules: last(1),
        ..Prune::default()
    }
}

/// A timer makes backups for a recipient; another is made by hand, for none.
#[test]
fn the_newest_possible_base_is_kept_for_each_set_of_recipients() {
    let fixture = BackupFixture::new();
    let (_, recipient) = escrow(&fixture);
    let to = [recipient];
    let (old, _) = made_for(&fixture, 1_000_000, None, 1, &to);
    let (of_timer, _) = made_for(&fixture, 2_000_000, None, 1, &to);
    let (by_hand, _) = made_for(&fixture, 3_000_000, None, 1, &[]);
    // From a clock that was ahead: it is not used as a base.
    let (ahead, _) = made_for(&fixture, now() + 9 * 86_400, None, 1, &[]);
    let pruned = fixture.prune(last(1), true);
    assert_eq!(removed(&pruned), [old]);
    let reasons = |name: &ArchiveName| {
        let kept = pruned.kept.iter().find(|kept| kept.entry.name == *name).unwrap();
        kept.reasons.clone()
    };
    assert_eq!(reasons(&of_timer), [Reason::NextBase].into());
    assert_eq!(
        reasons(&by_hand),
        [Reason::Newest, Reason::Last, Reason::NextBase].into()
    );
    assert_eq!(reasons(&ahead), [Reason::Future].into());
    assert_eq!(removed(&fixture.prune(Rules::default(), false)), []);
}
