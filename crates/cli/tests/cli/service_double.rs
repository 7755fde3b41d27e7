//! A small HTTP server in the place of a key service, and faults that it injects.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// What a server does to a request, before it answers as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Status(u16),
    /// An answer that ends early.
    Short,
    /// The end of the connection.
    Gone,
    /// No JSON.
    Garbage,
    /// What was sent, as an answer.
    Echo,
    /// Another key.
    Lie,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    pub path: String,
    /// By their names in small letters.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }
}

/// Status and body for a request, under a key, which is a mask here.
pub type Respond = fn(&Request, u8) -> (u16, String);

pub struct Server {
    pub address: String,
    state: Arc<Mutex<State>>,
}

struct State {
    respond: Respond,
    /// The body of an error.
    error: String,
    /// Taken one for each request.
    faults: Vec<Fault>,
    requests: Vec<Request>,
}

impl Server {
    pub fn start(respond: Respond, error: &str) -> Self {
        let (listener, state) = (listen(), state(respond, error));
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let state = shared.clone();
                std::thread::spawn(move || while serve(&mut stream.as_ref().unwrap(), &state) {});
            }
        });
        Self { address, state }
    }

    /// The same over TLS, and its certificate.
    pub fn start_tls(respond: Respond) -> (Self, String) {
        Self::start_tls_in(respond, [1975, 4096])
    }

    /// The same with a certificate that is valid from the beginning of a year to that of another.
    pub fn start_tls_in(respond: Respond, years: [i32; 2]) -> (Self, String) {
        let mut wanted = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        [wanted.not_before, wanted.not_after] = years.map(|year| rcgen::date_time_ymd(year, 1, 1));
        let key = rcgen::KeyPair::generate().unwrap();
        let made = wanted.self_signed(&key).unwrap();
        let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = rustls::ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![made.der().clone()], key.into())
            .unwrap();
        let (listener, config, state) = (listen(), Arc::new(config), state(respond, ""));
        let address = format!("https://{}", listener.local_addr().unwrap());
        let shared = state.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let connection = rustls::ServerConnection::new(config.clone()).unwrap();
                let mut stream = rustls::StreamOwned::new(connection, stream.unwrap());
                let state = shared.clone();
                std::thread::spawn(move || while serve(&mut stream, &state) {});
            }
        });
        (Self { address, state }, made.pem())
    }

    pub fn set(&self, faults: &[Fault]) {
        self.state.lock().unwrap().faults = faults.iter().rev().copied().collect();
    }

    /// What was asked since the last call.
    pub fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.lock().unwrap().requests)
    }
}

fn state(respond: Respond, error: &str) -> Arc<Mutex<State>> {
    Arc::new(Mutex::new(State {
        respond,
        error: error.to_owned(),
        faults: Vec::new(),
        requests: Vec::new(),
    }))
}

fn listen() -> TcpListener {
    let found = (20_000..32_000).find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    found.unwrap()
}

/// One request; whether another may follow.
fn serve(stream: &mut (impl Read + Write), state: &Mutex<State>) -> bool {
    let mut reader = BufReader::new(&mut *stream);
    let mut line = String::new();
    // A client that does not trust the certificate says so here.
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return false;
    }
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let size = headers.get("content-length").map_or(0, |size| size.parse().unwrap());
    let mut body = vec![0; size];
    reader.read_exact(&mut body).unwrap();
    let request = Request { path, headers, body };
    let (fault, respond, error) = {
        let mut state = state.lock().unwrap();
        state.requests.push(request.clone());
        (state.faults.pop(), state.respond, state.error.clone())
    };
    let (status, answer) = match fault {
        None => respond(&request, 0x5a),
        Some(Fault::Lie) => respond(&request, 0x5b),
        Some(Fault::Status(status)) => (status, error),
        Some(Fault::Garbage) => (200, "<html>".to_owned()),
        Some(Fault::Echo) => (200, String::from_utf8(request.body).unwrap()),
        Some(Fault::Gone) => return false,
        Some(Fault::Short) => {
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{{").unwrap();
            return false;
        }
    };
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n", answer.len());
    stream.write_all((head + &answer).as_bytes()).is_ok()
}
