//! Pages and rules, through the public API (FORMAT 5.1 and 5.4).

use std::sync::Arc;

use proptest::prelude::*;
use selenite_cipher::{
    DataKey, DatabaseId, Epoch, PAGE_SIZE_MAX, PAGE_SIZE_MIN, PageCipher, PageError, PageKeys, PageKeysParts, PageNo,
    PageNonce, Scan, Secret, SessionId, Suite, TRAILER_SIZE, Trailer,
};

const DATABASE: DatabaseId = DatabaseId([1; 16]);
const CURSOR: PageNo = PageNo(10);

fn data_key(epoch: u32, suite: Suite) -> DataKey {
    DataKey::new(Secret::new([2; 32]), DATABASE, Epoch(epoch), suite)
}

/// A database with one epoch, counted from 1, for each given suite; the last epoch seals.
fn parts(suites: &[Suite]) -> PageKeysParts {
    let data_keys: Vec<DataKey> = (1..)
        .zip(suites)
        .map(|(epoch, suite)| data_key(epoch, *suite))
        .collect();
    let last = data_keys.last().unwrap().epoch();
    PageKeysParts {
        database_id: DATABASE,
        page_size: 1024,
        scan: Scan::Steady,
        epoch_max: last,
        sealing_epoch: last,
        data_keys,
        allow_plain: false,
        allow_deprecated: false,
    }
}

fn cipher(parts: PageKeysParts) -> PageCipher {
    PageCipher::new(Arc::new(PageKeys::new(parts).unwrap()))
}

fn nonce(counter: u32) -> PageNonce {
    PageNonce {
        session: SessionId([3; 16]),
        salt: [4; 8],
        counter,
    }
}

/// A page as SQLite has it, also valid as page 1.
fn page(size: usize) -> Vec<u8> {
    let mut page = vec![0x5a; size];
    page[16..18].copy_from_slice(&u16::try_from(size).unwrap_or(1).to_be_bytes());
    page[20] = 48;
    page[size - TRAILER_SIZE..].fill(0);
    page
}

fn seal(cipher: &mut PageCipher, page_no: PageNo, plain: &[u8]) -> Result<Vec<u8>, PageError> {
    let mut image = vec![0xdd; plain.len()];
    let outcome = cipher.seal(page_no, nonce(1), plain, &mut image);
    if outcome.is_err() {
        assert!(image.iter().all(|byte| *byte == 0xdd), "seal wrote");
    }
    outcome.map(|()| image)
}

fn open(cipher: &mut PageCipher, page_no: PageNo, image: &[u8]) -> Result<Vec<u8>, PageError> {
    let mut out = vec![0xee; image.len()];
    let outcome = cipher.open(page_no, image, &mut out);
    if outcome.is_err() {
        assert!(out.iter().all(|byte| *byte == 0), "open left something");
    }
    outcome.map(|()| out)
}

/// An image in the given suite and epoch, independent of the rules of the cipher that will open it.
fn image(epoch: u32, suite: Suite, page_no: PageNo) -> Vec<u8> {
    let mut image = page(1024);
    let body: Vec<u8> = image[..1024 - TRAILER_SIZE].to_vec();
    let (sealed, trailer) = image.split_last_chunk_mut().unwrap();
    data_key(epoch, suite)
        .page_key(nonce(1).session)
        .seal(page_no, &nonce(1), &body, sealed, trailer);
    image
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn open_returns_the_sealed_page(
        suite in prop::sample::select(Suite::ALL.to_vec()),
        bits in 10..=16_u32,
        page_no in prop_oneof![Just(1), 1..=u32::MAX],
    ) {
        let size = 1_usize << bits;
        let mut cipher = cipher(PageKeysParts {
            page_size: size,
            allow_plain: true,
            allow_deprecated: true,
            ..parts(&[suite])
        });
        let plain = page(size);
        let image = seal(&mut cipher, PageNo(page_no), &plain).unwrap();
        prop_assert_eq!(open(&mut cipher, PageNo(page_no), &image), Ok(plain));
    }

    #[test]
    fn open_refuses_any_bit_flipped(
        suite in prop::sample::select(Suite::ALL.to_vec()), bit in 0..1024 * 8_usize
    ) {
        let mut cipher = cipher(PageKeysParts {
            allow_plain: true,
            allow_deprecated: true,
            ..parts(&[suite])
        });
        let mut image = seal(&mut cipher, PageNo(7), &page(1024)).unwrap();
        image[bit / 8] ^= 1 << (bit % 8);
        let outcome = open(&mut cipher, PageNo(7), &image);
        let epoch = Trailer::parse(PageCipher::trailer_of(&image).unwrap()).epoch;
        let expected = match epoch {
            Epoch(0 | 1) => PageError::Unauthentic,
            epoch => PageError::UnknownEpoch { epoch, above_highest: true },
        };
        prop_assert_eq!(outcome, Err(expected));
    }
}

