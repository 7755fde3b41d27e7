use proptest::prelude::*;

use super::*;
use crate::client;
use crate::vector::{Vector, corrupted};

fn parse(packets: &[u8]) -> Result<Login, TdsError> {
    let mut reader = crate::MessageReader::new();
    let mut bytes = packets;
    match reader.push(&mut bytes)? {
        Some(crate::Incoming::Message(message)) => Login::parse(message.data()),
        other => panic!("{other:?}"),
    }
}

/// All fields as text, to compare two logins.
fn fields_of(login: &Login) -> String {
    let passwords = (
        login.password.expose(),
        login.new_password.as_ref().map(Password::expose),
    );
    format!("{login:?} {passwords:?}")
}

/// MS-TDS 4.2.
#[test]
fn the_example_of_the_specification_parses() {
    let login = Login::parse(&Vector::load("login").data()).unwrap();
    assert_eq!(login.tds_version, TdsVersion::V7_2);
    assert_eq!(
        (login.packet_size, login.client_version, login.client_process),
        (4096, 0x0700_0000, 0x100)
    );
    assert_eq!(login.host_name, "skostov1");
    assert_eq!(login.user_name, "sa");
    assert_eq!(login.password.expose(), "");
    assert_eq!(login.app_name, "OSQL-32");
    assert_eq!(login.library_name, "ODBC");
    assert_eq!(
        (login.lcid, login.client_id),
        (0x409, [0x00, 0x50, 0x8B, 0xE2, 0xB7, 0x8F])
    );
    assert!(login.is_database_fatal && login.is_language_fatal && login.is_odbc);
    assert!(!login.is_integrated && !login.is_read_only && login.new_password.is_none());
}

/// MS-TDS 2.2.6.4: 0x61 with its nibbles swapped is 0x16, and 0x16 XOR 0xA5 is 0xB3.
#[test]
fn a_password_is_obfuscated_as_specified() {
    let hidden = [0xB3, 0xA5, 0x83, 0xA5];
    assert_eq!(Password::deobfuscate(&hidden).unwrap().expose(), "ab");
    assert!(Password::deobfuscate(&[0xB3]).is_err());
}

#[test]
fn a_password_is_never_printed() {
    let login = client::new_login("sa", "p\u{e4}ss-w\u{1F600}rd");
    let printed = format!("{login:?} {:?}", login.password);
    assert!(!printed.contains("ss-w"), "{printed}");
    let again = parse(&client::login(&login).unwrap()).unwrap();
    assert_eq!(again.password.expose(), "p\u{e4}ss-w\u{1F600}rd");
}

/// TDS.md 1.2: the features that mssql-jdbc requests.
#[test]
fn features_parse_in_their_order() {
    let mut login = client::new_login("sa", "x");
    let ids = [0x10, 0x04, 0x09, 0x0A, 0x0B, 0x0E, 0x0D, 0x0F, 0x01];
    login.features = ids
        .map(|id| Feature {
            id,
            data: vec![id; usize::from(id % 3)],
        })
        .to_vec();
    let again = parse(&client::login(&login).unwrap()).unwrap();
    assert_eq!(fields_of(&again), fields_of(&login));
    assert!(again.features.iter().any(|feature| feature.id == Feature::UTF8));
    login.features.push(login.features[0].clone());
    assert!(matches!(
        parse(&client::login(&login).unwrap()),
        Err(TdsError::Malformed { .. })
    ));
}

#[test]
fn features_without_an_end_are_refused() {
    let mut login = client::new_login("sa", "x");
    login.features = vec![Feature {
        id: 0x0A,
        data: vec![1],
    }];
    let mut packet = client::login(&login).unwrap();
    let last = packet.len() - 1;
    assert_eq!(packet[last], 0xFF);
    packet[last] = 0x0B;
    assert!(matches!(parse(&packet), Err(TdsError::Cut { .. })));
}

#[test]
fn unsupported_requests_of_a_login_are_named() {
    let plain = client::new_login("sa", "x");
    assert_eq!(parse(&client::login(&plain).unwrap()).unwrap().unsupported(), None);
    let asked = |change: fn(&mut Login)| {
        let mut login = client::new_login("sa", "x");
        change(&mut login);
        parse(&client::login(&login).unwrap()).unwrap().unsupported()
    };
    assert_eq!(
        asked(|login| login.is_integrated = true),
        Some("Windows authentication")
    );
    assert_eq!(asked(|login| login.is_user_instance = true), Some("a user instance"));
    assert_eq!(
        asked(|login| login.attach_file = "a.mdf".to_owned()),
        Some("AttachDbFilename")
    );
    let federated = |login: &mut Login| login.features = vec![Feature { id: 2, data: vec![4] }];
    assert_eq!(asked(federated), Some("federated authentication"));
}

