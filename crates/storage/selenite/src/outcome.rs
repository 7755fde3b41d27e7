//! The result of an encryption or decryption.

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

/// The result of an encryption or decryption.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The new file.
    pub path: PathBuf,
    /// How many tables were copied and compared.
    pub table_count: usize,
    /// How many rows they have.
    pub row_count: u64,
    /// The new file's size in bytes.
    pub size: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// The key slots of the new file; empty for a decrypted one.
    pub slots: Vec<SlotSummary>,
    /// Files that an earlier run left behind and that were removed now.
    pub removed: Vec<PathBuf>,
    /// Files of an earlier run that were not removed, as another run may be using them.
    pub leftovers: Vec<PathBuf>,
    /// Why connections that have the old file open will not notice that it was replaced; `None` if
    /// they will.
    pub not_retired: Option<String>,
    /// Attributes of the old file, besides owner and mode, that could not be set on the new one: its
    /// access list, and extended attributes by name.
    pub not_kept: Vec<String>,
    /// For an encryption: the new database, every page of which was authenticated.
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