#[test]
fn open_refuses_a_place_that_was_never_written() {
    for suite in Suite::ALL {
        let mut cipher = cipher(PageKeysParts {
            allow_plain: true,
            allow_deprecated: true,
            ..parts(&[suite])
        });
        let outcome = open(&mut cipher, PageNo(7), &[0; 1024]);
        assert_eq!(outcome, Err(PageError::Unauthentic), "{suite}");
    }
}

#[test]
fn open_distinguishes_removed_epochs_from_future_ones() {
    let mut parts = parts(&[Suite::Aes256, Suite::Aes256, Suite::Aes256]);
    parts.data_keys.remove(0);
    let mut cipher = cipher(parts);
    for (epoch, above_highest) in [(1, false), (4, true)] {
        let image = image(epoch, Suite::Aes256, PageNo(7));
        let epoch = Epoch(epoch);
        let expected = PageError::UnknownEpoch { epoch, above_highest };
        assert_eq!(open(&mut cipher, PageNo(7), &image), Err(expected));
    }
    for epoch in [2, 3] {
        let image = image(epoch, Suite::Aes256, PageNo(7));
        assert_eq!(open(&mut cipher, PageNo(7), &image), Ok(page(1024)));
    }
}

#[test]
fn open_returns_zeros_in_the_last_48_bytes() {
    let mut cipher = cipher(parts(&[Suite::Aes256]));
    let image = seal(&mut cipher, PageNo(7), &page(1024)).unwrap();
    let opened = open(&mut cipher, PageNo(7), &image).unwrap();
    assert_eq!(opened[1024 - TRAILER_SIZE..], [0; TRAILER_SIZE]);
}

#[test]
fn seal_refuses_a_page_with_content_in_its_last_48_bytes() {
    let mut cipher = cipher(parts(&[Suite::Aes256]));
    for index in 1024 - TRAILER_SIZE..1024 {
        let mut plain = page(1024);
        plain[index] = 1;
        let outcome = seal(&mut cipher, PageNo(7), &plain);
        assert_eq!(outcome, Err(PageError::SettingsMismatch));
    }
}

#[test]
fn seal_refuses_a_page_1_that_says_another_page_size_or_reserve() {
    for bits in 10..=16_u32 {
        let size = 1_usize << bits;
        let mut cipher = cipher(PageKeysParts {
            page_size: size,
            ..parts(&[Suite::Aes256])
        });
        assert!(seal(&mut cipher, PageNo(1), &page(size)).is_ok());
        for index in [16, 17, 20] {
            for bit in 0..8 {
                let mut plain = page(size);
                plain[index] ^= 1 << bit;
                let outcome = seal(&mut cipher, PageNo(1), &plain);
                assert_eq!(outcome, Err(PageError::SettingsMismatch));
                assert!(seal(&mut cipher, PageNo(2), &plain).is_ok());
            }
        }
    }
}

