//! Encryption: each mode of the server with each of the client.

use std::io::{Read, Write};

use rustls::ProtocolVersion;
use rustls::version::{TLS12, TLS13};
use selenite_server::{TlsOffload, WaitType};
use selenite_tds::client::{Token, login, new_login, prelogin};
use selenite_tds::{Encryption, EncryptionMode, TdsVersion};

use super::client::{Client, Mode, config, new_prelogin, wrap};
use super::fixture::{Fixture, settle};

/// What becomes of a client in each mode of the server: none, or whether all is encrypted.
const TABLE: [(EncryptionMode, [Option<bool>; 4]); 4] = [
    // Plain, Off, On, Strict.
    (EncryptionMode::Off, [Some(false), Some(false), None, None]),
    (
        EncryptionMode::Optional,
        [Some(false), Some(false), Some(true), Some(true)],
    ),
    (EncryptionMode::Required, [None, Some(true), Some(true), Some(true)]),
    (EncryptionMode::Strict, [None, None, None, Some(true)]),
];

#[test]
fn each_mode_of_the_server_meets_each_of_the_client() {
    for (encryption, outcomes) in TABLE {
        let fixture = Fixture::of(encryption);
        let modes = [Mode::Plain, Mode::Off, Mode::On, Mode::Strict];
        for (mode, outcome) in modes.into_iter().zip(outcomes) {
            let connected = Client::connect(fixture.address(), mode, &fixture.certificate);
            assert_eq!(connected.is_ok(), outcome.is_some(), "{encryption:?} {mode:?}");
            let (Ok(mut client), Some(is_encrypted)) = (connected, outcome) else {
                continue;
            };
            assert_eq!(
                client.log_in("sa", &fixture.password).errors(),
                [],
                "{encryption:?} {mode:?}"
            );
            assert!(client.works(), "{encryption:?} {mode:?}");
            assert_eq!(client.tls.is_some(), is_encrypted, "{encryption:?} {mode:?}");
            let sessions = fixture.running().instance().registry().sessions();
            let session = sessions.last().unwrap();
            assert_eq!(session.facts().is_encrypted, is_encrypted, "{encryption:?} {mode:?}");
        }
    }
}

