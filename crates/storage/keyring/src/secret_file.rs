//! Files that hold secrets or decide about trust.
//!
//! - owner-only: a file is written for its owner only (mode 0600), and synced with its folder
//!   before that is reported.
//! - never-overwritten: a key file is never overwritten: the key in it may be the only one that
//!   opens a database.
//! - one-zeroed-buffer: what is read is held in a buffer that was made large enough at once and is
//!   zeroed on drop: no copy stays behind in memory that a growing buffer gave back.
//! - pipe-with-deadline: a pipe is waited for in a thread of its own, and not for ever: opening one
//!   blocks, and no signal that has a handler ends that.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;
use zeroize::Zeroizing;

use crate::thread::spawn;
use crate::{KeyError, hex, os_random, ownership, random};

/// Writes a new file, readable by its owner only.
///
/// Refuses (`KeyError::Io`, kind `AlreadyExists`) to write over a file or through a dangling link.
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

/// Writes a new file in one step, readable by its owner only: a kill leaves no file with that name, or the complete one.
///
/// Refuses (kind `AlreadyExists`) to write over anything.
pub(crate) fn create(path: &Path, contents: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    write_new(&draft, contents)?;
    rename_new(&draft, path).inspect_err(|_| discard(&draft))?;
    sync_folder(path)
}

/// The contents of a file of at most `size_max` bytes, which no one but its user and root can
/// change (`ownership.rs`, only-owner-writes).
pub(crate) fn read_trusted(path: &Path, size_max: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    read_within(path, size_max, PIPE_TIME_LIMIT)
}

/// Enforces `pipe-with-deadline`.
fn read_within(path: &Path, size_max: usize, time_limit: Duration) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if !fs::metadata(path).is_ok_and(|facts| facts.file_type().is_fifo()) {
        return read_checked(path, size_max);
    }
    let failed = |source| KeyError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    };
    let (sender, answer) = mpsc::channel();
    let pipe = path.to_owned();
    // No one may be there any more to take it.
    let read = move || drop(sender.send(read_checked(&pipe, size_max)));
    spawn(read).map_err(failed)?;
    answer.recv_timeout(time_limit).unwrap_or_else(|_| {
        let what = format!("no writer wrote to this pipe and closed it within {time_limit:?}");
        Err(failed(io::Error::new(io::ErrorKind::TimedOut, what)))
    })
}

fn read_checked(path: &Path, size_max: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let file = open(path)?;
    ownership::check(path, &file)?;
    read_open(file, path, size_max)
}

/// The text of a configuration, which no one but its user and root can change (`ownership.rs`,
/// only-owner-writes), and of at most 1 MiB.
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

fn read_open(file: File, path: &Path, size_max: usize) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let failed = |source| KeyError::Io {
        verb: "read",
        path: path.to_owned(),
        source,
    };
    let mut contents = Zeroizing::new(Vec::with_capacity(size_max + READ_AHEAD_SIZE));
    let limit = u64::try_from(size_max).expect("limits are small constants") + 1;
    file.take(limit).read_to_end(&mut contents).map_err(failed)?;
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

/// Replaces a file in one step: a reader finds the old contents or the new, never a part.
pub(crate) fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let target = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        found => found?,
    };
    replace_name(&target, contents)
}

/// The same, of the name itself: a link there is replaced, and what it leads to stays as it is.
pub(crate) fn replace_name(path: &Path, contents: &[u8]) -> io::Result<()> {
    let draft = draft_of(path);
    write_new(&draft, contents)?;
    fs::rename(&draft, path).inspect_err(|_| discard(&draft))?;
    sync_folder(path)
}

/// The path with `suffix` behind its name.
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

fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system can't say it in one call: a second name never replaces another either.
        Err(Errno::INVAL | Errno::NOSYS) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        renamed => Ok(renamed?),
    }
}

fn write_new(path: &Path, contents: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(OWNER_ONLY)
        .open(path)?;
    file.write_all(contents)
        .and_then(|()| file.sync_all())
        .inspect_err(|_| discard(path))
}

/// Removes what this process wrote and no one can use. That it can't be removed is not worth hiding the first
/// error for.
fn discard(path: &Path) {
    let _ = fs::remove_file(path);
}

fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}

/// Read and write for the owner, nothing for others.
pub(crate) const OWNER_ONLY: u32 = 0o600;

/// 1 MiB: thousands of commands.
const CONFIG_SIZE_MAX: usize = 1 << 20;
/// A minute: someone may type a PIN into the program that writes to it.
const PIPE_TIME_LIMIT: Duration = Duration::from_secs(60);

/// `Vec`'s reader probes for the end with a spare 32 bytes; room for that keeps the buffer from moving.
const READ_AHEAD_SIZE: usize = 64;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

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
    fn create_writes_all_of_a_new_file_and_nothing_over_another() {
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
    fn a_pipe_that_nobody_writes_to_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(CWD, &path, kind, mode, 0).unwrap();
        let error = read_within(&path, 100, Duration::from_millis(1)).unwrap_err();
        assert!(error.to_string().contains("no writer wrote to this pipe"), "{error}");
        // The thread that was left behind may take what is written: each of them gets its own.
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
