//! Export into SQLCipher's format, and import from it. What the products themselves have made is
//! imported in `tests/clients/test_import.py`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use selenite::export::{Export, export};
use selenite::import::{Format, Import, Imported, Key, import, import_readable};
use selenite::salvage::Salvaged;
use selenite::storage::{Disk, Storage};
use selenite::{Cell, Class, Encrypt, EngineError, Suite, Watch, encrypt, verify};
use selenite_testing::own_process;

use crate::pausing::{Pausing, Steps, watch};
use crate::power::Power;
use crate::support::{Fixture, query};

const MARKER: &str = "quick-brown-fox";
const NOTES: &str = "CREATE TABLE note (text, extra); CREATE INDEX note_by_text ON note (text);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO note (rowid, text, extra) SELECT i * 3, 'quick-brown-fox ' || i, randomblob(300) FROM n;
    DELETE FROM note WHERE rowid % 7 = 0; PRAGMA user_version = 77; CREATE VIEW v AS SELECT * FROM note;";
const DUMP: &str = "SELECT rowid, text, extra FROM note ORDER BY rowid";
const PASSPHRASE: &[u8] = b"correct horse";

fn format(name: &str) -> Format {
    let mut format = Format::parse(name).unwrap();
    // The passphrase of a test needs no stretching.
    format.set("kdf_iter", "10").unwrap();
    format
}

/// An encrypted database, and its rows.
fn encrypted(fixture: &Fixture) -> (PathBuf, Vec<Vec<Cell>>) {
    let path = fixture.plain("app.db", NOTES);
    encrypt(&Disk, &path, &fixture.access(), &Encrypt::default(), &Watch::none()).unwrap();
    let rows = query(&path, &fixture.access(), DUMP).unwrap();
    (path, rows)
}

fn exported(fixture: &Fixture, format: &Format) -> (PathBuf, Vec<Vec<Cell>>) {
    let (path, rows) = encrypted(fixture);
    let old = fixture.path("old.db");
    let how = Export {
        format: format.clone(),
        key: Key::passphrase(PASSPHRASE),
    };
    export(&Disk, (&path, &old), &fixture.access(), &how, &Watch::none()).unwrap();
    (old, rows)
}

fn how(format: &Format, passphrase: &[u8]) -> Import {
    Import {
        format: Some(format.clone()),
        key: Key::passphrase(passphrase),
        suite: Suite::Aes256,
        recipients: Vec::new(),
    }
}

fn import_by(
    storage: &dyn Storage,
    fixture: &Fixture,
    old: &Path,
    (how, watch): (&Import, &Watch),
) -> Result<Imported, EngineError> {
    import(storage, (old, &fixture.path("new.db")), &fixture.access(), how, watch)
}

#[test]
fn what_was_exported_is_imported_with_its_rowids() {
    for name in ["sqlcipher4", "sqlcipher3", "sqlcipher2"] {
        let fixture = Fixture::new();
        let format = format(name);
        let (old, rows) = exported(&fixture, &format);
        assert!(!crate::support::holds(&old, MARKER.as_bytes()));
        let imported = import_by(&Disk, &fixture, &old, (&how(&format, PASSPHRASE), &Watch::none())).unwrap();
        assert!(imported.is_authenticated);
        assert_eq!(imported.format.page_size(), Some(4096));
        let new = fixture.path("new.db");
        assert_eq!(query(&new, &fixture.access(), DUMP).unwrap(), rows, "{name}");
        let version = query(&new, &fixture.access(), "PRAGMA user_version").unwrap();
        assert_eq!(version, [[Cell::Integer(77)]]);
        assert_eq!(fixture.names(), ["app.db", "new.db", "old.db"]);
    }
}

#[test]
fn another_key_or_format_does_not_open_it() {
    let fixture = Fixture::new();
    let format = format("sqlcipher4");
    let (old, _) = exported(&fixture, &format);
    let before = std::fs::read(&old).unwrap();
    let other = Format::parse("chacha20").unwrap();
    for how in [how(&format, b"wrong"), how(&other, PASSPHRASE)] {
        let refused = import_by(&Disk, &fixture, &old, (&how, &Watch::none()));
        let error = refused.err().unwrap();
        assert!(
            matches!(error, EngineError::Unopened { .. }) && error.class() == Class::Key,
            "{error}"
        );
    }
    assert_eq!(fixture.names(), ["app.db", "old.db"]);
    assert!(std::fs::read(&old).unwrap() == before);
}

