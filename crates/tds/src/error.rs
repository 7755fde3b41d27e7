//! What can be wrong between a client and us, and whose fault it is.

use std::fmt;
use std::io;

/// Why bytes were not parsed, or a token was not sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum TdsError {
    /// The peer: the bytes end before what they announce.
    Cut {
        /// What was being read.
        what: &'static str,
    },
    /// The peer: the bytes break a rule of MS-TDS.
    Malformed {
        /// The field or rule.
        what: &'static str,
    },
    /// The peer: more than may be held.
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How much there may be: bytes, or as many as `what` counts.
        limit: u64,
    },
    /// The peer: well formed, but nothing that is done here.
    Unsupported {
        /// Its name.
        what: &'static str,
    },
    /// The peer: a parameter of a procedure's call is wrong. The message was whole: the connection can go on.
    Parameter(Box<ParameterError>),
    /// The caller: a value or name does not fit what it is to be sent as.
    Misfit {
        /// What does not fit.
        what: &'static str,
    },
    /// The machine: the sink did not take a packet. Nothing more can be sent.
    Sink(io::Error),
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

/// What is wrong with a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ParameterFault {
    /// No such type: its byte.
    UnknownType(u8),
    /// A length that the type (its byte) can't have.
    Length(u8),
    /// Precision or scale that the type (its byte) can't have.
    Precision(u8),
    /// A value that is none of the type (its byte).
    Value(u8),
    /// Chunks of a large value (its type's byte) that break MS-TDS 2.2.5.2.3.
    Chunks(u8),
    /// The name is none.
    Name,
    /// Unknown status flags.
    Status,
    /// A type or encoding that is not done here: its name.
    Unsupported(&'static str),
}

/// An error as SQL Server would tell it to a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Complaint {
    /// SQL Server's number.
    pub number: i32,
    /// Severity; from 20 on the connection ends.
    pub severity: u8,
    /// The text.
    pub text: String,
}

impl TdsError {
    /// What a client is told; none where nobody can be told any more.
    #[must_use]
    pub fn complaint(&self) -> Option<Complaint> {
        unimplemented!()
    }
}

impl fmt::Display for TdsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut { what } => write!(f, "{what} is cut off"),
            Self::Malformed { what } => write!(f, "{what} breaks MS-TDS"),
            Self::TooLarge { what, limit } => write!(f, "{what} is larger than {limit}"),
            Self::Unsupported { what } => write!(f, "{what} is not supported"),
            Self::Parameter(error) => write!(f, "parameter {} ({:?}): {:?}", error.index, error.name, error.fault),
            Self::Misfit { what } => write!(f, "{what} does not fit what it is sent as"),
            Self::Sink(_) => f.write_str("the peer takes no more"),
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
            | Self::Unsupported { .. }
            | Self::Parameter(_)
            | Self::Misfit { .. } => None,
        }
    }
}
