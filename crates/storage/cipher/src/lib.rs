//! Secrets, suites, key derivation, and the sealing of pages, slots and log blocks.
//!
//! This crate turns keys and bytes into other bytes and nothing else: it has no file, clock or
//! source of randomness. Nonces, salts and new keys are drawn by the caller.
//!
//! - no-plaintext-on-failure: nothing that fails to open leaves a byte of plaintext behind.
//! - one-error: why something did not open is never told: there is one error, [`Unauthentic`].
//! - no-allocation: [`PageKey::seal`] and [`PageKey::open`] do not allocate.
//! - keys-zeroed: key bytes are zeroed when their owner is dropped. (The registers and the stack of
//!   the libraries below are theirs: AEGIS leaves a copy of its key on the stack until the next
//!   call overwrites it.)
//!
//! Which page may be in which suite is for `selenite-page`; what a superblock holds is for
//! `selenite-format`; where a key comes from is for `selenite-keyring`.
#![forbid(unsafe_code)]

mod anchor_key;
mod archive_key;
mod data_key;
mod database_id;
mod epoch;
mod hex;
mod log_key;
mod master_key;
mod origin_key;
mod page_key;
mod page_no;
mod page_nonce;
mod passphrase_cost;
mod pseudorandom_key;
mod secret;
mod session_id;
mod sha256;
mod slot_id;
mod slot_key;
mod suite;
mod trailer;
mod unauthentic;
mod wrapping_key;
#[cfg(test)]
mod wycheproof;
mod xts_key;

pub use anchor_key::AnchorKey;
pub use archive_key::{ArchiveId, ArchiveKey, PIECE_TAG_SIZE, PartKey, PartKind, macs_are_equal};
pub use data_key::DataKey;
pub use database_id::DatabaseId;
pub use epoch::Epoch;
pub use log_key::LogKey;
pub use master_key::MasterKey;
pub use origin_key::OriginKey;
pub use page_key::{PageKey, prefer_aws_lc};
pub use page_no::PageNo;
pub use page_nonce::PageNonce;
pub use passphrase_cost::{CostRefused, PassphraseCost};
pub use secret::Secret;
pub use session_id::SessionId;
pub use sha256::sha256;
pub use slot_id::SlotId;
pub use slot_key::SlotKey;
pub use suite::Suite;
pub use trailer::{TRAILER_SIZE, Trailer};
pub use unauthentic::Unauthentic;