#[test]
fn a_page_that_is_not_authentic_is_named() {
    let fixture = Fixture::new();
    let format = format("sqlcipher4");
    let (old, _) = exported(&fixture, &format);
    let mut bytes = std::fs::read(&old).unwrap();
    bytes[4096 * 6 + 77] ^= 1;
    std::fs::write(&old, bytes).unwrap();
    let refused = import_by(&Disk, &fixture, &old, (&how(&format, PASSPHRASE), &Watch::none()));
    let error = refused.err().unwrap();
    let EngineError::Refused { pages, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(pages.iter().map(|bad| bad.page_no).collect::<Vec<_>>(), [7], "{error}");
    assert_eq!(fixture.names(), ["app.db", "old.db"]);
}

#[test]
fn files_of_another_kind_are_refused_before_any_key_is_derived() {
    let fixture = Fixture::new();
    let (sealed, _) = encrypted(&fixture);
    let plain = fixture.plain("plain.db", NOTES);
    let empty = fixture.path("empty.db");
    std::fs::write(&empty, "").unwrap();
    let how = how(&format("sqlcipher4"), PASSPHRASE);
    let refused = |path: &Path| import_by(&Disk, &fixture, path, (&how, &Watch::none())).err().unwrap();
    assert!(matches!(refused(&sealed), EngineError::AlreadyEncrypted { .. }));
    assert!(matches!(refused(&plain), EngineError::Usage { .. }));
    assert!(matches!(refused(&empty), EngineError::NotEncrypted { .. }));
    assert!(matches!(refused(&fixture.path("missing.db")), EngineError::Io { .. }));
    std::fs::write(fixture.path("new.db-wal"), "").unwrap();
    let other = fixture.path("other");
    std::fs::write(&other, vec![7; 8192]).unwrap();
    assert!(matches!(refused(&other), EngineError::Exists { .. }));
}

#[test]
fn a_file_of_any_size_is_refused_or_opened() {
    let fixture = Fixture::new();
    let format = format("sqlcipher4");
    let (old, _) = exported(&fixture, &format);
    let whole = std::fs::read(&old).unwrap();
    for size in [1, 15, 16, 23, 100, 511, 4095, 4096, 4097, 8192, 12_287, whole.len() - 1] {
        let cut = fixture.path("cut.db");
        std::fs::write(&cut, &whole[..size]).unwrap();
        let refused = import_by(&Disk, &fixture, &cut, (&how(&format, PASSPHRASE), &Watch::none()));
        assert!(refused.is_err(), "{size}");
        assert!(!fixture.path("new.db").exists());
    }
}

#[test]
fn formats_without_a_mac_are_not_exported_to() {
    let fixture = Fixture::new();
    let (path, _) = encrypted(&fixture);
    let mut no_mac = format("sqlcipher4");
    no_mac.set("cipher_use_hmac", "off").unwrap();
    let mut small = format("sqlcipher4");
    small.set("cipher_page_size", "1024").unwrap();
    for format in [
        no_mac,
        small,
        Format::parse("rc4").unwrap(),
        Format::parse("aegis").unwrap(),
    ] {
        let how = Export {
            format,
            key: Key::passphrase(PASSPHRASE),
        };
        let paths = (path.as_path(), &*fixture.path("old.db"));
        let refused = export(&Disk, paths, &fixture.access(), &how, &Watch::none());
        assert!(matches!(refused, Err(EngineError::Usage { .. })), "{}", how.format);
    }
    assert_eq!(fixture.names(), ["app.db"]);
}

/// Looks for the marker in every file of the folder, and in every nameless file of the process, at
/// each step of an operation.
struct Look {
    folder: PathBuf,
    count: AtomicU32,
}

impl Steps for Look {
    fn step(&self, name: &str) {
        self.count.fetch_add(1, Ordering::SeqCst);
        let files = std::fs::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let open = std::fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| {
            let path = entry.ok()?.path();
            let target = std::fs::read_link(&path).ok()?;
            target.to_string_lossy().ends_with("(deleted)").then_some(path)
        });
        for path in files.chain(open) {
            let Ok(content) = std::fs::read(&path) else { continue };
            let found = content.windows(MARKER.len()).any(|window| window == MARKER.as_bytes());
            assert!(!found, "{name}: {}", path.display());
        }
    }
}

/// no-plaintext-on-disk. The process has no files of other tests.
#[test]
fn nothing_is_unencrypted_on_the_disk_at_any_step() {
    own_process!();
    let fixture = Fixture::new();
    let format = format("sqlcipher4");
    let (old, _) = exported(&fixture, &format);
    let look = Arc::new(Look {
        folder: fixture.folder.path().to_owned(),
        count: AtomicU32::new(0),
    });
    let storage = Pausing(look.clone());
    import_by(&storage, &fixture, &old, (&how(&format, PASSPHRASE), &watch(&look))).unwrap();
    let how = Export {
        format,
        key: Key::passphrase(PASSPHRASE),
    };
    let paths = (&*fixture.path("new.db"), &*fixture.path("again.db"));
    export(&storage, paths, &fixture.access(), &how, &watch(&look)).unwrap();
    let count = look.count.load(Ordering::SeqCst);
    assert!(count > 40, "{count}");
}

