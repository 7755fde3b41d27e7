//! A change of a database's key, with every page re-encrypted.
//!
//! - copy-is-rekeyed: the key of a copy is changed, in a folder of its own beside the database: the
//!   database keeps the key that the lab knows.
//! - synced-twice: the copy is synced before the clock starts, and again before it stops, whether
//!   or not the engine has synced it.
//! - new-key-only: a block counts only if the copy opens with the new key and not with the old one,
//!   every page of it has changed, and its rows are those of the database.
//! - plain-is-a-copy: unencrypted there is no key, and the measurement is that of an ordinary copy
//!   of the file's bytes with its sync: the cost of moving them.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;

use super::{Timed, WorkFigures, beside};
use crate::protocol::{DatabaseSpec, Digest, PLAIN, Sample};
use crate::{Engine, WorkerError, digest};

/// Changes the key of a copy of a closed database; the copy is deleted afterwards.
pub fn rekey(engine: &dyn Engine, database: &DatabaseSpec, timed: Timed<'_>) -> Result<Sample, WorkerError> {
    let folder = beside(&database.path, "-rekey");
    remove(&folder)?;
    fs::create_dir(&folder).map_err(WorkerError::io("make", &folder))?;
    let copy = DatabaseSpec {
        path: folder.join("copy.db"),
        ..database.clone()
    };
    let changed = match database.cipher == PLAIN {
        true => copy_unencrypted(engine, database, &copy, timed),
        false => change_key(engine, database, &copy, timed),
    };
    let removed = remove(&folder);
    let sample = changed?;
    removed.map(|()| sample)
}

/// Enforces `plain-is-a-copy`.
fn copy_unencrypted(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    copy: &DatabaseSpec,
    timed: Timed<'_>,
) -> Result<Sample, WorkerError> {
    let sample = timed(&mut || {
        duplicate(&database.path, &copy.path)?;
        Ok(once())
    })?;
    checked_sample(engine, database, copy, sample)
}

fn change_key(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    copy: &DatabaseSpec,
    timed: Timed<'_>,
) -> Result<Sample, WorkerError> {
    let folder = copy.path.with_file_name("");
    let renewed = DatabaseSpec {
        key_file: folder.join("key"),
        ..copy.clone()
    };
    draw_key(&renewed.key_file)?;
    duplicate(&database.path, &copy.path)?;
    sync(&folder)?;
    let sample = timed(&mut || {
        engine.rekey(copy, &renewed.key_file)?;
        sync(&copy.path)?;
        Ok(once())
    })?;
    check_old_key(engine, copy)?;
    check_pages(database, copy)?;
    checked_sample(engine, database, &renewed, sample)
}

/// The sample, after checking that the rows of the changed database are those of the original.
fn checked_sample(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    changed: &DatabaseSpec,
    sample: Sample,
) -> Result<Sample, WorkerError> {
    let (twin, rows) = thread::scope(|scope| {
        let twin = scope.spawn(|| digest_of(engine, database));
        let rows = digest_of(engine, changed);
        let gone = || Err(WorkerError::Engine("a thread that read panicked".to_owned()));
        (twin.join().unwrap_or_else(|_| gone()), rows)
    });
    let (twin, rows) = (twin?, rows?);
    if twin != rows {
        return Err(WorkerError::Wrong(format!(
            "with its new key it holds other rows: {rows:?}, not {twin:?}"
        )));
    }
    let answer = format!("{} rows {}", rows.rows, rows.digest);
    Ok(Sample { answer, ..sample })
}

/// The digest of a database, which has to be encrypted unless its cipher is [`PLAIN`].
fn digest_of(engine: &dyn Engine, database: &DatabaseSpec) -> Result<Digest, WorkerError> {
    let connection = engine.open(database)?;
    let status = engine.status(&connection, database)?;
    if database.cipher != PLAIN && !status.encrypted {
        return Err(WorkerError::Wrong("with its new key it is not encrypted".to_owned()));
    }
    let digest = digest::of(&connection)?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(digest)
}

