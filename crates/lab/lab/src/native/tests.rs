use super::*;
use selenite_worker::protocol::{Dataset, Request, Response, Sample, Share, Workload};
use selenite_worker::stock::spec;
use selenite_worker::{dataset, digest};

struct Testbed {
    folder: tempfile::TempDir,
}

impl Testbed {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), [7; 32]).unwrap();
        std::fs::write(folder.path().join("other-key"), [8; 32]).unwrap();
        Self { folder }
    }

    fn database(&self, cipher: &str) -> DatabaseSpec {
        DatabaseSpec {
            cipher: cipher.to_owned(),
            key_file: self.folder.path().join("key"),
            ..spec(&self.folder.path().join(format!("{cipher}.db")))
        }
    }

    fn load(&self, cipher: &str) -> DatabaseSpec {
        let database = self.database(cipher);
        dataset::load(&Native, &database, &ROWS, 7).unwrap();
        database
    }
}

const ROWS: Dataset = Dataset::Statements { rows: 400, indexes: 0 };

fn run(database: &DatabaseSpec, work: Workload) -> Result<Sample, String> {
    let requests = [
        Request::Open {
            database: database.clone(),
        },
        Request::Run {
            work,
            seed: 5,
            process: Share { index: 0, count: 1 },
            start_at_ns: 0,
        },
    ];
    let lines: Vec<String> = requests
        .iter()
        .map(|request| serde_json::to_string(request).unwrap())
        .collect();
    let mut out = Vec::new();
    conversation::converse(&Native, io::Cursor::new(lines.join("\n")), &mut out).unwrap();
    let last = String::from_utf8(out).unwrap().lines().last().unwrap().to_owned();
    match serde_json::from_str(&last).unwrap() {
        Response::Ok(sample) => Ok(sample),
        Response::Error(error) => Err(error),
    }
}

#[test]
fn every_suite_holds_the_rows_of_the_database_in_clear() {
    let testbed = Testbed::new();
    let plain = dataset::load(&Native, &testbed.database(PLAIN), &ROWS, 7).unwrap();
    for suite in Suite::ALL {
        let database = testbed.database(suite.name());
        let loaded = dataset::load(&Native, &database, &ROWS, 7).unwrap();
        assert_eq!(loaded, plain, "{suite}");
        let connection = Native.open(&database).unwrap();
        assert_eq!(digest::of(&connection).unwrap().digest, plain.digest, "{suite}");
        let status = Native.status(&connection, &database).unwrap();
        assert_eq!(status.encrypted, suite != Suite::None, "{status:?}");
        assert_eq!(status.values["database.suite"], suite.name());
        drop(connection);
        let bytes = std::fs::read(&database.path).unwrap();
        let marker = plain.marker.as_bytes();
        let is_clear = bytes.windows(marker.len()).any(|window| window == marker);
        assert_eq!(is_clear, suite == Suite::None, "{suite}");
    }
}

#[test]
fn a_database_in_clear_is_sqlites_own() {
    let testbed = Testbed::new();
    let database = testbed.load(PLAIN);
    let bytes = std::fs::read(&database.path).unwrap();
    assert_eq!(&bytes[..16], b"SQLite format 3\0");
    // The header's number of reserved bytes per page.
    assert_eq!(bytes[20], 0);
    let connection = Native.open(&database).unwrap();
    assert!(!Native.status(&connection, &database).unwrap().encrypted);
}