/// no-writers, every-value-compared: the new database has its name only when it is complete.
#[test]
fn a_power_failure_at_any_step_leaves_no_database_or_a_whole_one() {
    let fixture = Fixture::new();
    let format = format("sqlcipher3");
    let (old, rows) = exported(&fixture, &format);
    let before = std::fs::read(&old).unwrap();
    let new = fixture.path("new.db");
    for fails_at in 0.. {
        let power = Power::failing_at(fails_at);
        let ended = import_by(&power, &fixture, &old, (&how(&format, PASSPHRASE), &Watch::none()));
        assert!(std::fs::read(&old).unwrap() == before);
        if new.exists() {
            assert_eq!(query(&new, &fixture.access(), DUMP).unwrap(), rows, "step {fails_at}");
            let report = verify::verify(
                &Disk,
                &new,
                &fixture.access(),
                &verify::Verify::default(),
                &Watch::none(),
            )
            .unwrap();
            assert!(report.physical.is_good());
            std::fs::remove_file(&new).unwrap();
        } else {
            assert!(ended.is_err());
        }
        for name in fixture.names().iter().filter(|name| name.contains("selenite-tmp")) {
            std::fs::remove_file(fixture.path(name)).unwrap();
        }
        if ended.is_ok() && power.step_count() < fails_at {
            assert!(fails_at > 3, "{fails_at} steps");
            return;
        }
    }
}

/// What `testdata/import/make.py` had SQLCipher make, altered.
fn import_altered(
    fixture: &Fixture,
    (main, log): (Vec<u8>, Option<Vec<u8>>),
) -> (Result<Imported, EngineError>, Result<Salvaged, EngineError>) {
    let old = fixture.path("altered.db");
    std::fs::write(&old, main).unwrap();
    if let Some(log) = log {
        std::fs::write(fixture.path("altered.db-journal"), log).unwrap();
    }
    let mut format = Format::parse("sqlcipher3").unwrap();
    format.set("kdf_iter", "1").unwrap();
    let how = how(&format, b"import");
    let watch = Watch::none();
    let (whole, readable) = (fixture.path("whole.db"), fixture.path("readable.db"));
    for path in [&whole, &readable] {
        let _ = std::fs::remove_file(path);
    }
    (
        import(&Disk, (&old, &whole), &fixture.access(), &how, &watch),
        import_readable(&Disk, (&old, &readable), &fixture.access(), &how, &watch),
    )
}

const CLOSED: &[u8] = include_bytes!("../../../../../testdata/import/closed.db");
const OF_JOURNAL: &[u8] = include_bytes!("../../../../../testdata/import/journal.db");
const JOURNAL: &[u8] = include_bytes!("../../../../../testdata/import/journal.db-journal");

#[test]
fn a_page_of_zeros_is_a_lost_block() {
    let fixture = Fixture::new();
    let (whole, _) = import_altered(&fixture, (CLOSED.to_vec(), None));
    whole.unwrap();
    for at in (1024..CLOSED.len()).step_by(1024) {
        let mut main = CLOSED.to_vec();
        main[at..at + 1024].fill(0);
        let (whole, readable) = import_altered(&fixture, (main, None));
        let page_no = at / 1024 + 1;
        let error = whole
            .err()
            .unwrap_or_else(|| panic!("page {page_no} is imported as zeros"));
        assert_eq!(error.class(), Class::Data, "page {page_no}: {error}");
        let lost = readable.unwrap();
        assert!(lost.bad_count > 0, "page {page_no}");
    }
}

const BODIES: &str = "SELECT id, body FROM t";

