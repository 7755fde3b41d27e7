//! A folder of databases: the listing and its warnings.

use std::fs;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};

use selenite::folder::{Entry, Kind, Limits, Listing, ListingContext, Warning};
use selenite::storage::Disk;
use selenite::{Access, Age, Encrypt, VerifyKind, VerifyNotes, Watch, encrypt, now, verify};
use selenite_cipher::Suite;
use selenite_format::State;

use crate::support::{Fixture, rewrite_superblock, superblock_of};

const DAY: u64 = 86_400;
pub const NOTE: &str = "CREATE TABLE note (a); INSERT INTO note VALUES ('x')";

pub fn sealed(fixture: &Fixture, name: &str) -> PathBuf {
    sealed_in(fixture, name, Suite::Aes256)
}

fn sealed_in(fixture: &Fixture, name: &str, suite: Suite) -> PathBuf {
    let path = fixture.plain(name, NOTE);
    let how = Encrypt {
        suite,
        ..Encrypt::default()
    };
    encrypt(&Disk, &path, &fixture.access(), &how, &Watch::none()).unwrap();
    path
}

pub fn notes(fixture: &Fixture) -> VerifyNotes {
    VerifyNotes::of(Some(&fixture.path("state")))
}

pub fn verified(fixture: &Fixture, path: &Path) {
    let report = verify::verify(
        &Disk,
        path,
        &fixture.access(),
        &verify::Verify::default(),
        &Watch::none(),
    )
    .unwrap();
    notes(fixture).keep(path, &report).unwrap();
}

fn list_as(fixture: &Fixture, access: &Access) -> Listing {
    let context = ListingContext::new(access, Limits::default())
        .unwrap()
        .with_notes(notes(fixture));
    context.folder(fixture.folder.path()).unwrap()
}

pub fn list(fixture: &Fixture) -> Listing {
    list_as(fixture, &fixture.access())
}

fn entry<'a>(listing: &'a Listing, path: &Path) -> &'a Entry {
    let found = listing.databases.iter().find(|one| one.path == path);
    found.unwrap_or_else(|| panic!("{} in {listing:#?}", path.display()))
}

pub fn only(listing: &Listing) -> &Entry {
    let [one] = &listing.databases[..] else {
        panic!("{listing:#?}")
    };
    one
}

pub fn codes(entry: &Entry) -> Vec<&'static str> {
    entry.warnings.iter().map(Warning::code).collect()
}

#[test]
fn a_verified_database_gives_no_warning() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    let before = list(&fixture);
    assert_eq!(codes(only(&before)), ["never_verified"]);
    assert!(before.has_warnings() && only(&before).last_verify.is_none());
    verified(&fixture, &path);
    let listing = list(&fixture);
    let one = only(&listing);
    assert_eq!((one.kind, codes(one)), (Kind::Sealed, vec![]));
    assert!(one.is_encrypted() && one.sealed.as_ref().unwrap().authentic && !listing.has_warnings());
    let (note, age) = one.last_verify.unwrap();
    assert_eq!(
        (note.kind, note.page_count),
        (VerifyKind::Full, one.sealed.as_ref().unwrap().page_count)
    );
    assert!(matches!(age, Age::Seconds(0..600)), "{age:?}");
    assert!(matches!(one.data_key_age, Some(Age::Seconds(0..600))), "{one:?}");
}

#[test]
fn without_a_key_the_listing_is_not_authentic() {
    let fixture = Fixture::new();
    sealed(&fixture, "app.db");
    for access in [Access::default(), fixture.access_by("other-key")] {
        let listing = list_as(&fixture, &access);
        let sealed = only(&listing).sealed.as_ref().unwrap();
        assert!(!sealed.authentic && sealed.why_not.is_some() && only(&listing).is_encrypted());
    }
}

