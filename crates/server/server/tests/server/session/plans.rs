//! SET SHOWPLAN_ALL, SHOWPLAN_TEXT, SHOWPLAN_XML, STATISTICS PROFILE and STATISTICS XML.

use selenite_server::ServerLimits;
use selenite_tds::ProcedureId;
use selenite_tds::client::Token;
use selenite_types::Value;

use super::client::{Answer, Client, numbers, succeed, text};
use super::fixture::Fixture;

const TABLES: &str = "CREATE TABLE o (id int CONSTRAINT pk_o PRIMARY KEY, customer int NOT NULL, total money);
     CREATE INDEX ix_customer ON o (customer);
     CREATE TABLE c (name nvarchar(20) CONSTRAINT pk_c PRIMARY KEY, id int);
     INSERT o VALUES (1, 1, 5), (2, 1, 6), (3, 2, 7); INSERT c VALUES ('x', 1), ('y', 2)";

/// The first column of each result.
fn texts(answer: &Answer) -> Vec<Vec<String>> {
    let mut sets: Vec<Vec<String>> = Vec::new();
    for token in &answer.0 {
        match token {
            Token::Columns(_) => sets.push(Vec::new()),
            Token::Row(row) => {
                if let (Some(set), Some(Value::Text(text))) = (sets.last_mut(), row.first()) {
                    set.push(text.to_string());
                }
            }
            _ => {}
        }
    }
    sets
}

/// The lines of the plan of a statement, for a client with SHOWPLAN_TEXT.
fn plan(client: &mut Client, sql: &str) -> Vec<String> {
    let sets = texts(&succeed(client, sql));
    assert_eq!(sets[0], [sql]);
    sets.into_iter().nth(1).unwrap_or_default()
}

fn prepared() -> (Fixture, Client) {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(&mut client, TABLES);
    (fixture, client)
}

#[test]
fn a_plan_names_what_sqlite_does_with_tables_and_indexes() {
    let (fixture, mut client) = prepared();
    succeed(&mut client, "SET SHOWPLAN_TEXT ON");
    for (sql, expected) in PLANS {
        assert_eq!(plan(&mut client, sql), expected, "{sql}");
    }
    drop(client);
    fixture.stop();
}

/// Statements, and the lines of their plans.
const PLANS: [(&str, &[&str]); 11] = [
    (
        "SELECT total FROM o WHERE id = 2",
        &["  |--Clustered Index Seek(OBJECT:([d].[dbo].[o].[pk_o]), SEEK:(rowid=?) ORDERED FORWARD)"],
    ),
    (
        "SELECT total FROM o WHERE total > 5",
        &["  |--Clustered Index Scan(OBJECT:([d].[dbo].[o].[pk_o]), WHERE:(total > 5))"],
    ),
    ("SELECT * FROM c", &["  |--Table Scan(OBJECT:([d].[dbo].[c]))"]),
    (
        "SELECT total FROM o WHERE customer = 1",
        &[
            "  |--Nested Loops(Inner Join)",
            "       |--Index Seek(OBJECT:([d].[dbo].[o].[ix_customer]), SEEK:(customer=?) ORDERED FORWARD)",
            "       |--Key Lookup(OBJECT:([d].[dbo].[o].[pk_o]))",
        ],
    ),
    (
        "SELECT id FROM c WHERE name = N'x'",
        &[
            "  |--Nested Loops(Inner Join)",
            "       |--Index Seek(OBJECT:([d].[dbo].[c].[pk_c]), SEEK:(name=?) ORDERED FORWARD)",
            "       |--RID Lookup(OBJECT:([d].[dbo].[c]))",
        ],
    ),
    (
        "SELECT TOP (2) * FROM o ORDER BY total DESC",
        &[
            "  |--Top",
            "       |--Sort(ORDER BY)",
            "            |--Clustered Index Scan(OBJECT:([d].[dbo].[o].[pk_o]))",
        ],
    ),
    (
        "SELECT total, COUNT(*) FROM o GROUP BY total",
        &[
            "  |--Stream Aggregate(Aggregate)",
            "       |--Sort(GROUP BY)",
            "            |--Clustered Index Scan(OBJECT:([d].[dbo].[o].[pk_o]))",
        ],
    ),
    (
        "SELECT o.total FROM c LEFT JOIN o ON o.id = c.id",
        &[
            "  |--Nested Loops(Left Outer Join)",
            "       |--Table Scan(OBJECT:([d].[dbo].[c]))",
            "       |--Clustered Index Seek(OBJECT:([d].[dbo].[o].[pk_o]), SEEK:(rowid=?) ORDERED FORWARD)",
        ],
    ),
    (
        "INSERT c VALUES (N'z', 3)",
        &[
            "  |--Table Insert(Insert, OBJECT:([d].[dbo].[c]))",
            "       |--Constant Scan",
        ],
    ),
    (
        "DELETE o WHERE id = 1",
        &[
            "  |--Clustered Index Delete(Delete, OBJECT:([d].[dbo].[o].[pk_o]))",
            "       |--Clustered Index Seek(OBJECT:([d].[dbo].[o].[pk_o]), SEEK:(rowid=?) ORDERED FORWARD)",
        ],
    ),
    ("PRINT 'said'", &[]),
];

