//! One connection: bytes in and out, in clear or through TLS.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Instant;

use rustix::net::{RecvFlags, SendFlags};
use rustls::ServerConnection;
use selenite::TracedConnection;
use selenite_tds::{Incoming, MessageReader};

use super::inbound::Inbound;
use super::waiting_socket::WaitingSocket;
use super::{Encryptor, LineError};
use crate::memory;
use crate::registry::Traffic;

/// One connection. It belongs to one thread at a time.
pub struct Line {
    pub(super) socket: Arc<TcpStream>,
    pub(super) traffic: Arc<Traffic>,
    /// As received from the socket.
    pub(super) raw: Inbound,
    /// What TLS has opened: at most one record's. Without room as long as there is no TLS.
    clear: Inbound,
    pub(super) tls: Option<Box<ServerConnection>>,
    encryptor: Option<Encryptor>,
    /// A packet was not sent completely: what would follow could not be understood, or would be sent in clear.
    is_broken: bool,
    /// When the peer must have logged in.
    deadline: Option<Instant>,
    /// How many bytes the peer may still send before it has.
    allowance: Option<usize>,
    /// Where its messages and packets are recorded, once it has logged in.
    trace: Option<TracedConnection>,
    /// Bytes of the message that is being received.
    received: usize,
}

/// Whether to wait for bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitMode {
    /// Until there is data, or the line's deadline.
    Wait,
    /// Not at all.
    None,
}

impl Line {
    /// A line of a new connection, which has until `deadline` and [`ALLOWANCE`] bytes to log in.
    pub fn new(socket: Arc<TcpStream>, traffic: Arc<Traffic>, deadline: Instant) -> Self {
        Self {
            socket,
            traffic,
            raw: Inbound::new(RECORD_SIZE_MAX),
            clear: Inbound::new(0),
            tls: None,
            encryptor: None,
            is_broken: false,
            deadline: Some(deadline),
            allowance: Some(ALLOWANCE),
            trace: None,
            received: 0,
        }
    }

    /// The first byte that the peer sends; it stays there to be read.
    ///
    /// # Errors
    /// [`LineError::End`], [`LineError::TooSlow`], [`LineError::Io`].
    pub fn first_byte(&mut self) -> Result<u8, LineError> {
        loop {
            if let Some(&byte) = self.raw.bytes().first() {
                return Ok(byte);
            }
            self.fill(WaitMode::Wait)?;
        }
    }

    /// The next message; `None` if [`WaitMode::None`] and it has not arrived.
    ///
    /// # Errors
    /// Any of [`LineError`]; the line can't be used any more then.
    pub fn message(&mut self, reader: &mut MessageReader, wait_mode: WaitMode) -> Result<Option<Incoming>, LineError> {
        if self.is_broken {
            return Err(LineError::End);
        }
        loop {
            if let Some(incoming) = self.push(reader)? {
                return Ok(Some(incoming));
            }
            if self.tls.is_some() && self.open_record()? {
                continue;
            }
            if !self.fill(wait_mode)? {
                return Ok(None);
            }
            if memory::reserve(0).is_err() {
                return Err(LineError::NoMemory);
            }
        }
    }

    /// Gives what there is in clear to the reader.
    fn push(&mut self, reader: &mut MessageReader) -> Result<Option<Incoming>, LineError> {
        let source = match self.tls {
            Some(_) => &mut self.clear,
            None => &mut self.raw,
        };
        let bytes = source.bytes();
        let mut rest = bytes;
        let pushed = reader.push(&mut rest);
        let taken = bytes.len() - rest.len();
        source.consume(taken);
        let pushed = pushed?;
        self.received += taken;
        if pushed.is_some() {
            let size = std::mem::take(&mut self.received);
            self.trace.iter().for_each(|trace| trace.received(size));
        }
        Ok(pushed)
    }

