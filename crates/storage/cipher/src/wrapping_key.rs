//! The key that wraps other keys: AES-256-GCM, `nonce || ciphertext || tag`.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

use crate::{Secret, Unauthentic};

/// An AES-256-GCM key that wraps other keys.
pub(crate) struct WrappingKey(LessSafeKey);

impl WrappingKey {
    pub(crate) fn new(key: &Secret<32>) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, key.expose()).expect("an AES-256 key has 32 bytes");
        Self(LessSafeKey::new(key))
    }

    /// Wraps `plain` into `wrapped`, which is 28 bytes longer.
    pub(crate) fn wrap(&self, nonce: [u8; NONCE_SIZE], associated_data: &[u8], plain: &[u8], wrapped: &mut [u8]) {
        assert_eq!(wrapped.len(), NONCE_SIZE + plain.len() + TAG_SIZE);
        wrapped[..NONCE_SIZE].copy_from_slice(&nonce);
        let (ciphertext, tag) = wrapped[NONCE_SIZE..].split_at_mut(plain.len());
        self.0
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
        self.0
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
