//! Changes of keys that were interrupted, or failed.

use selenite::storage::Disk;
use selenite::{Database, Layout, keys};

use crate::support::{Collected, Fixture};

const TWIN: usize = 32768;

/// A superblock that is torn after its first sector has the head of the one that a second attempt
/// writes.
#[test]
fn a_connection_that_saw_a_torn_superblock_sees_the_whole_one() {
    let fixture = Fixture::new();
    let (path, access) = (fixture.path("app.db"), fixture.access());
    drop(Database::create(&Disk, &path, &access, &Layout::default()).unwrap());

    let before = std::fs::read(&path).unwrap();
    let other = fixture.spec("other-key");
    keys::add(&Disk, &path, &access, &other, "").unwrap();
    let after = std::fs::read(&path).unwrap();
    let place = if before[..64] == after[..64] { TWIN } else { 0 };
    let mut torn = before;
    torn[place..place + 512].copy_from_slice(&after[place..place + 512]);
    std::fs::write(&path, torn).unwrap();

    let present = Database::open(&Disk, &path, &access).unwrap();
    let generation = |database: &Database| {
        let mut rows = Collected::default();
        let sql = "BEGIN IMMEDIATE; SELECT value FROM selenite_status WHERE name = 'generation'; COMMIT";
        database.run(sql, &mut rows).unwrap();
        rows.0
    };
    let first = generation(&present);
    keys::add(&Disk, &path, &access, &other, "").unwrap();
    assert_ne!(generation(&present), first);
}
