//! Transaction Manager requests (MS-TDS 2.2.6.9).

use super::Headers;
use crate::byte_reader::ByteReader;
use crate::{MessagePart, TdsError, utf16};

/// A Transaction Manager request with its headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransactionRequest {
    /// ALL_HEADERS.
    pub headers: Headers,
    /// RequestType with its payload.
    pub step: TransactionStep,
}

/// RequestType with its payload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TransactionStep {
    /// 5: TM_BEGIN_XACT.
    Begin {
        /// The session's isolation level from now on.
        isolation: Isolation,
        /// The transaction's name; may be empty.
        name: String,
    },
    /// 7: TM_COMMIT_XACT.
    Commit {
        /// The transaction's name; may be empty.
        name: String,
        /// The transaction that begins immediately afterwards.
        next: Option<(Isolation, String)>,
    },
    /// 8: TM_ROLLBACK_XACT.
    Rollback {
        /// The name of a savepoint or of the transaction; may be empty.
        name: String,
        /// The transaction that begins immediately afterwards.
        next: Option<(Isolation, String)>,
    },
    /// 9: TM_SAVE_XACT.
    Save {
        /// The savepoint's name; never empty.
        name: String,
    },
}

/// ISOLATION_LEVEL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Isolation {
    /// 0: unchanged.
    Unchanged,
    /// 1.
    ReadUncommitted,
    /// 2.
    ReadCommitted,
    /// 3.
    RepeatableRead,
    /// 4.
    Serializable,
    /// 5.
    Snapshot,
}

impl TransactionRequest {
    pub(super) fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let (headers, rest) = Headers::parse(data)?;
        let mut reader = ByteReader::new(rest, MessagePart::Transaction);
        let step = match reader.u16()? {
            0 => {
                return Err(TdsError::Unsupported {
                    what: "TM_GET_DTC_ADDRESS",
                });
            }
            1 => {
                return Err(TdsError::Unsupported {
                    what: "TM_PROPAGATE_XACT",
                });
            }
            5 => {
                let (isolation, name) = parse_begin(&mut reader)?;
                TransactionStep::Begin { isolation, name }
            }
            6 => {
                return Err(TdsError::Unsupported {
                    what: "TM_PROMOTE_XACT",
                });
            }
            7 => {
                let (name, next) = parse_end(&mut reader)?;
                TransactionStep::Commit { name, next }
            }
            8 => {
                let (name, next) = parse_end(&mut reader)?;
                TransactionStep::Rollback { name, next }
            }
            9 => match parse_name(&mut reader)? {
                name if name.is_empty() => return Err(reader.malformed("a savepoint without a name")),
                name => TransactionStep::Save { name },
            },
            _ => return Err(reader.malformed("its type")),
        };
        if reader.is_empty() {
            Ok(Self { headers, step })
        } else {
            Err(reader.malformed("what follows"))
        }
    }
}

/// ISOLATION_LEVEL and the name of the new transaction.
fn parse_begin(reader: &mut ByteReader<'_>) -> Result<(Isolation, String), TdsError> {
    let isolation = match reader.u8()? {
        0 => Isolation::Unchanged,
        1 => Isolation::ReadUncommitted,
        2 => Isolation::ReadCommitted,
        3 => Isolation::RepeatableRead,
        4 => Isolation::Serializable,
        5 => Isolation::Snapshot,
        _ => return Err(reader.malformed("the isolation")),
    };
    Ok((isolation, parse_name(reader)?))
}

/// The name of the ended transaction, and the next transaction if fBeginXact is set.
fn parse_end(reader: &mut ByteReader<'_>) -> Result<(String, Option<(Isolation, String)>), TdsError> {
    let name = parse_name(reader)?;
    let flags = reader.u8()?;
    if flags & !BEGIN_NEXT != 0 {
        return Err(reader.malformed("its flags"));
    }
    let next = if flags & BEGIN_NEXT == 0 {
        None
    } else {
        Some(parse_begin(reader)?)
    };
    Ok((name, next))
}

/// Unlike B_VARCHAR, the one-byte length counts bytes of UTF-16.
fn parse_name(reader: &mut ByteReader<'_>) -> Result<String, TdsError> {
    let bytes = reader.short_bytes()?;
    utf16::parse(bytes).ok_or(reader.malformed("text in UTF-16"))
}

const BEGIN_NEXT: u8 = 0x01;
