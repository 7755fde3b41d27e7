//! SHA-256 without a key.
//!
//! From `sha2`, not from aws-lc-rs, which allocates for every hash: suite NONE hashes in
//! [`crate::PageKey::seal`], which does not allocate. The FIPS build has no such suite.

#[cfg(feature = "fips")]
use aws_lc_rs::digest;
#[cfg(not(feature = "fips"))]
use sha2::Digest;

/// SHA-256 of bytes that come one after the other.
#[derive(Clone)]
pub struct Sha256(State);

#[cfg(not(feature = "fips"))]
type State = sha2::Sha256;
#[cfg(feature = "fips")]
type State = digest::Context;

impl Sha256 {
    /// The hash of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        #[cfg(not(feature = "fips"))]
        return Self(sha2::Sha256::new());
        #[cfg(feature = "fips")]
        Self(digest::Context::new(&digest::SHA256))
    }

    /// Appends bytes.
    pub fn update(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.update(bytes.as_ref());
    }

    /// The hash of all that was appended.
    #[must_use]
    pub fn finalize(self) -> [u8; 32] {
        #[cfg(not(feature = "fips"))]
        return self.0.finalize().into();
        #[cfg(feature = "fips")]
        self.0.finish().as_ref().try_into().expect("SHA-256 has 32 bytes")
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Self::new()
    }
}

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
    hash.finalize()
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
