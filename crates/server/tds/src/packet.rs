//! Packets and the messages that they carry (MS-TDS 2.2.3).
//!
//! - `held-as-it-arrives`: memory for a message is allocated as it arrives, never as its sender
//!   announces it.
//! - `one-limit-before-login`: before login everything that a peer sends counts against one limit.

mod handshake_piece;
mod header;
mod message;
mod message_reader;
mod packet_size;
mod packet_writer;

pub use handshake_piece::{HandshakePiece, wrap_handshake};
pub use header::{HEADER_SIZE, Header, MessageKind};
pub use message::{Incoming, Message, Reset};
pub use message_reader::{Limits, MessageReader, PRE_LOGIN_TOTAL_MAX, PRELOGIN_SIZE_MAX};
pub use packet_size::PacketSize;
pub use packet_writer::{PacketSink, PacketWriter};
