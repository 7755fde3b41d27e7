//! What a read transaction sees of the log and the keys.

use selenite_cipher::DatabaseId;
use selenite_format::PageSize;
use selenite_format::archive::LogEnd;
use selenite_keyring::Unlocked;
use selenite_vfs::snapshot::Snapshot;

use crate::backup::machine_time;
use crate::{Database, EngineError};

/// What it sees.
#[derive(Clone)]
pub struct Look {
    /// Where it ends.
    pub end: LogEnd,
    /// Whether frames can be read: not on mark 0.
    pub sees_log: bool,
    /// Of the database.
    pub page_size: PageSize,
    /// Of the database.
    pub page_count: u32,
    /// Which database.
    pub database_id: DatabaseId,
    /// Enforces `removed-keys-open-nothing-new`.
    pub keys: Keys,
    /// When it began, in milliseconds since 1970-01-01 UTC: nothing that was committed later is in it.
    pub made: u64,
}

/// Who can open a database: its master key and the slots.
#[derive(Clone, PartialEq, Eq)]
pub struct Keys {
    commitment: [u8; 32],
    /// By their ids; with their parameters, since an origin mark that was added is in new archives only.
    slots: Vec<([u8; 16], Vec<u8>)>,
}

impl Keys {
    /// Of a superblock.
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

/// Begins a read transaction, and says what it sees.
///
/// # Errors
/// [`EngineError::Usage`] in rollback mode; what SQLite and the VFS say. No transaction is under way then.
pub fn look(database: &Database) -> Result<Look, EngineError> {
    let mut try_count = 0;
    loop {
        let looked = database.read(of);
        let Err(error) = looked else { return looked };
        database.end_any_read();
        try_count += 1;
        // The index may be under way from one state to the next while it is read.
        if try_count == TRY_COUNT || matches!(error, EngineError::Usage { .. }) {
            return Err(error);
        }
    }
}

/// What a snapshot sees.
pub fn of(snapshot: &mut Snapshot<'_>) -> Result<Look, EngineError> {
    let made = machine_time();
    let path = std::path::Path::new("");
    let unlocked = snapshot.unlocked().map_err(|error| EngineError::of_vfs(&error, path))?;
    let end = snapshot.end().ok_or_else(|| {
        EngineError::usage(
            "a database in rollback mode has no log to follow",
            "run PRAGMA journal_mode = WAL once, or use selenite backup",
        )
    })?;
    Ok(Look {
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
