//! Power failures that damage the sectors being written: SQLite's protection depends on the device
//! characteristics reported to it (sqlite.org/psow.html), and an encrypted database loses no commit
//! that an unencrypted one would keep.

use rusqlite::Connection;
use selenite_keyring::{epoch_change, os_random};
use selenite_testing::{Damage, Disk, Image, KeyFile, Ledger, Opening, Scenario, run};
use selenite_vfs::change::stage;
use selenite_vfs::error::VfsError;

const LEDGER: Ledger = Ledger::SMALL;
const PATH: &str = "/damage/main.db";
const WAL: &str = "/damage/main.db-wal";
const PAGE: usize = 1024;
const FRAME: usize = 24 + PAGE;

fn open(opening: &Opening, pragmas: &str) -> rusqlite::Result<Connection> {
    let connection = opening.connect()?;
    connection.execute_batch(pragmas)?;
    Ok(connection)
}

fn check(opening: &Opening, acknowledged: u64) -> Result<(), String> {
    let connection = opening.connect().map_err(|error| format!("open: {error}"))?;
    LEDGER.check_recovered(&connection, &["main"], acknowledged)
}

/// A database with three commits.
fn made(opening: &Opening, pragmas: &str, prepare: &dyn Fn(&Disk)) -> Image {
    let disk = Disk::new();
    prepare(&disk);
    let _disk_guard = disk.enter();
    let connection = open(opening, pragmas).unwrap();
    LEDGER.create(&connection, &["main"]).unwrap();
    for tx in 2..=3 {
        LEDGER.commit(&connection, &["main"], tx).unwrap();
    }
    drop(connection);
    disk.image()
}

fn survives(mode: &str, page_size: &str, damage: Damage) {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted(PATH, &key).with("page_size", page_size);
    let synchronous = if mode == "delete" { "extra" } else { "full" };
    let pragmas = format!(
        "PRAGMA journal_mode = {mode}; PRAGMA synchronous = {synchronous}; PRAGMA wal_autocheckpoint = 30; \
         PRAGMA cache_size = 20;"
    );
    let prepare = |disk: &Disk| {
        if !damage.powersafe {
            disk.forbid_powersafe_overwrite(damage.sector_size);
        }
    };
    let check = |acknowledged: u64| check(&opening, acknowledged.max(3));
    let name = format!("damage {mode} {page_size} {damage:?}");
    let scenario = Scenario::new(&name, &check)
        .from(made(&opening, &pragmas, &prepare))
        .with_disk(&prepare)
        .with_damage(damage)
        .with_points(600);
    let summary = run(&scenario, |run| {
        let connection = open(&opening, &pragmas)?;
        run.acknowledge(3);
        for tx in 4..16 {
            LEDGER.commit(&connection, &["main"], tx)?;
            run.acknowledge(tx);
        }
        Ok(())
    });
    summary.assert_sound(150);
}

#[test]
fn commits_survive_damage_where_overwriting_is_powersafe() {
    for mode in ["wal", "delete", "truncate", "persist"] {
        for (page_size, sector_size) in [("1024", 512), ("4096", 4096), ("1024", 4096)] {
            let powersafe = true;
            survives(mode, page_size, Damage { sector_size, powersafe });
        }
    }
}

#[test]
fn commits_survive_damage_where_overwriting_is_not_powersafe() {
    for mode in ["wal", "delete", "truncate", "persist"] {
        for (page_size, sector_size) in [("1024", 512), ("4096", 4096), ("1024", 4096), ("4096", 16384)] {
            let powersafe = false;
            survives(mode, page_size, Damage { sector_size, powersafe });
        }
    }
}

/// The tests above would detect a device that damages more than its characteristics allow.
#[test]
fn damage_beyond_the_promise_is_found() {
    for mode in ["wal", "persist"] {
        let key = KeyFile::new(1);
        let opening = Opening::encrypted(PATH, &key).with("page_size", "1024");
        let pragmas =
            format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 30;");
        let check = |acknowledged: u64| check(&opening, acknowledged.max(3));
        let name = format!("damage beyond the promise, {mode}");
        let scenario = Scenario::new(&name, &check)
            .from(made(&opening, &pragmas, &|_| ()))
            .with_damage(Damage {
                sector_size: 4096,
                powersafe: false,
            })
            .with_points(400);
        let summary = run(&scenario, |run| {
            let connection = open(&opening, &pragmas)?;
            run.acknowledge(3);
            for tx in 4..16 {
                LEDGER.commit(&connection, &["main"], tx)?;
                run.acknowledge(tx);
            }
            Ok(())
        });
        assert!(!summary.failures.is_empty(), "{mode}");
    }
}

