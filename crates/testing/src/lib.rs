//! The test bench: a disk in memory, below Selenite, that can simulate crashes and faults and records all operations.
//!
//! [`Disk`] is the disk and [`sim`] the SQLite VFS on it. [`recorder`] searches the bytes that
//! reached the disk, [`Replay`] reconstructs from its log the disk after a crash, and [`runner`]
//! checks a database on every such disk.
//!
//! - disk-by-thread: the thread determines the disk of a file: [`Disk::enter`]. Paths do not
//!   identify it, so that a crash image has the paths of the disk that crashed (a journal contains
//!   the absolute path of its super-journal).
//! - sector-atomicity: a sector of 512 bytes is written completely or not at all, except by the
//!   last write, which may be torn anywhere; a write damages no bytes beside it
//!   (sqlite.org/psow.html). The order of writes between two syncs is unspecified.
//!
//! This crate is used as a dev-dependency only.
#![forbid(unsafe_code)]

pub mod call;
pub mod content;
pub mod crash_point;
pub mod disk;
pub mod external_file;
pub mod fault;
pub mod hand_made;
pub mod image;
pub mod interleaved_task;
pub mod key_file;
pub mod ledger;
mod lock_table;
pub mod opening;
pub mod operation;
pub mod own_process;
pub mod random;
pub mod recorder;
pub mod replay;
pub mod runner;
mod shm_table;
pub mod sim;
mod sim_file;
pub mod spy;

pub use call::{Call, CallRecord};
pub use content::Content;
pub use crash_point::{CrashPoint, Damage, Tear};
pub use disk::{Disk, DiskGuard};
pub use external_file::ExternalFile;
pub use fault::Fault;
pub use hand_made::{HandMade, forged_manifest};
pub use image::Image;
pub use interleaved_task::InterleavedTask;
pub use key_file::KeyFile;
pub use ledger::Ledger;
pub use opening::Opening;
pub use operation::{Inode, Operation};
pub use random::Random;
pub use replay::{Namespace, Replay};
pub use runner::{Run, Scenario, Summary, run};
