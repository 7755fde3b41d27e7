//! Encodes LOGIN7 as packets.

use crate::{Login, MessageKind, PacketSize, PacketWriter, Password, TdsError, TdsVersion, utf16};

/// A login as a minimal TDS 7.4 client sends it.
#[must_use]
pub fn new_login(user_name: &str, password: &str) -> Login {
    Login {
        tds_version: TdsVersion::V7_4,
        packet_size: 4096,
        client_version: 7,
        client_process: 100,
        connection_id: 0,
        time_zone_minutes: 0,
        lcid: 0x0409,
        is_database_fatal: true,
        is_language_fatal: true,
        is_odbc: true,
        is_integrated: false,
        is_read_only: false,
        is_user_instance: false,
        host_name: "host".to_owned(),
        user_name: user_name.to_owned(),
        password: Password::new(password),
        app_name: "test".to_owned(),
        server_name: "localhost".to_owned(),
        library_name: "selenite".to_owned(),
        language: String::new(),
        database: String::new(),
        client_id: [1, 2, 3, 4, 5, 6],
        sspi: Vec::new(),
        attach_file: String::new(),
        new_password: None,
        features: Vec::new(),
    }
}

/// Encodes LOGIN7.
///
/// Errors: `Misfit` if a text, the features or the SSPI data exceed their length fields.
pub fn login(login: &Login) -> Result<Vec<u8>, TdsError> {
    let mut packets = PacketWriter::new(Vec::new(), MessageKind::Login, PacketSize::DEFAULT, 0);
    packets.write(&data(login)?)?;
    packets.finish()?;
    Ok(packets.into_sink())
}

fn data(login: &Login) -> Result<Vec<u8>, TdsError> {
    let mut fixed = vec![0; 4];
    fixed.extend(login.tds_version.0.to_le_bytes());
    for number in [
        login.packet_size,
        login.client_version,
        login.client_process,
        login.connection_id,
    ] {
        fixed.extend(number.to_le_bytes());
    }
    fixed.extend(flags(login));
    fixed.extend(login.time_zone_minutes.to_le_bytes());
    fixed.extend(login.lcid.to_le_bytes());
    let mut texts = Vec::new();
    for text in [&login.host_name, &login.user_name] {
        append_text_field(text, &mut fixed, &mut texts)?;
    }
    append_field(&obfuscate(&login.password), 2, &mut fixed, &mut texts)?;
    for text in [&login.app_name, &login.server_name] {
        append_text_field(text, &mut fixed, &mut texts)?;
    }
    let features = features(login)?;
    let extension_at = FIXED_SIZE + texts.len();
    let pointer = [0; 4];
    append_field(
        if features.is_empty() { &[] } else { &pointer },
        1,
        &mut fixed,
        &mut texts,
    )?;
    for text in [&login.library_name, &login.language, &login.database] {
        append_text_field(text, &mut fixed, &mut texts)?;
    }
    fixed.extend(login.client_id);
    append_field(&login.sspi, 1, &mut fixed, &mut texts)?;
    append_text_field(&login.attach_file, &mut fixed, &mut texts)?;
    let new_password = login.new_password.as_ref().map(obfuscate).unwrap_or_default();
    append_field(&new_password, 2, &mut fixed, &mut texts)?;
    fixed.extend([0; 4]);
    fixed.append(&mut texts);
    if !features.is_empty() {
        let offset = u32::try_from(fixed.len()).map_err(|_| TOO_LONG)?;
        fixed[extension_at..][..4].copy_from_slice(&offset.to_le_bytes());
        fixed.extend(features);
    }
    let size = u32::try_from(fixed.len()).map_err(|_| TOO_LONG)?;
    fixed[..4].copy_from_slice(&size.to_le_bytes());
    Ok(fixed)
}

/// Encodes OptionFlags1, OptionFlags2, TypeFlags and OptionFlags3.
fn flags(login: &Login) -> [u8; 4] {
    let bits = |bits: &[(bool, u8)]| bits.iter().filter(|(is_set, _)| *is_set).map(|(_, bit)| *bit).sum();
    [
        bits(&[(true, 0xA0), (login.is_database_fatal, 0x40)]),
        bits(&[
            (login.is_language_fatal, 1),
            (login.is_odbc, 2),
            (login.is_integrated, 0x80),
        ]),
        bits(&[(login.is_read_only, 0x20)]),
        bits(&[
            (login.new_password.is_some(), 1),
            (login.is_user_instance, 4),
            (!login.features.is_empty(), 0x10),
        ]),
    ]
}

fn features(login: &Login) -> Result<Vec<u8>, TdsError> {
    let mut bytes = Vec::new();
    for feature in &login.features {
        bytes.push(feature.id);
        bytes.extend(u32::try_from(feature.data.len()).map_err(|_| TOO_LONG)?.to_le_bytes());
        bytes.extend(&feature.data);
    }
    if !bytes.is_empty() {
        bytes.push(0xFF);
    }
    Ok(bytes)
}

fn append_text_field(text: &str, fixed: &mut Vec<u8>, texts: &mut Vec<u8>) -> Result<(), TdsError> {
    let mut bytes = Vec::new();
    utf16::encode(text, &mut bytes);
    append_field(&bytes, 2, fixed, texts)
}

/// Appends bytes after the fixed part, and writes their offset and their length in units of `unit_size` to the fixed
/// part.
fn append_field(bytes: &[u8], unit_size: usize, fixed: &mut Vec<u8>, texts: &mut Vec<u8>) -> Result<(), TdsError> {
    let offset = u16::try_from(FIXED_SIZE + texts.len()).map_err(|_| TOO_LONG)?;
    let count = u16::try_from(bytes.len() / unit_size).map_err(|_| TOO_LONG)?;
    fixed.extend(offset.to_le_bytes());
    fixed.extend(count.to_le_bytes());
    texts.extend(bytes);
    Ok(())
}

fn obfuscate(password: &Password) -> Vec<u8> {
    let mut bytes = Vec::new();
    utf16::encode(password.expose(), &mut bytes);
    bytes.iter().map(|byte| byte.rotate_left(4) ^ 0xA5).collect()
}

const FIXED_SIZE: usize = 94;
const TOO_LONG: TdsError = TdsError::Misfit { what: "LOGIN7" };