/// A log with the frames of two transactions and more.
fn with_log(opening: &Opening) -> Image {
    let disk = Disk::new();
    let _disk_guard = disk.enter();
    let pragmas = "PRAGMA journal_mode = wal; PRAGMA synchronous = full; PRAGMA wal_autocheckpoint = 0;";
    let connection = open(opening, pragmas).unwrap();
    LEDGER.create(&connection, &["main"]).unwrap();
    for tx in 2..=4 {
        LEDGER.commit(&connection, &["main"], tx).unwrap();
    }
    disk.image()
}

/// A name, and the byte at each index.
type Pattern = (&'static str, fn(usize) -> u8);

/// The possible contents of a sector after a failure.
fn patterns() -> [Pattern; 6] {
    [
        ("zeros", |_| 0),
        ("ones", |_| 0xff),
        ("low epoch", |at| u8::from(at % 4 == 3)),
        ("next epoch", |at| 2 * u8::from(at % 4 == 3)),
        ("counted", |at| at.to_le_bytes()[0]),
        ("scattered", |at| {
            (at.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0]
        }),
    ]
}

#[test]
fn a_torn_frame_at_the_end_ends_the_log_whatever_it_holds() {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted(PATH, &key).with("page_size", "1024");
    let image = with_log(&opening);
    let size = image.bytes(WAL).len();
    let count = (size - 32) / FRAME;
    for sector_size in [512, 4096] {
        // One torn frame, and two: the last transaction has more than one.
        for torn_count in 1..=2 {
            for (name, pattern) in patterns() {
                let mut torn = image.clone();
                torn.edit(WAL, |content| {
                    for frame in count - torn_count..count {
                        // Its header is in a sector that was written.
                        let (start, end) = (32 + frame * FRAME + 24, 32 + (frame + 1) * FRAME);
                        let first = start.max((end - 1) / sector_size * sector_size);
                        let bytes: Vec<u8> = (first..end).map(pattern).collect();
                        content.write(&bytes, u64::try_from(first).unwrap());
                    }
                });
                let disk = Disk::of_image(&torn);
                let _disk_guard = disk.enter();
                let connection = opening.connect().unwrap();
                let found = LEDGER.check(&connection, "main");
                assert_eq!(found, Ok(3), "{name}, {torn_count} frames, sectors of {sector_size}");
                drop(connection);
                check(&opening, 3).unwrap();
            }
        }
    }
}

/// FORMAT 6.4 number 2: a log that is newer than the database is not truncated silently.
#[test]
fn a_log_with_frames_of_a_later_epoch_is_an_error() {
    let key = KeyFile::new(1);
    let opening = Opening::encrypted(PATH, &key).with("page_size", "1024");
    let disk = Disk::new();
    let disk_guard = disk.enter();
    let connection = open(&opening, "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0").unwrap();
    LEDGER.create(&connection, &["main"]).unwrap();
    connection.execute_batch("PRAGMA wal_checkpoint(truncate)").unwrap();
    LEDGER.commit(&connection, &["main"], 2).unwrap();
    let before = disk.image();
    let token = stage(Box::new(|unlocked| {
        let suite = unlocked.superblock.epochs[0].suite;
        let change = epoch_change::begin(unlocked, suite, 1, &mut os_random).map_err(VfsError::Key)?;
        Ok((change.unlocked, change.revokes_access))
    }));
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
        .query_row("SELECT selenite_apply(?1)", [token], |row| row.get::<_, i64>(0))
        .unwrap();
    connection.execute_batch("COMMIT").unwrap();
    LEDGER.commit(&connection, &["main"], 3).unwrap();
    let after = disk.image();
    drop(disk_guard);

    let mut mixed = before.clone();
    mixed.files.insert(WAL.to_owned(), after.files[WAL].clone());
    let found = |image: &Image| {
        let disk = Disk::of_image(image);
        let _disk_guard = disk.enter();
        let connection = opening.connect().unwrap();
        LEDGER.check(&connection, "main")
    };
    assert!(
        found(&mixed).is_err(),
        "two frames of an epoch that the superblock never used"
    );
    // One frame may be torn.
    let one = before.bytes(WAL).len() + FRAME;
    mixed.edit(WAL, |content| content.truncate(u64::try_from(one).unwrap()));
    assert_eq!(found(&mixed), Ok(2));
}
