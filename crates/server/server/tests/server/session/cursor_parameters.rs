//! Cursor parameters of procedures, sp_cursor_list and sp_describe_cursor, sys.dm_exec_cursors, CURSOR_DEFAULT.

use super::client::{Client, all_fail, fails, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (id int PRIMARY KEY, b varchar(5)); INSERT t VALUES (1, 'one'), (2, 'two'), (3, 'three')",
    );
    succeed(
        &mut client,
        "CREATE PROCEDURE opens @least int, @rows CURSOR VARYING OUTPUT AS BEGIN \
         SET @rows = CURSOR FORWARD_ONLY STATIC FOR SELECT id, b FROM t WHERE id >= @least ORDER BY id; OPEN @rows END",
    );
    client
}

#[test]
fn a_procedure_returns_a_cursor() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let fetches = "DECLARE @c CURSOR, @id int, @b varchar(5), @all varchar(50) = ''; \
                   EXEC opens @rows = @c OUTPUT, @least = 2; FETCH @c INTO @id, @b; \
                   WHILE @@FETCH_STATUS = 0 BEGIN SET @all += CONCAT(@id, @b, ' '); FETCH @c INTO @id, @b END; \
                   SELECT @all, CURSOR_STATUS('variable', '@c'); CLOSE @c; DEALLOCATE @c";
    assert_eq!(client.batch(fetches).errors(), []);
    let answer = succeed(&mut client, fetches);
    assert_eq!(answer.rows()[0][0], selenite_types::Value::Text("2two 3three ".into()));
    // Rows that the procedure has fetched are behind the cursor.
    succeed(
        &mut client,
        "CREATE PROCEDURE begins @rows CURSOR VARYING OUTPUT AS BEGIN DECLARE @id int, @b varchar(5); \
         EXEC opens 1, @rows OUTPUT; FETCH @rows INTO @id, @b END",
    );
    let nested = "DECLARE @c CURSOR; EXEC begins @c OUTPUT; FETCH @c";
    assert_eq!(shown(&succeed(&mut client, nested)), "2,two");
    let text = "DECLARE @c CURSOR; EXEC sp_executesql N'SET @x = CURSOR FOR SELECT b FROM t; OPEN @x', \
                N'@x CURSOR OUTPUT', @c OUTPUT; FETCH @c";
    assert_eq!(shown(&succeed(&mut client, text)), "one");
    let listed = "SELECT CONVERT(int, is_output), CONVERT(int, is_cursor_ref) FROM sys.parameters \
                  WHERE object_id = OBJECT_ID('opens') AND name = '@rows'";
    assert_eq!(shown(&succeed(&mut client, listed)), "1,1");
    drop(client);
    fixture.stop();
}

#[test]
fn a_closed_cursor_is_not_returned() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE PROCEDURE closes @rows CURSOR VARYING OUTPUT AS BEGIN EXEC opens 1, @rows OUTPUT; CLOSE @rows END",
    );
    succeed(
        &mut client,
        "CREATE PROCEDURE nothing @rows CURSOR VARYING OUTPUT AS SELECT 1",
    );
    for name in ["closes", "nothing"] {
        let sql =
            format!("DECLARE @c CURSOR; EXEC {name} @c OUTPUT; SELECT CONVERT(int, CURSOR_STATUS('variable', '@c'))");
        let answer = succeed(&mut client, &sql);
        assert_eq!(
            answer.rows().last().unwrap()[0],
            selenite_types::Value::Int(-2),
            "{name}"
        );
    }
    all_fail(
        &mut client,
        &[
            (
                16951,
                "DECLARE @c CURSOR; SET @c = CURSOR FOR SELECT 1 AS a; EXEC opens 1, @c OUTPUT",
            ),
            (16949, "DECLARE @c CURSOR; EXEC opens 1, @c"),
            (16949, "DECLARE @c CURSOR; EXEC opens @c OUTPUT, NULL"),
            (16948, "DECLARE @c int; EXEC opens 1, @c OUTPUT"),
            (201, "EXEC opens 1"),
            (40510, "CREATE PROCEDURE wrong @c CURSOR AS SELECT 1"),
            (
                40510,
                "CREATE FUNCTION wrong (@c CURSOR) RETURNS int AS BEGIN RETURN 1 END",
            ),
        ],
    );
    drop(client);
    fixture.stop();
}

/// All rows of the cursor @r, which a batch has opened.
const ROWS: &str = "; FETCH @r; WHILE @@FETCH_STATUS = 0 FETCH @r";

