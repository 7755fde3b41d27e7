//! The TLS handshake inside PRELOGIN packets (MS-TDS 3.3.5.1).
//!
//! - `headers-at-packet-boundaries`: a TDS header is expected only at packet boundaries: any byte
//!   of a TLS record may be 0x12.
//! - `bare-records-are-accepted`: a TLS record without a packet header (0x14 to 0x17 in the
//!   header's position) is accepted: Microsoft's ODBC driver sends some.

use super::{HEADER_SIZE, Header, MessageKind, PacketSize};
use crate::{MessagePart, TdsError};

/// The next packet or TLS record of a handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandshakePiece {
    header_size: usize,
    data_size: usize,
}

impl HandshakePiece {
    /// The size of the packet header in front of the TLS data; 0 for a bare record.
    #[must_use]
    pub fn header_size(&self) -> usize {
        self.header_size
    }

    /// The size of the TLS data after the header; may be 0.
    #[must_use]
    pub fn data_size(&self) -> usize {
        self.data_size
    }

    /// Parses the received bytes; `None` if there are too few.
    ///
    /// # Errors
    /// `Malformed` for a packet of another message type, or bytes that are neither a packet nor a TLS record.
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
                        part: MessagePart::Packet,
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

/// Wraps a server's TLS flight into one message of type PRELOGIN: clients read one message for each flight.
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

    /// The TLS bytes of a complete stream.
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
    fn a_wrapped_flight_unwraps_to_itself() {
        for size in [0, 1, 4087, 4088, 4089, 20_000] {
            let flight: Vec<u8> = (0..size).map(|at: u32| at.to_le_bytes()[0]).collect();
            assert_eq!(unwrapped(&wrap_handshake(&flight)), flight, "{size}");
        }
    }

    #[test]
    fn a_bare_record_between_packets_is_accepted() {
        let naked = [0x14, 3, 3, 0, 1, 1];
        let stream = [&wrap_handshake(b"ab")[..], &naked, &wrap_handshake(&[0x12; 9])].concat();
        assert_eq!(unwrapped(&stream), [b"ab", &naked[..], &[0x12; 9]].concat());
    }

    #[test]
    fn too_few_bytes_are_undecided_and_another_message_is_refused() {
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
