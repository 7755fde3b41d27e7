//! A database's file, and a session's connection to it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use selenite::Access;
use selenite_compiler::SqlError;
use selenite_compiler::catalog::{Sequence, Table};
use selenite_compiler::definition::quoted;
use selenite_runtime::sqlite::{
    self, Cancellation, Cancelled, FunctionContext, Identities, IdentityJournal, SequenceCounter, note_file, tsql_error,
};

use crate::catalog::schema::{Schema, SchemaTable};
use crate::database::database_use::Users;
use crate::database::durability::DelayedDurability;
use crate::database::expectation::{check_suite, open_expected};
use crate::database::log_sync::{CommitNo, LogFile, LogLost, LogSync};
use crate::database::write_queue::{Waits, WriteQueue};
use crate::database_error::log_lost;
use crate::master::{DatabaseRecord, TEMPDB};
use crate::registry::{WaitType, own};
use crate::{Instance, Interrupt, Interrupts, memory};

/// What all sessions share of a database.
pub struct SharedDatabase {
    /// Its id and name.
    pub record: DatabaseRecord,
    /// Its file; nothing for those that are empty in every session.
    pub path: Option<PathBuf>,
    /// Who writes.
    pub write_queue: Arc<WriteQueue>,
    /// Who waits for whom, in all databases.
    pub waits: Arc<Waits>,
    /// When commits are on the disk; nothing where there is no file.
    pub log: Option<LogSync>,
    /// The next numbers of its tables.
    pub identities: Identities,
    /// DELAYED_DURABILITY; none until someone has connected.
    durability: Mutex<Option<DelayedDurability>>,
    /// The sessions that use it.
    pub users: Arc<Users>,
    /// Whether ALTER DATABASE has set it READ_ONLY.
    is_read_only: AtomicBool,
    /// Rises with each change of definitions by this server.
    epoch: AtomicU64,
    /// The schema that was read last.
    kept: Mutex<Option<(Version, Arc<Schema>)>>,
}

/// What tells one state of a database's definitions from another.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Version {
    /// Of this server.
    epoch: u64,
    /// `PRAGMA schema_version`: of any program.
    sqlite: i64,
    /// Of a session that changes definitions in a transaction that is still open; 0 for what all see.
    own: u64,
}

impl Version {
    /// `PRAGMA schema_version`, which each definition in the database changes.
    #[must_use]
    pub fn sqlite(self) -> i64 {
        self.sqlite
    }
}

/// A session's connection to a database.
pub struct DatabaseConnection {
    /// What all share of it.
    pub shared: Arc<SharedDatabase>,
    /// The connection.
    pub connection: Connection,
    /// What its functions see.
    pub functions: FunctionContext,
    /// What stops its statements.
    pub cancellation: Cancellation,
    /// Whether SQLite leaves the sync of a commit to [`SharedDatabase::log`]: in WAL mode.
    is_synced_later: bool,
    /// The schema with the session's own changes.
    own: RefCell<Option<(Version, Arc<Schema>)>>,
    /// Rises with each change of definitions in the open transaction; 0 without.
    changes: Cell<u64>,
    temporary: RefCell<Arc<Schema>>,
    /// What the open transaction has done to the numbers of tables.
    pub identity_journal: IdentityJournal,
}

/// The pages of a table.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TablePages {
    /// Those of its rows.
    pub data: i64,
    /// Those of its indexes.
    pub indexes: i64,
}

impl SharedDatabase {
    /// One that no one has open yet.
    pub fn new(record: DatabaseRecord, path: Option<PathBuf>, waits: Arc<Waits>) -> Self {
        if let Some(path) = &path {
            note_file(path, record.id);
        }
        // Nothing of tempdb has to outlive the server.
        let synced = path.as_deref().filter(|_| record.id != TEMPDB);
        let log = synced.map(|path| LogSync::new(Box::new(LogFile::of(path))));
        Self {
            write_queue: WriteQueue::of(record.id),
            record,
            path,
            log,
            waits,
            durability: Mutex::default(),
            users: Arc::default(),
            is_read_only: AtomicBool::new(false),
            identities: Identities::default(),
            // Of a database that was restored no version is that of the one before: sessions keep what they bound.
            epoch: AtomicU64::new(NEXT_EPOCH.fetch_add(EPOCHS, Ordering::Relaxed)),
            kept: Mutex::default(),
        }
    }

