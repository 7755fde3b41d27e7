//! MS-TDS as bytes: packets, PRELOGIN, LOGIN7, requests, tokens and values.
//!
//! - `bytes-in-bytes-out`: bytes in, bytes out: no socket, clock or source of randomness. TLS is
//!   left to the caller, also that inside PRELOGIN.
//! - `held-within-limits`: nothing that a peer sends causes a panic, or is held beyond a named
//!   limit.
//! - `unsupported-is-named`: what a peer sends and this crate does not support is an error that
//!   names it.
//! - `sections-of-ms-tds`: sections are those of MS-TDS:
//!   <https://learn.microsoft.com/openspecs/windows_protocols/ms-tds>. Versions 7.4 and 8.0.
//!
//! The order of a session: [`MessageReader`] puts messages together; [`Prelogin::parse`] and [`negotiate`] decide on
//! encryption; [`Login::parse`] says who comes; [`Request::parse`] says what is wanted; [`TokenWriter`] answers.
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

pub use error::{Complaint, PARAMETER_COUNT_MAX, ParameterError, ParameterFault, Part, TdsError};
pub use login::{Feature, LOGIN_SIZE_MAX, Login, Password, TdsVersion};
pub use packet::{
    HEADER_SIZE, HandshakePiece, Header, Incoming, Limits, Message, MessageKind, MessageReader, PRE_LOGIN_TOTAL_MAX,
    PRELOGIN_SIZE_MAX, PacketSink, PacketSize, PacketWriter, Reset, wrap_handshake,
};
pub use prelogin::{Channel, Encryption, EncryptionMode, Negotiated, Prelogin, ProductVersion, negotiate};
pub use request::{
    Batch, Headers, Isolation, Parameter, Procedure, ProcedureId, Request, RpcCall, RpcRequest, TransactionRequest,
    TransactionStep,
};
pub use token::{Column, Done, DoneKind, EnvChange, LoginAck, Notice, ReturnValue, RowShape, TokenWriter};
pub use value::{Collation, TypeInfo};