#[test]
fn cursors_are_listed_and_described() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let make = "DECLARE g CURSOR GLOBAL KEYSET FOR SELECT id FROM t; DECLARE l CURSOR LOCAL FOR SELECT id FROM t; \
                DECLARE @v CURSOR, @r CURSOR; SET @v = l; OPEN g; FETCH g; OPEN l; ";
    let names = |client: &mut Client, sql: &str| {
        let rows = succeed(client, sql).rows();
        let listed = rows.iter().filter(|row| row.len() == 14);
        let name = |row: &Vec<selenite_types::Value>| match &row[0] {
            selenite_types::Value::Text(text) => text.to_string(),
            other => format!("{other:?}"),
        };
        listed.map(name).collect::<Vec<_>>()
    };
    let list = format!("{make}EXEC sp_cursor_list @r OUTPUT, 3{ROWS}; DEALLOCATE g");
    assert_eq!(names(&mut client, &list), ["@v", "l", "g"]);
    let list = format!("{make}EXEC sp_cursor_list @cursor_return = @r OUTPUT, @cursor_scope = 2{ROWS}; DEALLOCATE g");
    assert_eq!(names(&mut client, &list), ["g"]);
    let one = format!("{make}EXEC sp_describe_cursor @r OUTPUT, 'global', 'g'{ROWS}; DEALLOCATE g");
    let rows = succeed(&mut client, &one).rows();
    let described = rows.iter().find(|row| row.len() == 14).unwrap();
    let number = |at: usize| match &described[at] {
        selenite_types::Value::SmallInt(number) => i64::from(*number),
        selenite_types::Value::Decimal(number) => i64::try_from(number.unscaled).unwrap(),
        other => panic!("{other:?}"),
    };
    // Scope, status, model, concurrency, scrollable, open, rows, fetch status, columns, rows of FETCH, operation.
    let found: Vec<i64> = (2..13).map(number).collect();
    assert_eq!(found, [2, 1, 2, 3, 1, 1, 3, 0, 1, 1, 2]);
    fails(
        &mut client,
        50000,
        "DECLARE @r CURSOR; EXEC sp_describe_cursor @r OUTPUT, 'local', 'none'",
    );
    fails(
        &mut client,
        50000,
        "DECLARE @r CURSOR; EXEC sp_cursor_list @r OUTPUT, 4",
    );
    drop(client);
    fixture.stop();
}

#[test]
fn the_cursors_of_a_session_are_a_view() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let sql = "DECLARE g CURSOR GLOBAL STATIC FOR SELECT id FROM t; DECLARE l CURSOR LOCAL SCROLL DYNAMIC FOR SELECT id FROM t; \
               OPEN l; SELECT name, properties, is_open, fetch_status FROM sys.dm_exec_cursors(@@SPID) ORDER BY name";
    assert_eq!(
        shown(&succeed(&mut client, sql)),
        "g,TSQL | Snapshot | Read Only | Global (0),0,-9; l,TSQL | Dynamic | Optimistic | Local (0),1,-9"
    );
    let spid = client.int("SELECT CONVERT(int, @@SPID)");
    let mut other = fixture.client();
    let sql = format!("SELECT name FROM sys.dm_exec_cursors({spid})");
    assert_eq!(shown(&succeed(&mut other, &sql)), "g");
    assert_eq!(
        shown(&succeed(&mut other, "SELECT name FROM sys.dm_exec_cursors(0)")),
        "g"
    );
    drop((client, other));
    fixture.stop();
}

#[test]
fn the_scope_of_a_cursor_is_the_databases_default() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "ALTER DATABASE d SET CURSOR_DEFAULT LOCAL");
    assert_eq!(
        client.int("SELECT CONVERT(int, is_local_cursor_default) FROM sys.databases WHERE name = 'd'"),
        1
    );
    let sql = "DECLARE c CURSOR FOR SELECT id FROM t; \
               SELECT CONVERT(int, CURSOR_STATUS('local', 'c')), CONVERT(int, CURSOR_STATUS('global', 'c'))";
    assert_eq!(shown(&succeed(&mut client, sql)), "-1,-3");
    fails(&mut client, 16916, "OPEN c");
    succeed(&mut client, "DECLARE c CURSOR GLOBAL FOR SELECT id FROM t");
    succeed(
        &mut client,
        "OPEN c; DEALLOCATE c; ALTER DATABASE d SET CURSOR_DEFAULT GLOBAL",
    );
    succeed(&mut client, "DECLARE c CURSOR FOR SELECT id FROM t");
    succeed(&mut client, "DEALLOCATE c");
    drop(client);
    fixture.stop();
}
