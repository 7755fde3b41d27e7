//! The search for engines' workers.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use selenite_worker::protocol::{CipherTime, Hello, Request};

use crate::config::arm::{SERVERS, TRANSIT};
use crate::drive::{DriveError, Worker, WorkerCommand};

/// The argument with which the program is itself the worker of both [`OWN_ENGINES`].
pub const WORKER_ARGUMENT: &str = "lab-worker";
/// The argument with which it is the worker of a server.
pub const TRANSIT_ARGUMENT: &str = "lab-transit-worker";
/// The engines in the program itself.
pub const OWN_ENGINES: [&str; 2] = ["sqlite", "selenite"];
/// The environment variable with further folders to search, separated by colons.
pub const FOLDERS_VARIABLE: &str = "SELENITE_WORKERS";

/// Finds workers.
#[derive(Clone, Debug)]
pub struct Engines {
    own: WorkerCommand,
    folders: Vec<PathBuf>,
}

/// Why an engine is not available as requested.
#[derive(Debug)]
#[non_exhaustive]
pub enum EnginesError {
    /// The machine: no worker of that engine.
    Missing {
        /// The engine.
        engine: String,
        /// The folders that were searched.
        looked: Vec<PathBuf>,
    },
    /// The caller: a path without a file.
    NoFile {
        /// The engine.
        engine: String,
        /// The path.
        path: PathBuf,
    },
    /// The engine: its AES instructions cannot be masked.
    NotMasked {
        /// The engine.
        engine: String,
        /// The times with AES instructions and masked; none if the engine has no method of masking.
        times: Option<(CipherTime, CipherTime)>,
    },
    /// The worker.
    Drive(DriveError),
}

impl Engines {
    /// Searches the folders of the environment variable, then those beside the program.
    ///
    /// # Errors
    /// The program's own path is unknown.
    pub fn of_this_program() -> std::io::Result<Self> {
        let executable = env::current_exe()?;
        let own = WorkerCommand {
            args: vec![WORKER_ARGUMENT.to_owned()],
            ..WorkerCommand::new(&executable)
        };
        let named = env::var_os(FOLDERS_VARIABLE).unwrap_or_default();
        let path = env::var_os("PATH").unwrap_or_default();
        Ok(Self::new(own, folders(&named, executable.parent(), &path)))
    }

    /// Uses `own` for [`OWN_ENGINES`], and searches `folders` for others.
    #[must_use]
    pub fn new(own: WorkerCommand, folders: Vec<PathBuf>) -> Self {
        Self { own, folders }
    }

    /// The program that runs the study.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.own.program
    }

    /// The worker of an engine; `explicit` is the path in the configuration, if there is one.
    ///
    /// # Errors
    /// [`EnginesError::Missing`], [`EnginesError::NoFile`].
    pub fn find(&self, engine: &str, explicit: Option<&Path>) -> Result<WorkerCommand, EnginesError> {
        if let Some(path) = explicit {
            return match path.is_file() {
                true => Ok(WorkerCommand::new(path)),
                false => Err(EnginesError::NoFile {
                    engine: engine.to_owned(),
                    path: path.to_owned(),
                }),
            };
        }
        if OWN_ENGINES.contains(&engine) {
            return Ok(self.own.clone());
        }
        if engine == TRANSIT {
            return Ok(WorkerCommand {
                args: vec![TRANSIT_ARGUMENT.to_owned()],
                ..self.own.clone()
            });
        }
        let name = format!("{PREFIX}{engine}");
        let mut places = self.folders.iter().map(|folder| folder.join(&name));
        let found = places.find(|path| path.is_file()).map(WorkerCommand::new);
        // A name with a slash could leave the folders.
        let found = found.filter(|_| !engine.contains('/'));
        found.ok_or_else(|| EnginesError::Missing {
            engine: engine.to_owned(),
            looked: self.folders.clone(),
        })
    }

    /// The names of all available engines, those of the program itself first.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for entry in self
            .folders
            .iter()
            .filter_map(|folder| folder.read_dir().ok())
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let engine = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
            found.extend(engine.filter(|_| entry.path().is_file()).map(str::to_owned));
        }
        found.retain(|engine| !engine.contains('.') && !OWN_ENGINES.contains(&engine.as_str()));
        found.sort();
        found.dedup();
        OWN_ENGINES.map(str::to_owned).into_iter().chain(found).collect()
    }
}

/// Masks the AES instructions of an engine by the method that its worker reports, and proves it by
/// the time of a cipher. Returns the command that starts the worker so, and the times with and
/// without AES instructions.
///
/// # Errors
/// [`EnginesError::NotMasked`] unless a cipher became more than [`MASKED_FACTOR`] times as slow;
/// [`EnginesError::Drive`].
pub fn without_aes(
    command: &WorkerCommand,
    cipher: &str,
    limit: Duration,
) -> Result<(WorkerCommand, CipherTime, CipherTime), EnginesError> {
    let (hello, with) = time(command, cipher, limit)?;
    let not_masked = |times| EnginesError::NotMasked {
        engine: hello.engine.clone(),
        times,
    };
    if hello.without_aes.is_empty() {
        return Err(not_masked(None));
    }
    let mut masked = command.clone();
    masked.environment.extend(hello.without_aes.clone());
    let (_, without) = time(&masked, cipher, limit)?;
    if is_masked(with, without) {
        Ok((masked, with, without))
    } else {
        Err(not_masked(Some((with, without))))
    }
}