#[test]
fn seal_and_open_refuse_buffers_of_another_size() {
    let mut cipher = cipher(parts(&[Suite::Aes256]));
    for size in [0, 47, 48, 512, 1023, 1025, 2048] {
        let wrong = &mut vec![0; size][..];
        let right = &mut page(1024)[..];
        let mismatch = Err(PageError::SettingsMismatch);
        assert_eq!(cipher.seal(PageNo(2), nonce(1), wrong, right), mismatch);
        assert_eq!(cipher.open(PageNo(2), wrong, right), mismatch);
        let right = &page(1024)[..];
        assert_eq!(cipher.seal(PageNo(2), nonce(1), right, wrong), mismatch);
        assert_eq!(cipher.open(PageNo(2), right, wrong), mismatch);
    }
}

#[test]
fn a_deprecated_suite_is_refused_unless_it_is_allowed() {
    let plain = page(1024);
    let image = image(1, Suite::TripleDes3Key, PageNo(7));
    let mut refusing = cipher(parts(&[Suite::TripleDes3Key]));
    let refused = PageError::DeprecatedSuite;
    assert_eq!(seal(&mut refusing, PageNo(7), &plain), Err(refused));
    assert_eq!(open(&mut refusing, PageNo(7), &image), Err(refused));
    let mut allowing = cipher(PageKeysParts {
        allow_deprecated: true,
        ..parts(&[Suite::TripleDes3Key])
    });
    assert_eq!(seal(&mut allowing, PageNo(7), &plain), Ok(image.clone()));
    assert_eq!(open(&mut allowing, PageNo(7), &image), Ok(plain));
}

/// A case of FORMAT 5.4: whether a page in NONE is accepted at the cursor and after it.
struct NoneCase {
    suites: &'static [Suite],
    scan: Scan,
    allow_plain: bool,
    at_cursor: bool,
    behind_cursor: bool,
}

#[test]
fn open_accepts_suite_none_only_where_the_format_does() {
    use Suite::{Aes256, None};
    let case = |suites, scan, allow_plain, at_cursor, behind_cursor| NoneCase {
        suites,
        scan,
        allow_plain,
        at_cursor,
        behind_cursor,
    };
    let on = Scan::SwitchingOn { cursor: CURSOR };
    let cases = [
        case(&[None], Scan::Steady, false, false, false),
        case(&[None], Scan::Steady, true, true, true),
        case(&[None, Aes256], Scan::Steady, true, false, false),
        case(&[None, Aes256], Scan::Changing, true, false, false),
        case(&[None, Aes256], on, false, false, true),
        case(&[None, Aes256], on, true, false, true),
        case(&[None, Aes256], Scan::SwitchingOff, false, true, true),
        case(&[None, Aes256], Scan::Finishing, false, true, true),
    ];
    for (index, case) in cases.into_iter().enumerate() {
        let mut cipher = cipher(PageKeysParts {
            scan: case.scan,
            allow_plain: case.allow_plain,
            ..parts(case.suites)
        });
        for (page_no, accepted) in [
            (PageNo(1), case.at_cursor),
            (CURSOR, case.at_cursor),
            (PageNo(11), case.behind_cursor),
        ] {
            let image = image(1, None, page_no);
            let expected = match accepted {
                true => Ok(page(1024)),
                false => Err(PageError::Unauthentic),
            };
            assert_eq!(open(&mut cipher, page_no, &image), expected, "case {index}");
        }
    }
}

#[test]
fn open_refuses_suite_none_where_no_such_epoch_is_listed() {
    for scan in [
        Scan::Steady,
        Scan::SwitchingOn { cursor: PageNo(0) },
        Scan::SwitchingOff,
        Scan::Changing,
        Scan::Finishing,
    ] {
        let mut cipher = cipher(PageKeysParts {
            scan,
            allow_plain: true,
            ..parts(&[Suite::Aes256, Suite::Aes256])
        });
        for epoch in [1, 2] {
            let image = image(epoch, Suite::None, PageNo(11));
            let outcome = open(&mut cipher, PageNo(11), &image);
            assert_eq!(outcome, Err(PageError::Unauthentic));
        }
    }
}

