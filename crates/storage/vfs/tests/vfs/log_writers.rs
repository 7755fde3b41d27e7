//! Connections that write to one log in turn, with spilled caches, savepoints, checkpoints of all
//! kinds and readers, give the same results as an unencrypted database in memory; and a crash at
//! any time preserves the last commit.

use rusqlite::{Connection, OptionalExtension};
use selenite_testing::ledger::check_integrity;
use selenite_testing::random::seed_of;
use selenite_testing::{Disk, Image, KeyFile, Opening, Random};

const TABLES: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, version INTEGER, body BLOB);
                      CREATE INDEX t_version ON t(version);";
const SUM: &str = "SELECT count(*), coalesce(sum(id * 31 + version * 7 + length(body) * (id % 97)), 0) FROM t";

fn sum(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    connection.query_row(SUM, [], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Executes the same statement on both; it must succeed or fail on both.
fn both(one: &Connection, twin: &Connection, sql: &str) {
    let (done, wanted) = (one.execute_batch(sql), twin.execute_batch(sql));
    assert_eq!(done.is_ok(), wanted.is_ok(), "{sql}: {done:?}, but {wanted:?}");
}

struct Run {
    opening: Opening,
    writers: Vec<Connection>,
    reader: Connection,
    /// The values read when the reader's transaction began.
    seen: Option<(i64, i64)>,
    twin: Connection,
    random: Random,
    version: i64,
}

impl Run {
    fn new(opening: Opening, seed: u64) -> Self {
        let random = Random::new(seed);
        let writers: Vec<Connection> = (0..2).map(|_| opening.connect().unwrap()).collect();
        writers[0]
            .execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = normal")
            .unwrap();
        let twin = Connection::open_in_memory().unwrap();
        for connection in writers.iter().chain([&twin]) {
            connection
                .execute_batch("PRAGMA cache_size = 10; PRAGMA wal_autocheckpoint = 200")
                .unwrap();
        }
        both(&writers[0], &twin, TABLES);
        Self {
            reader: opening.connect().unwrap(),
            opening,
            writers,
            seen: None,
            twin,
            random,
            version: 0,
        }
    }

    fn change(&mut self) -> String {
        self.version += 1;
        let (version, random) = (self.version, &mut self.random);
        let id = random.below(300);
        let size = random.below(1500);
        match random.below(6) {
            0 => {
                let last = id + random.below(150);
                format!(
                    "WITH RECURSIVE n(i) AS (SELECT {id} UNION ALL SELECT i + 1 FROM n WHERE i < {last})
                     INSERT OR REPLACE INTO t SELECT i, {version}, zeroblob({size}) FROM n"
                )
            }
            1 => format!("UPDATE t SET version = {version} WHERE id >= {id}"),
            2 => format!("UPDATE t SET body = zeroblob({size}), version = {version} WHERE id < {id}"),
            3 => format!("DELETE FROM t WHERE id BETWEEN {id} AND {}", id + size / 30),
            _ => format!("INSERT OR REPLACE INTO t VALUES({id}, {version}, zeroblob({size}))"),
        }
    }

    /// One transaction of one of the writers; returns whether it was committed.
    fn transaction(&mut self) -> bool {
        let writer = usize::try_from(self.random.below(2)).unwrap();
        if self.random.chance(1, 8) {
            let mode = ["normal", "exclusive"][usize::from(self.random.chance(1, 2))];
            let _ = self.writers[writer].execute_batch(&format!("PRAGMA locking_mode = {mode}"));
        }
        if let Err(error) = self.writers[writer].execute_batch("BEGIN IMMEDIATE") {
            // The other one is in exclusive mode: it stays alone until it is told to leave that
            // mode.
            assert!(error.to_string().contains("locked"), "{error}");
            let other = &self.writers[1 - writer];
            other.execute_batch("PRAGMA locking_mode = normal").unwrap();
            sum(other).unwrap();
            return false;
        }
        self.twin.execute_batch("BEGIN").unwrap();
        for _ in 0..self.random.below(5) {
            let savepoint = self.random.chance(1, 2);
            let (mut sql, change) = (Vec::new(), self.change());
            if savepoint {
                sql.push("SAVEPOINT s".to_owned());
            }
            sql.push(change);
            if savepoint && self.random.chance(2, 3) {
                sql.push("ROLLBACK TO s".to_owned());
                sql.push(self.change());
            }
            if savepoint {
                sql.push("RELEASE s".to_owned());
            }
            for sql in sql {
                both(&self.writers[writer], &self.twin, &sql);
            }
            assert_eq!(sum(&self.writers[writer]).unwrap(), sum(&self.twin).unwrap());
        }
        let is_committed = self.random.chance(2, 3);
        let end = if is_committed { "COMMIT" } else { "ROLLBACK" };
        both(&self.writers[writer], &self.twin, end);
        is_committed
    }

    /// The reader still reads the values of its snapshot, whatever is written or checkpointed
    /// meanwhile.
    fn read(&mut self) {
        if let Some(seen) = self.seen {
            assert_eq!(sum(&self.reader).unwrap(), seen);
            if self.random.chance(1, 3) {
                self.reader.execute_batch("COMMIT").unwrap();
                self.seen = None;
            }
        } else if self.random.chance(1, 3) {
            self.reader.execute_batch("BEGIN").unwrap();
            match sum(&self.reader) {
                Ok(seen) => {
                    assert_eq!(seen, sum(&self.twin).unwrap());
                    self.seen = Some(seen);
                }
                Err(_) => self.reader.execute_batch("ROLLBACK").unwrap(),
            }
        }
    }

    fn checkpoint(&mut self) {
        let mode = ["passive", "full", "restart", "truncate"][usize::try_from(self.random.below(4)).unwrap()];
        let writer = &self.writers[usize::try_from(self.random.below(2)).unwrap()];
        // Busy if a reader or the other writer prevents it.
        let _: Option<i64> = writer
            .query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| row.get(0))
            .optional()
            .unwrap_or_default();
    }

    fn check_recovered(&self, image: &Image) {
        let disk = Disk::of_image(image);
        let _disk_guard = disk.enter();
        let connection = self.opening.connect().unwrap();
        assert_eq!(sum(&connection).unwrap(), sum(&self.twin).unwrap());
        check_integrity(&connection).unwrap();
    }
}

#[test]
fn writers_in_turn_do_what_a_plain_database_does() {
    let seed = Random::seed_or(20_261_121);
    println!("seed {seed}");
    let rounds: u64 = std::env::var("SELENITE_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(6);
    for round in 0..rounds {
        let disk = Disk::new();
        let _disk_guard = disk.enter();
        let key = KeyFile::new(1);
        let page_size = ["1024", "4096"][usize::from(round % 3 == 2)];
        let opening = Opening::encrypted("/turns/main.db", &key).with("page_size", page_size);
        let mut run = Run::new(opening, seed_of(&[seed, round]));
        let mut commits = 0;
        for step in 0..60 {
            commits += u32::from(run.transaction());
            run.read();
            if run.random.chance(1, 4) {
                run.checkpoint();
            }
            if step % 5 == 0 {
                // The process is killed: data that it had not written is lost.
                run.check_recovered(&disk.image());
            }
        }
        assert!(commits > 10, "round {round}: {commits} commits");
    }
}
