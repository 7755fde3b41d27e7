//! A backup for storage elsewhere: compressed, encrypted, in files.
//!
//! - synced-copy: the backup is made of a copy, in a folder of its own beside the database, which
//!   was made and synced before the clock starts; the backup is synced before the clock stops, by
//!   the tool that makes it.
//! - plain-is-usual-tools: unencrypted, the backup is made with the usual tools: SQLite's online
//!   backup into an unencrypted file, `zstd -T2 -3`, `age` for one recipient.
//! - one-page-in-a-hundred: the change is one page in a hundred, rewritten with the same contents.
//!   Unencrypted there is no incremental backup, and everything is backed up again.
//! - restored-rows-match: a block counts only if the backup can be restored, with the rows of the
//!   database.
//! - all-processes-count: CPU time is that of all processes. Memory is reported only if one process
//!   did all of the work.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::rekey::{duplicate, once, remove, sync};
use super::{Timed, beside};
use crate::protocol::{DatabaseSpec, Digest, PLAIN, Sample};
use crate::{Engine, WorkerError, digest, meter};

/// Backs up a copy of a closed database; both are deleted afterwards.
pub fn archive(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    incremental: bool,
    timed: Timed<'_>,
) -> Result<Sample, WorkerError> {
    let folder = beside(&database.path, "-archive");
    remove(&folder)?;
    fs::create_dir(&folder).map_err(WorkerError::io("make", &folder))?;
    let made = made(engine, database, (&folder, incremental), timed);
    let removed = remove(&folder);
    let sample = made?;
    removed.map(|()| sample)
}

fn made(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    (folder, incremental): (&Path, bool),
    timed: Timed<'_>,
) -> Result<Sample, WorkerError> {
    let at = |name: &str| DatabaseSpec {
        path: folder.join(name),
        ..database.clone()
    };
    let (copy, mut restored, place) = (at("copy.db"), at("restored.db"), folder.join("place"));
    duplicate(&database.path, &copy.path)?;
    let pipeline = match database.cipher == PLAIN {
        true => Some(Pipeline::new(folder, &place)?),
        false => None,
    };
    if incremental {
        if pipeline.is_none() {
            engine.back_up(&copy, &place, false)?;
        }
        rewrite_pages(engine, &copy)?;
        sync(&copy.path)?;
    }
    let before = bytes_below(&place)?;
    let children = meter::of_children()?;
    let sample = timed(&mut || {
        match &pipeline {
            Some(pipeline) => pipeline.run(engine, &copy)?,
            None => engine.back_up(&copy, &place, incremental)?,
        }
        Ok(once())
    })?;
    let after = meter::of_children()?;
    let (user_ns, system_ns) = (after.0.saturating_sub(children.0), after.1.saturating_sub(children.1));
    let archive_bytes = bytes_below(&place)?.saturating_sub(before);
    match &pipeline {
        Some(pipeline) => pipeline.undo(&restored.path)?,
        None => restored.cipher = engine.restore(&restored, &place)?,
    }
    let (twin, rows) = (digest_of(engine, database)?, digest_of(engine, &restored)?);
    if twin != rows {
        return Err(WorkerError::Wrong(format!(
            "what was restored holds other rows: {rows:?}, not {twin:?}"
        )));
    }
    Ok(Sample {
        answer: format!("{} rows {}", rows.rows, rows.digest),
        cpu_ns: sample.cpu_ns + user_ns + system_ns,
        user_ns: sample.user_ns + user_ns,
        system_ns: sample.system_ns + system_ns,
        peak_bytes: sample.peak_bytes.filter(|_| pipeline.is_none()),
        archive_bytes: Some(archive_bytes),
        ..sample
    })
}

fn digest_of(engine: &dyn Engine, database: &DatabaseSpec) -> Result<Digest, WorkerError> {
    let connection = engine.open(database)?;
    let digest = digest::of(&connection)?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(digest)
}