#[test]
fn every_work_answers_alike_in_clear_and_sealed() {
    let testbed = Testbed::new();
    let plain = testbed.load(PLAIN);
    for suite in [Suite::Aes256, Suite::Aegis128X4, Suite::TripleDes3Key] {
        let sealed = testbed.load(suite.name());
        let convert = Workload::Convert { to: PLAIN.to_owned() };
        for work in [
            Workload::SelectAll,
            Workload::Backup,
            Workload::IntegrityCheck,
            Workload::PhysicalVerify,
            Workload::Rekey,
            convert,
        ] {
            let answers = [&plain, &sealed].map(|database| run(database, work.clone()).unwrap().answer);
            assert_eq!(answers[0], answers[1], "{suite} {work:?}");
        }
        let to_sealed = Workload::Convert {
            to: suite.name().to_owned(),
        };
        assert_eq!(run(&plain, to_sealed.clone()).unwrap().answer, "converted");
        assert!(run(&sealed, to_sealed).unwrap_err().contains("unencrypted"));
    }
    let left = std::fs::read_dir(testbed.folder.path()).unwrap();
    let names: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        names.iter().all(|name| {
            let name = name.to_string_lossy();
            !name.contains("-converted") && !name.contains("-backup") && !name.contains("-rekey")
        }),
        "{names:?}"
    );
}

#[test]
fn a_key_of_either_kind_is_changed_and_where_there_is_none_it_is_refused() {
    let testbed = Testbed::new();
    let wanted = dataset::load(&Native, &testbed.database(PLAIN), &ROWS, 7)
        .unwrap()
        .digest;
    for (cipher, key) in [("AEGIS_256X4", "raw"), ("AES_192", "age")] {
        let mut sealed = testbed.database(cipher);
        sealed.settings.insert("key".to_owned(), key.to_owned());
        dataset::load(&Native, &sealed, &ROWS, 7).unwrap();
        let changed = run(&sealed, Workload::Rekey).unwrap();
        assert_eq!(changed.answer, format!("400 rows {wanted}"), "{cipher} {key}");
        let other = testbed.folder.path().join("other-key");
        Native.rekey(&sealed, &other).unwrap();
        assert!(Native.open(&sealed).is_err(), "{cipher} {key}");
        sealed.key_file = other;
        Native.open(&sealed).unwrap();
    }
    let clear = testbed.load("NONE");
    assert!(run(&clear, Workload::Rekey).unwrap_err().contains("no key to change"));
}

#[test]
fn a_database_with_an_anchor_is_opened_and_one_that_is_older_than_it_is_not() {
    let testbed = Testbed::new();
    let mut sealed = testbed.database("AES_256");
    sealed.settings.insert("anchor".to_owned(), "yes".to_owned());
    dataset::load(&Native, &sealed, &ROWS, 7).unwrap();
    let older = testbed.folder.path().join("older");
    std::fs::copy(&sealed.path, &older).unwrap();
    Native
        .open(&sealed)
        .unwrap()
        .execute_batch("PRAGMA user_version = 5")
        .unwrap();
    let anchor = anchor_path(&sealed);
    std::fs::remove_file(&anchor).unwrap();
    Native.open(&sealed).unwrap();
    assert!(anchor.exists());
    std::fs::rename(&older, &sealed.path).unwrap();
    assert!(Native.open(&sealed).is_err());
    sealed
        .settings
        .insert("key".to_owned(), "command:no-such-service".to_owned());
    let error = Native.open(&sealed).unwrap_err().to_string();
    assert!(
        error.contains("unable to open") || error.contains("no-such-service"),
        "{error}"
    );
}

/// The unencrypted backup uses programs that `scripts/need.sh tests` installs.
#[test]
fn a_backup_is_made_restored_and_gone_and_what_has_changed_is_a_small_one() {
    let testbed = Testbed::new();
    let rows = Dataset::Cards { rows: 8000 };
    let mut wanted = None;
    for cipher in [PLAIN, "AES_256", "NONE"] {
        let database = testbed.database(cipher);
        let digest = dataset::load(&Native, &database, &rows, 7).unwrap().digest;
        let of = |incremental| run(&database, Workload::Archive { incremental }).unwrap();
        let (full, changed) = (of(false), of(true));
        assert_eq!(full.answer, format!("24000 rows {digest}"), "{cipher}");
        assert_eq!(changed.answer, full.answer, "{cipher}");
        assert_eq!(*wanted.get_or_insert(digest.clone()), digest);
        let bytes = [&full, &changed].map(|sample| sample.archive_bytes.unwrap());
        assert!(
            bytes[0] > 10_000 && bytes[0] < full.database_bytes,
            "{cipher}: {bytes:?}"
        );
        if cipher == PLAIN {
            assert_eq!(bytes[0] / 1000, bytes[1] / 1000, "all of it is made again");
            assert_eq!(full.peak_bytes, None);
        } else {
            assert!(bytes[1] < bytes[0] / 5 && bytes[1] > 4096, "{cipher}: {bytes:?}");
        }
        assert!(full.cpu_ns > 0 && full.cpu_ns >= full.system_ns, "{cipher}");
        assert!(!testbed.folder.path().join(format!("{cipher}.db-archive")).exists());
        assert_eq!(run(&database, Workload::IntegrityCheck).unwrap().answer, "ok");
    }
}

