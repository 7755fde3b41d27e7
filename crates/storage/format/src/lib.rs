//! Selenite: the bytes of superblock, key slot, page trailer, WAL frame, journal record, anchor and backup archive.
//!
//! `docs/FORMAT.md` is normative; this crate implements its bytes and nothing else.
//!
//! - no-panic: no input panics: the content of a file is parsed or refused.
//! - round-trip: [`Superblock::parse`] reads the output of [`Superblock::encode`] back to the same
//!   value.
//! - bytes-only: this crate decrypts nothing and checks no MAC. `selenite-cipher` does both,
//!   `selenite-keyring` interprets slots, and the VFS accesses files.
#![forbid(unsafe_code)]

pub mod anchor;
pub mod archive;
mod choice;
mod epoch_record;
mod error;
mod field;
mod geometry;
pub mod journal;
pub mod operation_report;
pub mod page_run;
mod page_size;
mod page_source;
mod slot;
mod state;
mod superblock;
mod synthetic_header;
pub mod trace;
pub mod trailer;
pub mod wal;

pub use choice::{Chosen, choose, keeps_dropped};
pub use epoch_record::EpochRecord;
pub use error::FormatError;
pub use geometry::{FileOffset, Geometry, PREFIX_SIZE};
pub use page_size::PageSize;
pub use page_source::{PageSource, SourceError};
pub use slot::{
    ORIGIN_MARK_SIZE, SLOT_IDENTIFIER_SIZE_MAX, SLOT_LABEL_SIZE_MAX, SLOT_PARAMETERS_SIZE_MAX, SLOT_WRAPPED_SIZE_MAX,
    Slot, SlotKind,
};
pub use state::State;
pub use superblock::{
    EPOCH_COUNT_MAX, FORMAT_VERSION, RESERVE, SLOT_COUNT_MAX, SUPERBLOCK_A, SUPERBLOCK_B, SUPERBLOCK_SIZE_MAX,
    Superblock, Whole, inspect, stated_size,
};
pub use synthetic_header::{AutoVacuum, SQLITE_HEADER_SIZE, synthetic_header};

#[cfg(test)]
mod document;