    /// Reads from the socket what has arrived. False if nothing has and [`WaitMode::None`].
    pub(super) fn fill(&mut self, wait_mode: WaitMode) -> Result<bool, LineError> {
        if wait_mode == WaitMode::Wait {
            self.set_timeout(TcpStream::set_read_timeout)?;
        }
        let room = self.raw.room();
        let limit = self.allowance.unwrap_or(usize::MAX);
        if limit == 0 {
            return Err(LineError::TooMuch);
        }
        let room_size = room.len().min(limit);
        let room = &mut room[..room_size];
        let size = match wait_mode {
            WaitMode::Wait => match (&*self.socket).read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
                read => read?,
            },
            WaitMode::None => match rustix::net::recv(&self.socket, room, RecvFlags::DONTWAIT) {
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(false),
                received => received.map_err(io::Error::from)?.0,
            },
        };
        if size == 0 {
            return Err(LineError::End);
        }
        self.raw.filled(size);
        self.traffic.read(size);
        if let Some(allowance) = &mut self.allowance {
            *allowance -= size;
        }
        Ok(true)
    }

    /// Opens one record, if it is complete. The contents of the previous one have been consumed by then.
    pub(super) fn open_record(&mut self) -> Result<bool, LineError> {
        let Some(size) = record_size(self.raw.bytes())? else {
            return Ok(false);
        };
        let (Some(connection), Some(mut record)) = (&mut self.tls, self.raw.bytes().get(..size)) else {
            return Ok(false);
        };
        while !record.is_empty() {
            if connection.read_tls(&mut record)? == 0 {
                return Err(LineError::End);
            }
            if let Err(error) = connection.process_new_packets() {
                send_alert(connection, &self.socket);
                return Err(error.into());
            }
        }
        self.raw.consume(size);
        self.take_opened()?;
        Ok(true)
    }

    /// Takes what TLS has opened out of it.
    fn take_opened(&mut self) -> Result<(), LineError> {
        let Some(connection) = &mut self.tls else {
            return Ok(());
        };
        loop {
            let room = self.clear.room();
            if room.is_empty() {
                return Err(LineError::Framing("a record before the last one was read"));
            }
            match connection.reader().read(room) {
                Ok(0) => return Err(LineError::End),
                Ok(size) => self.clear.filled(size),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// TLS carries all from here on.
    pub(super) fn begin_tls(&mut self, connection: Box<ServerConnection>) -> Result<(), LineError> {
        // One byte more, to detect that nothing is left.
        self.clear = Inbound::new(RECORD_CONTENT_MAX + 1);
        self.tls = Some(connection);
        self.take_opened()
    }

    /// TLS ends without an alert: the login is read, and no more than that was to be encrypted.
    ///
    /// # Errors
    /// [`LineError::Framing`] if the peer sent more than its login through it.
    pub fn end_tls(&mut self) -> Result<(), LineError> {
        if !self.clear.is_empty() {
            return Err(LineError::Framing("data after the encrypted login"));
        }
        self.clear.wipe_taken();
        self.clear = Inbound::new(0);
        self.tls = None;
        Ok(())
    }

    /// Whether what is sent now is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Overwrites what was read and taken: a login.
    pub fn wipe_taken(&mut self) {
        self.raw.wipe_taken();
        self.clear.wipe_taken();
    }

    /// The peer has logged in: it may be as slow as it likes, and send what it likes.
    ///
    /// # Errors
    /// The system's.
    pub fn logged_in(&mut self) -> Result<(), LineError> {
        self.deadline = None;
        self.allowance = None;
        self.trace = TracedConnection::begin();
        self.socket.set_read_timeout(None).map_err(LineError::Io)?;
        self.socket.set_write_timeout(None).map_err(LineError::Io)
    }

    /// Limits how long the next reads wait, from now on; `None` is as long as it takes.
    ///
    /// # Errors
    /// The system's.
    pub fn limit_wait(&self, limit: Option<std::time::Duration>) -> Result<(), LineError> {
        self.socket.set_read_timeout(limit).map_err(LineError::Io)
    }

    /// Has packets encrypted by another thread from here on.
    pub fn offload(&mut self, encryptor: Encryptor) {
        self.encryptor = Some(encryptor);
    }

    /// Sends one packet of TDS, in one system call if the socket takes all of it.
    ///
    /// # Errors
    /// Any of [`LineError`]; the line can't be used any more then.
    pub fn send(&mut self, packet: &[u8]) -> Result<(), LineError> {
        if self.is_broken {
            return Err(LineError::End);
        }
        self.is_broken = true;
        self.set_timeout(TcpStream::set_write_timeout)?;
        let size = match (&mut self.tls, &mut self.encryptor) {
            (None, _) => {
                WaitingSocket(&self.socket).write_all(packet)?;
                packet.len()
            }
            (Some(connection), None) => {
                connection.writer().write_all(packet)?;
                flush(connection, &self.socket)?
            }
            (tls @ Some(_), Some(encryptor)) => {
                // It is put back, except when the line is broken.
                let connection = tls.take().ok_or(LineError::End)?;
                let (connection, written) = encryptor.encrypt(connection, packet)?;
                let connection = tls.insert(connection);
                written?;
                flush(connection, &self.socket)?
            }
        };
        self.is_broken = false;
        self.traffic.wrote(1, size);
        self.trace.iter().for_each(|trace| trace.sent(packet.len()));
        Ok(())
    }

    /// Before login every wait ends at the deadline.
    pub(super) fn set_timeout(
        &self,
        set: impl FnOnce(&TcpStream, Option<std::time::Duration>) -> io::Result<()>,
    ) -> Result<(), LineError> {
        let Some(deadline) = self.deadline else {
            return Ok(());
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(LineError::TooSlow);
        }
        set(&self.socket, Some(left)).map_err(LineError::Io)
    }
}

/// Writes what is in the connection. Returns how many bytes.
pub(super) fn flush(connection: &mut ServerConnection, socket: &TcpStream) -> io::Result<usize> {
    let mut socket = WaitingSocket(socket);
    let mut total = 0;
    while connection.wants_write() {
        match connection.write_tls(&mut socket) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(size) => total += size,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}

/// The size of the first record, as soon as all of it has been received.
fn record_size(bytes: &[u8]) -> Result<Option<usize>, LineError> {
    let &[_, _, _, high, low, ..] = bytes else {
        return Ok(None);
    };
    let size = RECORD_HEADER_SIZE + usize::from(u16::from_be_bytes([high, low]));
    if size > RECORD_SIZE_MAX {
        return Err(LineError::Framing("a TLS record that is too long"));
    }
    Ok((bytes.len() >= size).then_some(size))
}

/// Sends the alert that says what was wrong, if the socket takes it at once.
fn send_alert(connection: &mut ServerConnection, socket: &TcpStream) {
    let mut alert = Vec::new();
    while connection.wants_write() && connection.write_tls(&mut alert).is_ok_and(|size| size > 0) {}
    let _ = rustix::net::send(socket, &alert, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
}

/// 1 MiB: what a peer may send before it has logged in. A login has 128 KiB at most, a client's handshake a few.
pub const ALLOWANCE: usize = 1 << 20;
/// RFC 5246, 6.2: type, version, length.
const RECORD_HEADER_SIZE: usize = 5;
/// RFC 5246, 6.2.3: 2^14 bytes of content and up to 2048 in addition.
pub(super) const RECORD_SIZE_MAX: usize = RECORD_HEADER_SIZE + (1 << 14) + 2048;
const RECORD_CONTENT_MAX: usize = 1 << 14;
