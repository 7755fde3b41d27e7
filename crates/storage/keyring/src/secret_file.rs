//! Files that contain secrets or configure trust.
//!
//! - owner-only: only its owner has access to a written file (mode 0600), and file and folder are
//!   synced before success is reported.
//! - never-overwritten: a key file is never overwritten: its key may be the only one that opens a
//!   database.
//! - one-zeroed-buffer: contents are read into a buffer that is allocated at the size of the file and
//!   is zeroed on drop, so that no copy remains in memory freed by a growing buffer.
//! - pipe-with-deadline: a pipe is read in a separate thread with a time limit: opening one blocks,
//!   and signals with a handler do not interrupt that.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::thread::spawn;
use crate::{KeyError, hex, os_random, platform, random};

/// Writes a new file that only its owner can read.
///
/// `KeyError::Io` of kind `AlreadyExists` instead of overwriting a file or writing through a dangling link.
pub fn write_key_file(path: &Path, contents: &[u8]) -> Result<(), KeyError> {
    let write = || {
        write_new(path, contents)?;
        sync_folder(path)
    };
    write().map_err(|source| KeyError::Io {
        verb: "write",
        path: path.to_owned(),
        source,
    })
}

/// Writes a new file atomically that only its owner can read: after a crash the file is absent or complete.
///
/// An error of kind `AlreadyExists` if the name exists.
pub(crate) fn create(path: &Path, contents: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    write_new(&draft, contents)?;
    platform::rename_new(&draft, path).inspect_err(|_| discard(&draft))?;
    sync_folder(path)
}

/// The contents of a file of at most `size_max` bytes that only this process's user and root can
/// change (`platform/unix/ownership.rs`, only-owner-writes).
pub fn read_trusted(path: &Path, size_max: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    read_within(path, size_max, PIPE_TIME_LIMIT)
}

/// Checks that only this process's user and root can change a file (`platform/unix/ownership.rs`, only-owner-writes).
///
/// `Untrusted`; `Io`.
pub fn check_trusted(path: &Path) -> Result<(), KeyError> {
    platform::check_owners(path, &open(path)?)
}

/// Enforces `pipe-with-deadline`.
fn read_within(path: &Path, size_max: usize, time_limit: Duration) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if !fs::metadata(path).is_ok_and(|facts| platform::is_pipe(&facts)) {
        return read_checked(path, size_max);
    }
    let failed = |source| KeyError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    };
    let (sender, answer) = mpsc::channel();
    let pipe = path.to_owned();
    // The receiver is gone after the time limit.
    let read = move || drop(sender.send(read_checked(&pipe, size_max)));
    spawn(read).map_err(failed)?;
    answer.recv_timeout(time_limit).unwrap_or_else(|_| {
        let what = format!("no writer wrote to this pipe and closed it within {time_limit:?}");
        Err(failed(io::Error::new(io::ErrorKind::TimedOut, what)))
    })
}

fn read_checked(path: &Path, size_max: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let file = open(path)?;
    platform::check_owners(path, &file)?;
    read_open(file, path, size_max)
}

/// The text of a configuration of at most 1 MiB that only this process's user and root can change
/// (`platform/unix/ownership.rs`, only-owner-writes).
///
/// `Untrusted`; `BadConfig` if it is not UTF-8; `Io`.
pub fn read_trusted_text(path: &Path) -> Result<String, KeyError> {
    let contents = read_trusted(path, CONFIG_SIZE_MAX)?;
    let text = std::str::from_utf8(&contents).map_err(|_| KeyError::BadConfig {
        path: path.to_owned(),
        line: None,
        problem: "not UTF-8".into(),
    })?;
    Ok(text.to_owned())
}

/// The contents of a file of at most `size_max` bytes.
pub(crate) fn read(path: &Path, size_max: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    read_open(open(path)?, path, size_max)
}

fn open(path: &Path) -> Result<File, KeyError> {
    File::open(path).map_err(|source| KeyError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    })
}

fn read_open(mut file: File, path: &Path, size_max: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let failed = |source| KeyError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    };
    // A regular file says its size: a buffer for the largest file would take longer to wipe than
    // the file to read. Pipes, and files of /proc, say 0.
    let facts = file.metadata().map_err(failed)?;
    let stated = usize::try_from(facts.len()).unwrap_or(usize::MAX);
    let room = if facts.is_file() && stated > 0 {
        stated.min(size_max)
    } else {
        size_max
    };
    let mut contents = read_up_to(&file, room).map_err(failed)?;
    if contents.len() > room && room < size_max {
        // It has grown meanwhile.
        file.rewind().map_err(failed)?;
        contents = read_up_to(&file, size_max).map_err(failed)?;
    }
    if contents.len() > size_max {
        let problem = format!("too large: more than {size_max} bytes").into();
        return Err(KeyError::BadFile {
            path: path.to_owned(),
            line: None,
            problem,
        });
    }
    Ok(contents)
}

