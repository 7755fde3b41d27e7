//! The processes that hold SQLite's locks on a database, as the kernel lists them.
//!
//! No file is opened: closing a descriptor of a database or of its WAL index would release this
//! process's own locks. Processes in another PID namespace are not listed.

use std::path::Path;
use std::time::Duration;

use selenite_vfs::hand_over::REGISTERED;

use crate::draft::beside;
use crate::error::{Class, EngineError};
use crate::platform::{device_number, identity, listed_locks, open_descriptions, processes};

/// A process that has a lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Holder {
    /// Its id.
    pub pid: u32,
    /// What it is doing.
    pub role: Role,
}

/// What a lock shows about its holder.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// Is in a read transaction.
    Reading,
    /// Is in a write transaction.
    Writing,
    /// Is copying the log into the database.
    Checkpointing,
}

/// The other processes that hold locks on this database. Empty if the system does not list them.
#[must_use]
pub fn holders(path: &Path) -> Vec<Holder> {
    let text = locks();
    let files = [(path.to_owned(), File::Database), (beside(path, "-shm"), File::Index)];
    let own = std::process::id();
    let has_index = files[1].0.exists();
    let mut found = Vec::new();
    for (path, file) in files {
        let Ok(identity) = identity(&path) else { continue };
        let locks = text.lines().filter_map(Lock::parse);
        let ours = locks.filter(|lock| (lock.device, lock.inode) == identity && lock.pid != own);
        found.extend(ours.filter_map(|lock| {
            let role = lock.role(file, has_index)?;
            Some(Holder { pid: lock.pid, role })
        }));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The system's list of locks; empty if it cannot be read.
///
/// The kernel passes it in pieces of a page of memory (seq_file(9)): each is of one moment, and a lock between two
/// pieces can be missing while others are released. Of 450 locks that change all the time, one reading of seven lacked
/// a given one, and three together one of 160. A list of several pieces is therefore read several times.
fn locks() -> String {
    let mut text = String::new();
    for _ in 0..READINGS {
        let before = text.len();
        text.push_str(&listed_locks());
        if text.len() - before < PIECE {
            break;
        }
    }
    text
}

/// The processes that write or checkpoint, without their read locks; if there are none, all holders.
///
/// Where none writes, it looks again a moment later: with some hundred locks in motion, eight readings in a row have
/// all lacked the writer's.
pub fn writers(path: &Path) -> Vec<Holder> {
    let mut all = holders(path);
    for _ in 0..LOOKS {
        let is_writing = |holder: &&Holder| holder.role != Role::Reading;
        let writes: Vec<Holder> = all.iter().filter(is_writing).copied().collect();
        if !writes.is_empty() {
            return writes;
        }
        std::thread::sleep(LOOK_INTERVAL);
        all = holders(path);
    }
    all
}

/// The other processes that have the database open and would not move to an encrypted one in its place
/// (`selenite_vfs::hand_over`).
#[derive(Default, Debug)]
pub struct Strangers {
    /// The extension is not loaded there, or a connection is without it, without `plain=allow` or an identity.
    pub known: Vec<u32>,
    /// Whose open files are not to be seen, and which hold no lock now.
    pub unseen: Vec<u32>,
}

/// Who is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Looking {
    /// Processes with locks: in WAL mode each that has used the database in that mode.
    AtLocks,
    /// All: one that has used it in rollback mode and is in no transaction has no lock.
    AtAll,
}

/// Looks for them. `None` if the system does not list locks: this process has one on the database, which then is not
/// listed either.
#[must_use]
pub fn strangers(path: &Path, looking: Looking) -> Option<Strangers> {
    let database = identity(path).ok()?;
    // Once a list lacked the lock of this process, for a reason that was not found.
    let mut found = Strangers {
        known: (0..READINGS).find_map(|_| strangers_in(&locks(), database))?,
        unseen: Vec::new(),
    };
    if looking == Looking::AtLocks {
        return Some(found);
    }
    for pid in processes().ok()? {
        match open_descriptions(pid, database) {
            _ if pid == std::process::id() || found.known.contains(&pid) => {}
            Ok(descriptions) if descriptions.iter().all(|one| is_registered(one)) => {}
            Ok(_) => found.known.push(pid),
            Err(_) => found.unseen.push(pid),
        }
    }
    Some(found)
}

/// Whether another process holds one of SQLite's locks on a file, as each does that uses its log.
#[must_use]
pub fn is_used(file: (u64, u64)) -> bool {
    let own = std::process::id();
    let text = locks();
    let mut locks = text.lines().filter_map(Lock::parse);
    locks.any(|lock| (lock.device, lock.inode) == file && lock.pid != own)
}

/// Whether what the system says of a descriptor has the lock of a connection that moves.
fn is_registered(description: &str) -> bool {
    let lines = description.lines().filter_map(|line| line.strip_prefix("lock:"));
    let mut locks = lines.filter_map(|line| Lock::parse_of(line, "OFDLCK"));
    locks.any(|lock| lock.first == lock.last && (REGISTERED..REGISTERED + PID_MAX).contains(&lock.first))
}

/// Those with locks, in one list.
fn strangers_in(text: &str, database: (u64, u64)) -> Option<Vec<u32>> {
    let of_database = |lock: &Lock| (lock.device, lock.inode) == database;
    let has_registered = |pid: u32| {
        let byte = REGISTERED + u64::from(pid);
        let registrations = text.lines().filter_map(|line| Lock::parse_of(line, "OFDLCK"));
        registrations.filter(of_database).any(|lock| lock.first == byte)
    };
    let own = std::process::id();
    let locks = text.lines().filter_map(Lock::parse).filter(of_database);
    let mut pids: Vec<u32> = locks.map(|lock| lock.pid).collect();
    pids.sort_unstable();
    pids.dedup();
    pids.contains(&own).then(|| {
        pids.retain(|pid| *pid != own);
        // A second connection of a process is told by its descriptor, if that is to be seen.
        pids.retain(|pid| match open_descriptions(*pid, database) {
            Ok(descriptions) if !descriptions.is_empty() => !descriptions.iter().all(|one| is_registered(one)),
            Ok(_) | Err(_) => !has_registered(*pid),
        });
        pids
    })
}

/// Adds to an error about a database in use the processes that use it, if the system lists them.
pub fn with_lock_holders(error: EngineError, path: &Path) -> EngineError {
    let EngineError::Busy { .. } = &error else { return error };
    let named: Vec<String> = writers(path).iter().map(ToString::to_string).collect();
    if named.is_empty() {
        return error;
    }
    EngineError::Sqlite {
        class: Class::Busy,
        what: format!("{}: in use: {}", path.display(), named.join(", ")),
        next: "nothing was changed: try again later".to_owned(),
    }
}

#[derive(Clone, Copy)]
enum File {
    Database,
    Index,
}

/// One line of `/proc/locks` (proc_locks(5)).
struct Lock {
    pid: u32,
    device: u64,
    inode: u64,
    is_write: bool,
    first: u64,
    last: u64,
}

impl Lock {
    fn parse(line: &str) -> Option<Self> {
        Self::parse_of(line, "POSIX")
    }

    /// A lock of that class. One of an open file description (`OFDLCK`) has no process: its id is 0.
    fn parse_of(line: &str, class: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, found, _, kind, pid, file, first, last] = words[..] else {
            return None;
        };
        if found != class {
            return None;
        }
        let pid = if pid == "-1" { 0 } else { pid.parse().ok()? };
        let mut parts = file.split(':');
        let (major, minor) = (parts.next()?, parts.next()?);
        let device = device_number(
            u32::from_str_radix(major, 16).ok()?,
            u32::from_str_radix(minor, 16).ok()?,
        )?;
        Some(Self {
            pid,
            device,
            inode: parts.next()?.parse().ok()?,
            is_write: kind == "WRITE",
            first: first.parse().ok()?,
            last: last.parse().unwrap_or(u64::MAX),
        })
    }

    /// In WAL mode every connection has SHARED on the database, and locks of the index are more
    /// specific: sqlite.org/walformat.html, 2.3; os.h for those of the database.
    fn role(&self, file: File, has_index: bool) -> Option<Role> {
        let covers = |byte: u64| (self.first..=self.last).contains(&byte);
        match file {
            File::Index if covers(INDEX_LOCKS) && self.is_write => Some(Role::Writing),
            File::Index if covers(INDEX_LOCKS + 1) && self.is_write => Some(Role::Checkpointing),
            // Also read mark 0: its holder reads the database alone, to which no process can write then.
            File::Index if (3..8).any(|mark| covers(INDEX_LOCKS + mark)) => Some(Role::Reading),
            File::Database if covers(PENDING + 1) && self.is_write => Some(Role::Writing),
            File::Database if !has_index && self.first >= PENDING + 2 && self.last < PENDING + 512 => {
                Some(Role::Reading)
            }
            File::Index | File::Database => None,
        }
    }
}

