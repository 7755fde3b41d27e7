//! SHA-256 without a key.
//!
//! From `sha2`, not from aws-lc-rs: the latter allocates for every hash, and suite NONE hashes in
//! [`crate::PageKey::seal`], which does not allocate.

use sha2::{Digest, Sha256};

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha256_of_parts(&[bytes])
}

/// SHA-256 of the parts, one behind the other.
pub(crate) fn sha256_of_parts(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}
