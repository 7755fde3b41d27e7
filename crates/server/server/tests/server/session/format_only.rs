//! SET FMTONLY ON: the columns of results, and nothing is run.

use selenite_tds::client::Token;

use super::client::{Answer, numbers, succeed, text};
use super::fixture::Fixture;
use selenite_tds::ProcedureId;

/// The names of the columns of each result.
fn columns(answer: &Answer) -> Vec<Vec<&str>> {
    let sets = answer.0.iter().filter_map(|token| match token {
        Token::Columns(columns) => Some(columns.iter().map(|column| column.name.as_str()).collect()),
        _ => None,
    });
    sets.collect()
}

#[test]
fn columns_are_sent_and_nothing_is_run() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(
        &mut client,
        "CREATE TABLE #t (a int IDENTITY, b varchar(10) NOT NULL); INSERT #t VALUES ('x')",
    );
    // As go-mssqldb asks.
    let answer = succeed(&mut client, "SET FMTONLY ON; SELECT a, b FROM #t; SET FMTONLY OFF");
    assert_eq!(columns(&answer), [["a", "b"]]);
    assert_eq!(answer.rows().len(), 0);
    assert_eq!(client.int("SELECT COUNT(*) FROM #t"), 1);
    succeed(&mut client, "SET FMTONLY ON");
    let answer = succeed(
        &mut client,
        "INSERT #t VALUES ('y');
         UPDATE #t SET b = 'z' OUTPUT deleted.b, inserted.a WHERE a = 1;
         IF 1 = 0 SELECT 1 AS one ELSE SELECT 2 AS two;
         WHILE 1 = 1 SELECT name FROM sys.objects;
         DECLARE @n int = 7; SET @n = @n / 0; PRINT 'said'; THROW 50000, 'thrown', 1;
         DROP TABLE #t; CREATE TABLE #u (a int); BEGIN TRANSACTION; WAITFOR DELAY '10:00';
         EXEC ('SELECT 3 AS three')",
    );
    assert_eq!(
        columns(&answer),
        [vec!["b", "a"], vec!["one"], vec!["two"], vec!["name"], vec!["three"]]
    );
    assert_eq!((answer.rows().len(), answer.infos().len()), (0, 0));
    assert_eq!(numbers(&client.batch("SELECT * FROM missing")), [208]);
    assert_eq!(numbers(&client.batch("EXEC sp_tables")), [40510]);
    succeed(&mut client, "SET FMTONLY OFF");
    let answer = succeed(
        &mut client,
        "SELECT b FROM #t; SELECT @@TRANCOUNT; SELECT OBJECT_ID('tempdb..#u')",
    );
    assert_eq!(answer.rows().len(), 3);
    assert_eq!(answer.rows()[0], [selenite_types::Value::Text("x".into())]);
    assert_eq!(answer.rows()[1], [selenite_types::Value::Int(0)]);
    assert_eq!(answer.rows()[2], [selenite_types::Value::Null]);
    // A text sets it for itself alone.
    let answer = client.call(ProcedureId::ExecuteSql, vec![text("SET FMTONLY ON SELECT a FROM #t")]);
    assert_eq!((columns(&answer), answer.rows().len()), (vec![vec!["a"]], 0));
    assert_eq!(client.int("SELECT COUNT(*) FROM #t"), 1);
    drop(client);
    fixture.stop();
}

#[test]
fn columns_need_the_permission_to_read_them() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(
        &mut client,
        "USE d; CREATE TABLE t (a int); CREATE LOGIN l WITH PASSWORD = 'Str0ng-and-long'; CREATE USER l FOR LOGIN l",
    );
    let mut other = fixture.client_as("l", "Str0ng-and-long", "d");
    assert_eq!(numbers(&other.batch("SET FMTONLY ON SELECT * FROM t")), [229]);
    let answer = succeed(&mut client, "USE master; SET FMTONLY ON; SELECT * FROM d.dbo.t");
    assert_eq!(columns(&answer), [["a"]]);
    drop((client, other));
    fixture.stop();
}
