use proptest::prelude::*;

use super::*;
use crate::vector::{Vector, corrupted};

/// MS-TDS 4.1.
#[test]
fn the_example_of_the_specification_parses() {
    let data = Vector::load("prelogin").data();
    let prelogin = Prelogin::parse(&data).unwrap();
    let expected = Prelogin {
        version: ProductVersion {
            major: 9,
            minor: 0,
            build: 0,
            sub_build: 0,
        },
        encryption: Encryption::On,
        instance: Some(vec![0]),
        thread_id: Some(0x0DB8),
        mars: Some(true),
        ..Prelogin::default()
    };
    assert_eq!(prelogin, expected);
    assert_eq!(prelogin.encode().unwrap(), data);
}

#[test]
fn an_unknown_option_is_skipped() {
    let data = [
        0, 0, 16, 0, 6, 1, 0, 22, 0, 1, 0x77, 0, 23, 0, 2, 0xFF, 16, 0, 0, 1, 0, 0, 2, 5, 5,
    ];
    let prelogin = Prelogin::parse(&data).unwrap();
    assert_eq!(prelogin.version.major, 16);
    assert_eq!(prelogin.encryption, Encryption::NotSupported);
}

/// TDS.md 4, rule 8.
#[test]
fn only_options_that_are_set_are_encoded() {
    let plain = Prelogin::default().encode().unwrap();
    assert_eq!(plain, [0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xFF, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(Prelogin::parse(&plain).unwrap().federated_required, None);
}

#[test]
fn an_option_given_twice_or_of_another_length_is_refused() {
    let twice = [
        0, 0, 16, 0, 6, 1, 0, 22, 0, 1, 1, 0, 22, 0, 1, 0xFF, 16, 0, 0, 1, 0, 0, 2,
    ];
    assert!(matches!(Prelogin::parse(&twice), Err(TdsError::Malformed { .. })));
    let short = [0, 0, 11, 0, 5, 1, 0, 17, 0, 1, 0xFF, 0, 0, 0, 0, 0, 0, 0];
    assert!(matches!(Prelogin::parse(&short), Err(TdsError::Malformed { .. })));
    let other = [1, 0, 11, 0, 1, 0, 0, 12, 0, 6, 0xFF, 0, 0, 0, 0, 0, 0, 0];
    assert!(matches!(Prelogin::parse(&other), Err(TdsError::Malformed { .. })));
}

#[test]
fn a_clients_certificate_is_refused_by_name() {
    let mut data = Prelogin::default().encode().unwrap();
    data[17] = 0x81;
    let refused = Prelogin::parse(&data).unwrap_err();
    assert!(matches!(refused, TdsError::Unsupported { .. }), "{refused}");
}

/// MS-TDS 2.2.6.5, and strict as TDS 8.0.
#[test]
fn the_table_of_encryption_is_as_specified() {
    use Encryption::{NotSupported, Off, On, Required, Strict};
    let decide = |client, mode| {
        let Negotiated { answer, channel } = negotiate(client, mode);
        (answer, channel)
    };
    let (plain, login, whole) = (Some(Channel::AsItIs), Some(Channel::LoginOnly), Some(Channel::Whole));
    let table = [
        (EncryptionMode::Off, Off, NotSupported, plain),
        (EncryptionMode::Off, NotSupported, NotSupported, plain),
        (EncryptionMode::Off, On, NotSupported, None),
        (EncryptionMode::Off, Required, NotSupported, None),
        (EncryptionMode::Off, Strict, NotSupported, None),
        (EncryptionMode::Optional, Off, Off, login),
        (EncryptionMode::Optional, NotSupported, NotSupported, plain),
        (EncryptionMode::Optional, On, On, whole),
        (EncryptionMode::Optional, Required, On, whole),
        (EncryptionMode::Optional, Strict, Required, None),
        (EncryptionMode::Required, Off, Required, whole),
        (EncryptionMode::Required, NotSupported, Required, None),
        (EncryptionMode::Required, On, On, whole),
        (EncryptionMode::Required, Required, On, whole),
        (EncryptionMode::Required, Strict, Required, None),
    ];
    for (mode, client, answer, channel) in table {
        assert_eq!(decide(client, mode), (answer, channel), "{client:?} at {mode:?}");
    }
    let strict = [
        (Off, NotSupported),
        (On, On),
        (NotSupported, NotSupported),
        (Required, On),
        (Strict, Strict),
    ];
    for (client, answer) in strict {
        assert_eq!(decide(client, EncryptionMode::Strict), (answer, plain), "{client:?}");
    }
}

#[test]
fn a_corrupted_prelogin_is_an_error_or_encodes_to_itself() {
    let prelogin = Prelogin {
        instance: Some(b"MSSQLServer\0".to_vec()),
        thread_id: Some(7),
        mars: Some(false),
        trace_id: Some([3; 36]),
        federated_required: Some(true),
        nonce: Some([9; 32]),
        ..Prelogin::default()
    };
    for data in corrupted(&prelogin.encode().unwrap()) {
        if let Ok(read) = Prelogin::parse(&data) {
            assert_eq!(Prelogin::parse(&read.encode().unwrap()).unwrap(), read);
        }
    }
}

proptest! {
    #[test]
    fn an_encoded_prelogin_parses_to_itself(
        version in any::<(u8, u8, u16, u16)>(),
        encryption in 0..5_u8,
        instance in prop::option::of(prop::collection::vec(any::<u8>(), 0..40)),
        thread_id in any::<Option<u32>>(),
        mars in any::<Option<bool>>(),
        trace_id in prop::option::of(prop::array::uniform32(any::<u8>())),
        federated_required in any::<Option<bool>>(),
        nonce in prop::option::of(prop::array::uniform32(any::<u8>())),
    ) {
        let (major, minor, build, sub_build) = version;
        let prelogin = Prelogin {
            version: ProductVersion { major, minor, build, sub_build },
            encryption: Encryption::from_byte(encryption).unwrap(),
            instance,
            thread_id,
            mars,
            trace_id: trace_id.map(|id| {
                let mut trace_id = [1; 36];
                trace_id[..32].copy_from_slice(&id);
                trace_id
            }),
            federated_required,
            nonce,
        };
        prop_assert_eq!(Prelogin::parse(&prelogin.encode().unwrap()).unwrap(), prelogin);
    }

    #[test]
    fn any_bytes_are_no_panic(data in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = Prelogin::parse(&data);
    }
}
