//! Files that a command writes for its user: calibrations, observations, predictions, reports.
//!
//! - `never-in-part`: another file beside it is written and synced, and then takes its name. What was there stays until
//!   then, and its permissions stay.
//! - `links-are-replaced`: a symbolic link is replaced by the file, and what it names stays as it is. In a folder that
//!   others can write to, no other user chooses what is overwritten. Other hard links keep the former contents.
//! - `streams-are-written`: pipes and terminals are written to, and whatever /dev and /proc name: `/dev/stdout`,
//!   `/dev/fd/63`, `/dev/null`. Nothing is replaced there.

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// Writes a file.
///
/// # Errors
/// Those of the system; [`io::ErrorKind::InvalidInput`] for what is no file, such as a block device.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    match kind_of_output(path)? {
        OutputKind::Stream { follow } => {
            let no_follow = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
            let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NOCTTY | OFlags::CLOEXEC | no_follow;
            let mut stream = File::from(rustix::fs::open(path, flags, Mode::empty())?);
            stream.write_all(text.as_bytes())
        }
        OutputKind::File(permissions) => replace(path, text, permissions),
    }
}

/// A name beside a file, unique to this process.
pub(crate) fn beside(path: &Path, what: &str) -> io::Result<PathBuf> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.{what}", std::process::id()));
    Ok(path.with_file_name(name))
}

/// The folder of a file.
pub(crate) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or_else(|| Path::new("."))
}

enum OutputKind {
    /// To be written to, through a link if it is one.
    Stream { follow: bool },
    /// A new file, with the permissions of the one that it replaces.
    File(Option<Permissions>),
}

fn kind_of_output(path: &Path) -> io::Result<OutputKind> {
    let folder = folder_of(path).canonicalize()?;
    if folder == Path::new("/dev") || folder.starts_with("/proc") {
        let found = path.metadata()?.file_type();
        let is_stream = found.is_char_device() || found.is_fifo() || found.is_file();
        return if is_stream {
            Ok(OutputKind::Stream { follow: true })
        } else {
            Err(no_file())
        };
    }
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(OutputKind::File(None)),
        Err(error) => return Err(error),
    };
    let kind = found.file_type();
    if kind.is_file() {
        Ok(OutputKind::File(Some(found.permissions())))
    } else if kind.is_symlink() {
        Ok(OutputKind::File(None))
    } else if kind.is_char_device() || kind.is_fifo() {
        Ok(OutputKind::Stream { follow: false })
    } else if kind.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(no_file())
    }
}

fn no_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is neither a file nor a stream")
}

fn replace(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    let part = beside(path, "part")?;
    let mut file = match File::create_new(&part) {
        // Of a process with this number that was killed.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            std::fs::remove_file(&part)?;
            File::create_new(&part)?
        }
        created => created?,
    };
    let keep = |permissions| file.set_permissions(permissions);
    let done = permissions
        .map_or(Ok(()), keep)
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .and_then(|()| std::fs::rename(&part, path));
    if done.is_err() {
        // The error to report is that of the file.
        let _ = std::fs::remove_file(&part);
    }
    done
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<PathBuf> = entries.map(|entry| entry.unwrap().file_name().into()).collect();
        names.sort();
        names
    }

    fn text(path: impl AsRef<Path>) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.html");
        write_whole(&path, "one").unwrap();
        let other = folder.path().join("other");
        std::fs::hard_link(&path, &other).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write_whole(&path, "two").unwrap();
        assert_eq!((text(&path).as_str(), text(&other).as_str()), ("two", "one"));
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o640);
        assert_eq!(names(folder.path()).len(), 2);
    }

    #[test]
    fn a_link_is_replaced_and_what_it_names_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [path, precious] = ["plan.html", "precious"].map(|name| folder.path().join(name));
        std::fs::write(&precious, "mine").unwrap();
        for target in [precious.as_path(), Path::new("nowhere"), folder.path()] {
            symlink(target, &path).unwrap();
            write_whole(&path, "page").unwrap();
            assert!(path.symlink_metadata().unwrap().is_file(), "{}", target.display());
            assert_eq!((text(&path).as_str(), text(&precious).as_str()), ("page", "mine"));
            std::fs::remove_file(&path).unwrap();
        }
        assert_eq!(names(folder.path()), [Path::new("precious")]);
    }

    #[test]
    fn a_link_with_the_name_of_the_part_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [path, precious] = ["plan.html", "precious"].map(|name| folder.path().join(name));
        std::fs::write(&precious, "mine").unwrap();
        let part = folder.path().join(format!("plan.html.{}.part", std::process::id()));
        symlink(&precious, &part).unwrap();
        write_whole(&path, "page").unwrap();
        assert_eq!((text(&path).as_str(), text(&precious).as_str()), ("page", "mine"));
        assert!(path.symlink_metadata().unwrap().is_file() && part.symlink_metadata().is_err());
    }

    #[test]
    fn a_pipe_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        // Open for both, it does not wait for the other end.
        let mut reader = File::options().read(true).write(true).open(&path).unwrap();
        write_whole(&path, "page").unwrap();
        let mut read = [0; 4];
        io::Read::read_exact(&mut reader, &mut read).unwrap();
        assert_eq!(&read, b"page");
        assert!(path.symlink_metadata().unwrap().file_type().is_fifo());
        assert_eq!(names(folder.path()).len(), 1);
    }

    #[test]
    fn a_descriptor_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        let mut file = File::create_new(&path).unwrap();
        file.write_all(b"begin ").unwrap();
        let descriptor = file.as_raw_fd();
        write_whole(Path::new(&format!("/proc/self/fd/{descriptor}")), "one ").unwrap();
        write_whole(Path::new(&format!("/dev/fd/{descriptor}")), "two").unwrap();
        assert_eq!(text(&path), "begin one two");
        assert_eq!(names(folder.path()).len(), 1);
    }

    #[test]
    fn what_is_no_file_is_refused_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let kind = |path: &Path| write_whole(path, "page").unwrap_err().kind();
        assert_eq!(kind(&inner), io::ErrorKind::IsADirectory);
        assert_eq!(kind(&folder.path().join("no/such")), io::ErrorKind::NotFound);
        assert_eq!(kind(Path::new("/proc/self/fd/no-such")), io::ErrorKind::NotFound);
        let socket = folder.path().join("socket");
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        assert_eq!(kind(&socket), io::ErrorKind::InvalidInput);
        assert_eq!(names(folder.path()).len(), 2);
    }
}
