//! The 48 bytes at the end of every sealed page.

use crate::{Epoch, PageNonce, SessionId};

/// The size of the trailer (FORMAT 5.1): SQLite's reserved bytes of a page.
pub const TRAILER_SIZE: usize = 48;

/// The size of the trailer before the tag.
pub(crate) const TRAILER_HEAD_SIZE: usize = 32;

/// The fields of a trailer (FORMAT 5.1): they identify the key of a page, and contain its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// The epoch of the data key.
    pub epoch: Epoch,
    /// Session, salt and counter.
    pub nonce: PageNonce,
    /// The authentication tag.
    pub tag: [u8; 16],
}

impl Trailer {
    /// Splits a trailer into its fields. Any content is well-formed, and none is authentic before
    /// the page has been opened.
    pub fn parse(bytes: &[u8; TRAILER_SIZE]) -> Self {
        let mut rest = bytes.as_slice();
        Self {
            epoch: Epoch(u32::from_be_bytes(take(&mut rest))),
            nonce: PageNonce {
                session: SessionId(take(&mut rest)),
                salt: take(&mut rest),
                counter: u32::from_be_bytes(take(&mut rest)),
            },
            tag: take(&mut rest),
        }
    }

    /// Joins the fields into a trailer.
    pub fn encode(&self) -> [u8; TRAILER_SIZE] {
        let mut bytes = [0; TRAILER_SIZE];
        bytes[..4].copy_from_slice(&self.epoch.0.to_be_bytes());
        bytes[4..20].copy_from_slice(&self.nonce.session.0);
        bytes[20..32].copy_from_slice(&self.nonce.bytes());
        bytes[32..].copy_from_slice(&self.tag);
        bytes
    }
}

/// Splits `N` bytes off the front of the remaining bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> [u8; N] {
    let (head, tail) = rest
        .split_first_chunk::<N>()
        .expect("the fields of a trailer are 4 + 16 + 8 + 4 + 16 = 48 bytes");
    *rest = tail;
    *head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encode_puts_every_field_where_the_format_says() {
        let trailer = Trailer {
            epoch: Epoch(0x0102_0304),
            nonce: PageNonce {
                session: SessionId([0xaa; 16]),
                salt: [0xbb; 8],
                counter: 0x0506_0708,
            },
            tag: [0xcc; 16],
        };
        let bytes = trailer.encode();
        assert_eq!(bytes[0..4], [1, 2, 3, 4]);
        assert_eq!(bytes[4..20], [0xaa; 16]);
        assert_eq!(bytes[20..28], [0xbb; 8]);
        assert_eq!(bytes[28..32], [5, 6, 7, 8]);
        assert_eq!(bytes[32..48], [0xcc; 16]);
        assert_eq!(Trailer::parse(&bytes), trailer);
    }
}
