//! The errors of the protocol, each with the party at fault: peer, caller or machine.

use std::fmt;
use std::io;

use selenite_types::XmlError;

mod complaint;

pub use complaint::Complaint;

/// Why bytes were not parsed or a token was not sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum TdsError {
    /// Peer: the bytes end before their announced length.
    Cut {
        /// The structure being parsed.
        part: MessagePart,
    },
    /// Peer: the bytes violate MS-TDS.
    Malformed {
        /// The structure being parsed.
        part: MessagePart,
        /// The violated field or rule.
        what: &'static str,
    },
    /// Peer: the message exceeds a size limit.
    TooLarge {
        /// The structure being parsed.
        part: MessagePart,
        /// The limit in bytes.
        limit: u64,
    },
    /// Peer: a call has more parameters than the limit. The message was complete: the connection can continue.
    TooManyParameters,
    /// Peer: a call has no procedure name. The message was complete: the connection can continue.
    ProcedureName,
    /// Peer: well formed, but not supported by this server.
    Unsupported {
        /// The name of the unsupported feature.
        what: &'static str,
    },
    /// Peer: a column of a bulk load, or a value of it, is invalid. The rest of the message can be skipped.
    BulkColumn {
        /// The column's number in the message, from 1.
        index: u16,
        /// The fault.
        fault: ParameterFault,
    },
    /// Peer: a parameter of a call is invalid. The message was complete: the connection can continue.
    Parameter(Box<ParameterError>),
    /// Caller: a value or name does not fit its declared type or length field.
    Misfit {
        /// The value or name that does not fit.
        what: &'static str,
    },
    /// Machine: the sink failed to send a packet. Nothing more can be sent.
    Sink(io::Error),
}

/// The structure being parsed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MessagePart {
    /// A packet's header, or the sequence of packets.
    Packet,
    /// PRELOGIN.
    Prelogin,
    /// LOGIN7.
    Login,
    /// ALL_HEADERS.
    Headers,
    /// SQLBatch.
    Batch,
    /// RPC.
    Rpc,
    /// A bulk load.
    BulkLoad,
    /// A Transaction Manager request.
    Transaction,
    /// A server's response.
    Answer,
}

/// An invalid parameter of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParameterError {
    /// The parameter's number in the call, from 1.
    pub index: u16,
    /// The parameter's name with the `@`; may be empty.
    pub name: String,
    /// Where the fault is in a table-valued parameter.
    pub table: Option<TablePlace>,
    /// The fault.
    pub fault: ParameterFault,
}

/// A place in a table-valued parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TablePlace {
    /// The row, from 1; 0 in what precedes the rows.
    pub row: u32,
    /// The column, from 1; 0 in what is of no column.
    pub column: u16,
}

/// What is wrong with a table-valued parameter, apart from types and values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TableFault {
    /// A token that is none, or not here: also a row of a null table, and of one whose parameter has the default.
    Token,
    /// The type has the name of a database.
    Database,
    /// The schema of the type is no name.
    Schema,
    /// The type's name is none.
    Name,
    /// There are no columns, or too many.
    ColumnCount,
    /// A column has a name.
    ColumnName,
    /// TVP_ORDER_UNIQUE has a column that is not there, or flags that exclude each other.
    Order,
    /// TVP_ORDER_UNIQUE has a column that is not sent.
    OrderOfDefault,
    /// TVP_COLUMN_ORDERING does not have each column once.
    ColumnOrder,
    /// TVP_COLUMN_ORDERING has another order than the type: not supported.
    OtherColumnOrder,
    /// TVP_ORDER_UNIQUE or TVP_COLUMN_ORDERING is there twice.
    MetadataCount,
    /// It is null, and its parameter does not have the default.
    Null,
}

/// What is wrong with a parameter. A `u8` is its type byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParameterFault {
    /// MS-TDS does not define the type.
    UnknownType(u8),
    /// The type does not allow the length.
    Length(u8),
    /// The type does not allow the precision or scale.
    Precision(u8),
    /// The value is out of the type's range.
    Value(u8),
    /// The chunks of a large value violate MS-TDS 2.2.5.2.3.
    Chunks(u8),
    /// An output parameter is an untyped NULL.
    UntypedOutput(u8),
    /// The name is invalid.
    Name,
    /// Unknown status flags.
    Status,
    /// A table-valued parameter is invalid.
    Table(TableFault),
    /// The text of xml is malformed.
    Xml(XmlError),
    /// The server does not support this type or encoding.
    Unsupported(&'static str),
    /// MS-TDS defines the type, but this server does not support it.
    UnsupportedType(&'static str),
}

impl fmt::Display for TdsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut { part } => write!(f, "{part} is cut off"),
            Self::Malformed { part, what } => write!(f, "{part} breaks MS-TDS: {what}"),
            Self::TooLarge { part, limit } => write!(f, "{part} is larger than {limit} bytes"),
            Self::TooManyParameters => f.write_str("a call has too many parameters"),
            Self::ProcedureName => f.write_str("a call names no procedure"),
            Self::Unsupported { what } => write!(f, "{what} is not supported"),
            Self::BulkColumn { index, .. } => write!(f, "column {index} of a bulk load is invalid"),
            Self::Parameter(error) => write!(f, "{error}"),
            Self::Misfit { what } => write!(f, "{what} does not fit what it is sent as"),
            Self::Sink(_) => f.write_str("the peer takes no more"),
        }
    }
}

impl fmt::Display for MessagePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Packet => "a packet",
            Self::Prelogin => "PRELOGIN",
            Self::Login => "LOGIN7",
            Self::Headers => "ALL_HEADERS",
            Self::Batch => "SQLBatch",
            Self::Rpc => "RPC",
            Self::BulkLoad => "a bulk load",
            Self::Transaction => "a request to the manager of transactions",
            Self::Answer => "an answer",
        })
    }
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter {} \"{}\": ", self.index, self.name)?;
        match self.fault {
            ParameterFault::UnknownType(byte) => write!(f, "no type has the byte {byte:#04x}"),
            ParameterFault::Length(byte) => write!(f, "a length that type {byte:#04x} can't have"),
            ParameterFault::Precision(byte) => write!(f, "precision or scale that type {byte:#04x} can't have"),
            ParameterFault::Value(byte) => write!(f, "no value of type {byte:#04x}"),
            ParameterFault::Chunks(byte) => write!(f, "wrong chunks of type {byte:#04x}"),
            ParameterFault::UntypedOutput(byte) => write!(f, "type {byte:#04x} for output"),
            ParameterFault::Name => f.write_str("not a name"),
            ParameterFault::Status => f.write_str("unknown status flags"),
            ParameterFault::Table(fault) => write!(f, "a table breaks MS-TDS: {fault:?}"),
            ParameterFault::Xml(error) => write!(f, "{error}"),
            ParameterFault::Unsupported(what) => write!(f, "{what} is not supported"),
            ParameterFault::UnsupportedType(what) => write!(f, "type {what} is not supported"),
        }
    }
}

impl std::error::Error for TdsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sink(error) => Some(error),
            Self::Cut { .. }
            | Self::Malformed { .. }
            | Self::TooLarge { .. }
            | Self::TooManyParameters
            | Self::ProcedureName
            | Self::Unsupported { .. }
            | Self::BulkColumn { .. }
            | Self::Parameter(_)
            | Self::Misfit { .. } => None,
        }
    }
}

/// 2100: SQL Server's maximum.
pub const PARAMETER_COUNT_MAX: usize = 2100;
