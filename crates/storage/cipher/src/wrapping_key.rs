//! The key that wraps other keys: AES-256-GCM, `nonce || ciphertext || tag`.

#[cfg(feature = "fips")]
use aws_lc_rs::aead::RandomizedNonceKey;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::{Secret, Unauthentic};

/// An AES-256-GCM key that wraps other keys.
pub(crate) struct WrappingKey {
    key: LessSafeKey,
    /// The FIPS module seals as an approved service only under a nonce that it draws itself.
    #[cfg(feature = "fips")]
    sealing: RandomizedNonceKey,
}

impl WrappingKey {
    pub(crate) fn new(key: &Secret<32>) -> Self {
        let bytes = key.expose();
        let key = UnboundKey::new(&AES_256_GCM, bytes).expect("an AES-256 key has 32 bytes");
        Self {
            key: LessSafeKey::new(key),
            #[cfg(feature = "fips")]
            sealing: RandomizedNonceKey::new(&AES_256_GCM, bytes).expect("an AES-256 key has 32 bytes"),
        }
    }

    /// Wraps `plain` into `wrapped`, which is 28 bytes longer. The module draws the nonce; the caller's is not used.
    #[cfg(feature = "fips")]
    pub(crate) fn wrap(&self, _nonce: [u8; NONCE_SIZE], associated_data: &[u8], plain: &[u8], wrapped: &mut [u8]) {
        assert_eq!(wrapped.len(), NONCE_SIZE + plain.len() + TAG_SIZE);
        let (nonce_place, rest) = wrapped.split_at_mut(NONCE_SIZE);
        let (ciphertext, tag_place) = rest.split_at_mut(plain.len());
        ciphertext.copy_from_slice(plain);
        let (nonce, tag) = self
            .sealing
            .seal_in_place_separate_tag(Aad::from(associated_data), ciphertext)
            .expect("a key is far below the limit of GCM, and the module aborts rather than lack randomness");
        nonce_place.copy_from_slice(nonce.as_ref());
        tag_place.copy_from_slice(tag.as_ref());
    }

    /// Wraps `plain` into `wrapped`, which is 28 bytes longer.
    #[cfg(not(feature = "fips"))]
    pub(crate) fn wrap(&self, nonce: [u8; NONCE_SIZE], associated_data: &[u8], plain: &[u8], wrapped: &mut [u8]) {
        assert_eq!(wrapped.len(), NONCE_SIZE + plain.len() + TAG_SIZE);
        wrapped[..NONCE_SIZE].copy_from_slice(&nonce);
        let (ciphertext, tag) = wrapped[NONCE_SIZE..].split_at_mut(plain.len());
        self.key
            .seal_out_of_place_scatter(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(associated_data),
                plain,
                ciphertext,
                &[],
                tag,
            )
            .expect("the sizes are right, as asserted above, and far below the limit of GCM");
    }

    /// Unwraps `wrapped` into `plain`, which is zero on failure.
    pub(crate) fn unwrap(&self, associated_data: &[u8], wrapped: &[u8], plain: &mut [u8]) -> Result<(), Unauthentic> {
        self.unwrap_or_leave_partial(associated_data, wrapped, plain)
            .inspect_err(|Unauthentic| plain.fill(0))
    }

    fn unwrap_or_leave_partial(
        &self,
        associated_data: &[u8],
        wrapped: &[u8],
        plain: &mut [u8],
    ) -> Result<(), Unauthentic> {
        let (nonce, rest) = wrapped.split_first_chunk::<NONCE_SIZE>().ok_or(Unauthentic)?;
        let (ciphertext, tag) = rest.split_last_chunk::<TAG_SIZE>().ok_or(Unauthentic)?;
        self.key
            .open_separate_gather(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(associated_data),
                ciphertext,
                tag,
                plain,
            )
            .map_err(|_| Unauthentic)
    }
}

const NONCE_SIZE: usize = 12;

const TAG_SIZE: usize = 16;
