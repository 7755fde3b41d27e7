//! AES-GCM for processors that have VAES in registers of 256 bits and no AVX-512 (AMD Zen 3, Intel's small cores).
//!
//! AWS-LC has code for AES-NI and for AVX-512, and takes twice as long on these processors as ring,
//! which has code for VAES (docs/decisions/0007-two-gcm-libraries.md). Both compute the same: the
//! tests below compare them.

use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, Tag, UnboundKey};

use super::copy::copy;
use crate::{PageNonce, Secret, Trailer, Unauthentic};

/// A key of AES-128-GCM or AES-256-GCM; boxed, so that a move leaves no copy behind.
pub(super) struct VaesGcm(Box<LessSafeKey>);

impl VaesGcm {
    /// Whether this processor is one of those, and AWS-LC was not requested ([`prefer_aws_lc`]).
    pub(super) fn is_faster() -> bool {
        static IS_FASTER: OnceLock<bool> = OnceLock::new();
        *IS_FASTER.get_or_init(|| {
            let has_vaes = is_x86_feature_detected!("vaes")
                && is_x86_feature_detected!("vpclmulqdq")
                && is_x86_feature_detected!("avx2");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            has_vaes && !has_avx512
        }) && !PREFERS_AWS_LC.load(Ordering::Relaxed)
    }

    /// Takes a key of 16 or 32 bytes.
    ///
    /// # Panics
    /// For any other length: ring has no AES-192.
    pub(super) fn new<const N: usize>(key: &Secret<N>) -> Self {
        let algorithm = if N == 16 { &AES_128_GCM } else { &AES_256_GCM };
        Self(Box::new(less_safe_key(algorithm, key.expose())))
    }

    pub(super) fn seal(&self, aad: &[u8], nonce: &PageNonce, plain: &[u8], out: &mut [u8]) -> [u8; 16] {
        copy(plain, out);
        let nonce = Nonce::assume_unique_for_key(nonce.bytes());
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce, Aad::from(aad), out)
            .expect("a page is far below the limit of GCM");
        let mut bytes = [0; 16];
        bytes.copy_from_slice(tag.as_ref());
        bytes
    }

    pub(super) fn open_in_place(&self, aad: &[u8], trailer: &Trailer, body: &mut [u8]) -> Result<(), Unauthentic> {
        let nonce = Nonce::assume_unique_for_key(trailer.nonce.bytes());
        self.0
            .open_in_place_separate_tag(nonce, Aad::from(aad), Tag::from(trailer.tag), body, 0..)
            .map(|_| ())
            .map_err(|_| Unauthentic)
    }
}

/// Makes AWS-LC compute AES-GCM from now on. Only AWS-LC obeys `OPENSSL_ia32cap`: a user who sets
/// that variable means AWS-LC. The caller decides whether to trust the environment.
pub fn prefer_aws_lc() {
    PREFERS_AWS_LC.store(true, Ordering::Relaxed);
}

static PREFERS_AWS_LC: AtomicBool = AtomicBool::new(false);

impl Drop for VaesGcm {
    /// ring does not wipe its keys, so this one is overwritten by another.
    fn drop(&mut self) {
        *self.0 = less_safe_key(&AES_256_GCM, &[0; 32]);
        black_box(&mut self.0);
    }
}

fn less_safe_key(algorithm: &'static Algorithm, key: &[u8]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(algorithm, key).expect("the key was expanded to the size of its suite"))
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::aead as aws_lc;
    use proptest::prelude::*;

    use super::super::aead::Aead;
    use super::*;
    use crate::{Epoch, SessionId};

    /// Seals with both libraries; opens each result with the other.
    fn compare<const N: usize>(
        algorithm: &'static aws_lc::Algorithm,
        key: [u8; N],
        nonce: [u8; 12],
        aad: &[u8],
        plain: &[u8],
    ) {
        let key = Secret::new(key);
        let (ring, aws) = (VaesGcm::new(&key), Aead::new(algorithm, &key));
        let [a, b, c, d, e, f, g, h, counter @ ..] = nonce;
        let nonce = PageNonce {
            session: SessionId([0; 16]),
            salt: [a, b, c, d, e, f, g, h],
            counter: u32::from_be_bytes(counter),
        };
        let (mut of_ring, mut of_aws) = (vec![0; plain.len()], vec![0; plain.len()]);
        let tag = ring.seal(aad, &nonce, plain, &mut of_ring);
        assert_eq!(tag, aws.seal(aad, &nonce, plain, &mut of_aws));
        assert_eq!(of_ring, of_aws);
        let mut trailer = Trailer {
            epoch: Epoch(1),
            nonce,
            tag,
        };
        let mut opened = of_aws.clone();
        assert_eq!(ring.open_in_place(aad, &trailer, &mut opened), Ok(()));
        assert_eq!(opened, plain);
        assert_eq!(aws.open(aad, &trailer, &of_ring, &mut opened), Ok(()));
        assert_eq!(opened, plain);
        trailer.tag[15] ^= 1;
        assert_eq!(ring.open_in_place(aad, &trailer, &mut of_aws), Err(Unauthentic));
    }

    proptest! {
        #[test]
        fn both_libraries_compute_the_same(
            key: [u8; 32],
            nonce: [u8; 12],
            aad in proptest::collection::vec(any::<u8>(), 0..64),
            plain in proptest::collection::vec(any::<u8>(), 0..9000),
        ) {
            compare(&aws_lc::AES_256_GCM, key, nonce, &aad, &plain);
            let mut short = [0; 16];
            short.copy_from_slice(&key[..16]);
            compare(&aws_lc::AES_128_GCM, short, nonce, &aad, &plain);
        }
    }
}
