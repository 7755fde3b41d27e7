//! What can be wrong between a client and us, and whose fault it is.

use std::fmt;
use std::io;

mod complaint;

pub use complaint::Complaint;

/// Why bytes were not parsed, or a token was not sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum TdsError {
    /// The peer: the bytes end before what they announce.
    Cut {
        /// Where.
        part: Part,
    },
    /// The peer: the bytes break a rule of MS-TDS.
    Malformed {
        /// Where.
        part: Part,
        /// The field or rule.
        what: &'static str,
    },
    /// The peer: more than may be held.
    TooLarge {
        /// Where.
        part: Part,
        /// How many bytes there may be.
        limit: u64,
    },
    /// The peer: a call with more parameters than there may be. The message was complete: the connection can continue.
    TooManyParameters,
    /// The peer: a call of nothing. The message was complete: the connection can continue.
    ProcedureName,
    /// The peer: well formed, but nothing that is done here.
    Unsupported {
        /// Its name.
        what: &'static str,
    },
    /// The peer: a parameter of a call is wrong. The message was complete: the connection can continue.
    Parameter(Box<ParameterError>),
    /// The caller: a value or name does not fit what it is to be sent as.
    Misfit {
        /// What does not fit.
        what: &'static str,
    },
    /// The machine: the sink did not take a packet. Nothing more can be sent.
    Sink(io::Error),
}

/// What was being read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// A packet's header, or how packets follow each other.
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
    /// A request to the manager of transactions.
    Transaction,
    /// A server's answer.
    Answer,
}

/// Which parameter is wrong, and how.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParameterError {
    /// From 1.
    pub index: u16,
    /// As the client calls it, with the @; may be empty.
    pub name: String,
    /// What is wrong.
    pub fault: ParameterFault,
}

/// What is wrong with a parameter. The number is the byte of its type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParameterFault {
    /// No such type.
    UnknownType(u8),
    /// A length that the type can't have.
    Length(u8),
    /// Precision or scale that the type can't have.
    Precision(u8),
    /// A value that the type does not have.
    Value(u8),
    /// Chunks of a large value that break MS-TDS 2.2.5.2.3.
    Chunks(u8),
    /// An untyped NULL whose value is to be returned.
    UntypedOutput(u8),
    /// The name is invalid.
    Name,
    /// Unknown status flags.
    Status,
    /// A type or encoding that is not done here: its name.
    Unsupported(&'static str),
    /// A type that MS-TDS has, and we have not.
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
            Self::Parameter(error) => write!(f, "{error}"),
            Self::Misfit { what } => write!(f, "{what} does not fit what it is sent as"),
            Self::Sink(_) => f.write_str("the peer takes no more"),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Packet => "a packet",
            Self::Prelogin => "PRELOGIN",
            Self::Login => "LOGIN7",
            Self::Headers => "ALL_HEADERS",
            Self::Batch => "SQLBatch",
            Self::Rpc => "RPC",
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
            | Self::Parameter(_)
            | Self::Misfit { .. } => None,
        }
    }
}

/// 2100: as SQL Server has it.
pub const PARAMETER_COUNT_MAX: usize = 2100;