#[test]
fn plans_of_statements_of_all_kinds_are_made() {
    let (fixture, mut client) = prepared();
    succeed(
        &mut client,
        "CREATE DATABASE e; CREATE TABLE #t (a int PRIMARY KEY); CREATE TABLE [x AS t0] (a int); USE e; CREATE TABLE t (a int);
         USE d",
    );
    succeed(
        &mut client,
        "CREATE VIEW v AS SELECT o.id, c.name FROM o JOIN c ON c.id = o.customer",
    );
    let cases = [
        ("SELECT * FROM #t WHERE a = 1", "Clustered Index Seek"),
        ("SELECT * FROM [x AS t0]", "[dbo].[x AS t0]"),
        ("SELECT * FROM v", "[dbo].[o]"),
        ("SELECT * FROM e.dbo.t", "[e].[dbo].[t]"),
        ("SELECT id FROM o WHERE id IN (SELECT id FROM c)", "[dbo].[c]"),
        (
            "SELECT * FROM o WHERE EXISTS (SELECT 1 FROM c WHERE c.id = o.customer)",
            "[dbo].[c]",
        ),
        ("SELECT id FROM o UNION ALL SELECT id FROM c", "Concatenation"),
        ("SELECT id FROM o EXCEPT SELECT id FROM c", "EXCEPT"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY total) FROM o", "[dbo].[o]"),
        (
            "WITH r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r",
            "|--",
        ),
        (
            "WITH x AS (SELECT customer, SUM(total) AS s FROM o GROUP BY customer) SELECT * FROM x JOIN c ON c.id = x.customer",
            "[dbo].[c]",
        ),
        ("SELECT name FROM sys.objects", "|--"),
        (
            "UPDATE o SET total = (SELECT MAX(id) FROM c)",
            "Clustered Index Update(Update",
        ),
        ("SELECT * INTO made FROM o", "Table Insert(Insert, OBJECT:([made]))"),
        (
            "MERGE c USING o ON o.id = c.id WHEN MATCHED THEN UPDATE SET id = 1 WHEN NOT MATCHED BY SOURCE THEN DELETE;",
            "Table Merge(Merge",
        ),
    ];
    succeed(&mut client, "SET SHOWPLAN_TEXT ON");
    for (sql, part) in cases {
        let sets = texts(&succeed(&mut client, sql));
        let plan = sets.get(1).map(|lines| lines.join("\n")).unwrap_or_default();
        assert!(plan.contains(part), "{sql}: {plan}");
    }
    let variable =
        "DECLARE @v TABLE (a int PRIMARY KEY) INSERT @v SELECT id FROM o SELECT * FROM @v AS v JOIN o ON o.id = v.a";
    let sets = texts(&succeed(&mut client, variable));
    assert!(
        sets.iter().any(|lines| lines.join(" ").contains("Nested Loops")),
        "{sets:?}"
    );
    succeed(&mut client, "SET SHOWPLAN_XML ON");
    let all: Vec<&str> = cases
        .iter()
        .map(|(sql, _)| *sql)
        .filter(|sql| !sql.starts_with("WITH"))
        .collect();
    let sets = texts(&succeed(&mut client, &all.join("; ")));
    succeed(&mut client, "SET SHOWPLAN_XML OFF");
    let count = format!(
        "DECLARE @x xml = N'{}'; SELECT @x.value('count(/*/*/*/*/*)', 'int')",
        sets[0][0].replace('\'', "''")
    );
    assert_eq!(client.int(&count), i32::try_from(all.len()).unwrap());
    drop(client);
    fixture.stop();
}

