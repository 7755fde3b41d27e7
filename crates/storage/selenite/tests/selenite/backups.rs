//! Backups listed, verified and pruned.

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use selenite::backup::{Backup, backup};
use selenite::backups::{ArchiveOutcome, Prune, Pruned, Reason, Rules, Verification, Verify, list, prune, verify};
use selenite::storage::Disk;
use selenite::{Class, Database, EngineError, Layout, Watch, keys};
use selenite_backup::{ArchiveName, ArchiveWriter, CompressionLevel, Destination, Folder, LogWriter};
use selenite_format::PageSize;
use selenite_format::archive::{Base, Facts, LogEnd, LogPosition};

use crate::support::{Collected, Fixture, superblock_of};

pub struct BackupFixture {
    pub fixture: Fixture,
    pub database: PathBuf,
    pub place: Arc<dyn Destination>,
}

const SQL: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO note SELECT i, hex(randomblob(200)) FROM n;";

impl BackupFixture {
    pub fn new() -> Self {
        let fixture = Fixture::new();
        let database = fixture.path("app.db");
        let made = Database::create(&Disk, &database, &fixture.access(), &Layout::default()).unwrap();
        made.run(SQL, &mut Collected::default()).unwrap();
        let place: Arc<dyn Destination> = Arc::new(Folder::new(&fixture.path("backups")));
        Self {
            fixture,
            database,
            place,
        }
    }

    /// A full backup of the present state.
    pub fn full(&self) -> ArchiveName {
        let (access, how) = (self.fixture.access(), Backup::default());
        let made = backup(&Disk, &self.database, &access, how, &self.place, &Watch::none());
        made.unwrap().name
    }

    /// A backup with this time, with the pages of its base, or without any.
    pub fn made(&self, made: u64, base: Option<Base>, page_count: u32) -> (ArchiveName, Base) {
        self.made_with(made, base, page_count, None)
    }

    /// The same, with a digest of the rows.
    pub fn made_with(
        &self,
        made: u64,
        base: Option<Base>,
        page_count: u32,
        digest: Option<[u8; 32]>,
    ) -> (ArchiveName, Base) {
        let unlocked = superblock_of(&self.fixture, &self.database);
        let mut writer = ArchiveWriter::begin(&self.place, &unlocked, made, &[]).unwrap();
        let facts = Facts {
            begun: [0; 32],
            base,
            page_size: PageSize::DEFAULT,
            page_count,
            change_counter: 1,
            generation: 1,
            made,
            // A log may continue from this position.
            log: Some(POSITION),
            digest,
            parts: Vec::new(),
            indexes: Vec::new(),
            missing: Vec::new(),
        };
        let manifest = writer.finish(facts).unwrap();
        let archive_id = writer.key().archive_id();
        (writer.name().clone(), Base { archive_id, manifest })
    }

    /// A backup that was begun at this time, and never finished.
    fn begun(&self, made: u64) -> ArchiveName {
        let unlocked = superblock_of(&self.fixture, &self.database);
        let writer = ArchiveWriter::begin(&self.place, &unlocked, made, &[]).unwrap();
        writer.name().clone()
    }

    pub fn folder(&self, name: &ArchiveName) -> PathBuf {
        let id = superblock_of(&self.fixture, &self.database).superblock.database_id;
        let id: String = id.0.iter().map(|byte| format!("{byte:02x}")).collect();
        self.fixture.path("backups").join(id).join(name.as_str())
    }

    /// Writes this number of turns with one page each to an archive's log.
    fn follow(&self, name: &ArchiveName, turns: u32) {
        let opened = self.opened(name);
        let id = opened.archive.begun.database_id;
        let end = |frames| LogEnd {
            position: LogPosition { frames, ..POSITION },
            checksum: if frames == 0 { [0; 8] } else { [6; 8] },
        };
        let archive = (opened.archive.key, id, name.clone());
        let level = CompressionLevel::default();
        let mut log = LogWriter::new(self.place.clone(), archive, opened.manifest_digest, end(0), level);
        for number in 1..=turns {
            let made = u64::from(number) * 1000;
            let mut turn = log.turn(end(number), (PageSize::DEFAULT, 9), made).unwrap();
            turn.page(1, &[7; 4096], &[8; 4096]).unwrap();
            turn.finish().unwrap();
        }
    }

