//! Memory of a session, and what a session that needs more is told.

use selenite_server::ServerLimits;
use selenite_tds::ProcedureId;
use selenite_types::{DataType, Value, Width};

use super::client::{Answer, Client, int, numbers, output, parameter, text};
use super::fixture::Fixture;

const OUT_OF_MEMORY: i32 = 701;

/// A server whose sessions may use 32 MiB.
fn fixture() -> Fixture {
    Fixture::limited(ServerLimits {
        session_memory: 32 << 20,
        ..ServerLimits::default()
    })
}

/// A session that needs too much gets an error, and continues with all that it had.
fn assert_refused(client: &mut Client, batch: &str) {
    let answer = client.batch(batch);
    // It may be followed by 266, which the ended call leaves.
    assert_eq!(numbers(&answer).first(), Some(&OUT_OF_MEMORY), "{batch}");
    let said = &answer.said()[0];
    assert_eq!((said.severity, said.state), (17, 123), "{batch}");
    client.batch("IF @@TRANCOUNT > 0 ROLLBACK");
    // Its memory is given back: most of the limit is free again.
    assert_eq!(
        client.int("SELECT CAST(LEN(REPLICATE(CAST('x' AS varchar(max)), 8000000)) AS int)"),
        8_000_000,
        "{batch}"
    );
}

/// Half of what a session may use, made with one copy.
const HALF: &str = "REPLICATE(CAST('x' AS varchar(max)), 12000000)";

#[test]
fn variables_and_values_are_counted() {
    let fixture = fixture();
    let mut client = fixture.client();
    let declared: Vec<String> = (0..40)
        .map(|at| {
            format!(
                "@s{at} varchar(max) = REPLICATE(CAST('x' AS varchar(max)), {})",
                3_000_000 - at
            )
        })
        .collect();
    for batch in [
        format!("DECLARE {}; SELECT 1", declared.join(", ")),
        format!("DECLARE @s varchar(max) = {HALF} SELECT LEN(@s + @s)"),
        format!("SELECT LEN(CONCAT({HALF}, {HALF}, {HALF}))"),
        format!("SELECT LEN(REPLACE({HALF}, 'x', 'xy'))"),
        format!("SELECT LEN(UPPER({HALF}))"),
        format!("SELECT LEN(CONVERT(varchar(max), CONVERT(varbinary(max), {HALF}), 1))"),
        "SELECT LEN(STRING_ESCAPE(REPLICATE(CAST(CHAR(1) AS varchar(max)), 8000000), 'json'))".to_owned(),
        "SELECT LEN(REPLICATE(CAST('x' AS varchar(max)), 17000000))".to_owned(),
        "DECLARE @s varchar(max) = 'x' WHILE 1 = 1 SET @s += @s".to_owned(),
        format!("SELECT {HALF}, {HALF}, {HALF}"),
        format!(
            "EXEC ('DECLARE @s varchar(max) = {} SELECT @s + @s')",
            HALF.replace('\'', "''")
        ),
    ] {
        assert_refused(&mut client, &batch);
    }
}

