//! ALL_HEADERS: what comes before every request (MS-TDS 2.2.5.3).

use crate::byte_reader::ByteReader;
use crate::{Part, TdsError};

/// The headers of a request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Headers {
    /// The transaction that the client means: the one of the last ENVCHANGE, or 0.
    pub transaction: u64,
    /// How many requests are open: 1 without MARS.
    pub outstanding_count: u32,
    /// The activity's id and sequence.
    pub activity: Option<[u8; 20]>,
}

impl Headers {
    /// The headers, and what follows them.
    pub(super) fn parse(data: &[u8]) -> Result<(Self, &[u8]), TdsError> {
        let mut reader = ByteReader::new(data, Part::Headers);
        let total = reader.u32()?;
        let size = total
            .checked_sub(4)
            .and_then(|size| usize::try_from(size).ok())
            .ok_or(MALFORMED)?;
        let mut part = reader.split(size)?;
        let mut headers = Self::default();
        while !part.is_empty() {
            let size = part
                .u32()?
                .checked_sub(6)
                .and_then(|size| usize::try_from(size).ok())
                .ok_or(MALFORMED)?;
            let kind = part.u16()?;
            let mut header = part.split(size)?;
            match kind {
                TRANSACTION => {
                    headers.transaction = header.u64()?;
                    headers.outstanding_count = header.u32()?;
                }
                ACTIVITY => headers.activity = Some(header.array()?),
                NOTIFICATION => {
                    return Err(TdsError::Unsupported {
                        what: "a query notification",
                    });
                }
                _ => return Err(MALFORMED),
            }
            if !header.is_empty() {
                return Err(MALFORMED);
            }
        }
        Ok((headers, reader.rest()))
    }
}

const NOTIFICATION: u16 = 1;
const TRANSACTION: u16 = 2;
const ACTIVITY: u16 = 3;
const MALFORMED: TdsError = TdsError::Malformed {
    part: Part::Headers,
    what: "a header",
};
