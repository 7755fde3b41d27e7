//! A client: TDS from `selenite-tds`, TLS from rustls. It checks the server's certificate.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};
use selenite_tds::client::{ServerMessage, Token, attention, batch, login, new_login, prelogin, split_message, tokens};
use selenite_tds::{
    Done, Encryption, HEADER_SIZE, Header, Headers, Login, MessageKind, PacketSize, Prelogin, ProductVersion, Reset,
};

/// What a client wants encrypted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Nothing.
    Plain,
    /// As the server says: the login at least.
    Off,
    /// All.
    On,
    /// TLS before all else.
    Strict,
}

/// A connection to a server.
pub struct Client {
    pub socket: TcpStream,
    pub tls: Option<ClientConnection>,
    /// TLS ends after the login.
    is_login_only: bool,
    /// What came and is not taken yet, in clear.
    inbound: Vec<u8>,
    pub packet_size: PacketSize,
    pub server: Prelogin,
}

/// The tokens of an answer.
#[derive(Debug)]
pub struct Answer(pub Vec<Token>);

impl Answer {
    /// Numbers and severities of its errors.
    pub fn errors(&self) -> Vec<(i32, u8)> {
        self.said().map(|said| (said.number, said.severity)).collect()
    }

    pub fn said(&self) -> impl Iterator<Item = &ServerMessage> {
        self.0.iter().filter_map(|token| {
            if let Token::Error(said) = token {
                Some(said)
            } else {
                None
            }
        })
    }

    pub fn infos(&self) -> Vec<i32> {
        let info = |token: &Token| {
            if let Token::Info(said) = token {
                Some(said.number)
            } else {
                None
            }
        };
        self.0.iter().filter_map(info).collect()
    }

    /// The new value of an ENVCHANGE with text.
    pub fn change(&self, kind: u8) -> Option<String> {
        self.0.iter().find_map(|token| {
            let Token::EnvChange(change) = token else { return None };
            if change.kind == kind { change.new_text() } else { None }
        })
    }

    pub fn rows(&self) -> Vec<Vec<selenite_types::Value>> {
        let row = |token: &Token| {
            if let Token::Row(row) = token {
                Some(row.clone())
            } else {
                None
            }
        };
        self.0.iter().filter_map(row).collect()
    }

    /// The last DONE's status.
    pub fn status(&self) -> u16 {
        let Some(Token::Done(done)) = self.0.last() else {
            panic!("{:?}", self.0.last());
        };
        done.status
    }
}

impl Client {
    /// Connects, and agrees on encryption.
    pub fn connect(address: SocketAddr, mode: Mode, certificate: &Path) -> io::Result<Self> {
        Self::connect_by(address, mode, &config(mode, certificate, versions(mode)))
    }

    /// The same with a configuration of TLS of the test's own.
    pub fn connect_by(address: SocketAddr, mode: Mode, config: &Arc<ClientConfig>) -> io::Result<Self> {
        let mut client = Self::open(address)?;
        if mode == Mode::Strict {
            client.shake_hands(config, false)?;
        }
        let asked = match mode {
            Mode::Plain => Encryption::NotSupported,
            Mode::Off => Encryption::Off,
            Mode::On => Encryption::On,
            Mode::Strict => Encryption::Strict,
        };
        client.send(&prelogin(&new_prelogin(asked)).unwrap())?;
        client.server = Prelogin::parse(&client.message()?).map_err(io::Error::other)?;
        let answered = client.server.encryption;
        match (mode, answered) {
            (Mode::Strict, _) | (Mode::Plain | Mode::Off, Encryption::NotSupported) => {}
            (Mode::Off, Encryption::Off) => {
                client.is_login_only = true;
                client.shake_hands(config, true)?;
            }
            (Mode::Off, Encryption::Required) | (Mode::On, Encryption::On) => client.shake_hands(config, true)?,
            disagreed => return Err(io::Error::other(format!("{disagreed:?}"))),
        }
        Ok(client)
    }

