//! A client that does next to nothing, so that the server never waits for it for long.

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

/// A connection that has logged in.
pub struct Peer {
    socket: TcpStream,
    tls: Option<ClientConnection>,
    packet_size: PacketSize,
    /// As it came from the socket.
    raw: Vec<u8>,
    /// In clear, and not taken yet: the first `filled` bytes.
    clear: Vec<u8>,
    filled: usize,
    /// All that crossed the wire, while someone reads along.
    seen: Option<Vec<u8>>,
    /// Bytes that were sent and received.
    traffic: (u64, u64),
    /// What TLS agreed on.
    agreed: Option<(String, String)>,
}

/// Who connects to whom.
pub struct ConnectOptions<'a> {
    /// Where the server listens.
    pub address: SocketAddr,
    /// What is encrypted.
    pub mode: Mode,
    /// The server's certificate.
    pub certificate: &'a Path,
    /// sa's.
    pub password: &'a str,
    /// The size of packets to ask for.
    pub packet_size: u16,
    /// Whether to keep what crosses the wire.
    pub is_watched: bool,
}

impl Peer {
    /// Connects and logs in.
    ///
    /// # Errors
    /// The network's; a server that agrees on something else.
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
            seen: options.is_watched.then(Vec::new),
            traffic: (0, 0),
            agreed: None,
        };
        if options.mode == Mode::Strict {
            peer.shake_hands(tls::begin(options.mode, options.certificate)?, false)?;
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
            // Whatever stands there: TLS is around it.
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
                peer.shake_hands(tls::begin(options.mode, options.certificate)?, true)?;
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

    fn shake_hands(&mut self, mut tls: ClientConnection, wraps: bool) -> io::Result<()> {
        loop {
            let mut flight = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut flight)?;
            }
            if !flight.is_empty() {
                // With strict the last flight goes as it is, too.
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
            let came = if wraps { self.packet()? } else { self.some()? };
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

    /// What TLS agreed on: its version, and the suite of ciphers; none without.
    pub fn agreed(&self) -> Option<&(String, String)> {
        self.agreed.as_ref()
    }

    /// Bytes that crossed the wire until now: sent by the client, and received.
    pub fn traffic(&self) -> (u64, u64) {
        self.traffic
    }

    /// All that crossed the wire since the beginning; nothing if no process reads along.
    pub fn seen(&mut self) -> Vec<u8> {
        self.seen.take().unwrap_or_default()
    }

    /// Runs a batch whose answer has nothing but DONEs, and counts them.
    ///
    /// # Errors
    /// The network's; any other token.
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

    /// Runs a batch: the tokens of its answer, as bytes.
    ///
    /// # Errors
    /// The network's.
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

    /// Reads on: at least one byte in clear.
    fn fill(&mut self) -> io::Result<()> {
        if self.clear.len() - self.filled < ROOM / 2 {
            self.clear.resize(self.clear.len() * 2, 0);
        }
        let Some(tls) = &mut self.tls else {
            let size = receive(&mut self.socket, &mut self.clear[self.filled..])?;
            note(&mut self.seen, &self.clear[self.filled..][..size]);
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
            note(&mut self.seen, &self.raw[..size]);
            self.traffic.1 += u64::try_from(size).unwrap_or(0);
            let mut rest = &self.raw[..size];
            while !rest.is_empty() {
                tls.read_tls(&mut rest)?;
                tls.process_new_packets().map_err(io::Error::other)?;
                // rustls takes no more than a few records before they are read.
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

    /// Sends bytes, encrypted if they are to be.
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
        note(&mut self.seen, bytes);
        self.traffic.0 += u64::try_from(bytes.len()).unwrap_or(0);
        self.socket.write_all(bytes)
    }

    /// What has come as it is; never nothing.
    fn some(&mut self) -> io::Result<Vec<u8>> {
        let size = receive(&mut self.socket, &mut self.raw)?;
        note(&mut self.seen, &self.raw[..size]);
        self.traffic.1 += u64::try_from(size).unwrap_or(0);
        Ok(self.raw[..size].to_vec())
    }

    /// The data of one packet, as it is.
    fn packet(&mut self) -> io::Result<Vec<u8>> {
        let mut header = [0; HEADER_SIZE];
        self.socket.read_exact(&mut header)?;
        let length = usize::from(Header::parse(&header).map_err(io::Error::other)?.length);
        let mut data = vec![0; length.saturating_sub(HEADER_SIZE)];
        self.socket.read_exact(&mut data)?;
        note(&mut self.seen, &header);
        note(&mut self.seen, &data);
        self.traffic.1 += u64::try_from(length).unwrap_or(0);
        Ok(data)
    }
}

fn note(seen: &mut Option<Vec<u8>>, bytes: &[u8]) {
    if let Some(seen) = seen {
        seen.extend_from_slice(bytes);
    }
}

/// Some bytes, at least one.
fn receive(socket: &mut TcpStream, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(room) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// A flight of the handshake as a packet of TDS.
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
/// What the proof looks for, in the login, too.
const APPLICATION: &str = "SQLSHACK";
/// 256 KiB: eight packets of the largest size, and few calls of the system.
const ROOM: usize = 256 << 10;
/// The lab's own limit is shorter.
const PATIENCE: Duration = Duration::from_secs(3600);
