//! ALL_HEADERS: the headers in front of every request (MS-TDS 2.2.5.3).

use crate::byte_reader::ByteReader;
use crate::{MessagePart, TdsError};

/// ALL_HEADERS of a request.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Headers {
    /// TransactionDescriptor: the value of the last ENVCHANGE, or 0.
    pub transaction: u64,
    /// OutstandingRequestCount: 1 without MARS.
    pub outstanding_count: u32,
    /// The trace activity header: activity id and sequence number.
    pub activity: Option<[u8; 20]>,
}

impl Headers {
    /// Parses the headers and returns them with the bytes after them.
    pub(super) fn parse(data: &[u8]) -> Result<(Self, &[u8]), TdsError> {
        let mut reader = ByteReader::new(data, MessagePart::Headers);
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
    part: MessagePart::Headers,
    what: "a header",
};