    /// A connection on which nothing was sent.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        // A server that does not answer is a test that fails, not one that hangs.
        socket.set_read_timeout(Some(std::time::Duration::from_secs(60)))?;
        Ok(Self {
            socket,
            tls: None,
            is_login_only: false,
            inbound: Vec::new(),
            packet_size: PacketSize::DEFAULT,
            server: Prelogin::default(),
        })
    }

    pub fn shake_hands(&mut self, config: &Arc<ClientConfig>, wraps: bool) -> io::Result<()> {
        let name = ServerName::try_from("localhost").unwrap();
        let mut tls = ClientConnection::new(config.clone(), name).map_err(io::Error::other)?;
        while tls.is_handshaking() {
            let mut flight = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut flight)?;
            }
            if !flight.is_empty() {
                self.socket.write_all(&if wraps { wrap(&flight) } else { flight })?;
            }
            if !tls.is_handshaking() {
                break;
            }
            let came = if wraps { self.packet()? } else { self.some()? };
            feed(&mut tls, &came)?;
        }
        let mut last = Vec::new();
        while tls.wants_write() {
            tls.write_tls(&mut last)?;
        }
        self.socket.write_all(&last)?;
        self.tls = Some(tls);
        Ok(())
    }

    /// Sends bytes, encrypted if they are to be.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(tls) = &mut self.tls else {
            return self.socket.write_all(bytes);
        };
        for piece in bytes.chunks(PacketSize::DEFAULT.bytes().into()) {
            tls.writer().write_all(piece)?;
            while tls.wants_write() {
                tls.write_tls(&mut self.socket)?;
            }
        }
        Ok(())
    }

    /// The data of the next message.
    pub fn message(&mut self) -> io::Result<Vec<u8>> {
        loop {
            let mut rest = self.inbound.as_slice();
            if let Some(message) = split_message(&mut rest).map_err(io::Error::other)? {
                self.inbound = rest.to_vec();
                return Ok(message);
            }
            let mut more = self.read()?;
            self.inbound.append(&mut more);
        }
    }

    /// What was received in clear; never nothing.
    fn read(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(tls) = &mut self.tls {
                let mut clear = Vec::new();
                match tls.reader().read_to_end(&mut clear) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    other => drop(other?),
                }
                if !clear.is_empty() {
                    return Ok(clear);
                }
            }
            let came = self.some()?;
            match &mut self.tls {
                None => return Ok(came),
                Some(tls) => feed(tls, &came)?,
            }
        }
    }

    /// What was received, as it is; never nothing.
    pub fn some(&mut self) -> io::Result<Vec<u8>> {
        let mut room = vec![0; 16 * 1024];
        let size = loop {
            match self.socket.read(&mut room) {
                // A signal for another test of this process.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        if size == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        room.truncate(size);
        Ok(room)
    }

    /// The data of one packet, as it is.
    fn packet(&mut self) -> io::Result<Vec<u8>> {
        let mut header = [0; HEADER_SIZE];
        self.socket.read_exact(&mut header)?;
        let header = Header::parse(&header).map_err(io::Error::other)?;
        assert_eq!(header.kind, MessageKind::Prelogin);
        let mut data = vec![0; usize::from(header.length) - HEADER_SIZE];
        self.socket.read_exact(&mut data)?;
        Ok(data)
    }

    /// Logs in as a plain client does.
    pub fn log_in(&mut self, user: &str, password: &str) -> Answer {
        let login = new_login(user, password);
        self.log_in_by(login).unwrap()
    }

    pub fn log_in_by(&mut self, mut wanted: Login) -> io::Result<Answer> {
        wanted.packet_size = self.packet_size.bytes().into();
        self.send(&login(&wanted).unwrap())?;
        if self.is_login_only {
            self.tls = None;
        }
        let message = self.message()?;
        Ok(Answer(tokens(&message).unwrap()))
    }

    /// Runs a batch.
    pub fn batch(&mut self, text: &str) -> io::Result<Answer> {
        self.ask(text)?;
        self.answer()
    }

    /// Sends a batch.
    pub fn ask(&mut self, text: &str) -> io::Result<()> {
        let headers = Headers {
            transaction: 0,
            outstanding_count: 1,
            activity: None,
        };
        self.send(&batch(&headers, text, self.packet_size, Reset::None).unwrap())
    }

    /// The answer to a batch.
    pub fn answer(&mut self) -> io::Result<Answer> {
        let message = self.message()?;
        Ok(Answer(tokens(&message).unwrap()))
    }

    /// Sends ATTENTION.
    pub fn cancel(&mut self) -> io::Result<()> {
        self.send(&attention().unwrap())
    }

    /// Whether a row can be had.
    pub fn works(&mut self) -> bool {
        self.batch("row")
            .is_ok_and(|answer| answer.rows() == [[selenite_types::Value::Int(1)]])
    }

    /// Waits for the server to close the connection; what comes before is passed over.
    pub fn wait_for_end(&mut self) {
        loop {
            match self.some() {
                Ok(_) => {}
                Err(error) => {
                    assert_ne!(
                        error.kind(),
                        io::ErrorKind::WouldBlock,
                        "the server keeps the connection"
                    );
                    return;
                }
            }
        }
    }
}

/// Whether a DONE answers an ATTENTION.
pub fn is_attention(status: u16) -> bool {
    status & Done::ATTENTION != 0
}

pub fn new_prelogin(encryption: Encryption) -> Prelogin {
    Prelogin {
        version: ProductVersion {
            major: 16,
            ..ProductVersion::default()
        },
        encryption,
        ..Prelogin::default()
    }
}

fn versions(mode: Mode) -> &'static [&'static SupportedProtocolVersion] {
    static NEW: [&SupportedProtocolVersion; 1] = [&TLS13];
    static BOTH: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];
    match mode {
        Mode::Strict => &NEW,
        Mode::Plain | Mode::Off | Mode::On => &BOTH,
    }
}

pub fn config(mode: Mode, certificate: &Path, versions: &[&'static SupportedProtocolVersion]) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    if mode == Mode::Strict {
        config.alpn_protocols = vec![b"tds/8.0".to_vec()];
    }
    Arc::new(config)
}

pub fn wrap(flight: &[u8]) -> Vec<u8> {
    let header = Header {
        kind: MessageKind::Prelogin,
        status: Header::END,
        length: u16::try_from(flight.len() + HEADER_SIZE).unwrap(),
        spid: 0,
        packet_id: 0,
    };
    [&header.encode()[..], flight].concat()
}

fn feed(tls: &mut ClientConnection, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        tls.read_tls(&mut bytes)?;
        tls.process_new_packets().map_err(io::Error::other)?;
    }
    Ok(())
}
