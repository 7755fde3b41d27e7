//! Pages, through the public API: every suite, every size, every kind of error.

use proptest::prelude::*;
use selenite_cipher::{
    DataKey, DatabaseId, Epoch, LogKey, MasterKey, PageKey, PageNo, PageNonce, Secret, SessionId, SlotKey, Suite,
    TRAILER_SIZE, Unauthentic,
};

const SESSION: SessionId = SessionId([5; 16]);
const NONCE: PageNonce = PageNonce {
    session: SESSION,
    salt: [6; 8],
    counter: 7,
};

fn data_key(database: u8, epoch: u32, suite: Suite) -> DataKey {
    DataKey::new(Secret::new([3; 32]), DatabaseId([database; 16]), Epoch(epoch), suite)
}

fn page_key(suite: Suite) -> PageKey {
    data_key(1, 2, suite).page_key(SESSION)
}

fn seal(key: &PageKey, page_no: PageNo, plain: &[u8]) -> (Vec<u8>, [u8; TRAILER_SIZE]) {
    let mut sealed = vec![0; plain.len()];
    let mut trailer = [0; TRAILER_SIZE];
    key.seal(page_no, &NONCE, plain, &mut sealed, &mut trailer);
    (sealed, trailer)
}

/// Opens into a buffer that is not zero, and returns the buffer afterwards.
fn open(
    key: &PageKey,
    page_no: PageNo,
    sealed: &[u8],
    trailer: &[u8; TRAILER_SIZE],
) -> (Result<(), Unauthentic>, Vec<u8>) {
    let mut out = vec![0xee; sealed.len()];
    let outcome = key.open(page_no, sealed, trailer, &mut out);
    let mut here = sealed.to_vec();
    let mut scratch = vec![0xee; sealed.len()];
    assert_eq!(key.open_in_place(page_no, &mut here, trailer, &mut scratch), outcome);
    assert_eq!(here, out, "in place it is another page");
    (outcome, out)
}

fn assert_refused(outcome: (Result<(), Unauthentic>, Vec<u8>), suite: Suite) {
    assert_eq!(outcome.0, Err(Unauthentic), "{suite}");
    assert!(outcome.1.iter().all(|byte| *byte == 0), "{suite}");
}

fn any_suite() -> impl Strategy<Value = Suite> {
    prop::sample::select(Suite::ALL.to_vec())
}

/// The plaintext of a page of 1024 to 65536 bytes.
fn any_plain() -> impl Strategy<Value = Vec<u8>> {
    (10..=16_u32, any::<[u8; 16]>()).prop_map(|(bits, pattern)| {
        let size = (1 << bits) - TRAILER_SIZE;
        pattern.into_iter().cycle().take(size).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn open_returns_the_sealed_page(
        suite in any_suite(), plain in any_plain(), page_no in 1..=u32::MAX
    ) {
        let key = page_key(suite);
        let (sealed, trailer) = seal(&key, PageNo(page_no), &plain);
        prop_assert_eq!(sealed == plain, suite == Suite::None);
        let (outcome, opened) = open(&key, PageNo(page_no), &sealed, &trailer);
        prop_assert_eq!(outcome, Ok(()));
        prop_assert_eq!(opened, plain);
    }

    #[test]
    fn open_refuses_any_bit_flipped_in_a_page_of_any_size(
        suite in any_suite(), plain in any_plain(), bit: prop::sample::Index
    ) {
        let key = page_key(suite);
        let (mut sealed, trailer) = seal(&key, PageNo(9), &plain);
        let bit = bit.index(sealed.len() * 8);
        sealed[bit / 8] ^= 1 << (bit % 8);
        assert_refused(open(&key, PageNo(9), &sealed, &trailer), suite);
    }
}

#[test]
fn open_refuses_every_bit_flipped_in_image_or_trailer() {
    for suite in Suite::ALL {
        let key = page_key(suite);
        let (mut sealed, mut trailer) = seal(&key, PageNo(9), &[0x5a; 1024 - TRAILER_SIZE]);
        for bit in 0..sealed.len() * 8 {
            sealed[bit / 8] ^= 1 << (bit % 8);
            assert_refused(open(&key, PageNo(9), &sealed, &trailer), suite);
            sealed[bit / 8] ^= 1 << (bit % 8);
        }
        for bit in 0..TRAILER_SIZE * 8 {
            trailer[bit / 8] ^= 1 << (bit % 8);
            assert_refused(open(&key, PageNo(9), &sealed, &trailer), suite);
            trailer[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(open(&key, PageNo(9), &sealed, &trailer).0, Ok(()));
    }
}

#[test]
fn open_refuses_a_page_moved_to_any_number_one_bit_away() {
    for suite in Suite::ALL {
        let key = page_key(suite);
        let (sealed, trailer) = seal(&key, PageNo(9), &[0x5a; 1024 - TRAILER_SIZE]);
        for bit in 0..32 {
            let moved = PageNo(9 ^ (1 << bit));
            assert_refused(open(&key, moved, &sealed, &trailer), suite);
        }
    }
}

#[test]
fn open_refuses_a_page_of_another_database_epoch_suite_or_session() {
    for suite in Suite::ALL {
        let key = page_key(suite);
        let (sealed, trailer) = seal(&key, PageNo(9), &[0x5a; 1024 - TRAILER_SIZE]);
        let database = data_key(8, 2, suite).page_key(SESSION);
        assert_refused(open(&database, PageNo(9), &sealed, &trailer), suite);
        let epoch = data_key(1, 3, suite).page_key(SESSION);
        assert_refused(open(&epoch, PageNo(9), &sealed, &trailer), suite);
        let session = data_key(1, 2, suite).page_key(SessionId([8; 16]));
        assert_refused(open(&session, PageNo(9), &sealed, &trailer), suite);
        for other in Suite::ALL.into_iter().filter(|other| *other != suite) {
            assert_refused(open(&page_key(other), PageNo(9), &sealed, &trailer), suite);
        }
    }
}

#[test]
fn open_refuses_buffers_of_different_size() {
    for suite in Suite::ALL {
        let key = page_key(suite);
        let (sealed, trailer) = seal(&key, PageNo(9), &[0x5a; 1024 - TRAILER_SIZE]);
        let mut out = [0xee; 1024];
        let outcome = key.open(PageNo(9), &sealed, &trailer, &mut out);
        assert_eq!((outcome, out), (Err(Unauthentic), [0; 1024]), "{suite}");
        let cut = &sealed[..sealed.len() - 1];
        assert_refused(open(&key, PageNo(9), cut, &trailer), suite);
    }
}

#[test]
#[should_panic(expected = "another session")]
fn seal_panics_on_the_nonce_of_another_session() {
    let nonce = PageNonce {
        session: SessionId([8; 16]),
        ..NONCE
    };
    let mut trailer = [0; TRAILER_SIZE];
    page_key(Suite::Aes256).seal(PageNo(1), &nonce, &[0; 8], &mut [0; 8], &mut trailer);
}

#[test]
fn keys_may_be_used_by_several_threads_at_once() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<PageKey>();
    is_shared::<DataKey>();
    is_shared::<MasterKey>();
    is_shared::<LogKey>();
    is_shared::<SlotKey>();
}