#[test]
fn keys_and_verifies_grow_old_on_the_day_after_their_limit() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    verified(&fixture, &path);
    let made = superblock_of(&fixture, &path).superblock.master_created;
    let limits = Limits {
        data_key_days: 20,
        master_key_days: 30,
        verify_days: 40,
    };
    let at = |days: u64, limits| {
        let context = ListingContext::new(&fixture.access(), limits)
            .unwrap()
            .with_notes(notes(&fixture));
        // Two hours for the duration of this test.
        let listing = context
            .at(made + days * DAY + 7200)
            .folder(fixture.folder.path())
            .unwrap();
        codes(only(&listing))
    };
    assert_eq!(at(19, limits), [""; 0]);
    assert_eq!(at(20, limits), ["data_key_old"]);
    assert_eq!(at(30, limits), ["data_key_old", "master_key_old"]);
    assert_eq!(at(40, limits), ["data_key_old", "master_key_old", "verify_old"]);
    let never = Limits {
        data_key_days: 0,
        master_key_days: 0,
        verify_days: 0,
    };
    assert_eq!(at(40_000, never), [""; 0]);
}

#[test]
fn a_time_in_the_future_is_not_an_age() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    verified(&fixture, &path);
    let context = ListingContext::new(&fixture.access(), Limits::default()).unwrap();
    let listing = context
        .with_notes(notes(&fixture))
        .at(now() - DAY)
        .folder(fixture.folder.path())
        .unwrap();
    let one = only(&listing);
    assert!(matches!(one.data_key_age, Some(Age::Future(_))), "{one:?}");
    assert!(matches!(one.last_verify, Some((_, Age::Future(_)))), "{one:?}");
    let words: Vec<String> = one.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        words,
        [
            "data key in the future",
            "master key in the future",
            "last verify in the future"
        ]
    );
}

/// A copy has the same id, but was not verified.
#[test]
fn a_verify_counts_for_the_file_that_was_verified_and_not_for_its_copy() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    let copy = fixture.path("copy.db");
    fs::copy(&path, &copy).unwrap();
    verified(&fixture, &path);
    let listing = list(&fixture);
    assert_eq!(codes(entry(&listing, &path)), [""; 0]);
    assert_eq!(codes(entry(&listing, &copy)), ["never_verified"]);
}

/// Holders of removed slots would have a key again.
#[test]
fn an_older_copy_in_its_place_is_detected_by_its_generation() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    let old = fs::read(&path).unwrap();
    rewrite_superblock(&fixture, &path, |_| {});
    verified(&fixture, &path);
    assert_eq!(codes(only(&list(&fixture))), [""; 0]);
    fs::write(&path, old).unwrap();
    assert_eq!(codes(only(&list(&fixture))), ["set_back"]);
}

#[test]
fn a_verify_that_found_something_is_not_kept() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[65536 + 4096 + 7] ^= 1;
    fs::write(&path, bytes).unwrap();
    verified(&fixture, &path);
    assert_eq!(codes(only(&list(&fixture))), ["never_verified"]);
    assert!(!fixture.path("state").exists());
}

#[test]
fn files_beside_a_database_are_reported() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    let copy = fixture.plain("app.db.bak", NOTE);
    let draft = fixture.plain(".app.db.selenite-tmp-0123abcd", NOTE);
    let orphan = fixture.plain(".gone.db.selenite-tmp-0123abcd", NOTE);
    let other = fixture.plain("other.db", NOTE);
    let wal = [&[0x37, 0x7f, 0x06, 0x82][..], &3_007_000_u32.to_be_bytes(), &[0; 24]].concat();
    fs::write(fixture.path("app.db-wal"), wal).unwrap();
    verified_by_time(&fixture, &path);
    let listing = list(&fixture);
    let named = |warning: &Warning| warning.file().map(Path::to_owned);
    let found = entry(&listing, &path);
    assert_eq!(codes(found), ["log_in_clear", "plain_copy", "draft"]);
    let files: Vec<Option<PathBuf>> = found.warnings.iter().map(named).collect();
    assert_eq!(
        files,
        [Some(fixture.path("app.db-wal")), Some(copy.clone()), Some(draft)]
    );
    assert_eq!(codes(entry(&listing, &copy)), ["in_clear"]);
    assert_eq!(codes(entry(&listing, &other)), ["in_clear"]);
    assert_eq!(codes(entry(&listing, &orphan)), ["in_clear", "draft"]);
    assert_eq!(listing.databases.len(), 4, "{listing:#?}");
}

