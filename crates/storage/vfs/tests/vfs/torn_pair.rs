//! Superblocks that are read while they are written (FORMAT 3.6).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selenite_keyring::keygen;
use selenite_testing::{Disk, KeyFile, Opening};
use selenite_vfs::role::Role;

const PATH: &str = "/torn/main.db";
/// Where a copy's second read begins, if it is larger than the first one.
const REST: u64 = 4096;
const HEAD_SIZE: usize = 64;

/// The first `counts` reads of each copy at `part` of it occur during a write: a different one each time, unless
/// `stay` is set.
fn opens_with_torn_reads(key: &KeyFile, part: u64, counts: [usize; 2], stay: bool) -> Result<i64, rusqlite::Error> {
    let opening = Opening::encrypted(PATH, key);
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let made = opening.connect().unwrap();
    made.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        .unwrap();
    drop(made);
    let reads = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
    let seen = reads.clone();
    disk.shim_reads(Arc::new(move |role, offset, bytes: &mut [u8], _| {
        if role != Role::Main || bytes.len() <= HEAD_SIZE {
            return;
        }
        let place = match offset {
            offset if offset == part => 0,
            offset if offset == 32768 + part => 1,
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
    let connection = opening.connect();
    let is_read = seen.iter().all(|count| count.load(Ordering::Relaxed) > 0);
    assert!(is_read, "no copy was read at {part}");
    connection?.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
}

/// A key of so many identities that a superblock is larger than the first read.
fn large() -> KeyFile {
    let identities: String = (0..24).map(|_| keygen(1).text.to_string()).collect();
    KeyFile::holding("age", identities.as_bytes())
}

#[test]
fn a_reader_that_meets_two_writes_in_a_row_reads_again() {
    let (small, large) = (KeyFile::new(1), large());
    for (key, part) in [(&small, 0), (&large, 0), (&large, REST)] {
        for counts in [[0, 0], [1, 0], [0, 1], [1, 1], [2, 1], [3, 3]] {
            let opened = opens_with_torn_reads(key, part, counts, false);
            assert_eq!(opened, Ok(1), "{counts:?} at {part}");
        }
    }
}

#[test]
fn superblocks_that_stay_torn_are_damaged_and_not_read_for_ever() {
    let (small, large) = (KeyFile::new(1), large());
    for (key, part) in [(&small, 0), (&large, REST)] {
        for stay in [true, false] {
            assert!(opens_with_torn_reads(key, part, [usize::MAX, usize::MAX], stay).is_err());
        }
    }
}
