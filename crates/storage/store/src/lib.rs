//! Where backups are kept, by what it is called: a folder, or an object store.
//!
//! - write-once: what is written is new or was not written: every write says `If-None-Match: *`,
//!   and a store that does not keep to that is found before the first object goes there.
//! - lost-answer-is-open: a write whose answer was lost is no failure and no success until the
//!   object was read back.
//! - length-is-checked: no more is read than the caller takes, and nothing is taken for whole that
//!   is shorter than was promised.
//! - bounded-retries: every attempt is counted where it goes over the line. One that is made again
//!   has waited, and all of them together have a limit.
//! - no-secret-in-errors: no secret is printed: what an error says is the server's code and
//!   message, the system's words, or ours.
#![forbid(unsafe_code)]

mod answer;
mod bucket;
mod endpoint;
mod keys;
mod profile;
mod retry_policy;
mod settings;
mod spec;
mod wire;

use selenite_backup::{Destination, Folder, StoreError};

pub use retry_policy::RetryPolicy;
pub use settings::Settings;

use bucket::Bucket;
use spec::Spec;

/// Opens the place of that name with the settings of the process: `s3://BUCKET/PREFIX`, a path, or
/// a `file:` URL. Nothing goes over the line yet.
///
/// What is done with it later blocks, and so must not be done by a task of an asynchronous runtime.
///
/// # Errors
/// `Usage` for a name of another kind, and for settings that make no sense; `Denied` where a file of settings can't be read.
pub fn open(spec: &str) -> Result<Box<dyn Destination>, StoreError> {
    open_with(spec, &Settings::of_the_process())
}

/// The same with settings of the caller's.
///
/// # Errors
/// As those of [`open`].
pub fn open_with(spec: &str, settings: &Settings) -> Result<Box<dyn Destination>, StoreError> {
    Ok(match Spec::parse(spec)? {
        Spec::Folder(path) => Box::new(Folder::new(&path)),
        Spec::Bucket { bucket, prefix } => Box::new(Bucket::open(bucket, prefix, settings)?),
    })
}

/// Whether what is read there comes over a line, so that it is better kept than read again.
#[must_use]
pub fn is_far(spec: &str) -> bool {
    matches!(Spec::parse(spec), Ok(Spec::Bucket { .. }))
}
