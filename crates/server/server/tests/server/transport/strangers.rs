//! Many strangers at a time, and slow ones at every step.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use selenite_tds::client::{login, new_login, prelogin};
use selenite_tds::{Encryption, EncryptionMode};
use selenite_testing::own_process;

use super::client::{Client, Mode, config, new_prelogin, wrap};
use super::fixture::Fixture;

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
    let fixture = Fixture::with(|config| config.limits.login_time = Duration::from_secs(1 << 20));
    let mut session = fixture.client(Mode::On);
    let hello = prelogin(&new_prelogin(Encryption::On)).unwrap();
    let mut crowd = Vec::with_capacity(CROWD);
    for at in 0..CROWD {
        let mut stranger = TcpStream::connect(fixture.address()).unwrap();
        // One sends nothing, one a part of a PRELOGIN, one all of it and no TLS.
        let sent = [0, 5, hello.len()][at % 3];
        // Who was sent away meanwhile can't be written to.
        let _ = stranger.write_all(&hello[..sent]);
        crowd.push(stranger);
    }
    // A client that had to wait for them would wait for ever: their time to log in does not end here.
    assert!(fixture.client(Mode::On).works());
    assert!(fixture.client(Mode::Strict).works());
    assert!(session.works());
}

#[test]
fn who_has_waited_longest_is_sent_away_and_sessions_go_on() {
    let fixture = Fixture::with(|config| config.limits.lobby_max = 3);
    let mut session = fixture.client(Mode::On);
    let mut crowd: Vec<Client> = (0..3).map(|_| fixture.connect(Mode::On)).collect();
    let mut late = fixture.client(Mode::On);
    assert!(late.works() && session.works());
    assert!(fixture.has_said("replaced an older connection"));
    crowd.remove(0).wait_for_end();
    // The others kept their places.
    for mut client in crowd {
        assert_eq!(client.log_in("sa", &fixture.password).errors(), []);
        assert!(client.works());
    }
}

/// A stranger that becomes slow at some step: what it has sent already, and what it has still to send.
type Step = fn(&Fixture) -> Option<(TcpStream, Vec<u8>)>;

/// Each is begun when it is its turn. None where even that took too long, which a busy machine may.
const STEPS: [(&str, Step); 4] = [
    ("PRELOGIN", |fixture| Some((open(fixture), plain_hello()))),
    ("TLS's hello inside PRELOGIN", |fixture| {
        let encrypted = prelogin(&new_prelogin(Encryption::On)).unwrap();
        let hello = tls_hello(fixture, &[&rustls::version::TLS12]);
        Some((after_prelogin(fixture, &encrypted)?, wrap(&hello)))
    }),
    ("TLS's hello before all", |fixture| {
        Some((open(fixture), tls_hello(fixture, &[&rustls::version::TLS13])))
    }),
    ("the largest login", |fixture| {
        let mut largest = new_login("sa", &fixture.password);
        largest.sspi = vec![0; 60_000];
        Some((after_prelogin(fixture, &plain_hello())?, login(&largest).unwrap()))
    }),
];

fn open(fixture: &Fixture) -> TcpStream {
    let socket = TcpStream::connect(fixture.address()).unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

fn plain_hello() -> Vec<u8> {
    prelogin(&new_prelogin(Encryption::NotSupported)).unwrap()
}

fn tls_hello(fixture: &Fixture, versions: &[&'static rustls::SupportedProtocolVersion]) -> Vec<u8> {
    let config = config(Mode::On, &fixture.certificate, versions);
    let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
    let mut tls = rustls::ClientConnection::new(config, name).unwrap();
    let mut flight = Vec::new();
    tls.write_tls(&mut flight).unwrap();
    flight
}

fn after_prelogin(fixture: &Fixture, bytes: &[u8]) -> Option<TcpStream> {
    let mut client = Client::open(fixture.address()).unwrap();
    client.socket.write_all(bytes).ok()?;
    client.message().ok()?;
    Some(client.socket)
}

#[test]
fn whoever_is_slow_at_any_step_is_closed_in_time() {
    let fixture = Fixture::with(|config| {
        config.encryption = EncryptionMode::Optional;
        config.limits.login_time = Duration::from_millis(500);
    });
    for (step, begin) in STEPS {
        let (mut socket, bytes) = loop {
            if let Some(begun) = begin(&fixture) {
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
    assert!(fixture.has_said("took too long"));
}
