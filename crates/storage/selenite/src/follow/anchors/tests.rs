use super::*;
use crate::storage::Disk;
use crate::{Layout, install};

/// A checkpoint copies no page whose last frame is behind a read mark: where the file ends before that page, and others
/// behind it are copied, it seals zeros, later than the frames that follow the mark.
#[test]
fn a_page_that_fills_a_gap_says_nothing_of_what_was_committed() {
    install().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, [7; 32]).unwrap();
    let access = Access {
        identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
        ..Access::default()
    };
    let path = folder.path().join("app.db");
    let writer = Database::create(&Disk, &path, &access, &Layout::default()).unwrap();
    writer.text("PRAGMA journal_mode = WAL").unwrap();
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
        Ok((known.next(&unlocked), writer))
    });
    reader.end_any_read();
    let (anchor, _writer) = anchor.unwrap();
    let compared = reader.read(move |snapshot| Ok(check_not_older(snapshot, &anchor)));
    reader.end_any_read();
    compared.unwrap().unwrap();
}