/// Starts a worker, reads its [`Hello`], and ends it.
///
/// # Errors
/// As for [`Worker::hello`].
pub fn hello(command: &WorkerCommand, limit: Duration) -> Result<Hello, DriveError> {
    let mut worker = Worker::start(command)?;
    let hello = worker.hello(limit)?;
    worker.quit(limit);
    Ok(hello)
}

fn time(command: &WorkerCommand, cipher: &str, limit: Duration) -> Result<(Hello, CipherTime), DriveError> {
    let mut worker = Worker::start(command)?;
    let hello = worker.hello(limit)?;
    let request = Request::Cipher {
        cipher: cipher.to_owned(),
    };
    let time = worker.ask(&request, limit)?;
    worker.quit(limit);
    Ok((hello, time))
}

/// Sealing may be slow for other reasons (CBC encrypts one block after the other), so either
/// direction is sufficient.
fn is_masked(with: CipherTime, without: CipherTime) -> bool {
    let rises = |with: f64, without: f64| with > 0.0 && without > with * MASKED_FACTOR;
    rises(with.seal_ns, without.seal_ns) || rises(with.open_ns, without.open_ns)
}

/// `named` first, then the program's folder, what `make peers` and `make engines` make beside it,
/// and `path`.
fn folders(named: &OsStr, program: Option<&Path>, path: &OsStr) -> Vec<PathBuf> {
    let beside = program.into_iter().flat_map(|folder| {
        let peers = ["peers", "../peers", "../peers/release", "../peers/debug", "../engines"];
        std::iter::once(folder.to_owned()).chain(peers.map(|name| folder.join(name)))
    });
    let all = env::split_paths(named).chain(beside).chain(env::split_paths(path));
    all.filter(|folder| !folder.as_os_str().is_empty()).collect()
}

impl EnginesError {
    /// Advice on what to do next.
    #[must_use]
    pub fn advice(&self) -> String {
        match self {
            Self::Missing { engine, .. } if PEERS.contains(&engine.as_str()) => {
                format!("run make peers, or put a folder with {PREFIX}{engine} in {FOLDERS_VARIABLE}")
            }
            Self::Missing { engine, .. } if SERVERS.contains(&engine.as_str()) => {
                format!("run make engines, or put a folder with {PREFIX}{engine} in {FOLDERS_VARIABLE}")
            }
            Self::Missing { engine, .. } => format!(
                "engines are {}, {}; another one needs {PREFIX}{engine} in a folder of {FOLDERS_VARIABLE}",
                OWN_ENGINES.join(", "),
                PEERS.join(", ")
            ),
            Self::NoFile { .. } => "correct `worker` of the arm, or remove it".to_owned(),
            Self::NotMasked { .. } => "remove aes_instructions = false from this arm".to_owned(),
            Self::Drive(error) => error.advice(),
        }
    }
}

impl fmt::Display for EnginesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { engine, looked } => {
                let looked: Vec<_> = looked.iter().map(|folder| folder.display().to_string()).collect();
                write!(f, "no worker for engine {engine:?}; searched {}", looked.join(", "))
            }
            Self::NoFile { engine, path } => {
                write!(f, "the worker of engine {engine:?} does not exist: {}", path.display())
            }
            Self::NotMasked { engine, times: None } => {
                write!(
                    f,
                    "cannot mask the AES instructions for engine {engine:?}: not supported"
                )
            }
            Self::NotMasked {
                engine,
                times: Some((with, without)),
            } => write!(
                f,
                "cannot mask the AES instructions for engine {engine:?}: a page takes {:.0} ns to seal and \
                    {:.0} ns to open with them, {:.0} and {:.0} ns masked, not {MASKED_FACTOR} times as long",
                with.seal_ns, with.open_ns, without.seal_ns, without.open_ns
            ),
            Self::Drive(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for EnginesError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Drive(error) => Some(error),
            Self::Missing { .. } | Self::NoFile { .. } | Self::NotMasked { .. } => None,
        }
    }
}

impl From<DriveError> for EnginesError {
    fn from(error: DriveError) -> Self {
        Self::Drive(error)
    }
}

/// Software AES is 5 to 30 times as slow as instructions; noise and the time of a MAC leave at
/// least this factor.
pub const MASKED_FACTOR: f64 = 3.0;
/// The executable of an engine has this prefix, followed by the engine's name.
const PREFIX: &str = "selenite-worker-";
/// The engines that `make peers` builds.
const PEERS: [&str; 2] = ["sqlcipher", "sqlite3mc"];
#[cfg(test)]
mod tests;
