//! A database of SQLCipher that someone altered, its WAL or its hot journal, imported: nothing
//! panics, and every byte of a row in the new database was written to the old one, since SQLCipher
//! authenticates its pages. Pages of several transactions may be mixed: it authenticates no order.

use std::path::Path;
use std::sync::OnceLock;

use rusqlite::{Connection, OpenFlags};
use selenite::import::{Format, Import, Key, import, import_readable};
use selenite::storage::Disk;
use selenite::{Access, Suite, Watch};
use tempfile::TempDir;

use super::hostile_database::{bytes_of, folder, install, is_genuine};

/// Imports what the bytes say, and panics where a row is none that was written.
pub fn fuzz(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let scene = folder();
    let old = scene.path().join("old.db");
    let write = |suffix: &str, bytes: &[u8]| {
        std::fs::write(format!("{}{suffix}", old.display()), bytes).expect("a file of our own");
    };
    match choice % 3 {
        0 => write("", &bytes_of(CLOSED, rest)),
        1 => {
            write("", OF_WAL);
            write("-wal", &bytes_of(WAL, rest));
        }
        _ => {
            write("", OF_JOURNAL);
            write("-journal", &bytes_of(JOURNAL, rest));
        }
    }
    let how = Import {
        format: Some(format()),
        key: Key::passphrase(PASSPHRASE),
        suite: Suite::Aes256,
        recipients: Vec::new(),
    };
    let new = scene.path().join("new.db");
    let (access, watch) = (access(), Watch::none());
    let is_made = match choice & 0x80 {
        0 => import(&Disk, (&old, &new), &access, &how, &watch).is_ok(),
        _ => import_readable(&Disk, (&old, &new), &access, &how, &watch).is_ok(),
    };
    assert_eq!(is_made, new.exists());
    let row_count = if is_made { check(&new, &access) } else { 0 };
    let is_unaltered = rest.len() < 7 && rest.first().is_some_and(|&kind| kind != 0);
    assert!(!is_unaltered || row_count == ROWS);
}

/// Good files; `testdata/import/make.py` made them.
const CLOSED: &[u8] = include_bytes!("../../../../testdata/import/closed.db");
const OF_WAL: &[u8] = include_bytes!("../../../../testdata/import/wal.db");
const WAL: &[u8] = include_bytes!("../../../../testdata/import/wal.db-wal");
const OF_JOURNAL: &[u8] = include_bytes!("../../../../testdata/import/journal.db");
const JOURNAL: &[u8] = include_bytes!("../../../../testdata/import/journal.db-journal");
const ROWS: usize = 23;
const PASSPHRASE: &[u8] = b"import";

fn format() -> Format {
    let mut format = Format::parse("sqlcipher3").expect("a format");
    format.set("kdf_iter", "1").expect("a setting");
    format
}

fn access() -> Access {
    static PLACE: OnceLock<TempDir> = OnceLock::new();
    let place = PLACE.get_or_init(|| {
        install();
        let place = folder();
        std::fs::write(place.path().join("key"), [7; 32]).expect("a file of our own");
        place
    });
    let key = format!("raw:{}", place.path().join("key").display());
    Access {
        identity: Some(key.parse().expect("a raw key")),
        ..Access::default()
    }
}

/// Counts the rows.
fn check(new: &Path, access: &Access) -> usize {
    let flags = OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(access.uri(new).as_str(), flags).expect("what was imported opens");
    let Ok(mut select) = connection.prepare("SELECT id, body FROM t") else {
        return 0;
    };
    let mut row_count = 0;
    let mut rows = select.query([]).expect("a table");
    while let Some(row) = rows.next().expect("what was imported is whole") {
        let (id, found): (i64, String) = (row.get_unwrap(0), row.get_unwrap(1));
        assert!(is_genuine(id, &found), "row {id} was never written: {found}");
        row_count += 1;
    }
    row_count
}
