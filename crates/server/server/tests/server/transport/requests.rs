//! Requests and answers after the login.

use selenite_server::Status;
use selenite_tds::client::{attention, batch};
use selenite_tds::{Done, EncryptionMode, Headers, PacketSize, Reset};
use selenite_types::Value;

use super::client::{Mode, is_attention};
use super::fixture::{Fixture, settle};

fn headers() -> Headers {
    Headers {
        transaction: 0,
        outstanding_count: 1,
        activity: None,
    }
}

#[test]
fn every_size_of_packets_carries_requests_and_answers() {
    let fixture = Fixture::of(EncryptionMode::Optional);
    for mode in [Mode::Plain, Mode::On, Mode::Strict] {
        for size in [512, 4096, 8000, 32767] {
            let mut client = fixture.connect(mode);
            client.packet_size = PacketSize::new(size).unwrap();
            assert_eq!(client.log_in("sa", &fixture.password).errors(), []);
            let text = format!("size{}", " ".repeat(70_000));
            assert_eq!(
                client.batch(&text).unwrap().rows(),
                [[Value::Int(70_004)]],
                "{mode:?} {size}"
            );
            let answer = client.batch("done 20000").unwrap();
            assert_eq!(answer.0.len(), 20_001, "{mode:?} {size}");
            let session = fixture.running().instance().registry().sessions().pop().unwrap();
            settle(&session);
            // Answers to PRELOGIN, the login and the first batch; and of the second all packets but the last are full.
            let room = u64::from(size) - 8;
            let expected = 3 + (20_001_u64 * 13).div_ceil(room);
            assert_eq!(session.traffic().packets_written, expected, "{mode:?} {size}");
        }
    }
}

#[test]
fn a_request_longer_than_may_be_held_ends_the_session() {
    let fixture = Fixture::with(|config| config.limits.message_size_max = 100_000);
    let mut client = fixture.client(Mode::On);
    assert!(client.works());
    // The rest of it may find the connection closed.
    let _ = client.ask(&format!("size{}", " ".repeat(100_000)));
    client.wait_for_end();
    assert!(fixture.client(Mode::On).works());
}

#[test]
fn attention_stops_what_runs_and_the_session_goes_on() {
    let fixture = Fixture::of(EncryptionMode::Optional);
    for mode in [Mode::Plain, Mode::Off, Mode::On, Mode::Strict] {
        let mut client = fixture.client(mode);
        for endless in ["endless", "wait"] {
            client.ask(endless).unwrap();
            client.cancel().unwrap();
            // All of the answer comes as one message, whose last token acknowledges.
            let answer = client.answer().unwrap();
            assert!(is_attention(answer.status()), "{mode:?}");
        }
        assert!(client.works(), "{mode:?}");
    }
}

#[test]
fn attention_that_comes_too_late_is_acknowledged_too() {
    let fixture = Fixture::new();
    let mut client = fixture.client(Mode::On);
    assert!(client.works());
    client.cancel().unwrap();
    assert_eq!(client.answer().unwrap().status(), Done::ATTENTION);
    // Together with its request: whether it comes while that runs or after it, one DONE acknowledges it.
    for _ in 0..50 {
        let request = batch(&headers(), "done 2000", PacketSize::DEFAULT, Reset::None).unwrap();
        client.send(&[request, attention().unwrap()].concat()).unwrap();
        let mut status = client.answer().unwrap().status();
        if !is_attention(status) {
            status = client.answer().unwrap().status();
        }
        assert!(is_attention(status));
    }
    assert!(client.works());
}

#[test]
fn a_request_that_comes_before_the_answer_to_the_last_waits_for_its_turn() {
    let fixture = Fixture::new();
    let mut client = fixture.client(Mode::On);
    client.ask("done 100000").unwrap();
    client.ask("row").unwrap();
    client.ask("size").unwrap();
    assert_eq!(client.answer().unwrap().0.len(), 100_001);
    assert_eq!(client.answer().unwrap().rows(), [[Value::Int(1)]]);
    assert_eq!(client.answer().unwrap().rows(), [[Value::Int(4)]]);
}

#[test]
fn what_is_no_request_ends_the_session_and_not_the_server() {
    let fixture = Fixture::new();
    let packets: [&[u8]; 6] = [
        // PRELOGIN and LOGIN7 have had their time; 0x7f never had one; a length below eight; an answer; IGNORE
        // without END.
        &[0x12, 1, 0, 8, 0, 0, 0, 0],
        &[0x10, 1, 0, 8, 0, 0, 0, 0],
        &[0x7f, 1, 0, 8, 0, 0, 0, 0],
        &[0x01, 1, 0, 7, 0, 0, 0, 0],
        &[0x04, 1, 0, 8, 0, 0, 0, 0],
        &[0x01, 2, 0, 8, 0, 0, 0, 0],
    ];
    for packet in packets {
        let mut client = fixture.client(Mode::On);
        client.send(packet).unwrap();
        client.wait_for_end();
    }
    assert!(fixture.client(Mode::On).works());
}

#[test]
fn the_registry_shows_what_a_session_does() {
    let fixture = Fixture::new();
    let mut client = fixture.client(Mode::On);
    let instance = fixture.running().instance();
    let session = instance.registry().session(51).unwrap();
    assert_eq!((session.request_count(), session.request_start()), (0, None));
    client.ask("wait").unwrap();
    while session.status() == Status::Sleeping {
        std::thread::yield_now();
    }
    assert!(session.request_start().is_some());
    assert_eq!(session.request_end(), None);
    // It runs in circles, so that its time grows.
    let before = session.request_cpu();
    while session.request_cpu() <= before {
        std::thread::yield_now();
    }
    client.cancel().unwrap();
    assert!(is_attention(client.answer().unwrap().status()));
    settle(&session);
    assert!(session.request_end().is_some());
    assert_eq!(session.request_count(), 1);
    let facts = session.facts();
    assert_eq!(
        (facts.login.as_str(), facts.host.as_str(), facts.program.as_str()),
        ("sa", "host", "test")
    );
    assert_eq!(facts.peer, client.socket.local_addr().unwrap());
    assert_eq!(facts.local, fixture.address());
    let traffic = session.traffic();
    assert!(traffic.bytes_read > 200 && traffic.bytes_written > 1000 && traffic.read_last > 1_600_000_000_000);
    assert!(
        session
            .attachment()
            .unwrap()
            .downcast_ref::<selenite_server::LoginInfo>()
            .is_some()
    );
    // The cost of a session is kept after its end.
    let cost = session.figures();
    drop(client);
    while instance.registry().session(51).is_some() {
        std::thread::yield_now();
    }
    assert!(instance.registry().cpu() >= cost.cpu);
    assert!(instance.registry().context_switches() >= cost.switches);
}
