//! Unsupported T-SQL: recognized, named, and skipped to the end of the statement.

use crate::round_trip::round_trip;
use selenite_tsql::ast::{Statement, StatementKind, Unsupported};

fn unsupported(statement: &Statement) -> &Unsupported {
    let StatementKind::Unsupported(unsupported) = &statement.kind else {
        panic!("{statement:?} is supported");
    };
    unsupported
}

/// Each text is followed by a SELECT: checks the unsupported feature's name, and that SELECT is a separate statement.
fn check(expected: &[(&str, &str)]) {
    for (text, what) in expected {
        for separator in [";", " "] {
            let batch = format!("{text}{separator}SELECT 1");
            let tree = round_trip(&batch);
            assert_eq!(tree.statements.len(), 2, "{batch}\n{tree:?}");
            let found = unsupported(&tree.statements[0]);
            assert_eq!((found.what.as_str(), found.text.as_str()), (*what, *text), "{batch}");
            let within = tree.statements[0].position;
            assert!(
                within.start <= found.position.start && found.position.end <= within.end,
                "{batch}"
            );
        }
    }
}

#[test]
fn clauses_of_queries_are_refused_by_name() {
    check(&[
        ("SELECT * FROM t TABLESAMPLE (10 PERCENT) REPEATABLE (5)", "TABLESAMPLE"),
        (
            "SELECT * FROM t FOR SYSTEM_TIME AS OF '2020-01-01' AS x",
            "FOR SYSTEM_TIME",
        ),
        ("SELECT a FROM t FOR BROWSE", "FOR BROWSE"),
        (
            "SELECT a FROM t FOR XML AUTO, XMLSCHEMA",
            "XMLSCHEMA and XMLDATA of FOR XML",
        ),
        ("SELECT a, COUNT(*) FROM t GROUP BY ALL a", "GROUP BY ALL"),
        (
            "SELECT * FROM OPENROWSET ('provider', 'server'; 'user'; 'password', 'SELECT 1') AS r",
            "OPENROWSET other than BULK with SINGLE_BLOB, SINGLE_CLOB or SINGLE_NCLOB",
        ),
        (
            "SELECT * FROM OPENROWSET (BULK 'x', FORMATFILE = 'y') AS r",
            "OPENROWSET other than BULK with SINGLE_BLOB, SINGLE_CLOB or SINGLE_NCLOB",
        ),
        ("SELECT * FROM OPENQUERY (s, 'select 1')", "OPENQUERY"),
        ("SELECT * FROM OPENDATASOURCE ('a', 'b').d.s.t AS x", "OPENDATASOURCE"),
        ("SELECT * FROM (DELETE FROM t OUTPUT deleted.a) AS d", "change in FROM"),
        (
            "WITH CHANGE_TRACKING_CONTEXT (0x1) SELECT 1 AS a",
            "WITH CHANGE_TRACKING_CONTEXT",
        ),
    ]);
}

#[test]
fn values_and_conditions_are_refused_by_name() {
    check(&[
        ("SELECT IDENTITY(int, 1, 1) AS a INTO t FROM u", "IDENTITY function"),
        ("SELECT geography::Point(1, 2, 4326)", "method call"),
        ("SELECT a FROM t WHERE CONTAINS (a, 'x') AND b = 1", "CONTAINS"),
        ("SELECT a FROM t WHERE NOT FREETEXT ((a, b), 'x')", "FREETEXT"),
        ("SET @x.write('a', 1, 1)", "method call"),
        ("UPDATE t SET a.WRITE('x', 0, 1), b = 2", "method call"),
    ]);
}

#[test]
fn statements_are_refused_by_name() {
    check(&[
        ("EXEC ('SELECT ?', 1) AT srv", "EXECUTE AT"),
        ("EXEC ('SELECT 1') AT srv", "EXECUTE AT"),
        ("EXEC p 1 WITH RESULT SETS ((a int))", "WITH RESULT SETS"),
        ("BEGIN TRAN t WITH MARK 'x'", "BEGIN TRANSACTION WITH MARK"),
        ("BEGIN DISTRIBUTED TRAN", "BEGIN DISTRIBUTED TRANSACTION"),
        (
            "BULK INSERT t FROM 'x' WITH (ERRORFILE = 'e')",
            "BULK INSERT WITH ERRORFILE",
        ),
        (
            "BULK INSERT t FROM 'x' WITH (FIRSTROW = 2, FORMATFILE = 'f')",
            "BULK INSERT WITH FORMATFILE",
        ),
        ("SETUSER", "SETUSER"),
        ("WAITFOR (RECEIVE * FROM q), TIMEOUT 500", "WAITFOR RECEIVE"),
        (
            "TRUNCATE TABLE t WITH (PARTITIONS (1))",
            "TRUNCATE TABLE WITH PARTITIONS",
        ),
        ("ENABLE TRIGGER a ON DATABASE", "A DDL trigger"),
        ("SEND ON CONVERSATION @h MESSAGE TYPE x", "SEND"),
    ]);
}

