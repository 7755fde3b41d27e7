//! Suite NONE: plaintext, with a hash as the tag. It detects damage, not tampering.

use aws_lc_rs::constant_time::verify_slices_are_equal;

use crate::sha256::sha256_of_parts;
use crate::trailer::TRAILER_HEAD_SIZE;
use crate::{Trailer, Unauthentic};

/// The hash that replaces a tag.
pub(super) fn tag(aad: &[u8], trailer: &Trailer, plain: &[u8]) -> [u8; 16] {
    let head = trailer.encode();
    let hash = sha256_of_parts(&[aad, &head[..TRAILER_HEAD_SIZE], plain]);
    let mut tag = [0; 16];
    tag.copy_from_slice(&hash[..16]);
    tag
}

/// Compares the hash; the page is already plaintext.
pub(super) fn check(aad: &[u8], trailer: &Trailer, body: &[u8]) -> Result<(), Unauthentic> {
    verify_slices_are_equal(&tag(aad, trailer, body), &trailer.tag).map_err(|_| Unauthentic)
}
