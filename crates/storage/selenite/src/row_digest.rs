//! A digest of a database's content, the same in every process and on every machine (FORMAT 12.7).
//! A backup's manifest may have it, to compare after a restore.

use crate::content_digest::ContentDigest;
use crate::{Database, EngineError, Watch};

/// Reads all of a database, in its present transaction or in one of its own. `total` is the
/// approximate number of bytes, for progress reports.
///
/// # Errors
/// The errors of SQLite and the VFS; [`EngineError::Interrupted`].
pub fn row_digest(database: &mut Database, watch: &Watch, total: u64) -> Result<[u8; 32], EngineError> {
    let is_own = database.connection().is_autocommit();
    if is_own {
        database.batch("BEGIN")?;
    }
    let digest = ContentDigest::of(database, watch, total).map(|content| content.sum());
    // An error may have ended the transaction already.
    let ended = if is_own && !database.connection().is_autocommit() {
        database.batch("ROLLBACK")
    } else {
        Ok(())
    };
    let digest = digest?;
    ended?;
    Ok(digest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Disk;
    use crate::{Access, Layout};

    struct Fixture(tempfile::TempDir, Access);

    impl Fixture {
        fn new() -> Self {
            crate::install().unwrap();
            let folder = tempfile::tempdir().unwrap();
            let key = folder.path().join("key");
            std::fs::write(&key, [7; 32]).unwrap();
            let access = Access {
                identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
                ..Access::default()
            };
            Self(folder, access)
        }

        fn made(&self, name: &str, sql: &str) -> Database {
            let path = self.0.path().join(name);
            let database = Database::create(&Disk, &path, &self.1, &Layout::default()).unwrap();
            database.batch(sql).unwrap();
            database
        }
    }

    fn digest(database: &mut Database) -> String {
        let digest = row_digest(database, &Watch::none(), 0).unwrap();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    const SQL: &str = "CREATE TABLE note (id INTEGER PRIMARY KEY, a, b TEXT); CREATE INDEX by_a ON note (a);
        CREATE TABLE pair (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
        INSERT INTO note VALUES (1, 1, 'x'), (2, 1.5, NULL), (3, x'00ff', 'y'); INSERT INTO pair VALUES ('k', 'v');";

    #[test]
    fn it_is_the_same_for_the_same_rows_everywhere() {
        let fixture = Fixture::new();
        let mut one = fixture.made("one.db", SQL);
        let mut other = fixture.made("other.db", SQL);
        other
            .batch("DELETE FROM note; INSERT INTO note VALUES (3, x'00ff', 'y'), (2, 1.5, NULL), (1, 1, 'x'); VACUUM")
            .unwrap();
        assert_eq!(digest(&mut one), KNOWN);
        assert_eq!(digest(&mut other), KNOWN);
    }

    #[test]
    fn every_changed_value_changes_the_digest() {
        let fixture = Fixture::new();
        let mut database = fixture.made("app.db", SQL);
        let mut seen = vec![digest(&mut database)];
        for sql in [
            "UPDATE note SET a = 1.0 WHERE id = 1",
            "UPDATE note SET id = 4 WHERE id = 3",
            "UPDATE note SET b = x'79' WHERE id = 4",
            "UPDATE pair SET v = NULL",
            "DELETE FROM pair",
            "DROP INDEX by_a",
            "CREATE VIEW seen AS SELECT 1",
            "PRAGMA user_version = 5",
        ] {
            database.batch(sql).unwrap();
            let next = digest(&mut database);
            assert!(!seen.contains(&next), "{sql}");
            seen.push(next);
        }
    }

    #[test]
    fn the_digest_is_of_the_connections_transaction() {
        let fixture = Fixture::new();
        let mut reader = fixture.made("app.db", SQL);
        reader
            .batch("PRAGMA journal_mode = WAL; BEGIN; SELECT * FROM note")
            .unwrap();
        let before = digest(&mut reader);
        let writer = Database::open(&Disk, reader.path(), &fixture.1).unwrap();
        writer.batch("DELETE FROM note").unwrap();
        assert_eq!(digest(&mut reader), before);
        assert!(!reader.connection().is_autocommit(), "it was not ended");
        reader.batch("COMMIT").unwrap();
        assert_ne!(digest(&mut reader), before);
        assert!(reader.connection().is_autocommit());
    }

    /// Computed by another program, in Python, from the specification in FORMAT.
    const KNOWN: &str = "8ed91e5384802c0ad1307547ba5e29601b7510a23952f58e907aa05cfe47036b";
}
