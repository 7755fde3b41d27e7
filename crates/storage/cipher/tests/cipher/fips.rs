//! The FIPS build of this crate: `cargo test -p selenite-cipher --features fips`.

use std::sync::Arc;

use selenite_cipher::{
    CostRefused, DataKey, DatabaseId, Epoch, IS_FIPS, MasterKey, PageCipher, PageError, PageKeys, PageKeysParts,
    PageNo, PageNonce, PassphraseCost, Pbkdf2Cost, Scan, Secret, SessionId, SlotId, SlotKey, Suite, fips_module,
};

const DATABASE: DatabaseId = DatabaseId([1; 16]);

fn cipher(suite: Suite) -> PageCipher {
    let keys = PageKeys::new(PageKeysParts {
        database_id: DATABASE,
        page_size: 1024,
        scan: Scan::Steady,
        epoch_max: Epoch(1),
        sealing_epoch: Epoch(1),
        data_keys: vec![DataKey::new(Secret::new([2; 32]), DATABASE, Epoch(1), suite)],
        allow_plain: true,
        allow_deprecated: true,
    });
    PageCipher::new(Arc::new(keys.unwrap()))
}

fn nonce() -> PageNonce {
    PageNonce {
        session: SessionId([3; 16]),
        salt: [4; 8],
        counter: 5,
    }
}

#[test]
fn the_module_is_in_fips_mode() {
    assert!(IS_FIPS && fips_module().unwrap().is_some());
    aws_lc_rs::try_fips_self_test().unwrap();
}

#[test]
fn pages_are_sealed_in_one_suite_and_opened_in_three() {
    for suite in Suite::ALL {
        let mut sealed = [0; 1024];
        let outcome = cipher(suite).seal(PageNo(2), nonce(), &[0; 1024], &mut sealed);
        let expected = match suite {
            Suite::Aes256CtrHmac => Ok(()),
            _ => Err(PageError::NotApproved(suite)),
        };
        assert_eq!(outcome, expected, "{suite}");
        sealed[976..980].copy_from_slice(&1_u32.to_be_bytes());
        let opened = cipher(suite).open(PageNo(2), &sealed, &mut [0; 1024]);
        let expected = match suite {
            Suite::Aes256CtrHmac => Ok(()),
            // Nothing was sealed: the key is tried, and the tag is wrong.
            Suite::Aes128 | Suite::Aes256 => Err(PageError::Unauthentic),
            _ => Err(PageError::NotApproved(suite)),
        };
        assert_eq!(opened, expected, "{suite}");
    }
}

#[test]
fn argon2id_is_refused_and_pbkdf2_is_not() {
    let salt = [6; 16];
    let argon2id = PassphraseCost {
        memory_kib: 8192,
        passes: 1,
        lanes: 1,
        salt,
    };
    let refused = SlotKey::from_passphrase(b"a passphrase of some length", &argon2id);
    assert_eq!(refused.err(), Some(CostRefused::NotApproved));
    let iterations = Pbkdf2Cost::ITERATIONS_MIN;
    let slot = SlotKey::from_passphrase_by_pbkdf2(b"a passphrase of some length", &Pbkdf2Cost { iterations, salt });
    assert!(slot.is_ok());
}

#[test]
fn the_module_draws_the_nonces_of_wrapped_keys() {
    let raw = SlotKey::from_raw(&Secret::new([7; 32]), SlotId([8; 16]));
    let master = Secret::new([9; 32]);
    let wrap = || raw.wrap([0; 12], DATABASE, SlotId([8; 16]), 1, &master);
    let (one, two) = (wrap(), wrap());
    assert_ne!(one[..12], two[..12]);
    for wrapped in [one, two] {
        let opened = raw.unwrap(DATABASE, SlotId([8; 16]), 1, &wrapped).unwrap();
        assert!(opened.ct_eq(&master));
    }
    let key = MasterKey::new(master, DATABASE);
    let wrapped = key.wrap_log_key([0; 12], &Secret::new([1; 32]));
    assert_ne!(wrapped[..12], [0; 12]);
    assert!(key.unwrap_log_key(&wrapped).unwrap().ct_eq(&Secret::new([1; 32])));
}
