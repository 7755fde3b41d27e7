//! One page to one sealed page, and back (FORMAT 5).
//!
//! The caller says under which keys and rules a file stands ([`PageKeys`], one generation of its
//! superblock), and seals and opens with a [`PageCipher`], one per open file.
//!
//! - seal-current-open-listed: a page is sealed under the sealing epoch only. It is opened under
//!   any epoch available that the rules allow for it (FORMAT 5.4).
//! - zeros-on-failure: a page that does not open is given back as zeros.
//! - no-allocation: once its session's key is derived, sealing and opening do not allocate.
//!
//! Nonces are drawn by the caller, who promises that no pair of session and counter comes twice.
//! Where a page lies, and what its bytes mean to SQLite, is for `selenite-format` and the VFS.
#![forbid(unsafe_code)]

mod key_cache;
mod page_cipher;
mod page_error;
mod page_keys;
mod scan;
mod source;

pub use page_cipher::PageCipher;
pub use page_error::PageError;
pub use page_keys::{PAGE_SIZE_MAX, PAGE_SIZE_MIN, PageKeys, PageKeysParts};
pub use scan::Scan;
pub use source::{PageSource, SourceError};
