//! The limits of `selenite serve` for its sessions, as seen by clients.

use std::net::SocketAddr;

use rustix::process::Signal;
use selenite_tds::PacketSize;

use crate::fixture::Fixture;
use crate::serve::{Served, start};
use crate::tds_client::{Client, numbers, succeed};

/// A server with these arguments, and the means to connect to it.
pub struct Reached {
    pub served: Served,
    pub address: SocketAddr,
    password: String,
}

impl Reached {
    pub fn start(fixture: &Fixture, words: &[&str]) -> Self {
        let words = [&["--encryption", "optional"], words].concat();
        let (served, port) = start(fixture, &words);
        let password = served.lines[0]
            .strip_prefix("password of login sa: ")
            .unwrap()
            .trim_end()
            .to_owned();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        Self {
            served,
            address,
            password,
        }
    }

    /// Ends the server, and starts it again.
    pub fn restarted(self, fixture: &Fixture) -> Self {
        assert_eq!(self.served.end(Signal::TERM).0, 0);
        let (served, port) = start(fixture, &["--encryption", "optional"]);
        Self {
            served,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            password: self.password,
        }
    }

    pub fn client(&self) -> Client {
        Client::new(self.address, &self.password, PacketSize::DEFAULT).unwrap()
    }
}

/// Fills a temporary table with `mib` MiB.
fn fill(client: &mut Client, mib: u32) -> Vec<i32> {
    let filled = client.batch(&format!(
        "DECLARE @mib varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 1048576), @i int = 0 \
         CREATE TABLE #held (v varchar(max)) WHILE @i < {mib} BEGIN INSERT #held VALUES (@mib) SET @i += 1 END"
    ));
    numbers(&filled)
}

#[test]
fn one_sessions_temporary_table_leaves_another_no_memory_and_both_go_on() {
    let fixture = Fixture::new();
    let reached = Reached::start(&fixture, &["--session-memory", "60", "--server-memory", "80"]);
    let (mut holder, mut other) = (reached.client(), reached.client());
    assert_eq!(fill(&mut other, 40), [0_i32; 0]);
    succeed(&mut other, "DROP TABLE #held");
    assert_eq!(fill(&mut holder, 45), [0_i32; 0]);
    // Each session may use 60 MiB, but both together only 80.
    assert_eq!(fill(&mut other, 40), [701]);
    assert_eq!(other.int("SELECT 7"), 7);
    assert_eq!(holder.int("SELECT COUNT(*) FROM #held"), 45);
    succeed(&mut other, "DROP TABLE IF EXISTS #held");
    succeed(&mut holder, "DROP TABLE #held");
    assert_eq!(fill(&mut other, 40), [0_i32; 0]);
    drop((holder, other));
    assert_eq!(reached.served.end(Signal::TERM).0, 0);
}

#[test]
fn a_signal_ends_a_server_whose_sessions_compare_long_texts() {
    let fixture = Fixture::new();
    let reached = Reached::start(&fixture, &[]);
    let declared = "DECLARE @s varchar(max) = REPLICATE(CAST('ab' AS varchar(max)), 2000000), \
         @p varchar(max) = '%' + REPLICATE(CAST('ab' AS varchar(max)), 1000000) + 'c%' RAISERROR('begun', 0, 1) WITH NOWAIT";
    let mut clients = Vec::new();
    for compared in ["SELECT PATINDEX(@p, @s)", "IF @s LIKE @p SELECT 1"] {
        let mut client = reached.client();
        client.ask(&format!("{declared} {compared}"));
        client.wait_for_data();
        clients.push(client);
    }
    assert_eq!(reached.served.end(Signal::TERM).0, 0);
    for mut client in clients {
        assert!(client.answer().is_err());
    }
}