    /// The last number of a table's identity, asked outside any statement.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn last_identity(&self, instance: &Instance, table: &Table) -> Result<Option<i128>, SqlError> {
        if let Some(known) = self.identities.known(table) {
            return known;
        }
        if table.sqlite.schema != "main" {
            return Ok(None);
        }
        // No one has taken a number since the server began: the file says which was last. A table that is not
        // committed has none.
        let Some(connection) = self.reader(instance)? else {
            return Ok(None);
        };
        let sql = "SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type = 'table'";
        let is_there = connection
            .prepare(sql)
            .and_then(|mut asked| asked.exists([&table.sqlite.name]));
        match is_there.map_err(|error| tsql_error(&error))? {
            true => self.identities.last(&connection, table),
            false => Ok(None),
        }
    }

    /// Where a sequence is; none if its database can't be read.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn sequence_counter(
        &self,
        instance: &Instance,
        sequence: &Sequence,
    ) -> Result<Option<SequenceCounter>, SqlError> {
        if let Some(known) = self.identities.known_counter(sequence.object_id) {
            return Ok(Some(known));
        }
        let Some(connection) = self.reader(instance)? else {
            return Ok(None);
        };
        self.identities.counter_of(&connection, sequence).map(Some)
    }

    /// The last value of rowversion columns, and the first that an open transaction has taken, or else the next one.
    ///
    /// # Errors
    /// What SQLite says; internally for a database that can't be read.
    pub fn row_versions(&self, instance: &Instance) -> Result<(u64, u64), SqlError> {
        if let Some(known) = self.identities.known_row_versions() {
            return Ok(known);
        }
        match self.reader(instance)? {
            Some(connection) => self.identities.row_versions(&connection),
            None => Err(SqlError::internal("a database without a file")),
        }
    }

    /// How many rows each of these tables has, of what is committed; none for a table that is not.
    ///
    /// # Errors
    /// What SQLite says, and that the statement was interrupted.
    pub fn row_counts(
        &self,
        instance: &Instance,
        interrupts: Interrupts,
        tables: &[&Arc<SchemaTable>],
    ) -> Result<Vec<Option<i64>>, SqlError> {
        let Some(mut connection) = self.reader(instance)? else {
            return Ok(vec![None; tables.len()]);
        };
        connection
            .progress_handler(STEPS, Some(move || interrupts.poll().is_some()))
            .map_err(|error| tsql_error(&error))?;
        let mut counts = Vec::with_capacity(tables.len());
        for table in tables {
            let name = quoted(&table.table.sqlite.name);
            let count = connection.query_row(&format!("SELECT count(*) FROM main.{name}"), [], |row| row.get(0));
            counts.push(match count {
                Ok(count) => Some(count),
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                    return Err(tsql_error(&error));
                }
                Err(_) => None,
            });
        }
        Ok(counts)
    }

    /// How many pages tables and their indexes have, of what is committed, by the tables' names in lower case.
    ///
    /// # Errors
    /// What SQLite says, and that the statement was interrupted.
    pub fn table_pages(
        &self,
        instance: &Instance,
        interrupts: Interrupts,
    ) -> Result<HashMap<String, TablePages>, SqlError> {
        let Some(mut connection) = self.reader(instance)? else {
            return Ok(HashMap::new());
        };
        connection
            .progress_handler(STEPS, Some(move || interrupts.poll().is_some()))
            .map_err(|error| tsql_error(&error))?;
        let read = || -> rusqlite::Result<HashMap<String, TablePages>> {
            let mut found: HashMap<String, TablePages> = HashMap::new();
            let mut statement = connection.prepare(PAGES)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let pages = found.entry(row.get::<_, String>(0)?.to_lowercase()).or_default();
                match row.get::<_, bool>(1)? {
                    true => pages.data += row.get::<_, i64>(2)?,
                    false => pages.indexes += row.get::<_, i64>(2)?,
                }
            }
            Ok(found)
        };
        read().map_err(|error| tsql_error(&error))
    }

    /// The size of a page, how many there are, and how many are free, of what is committed.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn page_counts(&self, instance: &Instance) -> Result<Option<(i64, i64, i64)>, SqlError> {
        let Some(connection) = self.reader(instance)? else {
            return Ok(None);
        };
        let one = |pragma: &str| connection.query_row(&format!("PRAGMA main.{pragma}"), [], |row| row.get(0));
        let read = || Ok((one("page_size")?, one("page_count")?, one("freelist_count")?));
        read().map(Some).map_err(|error: rusqlite::Error| tsql_error(&error))
    }

    /// A connection of its own, which sees what is committed; none to what is in memory alone.
    fn reader(&self, instance: &Instance) -> Result<Option<Connection>, SqlError> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = open_expected(instance, &self.record, |access| {
            Connection::open_with_flags(access.uri(path).as_str(), flags)
        })?;
        connection.busy_timeout(BUSY_WAIT).map_err(|error| tsql_error(&error))?;
        Ok(Some(connection))
    }
}

