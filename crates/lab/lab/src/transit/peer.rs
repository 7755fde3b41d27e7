//! A client with minimal work, so that the server never waits for it for long.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

use rustls::ClientConnection;
use selenite_tds::client::{batch, login, new_login, prelogin, split_message};
use selenite_tds::{Encryption, HEADER_SIZE, Header, Headers, MessageKind, PacketSize, Prelogin, Reset};

use super::mode::Mode;
use super::tally::Tally;
use super::tls;

/// A connection after login.
pub struct Peer {
    socket: TcpStream,
    tls: Option<ClientConnection>,
    packet_size: PacketSize,
    /// Bytes from the socket.
    raw: Vec<u8>,
    /// Decrypted bytes that have not been consumed: the first `filled`.
    clear: Vec<u8>,
    filled: usize,
    /// All transmitted bytes, if they are recorded.
    recorded: Option<Vec<u8>>,
    /// The numbers of sent and received bytes.
    traffic: (u64, u64),
    /// The negotiated version and cipher suite of TLS.
    agreed: Option<(String, String)>,
}

/// The options of a connection.
pub struct ConnectOptions<'a> {
    /// The server's address.
    pub address: SocketAddr,
    /// The mode of encryption.
    pub mode: Mode,
    /// The server's certificate.
    pub certificate: &'a Path,
    /// The password of sa.
    pub password: &'a str,
    /// The requested packet size.
    pub packet_size: u16,
    /// Whether to record the transmitted bytes.
    pub is_watched: bool,
}

