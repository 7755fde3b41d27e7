//! Any stream as what a stranger sends up to its login: PRELOGIN, perhaps TLS's handshake, LOGIN7. What the server
//! makes of it does not depend on the pieces in which it came, is bounded, and every refusal of a login has words
//! for the client.

use selenite_tds::{
    Channel, EncryptionMode, HandshakePiece, Incoming, Login, MessageKind, MessageReader, PRE_LOGIN_TOTAL_MAX,
    PacketSize, Prelogin, negotiate,
};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let Some((&first, stream)) = data.split_first() else {
        return;
    };
    let mode = match first & 3 {
        0 => EncryptionMode::Off,
        1 => EncryptionMode::Optional,
        2 => EncryptionMode::Required,
        _ => EncryptionMode::Strict,
    };
    let whole = greeted(stream, stream.len().max(1), mode);
    assert_eq!(greeted(stream, usize::from(first >> 2) + 1, mode), whole);
}

/// What a stranger is found to want, step by step.
fn greeted(stream: &[u8], piece_size: usize, mode: EncryptionMode) -> Vec<String> {
    let mut reader = MessageReader::new();
    let mut told = Vec::new();
    let mut channel = None;
    let mut taken = 0;
    for mut piece in stream.chunks(piece_size) {
        loop {
            let before = piece.len();
            let pushed = reader.push(&mut piece);
            taken += before - piece.len();
            assert!(taken <= PRE_LOGIN_TOTAL_MAX || pushed.is_err());
            let message = match pushed {
                Ok(None) => break,
                Ok(Some(Incoming::Message(message))) => message,
                Ok(Some(Incoming::BulkLoad(_) | Incoming::Attention | Incoming::Ignored(_))) => {
                    told.push("out of order".to_owned());
                    return told;
                }
                Err(error) => {
                    told.push(error.to_string());
                    return told;
                }
            };
            match (message.kind(), channel) {
                (MessageKind::Prelogin, None) => match Prelogin::parse(message.data()) {
                    Ok(prelogin) => {
                        let agreed = negotiate(prelogin.encryption, mode);
                        told.push(format!("{:?} {:?}", agreed.answer, agreed.channel));
                        match agreed.channel {
                            // In clear the login follows; else a handshake, which is TLS's own matter but for its
                            // packets.
                            Some(Channel::AsItIs) => channel = Some(Channel::AsItIs),
                            Some(Channel::LoginOnly | Channel::Whole) => {
                                told.push(handshake(&stream[taken..]));
                                return told;
                            }
                            None => return told,
                        }
                    }
                    Err(error) => {
                        told.push(error.to_string());
                        return told;
                    }
                },
                (MessageKind::Login, Some(Channel::AsItIs)) => {
                    told.push(login(message.data()));
                    return told;
                }
                (_, _) => {
                    told.push("out of order".to_owned());
                    return told;
                }
            }
        }
        assert!(piece.is_empty());
    }
    told
}

fn handshake(mut stream: &[u8]) -> String {
    let mut count = 0;
    loop {
        match HandshakePiece::parse(stream) {
            Ok(Some(piece)) => match stream.get(piece.header_size() + piece.data_size()..) {
                Some(rest) => stream = rest,
                None => return format!("{count} and a part"),
            },
            Ok(None) => return format!("{count}"),
            Err(error) => return format!("{count}: {error}"),
        }
        count += 1;
    }
}

fn login(data: &[u8]) -> String {
    match Login::parse(data) {
        Ok(login) => {
            let size = PacketSize::nearest(login.packet_size);
            assert!((512..=32_767).contains(&size.bytes()));
            let version = login.tds_version.agreed(false);
            format!("{} {:?} {:?} {version:?}", login.user_name, login.unsupported(), size)
        }
        Err(error) => {
            assert!(error.complaint().is_some());
            error.to_string()
        }
    }
}
