//! Secrets, suites, key derivation, and the encryption of pages, key slots and log blocks.
//!
//! This crate transforms keys and bytes into other bytes and does nothing else: it has no file,
//! clock or source of randomness. The caller draws nonces, salts and new keys, and guarantees that
//! no pair of session and counter is used twice.
//!
//! The caller defines the keys and rules of a file ([`PageKeys`], of one generation of its
//! superblock), and encrypts and decrypts its pages with a [`PageCipher`], one per open file
//! (FORMAT 5).
//!
//! - *no-plaintext-on-failure*: a failed decryption leaves no byte of plaintext behind; a page
//!   becomes zeros.
//! - *one-error*: the reason for a failed decryption is never reported; there is one error,
//!   [`Unauthentic`].
//! - *one-epoch-written*: a page is encrypted under the current epoch only, and decrypted under any
//!   listed epoch that the rules permit for it (FORMAT 5.4).
//! - *no-allocation*: [`PageKey::seal`] and [`PageKey::open`] do not allocate, nor does
//!   [`PageCipher`] once the page key of a session is derived.
//! - *zeroed-keys*: key bytes are zeroed when their owner is dropped. (This does not cover
//!   registers and stack of the libraries below: AEGIS leaves a copy of its key on the stack until
//!   the next call overwrites it.)
//!
//! With the feature `fips`, AWS-LC's FIPS module does all this, and nothing else is done (docs/FIPS.md).
//!
//! `selenite-format` defines the content of a superblock and the location of pages,
//! `selenite-keyring` the source of keys, the VFS the meaning of a page for SQLite.
#![forbid(unsafe_code)]

mod anchor_key;
mod archive_key;
mod block_cipher;
mod data_key;
mod database_id;
mod epoch;
mod fips;
mod hex;
mod key_cache;
mod log_key;
mod master_key;
mod origin_key;
mod page_cipher;
mod page_error;
mod page_key;
mod page_keys;
mod page_no;
mod page_nonce;
mod passphrase_cost;
mod pseudorandom_key;
mod scan;
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
pub use block_cipher::BlockCipher;
pub use data_key::DataKey;
pub use database_id::DatabaseId;
pub use epoch::Epoch;
pub use fips::{FIPS_PASSPHRASE_SIZE_MIN, IS_FIPS, NotInFipsMode, fips_module};
pub use log_key::LogKey;
pub use master_key::MasterKey;
pub use origin_key::OriginKey;
pub use page_cipher::PageCipher;
pub use page_error::PageError;
pub use page_key::{PageKey, prefer_aws_lc};
pub use page_keys::{PAGE_SIZE_MAX, PAGE_SIZE_MIN, PageKeys, PageKeysParts};
pub use page_no::PageNo;
pub use page_nonce::PageNonce;
pub use passphrase_cost::{CostRefused, PassphraseCost, Pbkdf2Cost};
pub use scan::Scan;
pub use secret::Secret;
pub use session_id::SessionId;
pub use sha256::{Sha256, sha256};
pub use slot_id::SlotId;
pub use slot_key::SlotKey;
pub use suite::Suite;
pub use trailer::{TRAILER_SIZE, Trailer};
pub use unauthentic::Unauthentic;
