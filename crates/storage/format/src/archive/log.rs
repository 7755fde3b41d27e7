//! The facts in an object of the log, before sealing (FORMAT 12.6).
//!
//! | size | |
//! |---|---|
//! | 32 | SHA-256 of the previous object; for number 0 of the manifest |
//! | 8 | time of this state of the database: milliseconds since 1970-01-01 UTC |
//! | 20 | position in the WAL where the previous turn ended: salts (8), frames (4), checksum (8) |
//! | 20 | where this turn ends |
//! | 4 | page count of the database there |
//! | 1 | position in its turn: bit 0 the first object, bit 1 the last, the others zero |

use super::LogPosition;
use super::reader::Reader;
use crate::FormatError;

/// The end of a turn in a write-ahead log, with a checksum that identifies the log up to there.
///
/// Salts alone do not identify it: after a power loss writers continue with the same salts from the
/// end of the log that remains, over frames that may have been sent already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogEnd {
    /// Salts and number of frames.
    pub position: LogPosition,
    /// The checksum in the header of the last frame, which covers all preceding frames; zeros without a frame.
    pub checksum: [u8; 8],
}

/// The facts in an object of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogFacts {
    /// The SHA-256 of the previous object; for number 0 of the manifest.
    pub previous: [u8; 32],
    /// The time of this state of the database: milliseconds since 1970-01-01 UTC. No later commit is included.
    pub made: u64,
    /// The end of the previous turn.
    pub from: LogEnd,
    /// The end of this turn.
    pub to: LogEnd,
    /// The page count of the database at the end of this turn.
    pub page_count: u32,
    /// Whether it is the first object of its turn.
    pub is_first: bool,
    /// Whether it is the last object of its turn.
    pub is_last: bool,
}

impl LogFacts {
    /// Encodes the facts.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = self.previous.to_vec();
        out.extend(self.made.to_be_bytes());
        for end in [&self.from, &self.to] {
            out.extend(end.position.salts);
            out.extend(end.position.frames.to_be_bytes());
            out.extend(end.checksum);
        }
        out.extend(self.page_count.to_be_bytes());
        out.push(u8::from(self.is_first) | u8::from(self.is_last) << 1);
        out
    }

    /// Parses the facts.
    ///
    /// # Errors
    /// [`FormatError::Archive`].
    pub fn parse(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(bytes, REFUSED);
        let previous = reader.array()?;
        let made = reader.u64()?;
        let (from, to) = (end(&mut reader)?, end(&mut reader)?);
        let page_count = reader.u32()?;
        let [flags] = reader.array()?;
        reader.end()?;
        (flags < 4).then_some(()).ok_or(REFUSED)?;
        Ok(Self {
            previous,
            made,
            from,
            to,
            page_count,
            is_first: flags & 1 != 0,
            is_last: flags & 2 != 0,
        })
    }
}

fn end(reader: &mut Reader<'_>) -> Result<LogEnd, FormatError> {
    let position = LogPosition {
        salts: reader.array()?,
        frames: reader.u32()?,
    };
    let checksum = reader.array()?;
    let is_sound = position.frames > 0 || checksum == [0; 8];
    is_sound.then_some(LogEnd { position, checksum }).ok_or(REFUSED)
}

const REFUSED: FormatError = FormatError::Archive {
    what: "what an object of the log says",
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn end() -> impl Strategy<Value = LogEnd> {
        (any::<[u8; 8]>(), any::<u32>(), any::<[u8; 8]>()).prop_map(|(salts, frames, checksum)| LogEnd {
            position: LogPosition { salts, frames },
            checksum: if frames == 0 { [0; 8] } else { checksum },
        })
    }

    fn facts() -> impl Strategy<Value = LogFacts> {
        let flags = any::<(bool, bool)>();
        (any::<[u8; 32]>(), any::<u64>(), end(), end(), any::<u32>(), flags).prop_map(
            |(previous, made, from, to, page_count, (is_first, is_last))| LogFacts {
                previous,
                made,
                from,
                to,
                page_count,
                is_first,
                is_last,
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn facts_round_trip_and_other_lengths_are_refused(facts in facts()) {
            let bytes = facts.encode();
            prop_assert_eq!(LogFacts::parse(&bytes).unwrap(), facts);
            for cut in 0..bytes.len() {
                prop_assert!(LogFacts::parse(&bytes[..cut]).is_err());
            }
            prop_assert!(LogFacts::parse(&[bytes.as_slice(), &[0]].concat()).is_err());
        }

        #[test]
        fn every_byte_counts(facts in facts(), at in 0_usize..LOG_FACTS_SIZE) {
            let mut bytes = facts.encode();
            bytes[at] ^= 0x40;
            prop_assert!(LogFacts::parse(&bytes).is_err() || LogFacts::parse(&bytes).unwrap() != facts);
        }
    }

    #[test]
    fn unknown_flags_and_a_checksum_without_frames_are_refused() {
        let none = LogEnd {
            position: LogPosition {
                salts: [1; 8],
                frames: 0,
            },
            checksum: [0; 8],
        };
        let facts = LogFacts {
            previous: [0; 32],
            made: 1,
            from: none,
            to: none,
            page_count: 1,
            is_first: true,
            is_last: true,
        };
        let mut bytes = facts.encode();
        assert_eq!(bytes.len(), LOG_FACTS_SIZE);
        bytes[LOG_FACTS_SIZE - 1] = 4;
        assert!(LogFacts::parse(&bytes).is_err());
        let from = LogEnd {
            checksum: [1; 8],
            ..none
        };
        assert!(LogFacts::parse(&LogFacts { from, ..facts }.encode()).is_err());
    }

    const LOG_FACTS_SIZE: usize = 85;
}