    pub fn base_of(&self, name: &ArchiveName) -> (Base, u32) {
        let backup = self.opened(name);
        let archive_id = backup.archive.begun.archive_id;
        let manifest = backup.manifest_digest;
        (Base { archive_id, manifest }, backup.facts.page_count)
    }

    fn opened(&self, name: &ArchiveName) -> selenite_backup::Backup {
        let access = self.fixture.access();
        let identities =
            selenite_keyring::load(access.identity.as_ref().unwrap(), &selenite_keyring::Config::default());
        let trust = selenite_keyring::Trust::default();
        let keys = selenite_backup::KeySource::Identities {
            identities: &identities.unwrap(),
            trust: &trust,
            cache: &selenite_keyring::Cache::new(),
        };
        let id = superblock_of(&self.fixture, &self.database).superblock.database_id;
        let archive = selenite_backup::OpenArchive::open(self.place.as_ref(), id, name, &keys).unwrap();
        archive.into_backup(self.place.as_ref()).unwrap()
    }

    fn verify(&self) -> Verification {
        self.verify_as(&Verify::default()).unwrap()
    }

    fn verify_as(&self, what: &Verify) -> Result<Verification, EngineError> {
        verify(self.place.as_ref(), &self.fixture.access(), what, &Watch::none())
    }

    pub fn prune(&self, rules: Rules, dry_run: bool) -> Pruned {
        let what = Prune {
            rules,
            dry_run,
            ..Prune::default()
        };
        prune(self.place.as_ref(), &self.fixture.access(), &what, &Watch::none()).unwrap()
    }

    pub fn names(&self) -> Vec<String> {
        let listing = list(self.place.as_ref(), &self.fixture.access(), None, &Watch::none()).unwrap();
        listing.archives.iter().map(|one| one.entry.name.to_string()).collect()
    }
}

const POSITION: LogPosition = LogPosition {
    salts: [5; 8],
    frames: 0,
};

pub fn last(count: u32) -> Rules {
    Rules {
        last: Some(count),
        ..Rules::default()
    }
}

pub fn removed(pruned: &Pruned) -> Vec<ArchiveName> {
    pruned.removed.iter().map(|gone| gone.entry.name.clone()).collect()
}

fn faults(verification: &Verification, name: &ArchiveName) -> Vec<String> {
    let one = verification
        .archives
        .iter()
        .find(|one| one.entry.name == *name)
        .unwrap();
    match &one.outcome {
        ArchiveOutcome::Bad(faults) => faults
            .iter()
            .map(|fault| format!("{}: {}", fault.object, fault.what))
            .collect(),
        ArchiveOutcome::Good { .. } => Vec::new(),
        ArchiveOutcome::Unfinished | ArchiveOutcome::Closed(_) | ArchiveOutcome::OnClosed(_) => {
            vec![format!("{:?}", one.outcome)]
        }
    }
}

