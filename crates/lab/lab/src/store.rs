//! The store of a study: one SQLite file, the schedule first, then a transaction for each block.
//!
//! - kill-keeps-blocks: after a kill at any moment, the store has every block that was written, and
//!   no part of another.
//! - one-writer: readers can read while a study writes; there is one writer of blocks at a time.

mod error;
mod lock;
mod read;
mod record;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::Error::StatementChangedRows;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params};
use selenite_worker::protocol::{Control, Sample};
use serde::Serialize;

pub use error::StoreError;
use lock::Lock;
use record::Cost;
pub use record::{
    ArmRow, Ask, BlockRow, CellRow, ExtensionRow, HistogramRow, InstanceRow, MasterRow, NewBlock, PlanRow, SessionRow,
    StudyRow,
};

use crate::config::Cell;
use crate::schedule::Draw;
use crate::summary::{ArmFacts, StudyState};

/// An open store.
#[derive(Debug)]
pub struct Store {
    db: Connection,
    path: PathBuf,
    _lock: Option<Lock>,
}

impl Store {
    /// Creates a store, to run a study on it.
    ///
    /// Errors: `Exists`, `Running`, `Io`, `Sqlite`.
    pub fn create(path: &Path, study: &StudyRow) -> Result<Store, StoreError> {
        let lock = Lock::take(path)?;
        match std::fs::File::options().write(true).create_new(true).open(path) {
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Exists(path.to_owned()));
            }
            Err(error) => return Err(StoreError::io(path, error)),
        }
        let made = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).and_then(|db| {
            let mut store = Store {
                db,
                path: path.to_owned(),
                _lock: Some(lock),
            };
            store.journal("wal")?;
            store.fill(study).map(|()| store)
        });
        if made.is_err() {
            let _ = std::fs::remove_file(path);
        }
        made
    }

    /// Opens a store to continue its study.
    ///
    /// Errors: `Missing`, `NotAStore`, `Version`, `Damaged`, `Running`, `Io`, `Sqlite`.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        exists(path)?;
        let lock = Lock::take(path)?;
        let db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let store = Store {
            db,
            path: path.to_owned(),
            _lock: Some(lock),
        };
        store.check()?;
        store.journal("wal")?;
        Ok(store)
    }

    /// Opens a store to read it or to send a [`Store::ask`], also while its study runs.
    ///
    /// Errors: `Missing`, `NotAStore`, `Version`, `Damaged`, `Sqlite`.
    pub fn read(path: &Path) -> Result<Store, StoreError> {
        exists(path)?;
        let attempt = |flags| {
            let store = Store {
                db: connect(path, flags)?,
                path: path.to_owned(),
                _lock: None,
            };
            store.check().map(|()| store)
        };
        match attempt(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            Err(StoreError::Sqlite { .. }) => attempt(OpenFlags::SQLITE_OPEN_READ_ONLY),
            outcome => outcome,
        }
    }

    /// Whether a study runs on the store at `path`, according to its lock.
    #[must_use]
    pub fn runs(path: &Path) -> bool {
        matches!(Lock::take(path), Err(StoreError::Running(_)))
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the arms, the cells and the schedule in one transaction.
    ///
    /// Errors: `Sqlite`.
    pub fn plan(
        &mut self,
        arms: &[(ArmFacts, BTreeMap<String, MasterRow>)],
        cells: &[Cell],
        draws: &[Draw],
    ) -> Result<(), StoreError> {
        self.write(|db| {
            for (id, (facts, masters)) in arms.iter().enumerate() {
                let id = number(id);
                db.execute("INSERT INTO arm VALUES (?, ?, ?)", params![id, facts.name, json(facts)])?;
                for (data, m) in masters {
                    let values = params![id, data, m.digest, signed(m.rows), signed(m.bytes), signed(m.pages)];
                    db.execute("INSERT INTO master VALUES (?, ?, ?, ?, ?, ?)", values)?;
                }
            }
            for (id, cell) in cells.iter().enumerate() {
                db.execute(
                    "INSERT INTO cell VALUES (?, ?, ?)",
                    params![number(id), cell.name, json(cell)],
                )?;
            }
            insert_draws(db, draws)
        })
    }

    /// Ends an interrupted session: its remaining blocks move to a session of its own, after all
    /// others. With `void`, its measurements do not count.
    ///
    /// Errors: `Sqlite`.
    pub fn retire_session(
        &mut self,
        session: u32,
        ended_s: u64,
        void: Option<&str>,
        undone: &[PlanRow],
    ) -> Result<(), StoreError> {
        self.write(|db| {
            let last: u32 = db.query_row("SELECT max(session) FROM plan", [], |row| row.get(0))?;
            let again = |row: &PlanRow| insert_plan(db, (last + 1, row.cell, row.pair, row.arm, row.seed));
            undone.iter().try_for_each(again)?;
            let sql = "UPDATE session SET ended_s = ?, void = ? WHERE id = ?";
            db.execute(sql, params![signed(ended_s), void, session]).map(drop)
        })
    }

    /// Adds sessions to a completed study, which is then unfinished again.
    ///
    /// Errors: `Sqlite`.
    pub fn extend(&mut self, row: &ExtensionRow, draws: &[Draw]) -> Result<(), StoreError> {
        self.write(|db| {
            db.execute_batch(include_str!("extension.sql"))?;
            let sql = "INSERT INTO extension (at_s, from_sessions, sessions, until, drawn) VALUES (?, ?, ?, ?, ?)";
            let facts = &row.facts;
            db.execute(
                sql,
                params![signed(facts.at_s), facts.from, facts.sessions, row.until, row.drawn],
            )?;
            insert_draws(db, draws)?;
            let state = word(&StudyState::Unfinished);
            db.execute("UPDATE study SET state = ?", [state]).map(drop)
        })
    }

    /// Begins a session.
    ///
    /// Errors: `Sqlite`.
    pub fn begin_session(&mut self, session: u32, created_s: u64) -> Result<(), StoreError> {
        self.write(|db| {
            let sql = "INSERT INTO session (id, created_s) VALUES (?, ?)";
            db.execute(sql, params![session, signed(created_s)]).map(drop)
        })
    }

    /// Ends a session. With `void`, its measurements do not count.
    ///
    /// Errors: `Sqlite`.
    pub fn end_session(&mut self, session: u32, ended_s: u64, void: Option<&str>) -> Result<(), StoreError> {
        self.write(|db| {
            let sql = "UPDATE session SET ended_s = ?, void = ? WHERE id = ?";
            db.execute(sql, params![signed(ended_s), void, session]).map(drop)
        })
    }

    /// Writes a copy, and returns its number.
    ///
    /// Errors: `Sqlite`.
    pub fn add_instance(&mut self, row: &InstanceRow) -> Result<i64, StoreError> {
        self.write(|db| {
            let sql = "INSERT INTO instance (session, arm, data, made, pids, path) VALUES (?, ?, ?, ?, ?, ?)";
            db.execute(
                sql,
                params![row.session, row.arm, row.data, row.made, json(&row.pids), row.path],
            )?;
            Ok(db.last_insert_rowid())
        })
    }

    /// Writes a block and its latencies, and marks it as run.
    ///
    /// Errors: `Sqlite`; `Damaged` if it has run before.
    pub fn add_block(&mut self, block: &NewBlock<'_>) -> Result<i64, StoreError> {
        let cost = |sample: &Sample| Cost {
            sample: sample.clone(),
            phases: block.phases.cloned(),
        };
        let sample = block
            .sample
            .map_or_else(|| "{}".to_owned(), |sample| json(&cost(sample)));
        let none = BTreeMap::new();
        let histograms = block.sample.map_or(&none, |_| block.histograms);
        let written = self.write(|db| {
            let sql = "INSERT INTO block (plan, instance, began_s, sample, host, void) VALUES (?, ?, ?, ?, ?, ?)";
            let values = params![
                block.seq,
                block.instance,
                block.began_s,
                sample,
                json(block.host),
                block.void
            ];
            db.execute(sql, values)?;
            let id = db.last_insert_rowid();
            for (operation, v2) in histograms {
                db.execute("INSERT INTO histogram VALUES (?, ?, ?)", params![id, operation, v2])?;
            }
            let sql = "UPDATE plan SET block = ? WHERE seq = ? AND block IS NULL";
            match db.execute(sql, params![id, block.seq])? {
                1 => Ok(id),
                other => Err(StatementChangedRows(other)),
            }
        });
        written.map_err(|error| {
            match matches!(
                error,
                StoreError::Sqlite {
                    source: StatementChangedRows(_),
                    ..
                }
            ) {
                true => StoreError::damaged(&self.path, format!("block {} of the plan ran twice", block.seq)),
                false => error,
            }
        })
    }

    /// Writes an event.
    ///
    /// Errors: `Sqlite`.
    pub fn add_event(&mut self, at_s: f64, text: &str) -> Result<(), StoreError> {
        self.write(|db| {
            db.execute("INSERT INTO event (at_s, text) VALUES (?, ?)", params![at_s, text])
                .map(drop)
        })
    }

    /// Writes the state of the study.
    ///
    /// Errors: `Sqlite`.
    pub fn set_state(&mut self, state: StudyState) -> Result<(), StoreError> {
        self.write(|db| db.execute("UPDATE study SET state = ?", [word(&state)]).map(drop))
    }

    /// Sends a request to the study that runs on the store.
    ///
    /// Errors: `Sqlite`.
    pub fn ask(&mut self, control: &Control) -> Result<(), StoreError> {
        self.write(|db| {
            db.execute("INSERT INTO control (ask) VALUES (?)", [json(control)])
                .map(drop)
        })
    }

    /// The requests since the last call, in order.
    ///
    /// Errors: `Sqlite`, `Damaged`.
    pub fn take_asks(&mut self) -> Result<Vec<Ask>, StoreError> {
        let asks = self.asks()?;
        if let Some(last) = asks.last() {
            self.write(|db| {
                db.execute("UPDATE control SET taken = 1 WHERE id <= ?", [last.id])
                    .map(drop)
            })?;
        }
        Ok(asks)
    }

    /// Checkpoints the WAL and leaves WAL mode, so that the file can be copied, and read in read-only folders.
    pub fn settle(self) {
        // With concurrent readers the mode stays, which does no harm.
        let _ = self.journal("delete");
    }

    fn journal(&self, mode: &str) -> Result<(), StoreError> {
        let sql = format!("PRAGMA journal_mode = {mode}");
        let set = self.db.query_row(&sql, [], |row| row.get::<_, String>(0));
        set.map(drop).map_err(|error| StoreError::sqlite(&self.path, error))
    }

    fn fill(&mut self, study: &StudyRow) -> Result<(), StoreError> {
        self.write(|db| {
            db.execute_batch(include_str!("schema.sql"))?;
            let sql = "INSERT INTO study VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
            let s = study;
            let (seed, created, host, state) = (signed(s.seed), signed(s.created_s), json(&s.host), word(&s.state));
            let values = params![
                s.name,
                s.config,
                s.config_sha256,
                seed,
                s.lab_version,
                s.commit,
                s.command,
                created,
                host,
                state
            ];
            db.execute(sql, values).map(drop)
        })
    }

    fn write<T>(&mut self, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let all = || {
            let transaction = self.db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        all().map_err(|error| StoreError::sqlite(&self.path, error))
    }

    /// Checks that it is a store of this version, and complete.
    fn check(&self) -> Result<(), StoreError> {
        let pragma = |sql: &str| self.db.query_row(sql, [], |row| row.get::<_, i64>(0));
        let asked = pragma("PRAGMA application_id").and_then(|id| Ok((id, pragma("PRAGMA user_version")?)));
        let (id, version) = asked.map_err(|error| StoreError::sqlite(&self.path, error))?;
        if id != APPLICATION_ID {
            return Err(StoreError::NotAStore(self.path.clone()));
        }
        if version != error::VERSION {
            return Err(StoreError::Version {
                path: self.path.clone(),
                found: version,
            });
        }
        let sound = self
            .db
            .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        match sound.map_err(|error| StoreError::sqlite(&self.path, error))?.as_str() {
            "ok" => Ok(()),
            what => Err(StoreError::damaged(&self.path, what)),
        }
    }
}

fn exists(path: &Path) -> Result<(), StoreError> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(_) => Err(StoreError::NotAStore(path.to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(StoreError::Missing(path.to_owned())),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, StoreError> {
    // The system's VFS is named, because this program may have installed another default.
    let db = Connection::open_with_flags_and_vfs(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX, c"unix")
        .map_err(|error| StoreError::sqlite(path, error))?;
    let set = db
        .busy_timeout(BUSY)
        .and_then(|()| db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON"));
    set.map_err(|error| StoreError::sqlite(path, error)).map(|()| db)
}

fn insert_draws(db: &Transaction<'_>, draws: &[Draw]) -> rusqlite::Result<()> {
    draws.iter().try_for_each(|draw| {
        let row = (draw.session, number(draw.cell), draw.pair, number(draw.arm), draw.seed);
        insert_plan(db, row)
    })
}

fn insert_plan(db: &Transaction<'_>, row: (u32, i64, u32, i64, u64)) -> rusqlite::Result<()> {
    let mut insert = db.prepare_cached("INSERT INTO plan (session, cell, pair, arm, seed) VALUES (?, ?, ?, ?, ?)")?;
    insert
        .execute(params![row.0, row.1, row.2, row.3, signed(row.4)])
        .map(drop)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our own types have no maps with other keys than text")
}

/// The name of a state, without the quotation marks of JSON.
fn word(state: &StudyState) -> String {
    json(state).trim_matches('"').to_owned()
}

/// The database number of an item: its index plus 1.
fn number(index: usize) -> i64 {
    i64::try_from(index).map_or(i64::MAX, |index| index + 1)
}

fn signed(value: u64) -> i64 {
    value.cast_signed()
}

/// `SLab`.
const APPLICATION_ID: i64 = 0x534c_6162;
/// No reader holds a lock for longer.
const BUSY: std::time::Duration = std::time::Duration::from_secs(30);

#[cfg(test)]
mod tests;