impl Peer {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Errors of the network; a server that negotiates another mode.
    pub fn connect(options: &ConnectOptions<'_>) -> io::Result<Self> {
        let socket = TcpStream::connect(options.address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut peer = Self {
            socket,
            tls: None,
            packet_size: PacketSize::DEFAULT,
            raw: vec![0; ROOM],
            clear: vec![0; ROOM],
            filled: 0,
            recorded: options.is_watched.then(Vec::new),
            traffic: (0, 0),
            agreed: None,
        };
        if options.mode == Mode::Strict {
            peer.handshake(tls::begin(options.mode, options.certificate)?, false)?;
        }
        let hello = Prelogin {
            encryption: options.mode.asked(),
            ..Prelogin::default()
        };
        peer.send(&prelogin(&hello).map_err(io::Error::other)?)?;
        let answered = Prelogin::parse(&peer.message()?).map_err(io::Error::other)?.encryption;
        let wanted = match options.mode {
            Mode::Off => Encryption::NotSupported,
            Mode::Optional => Encryption::Off,
            Mode::Require | Mode::Offload => Encryption::On,
            // Any answer is accepted, because TLS is around it.
            Mode::Strict => answered,
        };
        if answered != wanted {
            return Err(io::Error::other(format!(
                "the server agrees to {answered:?}, not to {wanted:?}"
            )));
        }
        match options.mode {
            Mode::Off | Mode::Strict => {}
            Mode::Optional | Mode::Require | Mode::Offload => {
                peer.handshake(tls::begin(options.mode, options.certificate)?, true)?;
            }
        }
        peer.log_in(options)?;
        Ok(peer)
    }

    fn log_in(&mut self, options: &ConnectOptions<'_>) -> io::Result<()> {
        let size = PacketSize::new(options.packet_size)
            .ok_or_else(|| io::Error::other(format!("packets of {} bytes", options.packet_size)))?;
        let mut wanted = new_login("sa", options.password);
        wanted.packet_size = size.bytes().into();
        APPLICATION.clone_into(&mut wanted.app_name);
        self.send(&login(&wanted).map_err(io::Error::other)?)?;
        if options.mode == Mode::Optional {
            self.tls = None;
        }
        let answer = self.message()?;
        // LOGINACK, MS-TDS 2.2.7.14; without it the login was refused.
        let tokens = selenite_tds::client::tokens(&answer).map_err(io::Error::other)?;
        let is_in = tokens
            .iter()
            .any(|token| matches!(token, selenite_tds::client::Token::LoginAck { .. }));
        if !is_in {
            return Err(io::Error::other("the server refused the login"));
        }
        self.packet_size = size;
        Ok(())
    }

    fn handshake(&mut self, mut tls: ClientConnection, wraps: bool) -> io::Result<()> {
        loop {
            let mut flight = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut flight)?;
            }
            if !flight.is_empty() {
                // In strict mode, and after the handshake has ended, a flight is not wrapped.
                let bytes = if wraps && tls.is_handshaking() {
                    wrap(&flight)?
                } else {
                    flight
                };
                self.put(&bytes)?;
            }
            if !tls.is_handshaking() {
                break;
            }
            let came = if wraps { self.packet()? } else { self.receive_raw()? };
            let mut rest = came.as_slice();
            while !rest.is_empty() {
                tls.read_tls(&mut rest)?;
                tls.process_new_packets().map_err(io::Error::other)?;
            }
        }
        let version = tls.protocol_version().map(|version| format!("{version:?}"));
        let suite = tls
            .negotiated_cipher_suite()
            .map(|suite| format!("{:?}", suite.suite()));
        self.agreed = version.zip(suite);
        self.tls = Some(tls);
        Ok(())
    }

    /// The negotiated version and cipher suite of TLS; none without TLS.
    pub fn agreed(&self) -> Option<&(String, String)> {
        self.agreed.as_ref()
    }

    /// The numbers of bytes sent by the client and received, so far.
    pub fn traffic(&self) -> (u64, u64) {
        self.traffic
    }

    /// All transmitted bytes since the start; empty if they are not recorded.
    pub fn recorded(&mut self) -> Vec<u8> {
        self.recorded.take().unwrap_or_default()
    }

    /// Runs a batch whose answer consists of DONEs, and counts them.
    ///
    /// # Errors
    /// Errors of the network; any other token.
    pub fn run(&mut self, text: &str) -> io::Result<Tally> {
        self.ask(text)?;
        let mut tally = Tally::default();
        loop {
            let (taken, is_over) = tally.take(&self.clear[..self.filled])?;
            self.clear.copy_within(taken..self.filled, 0);
            self.filled -= taken;
            if is_over {
                return Ok(tally);
            }
            self.fill()?;
        }
    }

    /// Runs a batch. Returns the tokens of its answer, as bytes.
    ///
    /// # Errors
    /// Errors of the network.
    pub fn answer(&mut self, text: &str) -> io::Result<Vec<u8>> {
        self.ask(text)?;
        self.message()
    }

    fn ask(&mut self, text: &str) -> io::Result<()> {
        let bytes = batch(&HEADERS, text, self.packet_size, Reset::None).map_err(io::Error::other)?;
        self.send(&bytes)
    }

    /// The data of the next message.
    fn message(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let mut rest = &self.clear[..self.filled];
            if let Some(message) = split_message(&mut rest).map_err(io::Error::other)? {
                let taken = self.filled - rest.len();
                self.clear.copy_within(taken..self.filled, 0);
                self.filled -= taken;
                return Ok(message);
            }
            self.fill()?;
        }
    }

    /// Reads until at least one more decrypted byte is available.
    fn fill(&mut self) -> io::Result<()> {
        if self.clear.len() - self.filled < ROOM / 2 {
            self.clear.resize(self.clear.len() * 2, 0);
        }
        let Some(tls) = &mut self.tls else {
            let size = receive(&mut self.socket, &mut self.clear[self.filled..])?;
            note(&mut self.recorded, &self.clear[self.filled..][..size]);
            self.traffic.1 += u64::try_from(size).unwrap_or(0);
            self.filled += size;
            return Ok(());
        };
        loop {
            match tls.reader().read(&mut self.clear[self.filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(size) => {
                    self.filled += size;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            let size = receive(&mut self.socket, &mut self.raw)?;
            note(&mut self.recorded, &self.raw[..size]);
            self.traffic.1 += u64::try_from(size).unwrap_or(0);
            let mut rest = &self.raw[..size];
            while !rest.is_empty() {
                tls.read_tls(&mut rest)?;
                tls.process_new_packets().map_err(io::Error::other)?;
                // rustls accepts only a few records before their data is read.
                while self.clear.len() - self.filled >= ROOM / 4 {
                    match tls.reader().read(&mut self.clear[self.filled..]) {
                        Ok(size) if size > 0 => self.filled += size,
                        _ => break,
                    }
                }
                if self.clear.len() - self.filled < ROOM / 4 {
                    self.clear.resize(self.clear.len() * 2, 0);
                }
            }
            if self.filled > 0 {
                return Ok(());
            }
        }
    }

    /// Sends bytes, encrypted if the mode requires it.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            return self.put(bytes);
        };
        tls.writer().write_all(bytes)?;
        let mut sealed = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut sealed)?;
        }
        self.put(&sealed)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        note(&mut self.recorded, bytes);
        self.traffic.0 += u64::try_from(bytes.len()).unwrap_or(0);
        self.socket.write_all(bytes)
    }

    /// Bytes from the socket, without decryption; at least one.
    fn receive_raw(&mut self) -> io::Result<Vec<u8>> {
        let size = receive(&mut self.socket, &mut self.raw)?;
        note(&mut self.recorded, &self.raw[..size]);
        self.traffic.1 += u64::try_from(size).unwrap_or(0);
        Ok(self.raw[..size].to_vec())
    }

    /// The data of one packet, without decryption.
    fn packet(&mut self) -> io::Result<Vec<u8>> {
        let mut header = [0; HEADER_SIZE];
        self.socket.read_exact(&mut header)?;
        let length = usize::from(Header::parse(&header).map_err(io::Error::other)?.length);
        let mut data = vec![0; length.saturating_sub(HEADER_SIZE)];
        self.socket.read_exact(&mut data)?;
        note(&mut self.recorded, &header);
        note(&mut self.recorded, &data);
        self.traffic.1 += u64::try_from(length).unwrap_or(0);
        Ok(data)
    }
}

fn note(recorded: &mut Option<Vec<u8>>, bytes: &[u8]) {
    if let Some(recorded) = recorded {
        recorded.extend_from_slice(bytes);
    }
}

/// Reads at least one byte.
fn receive(socket: &mut TcpStream, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(room) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Wraps a flight of the handshake in a TDS packet.
fn wrap(flight: &[u8]) -> io::Result<Vec<u8>> {
    let length = u16::try_from(flight.len() + HEADER_SIZE).map_err(io::Error::other)?;
    let header = Header {
        kind: MessageKind::Prelogin,
        status: Header::END,
        length,
        spid: 0,
        packet_id: 0,
    };
    Ok([&header.encode()[..], flight].concat())
}

const HEADERS: Headers = Headers {
    transaction: 0,
    outstanding_count: 1,
    activity: None,
};
/// The marker that the proof searches for, also in the login.
const APPLICATION: &str = "SQLSHACK";
/// 256 KiB: eight packets of the largest size, for few system calls.
const ROOM: usize = 256 << 10;
/// The lab's own time limit is shorter.
const PATIENCE: Duration = Duration::from_secs(3600);