#[test]
fn a_changed_byte_of_any_object_makes_a_backup_bad() {
    let fixture = BackupFixture::new();
    let full = fixture.full();
    let (base, page_count) = fixture.base_of(&full);
    let (above, _) = fixture.made(selenite::now(), Some(base), page_count);
    let good = fixture.verify();
    assert_eq!(
        (good.good_count(), good.bad_count()),
        (2, 0),
        "{:?}",
        faults(&good, &full)
    );
    let outcome = &good
        .archives
        .iter()
        .find(|one| one.entry.name == above)
        .unwrap()
        .outcome;
    assert!(
        matches!(
            outcome,
            ArchiveOutcome::Good {
                own_count: 0,
                below_count: 1,
                ..
            }
        ),
        "{outcome:?}"
    );

    for object in ["begun", "part-00000000", "index-00000000", "manifest"] {
        let path = fixture.folder(&full).join(object);
        let bytes = fs::read(&path).unwrap();
        for at in [20, bytes.len() / 2, bytes.len() - 1] {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).unwrap();
            let found = fixture.verify();
            let own = faults(&found, &full);
            assert!(
                own.iter()
                    .any(|fault| fault.contains(object) || fault.contains("Closed")),
                "{object} {at}: {own:?}"
            );
            assert!(!faults(&found, &above).is_empty(), "{object} {at}");
        }
        fs::remove_file(&path).unwrap();
        let found = fixture.verify();
        assert!(
            !faults(&found, &full).is_empty() && !faults(&found, &above).is_empty(),
            "{object}"
        );
        fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(fixture.verify().good_count(), 2);
}

#[test]
fn a_backup_that_lacks_a_page_is_bad_and_one_from_before_a_truncation_is_not() {
    let fixture = BackupFixture::new();
    let (base, page_count) = fixture.base_of(&fixture.full());
    let (longer, _) = fixture.made(10, Some(base), page_count + 2);
    let (shorter, _) = fixture.made(10, Some(base), page_count - 2);
    let (alone, _) = fixture.made(10, None, 1);
    let found = fixture.verify();
    let lost = format!(
        "{longer}: 2 of its pages are missing from its parts and its bases, the first is {}",
        page_count + 1
    );
    assert_eq!(faults(&found, &longer), [lost]);
    assert_eq!(faults(&found, &shorter), [""; 0]);
    assert_eq!(faults(&found, &alone).len(), 1);
}

#[test]
fn a_log_is_verified_with_its_backup() {
    let fixture = BackupFixture::new();
    let (base, page_count) = fixture.base_of(&fixture.full());
    let (followed, _) = fixture.made(10, Some(base), page_count);
    fixture.follow(&followed, 3);
    let found = fixture.verify();
    let one = found.archives.iter().find(|one| one.entry.name == followed).unwrap();
    let until = match one.outcome {
        ArchiveOutcome::Good { followed_until, .. } => followed_until,
        ArchiveOutcome::Bad(_)
        | ArchiveOutcome::Unfinished
        | ArchiveOutcome::Closed(_)
        | ArchiveOutcome::OnClosed(_) => None,
    };
    assert_eq!(until, Some(3000), "{:?}", one.outcome);
    // The backup is being followed: it is kept, whatever the rules say.
    let (newer, _) = fixture.made(20, None, 1);
    let pruned = fixture.prune(last(1), true);
    let kept = pruned.kept.iter().find(|kept| kept.entry.name == followed).unwrap();
    assert!(kept.reasons.contains(&Reason::Followed));
    assert_eq!(removed(&pruned), [newer]);
    let second = fixture.folder(&followed).join("log-00000001");
    let bytes = fs::read(&second).unwrap();
    let mut flipped = bytes.clone();
    flipped[200] ^= 1;
    fs::write(&second, flipped).unwrap();
    assert!(faults(&fixture.verify(), &followed)[0].contains("log-00000001"));
    fs::remove_file(&second).unwrap();
    assert!(faults(&fixture.verify(), &followed)[0].contains("log-0000000"));
    fs::write(&second, bytes).unwrap();
    assert_eq!(faults(&fixture.verify(), &followed), [""; 0]);
}

