//! Object stores as destinations of backups.
//!
//! - write-once: an object is created, never replaced: every write has `If-None-Match: *`, and a
//!   store that does not respect it is detected before the first object is written.
//! - lost-answer-is-open: a write whose response was lost is neither a failure nor a success until
//!   the object was read back.
//! - bounded-read: at most as many bytes are read as the caller allows, and a response that is
//!   shorter than promised is an error.
//! - attempts-counted: every attempt is counted where it is sent. There is a pause before each
//!   retry, and a limit for all attempts of a call.
//! - no-secret-in-errors: an error contains the server's code and message, the system's message, or
//!   ours, and never a secret.

mod answer;
mod aws_service;
mod bucket;
mod endpoint;
mod keys;
mod profile;
mod retry_policy;
mod settings;
mod wire;

pub use aws_service::AwsService;
pub use retry_policy::RetryPolicy;
pub use settings::Settings;

use bucket::Bucket;

use crate::destination::{Destination, StoreError};

/// Opens a prefix of a bucket. No request is sent yet.
pub(crate) fn open(bucket: String, prefix: String, settings: &Settings) -> Result<Box<dyn Destination>, StoreError> {
    Ok(Box::new(Bucket::open(bucket, prefix, settings)?))
}
