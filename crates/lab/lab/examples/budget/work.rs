//! The operations that a child of the budget repeats.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use selenite_lab::native::Native;
use selenite_worker::engine::Engine;
use selenite_worker::meter::{WorkTimer, monotonic_ns};
use selenite_worker::protocol::{DatabaseSpec, Dataset, PLAIN};
use selenite_worker::{dataset, layout};
use serde::{Deserialize, Serialize};

/// Stock SQLite, then Selenite's VFS with each suite.
pub const ARMS: [&str; 4] = [PLAIN, "NONE", "AES_256", "AEGIS_256X4"];

/// The operation of a child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads every page in order, through SQLite's much smaller page cache.
    Scan,
    /// Looks up random rows in one read transaction.
    Point,
    /// Inserts single rows, one transaction each, with a checkpoint after every thousand.
    Commit,
    /// SQLite's online backup into a new file.
    Backup,
    /// As `Commit`, into a table with two indexes besides the rowid, through a small page cache.
    Indexed,
    /// `PRAGMA integrity_check`, with the page pool.
    Check,
    /// Sixteen connections that each read every page, interleaved by the scheduler, with a shared page pool.
    Readers,
}

impl Operation {
    /// All operations, in the order of display.
    pub const ALL: [Self; 7] = [
        Self::Scan,
        Self::Point,
        Self::Commit,
        Self::Backup,
        Self::Indexed,
        Self::Check,
        Self::Readers,
    ];

    /// The name in the record and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::Point => "point",
            Self::Commit => "commit",
            Self::Backup => "backup",
            Self::Indexed => "indexed",
            Self::Check => "check",
            Self::Readers => "readers",
        }
    }
}

impl FromStr for Operation {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|operation| operation.name() == name);
        found.ok_or_else(|| format!("there is no operation {name}"))
    }
}

/// One kind of operation of a child, and its time intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// `scan`, `point`, `commit`, `checkpoint` or `backup`.
    pub name: String,
    /// The number of pages read, commits made or pages backed up; for `checkpoint`, the preceding commits.
    pub count: u64,
    /// CPU time of the process in these intervals.
    pub cpu_ns: u64,
    /// The start and end of each interval, by CLOCK_MONOTONIC.
    pub windows: Vec<[u64; 2]>,
}

impl Phase {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            count: 0,
            cpu_ns: 0,
            windows: Vec::new(),
        }
    }

    fn time<T>(&mut self, job: impl FnOnce() -> Result<T, Box<dyn Error>>) -> Result<T, Box<dyn Error>> {
        let began_ns = monotonic_ns();
        let part = WorkTimer::start();
        let done = job()?;
        let (elapsed_ns, cpu_ns) = part.stop();
        self.cpu_ns += cpu_ns;
        self.windows.push([began_ns, began_ns + elapsed_ns]);
        Ok(done)
    }
}

/// Makes the databases of one arm.
pub fn load(arm: &str, folder: &Path) -> Result<(), Box<dyn Error>> {
    for (name, bytes) in [(LARGE, LARGE_SIZE), (SMALL, SMALL_SIZE)] {
        dataset::load(&Native, &spec(arm, folder, name), &Dataset::Scan { bytes }, SEED)?;
    }
    Ok(())
}

/// The file that is scanned.
pub fn large_file(arm: &str, folder: &Path) -> PathBuf {
    spec(arm, folder, LARGE).path
}

/// The key file of all arms.
pub fn key_file(folder: &Path) -> PathBuf {
    folder.join("key")
}

/// Runs one operation for [`LASTING`], after a rehearsal.
pub fn run(operation: Operation, arm: &str, folder: &Path) -> Result<Vec<Phase>, Box<dyn Error>> {
    match operation {
        Operation::Scan => scan(&spec(arm, folder, LARGE)),
        Operation::Point => point(&spec(arm, folder, LARGE)),
        Operation::Commit => commit(arm, folder),
        Operation::Backup => backup(&spec(arm, folder, SMALL)),
        Operation::Indexed => indexed(arm, folder),
        Operation::Check => check(&with_pool(spec(arm, folder, SMALL), "64MiB")),
        Operation::Readers => readers(&with_pool(spec(arm, folder, LARGE), "128MiB")),
    }
}

fn scan(database: &DatabaseSpec) -> Result<Vec<Phase>, Box<dyn Error>> {
    let connection = Native.open(database)?;
    let pages = layout::page_count(&connection)?;
    let mut statement = connection.prepare("SELECT * FROM SomeData WHERE Id = 100000000")?;
    let mut phase = Phase::new("scan");
    statement.exists([])?;
    let until = Instant::now() + LASTING;
    while Instant::now() < until {
        phase.time(|| Ok(statement.exists([])?))?;
        phase.count += pages;
    }
    Ok(vec![phase])
}