#[test]
fn seal_writes_suite_none_only_where_the_format_lets_it() {
    use Suite::{Aes256, None};
    let on = Scan::SwitchingOn { cursor: CURSOR };
    let cases: [(&[Suite], Scan, bool, bool); 6] = [
        (&[None], Scan::Steady, false, false),
        (&[None], Scan::Steady, true, true),
        (&[Aes256, None], Scan::Steady, true, false),
        (&[Aes256, None], on, true, false),
        (&[Aes256, None], Scan::SwitchingOff, false, true),
        (&[Aes256, None], Scan::Finishing, false, true),
    ];
    for (index, (suites, scan, allow_plain, accepted)) in cases.into_iter().enumerate() {
        let mut cipher = cipher(PageKeysParts {
            scan,
            allow_plain,
            ..parts(suites)
        });
        let outcome = seal(&mut cipher, PageNo(11), &page(1024));
        assert_eq!(outcome.is_ok(), accepted, "case {index}");
    }
}

#[test]
fn a_page_changes_its_epoch_when_it_is_opened_and_sealed_again() {
    let mut before = cipher(parts(&[Suite::Aes256]));
    let image = seal(&mut before, PageNo(7), &page(1024)).unwrap();
    let mut after = cipher(PageKeysParts {
        scan: Scan::Changing,
        ..parts(&[Suite::Aes256, Suite::Aegis256X4])
    });
    let plain = open(&mut after, PageNo(7), &image).unwrap();
    let image = seal(&mut after, PageNo(7), &plain).unwrap();
    let trailer = Trailer::parse(PageCipher::trailer_of(&image).unwrap());
    assert_eq!(trailer.epoch, Epoch(2));
    assert_eq!(open(&mut after, PageNo(7), &image), Ok(plain));
}

#[test]
fn replace_keys_discards_cached_page_keys() {
    let mut cipher = cipher(parts(&[Suite::Aes256]));
    let image = seal(&mut cipher, PageNo(7), &page(1024)).unwrap();
    let other = DataKey::new(Secret::new([9; 32]), DATABASE, Epoch(1), Suite::Aes256);
    let keys = PageKeys::new(PageKeysParts {
        data_keys: vec![other],
        ..parts(&[Suite::Aes256])
    });
    cipher.replace_keys(Arc::new(keys.unwrap()));
    let outcome = open(&mut cipher, PageNo(7), &image);
    assert_eq!(outcome, Err(PageError::Unauthentic));
}

#[test]
fn keys_refuse_inconsistent_parts() {
    let refused = |parts| PageKeys::new(parts).err() == Some(PageError::SettingsMismatch);
    let good = || parts(&[Suite::Aes256, Suite::Aes128]);
    for page_size in [0, 512, 1000, 3000, 131_072, usize::MAX] {
        assert!(refused(PageKeysParts { page_size, ..good() }));
    }
    for page_size in [PAGE_SIZE_MIN, PAGE_SIZE_MAX] {
        assert!(!refused(PageKeysParts { page_size, ..good() }));
    }
    let sealing_epoch = Epoch(3);
    assert!(refused(PageKeysParts {
        sealing_epoch,
        ..good()
    }));
    let epoch_max = Epoch(1);
    assert!(refused(PageKeysParts { epoch_max, ..good() }));
    let database_id = DatabaseId([8; 16]);
    assert!(refused(PageKeysParts { database_id, ..good() }));
    let mut twice = good();
    twice.data_keys.push(data_key(1, Suite::Aes256));
    assert!(refused(twice));
    let mut zero = good();
    zero.data_keys.push(data_key(0, Suite::Aes256));
    assert!(refused(zero));
}
