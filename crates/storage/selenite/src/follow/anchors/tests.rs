use selenite_cipher::Epoch;

use super::*;
use crate::storage::Disk;
use crate::{Layout, install};

/// A checkpoint copies no page whose last frame is behind a read mark: where the file ends before that page, and others
/// behind it are copied, it seals zeros, later than the frames that follow the mark.
#[test]
fn a_page_that_fills_a_gap_says_nothing_of_what_was_committed() {
    let (_folder, access, writer) = database();
    let path = writer.path().to_owned();
    writer.text("PRAGMA wal_autocheckpoint = 0").unwrap();
    writer
        .batch("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, randomblob(3000))")
        .unwrap();
    writer.text("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let rows = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 12)
                INSERT INTO t SELECT i, randomblob(3000) FROM n";
    writer.batch(rows).unwrap();
    let reader = Database::open_to_read(&Disk, &path, &access).unwrap();
    let place = path.clone();
    let anchor = reader.read(move |snapshot| {
        // After the snapshot was taken.
        writer.batch("UPDATE t SET a = randomblob(3000) WHERE id = 5")?;
        writer.text("PRAGMA wal_checkpoint(PASSIVE)")?;
        let (known, unlocked) = read_changes(snapshot, Known::default(), &place)?;
        Ok((known.next(&unlocked)?, writer))
    });
    reader.end_any_read();
    let (anchor, _writer) = anchor.unwrap();
    let compared = reader.read(move |snapshot| Ok(check_not_older(snapshot, &anchor)));
    reader.end_any_read();
    compared.unwrap().unwrap();
}

/// The superblock of a state that was given up, before any page that an anchor names was sealed again under its epoch.
#[test]
fn an_epoch_of_the_same_number_with_another_key_is_of_another_history() {
    let (_folder, access, writer) = database();
    let path = writer.path().to_owned();
    writer.batch("CREATE TABLE t (a)").unwrap();
    let reader = Database::open_to_read(&Disk, &path, &access).unwrap();
    let compared = reader.read(move |snapshot| {
        let (known, unlocked) = read_changes(snapshot, Known::default(), &path)?;
        let anchor = known.next(&unlocked)?;
        let named = anchor.sealing.expect("a database has a sealing epoch");
        let others = [
            Some(named),
            Some(SealingEpoch {
                key_id: [0; 16],
                ..named
            }),
            // Not listed any more.
            Some(SealingEpoch {
                epoch: Epoch(named.epoch.0 + 1),
                key_id: [0; 16],
            }),
            None,
        ];
        Ok(others.map(|sealing| {
            let anchor = ShortAnchor {
                sealing,
                ..anchor.clone()
            };
            match check_not_older(snapshot, &anchor) {
                Ok(()) => String::new(),
                Err(error) => error.to_string(),
            }
        }))
    });
    reader.end_any_read();
    let [same, other, unlisted, none] = compared.unwrap();
    assert!(other.contains("its key epoch 1 has another key"), "{other}");
    assert_eq!((same, unlisted, none), (String::new(), String::new(), String::new()));
}

fn database() -> (tempfile::TempDir, Access, Database) {
    install().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, [7; 32]).unwrap();
    let access = Access {
        identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
        ..Access::default()
    };
    let writer = Database::create(&Disk, &folder.path().join("app.db"), &access, &Layout::default()).unwrap();
    writer.text("PRAGMA journal_mode = WAL").unwrap();
    (folder, access, writer)
}