/// Two transactions' pages together are no database, and their sum is not imported. What is read nevertheless is the last
/// commit, but for the page of the damaged record.
#[test]
fn a_journal_with_a_damaged_record_is_refused_and_the_rest_of_it_is_rolled_back_on_request() {
    let fixture = Fixture::new();
    let (whole, _) = import_altered(&fixture, (OF_JOURNAL.to_vec(), Some(JOURNAL.to_vec())));
    whole.unwrap();
    let committed = query(&fixture.path("whole.db"), &fixture.access(), BODIES).unwrap();
    let mut complete = 0;
    let records: Vec<_> = (0..).zip(records_of(JOURNAL)).step_by(7).collect();
    for &(record, at) in &records {
        let page_no = u32::from_be_bytes(*JOURNAL[at..].first_chunk().unwrap());
        let mut journal = JOURNAL.to_vec();
        // One of the bytes that the checksum covers (pager_cksum).
        journal[at + 4 + 424] ^= 1;
        let (whole, readable) = import_altered(&fixture, (OF_JOURNAL.to_vec(), Some(journal)));
        let error = whole.err().unwrap_or_else(|| panic!("record {record}"));
        assert_eq!(error.class(), Class::Data, "record {record}: {error}");
        let named = format!("journal record {record}, page {page_no}: its checksum is wrong");
        assert!(error.to_string().contains(&named), "{error}");
        let found = readable.unwrap();
        let bad: Vec<u32> = found.bad_logs.iter().map(|bad| bad.page_no).collect();
        assert_eq!(bad, [page_no]);
        // Page 1 has the schema, and is used.
        let (lost, uncertain) = if page_no == 1 {
            (vec![], vec![1])
        } else {
            (vec![page_no], vec![])
        };
        assert_eq!((found.bad_pages, found.uncertain_pages), (lost, uncertain));
        let rows = query(&fixture.path("readable.db"), &fixture.access(), BODIES).unwrap();
        assert!(rows.iter().all(|row| committed.contains(row)), "record {record}");
        complete += usize::from(rows.len() == committed.len());
    }
    assert!(
        records.len() > 5 && complete < records.len(),
        "no page with a row is among them"
    );
}

/// Where the records of a journal with pages of 1024 bytes begin: those that its headers count.
fn records_of(journal: &[u8]) -> Vec<usize> {
    let number = |at: usize| u32::from_be_bytes(*journal[at..].first_chunk().unwrap());
    let mut records = Vec::new();
    let mut at = 0;
    while journal.get(at..at + 8) == Some(&selenite_format::journal::MAGIC) {
        let count = usize::try_from(number(at + 8)).unwrap();
        records.extend((0..count).map(|index| at + 512 + index * 1032));
        at = (at + 512 + count * 1032).next_multiple_of(512);
    }
    records
}

#[test]
fn a_journal_that_claims_more_pages_than_there_can_be_costs_no_time() {
    let fixture = Fixture::new();
    let mut journal = JOURNAL.to_vec();
    journal[16..20].fill(0xff);
    let (whole, readable) = import_altered(&fixture, (OF_JOURNAL.to_vec(), Some(journal)));
    assert_eq!(whole.unwrap().outcome.row_count, 46);
    readable.unwrap();
}

/// What SQLCipher 3 made, in its own mode and with the settings of versions 2 and 1
/// (`testdata/import/make_originals.py`): closed, with a WAL, and with a hot journal.
#[test]
fn databases_that_sqlcipher_3_made_are_imported() {
    let originals = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../testdata/import");
    let mut count = 0;
    for (folder, format) in ORIGINALS {
        for state in ["closed", "wal", "journal"] {
            let fixture = Fixture::new();
            let old = fixture.path("old.db");
            for suffix in ["", "-wal", "-journal"] {
                let from = originals.join(folder).join(format!("{state}.db{suffix}"));
                if from.exists() {
                    std::fs::copy(from, fixture.path(&format!("old.db{suffix}"))).unwrap();
                    count += 1;
                }
            }
            let how = how(&Format::parse(format).unwrap(), b"import");
            let imported = import_by(&Disk, &fixture, &old, (&how, &Watch::none()));
            let imported = imported.unwrap_or_else(|error| panic!("{folder}, {state}: {error}"));
            assert_eq!(imported.format.page_size(), Some(1024), "{folder}, {state}");
            assert_eq!(imported.is_authenticated, format != "sqlcipher1");
            let rows = query(&fixture.path("new.db"), &fixture.access(), BODIES_IN_ORDER).unwrap();
            let body = |id: i64| match state {
                "wal" if id % 3 == 0 => format!("row {id} in the WAL"),
                _ => format!("row {id}{}", " and more".repeat(10)),
            };
            let expected: Vec<_> = (1..=60)
                .map(|id| vec![Cell::Integer(id), Cell::Text(body(id))])
                .collect();
            assert_eq!(rows, expected, "{folder}, {state}");
        }
    }
    assert_eq!(count, 5 * ORIGINALS.len());
}

const BODIES_IN_ORDER: &str = "SELECT id, body FROM t ORDER BY id";

/// The folder of each, and its format.
const ORIGINALS: [(&str, &str); 3] = [
    ("3.4.1", "sqlcipher3"),
    ("3.4.1-as-2", "sqlcipher2"),
    ("3.4.1-as-1", "sqlcipher1"),
];