#[test]
fn definitions_are_refused_by_name() {
    check(&[
        ("CREATE FULLTEXT INDEX ON t (a) KEY INDEX i", "CREATE FULLTEXT INDEX"),
        (
            "CREATE SYMMETRIC KEY k FROM PROVIDER p WITH PROVIDER_KEY_NAME = 'k'",
            "CREATE SYMMETRIC KEY FROM PROVIDER",
        ),
        ("CREATE CLUSTERED COLUMNSTORE INDEX i ON t", "CREATE COLUMNSTORE INDEX"),
        (
            "CREATE PARTITION FUNCTION f (int) AS RANGE LEFT FOR VALUES (1)",
            "CREATE PARTITION FUNCTION",
        ),
        ("ALTER SERVICE MASTER KEY REGENERATE", "ALTER SERVICE MASTER"),
        (
            "ALTER CERTIFICATE c REMOVE PRIVATE KEY",
            "ALTER CERTIFICATE other than WITH PRIVATE KEY and passwords",
        ),
        ("CREATE TABLE t (a int SPARSE NULL)", "SPARSE"),
        ("CREATE TABLE t (a int) ON ps (a)", "partition scheme"),
        (
            "CREATE TABLE t (a int, PERIOD FOR SYSTEM_TIME (b, c))",
            "PERIOD FOR SYSTEM_TIME",
        ),
        (
            "CREATE TABLE t (a int) WITH (MEMORY_OPTIMIZED = ON)",
            "CREATE TABLE WITH",
        ),
        ("ALTER TABLE t SWITCH TO u", "ALTER TABLE SWITCH"),
        ("ALTER TABLE t ENABLE CHANGE_TRACKING", "ALTER TABLE ENABLE"),
        (
            "CREATE DATABASE d ON (FILENAME = 'x') FOR ATTACH",
            "CREATE DATABASE FOR ATTACH",
        ),
        ("ALTER DATABASE d ADD FILE (NAME = f)", "ALTER DATABASE ADD"),
        (
            "ALTER DATABASE d SET QUERY_STORE = ON (OPERATION_MODE = READ_WRITE)",
            "ALTER DATABASE SET QUERY_STORE",
        ),
        (
            "ALTER DATABASE SCOPED CONFIGURATION CLEAR PROCEDURE_CACHE",
            "ALTER DATABASE SCOPED CONFIGURATION",
        ),
        (
            "BACKUP SERVICE MASTER KEY TO FILE = 'x' ENCRYPTION BY PASSWORD = 'y'",
            "BACKUP SERVICE MASTER",
        ),
    ]);
}

#[test]
fn triggers_are_skipped_to_the_end_of_their_batch() {
    for (text, what) in [
        (
            "CREATE FUNCTION f () RETURNS int AS EXTERNAL NAME a.b.c",
            "AS EXTERNAL NAME",
        ),
        (
            "CREATE TRIGGER tr ON DATABASE FOR CREATE_TABLE AS SELECT 1; SELECT 2",
            "A DDL trigger",
        ),
    ] {
        let tree = round_trip(&format!("{text};;\n"));
        assert_eq!(tree.statements.len(), 1);
        let found = unsupported(&tree.statements[0]);
        assert_eq!((found.what.as_str(), found.text.as_str()), (what, text));
    }
}

#[test]
fn an_unsupported_statement_in_a_block_does_not_affect_the_others() {
    let tree = round_trip("BEGIN SETUSER; WHILE 1 = 0 BEGIN SETUSER; SELECT 1 END CLOSE c END");
    let StatementKind::Block(body) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    assert_eq!(body.len(), 3);
    assert_eq!(unsupported(&body[0]).what, "SETUSER");
    let StatementKind::While(turn) = &body[1].kind else {
        panic!("{tree:?}");
    };
    let StatementKind::Block(body) = &turn.body.kind else {
        panic!("{tree:?}");
    };
    assert_eq!((unsupported(&body[0]).what.as_str(), body.len()), ("SETUSER", 2));
}

#[test]
fn an_unsupported_condition_refuses_only_its_statement() {
    let tree = round_trip("IF CONTAINS (a, 'x') SELECT 1 ELSE IF 1 = 1 SELECT 2 ELSE IF a::b(1) = 1 SELECT 3");
    assert_eq!(unsupported(&tree.statements[0]).what, "CONTAINS");
    let tree = round_trip("IF 1 = 1 SELECT 2 ELSE IF a::b(1) = 1 SELECT 3 ELSE SELECT 4");
    let StatementKind::If(branches) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    let otherwise = branches.otherwise.as_ref().unwrap();
    assert_eq!(unsupported(otherwise).what, "method call");
    assert_eq!(unsupported(otherwise).text, "IF a::b(1) = 1 SELECT 3 ELSE SELECT 4");
}

#[test]
fn a_syntax_error_in_an_unsupported_statement_is_reported() {
    for text in [
        "CREATE TYPE t AS TABLE (a",
        "CREATE FUNCTION f /* x",
        "OPEN c 'x",
        "SETUSER \u{2019}",
    ] {
        assert!(selenite_tsql::parse(text, Default::default()).is_err(), "{text}");
    }
}