/// The old key must not open the copy. That the new one does is checked later.
fn check_old_key(engine: &dyn Engine, copy: &DatabaseSpec) -> Result<(), WorkerError> {
    match engine.open(copy) {
        Ok(_) => Err(WorkerError::Wrong("the old key still opens it".to_owned())),
        Err(_) => Ok(()),
    }
}

/// No page may be unchanged. Pages of zeros, such as SQLite's lock page, do not count.
fn check_pages(database: &DatabaseSpec, copy: &DatabaseSpec) -> Result<(), WorkerError> {
    let size = usize::try_from(database.page_size).unwrap_or(usize::MAX);
    let (mut old, mut new) = (Pages::open(&database.path, size)?, Pages::open(&copy.path, size)?);
    let (mut place, mut same) = (0_u64, 0_u64);
    let mut first = None;
    while old.next()? && new.next()? {
        if old.page == new.page && old.page.iter().any(|byte| *byte != 0) {
            first.get_or_insert(place);
            same += 1;
        }
        place += 1;
    }
    match first {
        None => Ok(()),
        Some(first) => Err(WorkerError::Wrong(format!(
            "{same} of its pages are as they were, the first one at byte {}",
            first * u64::from(database.page_size)
        ))),
    }
}

/// The pages of a file, in order.
struct Pages<'a> {
    path: &'a Path,
    file: std::io::BufReader<File>,
    page: Vec<u8>,
}

impl<'a> Pages<'a> {
    fn open(path: &'a Path, size: usize) -> Result<Self, WorkerError> {
        let file = File::open(path).map_err(WorkerError::io("open", path))?;
        Ok(Self {
            path,
            file: std::io::BufReader::with_capacity(PIECE_SIZE, file),
            page: vec![0; size],
        })
    }

    /// Reads the next page; false at the end.
    fn next(&mut self) -> Result<bool, WorkerError> {
        match self.file.read_exact(&mut self.page) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(WorkerError::io("read", self.path)(error)),
        }
    }
}

/// Copies a file and syncs the copy. Bytes are read and written even if the file system could share
/// them: they have to be moved, and to be in the system's cache.
pub(super) fn duplicate(from: &Path, to: &Path) -> Result<(), WorkerError> {
    let mut source = File::open(from).map_err(WorkerError::io("open", from))?;
    let mut target = File::create_new(to).map_err(WorkerError::io("make", to))?;
    let mut piece = vec![0; PIECE_SIZE];
    loop {
        let count = source.read(&mut piece).map_err(WorkerError::io("read", from))?;
        if count == 0 {
            return target.sync_all().map_err(WorkerError::io("sync", to));
        }
        target
            .write_all(&piece[..count])
            .map_err(WorkerError::io("write", to))?;
    }
}

/// Writes a new random key.
fn draw_key(path: &Path) -> Result<(), WorkerError> {
    let mut key = [0; KEY_SIZE];
    let read = File::open(RANDOM).and_then(|mut random| random.read_exact(&mut key));
    read.map_err(WorkerError::io("read", RANDOM))?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(&key))
        .map_err(WorkerError::io("write", path))
}

pub(super) fn sync(path: &Path) -> Result<(), WorkerError> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(WorkerError::io("sync", path))
}

pub(super) fn remove(folder: &Path) -> Result<(), WorkerError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(WorkerError::io("remove", folder)(error)),
        _ => Ok(()),
    }
}

pub(super) fn once() -> WorkFigures {
    WorkFigures {
        operations: 1,
        ..WorkFigures::default()
    }
}

/// 1 MiB: larger reads are not faster.
const PIECE_SIZE: usize = 1 << 20;
/// The size in every worker's key file.
const KEY_SIZE: usize = 32;
const RANDOM: &str = "/dev/urandom";

#[cfg(test)]
mod tests;
