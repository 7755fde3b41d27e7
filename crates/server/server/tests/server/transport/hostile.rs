//! What strangers send before they have logged in: cut, flipped, out of order, slow, too much.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use selenite_tds::client::{batch, login, new_login, prelogin};
use selenite_tds::{Encryption, EncryptionMode, Headers, PacketSize, Reset};

use super::client::{Client, Mode, config, new_prelogin, wrap};
use super::fixture::Fixture;

/// Whether the server closes a connection within the time of a test; what it says before is passed over.
fn is_closed(client: &mut Client) -> bool {
    loop {
        match client.some() {
            Ok(_) => {}
            Err(error) => return error.kind() != std::io::ErrorKind::WouldBlock,
        }
    }
}

/// The bytes of a client up to its login, without TLS.
fn plain_login(fixture: &Fixture) -> Vec<u8> {
    let prelogin = prelogin(&new_prelogin(Encryption::NotSupported)).unwrap();
    let login = login(&new_login("sa", &fixture.password)).unwrap();
    [prelogin, login].concat()
}

#[test]
fn a_client_cut_off_at_any_byte_leaves_nothing_behind() {
    let fixture = Fixture::of(EncryptionMode::Optional);
    let bytes = plain_login(&fixture);
    for size in 0..bytes.len() {
        let mut client = Client::open(fixture.address()).unwrap();
        client.socket.write_all(&bytes[..size]).unwrap();
        client.socket.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(is_closed(&mut client), "{size}");
    }
    assert!(fixture.running().instance().registry().sessions().is_empty());
    assert!(fixture.client(Mode::Plain).works());
}

#[test]
fn a_login_with_any_byte_flipped_is_answered_or_closed() {
    let fixture = Fixture::of(EncryptionMode::Optional);
    let bytes = plain_login(&fixture);
    for index in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[index] ^= flip;
            let mut client = Client::open(fixture.address()).unwrap();
            // What is left over may find the connection closed.
            let _ = client.socket.write_all(&bytes);
            let _ = client.socket.shutdown(std::net::Shutdown::Write);
            assert!(is_closed(&mut client), "{index}");
        }
    }
    fixture
        .running()
        .instance()
        .unlock(&fixture.running().instance().master().login("sa").unwrap().unwrap())
        .unwrap();
    assert!(fixture.client(Mode::Plain).works());
}

/// The flights of a client's handshake inside PRELOGIN, the first of which is always the same size.
#[test]
fn a_handshake_cut_or_flipped_is_closed() {
    let fixture = Fixture::new();
    let config = config(Mode::On, &fixture.certificate, &[&rustls::version::TLS12]);
    let hello = || {
        let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
        let mut tls = rustls::ClientConnection::new(config.clone(), name).unwrap();
        let mut flight = Vec::new();
        tls.write_tls(&mut flight).unwrap();
        wrap(&flight)
    };
    let begin = || {
        let mut client = Client::open(fixture.address()).unwrap();
        client.send(&prelogin(&new_prelogin(Encryption::On)).unwrap()).unwrap();
        client.message().unwrap();
        client
    };
    let size = hello().len();
    for index in (0..size).step_by(3) {
        let mut client = begin();
        client.socket.write_all(&hello()[..index]).unwrap();
        client.socket.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(is_closed(&mut client), "{index}");
        let mut client = begin();
        let mut flipped = hello();
        flipped[index] ^= 0xff;
        client.socket.write_all(&flipped).unwrap();
        client.socket.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(is_closed(&mut client), "{index}");
    }
    assert!(fixture.client(Mode::On).works());
}

#[test]
fn garbage_and_what_is_out_of_order_is_closed() {
    let fixture = Fixture::of(EncryptionMode::Optional);
    let headers = Headers {
        transaction: 0,
        outstanding_count: 1,
        activity: None,
    };
    let login = login(&new_login("sa", &fixture.password)).unwrap();
    let hello = prelogin(&new_prelogin(Encryption::NotSupported)).unwrap();
    let batch = batch(&headers, "row", PacketSize::DEFAULT, Reset::None).unwrap();
    let cases: Vec<Vec<u8>> = vec![
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0; 64],
        vec![0xff; 64],
        // TLS's first byte, and then none of it.
        [&[0x16, 3, 1, 0x40, 0][..], &[0x41; 100]].concat(),
        [&[0x16, 3, 1, 0xff, 0xff][..], &[0x41; 100]].concat(),
        vec![0x12, 1, 0, 8, 0, 0, 0, 0],
        login.clone(),
        batch.clone(),
        [hello.clone(), hello.clone()].concat(),
        [hello.clone(), batch].concat(),
        [hello.clone(), vec![0x06, 1, 0, 8, 0, 0, 0, 0]].concat(),
    ];
    for bytes in cases {
        let mut client = Client::open(fixture.address()).unwrap();
        let _ = client.socket.write_all(&bytes);
        let _ = client.socket.shutdown(std::net::Shutdown::Write);
        assert!(is_closed(&mut client), "{bytes:?}");
    }
    assert!(fixture.client(Mode::Plain).works());
}

#[test]
fn a_peer_that_sends_more_than_a_login_has_is_closed() {
    let fixture = Fixture::of(EncryptionMode::Optional);
    let hello = prelogin(&new_prelogin(Encryption::NotSupported)).unwrap();
    for (kind, before) in [(0x12, Vec::new()), (0x10, hello)] {
        let mut client = Client::open(fixture.address()).unwrap();
        client.socket.write_all(&before).unwrap();
        // Packets without an end.
        let packet = [&[kind, 0, 0x10, 0, 0, 0, 0, 0][..], &[0; 4088]].concat();
        let mut count = 0;
        while client.socket.write_all(&packet).is_ok() {
            count += 1;
            assert!(count < 10_000, "the server reads whatever comes");
        }
    }
    assert!(fixture.client(Mode::Plain).works());
}

#[test]
fn whoever_takes_too_long_to_log_in_is_closed_however_slowly_bytes_come() {
    let fixture = Fixture::with(|config| {
        config.encryption = EncryptionMode::Optional;
        config.limits.login_time = Duration::from_millis(400);
    });
    let bytes = plain_login(&fixture);
    let hello = prelogin(&new_prelogin(Encryption::On)).unwrap();
    let begun = Instant::now();
    let mut silent = Client::open(fixture.address()).unwrap();
    let mut halfway = Client::open(fixture.address()).unwrap();
    halfway.socket.write_all(&hello).unwrap();
    // On a busy machine the handshake itself may take too long: then another one is tried.
    let mut shaken = loop {
        if let Ok(client) = Client::connect(fixture.address(), Mode::Strict, &fixture.certificate) {
            break client;
        }
    };
    // One byte at a time, each within the time, and all of them far beyond it: the wait is the socket's.
    let mut slow = Client::open(fixture.address()).unwrap();
    slow.socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let sent = bytes.iter().take_while(|byte| {
        let closed = matches!(slow.socket.read(&mut [0]), Ok(0));
        !closed && slow.socket.write_all(&[**byte]).is_ok()
    });
    let sent = sent.count();
    assert!(sent < bytes.len(), "all {sent} bytes were waited for");
    for client in [&mut silent, &mut halfway, &mut shaken] {
        assert!(is_closed(client));
    }
    assert!(begun.elapsed() >= Duration::from_millis(400));
    assert!(fixture.has_said("took too long"));
}
