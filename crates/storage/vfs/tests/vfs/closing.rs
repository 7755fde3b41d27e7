//! No database file is closed while another thread takes its first lock on it: SQLite's `unixClose`
//! would lose that lock (`close_lock.rs`). The VFS below delays every close of the system's VFS, and
//! counts the locks taken meanwhile.

use std::any::Any;
use std::ffi::{CStr, c_int};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use selenite_testing::{KeyFile, own_process};
use selenite_vfs::ffi::{
    Api, Code, File, LockLevel, LowerFile, LowerVfs, Name, OpenedFile, RawControl, ShmLock, ShmRegion, SyncFlags, Vfs,
    install_linked, register,
};
use selenite_vfs::injected_bugs::{Bug, inject};
use selenite_vfs::role::Role;
use selenite_vfs::selenite::install_above;

/// Files that are being closed.
static CLOSING: AtomicU64 = AtomicU64::new(0);
/// First locks that were taken while a file was being closed.
static OVERLAPS: AtomicU64 = AtomicU64::new(0);
/// How often a close yields to other threads.
const LINGERING: u32 = 3;

struct Slow(LowerVfs);

struct SlowFile {
    lower: LowerFile,
    is_main: bool,
    has_lock: bool,
}

impl Vfs for Slow {
    fn open(&self, name: Option<&Name<'_>>, flags: selenite_vfs::ffi::OpenFlags) -> Result<OpenedFile, Code> {
        let is_main = Role::of(flags, name.is_some()) == Role::Main;
        let (lower, flags) = self.0.open(name, flags)?;
        let has_shm = lower.has_shm();
        let file = Box::new(SlowFile {
            lower,
            is_main,
            has_lock: false,
        });
        Ok(OpenedFile { file, flags, has_shm })
    }

    fn delete(&self, path: &CStr, sync_dir: bool) -> Result<(), Code> {
        self.0.delete(path, sync_dir)
    }

    fn access(&self, path: &CStr, flags: c_int) -> Result<bool, Code> {
        self.0.access(path, flags)
    }

    fn full_pathname(&self, path: &CStr, out: &mut [u8]) -> Result<bool, Code> {
        self.0.full_pathname(path, out)
    }
}

impl Drop for SlowFile {
    fn drop(&mut self) {
        if !self.is_main {
            return;
        }
        CLOSING.fetch_add(1, Ordering::SeqCst);
        (0..LINGERING).for_each(|_| std::thread::yield_now());
        self.lower.close();
        CLOSING.fetch_sub(1, Ordering::SeqCst);
    }
}

impl File for SlowFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        self.lower.read(out, offset)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        self.lower.write(data, offset)
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        self.lower.truncate(size)
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        self.lower.sync(flags)
    }

    fn size(&mut self) -> Result<u64, Code> {
        self.lower.size()
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        if self.is_main && !self.has_lock && CLOSING.load(Ordering::SeqCst) > 0 {
            OVERLAPS.fetch_add(1, Ordering::SeqCst);
        }
        self.lower.lock(level.0)?;
        self.has_lock = true;
        Ok(())
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.has_lock = level > LockLevel::NONE;
        self.lower.unlock(level.0)
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        self.lower.check_reserved_lock()
    }

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        self.lower.control(control)
    }

    fn sector_size(&mut self) -> c_int {
        self.lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        self.lower.device_characteristics()
    }

    fn shm_map(&mut self, region: c_int, size: c_int, extend: bool) -> Result<Option<ShmRegion>, Code> {
        self.lower.shm_map(region, size, extend)
    }

    fn shm_lock(&mut self, lock: ShmLock) -> Result<(), Code> {
        self.lower.shm_lock(lock)
    }

    fn shm_barrier(&mut self) {
        self.lower.shm_barrier();
    }

    fn shm_unmap(&mut self, delete: bool) -> Result<(), Code> {
        self.lower.shm_unmap(delete)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

fn install(api: Api) -> Result<(), String> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    INSTALLED
        .get_or_init(|| {
            let system = api.find_vfs(None).ok_or("SQLite has no VFS")?;
            register(api, c"slow", system, Box::new(Slow(system)), false).map_err(|code| code.to_string())?;
            let slow = api.find_vfs(Some(c"slow")).ok_or("slow was not registered")?;
            install_above(api, slow, |_| None)
        })
        .clone()
}

fn connect(path: &str, key: &KeyFile) -> Connection {
    let uri = format!("file:{path}?vfs=selenite&selenite_identity={}", key.spec());
    let connection = Connection::open_with_flags(uri, OpenFlags::default() | OpenFlags::SQLITE_OPEN_URI).unwrap();
    connection.busy_timeout(Duration::from_secs(20)).unwrap();
    connection
}

/// One thread opens, reads and closes, another reads repeatedly: each read takes and releases
/// SHARED.
fn count_overlaps(bug: Option<Bug>, is_enough: impl Fn(u64, u64) -> bool) -> u64 {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        let installer = selenite_vfs::ffi::Installer {
            install,
            ..selenite_vfs::installer()
        };
        install_linked(installer, rusqlite::ffi::sqlite3_auto_extension).unwrap();
        Connection::open_in_memory().unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    let key = KeyFile::new(1);
    let path = folder.path().join("closing.db").to_string_lossy().into_owned();
    connect(&path, &key)
        .execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES(1)")
        .unwrap();
    inject(bug);
    OVERLAPS.store(0, Ordering::SeqCst);
    let is_done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let connection = connect(&path, &key);
            let mut select = connection.prepare("SELECT x FROM t").unwrap();
            while !is_done.load(Ordering::SeqCst) {
                assert_eq!(select.query_row([], |row| row.get::<_, i64>(0)).unwrap(), 1);
                reads.fetch_add(1, Ordering::SeqCst);
            }
        });
        let until = Instant::now() + Duration::from_secs(60);
        let mut closed = 0;
        while !is_enough(closed, reads.load(Ordering::SeqCst)) && Instant::now() < until {
            let connection = connect(&path, &key);
            let _: i64 = connection.query_row("SELECT x FROM t", [], |row| row.get(0)).unwrap();
            drop(connection);
            closed += 1;
        }
        is_done.store(true, Ordering::SeqCst);
    });
    inject(None);
    OVERLAPS.load(Ordering::SeqCst)
}

#[test]
fn no_first_lock_is_taken_while_a_file_is_closed() {
    own_process!();
    let overlaps = count_overlaps(None, |closed, reads| closed >= 100 && reads >= 100);
    assert_eq!(overlaps, 0);
}

#[test]
fn first_locks_taken_while_a_file_is_closed_are_detected() {
    own_process!();
    let bug = Some(Bug::LockedWhileClosing);
    let overlaps = count_overlaps(bug, |_, _| OVERLAPS.load(Ordering::SeqCst) > 0);
    assert!(overlaps > 0);
}
