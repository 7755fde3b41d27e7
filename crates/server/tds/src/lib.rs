//! MS-TDS as bytes: packets, PRELOGIN, LOGIN7, requests, tokens and values.
//!
//! - `bytes-in-bytes-out`: no socket, clock or source of randomness. TLS is left to the caller,
//!   including TLS inside PRELOGIN.
//! - `held-within-limits`: input from a peer never causes a panic and is never buffered beyond a
//!   named limit.
//! - `unsupported-is-named`: a request for an unsupported feature is an error that names the
//!   feature.
//! - `sections-of-ms-tds`: section numbers are those of MS-TDS, versions 7.4 and 8.0:
//!   <https://learn.microsoft.com/openspecs/windows_protocols/ms-tds>.
//!
//! The order of a session: [`MessageReader`] reassembles messages; [`Prelogin::parse`] and [`negotiate`] decide on
//! encryption; [`Login::parse`] reads the client's login; [`Request::parse`] reads its requests; [`TokenWriter`] writes
//! responses.
#![forbid(unsafe_code)]

mod byte_reader;
#[cfg(any(test, feature = "client"))]
pub mod client;
mod error;
mod login;
mod packet;
mod prelogin;
mod request;
#[cfg(test)]
mod sample;
mod token;
mod type_byte;
mod utf16;
mod value;
#[cfg(test)]
mod vector;

pub use error::{
    Complaint, MessagePart, PARAMETER_COUNT_MAX, ParameterError, ParameterFault, TableFault, TablePlace, TdsError,
};
pub use login::{Feature, LOGIN_SIZE_MAX, Login, Password, TdsVersion};
pub use packet::{
    BulkPiece, HEADER_SIZE, HandshakePiece, Header, Incoming, Limits, Message, MessageKind, MessageReader,
    PRE_LOGIN_TOTAL_MAX, PRELOGIN_SIZE_MAX, PacketSink, PacketSize, PacketWriter, Reset, wrap_handshake,
};
pub use prelogin::{Channel, Encryption, EncryptionMode, Negotiated, Prelogin, ProductVersion, negotiate};
pub use request::{
    Batch, BulkReader, BulkStep, Headers, Isolation, Parameter, Procedure, ProcedureId, Request, RpcCall, RpcRequest,
    TableColumn, TableValue, TransactionRequest, TransactionStep,
};
pub use token::{Column, ColumnInfo, Done, DoneKind, EnvChange, LoginAck, Notice, ReturnValue, RowShape, TokenWriter};
pub use value::{Collation, TypeInfo};