#[test]
fn one_backup_is_verified_with_its_bases_only() {
    let fixture = BackupFixture::new();
    let full = fixture.full();
    let (base, page_count) = fixture.base_of(&full);
    let (above, _) = fixture.made(10, Some(base), page_count);
    let (other, _) = fixture.made(20, None, 7);
    let named = |name: &ArchiveName| {
        let what = Verify {
            name: Some(name.clone()),
            ..Verify::default()
        };
        fixture.verify_as(&what).unwrap()
    };
    assert_eq!((named(&above).good_count(), named(&above).bad_count()), (2, 0));
    assert_eq!(named(&full).archives.len(), 1);
    assert_eq!(named(&other).bad_count(), 1);
    let nothing = Verify {
        name: Some(ArchiveName::new(1, base.archive_id)),
        ..Verify::default()
    };
    assert_eq!(fixture.verify_as(&nothing).unwrap_err().class(), Class::Usage);
}

#[test]
fn without_the_key_nothing_is_verified_or_pruned_and_a_list_says_less() {
    let fixture = BackupFixture::new();
    let full = fixture.full();
    let other = fixture.fixture.access_by("other-key");
    let found = verify(fixture.place.as_ref(), &other, &Verify::default(), &Watch::none()).unwrap();
    assert_eq!((found.good_count(), found.bad_count()), (0, 0));
    assert!(found.closed().is_some());
    fixture.made(10, None, 1);
    let what = Prune {
        rules: last(1),
        ..Prune::default()
    };
    let error = prune(fixture.place.as_ref(), &other, &what, &Watch::none()).unwrap_err();
    assert_eq!(error.class(), Class::Key, "{error}");
    assert_eq!(fixture.names().len(), 2);

    let listing = list(fixture.place.as_ref(), &other, None, &Watch::none()).unwrap();
    assert!(
        listing
            .archives
            .iter()
            .all(|one| one.known.is_none() && one.why_not.is_some())
    );
    let with = list(fixture.place.as_ref(), &fixture.fixture.access(), None, &Watch::none()).unwrap();
    let one = with.archives.iter().find(|one| one.entry.name == full).unwrap();
    let known = one.known.as_ref().unwrap();
    assert!(known.base.is_none() && known.page_count > 100 && one.entry.is_finished && one.entry.size > 100_000);
}

#[test]
fn pruning_removes_backups_that_no_rule_keeps_and_no_foreign_files() {
    let fixture = BackupFixture::new();
    let (first, base) = fixture.made(1_000_000, None, 1);
    let (second, on_it) = fixture.made(2_000_000, Some(base), 1);
    let (third, _) = fixture.made(3_000_000, None, 1);
    let (fourth, _) = fixture.made(4_000_000, Some(on_it), 1);
    let ours = ["note.txt", "part-0000000x", "manifest.bak"].map(|name| fixture.folder(&third).join(name));
    for path in &ours {
        fs::write(path, "mine").unwrap();
    }
    let foreign = fixture.fixture.path("backups").join("readme");
    fs::write(&foreign, "mine").unwrap();

    let dry = fixture.prune(last(1), true);
    assert_eq!(removed(&dry), std::slice::from_ref(&third));
    assert_eq!((fixture.names().len(), dry.foreign_count), (4, 4));
    let done = fixture.prune(last(1), false);
    assert_eq!(removed(&done), [third]);
    assert_eq!(fixture.names(), [first.as_str(), second.as_str(), fourth.as_str()]);
    assert!(ours.iter().chain([&foreign]).all(|path| path.exists()));
    assert_eq!(removed(&fixture.prune(last(1), false)), []);
    let reasons = |name: &ArchiveName| {
        done.kept
            .iter()
            .find(|kept| kept.entry.name == *name)
            .unwrap()
            .reasons
            .clone()
    };
    assert_eq!(reasons(&first), [Reason::Base].into());
    assert_eq!(
        reasons(&fourth),
        [Reason::Newest, Reason::Last, Reason::NextBase].into()
    );

    // A chain that no rule keeps is removed from its end.
    let (fifth, _) = fixture.made(5_000_000, None, 1);
    assert_eq!(removed(&fixture.prune(last(1), false)), [fourth, second, first]);
    assert_eq!(fixture.names(), [fifth.as_str()]);
}

