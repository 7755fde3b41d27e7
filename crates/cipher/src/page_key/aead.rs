//! AES-GCM and ChaCha20-Poly1305: straight from the caller's buffer into the other.

use aws_lc_rs::aead::{Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};

use super::AssociatedData;
use crate::{PageNonce, Secret, Trailer, Unauthentic};

/// A key of an AEAD with a nonce of 12 bytes and a tag of 16.
pub(super) struct Aead(LessSafeKey);

impl Aead {
    pub(super) fn new<const N: usize>(algorithm: &'static Algorithm, key: &Secret<N>) -> Self {
        let key = UnboundKey::new(algorithm, key.expose())
            .expect("the key was expanded to the size of its suite");
        Self(LessSafeKey::new(key))
    }

    pub(super) fn seal(
        &self,
        aad: &AssociatedData,
        nonce: &PageNonce,
        plain: &[u8],
        out: &mut [u8],
    ) -> [u8; 16] {
        let mut tag = [0; 16];
        self.0
            .seal_out_of_place_scatter(
                Nonce::assume_unique_for_key(nonce.bytes()),
                Aad::from(aad.0),
                plain,
                out,
                &[],
                &mut tag,
            )
            .expect("the sizes are equal, and far below the limits of GCM and ChaCha20");
        tag
    }

    pub(super) fn open(
        &self,
        aad: &AssociatedData,
        trailer: &Trailer,
        sealed: &[u8],
        out: &mut [u8],
    ) -> Result<(), Unauthentic> {
        self.0
            .open_separate_gather(
                Nonce::assume_unique_for_key(trailer.nonce.bytes()),
                Aad::from(aad.0),
                sealed,
                &trailer.tag,
                out,
            )
            .map_err(|_| Unauthentic)
    }
}