#[test]
fn rows_are_counted() {
    let fixture = fixture();
    let mut client = fixture.client();
    let numbers = "WITH n AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM n WHERE a < 100000)";
    for batch in [
        // Held as rows until the call ends.
        format!(
            "CREATE TABLE #k (a varchar(400)) INSERT #k EXEC ('{numbers} SELECT REPLICATE(''x'', 400) FROM n OPTION (MAXRECURSION 0)')"
        ),
        format!(
            "DECLARE @t TABLE (a varchar(400)); {numbers} INSERT @t SELECT REPLICATE('x', 400) FROM n OPTION (MAXRECURSION 0)"
        ),
        format!("{numbers} SELECT REPLICATE('x', 400) AS a INTO #i FROM n OPTION (MAXRECURSION 0)"),
        // Sorted, made distinct, grouped.
        format!(
            "{numbers} SELECT v FROM (SELECT CONCAT(a, REPLICATE('x', 400)) AS v FROM n) d ORDER BY v OPTION (MAXRECURSION 0)"
        ),
        format!(
            "{numbers} SELECT COUNT(*) FROM (SELECT DISTINCT CONCAT(a, REPLICATE('x', 400)) AS v FROM n) d OPTION (MAXRECURSION 0)"
        ),
        format!(
            "{numbers} SELECT LEN(STRING_AGG(CAST(REPLICATE('x', 400) AS varchar(max)), ',')) FROM n OPTION (MAXRECURSION 0)"
        ),
    ] {
        assert_refused(&mut client, &batch);
        client.batch("DROP TABLE IF EXISTS #k");
    }
    // What is held is in memory until it is dropped.
    let fill = "CREATE TABLE #big (a varchar(400)) INSERT #big SELECT TOP 40000 REPLICATE('x', 400) FROM (VALUES (1), (2), (3), (4), (5), (6)) a (x), (VALUES (1), (2), (3), (4), (5), (6)) b (x), (VALUES (1), (2), (3), (4), (5), (6)) c (x), (VALUES (1), (2), (3), (4), (5), (6)) d (x), (VALUES (1), (2), (3), (4), (5), (6)) e (x), (VALUES (1), (2), (3), (4), (5), (6)) f (x)";
    assert_eq!(numbers_of(&mut client, fill), [0; 0]);
    assert_eq!(
        numbers_of(&mut client, "SELECT LEN(REPLICATE(CAST('x' AS varchar(max)), 9000000))"),
        [OUT_OF_MEMORY]
    );
    assert_eq!(numbers_of(&mut client, "DROP TABLE #big"), [0; 0]);
    let given_back = "SELECT CAST(LEN(REPLICATE(CAST('x' AS varchar(max)), 9000000)) AS int)";
    assert_eq!(client.int(given_back), 9_000_000);
}

fn numbers_of(client: &mut Client, batch: &str) -> Vec<i32> {
    numbers(&client.batch(batch))
}

#[test]
fn texts_and_their_programs_are_counted() {
    let fixture = fixture();
    let mut client = fixture.client();
    assert_refused(&mut client, &format!("SELECT {}", vec!["1"; 400_000].join(", ")));
    assert_refused(&mut client, &format!("PRINT 1 {}", "PRINT 1 ".repeat(200_000)));
    assert_refused(
        &mut client,
        &format!("EXEC (N'SELECT {}')", vec!["1"; 300_000].join(",")),
    );
    // A message is read into memory before anything of it is known; a client that sends more than there is loses the
    // connection.
    let mut other = fixture.client();
    let told = other
        .try_ask(&format!("-- {}", "x".repeat(20_000_000)))
        .and_then(|()| other.answer());
    assert!(told.is_err() || told.is_ok_and(|answer| numbers(&answer) == [OUT_OF_MEMORY]));
}

fn prepare(client: &mut Client, statement: &str) -> Answer {
    let handle = output("", DataType::Int, Value::Null);
    let statement = parameter("", DataType::NVarChar(Width::Max), Value::Text(statement.into()));
    client.call(ProcedureId::Prepare, vec![handle, text(""), statement, int("", 1)])
}

/// Whether a value of 10 MB, of which LEN makes two copies, fits into what a session may use.
fn fits(client: &mut Client) -> bool {
    let answer = client.batch("SELECT LEN(REPLICATE(CAST('x' AS varchar(max)), 10000000))");
    assert!(
        numbers(&answer).iter().all(|number| *number == OUT_OF_MEMORY),
        "{answer:?}"
    );
    answer.errors().is_empty()
}

