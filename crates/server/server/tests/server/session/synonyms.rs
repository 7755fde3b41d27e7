//! Synonyms: another name of a table, view or procedure.

use selenite_types::Value;

use super::client::{Client, numbers, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

#[track_caller]
fn fails(client: &mut Client, sql: &str, number: i32) {
    let answer = client.batch(sql);
    assert_eq!(numbers(&answer), [number], "{sql}: {answer:?}");
}

#[test]
fn a_synonym_stands_for_its_object() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE SCHEMA s");
    succeed(
        &mut client,
        "CREATE TABLE s.t (a int); CREATE SYNONYM st FOR s.t; CREATE SYNONYM p FOR d.s.proc_of; CREATE SYNONYM o FOR sys.objects",
    );
    succeed(&mut client, "CREATE PROCEDURE s.proc_of @a int AS SELECT @a + 1");
    succeed(
        &mut client,
        "INSERT st VALUES (1), (2); UPDATE st SET a = st.a + 10 WHERE st.a = 1; DELETE st WHERE a = 2",
    );
    let answer = succeed(
        &mut client,
        "SELECT st.a FROM st; SELECT x.a FROM dbo.st AS x; EXEC p 4; SELECT COUNT(*) FROM o WHERE name = 't'",
    );
    let values: Vec<Value> = answer.rows().into_iter().flatten().collect();
    assert_eq!(values, [11, 11, 5, 1].map(Value::Int));
    succeed(&mut client, "CREATE VIEW s.v AS SELECT a FROM dbo.st");
    assert_eq!(succeed(&mut client, "SELECT a FROM s.v").rows(), [[Value::Int(11)]]);
    // It is looked up when it is used.
    succeed(&mut client, "CREATE SYNONYM early FOR dbo.later");
    fails(&mut client, "SELECT * FROM early", 5313);
    succeed(&mut client, "CREATE TABLE later (a int)");
    assert_eq!(succeed(&mut client, "SELECT * FROM early").rows().len(), 0);
}

#[test]
fn definitions_do_not_follow_synonyms() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (a int); CREATE SYNONYM st FOR t; CREATE SYNONYM sst FOR st",
    );
    for (sql, number) in [
        ("CREATE SYNONYM st FOR t", 2714),
        ("CREATE TABLE st (a int)", 2714),
        ("ALTER TABLE st ADD b int", 4902),
        ("DROP TABLE st", 3701),
        ("DROP SYNONYM t", 3705),
        ("DROP SYNONYM x", 3701),
        ("SELECT * FROM sst", 5313),
        ("EXEC st", 5313),
    ] {
        fails(&mut client, sql, number);
    }
    let rows = succeed(
        &mut client,
        "SELECT name, type, base_object_name FROM sys.synonyms ORDER BY name",
    )
    .rows();
    let row = |values: [&str; 3]| values.map(|text| Value::Text(text.into())).to_vec();
    assert_eq!(rows, [row(["sst", "SN", "[st]"]), row(["st", "SN", "[t]"])]);
    succeed(&mut client, "DROP SYNONYM st, sst; DROP SYNONYM IF EXISTS st");
    fails(&mut client, "SELECT * FROM st", 208);
    succeed(&mut client, "CREATE SYNONYM other FOR master.dbo.t");
    fails(&mut client, "SELECT * FROM other", 40510);
}
