//! Bugs injected below Selenite, each of which the test bench must detect: otherwise its results
//! would be meaningless.

use std::collections::HashSet;
use std::sync::Arc;

use selenite_cipher::sha256;
use selenite_testing::crash_point::Density;
use selenite_testing::fault::Failure;
use selenite_testing::recorder::find_words;
use selenite_testing::{Call, Disk, Fault, KeyFile, Ledger, Opening, Scenario, Summary, run};
use selenite_vfs::role::Role;

fn crash(mode: &str, prepare: &(dyn Fn(&Disk) + Sync)) -> Summary {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/planted/main.db", &key).with("page_size", "1024");
    let ledger = Ledger::SMALL;
    let check = |acknowledged| {
        let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
        ledger.check_recovered(&connection, &["main"], acknowledged)
    };
    let name = format!("planted {mode}");
    let scenario = Scenario::new(&name, &check).with_disk(prepare).with_points(1000);
    run(&scenario, |run| {
        let connection = opening.connect()?;
        connection.execute_batch(&format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = extra;"))?;
        ledger.create(&connection, &["main"])?;
        run.acknowledge(1);
        for tx in 2..8 {
            ledger.commit(&connection, &["main"], tx)?;
            run.acknowledge(tx);
        }
        Ok(())
    })
}

#[test]
fn a_skipped_sync_is_found() {
    for (mode, role) in [
        ("delete", Role::Journal),
        ("delete", Role::Main),
        ("persist", Role::Journal),
        ("wal", Role::Wal),
        ("wal", Role::Main),
    ] {
        let summary = crash(mode, &|disk| disk.ignore_syncs(role));
        assert!(
            !summary.failures.is_empty(),
            "{mode}: no run misses the syncs of the {role}"
        );
        crash(mode, &|_| ()).assert_sound(200);
    }
}

/// Corrects the checksum of any superblock: simulates a reader that does not check it.
fn repair_checksum(role: Role, offset: u64, bytes: &mut [u8]) {
    const MAGIC: &[u8] = b"Selenite\r\n\x1a\n\0\0\0\0";
    let is_place = role == Role::Main && (offset == 0 || offset == 32768);
    if !is_place || !bytes.starts_with(MAGIC) {
        return;
    }
    let Some(size) = bytes
        .get(24..)
        .and_then(<[u8]>::first_chunk)
        .map(|size| u32::from_be_bytes(*size))
    else {
        return;
    };
    let size = usize::try_from(size).unwrap();
    if let Some(superblock) = bytes.get_mut(..size)
        && size >= 512
    {
        let (covered, checksum) = superblock.split_at_mut(size - 32);
        checksum.copy_from_slice(&sha256(covered));
    }
}

/// If a torn superblock is accepted, no key opens the file: its MAC is wrong, and the other copy is
/// not used.
#[test]
fn a_torn_superblock_that_is_accepted_is_found() {
    let find = |prepare: &(dyn Fn(&Disk) + Sync)| {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/planted-superblock/main.db", &key);
        let ledger = Ledger::SMALL;
        let check = |acknowledged| {
            let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
            ledger.check_recovered(&connection, &["main"], acknowledged)
        };
        let scenario = Scenario::new("planted superblock", &check)
            .with_disk(prepare)
            .with_density(Density::DENSE);
        run(&scenario, |run| {
            let connection = opening.connect()?;
            connection.execute_batch("PRAGMA synchronous = extra")?;
            ledger.create(&connection, &["main"])?;
            run.acknowledge(1);
            Ok(())
        })
    };
    let summary =
        find(&|disk| disk.shim_reads(Arc::new(|role, offset, bytes, _| repair_checksum(role, offset, bytes))));
    assert!(
        summary.failures.iter().any(|failure| failure.contains("open:")),
        "{:?}",
        summary.failures
    );
    find(&|_| ()).assert_sound(200);
}

/// A commit whose write was never performed, but reported as done.
#[test]
fn a_lost_write_of_a_commit_is_found() {
    for after in [4, 7] {
        let summary = crash("wal", &|disk| {
            disk.inject(Fault {
                call: Call::Write,
                role: Some(Role::Wal),
                after,
                times: 1,
                failure: Failure::Lost,
            });
        });
        assert!(!summary.failures.is_empty(), "no run misses write {after} of the log");
    }
}

/// Frames that were rolled back and are written to the log after its write lock was released: over
/// another connection's commit.
#[test]
fn frames_written_after_the_write_lock_has_gone_are_found() {
    let find = |failure: Option<Failure>| -> Result<(), String> {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let opening = Opening::encrypted("/planted-late/main.db", &key).with("page_size", "1024");
        let ledger = Ledger::SMALL;
        let one = opening.connect().unwrap();
        one.execute_batch("PRAGMA journal_mode = wal; PRAGMA cache_size = 8; PRAGMA wal_autocheckpoint = 0")
            .unwrap();
        ledger.create(&one, &["main"]).unwrap();
        let other = opening.connect().unwrap();
        ledger.commit(&other, &["main"], 2).unwrap();
        if let Some(failure) = failure {
            disk.inject(Fault {
                call: Call::Write,
                role: Some(Role::Wal),
                after: 0,
                times: 1,
                failure,
            });
        }
        one.execute_batch(
            "BEGIN; CREATE TABLE gone(body);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
             INSERT INTO gone SELECT zeroblob(900) FROM n; ROLLBACK",
        )
        .unwrap();
        ledger.commit(&other, &["main"], 3).unwrap();
        let fresh = opening.connect().map_err(|error| format!("open: {error}"))?;
        ledger.check_recovered(&fresh, &["main"], 3)
    };
    assert!(find(Some(Failure::Late)).is_err());
    find(None).unwrap();
}

/// The number of frames that SQLite wrote, and how often their checksums occur on the disk.
fn frame_checksums_seen(disk: &Arc<Disk>) -> (usize, usize) {
    let _disk_guard = disk.enter();
    let key = KeyFile::new(1);
    let opening = Opening::encrypted("/planted-checksum/main.db", &key).through("spy");
    let ledger = Ledger::SMALL;
    let connection = opening.connect().unwrap();
    connection.execute_batch("PRAGMA journal_mode = wal").unwrap();
    ledger.create(&connection, &["main"]).unwrap();
    for tx in 2..8 {
        ledger.commit(&connection, &["main"], tx).unwrap();
    }
    let checksums: HashSet<[u8; 8]> = disk
        .spied_calls()
        .iter()
        .filter(|spied| (spied.call, spied.role, spied.data.len()) == (Call::Write, Role::Wal, 24))
        .filter_map(|spied| spied.data[16..].first_chunk().copied())
        .collect();
    (checksums.len(), find_words(disk, &checksums).len())
}

#[test]
fn a_frame_checksum_in_clear_is_found() {
    let honest = Disk::new();
    let (count, seen) = frame_checksums_seen(&honest);
    assert!(count > 20 && seen == 0, "{seen} of {count} checksums are on the disk");

    let leaking = Disk::new();
    leaking.shim_writes(Arc::new(|role, offset, bytes, above| {
        let headers = above
            .iter()
            .filter(|above| (above.call, above.role, above.data.len()) == (Call::Write, Role::Wal, 24));
        for header in headers.filter(|_| role == Role::Wal) {
            let start = header
                .offset
                .checked_sub(offset)
                .and_then(|at| usize::try_from(at).ok());
            if let Some(place) = start.and_then(|start| bytes.get_mut(start + 16..start + 24)) {
                place.copy_from_slice(&header.data[16..]);
            }
        }
    }));
    let (count, seen) = frame_checksums_seen(&leaking);
    assert!(seen >= count, "only {seen} of {count} leaked checksums were found");
}
