//! Functions over long texts: what ends a request ends them.

use std::io::Read;
use std::time::Duration;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

/// What takes a function many minutes over texts of megabytes: a few calls that compare each place with a long
/// pattern, or many calls.
fn requests() -> Vec<String> {
    let many = |condition: &str| {
        let branches = format!("WHEN {condition} THEN 1 ").repeat(1000);
        format!("SELECT CASE {branches} END")
    };
    let requests = [
        "SELECT PATINDEX(@p, @s)".to_owned(),
        "SELECT CASE WHEN @s LIKE @p THEN 1 END".to_owned(),
        "SELECT COUNT(*) FROM (VALUES (@s)) t (v) WHERE v LIKE @p".to_owned(),
        "DECLARE @i bigint = PATINDEX(@p, @s)".to_owned(),
        "IF @s LIKE @p PRINT 'yes'".to_owned(),
        "BEGIN TRY SELECT PATINDEX(@p, @s) END TRY BEGIN CATCH SELECT 1 END CATCH".to_owned(),
        many("CHARINDEX('c', @s) > 0"),
        many("LEN(REPLACE(@s, 'a', 'c')) = 0"),
        many("TRANSLATE(@s, 'ab', 'ba') = ''"),
        many("LEN(UPPER(@s)) = 0"),
        many("REVERSE(@s) = ''"),
        many("@s < @s"),
        many("LEN(@s + @s) = 0"),
        many("HASHBYTES('SHA2_512', @s) = 0x"),
        many("DATALENGTH(CONVERT(varbinary(max), @s)) = 0"),
        "SELECT MAX(v) FROM (VALUES (@s)) t (v) CROSS JOIN t a CROSS JOIN t b CROSS JOIN t c CROSS JOIN t d".to_owned(),
        "UPDATE t SET n = 2 WHERE @s LIKE @p".to_owned(),
    ];
    let declared = "DECLARE @s varchar(max) = REPLICATE(CAST('ab' AS varchar(max)), 2000000), \
        @p varchar(max) = '%' + REPLICATE(CAST('ab' AS varchar(max)), 1000000) + 'c%' RAISERROR('begun', 0, 1) WITH NOWAIT ";
    requests.map(|request| declared.to_owned() + &request).into()
}

/// A login that is no administrator's, and a table of it.
fn login(fixture: &Fixture) {
    succeed(
        &mut fixture.client(),
        "CREATE LOGIN one WITH PASSWORD = 'Pass-word-1', CHECK_POLICY = OFF",
    );
}

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client_as("one", "Pass-word-1", "");
    succeed(
        &mut client,
        "CREATE TABLE #t (n int) INSERT #t VALUES (1), (2), (3), (4), (5), (6), (7), (8)",
    );
    client
}

/// Sends a request, and waits until it has begun.
fn begin(client: &mut Client, request: &str) {
    client.ask(&request.replace(" t ", " #t "));
    client.wait_for_data();
}

fn read_to_end(client: &mut Client) {
    let mut rest = Vec::new();
    // A session that ends resets its connection, perhaps.
    if let Err(error) = client.socket.read_to_end(&mut rest) {
        assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the session goes on");
    }
}

#[test]
fn an_attention_ends_functions_over_long_texts() {
    let fixture = Fixture::new();
    login(&fixture);
    let mut client = client(&fixture);
    for request in requests() {
        begin(&mut client, &request);
        client.cancel();
        let first = client.answer().unwrap();
        assert_eq!(first.errors(), [], "{request:.400}");
        assert!(first.rows().is_empty(), "{request:.400}");
        client.wait_for_attention();
        assert_eq!(client.int("SELECT SUM(n) FROM #t"), 36);
    }
}

#[test]
fn a_time_limit_ends_functions_over_long_texts() {
    let fixture = Fixture::with(|config| config.limits.request_time = Duration::from_millis(200));
    login(&fixture);
    let mut client = client(&fixture);
    for request in requests() {
        begin(&mut client, &request);
        let answer = client.answer().unwrap();
        assert_eq!(numbers(&answer), [8649], "{request:.400}");
        assert!(answer.rows().is_empty(), "{request:.400}");
    }
}

#[test]
fn a_kill_ends_functions_over_long_texts() {
    let fixture = Fixture::new();
    login(&fixture);
    let mut administrator = fixture.client();
    for request in requests() {
        let mut client = client(&fixture);
        let spid = client.int("SELECT CAST(@@SPID AS int)");
        begin(&mut client, &request);
        succeed(&mut administrator, &format!("KILL {spid}"));
        read_to_end(&mut client);
    }
}

#[test]
fn the_servers_end_ends_functions_over_long_texts() {
    let fixture = Fixture::new();
    login(&fixture);
    let mut clients: Vec<Client> = requests().iter().map(|_| client(&fixture)).collect();
    for (client, request) in clients.iter_mut().zip(requests()) {
        begin(client, &request);
    }
    // It waits for all its threads.
    fixture.stop();
    for client in &mut clients {
        read_to_end(client);
    }
}
