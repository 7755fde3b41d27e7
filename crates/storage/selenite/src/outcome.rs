//! What an encryption or decryption came to.

use std::path::PathBuf;
use std::time::Duration;

use selenite_cipher::DatabaseId;
use selenite_keyring::SlotSummary;

/// Where the result goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// In the place of the database.
    InPlace,
    /// To a new file.
    New(PathBuf),
}

/// What was done.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The file that is new.
    pub path: PathBuf,
    /// How many tables were copied and compared.
    pub table_count: usize,
    /// How many rows they have.
    pub row_count: u64,
    /// The new file's size in bytes.
    pub size: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// Who can open it; no one needs a key for a decrypted one.
    pub slots: Vec<SlotSummary>,
    /// What an earlier run left behind, and is now removed.
    pub removed: Vec<PathBuf>,
    /// What an earlier run left behind and is still there: another run may be using it.
    pub leftovers: Vec<PathBuf>,
    /// Why who had the old file open will not be told that it was replaced; mostly they will.
    pub not_retired: Option<String>,
    /// What the old file had besides owner and mode, and the new one could not be given: its access
    /// list, and attributes by name.
    pub not_kept: Vec<String>,
    /// Of an encryption: the new database, every page of which was authenticated.
    pub authenticated: Option<Authenticated>,
}

/// A new encrypted database, every page of which was authenticated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Authenticated {
    /// Its id.
    pub database_id: DatabaseId,
    /// How many pages it has.
    pub page_count: u32,
    /// The generation of its superblock.
    pub generation: u64,
}
