//! What people do with an encrypted database as a whole: make it, encrypt, decrypt, change keys, verify, look at it.
//!
//! Every operation is a function of paths and an [`Access`], and opens and closes what it needs. SQLite is the one that
//! is linked in, with the VFS `selenite` in it.
//!
//! - no-key-in-text: no key is in SQL, in a URI, in an argument or in an error: an identity is
//!   named by its spec, and a change of keys goes to the VFS as a value (`selenite_vfs::change`).
//! - compare-before-replace: nothing is replaced before its replacement was compared, verified and
//!   synced; a kill at any moment leaves the whole old database or the whole new one.
//! - posix-locks-kept: a database file is opened without SQLite only while this process has it not
//!   open with SQLite, whose POSIX locks would be lost ([`raw_file`]); or by a descriptor that is
//!   opened after SQLite's and closed after it, where that has the exclusive lock ([`offline`],
//!   `comparison`) or keeps the file as it is ([`anchor`]). A process that serves databases does
//!   these things in a child.
//!
//! What a file's bytes mean is left to `selenite-format`, locks and sealing to `selenite-vfs`, slots to
//! `selenite-keyring`; how it is shown, to the command line.
#![forbid(unsafe_code)]

mod accept;
mod access;
mod age;
pub mod anchor;
pub mod backup;
pub mod backups;
mod comparison;
pub mod compromised;
mod content_digest;
mod conversion;
mod database;
mod decrypt;
mod draft;
pub mod drill;
mod encrypt;
mod epoch_count;
mod error;
mod exclusive_source;
mod extended;
mod file_uri;
pub mod folder;
pub mod follow;
pub mod key_export;
pub mod keys;
mod last_verify;
mod layout;
pub mod lock_holders;
mod lost_prefix;
pub mod offline;
mod outcome;
pub mod raw_file;
pub mod reencrypt;
pub mod restore;
mod row_digest;
pub mod salvage;
mod scratch;
mod sealed_draft;
mod shared_folder;
mod snapshot;
mod sqlite;
mod sqlite_error;
mod status;
pub mod storage;
mod superblock_file;
mod transfer;
mod tree_digest;
mod utc;
pub mod verify;
mod watch;
pub mod whole_file;

pub use accept::{Accepted, accept};
pub use access::{Access, Expected};
pub use age::{Age, DAY_SECONDS};
pub use database::{Cell, Database, Rows};
pub use decrypt::decrypt;
pub use draft::Draft;
pub use encrypt::{Encrypt, encrypt};
pub use epoch_count::{EpochCounts, count_epochs};
pub use error::{Class, EngineError};
pub use file_uri::FileUri;
pub use last_verify::{LastVerify, VerifyKind, VerifyNotes};
pub use layout::Layout;
pub use outcome::{Authenticated, Outcome, Target};
pub use row_digest::row_digest;
pub use selenite_cipher::{DatabaseId, Suite};
pub use selenite_format::{AutoVacuum, PageSize, State};
pub use selenite_vfs::database::now;
pub use selenite_vfs::ffi::CountingAllocator;
pub use selenite_vfs::ffi::is_elevated;
pub use selenite_vfs::role::Role;
pub use selenite_vfs::thread_io::{ThreadIo, read as thread_io};
pub use selenite_vfs::thread_memory;
pub use selenite_vfs::thread_refusal::{Refusal, take as take_refusal};
pub use sqlite::{count_memory, install};
pub use status::{EpochSummary, FileSize, Sealed, Status, status};
pub use superblock_file::{Present, Superblocks, inspect};
pub use utc::{parse_utc, utc};
pub use watch::{Observer, Phase, Progress, Watch};
