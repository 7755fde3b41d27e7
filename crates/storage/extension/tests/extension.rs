//! The extension in a Rust program: rusqlite, with its own SQLite, loads the built library.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Result, backup::Backup, params};
use tempfile::TempDir;

#[test]
fn written_data_is_read_back_and_is_sealed_on_disk() {
    for journal_mode in ["delete", "wal"] {
        let lab = Lab::new();
        let database = lab.open("app.db", "key").unwrap();
        database.pragma_update(None, "journal_mode", journal_mode).unwrap();
        fill(&database);
        for file in ["app.db", "app.db-wal"] {
            assert!(!holds(&lab.path(file), b"quick brown"), "{file} in mode {journal_mode}");
        }
        database.close().unwrap();

        let database = lab.open("app.db", "key").unwrap();
        assert_eq!(count(&database), 500);
        let answer: String = database
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .unwrap();
        assert_eq!(answer, "ok");
        assert!(holds(&lab.path("app.db"), b"Selenite"));
    }
}

/// No host has to be of a certain version for it: neither Node.js and Electron, whose native modules
/// depend on their `NODE_MODULE_VERSION`, nor the SQLite that loads it.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", target_endian = "little"))]
fn functions_of_the_c_library_alone_are_imported() {
    use object::LittleEndian;
    use object::elf::{FileHeader64, SHT_DYNSYM, STB_GLOBAL};
    use object::read::elf::{FileHeader, Sym};

    let bytes = fs::read(library()).unwrap();
    let header = FileHeader64::<LittleEndian>::parse(bytes.as_slice()).unwrap();
    let sections = header.sections(LittleEndian, bytes.as_slice()).unwrap();
    let symbols = sections.symbols(LittleEndian, bytes.as_slice(), SHT_DYNSYM).unwrap();
    let versions = sections.versions(LittleEndian, bytes.as_slice()).unwrap().unwrap();
    let mut imported = Vec::new();
    for (index, symbol) in symbols.enumerate() {
        // A weak one may be missing.
        if symbol.st_bind() != STB_GLOBAL || !symbol.is_undefined(LittleEndian) {
            continue;
        }
        let name = String::from_utf8_lossy(symbol.name(LittleEndian, symbols.strings()).unwrap());
        let version = versions
            .version(versions.version_index(LittleEndian, index).into())
            .unwrap();
        let version = version.map_or_else(String::new, |version| {
            String::from_utf8_lossy(version.name()).into_owned()
        });
        assert!(
            version.starts_with("GLIBC_") || version.starts_with("GCC_"),
            "{name} {version}"
        );
        imported.push(name.into_owned());
    }
    assert!(imported.iter().any(|name| name == "malloc"), "{imported:?}");
}

#[test]
fn a_wrong_key_is_refused_with_an_error_of_its_own() {
    let lab = Lab::new();
    fill(&lab.open("app.db", "key").unwrap());
    let error = lab.open("app.db", "other").and_then(|database| try_count(&database));
    assert_eq!(error.unwrap_err().sqlite_error_code(), Some(ErrorCode::NotADatabase));
    assert!(lab.last_error().contains("none of the keys given opens this database"));
}

#[test]
fn a_plain_file_is_refused_where_an_identity_is_in_force() {
    let lab = Lab::new();
    let plain = Connection::open(lab.path("app.db")).unwrap();
    plain.execute_batch("CREATE TABLE note(body)").unwrap();
    plain.close().unwrap();
    let error = lab.open("app.db", "key").and_then(|database| try_count(&database));
    assert_eq!(error.unwrap_err().sqlite_error_code(), Some(ErrorCode::NotADatabase));
    assert!(lab.last_error().contains("not encrypted"));
}

#[test]
fn a_second_database_is_attached_with_a_key_of_its_own() {
    let lab = Lab::new();
    let database = lab.open("first.db", "key").unwrap();
    fill(&database);
    database
        .execute("ATTACH ?1 AS second", [lab.uri("second.db", "other")])
        .unwrap();
    database
        .execute_batch("CREATE TABLE second.note AS SELECT * FROM main.note")
        .unwrap();
    database.close().unwrap();
    assert!(
        lab.open("second.db", "key")
            .and_then(|database| try_count(&database))
            .is_err()
    );
    assert_eq!(count(&lab.open("second.db", "other").unwrap()), 500);
}