#[test]
fn prepared_statements_are_counted_from_one_request_to_the_next() {
    let fixture = fixture();
    let mut client = fixture.client();
    for statements in ["PRINT 1 ".repeat(1000), format!("SELECT 1 -- {}", "x".repeat(500_000))] {
        assert!(fits(&mut client));
        let mut handles = Vec::new();
        // What is prepared may take a quarter of the session's memory.
        loop {
            let answer = prepare(&mut client, &format!("PRINT {} {statements}", handles.len()));
            if !answer.errors().is_empty() {
                assert_eq!(numbers(&answer)[0], OUT_OF_MEMORY);
                break;
            }
            let [(0, "", Value::Int(handle))] = *answer.outputs() else {
                panic!("{answer:?}");
            };
            handles.push(*handle);
            assert!(handles.len() < 100, "nothing is counted");
        }
        assert!(handles.len() > 2);
        assert!(!fits(&mut client));
        for handle in handles {
            let answer = client.call(ProcedureId::Unprepare, vec![int("", handle)]);
            assert_eq!(numbers(&answer), [0_i32; 0]);
        }
    }
    assert!(fits(&mut client));
}

#[test]
fn bound_statements_keep_no_large_programs() {
    let fixture = fixture();
    let mut client = fixture.client();
    assert_eq!(numbers_of(&mut client, "CREATE TABLE #t (a int)"), [0; 0]);
    let statements = "PRINT 1 ".repeat(2000);
    for number in 0..30 {
        let batch = format!("SELECT a FROM #t WHERE a = {number} RETURN {statements}");
        assert_eq!(numbers_of(&mut client, &batch), [0; 0]);
    }
    // An eighth of the memory may be bound statements and their programs: some four MiB.
    assert_eq!(
        client.int("SELECT CAST(LEN(REPLICATE(CAST('x' AS varchar(max)), 9000000)) AS int)"),
        9_000_000
    );
}

#[test]
fn another_session_works_while_one_has_no_memory() {
    let fixture = fixture();
    let (mut greedy, mut other) = (fixture.client(), fixture.client());
    greedy.ask(&format!(
        "DECLARE @a varchar(max) = {HALF} WHILE 1 = 1 SELECT LEN(@a) INTO #x"
    ));
    for _ in 0..20 {
        assert_eq!(
            other.int("SELECT CAST(LEN(REPLICATE(CAST('x' AS varchar(max)), 4000000)) AS int)"),
            4_000_000
        );
    }
    assert!(greedy.answer().is_ok());
}

#[test]
fn a_transaction_survives_a_statement_that_had_no_memory() {
    let fixture = fixture();
    let mut client = fixture.client();
    client.batch("CREATE DATABASE d");
    client.batch("USE d CREATE TABLE t (a int)");
    client.batch("BEGIN TRAN INSERT t VALUES (1)");
    assert_eq!(
        numbers_of(&mut client, &format!("INSERT t SELECT LEN({HALF} + {HALF})")),
        [OUT_OF_MEMORY]
    );
    assert_eq!(numbers_of(&mut client, "COMMIT"), [0; 0]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 1);
}

#[test]
fn a_nested_operand_costs_no_memory() {
    let fixture = fixture();
    let mut client = fixture.client();
    let nested = (0..40).fold("x".to_owned(), |inner, at| format!("NULLIF({inner}, {})", at + 100));
    let batch = format!("SELECT COUNT({nested}) FROM (SELECT database_id AS x FROM sys.databases) t");
    assert!(client.int(&batch) > 0);
    let derived = (0..31).fold("SELECT 1 AS a, 0 AS b".to_owned(), |rows, _| {
        format!("SELECT a + b AS a, a - b AS b FROM ({rows}) d")
    });
    assert_eq!(numbers_of(&mut client, &derived), [0; 0]);
}

#[test]
fn what_queries_of_xml_compute_is_counted() {
    let fixture = fixture();
    let mut client = fixture.client();
    let set = "DECLARE @x xml = '<r>' + REPLICATE(CAST('<a>xxxxxxxxxx</a>' AS varchar(max)), 2000) + '</r>'";
    for query in [
        "SELECT @x.query('for $a in /r/a, $b in /r/a return 1')",
        "SELECT @x.query('for $a in /r/a return <b>{/r}</b>')",
        "SELECT @x.exist('let $a := (for $a in /r/a return string(/r[1])) return $a')",
        "SET @x.modify('insert (for $a in /r/a return /r) into (/r)[1]')",
    ] {
        assert_refused(&mut client, &format!("{set}; {query}"));
    }
}