fn point(database: &DatabaseSpec) -> Result<Vec<Phase>, Box<dyn Error>> {
    let connection = Native.open(database)?;
    let rows: i64 = connection.query_row("SELECT max(rowid) FROM SomeData", [], |row| row.get(0))?;
    // Afterwards every page is in the system's cache.
    connection.query_row("SELECT count(*) FROM SomeData", [], |_| Ok(()))?;
    let mut statement = connection.prepare("SELECT SomeText FROM SomeData WHERE rowid = ?1")?;
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut look_up = |count: u32| -> Result<(), Box<dyn Error>> {
        connection.execute_batch("BEGIN")?;
        for _ in 0..count {
            let row = random.random_range(1..=rows);
            statement.query_row([row], |row| Ok(row.get_ref(0)?.data_type()))?;
        }
        Ok(connection.execute_batch("COMMIT")?)
    };
    let mut phase = Phase::new("point");
    look_up(BATCH)?;
    let until = Instant::now() + LASTING;
    while Instant::now() < until {
        let before = read_bytes()?;
        phase.time(|| look_up(BATCH))?;
        // Reading the counter itself adds a few bytes in four million.
        phase.count += (read_bytes()? - before) / u64::from(PAGE_SIZE);
    }
    Ok(vec![phase])
}

fn commit(arm: &str, folder: &Path) -> Result<Vec<Phase>, Box<dyn Error>> {
    let database = spec(arm, folder, "commit");
    remove(&database.path)?;
    std::fs::copy(spec(arm, folder, SMALL).path, &database.path)?;
    let connection = Native.open(&database)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    let mut statement = connection.prepare("INSERT INTO SomeData(Id, SomeText) VALUES (?1, ?2)")?;
    let (mut commits, mut checkpoints) = (Phase::new("commit"), Phase::new("checkpoint"));
    let text = "a text of eighty bytes, as the rows have it that were there before this was done";
    let mut insert = || -> Result<(), Box<dyn Error>> {
        for id in 0..BATCH {
            statement.execute((id, text))?;
        }
        Ok(())
    };
    // The mode of SQLite's automatic checkpoints.
    let checkpoint = || -> Result<(), Box<dyn Error>> {
        Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
    };
    insert()?;
    checkpoint()?;
    let until = Instant::now() + LASTING;
    while Instant::now() < until {
        commits.time(&mut insert)?;
        commits.count += u64::from(BATCH);
        checkpoints.time(checkpoint)?;
        checkpoints.count += u64::from(BATCH);
    }
    drop(statement);
    connection.close().map_err(|(_, error)| error)?;
    remove(&database.path)?;
    Ok(vec![commits, checkpoints])
}

/// The copy uses a rollback journal, as in the lab: in a write-ahead log every page would be written twice.
fn backup(database: &DatabaseSpec) -> Result<Vec<Phase>, Box<dyn Error>> {
    let connection = Native.open(database)?;
    let mut target = database.clone();
    target.path.as_mut_os_string().push("-backup");
    "delete".clone_into(&mut target.journal_mode);
    let copy = || -> Result<(), Box<dyn Error>> {
        let mut copy = Native.create(&target)?;
        let backup = Backup::new(&connection, &mut copy)?;
        if backup.step(-1)? != StepResult::Done {
            return Err("the backup stopped".into());
        }
        drop(backup);
        Ok(copy.close().map_err(|(_, error)| error)?)
    };
    let pages = layout::page_count(&connection)?;
    let mut phase = Phase::new("backup");
    remove(&target.path)?;
    copy()?;
    remove(&target.path)?;
    let until = Instant::now() + LASTING;
    while Instant::now() < until {
        phase.time(copy)?;
        phase.count += pages;
        remove(&target.path)?;
    }
    Ok(vec![phase])
}

