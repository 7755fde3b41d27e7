//! Backs up a database's pages to archives at a destination, and restores them (FORMAT 12).
//!
//! - write-once: each object is written once and atomically: a destination refuses a second object
//!   of the same name ([`Destination::put_new`]). An archive without a manifest is not a backup.
//! - nothing-unsealed: only sealed content leaves this crate: a destination sees sizes, names and
//!   times, and the wrapped keys of archives.
//! - answers-are-not-trusted: all responses of a destination are authenticated before use, or
//!   refused.
#![forbid(unsafe_code)]

pub mod archive;
mod base;
mod cached;
mod catalog;
mod chain;
mod copy;
mod destination;
mod error;
mod folder;
mod folder_presence;
mod inspection;
mod key_source;
mod log_reader;
mod log_writer;
mod marks;
mod names;
mod opened;
mod pages;
mod platform;
mod progress_observer;
mod removal;
pub mod retention;
#[cfg(feature = "s3")]
pub mod s3;
mod spec;
mod unfinished;
mod writer;

pub use archive::{CompressionLevel, LOG_OBJECT_SIZE_MAX, PART_SIZE_MAX};
pub use base::{Base, BaseCandidate, next_bases};
pub use cached::Cached;
pub use catalog::{Catalog, Entry};
pub use chain::Chain;
pub use copy::{Copied, Copy};
pub use destination::{AppendPrecondition, Destination, Object, StoreError, StoreErrorKind, Traffic};
pub use error::BackupError;
pub use folder::Folder;
pub use inspection::{ArchiveFault, Coverage, Inspection, fault_of};
pub use key_source::{KeySource, OpenedBy};
pub use log_reader::{LogChain, LogObject, LogPlan};
pub use log_writer::{LogTurn, LogWriter};
pub use marks::Marks;
pub use names::{AHEAD_SECONDS, ArchiveName, Part, archive_key_prefix, database_prefix, object_key, parse_database_id};
pub use opened::{BEGUN_SIZE_MAX, Backup, OpenArchive, PartIndex};
pub use pages::Pages;
pub use progress_observer::{NoObserver, ProgressObserver};
pub use removal::remove_archive;
pub use selenite_cipher::DatabaseId;
pub use selenite_format::{PageSource, SourceError};
#[cfg(feature = "s3")]
pub use spec::open_with;
pub use spec::{is_far, open};
pub use unfinished::{QUIET_SECONDS, begin_newest, is_for, resume_or_begin, resume_own};
pub use writer::ArchiveWriter;