impl SharedDatabase {
    /// DELAYED_DURABILITY.
    pub fn durability(&self) -> DelayedDurability {
        let kept = self.durability.lock().unwrap_or_else(PoisonError::into_inner);
        kept.unwrap_or_default()
    }

    /// It is READ_ONLY, or no longer.
    pub fn set_read_only(&self, is_read_only: bool) {
        self.is_read_only.store(is_read_only, Ordering::Release);
    }

    /// Refuses a change of a database that is READ_ONLY.
    ///
    /// # Errors
    /// 3906.
    pub fn check_writable(&self) -> Result<(), SqlError> {
        if !self.is_read_only.load(Ordering::Acquire) {
            return Ok(());
        }
        let name = &self.record.name;
        let text = format!("Failed to update database \"{name}\" because the database is read-only.");
        Err(SqlError::new(3906, selenite_compiler::Ends::Statement, text))
    }

    /// It was set.
    pub fn set_durability(&self, durability: DelayedDurability) {
        *self.durability.lock().unwrap_or_else(PoisonError::into_inner) = Some(durability);
    }

    fn load_durability(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut kept = self.durability.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none() {
            *kept = Some(DelayedDurability::load(connection)?);
        }
        Ok(())
    }
}

/// Opens a database to look into what is the server's own in it, beside all sessions.
///
/// # Errors
/// As [`open_expected`].
pub fn look_at(instance: &Instance, record: &DatabaseRecord, path: &Path) -> Result<Connection, SqlError> {
    open_expected(instance, record, |access| look_by(path, access))
}

/// Like [`look_at`], for a file that is not in master.db.
///
/// # Errors
/// What SQLite and the VFS say.
pub fn look_by(path: &Path, access: &Access) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(access.uri(path).as_str(), flags)?;
    connection.busy_timeout(OPENING_WAIT)?;
    Ok(connection)
}

/// What a reason to stop ends.
fn cancelled(interrupt: Interrupt) -> Cancelled {
    match interrupt {
        Interrupt::Attention | Interrupt::TimedOut => Cancelled::Request,
        Interrupt::Killed | Interrupt::Stopping | Interrupt::Gone => Cancelled::Session,
    }
}

impl DatabaseConnection {
    /// Connects. The connection's statements stop when `interrupts` says so.
    ///
    /// # Errors
    /// As [`open_expected`].
    pub fn connect(shared: Arc<SharedDatabase>, instance: &Instance, interrupts: Interrupts) -> Result<Self, SqlError> {
        let cancellation = Cancellation::new(move || interrupts.poll().map(cancelled));
        let connect = |access: &Access| -> rusqlite::Result<(Connection, FunctionContext, bool)> {
            let polled = cancellation.clone();
            let flags =
                OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let mut connection = match &shared.path {
                Some(path) => Connection::open_with_flags(access.uri(path).as_str(), flags)?,
                None => Connection::open_in_memory()?,
            };
            connection.busy_timeout(OPENING_WAIT)?;
            // A column that is not there is an error, not a text of its name (sqlite.org/quirks.html#dblquote).
            for quirk in [DbConfig::SQLITE_DBCONFIG_DQS_DML, DbConfig::SQLITE_DBCONFIG_DQS_DDL] {
                connection.set_db_config(quirk, false)?;
            }
            connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
            let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
            // What syncs at each commit has no log that others could sync for it.
            let is_synced_later = mode.eq_ignore_ascii_case("wal");
            let synchronous = match (shared.record.id, is_synced_later) {
                (TEMPDB, _) => "OFF",
                (_, true) => "NORMAL",
                (_, false) => "FULL",
            };
            connection.execute_batch(&format!(
                // Pages of temporary tables that were dropped go back to the session's memory.
                "PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = ON; PRAGMA temp_store = memory; \
                 PRAGMA temp.auto_vacuum = FULL"
            ))?;
            if shared.record.id == TEMPDB {
                limit_size(&connection, memory::total(&instance.config().limits))?;
            }
            shared.load_durability(&connection)?;
            connection.busy_timeout(BUSY_WAIT)?;
            let functions = FunctionContext::default();
            sqlite::register(&connection, &functions)?;
            polled.attend(&mut connection, STEPS)?;
            Ok((connection, functions, is_synced_later))
        };
        let (connection, functions, is_synced_later) = open_expected(instance, &shared.record, connect)?;
        if shared.path.is_some() {
            check_suite(instance, &shared.record, &connection)?;
        }
        Ok(Self {
            shared,
            connection,
            functions,
            cancellation,
            is_synced_later,
            own: RefCell::default(),
            changes: Cell::new(0),
            temporary: RefCell::default(),
            identity_journal: IdentityJournal::default(),
        })
    }

