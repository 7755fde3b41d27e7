//! The page codecs of other products that encrypt SQLite databases: SQLCipher, and the ciphers of
//! SQLite3 Multiple Ciphers (wxSQLite3, sqleet, System.Data.SQLite).
//!
//! A [`Format`] says how a database is encrypted, a [`Key`] with what; [`Codec::derive`] makes a
//! [`Codec`] of both, which decrypts and encrypts pages in place. [`find`] tries formats in their
//! documented order until one opens the first page.
//!
//! The products' own documents and files are the source: <https://www.zetetic.net/sqlcipher/design/>
//! and <https://utelle.github.io/SQLite3MultipleCiphers/>. Their tests are in `selenite`, against
//! databases that the products made.
//!
//! - *first-page-decides*: a key and format are right if the decrypted first page has the header of
//!   a SQLite database with the page size and the reserved bytes of that format. Where the format
//!   authenticates pages, the first page must be authentic besides.
//! - *no-plaintext-on-failure*: a page that is not authentic becomes zeros.
//! - *zero-page-is-not-authentic*: a page of zeros is one that the disk has lost, or that was never
//!   written, which SQLite does not read. SQLCipher takes it for one of zeros.
//!
//! This crate has no file, clock or source of randomness.
#![forbid(unsafe_code)]

mod aegis_pages;
mod ascon_pages;
mod blocks;
mod chacha20_pages;
mod codec;
mod find;
mod format;
mod header;
mod key;
mod rc4_pages;
mod sqlcipher;
mod wx_aes;

pub use aegis_pages::AegisVariant;
pub use blocks::Hash;
pub use codec::Codec;
pub use find::{Found, find};
pub use format::{Format, FormatError, SqlCipherFormat};
pub use header::{HEADER_SIZE, MAGIC};
pub use key::{Key, KeyFormatError, SALT_SIZE};
