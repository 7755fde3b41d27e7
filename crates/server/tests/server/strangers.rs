//! Many strangers at a time, and slow ones at every step.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use selenite_tds::client::{login, new_login, prelogin};
use selenite_tds::{Encryption, EncryptionMode};

use crate::bench::Bench;
use crate::client::{Client, Mode, config, new_prelogin, wrap};

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
    allow_descriptors(8192);
    let bench = Bench::new();
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
    let begun = Instant::now();
    assert!(bench.client(Mode::On).works());
    assert!(bench.client(Mode::Strict).works());
    // The time that they have to log in is a minute here.
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert!(session.works());
}

#[test]
fn who_has_waited_longest_is_sent_away_and_sessions_go_on() {
    let bench = Bench::with(|config| config.limits.lobby_max = 3);
    let mut session = bench.client(Mode::On);
    let mut crowd: Vec<Client> = (0..3).map(|_| bench.connect(Mode::On)).collect();
    let mut late = bench.client(Mode::On);
    assert!(late.works() && session.works());
    assert!(bench.has_said("sent away"));
    crowd.remove(0).wait_for_end();
    // The others kept their places.
    for mut client in crowd {
        assert_eq!(client.log_in("sa", &bench.password).errors(), []);
        assert!(client.works());
    }
}

/// What a stranger has said before it becomes slow.
fn stopped_at_each_step(bench: &Bench) -> Vec<(&'static str, TcpStream, Vec<u8>)> {
    let open = || {
        let socket = TcpStream::connect(bench.address()).unwrap();
        socket.set_nodelay(true).unwrap();
        socket
    };
    let encrypted = prelogin(&new_prelogin(Encryption::On)).unwrap();
    let plain = prelogin(&new_prelogin(Encryption::NotSupported)).unwrap();
    let hello = |versions| {
        let config = config(Mode::On, &bench.certificate, versions);
        let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
        let mut tls = rustls::ClientConnection::new(config, name).unwrap();
        let mut flight = Vec::new();
        tls.write_tls(&mut flight).unwrap();
        flight
    };
    let mut largest = new_login("sa", &bench.password);
    largest.sspi = vec![0; 60_000];
    let largest = login(&largest).unwrap();
    let after_prelogin = |bytes: &[u8]| {
        let mut client = Client::open(bench.address()).unwrap();
        client.socket.write_all(bytes).unwrap();
        client.message().unwrap();
        client.socket
    };
    vec![
        ("PRELOGIN", open(), plain.clone()),
        (
            "TLS's hello inside PRELOGIN",
            after_prelogin(&encrypted),
            wrap(&hello(&[&rustls::version::TLS12])),
        ),
        ("TLS's hello before all", open(), hello(&[&rustls::version::TLS13])),
        ("the largest login", after_prelogin(&plain), largest),
    ]
}

#[test]
fn whoever_is_slow_at_any_step_is_closed_in_time() {
    let bench = Bench::with(|config| {
        config.encryption = EncryptionMode::Optional;
        config.limits.login_time = Duration::from_millis(500);
    });
    for (step, mut socket, bytes) in stopped_at_each_step(&bench) {
        // The wait between two bytes is the socket's, which gives up after a few milliseconds.
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let begun = Instant::now();
        let sent = bytes.iter().take_while(|byte| {
            let is_closed = match socket.read(&mut [0; 64]) {
                Ok(size) => size == 0,
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            };
            !is_closed && socket.write_all(&[**byte]).is_ok()
        });
        let sent = sent.count();
        assert!(sent < bytes.len(), "{step}: all {sent} bytes were waited for");
        assert!(begun.elapsed() < Duration::from_secs(20), "{step}");
    }
    assert!(bench.has_said("took too long"));
}
