//! Databases and keys for the tests of the engine.
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use selenite::storage::Disk;
use selenite::{Access, Cell, Database, EngineError, Rows};
use selenite_format::{Chosen, choose};
use selenite_keyring::{Cache, Config, Trust, Unlocked};

/// A folder with keys in it.
pub struct Fixture {
    pub folder: tempfile::TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        selenite::install().unwrap();
        let folder = tempfile::tempdir().unwrap();
        selenite_keyring::write_key_file(&folder.path().join("key"), &[7; 32]).unwrap();
        selenite_keyring::write_key_file(&folder.path().join("other-key"), &[8; 32]).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn spec(&self, name: &str) -> String {
        format!("raw:{}", self.path(name).display())
    }

    pub fn access(&self) -> Access {
        self.access_by("key")
    }

    pub fn access_by(&self, name: &str) -> Access {
        Access {
            identity: Some(self.spec(name).parse().unwrap()),
            allow_deprecated: true,
            busy_wait: std::time::Duration::from_millis(20),
            ..Access::default()
        }
    }

    /// An unencrypted database, created by these statements.
    pub fn plain(&self, name: &str, sql: &str) -> PathBuf {
        let path = self.path(name);
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
        path
    }

    /// The file names in the folder, except key files.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.ends_with("key"))
            .collect();
        names.sort();
        names
    }
}

#[derive(Default)]
pub struct Collected(pub Vec<Vec<Cell>>);

impl Rows for Collected {
    fn begin(&mut self, _: &[String]) {}

    fn row(&mut self, cells: Vec<Cell>) -> bool {
        self.0.push(cells);
        true
    }

    fn end(&mut self) {}
}

/// The rows of a query on an encrypted database.
pub fn query(path: &Path, access: &Access, sql: &str) -> Result<Vec<Vec<Cell>>, EngineError> {
    let mut rows = Collected::default();
    Database::open(&Disk, path, access)?.run(sql, &mut rows)?;
    Ok(rows.0)
}

/// The rows of a query on an unencrypted database.
pub fn query_plain(path: &Path, sql: &str) -> Vec<Vec<Cell>> {
    let access = Access {
        allow_plain: true,
        ..Access::default()
    };
    query(path, &access, sql).unwrap()
}

/// Whether a file has these bytes anywhere.
pub fn holds(path: &Path, needle: &[u8]) -> bool {
    std::fs::read(path)
        .unwrap()
        .windows(needle.len())
        .any(|window| window == needle)
}

/// A database's superblock, with its keys.
pub fn superblock_of(fixture: &Fixture, path: &Path) -> Unlocked {
    let file = std::fs::read(path).unwrap();
    let (a, b) = (&file[..32768], &file[32768..65536]);
    let size = u64::try_from(file.len()).unwrap();
    let (Chosen::A(bytes) | Chosen::B(bytes)) = choose(a, b, size) else {
        panic!("{} has no superblock", path.display())
    };
    let identities = selenite_keyring::load_identity(&fixture.spec("key"), &Config::default()).unwrap();
    selenite_keyring::unlock(bytes, &identities, &Trust::default(), &Cache::new()).unwrap()
}

/// Changes a database's superblock, with the next generation, in both places.
pub fn rewrite_superblock(fixture: &Fixture, path: &Path, change: impl FnOnce(&mut Unlocked)) {
    let present = superblock_of(fixture, path);
    let mut next = present.with_generation(present.superblock.generation + 1);
    change(&mut next);
    let bytes = next.encode().unwrap();
    let mut file = std::fs::read(path).unwrap();
    for place in [0, 32768] {
        file[place..place + bytes.len()].copy_from_slice(&bytes);
    }
    std::fs::write(path, file).unwrap();
}
