//! TLS's handshake inside PRELOGIN's packets (MS-TDS 3.3.5.1).
//!
//! - `headers-at-packet-boundaries`: a header of TDS is expected at the boundaries of packets
//!   alone: any byte of a record may be 0x12.
//! - `bare-records-are-accepted`: a record without a packet around it (0x14 to 0x17 where a header
//!   should be) is accepted: Microsoft's ODBC driver sends some.

use super::{HEADER_SIZE, Header, MessageKind, PacketSize};
use crate::{Part, TdsError};

/// What comes next of a handshake, at the boundary of a packet or record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandshakePiece {
    header_size: usize,
    data_size: usize,
}

impl HandshakePiece {
    /// Bytes in front that are not TLS's: a packet's header, or none.
    #[must_use]
    pub fn header_size(&self) -> usize {
        self.header_size
    }

    /// Bytes of TLS after them, which may be none.
    #[must_use]
    pub fn data_size(&self) -> usize {
        self.data_size
    }

    /// Examines the received bytes; `None` if there are too few to decide.
    ///
    /// # Errors
    /// `Malformed` for a packet of another message, or what is no packet.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, TdsError> {
        match *bytes {
            [0x14..=0x17, _, _, high, low, ..] => Ok(Some(Self {
                header_size: 0,
                data_size: RECORD_HEADER_SIZE + usize::from(u16::from_be_bytes([high, low])),
            })),
            [0x14..=0x17, ..] => Ok(None),
            [a, b, c, d, e, f, g, h, ..] => {
                let header = Header::parse(&[a, b, c, d, e, f, g, h])?;
                if header.kind != MessageKind::Prelogin {
                    return Err(TdsError::Malformed {
                        part: Part::Packet,
                        what: "another message within the handshake of TLS",
                    });
                }
                Ok(Some(Self {
                    header_size: HEADER_SIZE,
                    data_size: usize::from(header.length) - HEADER_SIZE,
                }))
            }
            _ => Ok(None),
        }
    }
}

/// What a server says in one turn of a handshake, as one message of PRELOGIN's kind: clients read one message for one
/// turn.
#[must_use]
pub fn wrap_handshake(flight: &[u8]) -> Vec<u8> {
    let room = usize::from(PacketSize::DEFAULT.bytes()) - HEADER_SIZE;
    let count = flight.len().div_ceil(room);
    let mut message = Vec::with_capacity(flight.len() + count * HEADER_SIZE);
    for (index, piece) in flight.chunks(room).enumerate() {
        let header = Header {
            kind: MessageKind::Prelogin,
            status: if index + 1 == count { Header::END } else { 0 },
            length: u16::try_from(HEADER_SIZE + piece.len()).unwrap_or(u16::MAX),
            spid: 0,
            packet_id: u8::try_from(index % 256).unwrap_or(0),
        };
        message.extend_from_slice(&header.encode());
        message.extend_from_slice(piece);
    }
    message
}

/// RFC 5246, 6.2: type, version, length.
const RECORD_HEADER_SIZE: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of TLS in a complete stream.
    fn unwrapped(mut bytes: &[u8]) -> Vec<u8> {
        let mut found = Vec::new();
        while let Some(piece) = HandshakePiece::parse(bytes).unwrap() {
            let (data, rest) = bytes[piece.header_size..].split_at(piece.data_size);
            found.extend_from_slice(data);
            bytes = rest;
        }
        assert!(bytes.is_empty());
        found
    }

    #[test]
    fn what_is_wrapped_comes_out_again() {
        for size in [0, 1, 4087, 4088, 4089, 20_000] {
            let flight: Vec<u8> = (0..size).map(|at: u32| at.to_le_bytes()[0]).collect();
            assert_eq!(unwrapped(&wrap_handshake(&flight)), flight, "{size}");
        }
    }

    #[test]
    fn a_naked_record_is_taken_between_packets() {
        let naked = [0x14, 3, 3, 0, 1, 1];
        let stream = [&wrap_handshake(b"ab")[..], &naked, &wrap_handshake(&[0x12; 9])].concat();
        assert_eq!(unwrapped(&stream), [b"ab", &naked[..], &[0x12; 9]].concat());
    }

    #[test]
    fn too_little_is_not_judged_and_another_message_is_refused() {
        for size in 0..8 {
            assert!(
                HandshakePiece::parse(&wrap_handshake(b"ab")[..size]).unwrap().is_none(),
                "{size}"
            );
        }
        assert!(HandshakePiece::parse(&[0x16, 3, 1, 0]).unwrap().is_none());
        assert!(HandshakePiece::parse(&[0x10, 1, 0, 9, 0, 0, 0, 0]).is_err());
        assert!(HandshakePiece::parse(&[0x12, 1, 0, 7, 0, 0, 0, 0]).is_err());
        assert!(HandshakePiece::parse(b"GET / HTTP").is_err());
    }
}