#[test]
fn nothing_is_run_while_plans_are_shown() {
    let (fixture, mut client) = prepared();
    succeed(&mut client, "SET SHOWPLAN_ALL ON");
    let answer = succeed(
        &mut client,
        "DECLARE @n int = 1, @t TABLE (a int)
         IF EXISTS (SELECT 1 FROM o) BEGIN DELETE o; SET @n = 1 / 0 END
         INSERT @t VALUES (1)
         WHILE @n < 3 SELECT * FROM @t
         CREATE TABLE made (a int)
         BEGIN TRANSACTION
         EXEC sp_who
         SET NOCOUNT ON",
    );
    let kinds: Vec<String> = answer
        .rows()
        .iter()
        .filter(|row| row[4] == Value::Null)
        .map(|row| format!("{:?} {:?}", row[1], row[15]))
        .collect();
    let kinds: Vec<&str> = kinds
        .iter()
        .map(|kind| kind.split('"').nth(1).unwrap_or_default())
        .collect();
    let expected = [
        "ASSIGN",
        "COND WITH QUERY",
        "DELETE",
        "ASSIGN",
        "INSERT",
        "COND",
        "SELECT",
        "CREATE TABLE",
        "TRANSACTION",
        "EXECUTE PROC",
        "SET ON/OFF",
    ];
    assert_eq!(kinds, expected);
    // What is not estimated is not told.
    assert!(
        answer
            .rows()
            .iter()
            .all(|row| row.len() == 18 && row[8] == Value::Null && row[12] == Value::Null)
    );
    // A client's call is explained, too, and a procedure's is refused.
    let answer = client.call(ProcedureId::ExecuteSql, vec![text("DELETE o")]);
    assert_eq!(answer.rows().len(), 3);
    assert_eq!(answer.return_status(), Some(0));
    assert_eq!(numbers(&client.call_by_name("sp_tables", Vec::new())), [40510]);
    assert_eq!(numbers(&client.batch("USE master SELECT 1")), [40510]);
    assert_eq!(numbers(&client.batch("SELECT * FROM missing")), [208]);
    succeed(&mut client, "SET SHOWPLAN_ALL OFF");
    assert_eq!(client.int("SELECT COUNT(*) FROM o"), 3);
    assert_eq!(client.int("SELECT @@TRANCOUNT"), 0);
    assert_eq!(client.text("SELECT COALESCE(OBJECT_NAME(OBJECT_ID('made')), '-')"), "-");
    drop(client);
    fixture.stop();
}

#[test]
fn the_option_is_alone_in_its_batch() {
    let (fixture, mut client) = prepared();
    for option in ["SHOWPLAN_ALL", "SHOWPLAN_TEXT", "SHOWPLAN_XML"] {
        for sql in [
            format!("SET {option} ON SELECT 1"),
            format!("SELECT 1 SET {option} OFF"),
            format!("IF 1 = 1 SET {option} ON"),
            format!("EXEC ('SET {option} ON')"),
        ] {
            assert_eq!(numbers(&client.batch(&sql)), [1067], "{sql}");
        }
        assert_eq!(client.int("SELECT 7"), 7);
    }
    // Another form takes the place of one, and ends with it.
    succeed(&mut client, "SET SHOWPLAN_ALL ON");
    succeed(&mut client, "SET SHOWPLAN_TEXT ON");
    assert_eq!(texts(&succeed(&mut client, "SELECT 7")), [["SELECT 7"]]);
    succeed(&mut client, "SET SHOWPLAN_ALL OFF");
    assert_eq!(texts(&succeed(&mut client, "SELECT 7")), [["SELECT 7"]]);
    let answer = client.batch_after_reset("SELECT 7");
    assert_eq!(answer.rows(), [[Value::Int(7)]]);
    drop(client);
    fixture.stop();
}

