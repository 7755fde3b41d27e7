//! `DB-selenite`, as a connection of the database reads it: who is at all of its pages (FORMAT 11).
//!
//! O1. Whoever may write to the folder may put anything there: no link is followed, nothing but a small file is opened, and
//!     what it says is only shown.
//! O2. Closing a file gives up the process's POSIX locks on it, whatever its name (fcntl(2)): what may be SQLite's by a
//!     second name is looked at by a descriptor that opens nothing (`O_PATH`, open(2)), and left alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

use selenite_format::operation_report::{Report, SIZE_MAX};

/// Who is at a database's pages.
#[derive(Debug)]
pub enum Running {
    /// Nobody; a file that is there was left by who is gone.
    Nobody,
    /// Somebody, who says this.
    Somebody(Report),
    /// That can't be said.
    Unknown(String),
}

/// Looks who is at the pages of the database at `path`.
#[must_use]
pub fn look(path: &str) -> Running {
    match read(path) {
        Ok(Some(report)) => Running::Somebody(report),
        Ok(None) => Running::Nobody,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Running::Nobody,
        Err(error) => Running::Unknown(error.to_string()),
    }
}

fn read(path: &str) -> io::Result<Option<Report>> {
    let name = format!("{path}-selenite");
    let place = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_NOFOLLOW)
        .open(name)?;
    let attributes = place.metadata()?;
    let is_one = attributes.is_file() && attributes.nlink() <= 1 && attributes.len() <= SIZE_MAX_ON_DISK;
    if !is_one {
        return Err(io::Error::other("what has its name is no report"));
    }
    // The same file, whatever has its name by now.
    let file = File::open(format!("/proc/self/fd/{}", place.as_raw_fd()))?;
    match file.try_lock_shared() {
        // Its process is gone: the lock goes again with the descriptor.
        Ok(()) => return Ok(None),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let mut bytes = Vec::new();
    file.take(SIZE_MAX_ON_DISK).read_to_end(&mut bytes)?;
    Ok(Some(Report::parse(&bytes)))
}

const SIZE_MAX_ON_DISK: u64 = SIZE_MAX as u64;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    struct Bench {
        folder: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            Self {
                folder: tempfile::tempdir().unwrap(),
            }
        }

        fn database(&self) -> String {
            self.folder.path().join("app.db").to_str().unwrap().to_owned()
        }

        fn report(&self) -> String {
            self.database() + "-selenite"
        }

        fn unknown(&self, why: &str) {
            let seen = look(&self.database());
            assert!(
                matches!(&seen, Running::Unknown(said) if said.contains(why)),
                "{seen:?}"
            );
        }
    }

    #[test]
    fn a_report_counts_while_somebody_holds_it() {
        let bench = Bench::new();
        assert!(matches!(look(&bench.database()), Running::Nobody));
        fs::write(bench.report(), "pid 7\nwaiting paused\n").unwrap();
        assert!(matches!(look(&bench.database()), Running::Nobody));
        let held = File::open(bench.report()).unwrap();
        held.lock().unwrap();
        for _ in 0..2 {
            let seen = look(&bench.database());
            assert!(
                matches!(&seen, Running::Somebody(report) if report.pid == 7 && report.waiting == "paused"),
                "{seen:?}"
            );
        }
        drop(held);
        assert!(matches!(look(&bench.database()), Running::Nobody));
    }

    #[test]
    fn neither_links_nor_pipes_nor_folders_nor_large_files_are_opened() {
        let bench = Bench::new();
        fs::write(bench.database(), [0; 512]).unwrap();
        symlink(bench.database(), bench.report()).unwrap();
        bench.unknown("no report");
        fs::remove_file(bench.report()).unwrap();
        fs::hard_link(bench.database(), bench.report()).unwrap();
        bench.unknown("no report");
        fs::remove_file(bench.report()).unwrap();
        fs::write(bench.report(), vec![b'x'; SIZE_MAX + 1]).unwrap();
        bench.unknown("no report");
        fs::remove_file(bench.report()).unwrap();
        fs::create_dir(bench.report()).unwrap();
        bench.unknown("no report");
        fs::remove_dir(bench.report()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(bench.report()).status();
        assert!(made.unwrap().success());
        bench.unknown("no report");
    }
}
