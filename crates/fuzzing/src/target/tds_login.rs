//! Any bytes as PRELOGIN and as LOGIN7, and LOGIN7 with length, version and flags put right.

use selenite_tds::{Channel, EncryptionMode, Login, Prelogin, TdsVersion, client, negotiate};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    if let Ok(prelogin) = Prelogin::parse(data) {
        let again = prelogin.encode().expect("what is parsed is not too long");
        assert_eq!(Prelogin::parse(&again).expect("what is encoded is parsed"), prelogin);
        let required = negotiate(prelogin.encryption, EncryptionMode::Required);
        assert!(matches!(required.channel, None | Some(Channel::Whole)));
        let off = negotiate(prelogin.encryption, EncryptionMode::Off);
        assert!(matches!(off.channel, None | Some(Channel::AsItIs)));
    }
    read(data);
    let mut whole = data.to_vec();
    whole.resize(data.len().max(94), 0);
    let size = u32::try_from(whole.len()).expect("a small input");
    whole[..4].copy_from_slice(&size.to_le_bytes());
    whole[4..8].copy_from_slice(&TdsVersion::V7_4.0.to_le_bytes());
    whole[24] &= 0xF0;
    read(&whole);
}

fn read(data: &[u8]) {
    let Ok(login) = Login::parse(data) else {
        return;
    };
    // Fields may share bytes, so that what is encoded again may be too long for offsets of two bytes.
    let Ok(packets) = client::login(&login) else {
        return;
    };
    let mut bytes = packets.as_slice();
    let mut data = Vec::new();
    while let Some((header, rest)) = bytes.split_first_chunk::<8>() {
        let size = usize::from(u16::from_be_bytes([header[2], header[3]])) - 8;
        data.extend_from_slice(&rest[..size]);
        bytes = &rest[size..];
    }
    let again = Login::parse(&data).expect("what is encoded is parsed");
    assert_eq!(again.user_name, login.user_name);
    assert_eq!(again.password.expose(), login.password.expose());
    assert_eq!(again.features, login.features);
}