#[test]
fn the_status_is_a_table() {
    let lab = Lab::new();
    let database = lab.open("app.db", "key").unwrap();
    fill(&database);
    let suite: String = database
        .query_row("SELECT value FROM selenite_status WHERE name = 'suite'", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(suite, "AES_256");
}

#[test]
fn a_backup_is_encrypted_by_its_own_key() {
    let lab = Lab::new();
    let database = lab.open("app.db", "key").unwrap();
    fill(&database);
    let mut copy = lab.open("copy.db", "other").unwrap();
    Backup::new(&database, &mut copy)
        .unwrap()
        .run_to_completion(16, Duration::ZERO, None)
        .unwrap();
    copy.close().unwrap();
    assert_eq!(count(&lab.open("copy.db", "other").unwrap()), 500);
    assert!(!holds(&lab.path("copy.db"), b"quick brown"));
}

#[test]
fn a_backup_that_was_not_made_says_why_afterwards_too() {
    let lab = Lab::new();
    let database = open(&(lab.uri("app.db", "key") + "&backup=allow")).unwrap();
    fill(&database);
    fs::write(lab.path("no-folder"), "x").unwrap();
    let backup = |place: &str| database.query_row("SELECT selenite_backup(?1)", [place], |row| row.get::<_, String>(0));
    for (place, why) in [
        (lab.path("no-folder").display().to_string(), "no-folder"),
        ("s3://bucket/x".to_owned(), "use selenite backup for object stores"),
    ] {
        let error = backup(&place).unwrap_err().to_string();
        let kept = lab.last_error();
        assert!(error.contains(why), "{error}");
        assert_eq!(
            kept,
            format!("selenite: {}: selenite_backup: {error}", lab.path("app.db").display())
        );
    }
    backup(&lab.path("backups").display().to_string()).unwrap();
}

#[test]
fn threads_share_a_database_with_a_connection_each() {
    let lab = Lab::new();
    let database = lab.open("app.db", "key").unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    fill(&database);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let uri = lab.uri("app.db", "key");
            scope.spawn(move || {
                let database = open(&uri).unwrap();
                for _ in 0..50 {
                    database
                        .execute("INSERT INTO note(body) VALUES (?1)", [format!("thread {number}")])
                        .unwrap();
                    assert!(count(&database) > 500);
                }
            });
        }
    });
    assert_eq!(count(&database), 700);
}

/// A folder with two keys, and a connection into which the extension is loaded.
struct Lab {
    folder: TempDir,
    loader: Connection,
    _turn: MutexGuard<'static, ()>,
}

/// `selenite_last_error()` is shared by the process: the tests run one at a time.
static TURN: Mutex<()> = Mutex::new(());

impl Lab {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, byte) in [("key", 1), ("other", 2)] {
            fs::write(folder.path().join(name), [byte; 32]).unwrap();
        }
        let loader = Connection::open_in_memory().unwrap();
        load(&loader).unwrap();
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Self {
            folder,
            loader,
            _turn: turn,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The URI names the key, because concurrent tests share one process and so one environment.
    fn uri(&self, name: &str, key: &str) -> String {
        format!(
            "file:{}?vfs=selenite&selenite_identity=raw:{}",
            self.path(name).display(),
            self.path(key).display()
        )
    }

    fn open(&self, name: &str, key: &str) -> Result<Connection> {
        open(&self.uri(name, key))
    }

    fn last_error(&self) -> String {
        self.loader
            .query_row("SELECT selenite_last_error()", [], |row| row.get(0))
            .unwrap()
    }
}

fn open(uri: &str) -> Result<Connection> {
    let database = Connection::open_with_flags(uri, OpenFlags::default())?;
    database.busy_timeout(Duration::from_secs(60))?;
    Ok(database)
}

#[expect(unsafe_code, reason = "an extension may do anything to its process")]
fn load(connection: &Connection) -> Result<()> {
    let library = library();
    // SAFETY: only this code runs SQL on this connection while extensions may be loaded.
    unsafe { connection.load_extension_enable()? };
    // SAFETY: the library was built with this test, and follows SQLite's rules for extensions.
    let loaded = unsafe { connection.load_extension(&library, None::<&str>) };
    connection.load_extension_disable()?;
    loaded
}

/// The library that was built with this test, next to its executable, unless the environment names
/// one.
fn library() -> PathBuf {
    if let Some(path) = std::env::var_os("SELENITE_TEST_EXTENSION") {
        return path.into();
    }
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libselenite.so")
}

fn fill(database: &Connection) {
    database
        .execute_batch("CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT NOT NULL, data BLOB)")
        .unwrap();
    let mut insert = database
        .prepare("INSERT INTO note(body, data) VALUES (?1, randomblob(200))")
        .unwrap();
    database.execute_batch("BEGIN").unwrap();
    for number in 0..500 {
        insert
            .execute(params![format!("the quick brown fox {number}")])
            .unwrap();
    }
    database.execute_batch("COMMIT").unwrap();
}

fn count(database: &Connection) -> i64 {
    try_count(database).unwrap()
}

fn try_count(database: &Connection) -> Result<i64> {
    database.query_row("SELECT count(*) FROM note", [], |row| row.get(0))
}

fn holds(path: &Path, wanted: &[u8]) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
