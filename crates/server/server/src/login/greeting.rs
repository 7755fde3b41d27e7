//! PRELOGIN, TLS, LOGIN7: until the login is known.

use selenite_tds::{
    Channel, EncryptionMode, Incoming, Login, Message, MessageKind, MessagePart, MessageReader, PacketSize,
    PacketWriter, Prelogin, TdsError, negotiate,
};

use crate::instance::VERSION;
use crate::login::{LineSink, Refusal};
use crate::transport::{Line, LineError, TlsSetup, WaitMode};

/// A client that requests a login.
pub struct Arrival {
    /// The login and its options; or why it is not a login.
    pub login: Result<Login, Refusal>,
    /// Whether TLS began before everything else.
    pub is_strict: bool,
    /// Whether all that follows is encrypted.
    pub is_encrypted: bool,
}

/// Agrees on encryption and reads the login.
///
/// # Errors
/// Any of [`LineError`]: no client is left to send an error to.
pub fn greet(
    line: &mut Line,
    reader: &mut MessageReader,
    mode: EncryptionMode,
    tls: &TlsSetup,
) -> Result<Arrival, LineError> {
    // RFC 8446, 5.1: a handshake's record begins so; MS-TDS 2.2.3.1.1: a PRELOGIN so.
    let is_strict = match (line.first_byte()?, mode) {
        (0x16, EncryptionMode::Off) => return Err(LineError::Framing("TLS, which is switched off")),
        (0x16, EncryptionMode::Optional | EncryptionMode::Required | EncryptionMode::Strict) => true,
        (_, EncryptionMode::Strict) => return Err(LineError::Framing("no TLS before the first packet")),
        (_, EncryptionMode::Off | EncryptionMode::Optional | EncryptionMode::Required) => false,
    };
    if is_strict {
        line.shake_hands(tls.strict.clone())?;
    }
    let mode = if is_strict { EncryptionMode::Strict } else { mode };
    let prelogin = Prelogin::parse(message(line, reader, MessageKind::Prelogin)?.data())?;
    let agreed = negotiate(prelogin.encryption, mode);
    let answer = Prelogin {
        version: VERSION,
        encryption: agreed.answer,
        // Whatever instance is looked for, there is this one.
        instance: Some(vec![0]),
        mars: Some(false),
        federated_required: prelogin.federated_required.map(|_| false),
        ..Prelogin::default()
    };
    answer_prelogin(line, &answer)?;
    let channel = agreed
        .channel
        .ok_or(LineError::Framing("no encryption mode in common"))?;
    match channel {
        Channel::AsItIs => {}
        Channel::LoginOnly | Channel::Whole => line.shake_hands_in_prelogin(tls.in_prelogin.clone())?,
    }
    let message = message(line, reader, MessageKind::Login)?;
    if channel == Channel::LoginOnly {
        line.end_tls()?;
    }
    let login = Login::parse(message.data()).map_err(Refusal::Protocol);
    drop(message);
    line.wipe_taken();
    Ok(Arrival {
        login,
        is_strict,
        is_encrypted: line.is_encrypted(),
    })
}

/// The next message, which has to be of that kind.
fn message(line: &mut Line, reader: &mut MessageReader, kind: MessageKind) -> Result<Message, LineError> {
    loop {
        match line.message(reader, WaitMode::Wait)? {
            None => {}
            Some(Incoming::Message(message)) if message.kind() == kind => return Ok(message),
            Some(Incoming::Message(_) | Incoming::BulkLoad(_) | Incoming::Attention | Incoming::Ignored(_)) => {
                return Err(LineError::Tds(TdsError::Malformed {
                    part: MessagePart::Packet,
                    what: "an unexpected message",
                }));
            }
        }
    }
}

/// MS-TDS 2.2.6.5: a server's PRELOGIN is an answer by its packet's type.
fn answer_prelogin(line: &mut Line, answer: &Prelogin) -> Result<(), LineError> {
    let mut packets = PacketWriter::new(LineSink(line), MessageKind::TabularResult, PacketSize::DEFAULT, 0);
    packets.write(&answer.encode()?)?;
    Ok(packets.finish()?)
}
