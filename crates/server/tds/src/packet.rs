//! Packets, and the messages that consist of them (MS-TDS 2.2.3).
//!
//! - `held-as-it-arrives`: memory for a message is allocated as its bytes arrive, never by an
//!   announced length.
//! - `bulk-loads-in-pieces`: a bulk load may have any size: each of its packets is passed on when it
//!   is complete.
//! - `one-limit-before-login`: before login all bytes from a peer count against one limit.

mod handshake_piece;
mod header;
mod message;
mod message_reader;
mod packet_size;
mod packet_writer;

pub use handshake_piece::{HandshakePiece, wrap_handshake};
pub use header::{HEADER_SIZE, Header, MessageKind};
pub use message::{BulkPiece, Incoming, Message, Reset};
pub use message_reader::{Limits, MessageReader, PRE_LOGIN_TOTAL_MAX, PRELOGIN_SIZE_MAX};
pub use packet_size::PacketSize;
pub use packet_writer::{PacketSink, PacketWriter};
