//! Reads `DB-selenite`: the report of the operation that is processing all pages of a database
//! (FORMAT 11).
//!
//! - folder-is-not-trusted: anyone who may write to the folder may put any file there: no link is
//!   followed, only a small file is opened, and its content is only displayed.
//! - never-a-database: closing a file releases the process's POSIX locks on it, under any of its
//!   names (fcntl(2)): a file that may be SQLite's under a second name is examined with a
//!   descriptor that does not open it (`O_PATH`, open(2)), and otherwise not touched.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use selenite_format::operation_report::{Report, SIZE_MAX};
use selenite_keyring::platform::read_at;

use crate::ffi::open_regular_file;

/// The report of the operation that is running on the database at `path`; `None` if there is none.
///
/// # Errors
/// Those of the system, and if the file of that name is not a report.
pub fn read_report(path: &Path) -> io::Result<Option<Report>> {
    let mut name = path.as_os_str().to_owned();
    name.push("-selenite");
    Ok(read(Path::new(&name))?.map(|bytes| Report::parse(&bytes)))
}

/// The content of the file, written by the process that holds its lock; `None` if no process does.
/// The file is locked shared for a moment, which does not hinder other processes that call this
/// function.
///
/// # Errors
/// As [`read_report`].
pub fn read(name: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open_regular_file(name, SIZE_MAX_ON_DISK)? else {
        return Ok(None);
    };
    match file.try_lock_shared() {
        // The process that wrote it has ended. Closing the descriptor releases this lock.
        Ok(()) => return Ok(None),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(error),
    }
    // It may be written meanwhile: two equal reads show that it is complete.
    let mut bytes = read_once(&file)?;
    for _ in 0..READ_TRIES {
        let again = read_once(&file)?;
        if again == bytes {
            break;
        }
        bytes = again;
    }
    Ok(Some(bytes))
}

fn read_once(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; SIZE_MAX];
    let size = read_at(file, &mut bytes, 0)?;
    bytes.truncate(size);
    Ok(bytes)
}

const READ_TRIES: u32 = 8;
const SIZE_MAX_ON_DISK: u64 = SIZE_MAX as u64;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use super::*;

    struct Fixture {
        folder: tempfile::TempDir,
    }

    impl Fixture {
        fn new() -> Self {
            Self {
                folder: tempfile::tempdir().unwrap(),
            }
        }

        fn database(&self) -> PathBuf {
            self.folder.path().join("app.db")
        }

        fn report(&self) -> PathBuf {
            self.folder.path().join("app.db-selenite")
        }

        fn read_report(&self) -> Option<Report> {
            read_report(&self.database()).unwrap()
        }

        fn check_refused(&self) {
            let seen = read_report(&self.database()).unwrap_err();
            assert!(seen.to_string().contains("no report"), "{seen:?}");
        }
    }

    #[test]
    fn a_report_is_read_only_while_its_writer_holds_the_lock() {
        let fixture = Fixture::new();
        assert_eq!(fixture.read_report(), None);
        fs::write(fixture.report(), "pid 7\nwaiting paused\n").unwrap();
        assert_eq!(fixture.read_report(), None);
        let held = File::open(fixture.report()).unwrap();
        held.lock().unwrap();
        for _ in 0..2 {
            let seen = fixture.read_report().unwrap();
            assert_eq!((seen.pid, seen.waiting.as_str()), (7, "paused"));
        }
        drop(held);
        assert_eq!(fixture.read_report(), None);
    }

    #[test]
    fn neither_links_nor_pipes_nor_folders_nor_large_files_are_opened() {
        let fixture = Fixture::new();
        fs::write(fixture.database(), [0; 512]).unwrap();
        symlink(fixture.database(), fixture.report()).unwrap();
        fixture.check_refused();
        fs::remove_file(fixture.report()).unwrap();
        fs::hard_link(fixture.database(), fixture.report()).unwrap();
        fixture.check_refused();
        fs::remove_file(fixture.report()).unwrap();
        fs::write(fixture.report(), vec![b'x'; SIZE_MAX + 1]).unwrap();
        fixture.check_refused();
        fs::remove_file(fixture.report()).unwrap();
        fs::create_dir(fixture.report()).unwrap();
        fixture.check_refused();
        fs::remove_dir(fixture.report()).unwrap();
        let made = std::process::Command::new("mkfifo").arg(fixture.report()).status();
        assert!(made.unwrap().success());
        fixture.check_refused();
    }
}
