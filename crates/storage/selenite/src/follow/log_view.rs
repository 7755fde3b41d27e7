//! What a read transaction sees of the log and the keys.

use selenite_cipher::DatabaseId;
use selenite_format::PageSize;
use selenite_format::archive::LogEnd;
use selenite_keyring::Unlocked;
use selenite_vfs::snapshot::Snapshot;

use crate::backup::unix_time_ms;
use crate::{Database, EngineError};

/// What a read transaction sees.
#[derive(Clone)]
pub struct LogView {
    /// The end of the log.
    pub end: LogEnd,
    /// Whether it can read frames: not on mark 0.
    pub sees_log: bool,
    /// The page size of the database.
    pub page_size: PageSize,
    /// The number of pages of the database.
    pub page_count: u32,
    /// The id of the database.
    pub database_id: DatabaseId,
    /// Enforces `removed-keys-open-nothing-new`.
    pub keys: Keys,
    /// When it began, in milliseconds since 1970-01-01 UTC: it contains no later commit.
    pub made: u64,
}

/// What determines who can open a database: its master key and the slots.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    commitment: [u8; 32],
    /// By their ids; with their parameters, because an origin mark that was added is in new
    /// archives only.
    slots: Vec<([u8; 16], Vec<u8>)>,
}

impl Keys {
    /// The keys of a superblock.
    pub fn of(unlocked: &Unlocked) -> Self {
        let slots = unlocked.superblock.slots.iter();
        let mut slots: Vec<_> = slots.map(|slot| (slot.id.0, slot.parameters.clone())).collect();
        slots.sort_unstable();
        Self {
            commitment: unlocked.master.commitment(),
            slots,
        }
    }
}

/// Begins a read transaction, and returns what it sees.
///
/// # Errors
/// [`EngineError::Usage`] in rollback mode; errors of SQLite and the VFS. No transaction is open then.
pub fn begin(database: &Database) -> Result<LogView, EngineError> {
    let mut try_count = 0;
    loop {
        let seen = database.read(of);
        let Err(error) = seen else { return seen };
        database.end_any_read();
        try_count += 1;
        // The index may change while it is read.
        if try_count == TRY_COUNT || matches!(error, EngineError::Usage { .. }) {
            return Err(error);
        }
    }
}

/// What a snapshot sees.
pub fn of(snapshot: &mut Snapshot<'_>) -> Result<LogView, EngineError> {
    let made = unix_time_ms();
    let path = std::path::Path::new("");
    let unlocked = snapshot.unlocked().map_err(|error| EngineError::of_vfs(&error, path))?;
    let end = snapshot.end().ok_or_else(|| {
        EngineError::usage(
            "a database in rollback mode has no log to follow",
            "run PRAGMA journal_mode = WAL once, or use selenite backup",
        )
    })?;
    Ok(LogView {
        end,
        sees_log: snapshot.sees_log(),
        page_size: snapshot.page_size(),
        page_count: snapshot.page_count(),
        database_id: unlocked.superblock.database_id,
        keys: Keys::of(&unlocked),
        made,
    })
}

const TRY_COUNT: u32 = 5;
