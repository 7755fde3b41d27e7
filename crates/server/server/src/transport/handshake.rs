//! The handshake of TLS, inside PRELOGIN's packets or as it is.
//!
//! - `piece-finds-tls`: [`HandshakePiece`], which has no socket, finds the bytes of TLS in what is
//!   received.
//! - `one-message-per-turn`: what is sent in one turn is one message, as clients read one message
//!   for one turn.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;

use rustls::{ServerConfig, ServerConnection};
use selenite_tds::{HandshakePiece, wrap_handshake};

use super::line::flush;
use super::{Line, LineError, WaitMode};

impl Line {
    /// Does the handshake inside PRELOGIN's packets. From then on records are sent and received as they are.
    ///
    /// # Errors
    /// Any of [`LineError`].
    pub fn shake_hands_in_prelogin(&mut self, config: Arc<ServerConfig>) -> Result<(), LineError> {
        let mut connection = Box::new(ServerConnection::new(config)?);
        // Of the packet or record whose beginning has been received.
        let mut missing = 0;
        while connection.is_handshaking() || missing > 0 {
            self.feed_wrapped(&mut connection, &mut missing)?;
            self.send_flight(&mut connection)?;
        }
        self.begin_tls(connection)
    }

    /// Shakes hands before the first packet.
    ///
    /// # Errors
    /// Any of [`LineError`].
    pub fn shake_hands(&mut self, config: Arc<ServerConfig>) -> Result<(), LineError> {
        self.begin_tls(Box::new(ServerConnection::new(config)?))?;
        loop {
            if !self.open_record()? {
                self.fill(WaitMode::Wait)?;
            }
            self.set_timeout(TcpStream::set_write_timeout)?;
            let Some(connection) = &mut self.tls else {
                return Ok(());
            };
            let size = flush(connection, &self.socket)?;
            if size > 0 {
                self.traffic.wrote(0, size);
            }
            if !connection.is_handshaking() {
                return Ok(());
            }
        }
    }

    /// Passes to TLS what has been received of one packet.
    fn feed_wrapped(&mut self, connection: &mut ServerConnection, missing: &mut usize) -> Result<(), LineError> {
        if *missing == 0 {
            *missing = self.next_piece()?;
            return Ok(());
        }
        if self.raw.is_empty() {
            self.fill(WaitMode::Wait)?;
        }
        let bytes = self.raw.bytes();
        let mut piece = &bytes[..bytes.len().min(*missing)];
        let size = piece.len();
        let mut fed = Ok(());
        while !piece.is_empty() && fed.is_ok() {
            if connection.read_tls(&mut piece)? == 0 {
                return Err(LineError::End);
            }
            fed = connection.process_new_packets().map(drop);
        }
        self.raw.consume(size);
        *missing -= size;
        if let Err(error) = fed {
            // The alert; what it is about counts more than whether it arrives.
            let _ = self.send_flight(connection);
            return Err(error.into());
        }
        Ok(())
    }

    /// The size of what follows: a packet's data after its header, which is consumed, or a bare record.
    fn next_piece(&mut self) -> Result<usize, LineError> {
        loop {
            if let Some(piece) = HandshakePiece::parse(self.raw.bytes())? {
                self.raw.consume(piece.header_size());
                return Ok(piece.data_size());
            }
            self.fill(WaitMode::Wait)?;
        }
    }

    /// `one-message-per-turn`.
    fn send_flight(&mut self, connection: &mut ServerConnection) -> Result<(), LineError> {
        let mut flight = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut flight)?;
        }
        if flight.is_empty() {
            return Ok(());
        }
        let message = wrap_handshake(&flight);
        self.set_timeout(TcpStream::set_write_timeout)?;
        (&*self.socket).write_all(&message)?;
        self.traffic.wrote(0, message.len());
        Ok(())
    }
}
