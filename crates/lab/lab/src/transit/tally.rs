//! Counts the packets and DONE tokens of an answer as they arrive, if it has no other tokens.

use std::io;

use selenite_tds::{HEADER_SIZE, Header};

/// The counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// TDS packets.
    pub packet_count: u64,
    /// DONE tokens.
    pub done_count: u64,
    /// The number of received bytes of an incomplete token.
    within: usize,
}

impl Tally {
    /// Consumes the complete packets at the start of `bytes`. Returns their size in bytes, and
    /// whether the last of them ends the message.
    ///
    /// # Errors
    /// A token other than DONE; an invalid packet.
    pub fn take(&mut self, bytes: &[u8]) -> io::Result<(usize, bool)> {
        let mut rest = bytes;
        while let Some((header, _)) = rest.split_first_chunk::<HEADER_SIZE>() {
            let header = Header::parse(header).map_err(io::Error::other)?;
            let Some((packet, behind)) = rest.split_at_checked(header.length.into()) else {
                break;
            };
            self.count(packet.get(HEADER_SIZE..).unwrap_or_default())?;
            self.packet_count += 1;
            rest = behind;
            if header.status & Header::END != 0 {
                return Ok((bytes.len() - rest.len(), true));
            }
        }
        Ok((bytes.len() - rest.len(), false))
    }

    fn count(&mut self, payload: &[u8]) -> io::Result<()> {
        // The rest of a token that began in the previous packet.
        let mut at = (DONE_SIZE - self.within) % DONE_SIZE;
        while let Some(&token) = payload.get(at) {
            if token != DONE {
                return Err(io::Error::other(format!(
                    "a token {token:#04x} among those of the loop"
                )));
            }
            self.done_count += 1;
            at += DONE_SIZE;
        }
        self.within = (self.within + payload.len()) % DONE_SIZE;
        Ok(())
    }

    /// Whether the last token is complete.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.within == 0
    }
}

/// The token DONE, MS-TDS 2.2.7.6.
const DONE: u8 = 0xFD;
/// The size of its token, status, command and row count.
const DONE_SIZE: usize = 13;

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(payload: &[u8], status: u8) -> Vec<u8> {
        let length = u16::try_from(payload.len() + HEADER_SIZE).unwrap().to_be_bytes();
        let mut packet = vec![4, status, length[0], length[1], 0, 51, 1, 0];
        packet.extend_from_slice(payload);
        packet
    }

    #[test]
    fn tokens_are_counted_wherever_packets_cut_them() {
        let mut done = [0; DONE_SIZE];
        done[0] = DONE;
        let stream = done.repeat(31);
        for size in [1, 12, 13, 14, 100, 500] {
            let pieces: Vec<&[u8]> = stream.chunks(size).collect();
            let mut bytes = Vec::new();
            for (index, piece) in pieces.iter().enumerate() {
                bytes.extend(packet(piece, u8::from(index + 1 == pieces.len())));
            }
            let mut tally = Tally::default();
            // All but the last byte, and then the last byte.
            let (first, ended) = tally.take(&bytes[..bytes.len() - 1]).unwrap();
            assert!(!ended);
            assert_eq!(tally.take(&bytes[first..]).unwrap(), (bytes.len() - first, true));
            assert_eq!((tally.done_count, tally.packet_count), (31, pieces.len() as u64));
            assert!(tally.is_whole());
        }
    }

    #[test]
    fn any_other_token_is_an_error() {
        let mut tally = Tally::default();
        assert!(tally.take(&packet(&[0xAA; 13], 1)).is_err());
    }
}
