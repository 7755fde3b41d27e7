//! Splits a message into packets.
//!
//! - `one-buffer-per-message`: no allocation per packet: each packet is sent from the one buffer,
//!   its header written over bytes that were already sent.
//! - `sent-when-overfull`: a packet is sent when the message has one byte more than the packet can
//!   hold, or when the message ends: so the last packet is always marked END.

use std::io;

use super::{HEADER_SIZE, Header, MessageKind, PacketSize};
use crate::TdsError;

/// The destination of packets. `send` blocks the writer while the peer does not read.
pub trait PacketSink {
    /// Sends one complete packet.
    ///
    /// Errors: any; nothing more is sent after an error.
    fn send(&mut self, packet: &[u8]) -> io::Result<()>;
}

impl<S: PacketSink + ?Sized> PacketSink for &mut S {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        (**self).send(packet)
    }
}

impl PacketSink for Vec<u8> {
    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.extend_from_slice(packet);
        Ok(())
    }
}

/// Writes messages of one type.
pub struct PacketWriter<S> {
    sink: S,
    kind: MessageKind,
    spid: u16,
    size: usize,
    packet_id: u8,
    packet_count: u64,
    /// A header's space, then unsent data: together at most `size` bytes between calls.
    buffer: Vec<u8>,
    /// The status of the next message's first packet, in addition to END.
    first_status: u8,
}

impl<S: PacketSink> PacketWriter<S> {
    /// A writer of messages of type `kind`; a server writes [`MessageKind::TabularResult`].
    pub fn new(sink: S, kind: MessageKind, size: PacketSize, spid: u16) -> Self {
        let size = usize::from(size.bytes());
        let mut buffer = Vec::with_capacity(size + PIECE_SIZE_MAX);
        buffer.resize(HEADER_SIZE, 0);
        Self {
            sink,
            kind,
            spid,
            size,
            packet_id: 0,
            packet_count: 0,
            buffer,
            first_status: 0,
        }
    }

    /// Sets the packet size from now on. A server sets it after the response that carries the login's ENVCHANGE.
    pub fn set_size(&mut self, size: PacketSize) {
        self.size = usize::from(size.bytes());
        self.buffer
            .reserve((self.size + PIECE_SIZE_MAX).saturating_sub(self.buffer.len()));
    }

    /// Sets the status bits of the first packet of the next message, such as [`Header::RESET`].
    pub fn set_first_status(&mut self, status: u8) {
        self.first_status = status;
    }

    /// Appends bytes to the message.
    ///
    /// Errors: `Sink`.
    #[inline]
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), TdsError> {
        if bytes.len() > PIECE_SIZE_MAX {
            return self.write_long(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        self.cut()
    }

    /// Sends the buffered data without ending the message.
    ///
    /// Errors: `Sink`.
    pub fn flush(&mut self) -> Result<(), TdsError> {
        if self.buffer.len() > HEADER_SIZE {
            self.send(0, self.buffer.len(), 0)?;
            self.buffer.truncate(HEADER_SIZE);
        }
        Ok(())
    }

    /// Sends the rest as the message's last packet. An empty message is one header.
    ///
    /// Errors: `Sink`.
    pub fn finish(&mut self) -> Result<(), TdsError> {
        self.send(0, self.buffer.len(), Header::END)?;
        self.buffer.truncate(HEADER_SIZE);
        self.packet_id = 0;
        Ok(())
    }

    /// The number of packets sent.
    pub fn packet_count(&self) -> u64 {
        self.packet_count
    }

    /// Whether the message has no unsent bytes.
    pub fn is_empty(&self) -> bool {
        self.buffer.len() == HEADER_SIZE
    }

    /// The sink.
    pub fn sink(&self) -> &S {
        &self.sink
    }

    /// The sink.
    pub fn sink_mut(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Returns the sink; unsent data is lost.
    pub fn into_sink(self) -> S {
        self.sink
    }

    /// The buffer for tokens: append at most 8192 bytes at a time, then call [`PacketWriter::cut`].
    #[inline]
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Sends all full packets.
    #[inline]
    pub(crate) fn cut(&mut self) -> Result<(), TdsError> {
        if self.buffer.len() > self.size {
            return self.send_full();
        }
        Ok(())
    }

    #[cold]
    fn send_full(&mut self) -> Result<(), TdsError> {
        let mut start = 0;
        while self.buffer.len() - start > self.size {
            self.send(start, self.size, 0)?;
            start += self.size - HEADER_SIZE;
        }
        self.buffer.copy_within(start.., 0);
        self.buffer.truncate(self.buffer.len() - start);
        Ok(())
    }

    #[cold]
    fn write_long(&mut self, bytes: &[u8]) -> Result<(), TdsError> {
        for piece in bytes.chunks(PIECE_SIZE_MAX) {
            self.buffer.extend_from_slice(piece);
            self.cut()?;
        }
        Ok(())
    }

    fn send(&mut self, start: usize, size: usize, status: u8) -> Result<(), TdsError> {
        let first = if self.packet_id == 0 { self.first_status } else { 0 };
        if first != 0 {
            self.first_status = 0;
        }
        // MS-TDS 2.2.3.1.5: the counter is modulo 256; SQL Server begins each message with 1.
        self.packet_id = self.packet_id.wrapping_add(1);
        self.packet_count += 1;
        let header = Header {
            kind: self.kind,
            status: status | first,
            length: u16::try_from(size).unwrap_or(u16::MAX),
            spid: self.spid,
            packet_id: self.packet_id,
        };
        let packet = &mut self.buffer[start..][..size];
        packet[..HEADER_SIZE].copy_from_slice(&header.encode());
        let sent = self.sink.send(packet);
        if sent.is_err() {
            // A caller that continues after the error must not accumulate data.
            self.buffer.truncate(HEADER_SIZE);
        }
        sent.map_err(TdsError::Sink)
    }
}

/// 8192: the bytes that may be appended before full packets are sent; more than the longest value outside of PLP
/// chunks.
const PIECE_SIZE_MAX: usize = 8192;

#[cfg(test)]
mod tests;