#[test]
fn a_wrong_key_another_suite_and_a_file_in_clear_are_refused() {
    let testbed = Testbed::new();
    let sealed = testbed.load("AES_256");
    let mut wrong = sealed.clone();
    wrong.key_file = testbed.folder.path().join("other-key");
    assert!(Native.open(&wrong).is_err());
    let mut other = sealed.clone();
    other.cipher = "CHACHA20".to_owned();
    assert!(matches!(Native.open(&other), Err(WorkerError::Refused(_))));
    let mut plain = testbed.load(PLAIN);
    plain.cipher = "AES_256".to_owned();
    assert!(Native.open(&plain).is_err());
    plain.cipher = "NONE".to_owned();
    assert!(Native.open(&plain).is_err());
    let mut in_clear = sealed;
    in_clear.cipher = PLAIN.to_owned();
    assert!(Native.open(&in_clear).is_err());
}

#[test]
fn physical_verify_finds_a_flipped_byte() {
    let testbed = Testbed::new();
    let database = testbed.load("AES_256");
    let mut bytes = std::fs::read(&database.path).unwrap();
    let middle = bytes.len() - 1000;
    bytes[middle] ^= 1;
    std::fs::write(&database.path, bytes).unwrap();
    assert!(matches!(Native.verify_physical(&database), Err(WorkerError::Wrong(_))));
}

#[test]
fn a_setting_or_cipher_that_there_is_not_is_refused() {
    let testbed = Testbed::new();
    let mut database = testbed.database("AES_256");
    database.settings.insert("cache".to_owned(), "0".to_owned());
    assert!(matches!(Native.create(&database), Err(WorkerError::Refused(_))));
    assert!(matches!(
        Native.create(&testbed.database("ROT13")),
        Err(WorkerError::Refused(_))
    ));
    assert!(Native.cipher_time("ROT13").is_err());
}

#[test]
fn several_connections_and_every_kind_of_key_answer_as_in_clear() {
    let testbed = Testbed::new();
    let scan = Dataset::Scan { bytes: 1 << 20 };
    let plain = testbed.database(PLAIN);
    let wanted = dataset::load(&Native, &plain, &scan, 7).unwrap();
    for (cipher, key) in [("AES_256", "raw"), ("AES_192", "age")] {
        let mut sealed = testbed.database(cipher);
        sealed.settings.insert("key".to_owned(), key.to_owned());
        sealed.settings.insert("pool_size".to_owned(), "1048576".to_owned());
        assert_eq!(dataset::load(&Native, &sealed, &scan, 7).unwrap(), wanted);
        for work in [Workload::Readers { connections: 4 }, Workload::Open { times: 3 }] {
            let answers = [&plain, &sealed].map(|database| run(database, work.clone()).unwrap().answer);
            assert_eq!(answers[0], answers[1], "{cipher} {work:?}");
        }
    }
    // The raw key does not open a database made for the age key.
    assert!(Native.open(&testbed.database("AES_192")).is_err());
    let mut other = testbed.database("AES_256");
    other.settings.insert("key".to_owned(), "passphrase".to_owned());
    assert!(matches!(Native.open(&other), Err(WorkerError::Refused(_))));
}

#[test]
fn hello_names_every_suite() {
    let hello = Native.hello().unwrap();
    assert_eq!(hello.ciphers.len(), Suite::ALL.len());
    assert_eq!(hello.sqlite_version, rusqlite::version());
}
