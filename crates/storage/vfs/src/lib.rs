//! Selenite: the SQLite VFS that encrypts databases.
//!
//! `ffi/` converts SQLite's C interface into values and traits; all code above it is safe, with one
//! file per file role: [`main_file`], [`wal_file`], [`journal_file`], [`nameless_file`]. A
//! [`database::Database`] is the state that the files of one connection share: keys, locks, the two
//! superblocks. [`selenite`] is the entry point.
#![deny(unsafe_code)]

pub mod anchor_place;
mod atomics;
pub mod change;
mod cipher_costs;
mod clear_file;
mod close_lock;
mod collations;
pub mod commit_counts;
pub mod counters;
pub mod database;
pub mod database_meter;
mod device;
mod environment;
pub mod error;
pub mod ffi;
pub mod file_counts;
pub mod file_meter;
pub mod file_meters;
mod forecast;
mod frame_passthrough;
mod functions;
pub mod generation_mark;
pub mod hand_over;
mod host;
mod index_header;
pub mod injected_bugs;
pub mod journal_file;
pub mod last_errors;
mod locked_memory;
pub mod log_counters;
pub mod main_file;
pub mod meter_history;
mod metrics;
mod moving_journal;
pub mod nameless_file;
mod open_databases;
pub mod operation_file;
pub mod own_descriptors;
mod owned_counts;
mod page_buffer;
pub mod pool;
pub mod role;
mod sealer;
pub mod selenite;
pub mod session;
mod settings;
pub mod snapshot;
mod staged;
mod superblock_pair;
mod sync_clock;
pub mod thread_io;
pub mod thread_memory;
pub mod thread_refusal;
pub mod trace_recorder;
mod uri_parameters;
pub mod view;
pub mod wal_file;

pub use clear_file::ClearFile;
pub use file_counts::{DatabaseFileCounts, FileCounts};
pub use selenite::{file_counts, forget_file_counts, note_sync, temporary_file_counts};
pub use settings::parse_pool_size;

/// The components that [`ffi::install_linked`] installs for programs that carry out operations on
/// databases.
#[must_use]
pub fn installer() -> ffi::Installer {
    ffi::Installer {
        own_functions: functions::ENGINE_FUNCTIONS,
        ..extension_installer()
    }
}

/// The components that the extension's entry point installs: SQL in such a process may not be
/// trusted.
#[must_use]
pub fn extension_installer() -> ffi::Installer {
    ffi::Installer {
        install: selenite::install,
        functions: functions::FUNCTIONS,
        own_functions: &[],
        tables: functions::TABLES,
        collations: collations::COLLATIONS,
    }
}
