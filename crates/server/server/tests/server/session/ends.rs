//! How requests and sessions end that do not end by themselves.

use std::io::Read;

use selenite_tds::Done;

use super::client::read_some;
use super::fixture::Fixture;

/// It would take hours.
const ENDLESS: &str = "DECLARE @i bigint = 0 WHILE @i < 1000000000000 SET @i = @i + 1";

#[test]
fn an_attention_ends_a_loop() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.ask(ENDLESS);
    let mut room = [0; 512];
    client.socket.read_exact(&mut room).unwrap();
    client.cancel();
    // What was on its way comes first; the packets that were cut above do not matter.
    let mut tail = room.to_vec();
    let mut more = vec![0; 1 << 20];
    while !is_attention(&tail) {
        let size = read_some(&mut client.socket, &mut more).unwrap();
        assert_ne!(size, 0);
        tail.extend_from_slice(&more[..size]);
        let cut = tail.len().saturating_sub(64);
        tail.drain(..cut);
    }
    assert_eq!(client.int("SELECT 7"), 7);
}

#[test]
fn an_attention_ends_a_wait() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.ask("WAITFOR DELAY '01:00:00'");
    client.cancel();
    client.wait_for_attention();
    assert_eq!(client.int("SELECT 7"), 7);
}

#[test]
fn an_attention_between_requests_is_answered_too() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.cancel();
    let answer = client.answer().unwrap();
    assert_eq!(answer.dones().len(), 1);
    assert_eq!(answer.dones()[0].status, Done::ATTENTION);
    assert_eq!(client.int("SELECT 7"), 7);
}

#[test]
fn a_killed_session_ends_in_the_middle() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    client.ask(ENDLESS);
    let mut room = [0; 512];
    client.socket.read_exact(&mut room).unwrap();
    assert!(fixture.running.instance().registry().kill(51));
    read_to_end(&mut client.socket);
    assert_eq!(fixture.client().int("SELECT 7"), 7);
}

#[test]
fn a_client_that_reads_nothing_stops_its_own_query_alone() {
    let fixture = Fixture::new();
    let mut deaf = fixture.client();
    deaf.ask(ENDLESS);
    let mut other = fixture.client();
    for _ in 0..20 {
        assert_eq!(other.int("SELECT 7"), 7);
    }
    let registry = fixture.running.instance().registry();
    let sent = || registry.session(51).unwrap().traffic();
    // The buffers of both systems fill up, and then nothing more is sent: SQL runs on elsewhere meanwhile.
    let mut before = sent();
    loop {
        assert_eq!(
            other.int("DECLARE @i int = 0 WHILE @i < 20000 SET @i += 1 SELECT @i"),
            20_000
        );
        let now = sent();
        if now == before {
            break;
        }
        before = now;
    }
    assert!(registry.kill(51));
    read_to_end(&mut deaf.socket);
}

#[test]
fn a_client_that_leaves_ends_its_query() {
    let fixture = Fixture::new();
    let mut other = fixture.client();
    let mut client = fixture.client();
    client.ask("WAITFOR DELAY '01:00:00'");
    drop(client);
    // It is gone when its number is free again.
    while fixture.running.instance().registry().session(52).is_some() {
        assert_eq!(other.int("SELECT 7"), 7);
    }
}

/// What is left of a broken connection. It ends, whether well or not.
fn read_to_end(socket: &mut std::net::TcpStream) {
    let mut room = vec![0; 1 << 20];
    loop {
        match read_some(socket, &mut room) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => {
                assert_ne!(
                    error.kind(),
                    std::io::ErrorKind::WouldBlock,
                    "the server keeps the connection"
                );
                return;
            }
        }
    }
}

/// Whether the last 13 bytes are a DONE that answers an ATTENTION.
fn is_attention(bytes: &[u8]) -> bool {
    let [low, high] = Done::ATTENTION.to_le_bytes();
    bytes
        .last_chunk::<13>()
        .is_some_and(|done| done[..3] == [0xFD, low, high])
}
