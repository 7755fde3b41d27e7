//! Linux's own: advice about memory, AT_SECURE, `O_PATH`, proc(5).

mod mapping;
mod shared_alias;

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub(in crate::ffi) use self::mapping::{Mapping, map_fork_words};
pub(in crate::ffi) use self::shared_alias::SharedAlias;
use super::super::ByteLock;

/// Fills `out` from the system's generator (getrandom(2)).
pub(in crate::ffi) fn fill_random(out: &mut [u8]) -> io::Result<()> {
    let mut done = 0;
    while done < out.len() {
        let rest = &mut out[done..];
        // SAFETY: `rest` has room for that many bytes.
        let got = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        match usize::try_from(got) {
            Ok(got) if got > 0 => done += got,
            Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(())
}

/// Whether this process has rights that the user who started it does not have (set-user-ID,
/// set-group-ID, file capabilities), from AT_SECURE (getauxval(3)). That user controls the
/// environment of the process.
#[must_use]
pub fn is_elevated() -> bool {
    // SAFETY: the call reads the kernel's data for this process, and writes no memory of the
    // program.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Creates an empty file that only its owner may access (mode 0600), if there is none of that name.
/// It is created without a descriptor: closing one would release the locks of this process on the
/// file (fcntl(2)).
///
/// # Errors
/// `AlreadyExists`; errors of mknod(2).
pub fn make_private_file(path: &CStr) -> io::Result<()> {
    // SAFETY: the path ends with a zero byte.
    match unsafe { libc::mknod(path.as_ptr(), libc::S_IFREG | 0o600, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Locks all current and future memory of this process (mlockall(2)); a page is locked when it is
/// first used. Core dumps of it and of processes that it starts get no memory any more (core(5)).
///
/// # Errors
/// Those of the system.
pub fn lock_memory() -> io::Result<()> {
    fs::write("/proc/self/coredump_filter", "0")?;
    const FLAGS: libc::c_int = libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT;
    // SAFETY: the call takes only flags, and moves no memory.
    match unsafe { libc::mlockall(FLAGS) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The amount of memory that this process may lock, in bytes; `None` without a limit.
///
/// # Errors
/// Those of the system.
pub fn locked_memory_limit() -> io::Result<Option<u64>> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the struct is ours, and lives for this call.
    match unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) } {
        0 if limit.rlim_cur == libc::RLIM_INFINITY => Ok(None),
        0 => Ok(Some(limit.rlim_cur)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The status of this process from proc(5); empty if there is no /proc.
#[must_use]
pub fn process_status() -> String {
    fs::read_to_string("/proc/self/status").unwrap_or_default()
}

/// Asks the system to drop the clean pages of a file from its page cache (posix_fadvise(2)), by
/// descriptor number. A descriptor that was closed meanwhile, or belongs to another file, does no
/// harm: the call is only advice.
pub fn forget_cached(descriptor: i32) {
    // SAFETY: the call accepts any number, and writes no memory of the program.
    let _ = unsafe { libc::posix_fadvise(descriptor, 0, 0, libc::POSIX_FADV_DONTNEED) };
}

/// Changes the lock on one byte of a file that belongs to the open file description: it ends when that is closed, not
/// when another descriptor of the process is (F_OFD_SETLK in fcntl(2)). Returns whether it was changed.
#[must_use]
pub fn lock_byte_of_description(descriptor: i32, byte: u64, lock: ByteLock) -> bool {
    let kind = match lock {
        ByteLock::Shared => libc::F_RDLCK,
        ByteLock::Exclusive => libc::F_WRLCK,
        ByteLock::None => libc::F_UNLCK,
    };
    let short = libc::c_short::try_from;
    let (Ok(start), Ok(kind), Ok(whence)) = (libc::off_t::try_from(byte), short(kind), short(libc::SEEK_SET)) else {
        return false;
    };
    let lock = libc::flock {
        l_type: kind,
        l_whence: whence,
        l_start: start,
        l_len: 1,
        l_pid: 0,
    };
    // SAFETY: the call accepts any number, and reads a struct of ours.
    unsafe { libc::fcntl(descriptor, libc::F_OFD_SETLK, &raw const lock) == 0 }
}

/// The numbers of the descriptors of this process that are open on the file at `path`; none for a
/// file that does not exist, and if the system does not list descriptors.
pub fn descriptors(path: &Path) -> impl Iterator<Item = i32> {
    // stat, not open: closing the descriptor would release the locks.
    descriptors_of(super::file_identity(path))
}

/// As [`descriptors`], of the file with this device and inode, whatever its name.
pub fn descriptors_of(wanted: Option<(u64, u64)>) -> impl Iterator<Item = i32> {
    let entries = wanted.and_then(|_| fs::read_dir("/proc/self/fd").ok());
    entries
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(move |entry| {
            let descriptor = entry.file_name().to_str()?.parse().ok()?;
            (file_of(descriptor)? == wanted?).then_some(descriptor)
        })
}

/// Device and inode of what a descriptor is open on (fstat(2): less work than stat(2) of its name in /proc); `None` if it
/// was closed meanwhile.
fn file_of(descriptor: i32) -> Option<(u64, u64)> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the call accepts any number; the struct is ours.
    let done = unsafe { libc::fstat(descriptor, status.as_mut_ptr()) } == 0;
    // SAFETY: written by the call, which succeeded.
    let status = done.then(|| unsafe { status.assume_init() })?;
    Some((status.st_dev, status.st_ino))
}

/// A descriptor that names a file and does not open it; of a link, the link itself.
///
/// Not by `OpenOptions`: with musl, whose O_ACCMODE has the bit of O_PATH, it would open the file.
fn open_path(name: &Path) -> io::Result<File> {
    let name = CString::new(name.as_os_str().as_bytes())?;
    // SAFETY: the name ends with a zero.
    let descriptor = unsafe { libc::open(name.as_ptr(), libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened, and belongs to this alone.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// Opens a regular file that has one name and at most that many bytes; `Ok(None)` if there is none.
/// No other is opened, and no link is followed.
///
/// # Errors
/// Those of the system, and if it is something else.
pub fn open_regular_file(name: &Path, size_max: u64) -> io::Result<Option<File>> {
    let place = match open_path(name) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let attributes = place.metadata()?;
    if !attributes.is_file() || attributes.nlink() > 1 || attributes.len() > size_max {
        return Err(io::Error::other("what has its name is no report"));
    }
    // Opens the same file, even if the name now refers to another one.
    File::open(format!("/proc/self/fd/{}", place.as_raw_fd())).map(Some)
}
