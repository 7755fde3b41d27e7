#![doc = include_str!("../README.md")]
//!
//! ## Where to start
//!
//! [`EncryptedFile`] has the operations. [`Access`] specifies how a database is opened.
//! [`EngineError`] describes what went wrong and what to do next. All other items are their
//! parameters and results. Items that this documentation does not show are for the other crates of
//! the project and may change.
#![forbid(unsafe_code)]

// Invariants of the operations:
//
// no-key-in-sight: no key appears in SQL, in a URI, in an argument or in an error. An identity is
// named by its spec; a change of keys is passed to the VFS as a value (`selenite_vfs::change`).
//
// whole-old-or-new: a file is replaced only after its replacement was compared, verified and
// synced. A kill at any moment leaves either the whole old database or the whole new one.
//
// locks-kept: a database file is opened without SQLite only while this process does not have it
// open with SQLite, because closing the descriptor would release SQLite's POSIX locks (`raw_file`).
// The exception is a descriptor that is opened after SQLite's and closed after it, while SQLite has
// the exclusive lock (`offline`, `comparison`) or keeps the file unchanged (`anchor`). A process
// that serves databases runs these operations in a child process.

mod accept;
mod access;
mod age;
#[doc(hidden)]
pub mod anchor;
#[doc(hidden)]
pub mod backup;
#[doc(hidden)]
pub mod backups;
mod bad_page;
mod codec_source;
mod codec_vfs;
mod comparison;
#[doc(hidden)]
pub mod compromised;
mod content_digest;
mod conversion;
mod database;
mod decrypt;
mod draft;
#[doc(hidden)]
pub mod drill;
mod encrypt;
mod encrypted_file;
mod epoch_count;
mod error;
mod exclusive_source;
#[doc(hidden)]
pub mod export;
mod file_uri;
#[doc(hidden)]
pub mod folder;
#[doc(hidden)]
pub mod follow;
#[doc(hidden)]
pub mod import;
#[doc(hidden)]
pub mod key_export;
#[doc(hidden)]
pub mod keys;
mod last_verify;
mod layout;
#[doc(hidden)]
pub mod lock_holders;
mod lost_prefix;
#[doc(hidden)]
pub mod offline;
mod online_conversion;
mod outcome;
mod platform;
#[doc(hidden)]
pub mod raw_file;
#[doc(hidden)]
pub mod reencrypt;
#[doc(hidden)]
pub mod restore;
mod row_digest;
#[doc(hidden)]
pub mod salvage;
mod scratch;
mod sealed;
mod sealed_draft;
mod snapshot;
mod sqlite;
mod sqlite_error;
mod status;
#[doc(hidden)]
pub mod storage;
mod superblock_file;
#[doc(hidden)]
pub mod trace;
mod transfer;
mod tree_digest;
mod utc;
#[doc(hidden)]
pub mod verify;
mod watch;
#[doc(hidden)]
pub mod whole_file;

pub use access::{Access, Expected};
pub use anchor::{Comparison, Verdict, Written};
pub use backup::{Backup as BackupOptions, CompressionLevel, Report as BackupReport};
pub use bad_page::{BadPage, Origin as BadPageOrigin, Owner};
pub use encrypt::Encrypt;
pub use encrypted_file::{EncryptedFile, create_identity};
pub use error::{Class, EngineError};
pub use file_uri::FileUri;
pub use layout::Layout;
pub use outcome::{Outcome, Target};
pub use restore::{Replaced, Restore, Restored, Unreachable, Which};
pub use rusqlite;
pub use sealed::{EpochSummary, Sealed};
#[doc(inline)]
pub use selenite_backup::{ArchiveName, BackupError, StoreError, StoreErrorKind, Traffic};
#[doc(inline)]
pub use selenite_cipher::{DatabaseId, IS_FIPS, SlotId, Suite, fips_module};
#[doc(inline)]
pub use selenite_format::{AutoVacuum, PageSize, SlotKind, SourceError, State};
#[doc(inline)]
pub use selenite_keyring::{AgeRecipient, KeyError, Origin, OriginPolicy, SlotSummary, Spec};
#[doc(inline)]
pub use selenite_vfs::anchor_place::AnchorPlace;
pub use selenite_vfs::{DatabaseFileCounts, FileCounts, file_counts, parse_pool_size, temporary_file_counts};
pub use sqlite::install;
pub use status::{FileSize, Status};
pub use superblock_file::Superblocks;
pub use verify::{JournalReport, PhysicalReport, Report as VerifyReport, WalReport};
pub use watch::{Observer, Phase, Progress, Watch};

// For the server, the lab and the command.
#[doc(hidden)]
pub use {
    accept::{Accepted, accept},
    age::{Age, DAY_SECONDS},
    database::{Cell, Database, Rows},
    decrypt::decrypt,
    draft::Draft,
    encrypt::encrypt,
    encrypted_file::open_destination,
    epoch_count::{EpochCounts, count_epochs},
    last_verify::{LastVerify, VerifyKind, VerifyNotes},
    online_conversion::{Online, OnlineLimits, OnlineOutcome, decrypt_online, encrypt_online},
    outcome::Authenticated,
    row_digest::row_digest,
    selenite_vfs::database::now,
    selenite_vfs::ffi::CountingAllocator,
    selenite_vfs::ffi::is_elevated,
    selenite_vfs::ffi::keep_freed_memory,
    selenite_vfs::role::Role,
    selenite_vfs::thread_io::{ThreadIo, read as thread_io},
    selenite_vfs::thread_memory,
    selenite_vfs::thread_refusal::{Refusal, take as take_refusal},
    selenite_vfs::trace_recorder::{FILE_VARIABLE, LIMIT_VARIABLE, RECIPIENT_VARIABLE, TracedConnection},
    selenite_vfs::{forget_file_counts, note_sync},
    sqlite::count_memory,
    status::status,
    superblock_file::{FileContent, inspect},
    utc::{parse_utc, utc},
};
