//! What is called encrypted is, by the bytes of its files.

use std::fs;
use std::path::{Path, PathBuf};

use selenite_worker::protocol::{DatabaseSpec, Dataset, Digest, Done, PLAIN, Request, Workload};

use crate::Fault;
use crate::folder::Folder;
use crate::talk::Talk;
use selenite_worker::Engine;

/// The file holds no marker and looks random; in clear it shows it, and does not.
///
/// # Errors
/// What can be seen, or what can't.
pub fn shows_nothing(executable: &Path) -> Result<(), Fault> {
    let folder = Folder::new()?;
    let mut talk = Talk::start(executable)?;
    for cipher in talk.ciphers()? {
        let is_plain = cipher == PLAIN;
        let database = folder.spec(&format!("{cipher}.db"), &cipher);
        let marker = talk.load(&database, &Dataset::Scan { bytes: 2 << 20 })?.marker;
        let bytes = fs::read(&database.path)?;
        Fault::unless(
            !marker.is_empty() && holds(&bytes, marker.as_bytes()) == is_plain,
            || format!("{cipher}: the marker {marker:?} in the file"),
        )?;
        Fault::unless(holds(&bytes, b"SQLite format 3") == is_plain, || {
            format!("{cipher}: SQLite's header")
        })?;
        Fault::unless((entropy(&bytes) > ENTROPY_MIN) != is_plain, || {
            format!("{cipher}: {:.4} bits in a byte of the file", entropy(&bytes))
        })?;
    }
    Ok(())
}

/// So it is with the write-ahead log.
///
/// # Errors
/// What can be seen, or what can't.
pub fn log_shows_nothing(engine: &dyn Engine) -> Result<(), Fault> {
    let folder = Folder::new()?;
    for cipher in [PLAIN.to_owned()].into_iter().chain(engine.hello()?.ciphers) {
        let is_plain = cipher == PLAIN;
        let database = folder.spec(&format!("{cipher}.db"), &cipher);
        let connection = engine.create(&database)?;
        connection.execute_batch(&format!("PRAGMA wal_autocheckpoint = 0; {MARKED_ROWS}"))?;
        let log = fs::read(PathBuf::from(format!("{}-wal", database.path.display())))?;
        Fault::unless(log.len() > 1 << 20, || {
            format!("{cipher}: a log of {} bytes", log.len())
        })?;
        Fault::unless(holds(&log, MARKER) == is_plain, || {
            format!("{cipher}: the marker in the log")
        })?;
        Fault::unless((entropy(&log) > ENTROPY_MIN) != is_plain, || {
            format!("{cipher}: {:.4} bits in a byte of the log", entropy(&log))
        })?;
    }
    Ok(())
}

/// Another key is an error, and the worker goes on; so is a key that is no key, and an unknown cipher.
///
/// # Errors
/// What was opened all the same.
pub fn other_key_is_refused(executable: &Path) -> Result<(), Fault> {
    let folder = Folder::new()?;
    let mut talk = Talk::start(executable)?;
    for cipher in talk.ciphers()? {
        let right = folder.spec(&format!("{cipher}.db"), &cipher);
        let loaded = talk.load(&right, &Dataset::Statements { rows: 500, indexes: 1 })?;
        let with_key = |name: &str| DatabaseSpec {
            key_file: folder.path(name),
            ..right.clone()
        };
        fs::write(folder.path("short-key"), [7; 31])?;
        for name in ["other-key", "short-key", "no-key"] {
            Fault::unless(talk.open(&with_key(name)).is_err() == (cipher != PLAIN), || {
                format!("{cipher}: opened with {name}")
            })?;
        }
        let in_clear = DatabaseSpec {
            cipher: PLAIN.to_owned(),
            ..right.clone()
        };
        Fault::unless(talk.open(&in_clear).is_err() == (cipher != PLAIN), || {
            format!("{cipher}: opened in clear")
        })?;
        let unknown = DatabaseSpec {
            cipher: "rot13".to_owned(),
            ..right.clone()
        };
        Fault::unless(talk.open(&unknown).is_err(), || "opened with rot13".to_owned())?;
        talk.open(&right)?;
        let digest: Digest = talk.ask(&Request::Digest)?;
        Fault::unless(digest.digest == loaded.digest, || format!("{cipher}: other rows"))?;
    }
    Ok(())
}

/// One altered byte of a page is an error for ciphers that authenticate: in a scan, and where `physical` in
/// [`Workload::PhysicalVerify`].
///
/// # Errors
/// What went unseen.
pub fn damage_is_found(executable: &Path, authenticating: &[&str], physical: bool) -> Result<(), Fault> {
    let folder = Folder::new()?;
    let mut talk = Talk::start(executable)?;
    for cipher in authenticating {
        let database = folder.spec(&format!("{cipher}.db"), cipher);
        talk.load(&database, &Dataset::Scan { bytes: 1 << 20 })?;
        talk.open(&database)?;
        talk.run(&Workload::PhysicalVerify)?;
        let _: Done = talk.ask(&Request::Close)?;
        let mut bytes = fs::read(&database.path)?;
        bytes[100 * 4096 + 1000] ^= 1;
        fs::write(&database.path, bytes)?;
        talk.open(&database)?;
        Fault::unless(talk.run(&Workload::Equal { rehearsals: 0 }).is_err(), || {
            format!("{cipher}: read damage")
        })?;
        if physical {
            Fault::unless(talk.run(&Workload::PhysicalVerify).is_err(), || {
                format!("{cipher}: verified damage")
            })?;
        }
    }
    Ok(())
}

fn holds(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Bits in a byte, by how often each value is there.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let of = |count: &u32| match count {
        0 => 0.0,
        count => {
            let share = f64::from(*count) / total;
            -share * share.log2()
        }
    };
    counts.iter().map(of).sum()
}

const MARKER: &[u8] = b"a marker no one else has";

const MARKED_ROWS: &str = "CREATE TABLE t(a);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
    INSERT INTO t SELECT i || ' a marker no one else has, and a hundred more bytes of plain text beside it' FROM n";

/// Random bytes of a megabyte reach 7.9998; text, whatever its language, does not reach 7.
const ENTROPY_MIN: f64 = 7.98;
