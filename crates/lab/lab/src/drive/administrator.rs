//! A program of an administrator that runs while others work on a database.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process_group};

use super::failure::{DriveError, Failure};
use super::worker::{WorkerCommand, has_ended, not_started, pid_of};

/// Its process, killed with its descendants on drop.
#[derive(Debug)]
pub struct Administrator {
    program: PathBuf,
    child: Child,
    began: Instant,
    /// The file of its output, because a pipe that is not read would block it.
    output_file: File,
    /// Whether it has been waited for.
    is_over: bool,
}

/// The end of a successful program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Its duration.
    pub took: Duration,
    /// The end of its output.
    pub output_tail: String,
}

impl Administrator {
    /// Starts it in a process group of its own. Its output goes to a file that is created for it
    /// and removed afterwards.
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

    /// Its end; none while it is running.
    ///
    /// # Errors
    /// [`DriveError::Died`] if it ended without success.
    pub fn poll(&mut self) -> Result<Option<Ended>, DriveError> {
        if !has_ended(&self.child) {
            return Ok(None);
        }
        let took = self.began.elapsed();
        self.end();
        let status = self.child.wait();
        let output_tail = self.output_tail();
        match status {
            Ok(status) if status.success() => Ok(Some(Ended { took, output_tail })),
            status => Err(DriveError::Died {
                at: Failure {
                    program: self.program.clone(),
                    request: "re-encrypt",
                    stderr: output_tail.lines().map(str::to_owned).collect(),
                },
                status: status.map_or_else(|error| error.to_string(), |status| status.to_string()),
            }),
        }
    }

    /// Kills the group before its first process is reaped, so that its id cannot have been reused.
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

    /// The last [`OUTPUT_TAIL_SIZE_MAX`] bytes of its output.
    fn output_tail(&mut self) -> String {
        let mut bytes = Vec::new();
        let size = self.output_file.metadata().map_or(0, |facts| facts.len());
        let from = SeekFrom::Start(size.saturating_sub(OUTPUT_TAIL_SIZE_MAX));
        // The output is for display only, so an error is ignored.
        let _ = self
            .output_file
            .seek(from)
            .and_then(|_| (&self.output_file).take(OUTPUT_TAIL_SIZE_MAX).read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Administrator {
    fn drop(&mut self) {
        self.end();
    }
}

/// A screen of text.
const OUTPUT_TAIL_SIZE_MAX: u64 = 2048;