/// `one-page-in-a-hundred`: the contents of the pages stay the same; their encrypted bytes in the
/// file change.
fn rewrite_pages(engine: &dyn Engine, copy: &DatabaseSpec) -> Result<(), WorkerError> {
    let connection = engine.open(copy)?;
    connection.execute(
        "UPDATE sqlite_dbpage SET data = data WHERE pgno % ?1 = ?1 / 2",
        [CHANGED_EVERY],
    )?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// Enforces `plain-is-usual-tools`.
struct Pipeline {
    key: PathBuf,
    recipient: String,
    clear: PathBuf,
    made: PathBuf,
}

impl Pipeline {
    fn new(folder: &Path, place: &Path) -> Result<Self, WorkerError> {
        fs::create_dir(place).map_err(WorkerError::io("make", place))?;
        let key = folder.join("age.key");
        let drawn = Command::new("age-keygen")
            .arg("-o")
            .arg(&key)
            .stderr(Stdio::null())
            .spawn();
        ended("age-keygen", drawn.map_err(missing("age-keygen"))?)?;
        let text = fs::read_to_string(&key).map_err(WorkerError::io("read", &key))?;
        let recipient = text.lines().find_map(|line| line.strip_prefix("# public key: "));
        let recipient = recipient.ok_or_else(|| WorkerError::Engine("age-keygen names no public key".to_owned()))?;
        Ok(Self {
            recipient: recipient.to_owned(),
            clear: folder.join("clear.db"),
            made: place.join("copy.db.zst.age"),
            key,
        })
    }

    fn run(&self, engine: &dyn Engine, copy: &DatabaseSpec) -> Result<(), WorkerError> {
        let source = engine.open(copy)?;
        let mut target = Connection::open(&self.clear)?;
        let step = Backup::new(&source, &mut target)?.step(-1)?;
        if step != StepResult::Done {
            return Err(WorkerError::Engine(format!("the backup stopped: {step:?}")));
        }
        for connection in [source, target] {
            connection.close().map_err(|(_, error)| error)?;
        }
        let (mut zstd, mut age) = (Command::new("zstd"), Command::new("age"));
        zstd.args(["-q", "-T2", "-3", "-c"]).arg(&self.clear);
        age.args(["-r", &self.recipient, "-o"]).arg(&self.made);
        run_piped(("zstd", zstd), ("age", age))?;
        sync(&self.made)?;
        fs::remove_file(&self.clear).map_err(WorkerError::io("remove", &self.clear))
    }

    fn undo(&self, to: &Path) -> Result<(), WorkerError> {
        let (mut age, mut zstd) = (Command::new("age"), Command::new("zstd"));
        age.args(["-d", "-i"]).arg(&self.key).arg(&self.made);
        zstd.args(["-q", "-d", "-o"]).arg(to);
        run_piped(("age", age), ("zstd", zstd))
    }
}

/// Runs two programs, the output of the first piped into the second.
fn run_piped(mut first: (&str, Command), mut second: (&str, Command)) -> Result<(), WorkerError> {
    let mut from = first
        .1
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(missing(first.0))?;
    let input = from
        .stdout
        .take()
        .map_or_else(Stdio::null, |out: ChildStdout| out.into());
    let to = second
        .1
        .stdin(input)
        .stdout(Stdio::null())
        .spawn()
        .map_err(missing(second.0));
    // Both are waited for, whichever fails, so that both are counted and no process remains.
    let to = to.and_then(|to| ended(second.0, to));
    let from = ended(first.0, from);
    to.and(from)
}

fn ended(name: &str, mut child: Child) -> Result<(), WorkerError> {
    let status = child.wait().map_err(WorkerError::io("wait for", name))?;
    match status.success() {
        true => Ok(()),
        false => Err(WorkerError::Engine(format!("{name} ended with {status}"))),
    }
}

fn missing(name: &str) -> impl FnOnce(std::io::Error) -> WorkerError + use<> {
    let name = name.to_owned();
    move |error| {
        if error.kind() != ErrorKind::NotFound {
            return WorkerError::io("run", name)(error);
        }
        WorkerError::Refused(format!(
            "there is no {name} here: backups in clear are made with zstd and age; install both"
        ))
    }
}

/// Bytes of all files in a folder and its subfolders; 0 if there is no folder.
fn bytes_below(folder: &Path) -> Result<u64, WorkerError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(WorkerError::io("read", folder))?,
    };
    let mut bytes = 0;
    for entry in entries {
        let entry = entry.map_err(WorkerError::io("read", folder))?;
        let facts = entry.metadata().map_err(WorkerError::io("read", entry.path()))?;
        bytes += match facts.is_dir() {
            true => bytes_below(&entry.path())?,
            false => facts.len(),
        };
    }
    Ok(bytes)
}

/// `one-page-in-a-hundred`.
const CHANGED_EVERY: u32 = 100;