#[test]
fn the_document_of_a_batch_is_xml_of_all_its_statements() {
    let (fixture, mut client) = prepared();
    succeed(&mut client, "SET SHOWPLAN_XML ON");
    let sql = "SELECT total FROM o WHERE customer = 1 AND total < 5; UPDATE c SET id = 1";
    let sets = texts(&succeed(&mut client, sql));
    assert_eq!((sets.len(), sets[0].len()), (1, 1));
    succeed(&mut client, "SET SHOWPLAN_XML OFF");
    let xml = &sets[0][0];
    for part in [
        "xmlns=\"http://schemas.microsoft.com/sqlserver/2004/07/showplan\"",
        "StatementType=\"SELECT\"",
        "StatementText=\"UPDATE c SET id = 1\"",
        "<Object Database=\"[d]\" Schema=\"[dbo]\" Table=\"[o]\" Index=\"[ix_customer]\"/>",
        "<Prefix ScanType=\"EQ\"><RangeColumns><ColumnReference Column=\"customer\"/>",
        "StatementId=\"2\"",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    let count = format!(
        "DECLARE @x xml = N'{}'; SELECT @x.value('count(/*/*/*/*/*)', 'int')",
        xml.replace('\'', "''")
    );
    assert_eq!(client.int(&count), 2);
    drop(client);
    fixture.stop();
}

#[test]
fn statistics_follow_the_rows_of_a_statement_that_was_run() {
    let (fixture, mut client) = prepared();
    succeed(&mut client, "SET STATISTICS PROFILE ON");
    let answer = succeed(
        &mut client,
        "SELECT total FROM o WHERE id > 1; UPDATE c SET id = 9; PRINT 'said'",
    );
    let counted: Vec<Vec<Value>> = answer.rows().into_iter().filter(|row| row.len() == 20).collect();
    assert_eq!(answer.rows().len() - counted.len(), 2);
    let shown: Vec<(Value, Value, Value)> = counted
        .iter()
        .map(|row| (row[0].clone(), row[1].clone(), row[2].clone()))
        .collect();
    assert_eq!(shown[0].0, Value::BigInt(2));
    assert_eq!(shown[0].2, Value::Text("SELECT total FROM o WHERE id > 1".into()));
    assert_eq!(shown[1].1, Value::BigInt(1));
    let update = counted
        .iter()
        .find(|row| row[17] == Value::Text("UPDATE".into()))
        .unwrap();
    assert_eq!(update[0], Value::BigInt(2));
    // What was changed was changed.
    assert_eq!(
        succeed(&mut client, "SELECT COUNT(*) FROM c WHERE id = 9").rows()[0],
        [Value::Int(2)]
    );
    succeed(&mut client, "SET STATISTICS PROFILE OFF SET STATISTICS XML ON");
    let sets = texts(&succeed(&mut client, "SELECT name FROM c WHERE name = N'x'"));
    assert_eq!(sets.len(), 2);
    assert_eq!(sets[0], ["x"]);
    assert!(sets[1][0].contains("ActualRows=\"1\""), "{}", sets[1][0]);
    assert_eq!(numbers(&client.batch("SELECT * FROM missing")), [208]);
    assert_eq!(
        numbers(&client.batch("SELECT 1 / id FROM o WHERE id = 0; SELECT 1 / (id - 1) FROM o")),
        [8134]
    );
    succeed(&mut client, "SET STATISTICS XML OFF");
    assert_eq!(
        texts(&succeed(&mut client, "SELECT name FROM c WHERE name = N'x'")),
        [["x"]]
    );
    drop(client);
    fixture.stop();
}

#[test]
fn plans_need_showplan_and_the_right_to_run_the_statement() {
    let (fixture, mut client) = prepared();
    succeed(
        &mut client,
        "CREATE LOGIN l WITH PASSWORD = 'Str0ng-and-long'; CREATE USER l FOR LOGIN l; GRANT SELECT ON o TO l",
    );
    let mut other = fixture.client_as("l", "Str0ng-and-long", "d");
    succeed(&mut other, "SET SHOWPLAN_TEXT ON");
    assert_eq!(numbers(&other.batch("SELECT id FROM o")), [262]);
    assert_eq!(numbers(&other.batch("SELECT * FROM c")), [229]);
    succeed(&mut other, "SET SHOWPLAN_TEXT OFF");
    succeed(&mut other, "SET STATISTICS XML ON");
    assert_eq!(numbers(&other.batch("SELECT id FROM o")), [262]);
    succeed(&mut client, "GRANT SHOWPLAN TO l");
    assert_eq!(texts(&succeed(&mut other, "SELECT id FROM o")).len(), 2);
    assert_eq!(numbers(&other.batch("SELECT * FROM c")), [229]);
    succeed(&mut client, "DENY SHOWPLAN TO l");
    assert_eq!(numbers(&other.batch("SELECT id FROM o")), [262]);
    assert_eq!(
        client
            .int("SELECT COUNT(*) FROM sys.database_permissions WHERE type = 'SPLN' AND permission_name = 'SHOWPLAN'"),
        1
    );
    drop((client, other));
    fixture.stop();
}

#[test]
fn long_plans_of_many_short_statements_are_limited_by_the_sessions_memory() {
    let fixture = Fixture::limited(ServerLimits {
        session_memory: 8 << 20,
        ..ServerLimits::default()
    });
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d; CREATE TABLE t (a int PRIMARY KEY, b int)");
    let queries: Vec<String> = (0..200).map(|b| format!("SELECT a FROM t WHERE b = {b}")).collect();
    succeed(&mut client, &format!("CREATE VIEW v AS {}", queries.join(" UNION ")));
    for form in ["SHOWPLAN_TEXT", "SHOWPLAN_XML"] {
        succeed(&mut client, &format!("SET {form} ON"));
        assert_eq!(
            numbers(&client.batch(&"SELECT * FROM v; ".repeat(150))),
            [701],
            "{form}"
        );
        assert!(!texts(&succeed(&mut client, "SELECT * FROM v")).is_empty());
        succeed(&mut client, &format!("SET {form} OFF"));
    }
    drop(client);
    fixture.stop();
}