#[test]
fn inside_prelogin_there_is_tls_1_2_and_in_strict_mode_1_3() {
    let fixture = Fixture::new();
    let client = fixture.client(Mode::On);
    let version = client.tls.as_ref().unwrap().protocol_version();
    assert_eq!(version, Some(ProtocolVersion::TLSv1_2));

    let mut client = fixture.connect(Mode::Strict);
    let tls = client.tls.as_ref().unwrap();
    assert_eq!(tls.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    assert_eq!(tls.alpn_protocol(), Some(&b"tds/8.0"[..]));
    assert_eq!(tls.tls13_tickets_received(), 0);
    let answer = client.log_in("sa", &fixture.password);
    let spoken = answer.0.iter().find_map(|token| {
        let Token::LoginAck { tds_version, .. } = token else {
            return None;
        };
        Some(*tds_version)
    });
    // It requested 7.4, as half of the clients do over strict TLS.
    assert_eq!(spoken, Some(TdsVersion::V7_4));
    assert!(client.works());
    assert_eq!(client.tls.as_ref().unwrap().tls13_tickets_received(), 0);

    let only_new = config(Mode::On, &fixture.certificate, &[&TLS13]);
    assert!(Client::connect_by(fixture.address(), Mode::On, &only_new).is_err());
    let old_in_strict = config(Mode::Strict, &fixture.certificate, &[&TLS12]);
    let mut client = Client::connect_by(fixture.address(), Mode::Strict, &old_in_strict).unwrap();
    assert_eq!(client.log_in("sa", &fixture.password).errors(), []);
}

#[test]
fn a_password_is_never_on_the_line_where_a_client_has_tls_for_its_login_alone() {
    let fixture = Fixture::of(EncryptionMode::Optional);
    let mut client = fixture.connect(Mode::Off);
    let login = login(&new_login("sa", &fixture.password)).unwrap();
    let tls = client.tls.as_mut().unwrap();
    tls.writer().write_all(&login).unwrap();
    let mut sent = Vec::new();
    tls.write_tls(&mut sent).unwrap();
    // A record of data, whose content is not the login's.
    assert_eq!(sent[0], 0x17);
    assert!(
        !sent
            .windows(16)
            .any(|window| login.windows(16).any(|other| other == window))
    );
    client.socket.write_all(&sent).unwrap();
    client.tls = None;
    // The answer is in clear: its first byte is that of an answer's packet.
    let mut first = [0];
    client.socket.read_exact(&mut first).unwrap();
    assert_eq!(first, [0x04]);
}

/// `headers-at-packet-boundaries`: a record may have a 0x12 wherever a naive reader would look for a header.
#[test]
fn the_handshake_may_come_in_any_pieces_and_naked() {
    let fixture = Fixture::new();
    for (piece_size, is_naked) in [(1, false), (7, false), (700, false), (usize::MAX, true), (5, true)] {
        let mut client = Client::open(fixture.address()).unwrap();
        client.send(&prelogin(&new_prelogin(Encryption::On)).unwrap()).unwrap();
        client.message().unwrap();
        let config = config(Mode::On, &fixture.certificate, &[&TLS12]);
        let name = rustls::pki_types::ServerName::try_from("localhost").unwrap();
        let mut tls = rustls::ClientConnection::new(config, name).unwrap();
        while tls.is_handshaking() {
            let mut flight = Vec::new();
            while tls.wants_write() {
                tls.write_tls(&mut flight).unwrap();
            }
            for piece in flight.chunks(piece_size.min(flight.len().max(1))) {
                let message = if is_naked { piece.to_vec() } else { wrap(piece) };
                client.socket.write_all(&message).unwrap();
            }
            let mut header = [0; 8];
            client.socket.read_exact(&mut header).unwrap();
            let size = u16::from_be_bytes([header[2], header[3]]) - 8;
            let mut data = vec![0; size.into()];
            client.socket.read_exact(&mut data).unwrap();
            let mut data = data.as_slice();
            while !data.is_empty() {
                tls.read_tls(&mut data).unwrap();
                tls.process_new_packets().unwrap();
            }
        }
        client.tls = Some(tls);
        assert_eq!(client.log_in("sa", &fixture.password).errors(), [], "{piece_size}");
        assert!(client.works(), "{piece_size}");
    }
}

#[test]
fn the_server_echoes_federated_only_to_whom_asked_for_it() {
    let fixture = Fixture::new();
    for asked in [None, Some(true)] {
        let mut client = Client::open(fixture.address()).unwrap();
        let mut wanted = new_prelogin(Encryption::On);
        wanted.federated_required = asked;
        client.send(&prelogin(&wanted).unwrap()).unwrap();
        let answer = selenite_tds::Prelogin::parse(&client.message().unwrap()).unwrap();
        assert_eq!(answer.federated_required, asked.map(|_| false));
        assert_eq!((answer.mars, answer.version.major), (Some(false), 16));
    }
}

#[test]
fn another_thread_encrypts_each_packet_if_configured() {
    let fixture = Fixture::with(|config| config.tls_offload = TlsOffload::Thread);
    let mut client = fixture.client(Mode::On);
    let instance = fixture.running().instance();
    let session = instance.registry().sessions().remove(0);
    assert_eq!(instance.registry().waits().counts(WaitType::EncryptMessage).count, 0);
    let switches = session.figures().switches;
    // 13 bytes each: 785 packets of 4088 and what is left.
    let answer = client.batch("done 246928").unwrap();
    assert_eq!(answer.0.len(), 246_929);
    settle(&session);
    let waits = instance.registry().waits().counts(WaitType::EncryptMessage);
    // PRELOGIN's answer and the login's come before.
    let packets = session.traffic().packets_written - 2;
    assert_eq!((waits.count, packets), (786, 786));
    assert!(waits.max <= waits.total && !waits.max.is_zero());
    let switched = session.figures().switches - switches;
    assert!(switched >= packets, "{switched} switches for {packets} packets");
    instance.registry().waits().clear();
    assert_eq!(instance.registry().waits().counts(WaitType::EncryptMessage).count, 0);
    let mut plain = Fixture::of(EncryptionMode::Optional);
    assert!(plain.client(Mode::Plain).works());
    assert_eq!(
        plain
            .running()
            .instance()
            .registry()
            .waits()
            .counts(WaitType::EncryptMessage)
            .count,
        0
    );
    plain.stop();
}