    /// What definitions are now.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn version(&self) -> Result<Version, SqlError> {
        let epoch = self.shared.epoch.load(Ordering::Acquire);
        let sqlite = self.schema_version("main")?;
        let own = self.changes.get();
        Ok(Version { epoch, sqlite, own })
    }

    /// `PRAGMA schema_version` of the database, or of one that is attached under that name.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn schema_version(&self, schema: &str) -> Result<i64, SqlError> {
        let asked = self
            .connection
            .prepare_cached(&format!("PRAGMA {schema}.schema_version"));
        let version = asked.and_then(|mut asked| asked.query_row([], |row| row.get(0)));
        version.map_err(|error| tsql_error(&error))
    }

    /// The objects of the database, as this session sees them, and the version that they have: both of one snapshot.
    ///
    /// # Errors
    /// What SQLite says; a catalog that is none of ours.
    pub fn definitions(&self) -> Result<(Version, Arc<Schema>), SqlError> {
        let version = self.version()?;
        if let Some(schema) = self.known_schema(version) {
            return Ok((version, schema));
        }
        self.in_snapshot(|| {
            let version = self.version()?;
            if let Some(schema) = self.known_schema(version) {
                return Ok((version, schema));
            }
            let schema = Arc::new(Schema::load(&self.connection, "main", &self.shared.record.name)?);
            *self.own.borrow_mut() = Some((version, schema.clone()));
            if version.own == 0 {
                *self.kept() = Some((version, schema.clone()));
            }
            Ok((version, schema))
        })
    }

    /// The schema of that version, if this session or another one has read it.
    fn known_schema(&self, version: Version) -> Option<Arc<Schema>> {
        if let Some((known, schema)) = &*self.own.borrow()
            && *known == version
        {
            return Some(schema.clone());
        }
        if version.own == 0
            && let Some((known, schema)) = &*self.kept()
            && *known == version
        {
            *self.own.borrow_mut() = Some((version, schema.clone()));
            return Some(schema.clone());
        }
        None
    }

    /// Runs a statement that has no rows.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn execute(&self, sql: &str) -> Result<(), SqlError> {
        let done = self
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.raw_execute());
        done.map(drop).map_err(|error| tsql_error(&error))
    }

    /// Reads in one snapshot: that of the open transaction, or one of its own.
    ///
    /// # Errors
    /// Those of `body`; SQLite's error.
    pub fn in_snapshot<R>(&self, body: impl FnOnce() -> Result<R, SqlError>) -> Result<R, SqlError> {
        let is_alone = self.connection.is_autocommit();
        self.begin_snapshot()?;
        let done = body();
        if is_alone {
            let ended = self.end_snapshot();
            return done.and_then(|value| ended.map(|()| value));
        }
        done
    }

    /// Begins a transaction that reads, unless one is open.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn begin_snapshot(&self) -> Result<(), SqlError> {
        match self.connection.is_autocommit() {
            true => self.execute("BEGIN"),
            false => Ok(()),
        }
    }

    /// Ends it. In it, only temporary tables were written to.
    ///
    /// # Errors
    /// SQLite's error. The transaction has ended.
    pub fn end_snapshot(&self) -> Result<(), SqlError> {
        if self.connection.is_autocommit() {
            return Ok(());
        }
        self.undisturbed(|| {
            self.execute("COMMIT").inspect_err(|_| {
                // An error here means that SQLite itself has rolled back (sqlite.org/lang_transaction.html).
                let _ = self.execute("ROLLBACK");
            })
        })
    }

    /// The session's temporary tables here.
    pub fn temporary(&self) -> Arc<Schema> {
        self.temporary.borrow().clone()
    }

    /// Reads them again, behind a change of theirs.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn reload_temporary(&self) -> Result<(), SqlError> {
        let schema = Schema::load(&self.connection, "temp", "tempdb")?;
        *self.temporary.borrow_mut() = Arc::new(schema);
        Ok(())
    }

    /// Does something that an ATTENTION does not interrupt.
    pub fn undisturbed<R>(&self, body: impl FnOnce() -> R) -> R {
        self.cancellation.hold(body)
    }

    /// SQLite has made a commit: it is on the disk when [`DatabaseConnection::wait_for_disk`] says so.
    pub fn note_commit(&self) -> Option<CommitNo> {
        let log = self.shared.log.as_ref().filter(|_| self.is_synced_later);
        log.map(LogSync::note)
    }

    /// Returns when a commit is on the disk. Other sessions write meanwhile.
    ///
    /// # Errors
    /// 9001 if that can't be known any more.
    pub fn wait_for_disk(&self, commit: Option<CommitNo>) -> Result<(), SqlError> {
        match (&self.shared.log, commit) {
            (Some(log), Some(commit)) => {
                let _wait = own::begin_wait(WaitType::WriteLog);
                log.wait(commit).map_err(|lost| self.lost(lost))
            }
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// Refuses to write what no one could acknowledge.
    ///
    /// # Errors
    /// 9001.
    pub fn check_log(&self) -> Result<(), SqlError> {
        match &self.shared.log {
            Some(log) => log.check().map_err(|lost| self.lost(lost)),
            None => Ok(()),
        }
    }

    fn lost(&self, _: LogLost) -> SqlError {
        log_lost(&self.shared.record.name)
    }

    /// Definitions were changed in the open transaction.
    pub fn note_change(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    /// The transaction is over: what it changed counts for all, or never was.
    pub fn settle(&self, is_committed: bool) {
        if self.changes.replace(0) > 0 {
            *self.own.borrow_mut() = None;
            if is_committed {
                self.shared.epoch.fetch_add(1, Ordering::AcqRel);
            }
        }
        if is_committed {
            self.identity_journal.clear();
        } else {
            self.undo_numbers(0);
        }
        self.shared.identities.close_row_versions();
    }

    /// What definitions have done to the numbers of tables since `mark` is undone.
    pub fn undo_numbers(&self, mark: usize) {
        self.shared.identities.undo(&self.identity_journal, mark);
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Option<(Version, Arc<Schema>)>> {
        self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Global temporary tables of all sessions take no more of the disk than other temporary tables may take of memory: any
/// login may make them.
fn limit_size(connection: &Connection, bytes: u64) -> rusqlite::Result<()> {
    let page_size: u32 = connection.query_row("PRAGMA main.page_size", [], |row| row.get(0))?;
    let count = bytes / u64::from(page_size.max(1));
    connection.execute_batch(&format!(
        "PRAGMA main.max_page_count = {}",
        count.clamp(1, u32::MAX.into())
    ))
}

/// Other processes hold SQLite's locks for a commit, or for a batch of re-encryption.
const OPENING_WAIT: Duration = Duration::from_secs(30);
/// How long SQLite itself waits for another process: a caller with more time asks it again, and looks for ATTENTION
/// between.
const BUSY_WAIT: Duration = Duration::from_millis(10);
/// The first epoch of the next database that is opened.
static NEXT_EPOCH: AtomicU64 = AtomicU64::new(1);
/// More than the definitions of a database are ever changed.
const EPOCHS: u64 = 1 << 40;
/// A session's texts, each some KiB.
const STATEMENTS_MAX: usize = 64;
/// The pages of each table and index; dbstat reads every page.
const PAGES: &str = "SELECT m.tbl_name, m.type = 'table', d.pageno FROM main.sqlite_schema AS m
                     JOIN dbstat AS d ON d.name = m.name AND d.schema = 'main' AND d.aggregate = TRUE
                     WHERE m.type IN ('table', 'index')";
/// Of SQLite's virtual machine: some 20 microseconds.
const STEPS: i32 = 2000;
