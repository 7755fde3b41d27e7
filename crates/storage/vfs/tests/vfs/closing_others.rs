//! While one thread takes its first lock on a database, others can close another database. A forked
//! child depends on this: the thread that held the lock does not exist there and cannot release it.

use std::sync::mpsc::channel;
use std::time::Duration;

use rusqlite::Connection;
use selenite_testing::interleaved_task::InterleavedTask;
use selenite_testing::{Disk, KeyFile, Opening};

fn count(connection: &Connection) -> i64 {
    connection
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap()
}

fn create(key: &KeyFile, path: &str) -> Opening {
    let opening = Opening::encrypted(path, key);
    opening.connect().unwrap().execute_batch("CREATE TABLE t(x)").unwrap();
    opening
}

#[test]
fn a_database_is_closed_while_another_is_being_locked() {
    let (entered, is_in) = channel();
    let (leave, may_leave) = channel::<()>();
    let locking = std::thread::spawn(move || {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let connection = create(&key, "/closing/one.db").connect().unwrap();
        // The next call that reaches the disk takes the lock.
        let task = InterleavedTask::after(0, move || {
            entered.send(()).unwrap();
            may_leave.recv().unwrap();
        });
        assert_eq!((count(&connection), task.end()), (0, true));
    });
    is_in.recv().unwrap();
    let (done, is_done) = channel();
    let closing = std::thread::spawn(move || {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(2);
        let connection = create(&key, "/closing/other.db").connect().unwrap();
        assert_eq!(count(&connection), 0);
        drop(connection);
        done.send(()).unwrap();
    });
    let closed = is_done.recv_timeout(Duration::from_secs(60));
    leave.send(()).unwrap();
    locking.join().unwrap();
    closing.join().unwrap();
    assert!(closed.is_ok(), "it waits for the lock of another file");
}
