//! Threads of one process that open a database at the same time are not mistaken for another copy
//! of SQLite, and do not release each other's locks.

use std::sync::Barrier;
use std::thread;

use selenite::storage::Disk;
use selenite::{Database, Layout, inspect};

use crate::support::Fixture;

#[test]
fn inspecting_and_opening_a_file_at_once_does_not_fail() {
    let fixture = Fixture::new();
    let (path, access) = (fixture.path("app.db"), fixture.access());
    Database::create(&Disk, &path, &access, &Layout::default()).unwrap();
    let start = Barrier::new(THREAD_COUNT);
    thread::scope(|scope| {
        for _ in 0..THREAD_COUNT {
            scope.spawn(|| {
                start.wait();
                for turn in 0..TURN_COUNT {
                    if let Err(error) = Database::open(&Disk, &path, &access) {
                        panic!("turn {turn}: {error}");
                    }
                    // Another thread's connection may exist: then the file is not inspected.
                    let _ = inspect(&Disk, &path);
                }
            });
        }
    });
}

const THREAD_COUNT: usize = 4;
const TURN_COUNT: u32 = 150;
