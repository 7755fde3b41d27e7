//! NEWSEQUENTIALID as a default, COMPRESS and DECOMPRESS of columns, PARSE in queries.

use super::client::{Client, fails, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

#[test]
fn a_sequential_default_increases_with_each_row() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (n int, id uniqueidentifier NOT NULL DEFAULT NEWSEQUENTIALID()); \
         INSERT t (n) VALUES (1), (2); INSERT t (n) SELECT n + 2 FROM t; INSERT t VALUES (5, DEFAULT)",
    );
    let answer = succeed(&mut client, "SELECT n FROM t ORDER BY id");
    assert_eq!(shown(&answer), "1; 2; 3; 4; 5");
    let text = client.text("SELECT definition FROM sys.default_constraints");
    assert_eq!(text.to_lowercase(), "(newsequentialid())");
    succeed(
        &mut client,
        "CREATE TABLE u (n int); INSERT u VALUES (1), (2); \
         ALTER TABLE u ADD id uniqueidentifier NOT NULL CONSTRAINT df DEFAULT (newsequentialid()) WITH VALUES",
    );
    assert_eq!(client.int("SELECT COUNT(DISTINCT id) FROM u"), 2);
    drop(client);
    fixture.stop();
}

#[test]
fn newsequentialid_is_a_default_alone() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for sql in [
        "SELECT NEWSEQUENTIALID()",
        "DECLARE @a uniqueidentifier = NEWSEQUENTIALID()",
        "CREATE TABLE t (a varchar(40) DEFAULT NEWSEQUENTIALID())",
        "CREATE TABLE t (a varchar(40) DEFAULT (CONVERT(varchar(40), NEWSEQUENTIALID())))",
    ] {
        fails(&mut client, 302, sql);
    }
    drop(client);
    fixture.stop();
}

#[test]
fn rows_are_compressed_and_parsed() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a varbinary(max)); INSERT t SELECT COMPRESS(REPLICATE(CONVERT(nvarchar(max), N'ab'), 50000))",
    );
    let sql = "SELECT DATALENGTH(DECOMPRESS(a)), LEFT(CONVERT(nvarchar(max), DECOMPRESS(a)), 3), \
               IIF(DATALENGTH(a) < 2000, 1, 0) FROM t";
    assert_eq!(shown(&succeed(&mut client, sql)), "200000,aba,1");
    let sql = "SELECT TRY_PARSE(v AS int), TRY_PARSE(v AS date USING 'en-US') FROM (VALUES ('1,000'), ('x')) s (v)";
    let answer = succeed(&mut client, sql);
    assert_eq!(shown(&answer), "1000,-; -,-");
    fails(&mut client, 9819, "SELECT PARSE(v AS int) FROM (VALUES ('x')) s (v)");
    drop(client);
    fixture.stop();
}
