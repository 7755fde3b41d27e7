//! The requests of a client after login (MS-TDS 2.2.6).

mod bulk_load;
mod headers;
mod procedure;
mod rpc;
mod table_value;
mod transaction;

pub use bulk_load::{BulkReader, BulkStep};
pub use headers::Headers;
pub use procedure::{Procedure, ProcedureId};
pub use rpc::{Parameter, RpcCall, RpcRequest};
pub use table_value::{TableColumn, TableValue};
pub use transaction::{Isolation, TransactionRequest, TransactionStep};

use crate::{Message, MessageKind, MessagePart, TdsError};

/// A request.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// SQLBatch.
    Batch(Batch),
    /// RPC.
    Rpc(RpcRequest),
    /// A Transaction Manager request: begin, save, commit or roll back.
    Transaction(TransactionRequest),
}

/// SQLBatch (MS-TDS 2.2.6.7).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    /// ALL_HEADERS.
    pub headers: Headers,
    /// SQLText.
    pub text: String,
}

impl Request {
    /// Parses a message.
    ///
    /// Errors: `Cut`, `Malformed`, `TooLarge`, `Parameter`; `Unsupported` for any other message type.
    /// The message is complete: after an error the connection can continue.
    pub fn parse(message: &Message) -> Result<Self, TdsError> {
        let data = message.data();
        match message.kind() {
            MessageKind::SqlBatch => Batch::parse(data).map(Self::Batch),
            MessageKind::Rpc => RpcRequest::parse(data).map(Self::Rpc),
            MessageKind::TransactionRequest => TransactionRequest::parse(data).map(Self::Transaction),
            MessageKind::FederatedToken => Err(TdsError::Unsupported {
                what: "federated authentication",
            }),
            MessageKind::Sspi => Err(TdsError::Unsupported {
                what: "Windows authentication",
            }),
            // A bulk load is read by [`BulkReader`].
            MessageKind::BulkLoad
            | MessageKind::OldLogin
            | MessageKind::TabularResult
            | MessageKind::Attention
            | MessageKind::Login
            | MessageKind::Prelogin => Err(TdsError::Malformed {
                part: MessagePart::Packet,
                what: "a message that is no request",
            }),
        }
    }
}

impl Batch {
    fn parse(data: &[u8]) -> Result<Self, TdsError> {
        let (headers, text) = Headers::parse(data)?;
        if !text.len().is_multiple_of(2) {
            return Err(TdsError::Cut {
                part: MessagePart::Batch,
            });
        }
        let text = crate::utf16::parse(text).ok_or(TdsError::Unsupported {
            what: "half a surrogate pair",
        })?;
        Ok(Self { headers, text })
    }
}

#[cfg(test)]
mod tests;