/// Until no process writes.
const LOOKS: usize = 3;
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// Of a list of several pieces.
const READINGS: usize = 8;
/// A shorter list is one piece: the smallest page of memory, less the longest line.
const PIECE: usize = 4096 - 128;
/// More than there are process ids (PID_MAX_LIMIT in threads.h).
const PID_MAX: u64 = 1 << 22;
/// UNIX_SHM_BASE: where the locks of the index begin (os_unix.c).
const INDEX_LOCKS: u64 = 120;
/// PENDING_BYTE.
const PENDING: u64 = 0x4000_0000;

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let what = match self.role {
            Role::Reading => "reads",
            Role::Writing => "writes",
            Role::Checkpointing => "checkpoints",
        };
        write!(f, "process {} {what}", self.pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernel_is_parsed() {
        let lock = Lock::parse("12: POSIX  ADVISORY  READ 4711 fe:00:131 124 124").unwrap();
        assert_eq!((lock.pid, lock.inode, lock.first, lock.last), (4711, 131, 124, 124));
        assert_eq!(lock.role(File::Index, true), Some(Role::Reading));
        let lock = Lock::parse("3: POSIX  ADVISORY  WRITE 7 fe:00:131 120 EOF").unwrap();
        assert_eq!(lock.role(File::Index, true), Some(Role::Writing));
        // SHARED: in rollback mode a read transaction, in WAL mode an open connection.
        let lock = Lock::parse("3: POSIX  ADVISORY  READ 7 fe:00:131 1073741826 1073742335").unwrap();
        assert_eq!(lock.role(File::Database, false), Some(Role::Reading));
        assert_eq!(lock.role(File::Database, true), None);
        assert!(Lock::parse("3: -> POSIX  ADVISORY  WRITE 7 fe:00:131 120 120").is_none());
        assert!(Lock::parse("1: FLOCK  ADVISORY  WRITE 7 fe:00:131 0 EOF").is_none());
    }
}
