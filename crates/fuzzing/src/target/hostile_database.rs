//! A whole database that someone altered, opened and queried as an application does: its
//! superblocks, pages, log or journal, and pages of any content that are sealed as they should be,
//! so that SQLite itself reads them.
//!
//! row-is-genuine: where nothing was sealed by the attacker, every byte of a row that is read was
//! written there. A cut journal may leave pages of several transactions (THREAT_MODEL 4), so that
//! the parts of a row on different pages may be of different versions.

use std::path::{Path, PathBuf};
use std::sync::{Once, OnceLock};

use rusqlite::{Connection, OpenFlags, params};
use selenite::Access;
use selenite_cipher::sha256;
use tempfile::TempDir;

use crate::altered;

/// Opens what the bytes say, and panics where a row is none that was written.
pub fn fuzz(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    let world = world();
    let scene = world.scene();
    let path = scene.path().join("app.db");
    let write = |suffix: &str, bytes: &[u8]| {
        let name = format!("app.db{suffix}");
        std::fs::write(scene.path().join(name), bytes).expect("a file of our own");
    };
    let is_sealed_by_others = match choice % 5 {
        0 => {
            write("", &world.with_superblocks(rest, choice & 0x80 != 0));
            false
        }
        1 => {
            let (superblocks, pages) = world.main.split_at(SUPERBLOCKS_SIZE);
            write("", &[superblocks, &bytes_of(pages, rest)].concat());
            false
        }
        2 => {
            write("", &world.main_of_wal);
            write("-wal", &bytes_of(&world.wal, rest));
            false
        }
        3 => {
            write("", &world.main_of_journal);
            write("-journal", &bytes_of(&world.journal, rest));
            false
        }
        _ => {
            write("", &world.main);
            seal_pages(&world.connect(&path), &bytes_of(&world.plain, rest));
            true
        }
    };
    query(world, &path, is_sealed_by_others);
    // What the first one left is there for the next.
    query(world, &path, is_sealed_by_others);
}

/// Good files, and the key that opens them.
struct World {
    place: TempDir,
    main: Vec<u8>,
    /// Every page as SQLite sees it.
    plain: Vec<u8>,
    main_of_wal: Vec<u8>,
    wal: Vec<u8>,
    main_of_journal: Vec<u8>,
    journal: Vec<u8>,
}

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| World::new().expect("a good database"))
}

impl World {
    fn new() -> rusqlite::Result<Self> {
        install();
        let place = folder();
        std::fs::write(place.path().join("key"), [7; 32]).expect("a file of our own");
        let mut world = Self {
            place,
            main: Vec::new(),
            plain: Vec::new(),
            main_of_wal: Vec::new(),
            wal: Vec::new(),
            main_of_journal: Vec::new(),
            journal: Vec::new(),
        };
        let path = world.place.path().join("good.db");
        let read = |suffix: &str| std::fs::read(format!("{}{suffix}", path.display())).expect("a file of our own");
        let connection = world.connect(&path);
        connection.execute_batch(
            "CREATE TABLE t(id INTEGER PRIMARY KEY, body TEXT NOT NULL);
             CREATE INDEX by_body ON t(body);
             CREATE TABLE keyed(a TEXT PRIMARY KEY, b) WITHOUT ROWID;
             CREATE VIEW v AS SELECT id, length(body) AS size FROM t;",
        )?;
        write_rows(&connection, 1, 1..ROWS)?;
        world.main = read("");
        world.plain = pages_of(&connection)?;

        // A journal as a power failure leaves it: pages of the second version are in the database already.
        connection.execute_batch("PRAGMA cache_size = 2; PRAGMA cache_spill = 2; BEGIN")?;
        write_rows(&connection, 2, 1..ROWS)?;
        (world.main_of_journal, world.journal) = (read(""), read("-journal"));
        connection.execute_batch("ROLLBACK; PRAGMA cache_size = 100; PRAGMA journal_mode = wal")?;

        write_rows(&connection, 2, 3..9)?;
        connection.execute_batch("DELETE FROM t WHERE id % 7 = 0")?;
        (world.main_of_wal, world.wal) = (read(""), read("-wal"));
        Ok(world)
    }

    /// A folder for one input.
    fn scene(&self) -> TempDir {
        folder()
    }

    fn try_connect(&self, path: &Path) -> rusqlite::Result<Connection> {
        let access = Access {
            identity: Some(self.key().parse().expect("a raw key")),
            ..Access::default()
        };
        let uri = format!("{}&page_size=1024", access.uri(path).as_str());
        let connection = Connection::open_with_flags(uri, OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI)?;
        connection.execute_batch(
            "PRAGMA hard_heap_limit = 268435456; PRAGMA synchronous = off; PRAGMA temp_store = memory;
             PRAGMA trusted_schema = off",
        )?;
        Ok(connection)
    }

    fn connect(&self, path: &Path) -> Connection {
        self.try_connect(path).expect("a good database")
    }

    fn key(&self) -> String {
        let key: PathBuf = self.place.path().join("key");
        format!("raw:{}", key.display())
    }