/// A verify without the log: it rejects an unencrypted one.
fn verified_by_time(fixture: &Fixture, path: &Path) {
    let log = fixture.path("app.db-wal");
    let bytes = fs::read(&log).unwrap();
    fs::remove_file(&log).unwrap();
    verified(fixture, path);
    fs::write(log, bytes).unwrap();
}

#[test]
fn unencrypted_databases_alone_give_no_warning() {
    let fixture = Fixture::new();
    fixture.plain("one.db", NOTE);
    fixture.plain("two", NOTE);
    let listing = list(&fixture);
    assert_eq!(listing.databases.len(), 2);
    assert!(!listing.has_warnings(), "{listing:#?}");
}

#[test]
fn damage_is_distinguished_from_tampering_and_does_not_end_the_listing() {
    let fixture = Fixture::new();
    let whole = sealed(&fixture, "whole.db");
    let (half, torn) = (fixture.path("half.db"), fixture.path("torn.db"));
    let (tampered, later, emptied) = (
        fixture.path("tampered.db"),
        fixture.path("later.db"),
        fixture.path("emptied.db"),
    );
    for copy in [&half, &torn, &tampered, &emptied, &later] {
        fs::copy(&whole, copy).unwrap();
    }
    flip(&half, &[100]);
    flip(&torn, &[100, 32868]);
    // An invalid MAC and an unsupported version, with correct checksums.
    let resigned = |path: &Path, offset: usize, value: u8| {
        let unlocked = superblock_of(&fixture, path);
        let mut bytes = unlocked.encode().unwrap();
        let size = bytes.len();
        bytes[offset.min(size - 40)] = value;
        let checksum = selenite_cipher::sha256(&bytes[..size - 32]);
        bytes[size - 32..].copy_from_slice(&checksum);
        let mut file = fs::read(path).unwrap();
        for place in [0, 32768] {
            file[place..place + size].copy_from_slice(&bytes);
        }
        fs::write(path, file).unwrap();
    };
    resigned(&tampered, usize::MAX, 7);
    resigned(&later, 19, 9);
    fs::OpenOptions::new()
        .write(true)
        .open(&emptied)
        .unwrap()
        .set_len(65536)
        .unwrap();
    let listing = list(&fixture);
    for (path, kind, code) in [
        (&half, Kind::Sealed, "superblock_damaged"),
        (&torn, Kind::Damaged, "damaged"),
        (&tampered, Kind::Damaged, "damaged"),
        (&emptied, Kind::Damaged, "damaged"),
        (&later, Kind::Sealed, "refused"),
        (&whole, Kind::Sealed, "never_verified"),
    ] {
        let one = entry(&listing, path);
        assert_eq!((one.kind, codes(one)[0]), (kind, code), "{one:#?}");
        assert_eq!(one.problem.is_some(), matches!(code, "damaged" | "refused"), "{one:#?}");
    }
    assert!(listing.unreadable.is_empty(), "{listing:#?}");
}

