//! A process forks while another of its threads takes its first lock of a database: the child can still close another one.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use selenite_testing::intruder::Intruder;
use selenite_testing::{Disk, KeyFile, Opening};
use selenite_vfs::planted::{Bug, plant};

/// Forks while a thread is in xLock, and says whether the child could open, read and close a database of its own.
fn child_ends() -> bool {
    let (entered, is_in) = channel();
    let (leave, may_leave) = channel::<()>();
    let thread = std::thread::spawn(move || {
        let disk = Disk::new();
        let _entered = disk.enter();
        let key = KeyFile::new(1);
        let connection = Opening::encrypted("/fork/parents.db", &key).connect().unwrap();
        connection.execute_batch("CREATE TABLE t(x)").unwrap();
        let intruder = Intruder::after(0, move || {
            entered.send(()).unwrap();
            may_leave.recv().unwrap();
        });
        let count: i64 = connection
            .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
            .unwrap();
        assert_eq!((count, intruder.end()), (0, true));
    });
    let disk = Disk::new();
    let _entered = disk.enter();
    let key = KeyFile::new(2);
    let opening = Opening::encrypted("/fork/childs.db", &key);
    opening.connect().unwrap().execute_batch("CREATE TABLE t(x)").unwrap();
    is_in.recv().unwrap();
    // SAFETY: the child uses nothing that the other thread may have locked but what is tested here, and leaves by _exit.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let connection = opening.connect();
        let read = connection.as_ref().is_ok_and(|connection| {
            connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0)) == Ok(0)
        });
        drop(connection);
        // SAFETY: leaves without running anything of the parent's.
        unsafe { libc::_exit(i32::from(!read)) };
    }
    let until = Instant::now() + Duration::from_secs(10);
    let mut status = -1;
    // SAFETY: asks after the child made above.
    let mut ended = || unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child;
    let mut has_ended = ended();
    while !has_ended && Instant::now() < until {
        std::thread::yield_now();
        has_ended = ended();
    }
    if !has_ended {
        // SAFETY: ends the child made above.
        unsafe { libc::kill(child, libc::SIGKILL) };
        // SAFETY: waits for it.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
    }
    leave.send(()).unwrap();
    thread.join().unwrap();
    has_ended && status == 0
}

#[test]
fn a_child_closes_a_database_though_a_thread_of_its_parent_was_locking_one() {
    plant(Some(Bug::LockedWhileClosing));
    let without = child_ends();
    plant(None);
    assert!(without, "the child hangs without the lock of closing.rs, too");
    assert!(child_ends(), "the child hangs");
}