    /// Altered superblocks, perhaps with checksums put right, before good pages.
    fn with_superblocks(&self, alterations: &[u8], is_whole: bool) -> Vec<u8> {
        let (superblocks, pages) = self.main.split_at(SUPERBLOCKS_SIZE);
        let mut superblocks = bytes_of(superblocks, alterations);
        superblocks.resize(SUPERBLOCKS_SIZE, 0);
        if is_whole {
            for copy in superblocks.chunks_mut(SUPERBLOCKS_SIZE / 2) {
                let size = u32::from_be_bytes([copy[24], copy[25], copy[26], copy[27]]);
                let size = usize::try_from(size).unwrap_or(usize::MAX).clamp(512, copy.len());
                let checksum = sha256(&copy[..size - 32]);
                copy[size - 32..size].copy_from_slice(&checksum);
            }
        }
        [superblocks.as_slice(), pages].concat()
    }
}

/// Installs the VFS. Before that nothing may use SQLite: a server in this process will want its memory counted.
pub fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        selenite::count_memory().expect("nothing has used SQLite before");
        selenite::install().expect("SQLite takes an extension");
    });
}

/// In memory, where the machine has such a place.
pub fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = match memory.is_dir() {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    made.expect("there is a place for temporary files")
}

pub fn bytes_of(original: &[u8], alterations: &[u8]) -> Vec<u8> {
    let file = altered(original, alterations);
    file.extents
        .into_iter()
        .next()
        .map(|(_, bytes)| bytes)
        .unwrap_or_default()
}

/// What the row of that number and version holds: of some an overflow page.
fn body(id: i64, version: i64) -> String {
    let size = usize::try_from(20 + id * 53 % 2000).expect("a small row");
    format!("version {version} of row {id} ").repeat(size / 20 + 1)
}

fn write_rows(connection: &Connection, version: i64, ids: std::ops::Range<i64>) -> rusqlite::Result<()> {
    for id in ids {
        let sql = "INSERT OR REPLACE INTO t VALUES(?1, ?2)";
        connection.execute(sql, params![id, body(id, version)])?;
        let sql = "INSERT OR REPLACE INTO keyed VALUES('key ' || ?1, zeroblob(?1))";
        connection.execute(sql, [id])?;
    }
    Ok(())
}

fn pages_of(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    let mut select = connection.prepare("SELECT data FROM sqlite_dbpage ORDER BY pgno")?;
    let pages = select.query_map([], |row| row.get::<_, Vec<u8>>(0))?;
    Ok(pages.collect::<rusqlite::Result<Vec<_>>>()?.concat())
}

/// Writes pages as they are through SQLite's own pager, so that they are sealed. What it refuses is left as it was.
fn seal_pages(connection: &Connection, plain: &[u8]) {
    let good = &world().plain;
    let _ = connection.execute_batch("BEGIN");
    for (index, page) in plain.chunks_exact(PAGE_SIZE).enumerate() {
        if good.chunks_exact(PAGE_SIZE).nth(index) == Some(page) {
            continue;
        }
        let mut page = page.to_vec();
        page[PAGE_SIZE - RESERVED_SIZE..].fill(0);
        let sql = "UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1";
        let number = i64::try_from(index + 1).expect("a small file");
        let _ = connection.execute(sql, params![number, page]);
    }
    let _ = connection.execute_batch("COMMIT");
}

pub fn is_genuine(id: i64, found: &str) -> bool {
    let versions = [body(id, 1), body(id, 2)];
    let is_known = |(index, byte): (usize, u8)| versions.iter().any(|body| body.as_bytes()[index] == byte);
    found.len() == versions[0].len() && found.bytes().enumerate().all(is_known)
}

/// What an application and its administrator ask. Every answer but a wrong row is fine.
fn query(world: &World, path: &Path, is_sealed_by_others: bool) {
    let Ok(connection) = world.try_connect(path) else {
        return;
    };
    if let Ok(mut select) = connection.prepare("SELECT id, body FROM t LIMIT 1000")
        && let Ok(rows) = select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))
    {
        for (id, found) in rows.map_while(Result::ok) {
            assert!(
                is_sealed_by_others || is_genuine(id, &found),
                "row {id} was never written: {found}"
            );
        }
    }
    for sql in QUERIES {
        if let Ok(mut select) = connection.prepare(sql)
            && let Ok(mut rows) = select.query([])
        {
            let _ = (0..1000).take_while(|_| matches!(rows.next(), Ok(Some(_)))).count();
        }
    }
}

const QUERIES: [&str; 14] = [
    "SELECT name, sql FROM sqlite_schema",
    "SELECT id FROM t WHERE body > 'version 2' LIMIT 100",
    "SELECT a, b FROM keyed ORDER BY a DESC LIMIT 100",
    "SELECT size FROM v LIMIT 100",
    "SELECT * FROM selenite_status",
    "SELECT selenite_last_error()",
    "PRAGMA freelist_count",
    "PRAGMA quick_check(10)",
    "PRAGMA integrity_check(10)",
    "UPDATE t SET body = body WHERE id = 5",
    "DELETE FROM keyed WHERE a = 'key 3'",
    "PRAGMA journal_mode = wal",
    "PRAGMA wal_checkpoint(truncate)",
    "VACUUM",
];

const PAGE_SIZE: usize = 1024;
/// Nonce and tag of a page.
const RESERVED_SIZE: usize = 48;
/// Two copies of 32 KiB.
const SUPERBLOCKS_SIZE: usize = 65536;
const ROWS: i64 = 40;
