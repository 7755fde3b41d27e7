//! Many strangers at a time, and slow ones at every step.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use selenite_tds::client::{login, new_login, prelogin};
use selenite_tds::{Encryption, EncryptionMode};
use selenite_testing::own_process;

use super::bench::Bench;
use super::client::{Client, Mode, config, new_prelogin, wrap};

/// Each of them takes a descriptor of the test's own process.
const CROWD: usize = 1000;

/// Sees to it that the process may have so many descriptors, if it may.
fn allow_descriptors(count: u64) {
    let limits = getrlimit(Resource::Nofile);
    if limits.current.is_some_and(|current| current < count) {
        let wanted = limits.maximum.map_or(count, |maximum| maximum.min(count));
        let limits = Rlimit {
            current: Some(wanted),
            maximum: limits.maximum,
        };
        setrlimit(Resource::Nofile, limits).unwrap();
    }
}

#[test]
fn a_thousand_half_open_connections_keep_nobody_out() {
    own_process!();
    allow_descriptors(8192);
    let bench = Bench::with(|config| config.limits.login_time = Duration::from_secs(1 << 20));
    let mut session = bench.client(Mode::On);
    let hello = prelogin(&new_prelogin(Encryption::On)).unwrap();
    let mut crowd = Vec::with_capacity(CROWD);
    for at in 0..CROWD {
        let mut stranger = TcpStream::connect(bench.address()).unwrap();
        // One sends nothing, one a part of a PRELOGIN, one all of it and no TLS.
        let sent = [0, 5, hello.len()][at % 3];
        // Who was sent away meanwhile can't be written to.
        let _ = stranger.write_all(&hello[..sent]);
        crowd.push(stranger);
    }
    // A client that had to wait for them would wait for ever: their time to log in does not end here.
    assert!(bench.client(Mode::On).works());
    assert!(bench.client(Mode::Strict).works());
    assert!(session.works());
}

#[test]
fn who_has_waited_longest_is_sent_away_and_sessions_go_on() {
    let bench = Bench::with(|config| config.limits.lobby_max = 3);
    let mut session = bench.client(Mode::On);
    let mut crowd: Vec<Client> = (0..3).map(|_| bench.connect(Mode::On)).collect();
    let mut late = bench.client(Mode::On);
    assert!(late.works() && session.works());
    assert!(bench.has_said("replaced an older connection"));
    crowd.remove(0).wait_for_end();
    // The others kept their places.
    for mut client in crowd {
        assert_eq!(client.log_in("sa", &bench.password).errors(), []);
        assert!(client.works());
    }
}

/// A stranger that becomes slow at some step: what it has sent already, and what it has still to send.
type Step = fn(&Bench) -> Option<(TcpStream, Vec<u8>)>;

/// Each is begun when it is its turn. None where even that took too long, which a busy machine may.
const STEPS: [(&str, Step); 4] = [
    ("PRELOGIN", |bench| Some((open(bench), plain_hello()))),
    ("TLS's hello inside PRELOGIN", |bench| {
        let encrypted = prelogin(&new_prelogin(Encryption::On)).unwrap();
        let hello = tls_hello(bench, &[&rustls::version::TLS12]);
        Some((after_prelogin(bench, &encrypted)?, wrap(&hello)))
    }),
    ("TLS's hello before all", |bench| {
        Some((open(bench), tls_hello(bench, &[&rustls::version::TLS13])))
    }),
    ("the largest login", |bench| {
        let mut largest = new_login("sa", &bench.password);
        largest.sspi = vec![0; 60_000];
        Some((after_prelogin(bench, &plain_hello())?, login(&largest).unwrap()))
    }),
];

fn open(bench: &Bench) -> TcpStream {
    let socket = TcpStream::connect(bench.address()).unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

fn plain_hello() -> Vec<u8> {
    prelogin(&new_prelogin(Encryption::NotSupported)).unwrap()
}

fn tls_hello(bench: &Bench, versions: &[&'static rustls::SupportedProtocolVersion]) -> Vec<u8> {
    let config = config(Mode::On, &bench.certificate, versions);
    let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
    let mut tls = rustls::ClientConnection::new(config, name).unwrap();
    let mut flight = Vec::new();
    tls.write_tls(&mut flight).unwrap();
    flight
}

fn after_prelogin(bench: &Bench, bytes: &[u8]) -> Option<TcpStream> {
    let mut client = Client::open(bench.address()).unwrap();
    client.socket.write_all(bytes).ok()?;
    client.message().ok()?;
    Some(client.socket)
}

#[test]
fn whoever_is_slow_at_any_step_is_closed_in_time() {
    let bench = Bench::with(|config| {
        config.encryption = EncryptionMode::Optional;
        config.limits.login_time = Duration::from_millis(500);
    });
    for (step, begin) in STEPS {
        let (mut socket, bytes) = loop {
            if let Some(begun) = begin(&bench) {
                break begun;
            }
        };
        // The wait between two bytes is the socket's. All of them would take far longer than there is time.
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let sent = bytes.iter().take_while(|byte| {
            let is_closed = match socket.read(&mut [0; 64]) {
                Ok(size) => size == 0,
                // A signal for another test of this process may interrupt a read that has a timeout.
                Err(error) => ![ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()),
            };
            !is_closed && socket.write_all(&[**byte]).is_ok()
        });
        let sent = sent.count();
        assert!(sent < bytes.len(), "{step}: all {sent} bytes were waited for");
    }
    assert!(bench.has_said("took too long"));
}
