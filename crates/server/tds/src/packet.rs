//! Packets and the messages that they carry (MS-TDS 2.2.3).
//!
//! P1. A message is held as it arrives, never as its sender announces it.
//! P2. Before login all that a peer sends counts against one limit.

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
