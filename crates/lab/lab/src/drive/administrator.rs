//! A program that an administrator would start while others are at work on a database.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process_group};

use super::failure::{DriveError, Failure};
use super::worker::{WorkerCommand, has_ended, not_started, pid_of};

/// Its process, killed with all that it started when this is dropped.
#[derive(Debug)]
pub struct Administrator {
    program: PathBuf,
    child: Child,
    began: Instant,
    /// Where it writes to: a pipe that no one empties would stop it.
    output_file: File,
    /// Once it was waited for.
    is_over: bool,
}

/// How a program ended that did what it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How long it ran.
    pub took: Duration,
    /// The end of what it wrote.
    pub said: String,
}

impl Administrator {
    /// Starts it, in a process group of its own. What it writes goes to a file that is made for it, and is removed.
    ///
    /// # Errors
    /// [`DriveError::NotStarted`].
    pub fn start(command: &WorkerCommand, output_file: &Path) -> Result<Self, DriveError> {
        let failed = |source: io::Error| not_started(command, source);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(output_file);
        let file = file.map_err(failed)?;
        std::fs::remove_file(output_file).map_err(failed)?;
        let [output, errors] = [file.try_clone().map_err(failed)?, file.try_clone().map_err(failed)?];
        let began = Instant::now();
        let child = Command::new(&command.program)
            .args(&command.args)
            .envs(&command.environment)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors)
            .process_group(0)
            .spawn();
        Ok(Self {
            program: command.program.clone(),
            child: child.map_err(failed)?,
            began,
            output_file: file,
            is_over: false,
        })
    }

    /// How it ended; none while it is at work.
    ///
    /// # Errors
    /// [`DriveError::Died`] if it ended in any other way than with success.
    pub fn look(&mut self) -> Result<Option<Ended>, DriveError> {
        if !has_ended(&self.child) {
            return Ok(None);
        }
        let took = self.began.elapsed();
        self.end();
        let status = self.child.wait();
        let said = self.said();
        match status {
            Ok(status) if status.success() => Ok(Some(Ended { took, said })),
            status => Err(DriveError::Died {
                at: Failure {
                    program: self.program.clone(),
                    request: "re-encrypt",
                    stderr: said.lines().map(str::to_owned).collect(),
                },
                status: status.map_or_else(|error| error.to_string(), |status| status.to_string()),
            }),
        }
    }

    /// Kills the group while its first process can't have been replaced by a stranger.
    fn end(&mut self) {
        if self.is_over {
            return;
        }
        if let Some(pid) = pid_of(&self.child) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
        let _ = self.child.wait();
        self.is_over = true;
    }

    /// The last [`WORDS_MAX`] bytes of what it wrote.
    fn said(&mut self) -> String {
        let mut bytes = Vec::new();
        let size = self.output_file.metadata().map_or(0, |facts| facts.len());
        let from = SeekFrom::Start(size.saturating_sub(WORDS_MAX));
        // What it said is for people; without it nothing is missing.
        let _ = self
            .output_file
            .seek(from)
            .and_then(|_| (&self.output_file).take(WORDS_MAX).read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Administrator {
    fn drop(&mut self) {
        self.end();
    }
}

/// A screen of text.
const WORDS_MAX: u64 = 2048;