#[test]
fn a_name_of_129_units_is_refused_and_a_file_may_have_260() {
    let mut login = client::new_login(&"u".repeat(128), "x");
    login.attach_file = "f".repeat(260);
    assert!(parse(&client::login(&login).unwrap()).is_ok());
    login.user_name.push('u');
    assert!(matches!(
        parse(&client::login(&login).unwrap()),
        Err(TdsError::Malformed { .. })
    ));
    login.user_name.pop();
    login.attach_file.push('f');
    assert!(parse(&client::login(&login).unwrap()).is_err());
}

#[test]
fn another_byte_order_is_refused_by_name() {
    for bit in [0x01, 0x02, 0x04, 0x08] {
        let mut data = Vector::load("login").data();
        data[24] |= bit;
        assert!(matches!(Login::parse(&data), Err(TdsError::Unsupported { .. })));
    }
}

#[test]
fn sspi_beyond_64_kib_has_its_length_in_the_long_field() {
    let mut data = Vector::load("login").data();
    let offset = u16::try_from(data.len()).unwrap();
    data[78..80].copy_from_slice(&offset.to_le_bytes());
    data[80..82].copy_from_slice(&[0xFF; 2]);
    data[90..94].copy_from_slice(&70_000_u32.to_le_bytes());
    data.resize(data.len() + 70_000, 5);
    let size = u32::try_from(data.len()).unwrap();
    data[..4].copy_from_slice(&size.to_le_bytes());
    assert_eq!(Login::parse(&data).unwrap().sspi.len(), 70_000);
    data.pop();
    assert!(matches!(Login::parse(&data), Err(TdsError::Cut { .. })));
}

#[test]
fn a_corrupted_login_is_an_error_or_a_login() {
    let mut login = client::new_login("sa", "secret");
    login.new_password = Some(Password::new("next"));
    login.features = vec![
        Feature {
            id: 0x0A,
            data: vec![1],
        },
        Feature {
            id: 0x04,
            data: vec![1, 2],
        },
    ];
    let packet = client::login(&login).unwrap();
    let mut refused = 0;
    for data in corrupted(&packet[8..]) {
        match Login::parse(&data) {
            Ok(login) => assert!(login.user_name.encode_utf16().count() <= 128),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > packet.len(), "{refused}");
}

proptest! {
    #[test]
    fn an_encoded_login_parses_to_itself(
        texts in prop::collection::vec("\\PC{0,30}", 9),
        numbers in any::<[u32; 5]>(),
        flags in any::<[bool; 6]>(),
        new_password in prop::option::of("\\PC{0,20}"),
        feature in prop::option::of((1..=20_u8, prop::collection::vec(any::<u8>(), 0..50))),
        sspi in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut login = client::new_login(&texts[0], &texts[1]);
        [login.packet_size, login.client_version, login.client_process, login.connection_id, login.lcid] = numbers;
        [login.is_database_fatal, login.is_language_fatal, login.is_odbc, login.is_integrated, login.is_read_only,
            login.is_user_instance] = flags;
        let fields = [&mut login.host_name, &mut login.app_name, &mut login.server_name, &mut login.library_name,
            &mut login.language, &mut login.database, &mut login.attach_file];
        for (field, text) in fields.into_iter().zip(&texts[2..]) {
            field.clone_from(text);
        }
        login.new_password = new_password.map(|password| Password::new(&password));
        login.features = feature.into_iter().map(|(id, data)| Feature { id, data }).collect();
        login.sspi = sspi;
        let again = parse(&client::login(&login).unwrap()).unwrap();
        prop_assert_eq!(fields_of(&again), fields_of(&login));
    }

    #[test]
    fn any_bytes_are_no_panic(mut data in prop::collection::vec(any::<u8>(), 94..400)) {
        let size = u32::try_from(data.len()).unwrap();
        data[..4].copy_from_slice(&size.to_le_bytes());
        data[4..8].copy_from_slice(&TdsVersion::V7_4.0.to_le_bytes());
        data[24] = 0;
        let _ = Login::parse(&data);
    }
}