fn flip(path: &Path, offsets: &[usize]) {
    let mut bytes = fs::read(path).unwrap();
    for &offset in offsets {
        bytes[offset] ^= 1;
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn weak_suites_are_reported() {
    let fixture = Fixture::new();
    let weak = sealed_in(&fixture, "weak.db", Suite::TripleDes3Key);
    let none = sealed(&fixture, "none.db");
    rewrite_superblock(&fixture, &none, |unlocked| {
        unlocked.superblock.epochs[0].suite = Suite::None;
    });
    let listing = list_as(&fixture, &Access::default());
    assert_eq!(codes(entry(&listing, &weak)), ["suite_deprecated", "never_verified"]);
    let none = entry(&listing, &none);
    assert_eq!(codes(none), ["suite_none"]);
    assert!(!none.is_encrypted() && none.data_key_age.is_none());
}

#[test]
fn a_state_is_shown_with_its_progress() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    let retired = sealed(&fixture, "retired.db");
    rewrite_superblock(&fixture, &path, |unlocked| unlocked.set_state(State::Changing, 1));
    rewrite_superblock(&fixture, &retired, |unlocked| unlocked.retire());
    for access in [fixture.access(), Access::default()] {
        let listing = list_as(&fixture, &access);
        let sealed = entry(&listing, &path).sealed.as_ref().unwrap();
        assert_eq!(
            (sealed.page_count, sealed.percent(), sealed.progress()),
            (2, Some(50), Some(0.5))
        );
        assert_eq!(codes(entry(&listing, &retired)), ["retired"]);
    }
}

#[test]
fn other_files_are_omitted_unless_named_like_databases() {
    let fixture = Fixture::new();
    fs::write(fixture.path("noise.txt"), [b'x'; 9000]).unwrap();
    fs::write(fixture.path("noise.SQLite3"), [b'x'; 9000]).unwrap();
    fs::write(fixture.path("empty.db"), "").unwrap();
    fs::write(fixture.path("empty"), "").unwrap();
    let listing = list(&fixture);
    let found: Vec<(PathBuf, Kind)> = listing
        .databases
        .iter()
        .map(|one| (one.path.clone(), one.kind))
        .collect();
    assert_eq!(
        found,
        [
            (fixture.path("empty.db"), Kind::Empty),
            (fixture.path("noise.SQLite3"), Kind::Foreign)
        ]
    );
    assert!(!listing.has_warnings());
}

#[test]
fn links_are_not_followed_and_pipes_not_opened() {
    let outside = Fixture::new();
    let secret = sealed(&outside, "secret.db");
    let fixture = Fixture::new();
    let below = fixture.path("deep/deeper");
    fs::create_dir_all(&below).unwrap();
    let path = sealed(&fixture, "deep/deeper/app.db");
    symlink(&secret, fixture.path("link.db")).unwrap();
    symlink(outside.folder.path(), fixture.path("away")).unwrap();
    symlink(fixture.folder.path(), below.join("loop")).unwrap();
    let pipe = fixture.path("pipe.db");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(fixture.path("socket.db")).unwrap();
    let listing = list(&fixture);
    assert_eq!(only(&listing).path, path);
    assert!(listing.unreadable.is_empty(), "{listing:#?}");
}

/// Opening and closing it would release its POSIX locks.
#[test]
fn a_database_that_this_process_has_open_is_reported_and_not_opened() {
    let fixture = Fixture::new();
    let path = fixture.plain("open.db", NOTE);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
    sealed(&fixture, "other.db");
    let listing = list(&fixture);
    let [one] = &listing.unreadable[..] else {
        panic!("{listing:#?}")
    };
    assert_eq!((&one.path, one.why.as_str()), (&path, "this process has it open"));
    assert!(listing.has_warnings() && listing.databases.len() == 1);
}

#[test]
fn thousands_of_files_are_listed_in_order() {
    let fixture = Fixture::new();
    let first = sealed(&fixture, "0.db");
    let bytes = fs::read(first).unwrap();
    for number in 1..2000 {
        let folder = fixture.path(&format!("{}", number % 7));
        fs::create_dir_all(&folder).unwrap();
        // Both superblocks, and holes.
        let file = fs::File::create(folder.join(format!("{number}.db"))).unwrap();
        for place in [0, 32768] {
            file.write_all_at(&bytes[place..place + 1024], u64::try_from(place).unwrap())
                .unwrap();
        }
        file.set_len(66_000).unwrap();
    }
    let listing = list_as(&fixture, &Access::default());
    assert_eq!(listing.databases.len(), 2000);
    assert!(listing.databases.is_sorted_by(|a, b| a.path < b.path));
}

#[test]
fn one_database_is_judged_as_in_its_folder() {
    let fixture = Fixture::new();
    let path = sealed(&fixture, "app.db");
    fixture.plain("app.db.bak", NOTE);
    let context = ListingContext::new(&fixture.access(), Limits::default())
        .unwrap()
        .with_notes(notes(&fixture));
    let alone = context.file(&path).unwrap();
    let status = selenite::status(&Disk, &path, &fixture.access()).unwrap();
    let judged = context.judge(&status);
    let listing = list(&fixture);
    for one in [only(&alone), &judged, entry(&listing, &path)] {
        assert_eq!(codes(one), ["never_verified", "plain_copy"]);
    }
    let noise = fixture.path("noise");
    fs::write(&noise, [b'x'; 9000]).unwrap();
    assert!(context.file(&noise).is_err() && context.file(&fixture.path("missing")).is_err());
    assert!(context.folder(&fixture.path("missing")).is_err());
}
