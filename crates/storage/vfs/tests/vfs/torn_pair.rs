//! Superblocks that are read while they are written (FORMAT 3.6).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selenite_testing::{Disk, KeyFile, Opening};
use selenite_vfs::role::Role;

const PATH: &str = "/torn/main.db";
const PLACE_SIZE: usize = 32768;

/// The first `counts` reads of each copy occur during a write: a different one each time, unless
/// `stay` is set.
fn opens_with_torn_reads(counts: [usize; 2], stay: bool) -> Result<i64, rusqlite::Error> {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted(PATH, &key);
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let made = opening.connect().unwrap();
    made.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        .unwrap();
    drop(made);
    let reads = [AtomicUsize::new(0), AtomicUsize::new(0)];
    disk.shim_reads(Arc::new(move |role, offset, bytes: &mut [u8], _| {
        let place = match (role, offset) {
            (Role::Main, 0) if bytes.len() == PLACE_SIZE => 0,
            (Role::Main, 32768) if bytes.len() == PLACE_SIZE => 1,
            _ => return,
        };
        let read = reads[place].fetch_add(1, Ordering::Relaxed);
        if read < counts[place] {
            bytes[100] ^= if stay {
                0xff
            } else {
                u8::try_from(read % 200 + 1).unwrap()
            };
        }
    }));
    let connection = opening.connect()?;
    connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
}

#[test]
fn a_reader_that_meets_two_writes_in_a_row_reads_again() {
    for counts in [[0, 0], [1, 0], [0, 1], [1, 1], [2, 1], [3, 3]] {
        assert_eq!(opens_with_torn_reads(counts, false), Ok(1), "{counts:?}");
    }
}

#[test]
fn superblocks_that_stay_torn_are_damaged_and_not_read_for_ever() {
    assert!(opens_with_torn_reads([usize::MAX, usize::MAX], true).is_err());
    assert!(opens_with_torn_reads([usize::MAX, usize::MAX], false).is_err());
}
