//! Object stores as destinations of backups.
//!
//! - write-once: what is written is new or was not written: every write says `If-None-Match: *`, and a store that
//!   does not keep to that is found before the first object goes there.
//! - lost-answer-is-open: a write whose answer was lost is no failure and no success until the object was read back.
//! - bounded-read: no more is read than the caller takes, and nothing is taken for whole that is shorter than was
//!   promised.
//! - attempts-counted: every attempt is counted where it goes over the line. One that is made again has waited, and
//!   all of them together have a limit.
//! - no-secret-in-errors: no secret is printed: what an error says is the server's code and message, the system's
//!   words, or ours.

mod answer;
mod bucket;
mod endpoint;
mod keys;
mod profile;
mod retry_policy;
mod settings;
mod wire;

pub use retry_policy::RetryPolicy;
pub use settings::Settings;

use bucket::Bucket;

use crate::destination::{Destination, StoreError};

/// Opens a prefix of a bucket. Nothing goes over the line yet.
pub(crate) fn open(bucket: String, prefix: String, settings: &Settings) -> Result<Box<dyn Destination>, StoreError> {
    Ok(Box::new(Bucket::open(bucket, prefix, settings)?))
}