/// Random codes and names: most commits change leaves of both indexes that are not in the cache.
fn indexed(arm: &str, folder: &Path) -> Result<Vec<Phase>, Box<dyn Error>> {
    let database = DatabaseSpec {
        cache_kib: 256,
        ..spec(arm, folder, "indexed")
    };
    remove(&database.path)?;
    let rows = Dataset::Statements {
        rows: 20_000,
        indexes: 2,
    };
    dataset::load(&Native, &database, &rows, SEED)?;
    let connection = Native.open(&database)?;
    let mut statement = connection.prepare("INSERT INTO testtable(code, date, name) VALUES (?1, ?2, ?3)")?;
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut code = 1_000_000_000_i64;
    let mut insert = |count: u32| -> Result<(), Box<dyn Error>> {
        for _ in 0..count {
            code += 1;
            let date = format!("2026-{:08}", random.random_range(0..100_000_000));
            let name = format!("name {:016x}", random.random::<u64>());
            statement.execute((code, date, name))?;
        }
        Ok(())
    };
    let mut phase = Phase::new("indexed");
    insert(BATCH)?;
    let until = Instant::now() + LASTING;
    while Instant::now() < until {
        phase.time(|| insert(BATCH))?;
        phase.count += u64::from(BATCH);
    }
    drop(statement);
    connection.close().map_err(|(_, error)| error)?;
    remove(&database.path)?;
    Ok(vec![phase])
}

fn check(database: &DatabaseSpec) -> Result<Vec<Phase>, Box<dyn Error>> {
    let mut phase = Phase::new("check");
    let until = Instant::now() + LASTING;
    let mut is_rehearsal = true;
    while is_rehearsal || Instant::now() < until {
        // A connection and a pool without cached pages.
        let connection = Native.open(database)?;
        let pages = layout::page_count(&connection)?;
        let check = || -> Result<(), Box<dyn Error>> {
            let found: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
            if found == "ok" { Ok(()) } else { Err(found.into()) }
        };
        if std::mem::take(&mut is_rehearsal) {
            check()?;
        } else {
            phase.time(check)?;
            phase.count += pages;
        }
        connection.close().map_err(|(_, error)| error)?;
    }
    Ok(vec![phase])
}

fn readers(database: &DatabaseSpec) -> Result<Vec<Phase>, Box<dyn Error>> {
    let connections = (0..READERS)
        .map(|_| Native.open(database))
        .collect::<Result<Vec<_>, _>>()?;
    let pages = layout::page_count(&connections[0])?;
    let read = |connection: Connection| connection.query_row(READ_ALL, [], |_| Ok(()));
    let mut phase = Phase::new("readers");
    phase.time(|| {
        std::thread::scope(|scope| {
            let threads = connections
                .into_iter()
                .map(|connection| scope.spawn(move || read(connection)));
            for thread in threads.collect::<Vec<_>>() {
                thread.join().map_err(|_| "a reader panicked")??;
            }
            Ok(())
        })
    })?;
    phase.count = pages * u64::try_from(READERS)?;
    Ok(vec![phase])
}

/// Adds a page pool to the database; stock SQLite has none.
fn with_pool(mut database: DatabaseSpec, size: &str) -> DatabaseSpec {
    if database.cipher != PLAIN {
        database.settings.insert("pool_size".to_owned(), size.to_owned());
    }
    database
}

fn spec(arm: &str, folder: &Path, name: &str) -> DatabaseSpec {
    DatabaseSpec {
        cipher: arm.to_owned(),
        key_file: key_file(folder),
        page_size: PAGE_SIZE,
        cache_kib: 1024,
        ..selenite_worker::stock::spec(&folder.join(format!("{arm}-{name}.db")))
    }
}

fn remove(path: &Path) -> Result<(), Box<dyn Error>> {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        match std::fs::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// The number of bytes that this process has read by system calls.
fn read_bytes() -> Result<u64, Box<dyn Error>> {
    let io = std::fs::read_to_string("/proc/self/io")?;
    let count = io.lines().find_map(|line| line.strip_prefix("rchar: "));
    Ok(count.ok_or("/proc/self/io has no rchar")?.trim().parse()?)
}

/// Of every arm.
pub const PAGE_SIZE: u32 = 4096;

/// Long enough for some thousand samples over all turns, and short enough for four operations on
/// four arms in five turns within two minutes.
const LASTING: Duration = Duration::from_millis(400);

/// The default of `wal_autocheckpoint`, in frames.
const BATCH: u32 = 1000;

const READ_ALL: &str = "SELECT count(*) FROM SomeData WHERE Id = -1";

/// Connections of [`Operation::Readers`].
const READERS: usize = 16;

const LARGE: &str = "large";

/// Sixty-four times SQLite's page cache.
const LARGE_SIZE: u64 = 64 << 20;

const SMALL: &str = "small";

/// A backup takes less than a second, with little work for the disk.
const SMALL_SIZE: u64 = 16 << 20;

const SEED: u64 = 7;
