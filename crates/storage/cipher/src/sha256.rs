//! SHA-256 without a key.
//!
//! From `sha2`, not from aws-lc-rs, which allocates for every hash: suite NONE hashes in
//! [`crate::PageKey::seal`], which does not allocate.

use sha2::{Digest, Sha256};

/// SHA-256 of `bytes`.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    sha256_of_parts(&[bytes])
}

/// SHA-256 of the concatenated parts.
pub(crate) fn sha256_of_parts(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::Hex;

    #[test]
    fn sha256_computes_the_example_of_fips_180_4() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Hex(&sha256(b"abc")).to_string(), expected);
        assert_eq!(Hex(&sha256_of_parts(&[b"a", b"", b"bc"])).to_string(), expected);
    }
}