/// The missing object names its base, which is therefore unknown.
#[test]
fn a_backup_without_its_begun_object_is_not_removed() {
    let fixture = BackupFixture::new();
    let (first, base) = fixture.made(1_000_000, None, 1);
    let (second, _) = fixture.made(2_000_000, Some(base), 1);
    let (third, _) = fixture.made(3_000_000, None, 1);
    let begun = fixture.folder(&second).join("begun");
    let whole = fs::read(&begun).unwrap();
    fs::remove_file(&begun).unwrap();
    let long = vec![7; 1 << 20];
    for contents in [None, Some(&whole[..40]), Some(b"x".as_slice()), Some(long.as_slice())] {
        if let Some(contents) = contents {
            fs::write(&begun, contents).unwrap();
        }
        let pruned = fixture.prune(last(1), false);
        assert_eq!(removed(&pruned), []);
        let kept = pruned.kept.iter().find(|kept| kept.entry.name == second).unwrap();
        assert!(kept.reasons.contains(&Reason::Unreadable) && kept.why_not.is_some());
    }
    fs::write(&begun, whole).unwrap();
    assert_eq!(removed(&fixture.prune(last(1), false)), [second, first]);
    assert_eq!(fixture.names(), [third.as_str()]);
}

#[test]
fn an_unfinished_backup_is_removed_after_a_day_by_the_destinations_clock() {
    let fixture = BackupFixture::new();
    let old = fixture.begun(1_000_000);
    let young = fixture.begun(2_000_000);
    let now = SystemTime::now();
    let age = |name: &ArchiveName, seconds: u64| {
        let file = File::options()
            .write(true)
            .open(fixture.folder(name).join("begun"))
            .unwrap();
        file.set_modified(now - Duration::from_secs(seconds)).unwrap();
    };
    age(&old, 3 * 86_400);
    age(&young, 2 * 86_400 + 3600);
    // The destination's clock is two days behind: no object there is newer.
    assert_eq!(removed(&fixture.prune(Rules::default(), false)), []);
    let (full, _) = fixture.made(3_000_000, None, 1);
    age(&young, 80_000);
    // One object is from the future: that does not make any other old.
    let foreign = fixture.fixture.path("backups").join("foreign");
    fs::write(&foreign, "x").unwrap();
    let file = File::options().write(true).open(&foreign).unwrap();
    file.set_modified(now + Duration::from_secs(9 * 86_400)).unwrap();
    age(&full, 1);
    assert_eq!(removed(&fixture.prune(Rules::default(), false)), [old]);
    assert_eq!(fixture.names(), [young.as_str(), full.as_str()]);
}

#[test]
fn a_base_that_was_replaced_is_rejected() {
    let fixture = BackupFixture::new();
    let (full, base) = fixture.made(1_000_000, None, 1);
    let other = Base {
        manifest: [9; 32],
        ..base
    };
    let (above, _) = fixture.made(2_000_000, Some(other), 1);
    let found = fixture.verify();
    assert!(
        faults(&found, &above)
            .iter()
            .any(|fault| fault.contains("manifest of its base has changed"))
    );
    let pruned = fixture.prune(last(1), true);
    let reasons = |name: &ArchiveName| {
        pruned
            .kept
            .iter()
            .find(|kept| kept.entry.name == *name)
            .unwrap()
            .reasons
            .clone()
    };
    assert_eq!(reasons(&above), [Reason::Broken, Reason::NextBase].into());
    assert!(reasons(&full).contains(&Reason::Newest));
}

#[test]
fn a_backup_from_before_the_master_key_was_renewed_opens_with_the_former_key() {
    let fixture = BackupFixture::new();
    fixture.made(1_000_000, None, 1);
    keys::renew(&Disk, &fixture.database, &fixture.fixture.access(), &[], false).unwrap();
    fixture.made(2_000_000, None, 1);
    let pruned = fixture.prune(last(1), true);
    assert_eq!(pruned.removed.len(), 1);
}