/// The next bytes of a file, at most one more than `size`: a caller that gets that one knows that there are more.
fn read_up_to(file: &File, size: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut contents = Zeroizing::new(Vec::with_capacity(size + READ_AHEAD_SIZE));
    let limit = u64::try_from(size).map_err(io::Error::other)? + 1;
    file.take(limit).read_to_end(&mut contents)?;
    Ok(contents)
}

/// Replaces a file atomically: a reader sees either the old or the new contents.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let target = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        found => found?,
    };
    replace_name(&target, contents)
}

/// As [`replace`], for the name itself: a link is replaced, and its target is not changed.
pub(crate) fn replace_name(path: &Path, contents: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    write_new(&draft, contents)?;
    fs::rename(&draft, path).inspect_err(|_| discard(&draft))?;
    sync_folder(path)
}

/// The path with `suffix` appended to its file name.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn draft_of(path: &Path) -> PathBuf {
    beside(
        path,
        &format!(".{}.new", hex::encode(&random::draw::<8>(&mut os_random))),
    )
}

fn write_new(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = platform::open_private(OpenOptions::new().write(true).create_new(true), path)?;
    file.write_all(contents)
        .and_then(|()| file.sync_all())
        .inspect_err(|_| discard(path))
}

/// Removes an incomplete file of this process. An error of the removal is ignored, since it would
/// hide the first error.
fn discard(path: &Path) {
    let _ = fs::remove_file(path);
}

fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    platform::sync_folder(folder.unwrap_or(Path::new(".")))
}

/// 1 MiB: thousands of commands.
const CONFIG_SIZE_MAX: usize = 1 << 20;
/// A minute: a user may have to type a PIN into the program that writes to the pipe.
const PIPE_TIME_LIMIT: Duration = Duration::from_secs(60);

/// `Vec`'s reader probes for the end with 32 spare bytes; capacity for them keeps the buffer from moving.
const READ_AHEAD_SIZE: usize = 64;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::fs::CWD;

    use super::*;

    #[test]
    fn write_key_file_is_for_the_owner_and_never_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        write_key_file(&path, b"first").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let error = write_key_file(&path, b"second").unwrap_err();
        assert!(error.advice().contains("never overwritten"), "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
    }

    #[test]
    fn create_writes_a_complete_new_file_and_never_overwrites() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        create(&path, b"first").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            create(&path, b"second").unwrap_err().kind(),
            io::ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_pipe_without_a_writer_times_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(CWD, &path, kind, mode, 0).unwrap();
        let error = read_within(&path, 100, Duration::from_millis(1)).unwrap_err();
        assert!(error.to_string().contains("no writer wrote to this pipe"), "{error}");
        // The abandoned thread may read what is written, so each reader gets its own pipe.
        let path = folder.path().join("other");
        rustix::fs::mknodat(CWD, &path, kind, mode, 0).unwrap();
        let writer = {
            let path = path.clone();
            std::thread::spawn(move || fs::write(path, "a key").unwrap())
        };
        assert_eq!(*read_within(&path, 100, PIPE_TIME_LIMIT).unwrap(), b"a key");
        writer.join().unwrap();
    }

    #[test]
    fn replace_leaves_one_file_with_the_new_contents_and_mode_0600() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keyring.toml");
        replace(&path, b"one").unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn replace_keeps_a_symbolic_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn replace_name_replaces_a_symbolic_link_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        replace_name(&link, b"new").unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"old");
        assert_eq!(fs::read(&link).unwrap(), b"new");
        assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn read_refuses_a_file_over_the_limit_and_keeps_its_buffer_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        fs::write(&path, [7; 32]).unwrap();
        let contents = read(&path, 32).unwrap();
        assert_eq!(contents.len(), 32);
        assert_eq!(contents.capacity(), 32 + READ_AHEAD_SIZE);
        let error = read(&path, 31).unwrap_err();
        assert!(matches!(error, KeyError::BadFile { .. }), "{error}");
    }
}
