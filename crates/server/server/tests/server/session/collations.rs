//! Collations of columns and expressions: what is equal, its order, its indexes, what the catalog and the wire say.

use selenite_tds::Collation;
use selenite_tds::client::Token;

use super::client::{Client, all_fail, fails, succeed};
use super::fixture::Fixture;

/// A collation of each order, and of each kind of name.
const NAMES: [&str; 8] = [
    "SQL_Latin1_General_CP1_CI_AS",
    "SQL_Latin1_General_CP1_CS_AS",
    "SQL_Latin1_General_CP1_CI_AI",
    "Latin1_General_CS_AS",
    "Latin1_General_CI_AI",
    "Latin1_General_BIN",
    "Latin1_General_BIN2",
    "Latin1_General_100_CS_AS_KS_WS",
];

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

/// What follows the only COLLATE in `text`, under each of these collations.
fn under(client: &mut Client, names: &[&str], text: &str) -> Vec<String> {
    names
        .iter()
        .map(|name| client.text(&text.replace("COLLATE ?", &format!("COLLATE {name}"))))
        .collect()
}

const ALL: &str =
    "(SELECT STRING_AGG(s, ' ') WITHIN GROUP (ORDER BY s COLLATE ?, s COLLATE Latin1_General_BIN2) FROM t)";

fn filled(fixture: &Fixture, collation: &str) -> Client {
    let mut client = client(fixture);
    succeed(
        &mut client,
        &format!("CREATE TABLE t (n int IDENTITY, s nvarchar(20) COLLATE {collation} NOT NULL)"),
    );
    succeed(
        &mut client,
        "INSERT t VALUES (N'b'), (N'B'), (N'a'), (N'A'), (N'\u{e9}'), (N'\u{c9}'), (N'e'), (N'\u{100}a'), (N'aC'), (N'ab')",
    );
    client
}

#[test]
fn rows_are_sorted_by_the_collation_that_is_named() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture, NAMES[0]);
    let sorted = under(&mut client, &NAMES, &format!("SELECT {ALL}"));
    assert_eq!(
        sorted,
        [
            "A a \u{100}a ab aC B b e \u{c9} \u{e9}",
            "A a \u{100}a ab aC B b e \u{c9} \u{e9}",
            "A a \u{100}a ab aC B b e \u{c9} \u{e9}",
            "a A \u{100}a ab aC b B e \u{e9} \u{c9}",
            "A a \u{100}a ab aC B b e \u{c9} \u{e9}",
            "A B a aC ab b e \u{c9} \u{e9} \u{100}a",
            "A B a aC ab b e \u{c9} \u{e9} \u{100}a",
            "a A \u{100}a ab aC b B e \u{e9} \u{c9}",
        ]
    );
}

#[test]
fn what_is_equal_depends_on_the_column() {
    let fixture = Fixture::new();
    for (name, equal, like, groups, found) in [
        (NAMES[0], 2, 5, 7, 1),
        (NAMES[1], 1, 2, 10, 0),
        (NAMES[2], 2, 5, 6, 1),
        (NAMES[3], 1, 2, 10, 0),
        (NAMES[5], 1, 2, 10, 0),
    ] {
        let mut client = filled(&fixture, name);
        let count =
            |client: &mut Client, condition: &str| client.int(&format!("SELECT COUNT(*) FROM t WHERE {condition}"));
        assert_eq!(count(&mut client, "s = N'b '"), equal, "{name}");
        assert_eq!(count(&mut client, "s IN (N'x', N'B')"), equal, "{name}");
        assert_eq!(
            count(
                &mut client,
                "s LIKE N'A_' OR s LIKE N'[a]C%' OR s = N'a' OR s = N'\u{101}A'"
            ),
            like,
            "{name}"
        );
        assert_eq!(client.int("SELECT COUNT(DISTINCT s) FROM t"), groups, "{name}");
        assert_eq!(
            client.int("SELECT COUNT(*) FROM (SELECT DISTINCT s FROM t) AS d"),
            groups,
            "{name}"
        );
        assert_eq!(
            client.int("SELECT COUNT(*) FROM (SELECT s FROM t GROUP BY s) AS d"),
            groups,
            "{name}"
        );
        assert_eq!(
            client.int("SELECT COUNT(*) FROM (SELECT s FROM t UNION SELECT s FROM t) AS d"),
            groups,
            "{name}"
        );
        let joined = "SELECT COUNT(*) FROM t AS a JOIN t AS b ON a.s = b.s AND a.n < b.n";
        let pairs = if name.contains("_AI") { 5 } else { 10 - groups };
        assert_eq!(client.int(joined), pairs, "{name}");
        assert_eq!(
            client.int("SELECT COUNT(*) FROM t WHERE s = (SELECT 'AB')"),
            found,
            "{name}"
        );
        succeed(&mut client, "USE master DROP DATABASE d");
    }
}

#[test]
fn functions_search_by_the_collation_of_their_arguments() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let of = |client: &mut Client, value: &str| under(client, &NAMES, &format!("SELECT CONCAT('', {value})"));
    let insensitive = |yes: &str, no: &str| -> Vec<String> {
        NAMES
            .iter()
            .map(|name| if name.contains("_CI_") { yes } else { no }.to_owned())
            .collect()
    };
    let accentless = |yes: &str, no: &str| -> Vec<String> {
        NAMES
            .iter()
            .map(|name| if name.contains("_AI") { yes } else { no }.to_owned())
            .collect()
    };
    assert_eq!(
        of(&mut client, "CHARINDEX('B', 'abc' COLLATE ?)"),
        insensitive("2", "0")
    );
    assert_eq!(
        of(&mut client, "PATINDEX('%B_', 'abc' COLLATE ?)"),
        insensitive("2", "0")
    );
    assert_eq!(
        of(&mut client, "REPLACE('abc' COLLATE ?, 'B', 'x')"),
        insensitive("axc", "abc")
    );
    assert_eq!(
        of(&mut client, "TRANSLATE('abc' COLLATE ?, 'B', 'x')"),
        insensitive("axc", "abc")
    );
    assert_eq!(
        of(&mut client, "NULLIF('abc' COLLATE ?, 'ABC')"),
        insensitive("", "abc")
    );
    assert_eq!(
        of(&mut client, "REPLACE(N'caf\u{c9}s' COLLATE ?, N'e', N'-')"),
        accentless("caf-s", "caf\u{c9}s")
    );
    assert_eq!(
        of(&mut client, "CHARINDEX(N'\u{f4}', N'\u{100}\u{d8}' COLLATE ?)"),
        accentless("2", "0")
    );
    assert_eq!(
        of(&mut client, "IIF(N'\u{c9}t\u{e9}' COLLATE ? LIKE N'e_E', 'y', 'n')"),
        accentless("y", "n")
    );
    assert_eq!(
        of(&mut client, "GREATEST('a' COLLATE ?, 'B')"),
        ["B", "B", "B", "B", "B", "a", "a", "B"]
    );
    assert_eq!(
        of(
            &mut client,
            "CASE WHEN CHECKSUM('A' COLLATE ?) = CHECKSUM('a') THEN 1 END"
        ),
        insensitive("1", "")
    );
}

#[test]
fn a_unique_key_holds_by_the_columns_collation() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for name in NAMES {
        succeed(
            &mut client,
            &format!(
                "CREATE TABLE u (s nvarchar(9) COLLATE {name} NOT NULL PRIMARY KEY, v varchar(9) COLLATE {name} NULL UNIQUE)"
            ),
        );
        succeed(
            &mut client,
            "INSERT u VALUES (N'a', 'a'), (N'\u{e9}', NULL), ('x', 'e')",
        );
        fails(&mut client, 2627, "INSERT u VALUES (N'a ', 'z')");
        fails(&mut client, 2627, "INSERT u VALUES (N'z', NULL)");
        let (case, accent) = (name.contains("_CI_"), name.contains("_AI"));
        let mut refuses = |is_refused: bool, sql: &str| match is_refused {
            true => fails(&mut client, 2627, sql),
            false => drop(succeed(&mut client, sql)),
        };
        refuses(case, "INSERT u VALUES (N'A', 'b')");
        refuses(case, "INSERT u VALUES (N'c', 'A')");
        refuses(accent, "INSERT u VALUES (N'e', 'd')");
        refuses(accent, "INSERT u VALUES (N'f', '\u{e9}')");
        succeed(&mut client, "DROP TABLE u");
    }
}

#[test]
fn sqlite_with_the_extension_uses_and_checks_an_index_of_each_collation() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (number, name) in NAMES.iter().enumerate() {
        succeed(
            &mut client,
            &format!("CREATE TABLE t{number} (n int IDENTITY PRIMARY KEY, s nvarchar(20) COLLATE {name} NULL)"),
        );
        succeed(
            &mut client,
            &format!("CREATE INDEX i ON t{number} (s) CREATE UNIQUE INDEX j ON t{number} (s, n DESC)"),
        );
        succeed(
            &mut client,
            &format!(
                "INSERT t{number} VALUES (N'b'), (N'B'), (NULL), (N'\u{e9}'), (N'E'), (N'\u{100}\u{df}'), (N''), (N'\u{1f600}'), (N'a-b')"
            ),
        );
    }
    let connection = fixture.in_sqlite("d");
    let one = |sql: &str| -> String { connection.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(one("PRAGMA integrity_check"), "ok");
    for number in 0..NAMES.len() {
        let table: String = one(&format!(
            "SELECT name FROM sqlite_schema WHERE name LIKE '%t{number}' AND type = 'table'"
        ));
        let plan: String = connection
            .query_row(
                &format!("EXPLAIN QUERY PLAN SELECT n FROM \"{table}\" WHERE s = 'b'"),
                [],
                |row| row.get(3),
            )
            .unwrap();
        assert!(plan.contains("USING") && plan.contains("INDEX"), "{plan}");
        let plan: String = connection
            .query_row(
                &format!("EXPLAIN QUERY PLAN SELECT s FROM \"{table}\" ORDER BY s"),
                [],
                |row| row.get(3),
            )
            .unwrap();
        assert!(plan.contains("COVERING INDEX"), "{plan}");
    }
}

#[test]
fn a_change_of_a_collation_sorts_again_and_is_refused_where_something_is_sorted_by_it() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture, NAMES[0]);
    let by_column = "SELECT STRING_AGG(s, ' ') WITHIN GROUP (ORDER BY s, n) FROM t WHERE s IN ('a', 'B')";
    assert_eq!(client.text(by_column), "a A b B");
    succeed(&mut client, "CREATE INDEX i ON t (s)");
    let change = "ALTER TABLE t ALTER COLUMN s nvarchar(20) COLLATE Latin1_General_BIN2 NOT NULL";
    fails(&mut client, 5074, change);
    succeed(
        &mut client,
        "ALTER TABLE t ALTER COLUMN s nvarchar(30) NOT NULL DROP INDEX i ON t",
    );
    succeed(&mut client, "ALTER TABLE t ADD CONSTRAINT c CHECK (s <> 'zz')");
    fails(&mut client, 5074, change);
    succeed(
        &mut client,
        "ALTER TABLE t DROP CONSTRAINT c ALTER TABLE t ADD x AS s + 'y'",
    );
    fails(&mut client, 5074, change);
    succeed(&mut client, "ALTER TABLE t DROP COLUMN x CREATE STATISTICS st ON t (s)");
    fails(&mut client, 5074, change);
    succeed(&mut client, "DROP STATISTICS t.st");
    succeed(&mut client, change);
    succeed(&mut client, "CREATE INDEX i ON t (s)");
    assert_eq!(client.text(by_column), "B a");
    assert_eq!(
        client.text("SELECT collation_name FROM sys.columns WHERE name = 's'"),
        "Latin1_General_BIN2"
    );
    succeed(
        &mut client,
        "DROP INDEX i ON t ALTER TABLE t ALTER COLUMN s nvarchar(20)",
    );
    assert_eq!(
        client.text("SELECT collation_name FROM sys.columns WHERE name = 's'"),
        NAMES[0]
    );
    all_fail(
        &mut client,
        &[
            (447, "CREATE TABLE v (a int COLLATE Latin1_General_BIN)"),
            (447, "ALTER TABLE t ALTER COLUMN n int COLLATE Latin1_General_BIN"),
            (448, "CREATE TABLE v (a char(1) COLLATE Klingon_CI_AS)"),
            (
                40510,
                "CREATE TABLE v (a char(1) COLLATE Latin1_General_100_CI_AS_UTF8)",
            ),
            (40510, "SELECT 'a' COLLATE Latin1_General_CS_AI"),
            (
                468,
                "SELECT 1 FROM t WHERE s COLLATE Latin1_General_BIN = 'a' COLLATE Latin1_General_CI_AI",
            ),
        ],
    );
}

#[test]
fn columns_keep_their_collation_on_the_way_to_other_tables() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture, "SQL_Latin1_General_CP1_CS_AS");
    succeed(
        &mut client,
        "SELECT s, s + N'x' AS x, CASE WHEN n = 1 THEN s ELSE 'y' END AS c, UPPER(s) AS u INTO t2 FROM t",
    );
    client.batch("CREATE VIEW v AS SELECT s, s COLLATE Latin1_General_BIN AS b FROM t");
    let collations = "SELECT STRING_AGG(CONCAT(c.name, ':', c.collation_name), ' ') WITHIN GROUP (ORDER BY c.column_id) \
                      FROM sys.columns AS c WHERE c.object_id = OBJECT_ID('";
    let cs = "SQL_Latin1_General_CP1_CS_AS";
    assert_eq!(
        client.text(&format!("{collations}t2')")),
        format!("s:{cs} x:{cs} c:{cs} u:{cs}")
    );
    assert_eq!(
        client.text(&format!("{collations}v')")),
        format!("s:{cs} b:Latin1_General_BIN")
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM v WHERE s = 'A'"), 1);
    assert_eq!(client.int("SELECT COUNT(*) FROM t2 WHERE c = 'Y'"), 0);
    let count = "DECLARE @t TABLE (s varchar(9) COLLATE Latin1_General_CI_AI UNIQUE) INSERT @t VALUES ('e') \
                 SELECT COUNT(*) FROM @t WHERE s = '\u{c9}'";
    assert_eq!(client.int(count), 1);
    succeed(
        &mut client,
        "CREATE TABLE #t (s varchar(9) COLLATE Latin1_General_CS_AS) INSERT #t VALUES ('e')",
    );
    assert_eq!(client.int("SELECT COUNT(*) FROM #t WHERE s = 'E'"), 0);
    succeed(
        &mut client,
        "CREATE TYPE tt AS TABLE (s varchar(9) COLLATE Latin1_General_CS_AS)",
    );
    assert_eq!(
        client.int("DECLARE @t tt INSERT @t VALUES ('e') SELECT COUNT(*) FROM @t WHERE s = 'E'"),
        0
    );
    assert_eq!(
        client.int("SELECT COUNT(*) FROM t JOIN #t AS o ON t.s = o.s COLLATE SQL_Latin1_General_CP1_CS_AS"),
        1
    );
    fails(&mut client, 468, "SELECT COUNT(*) FROM t JOIN #t AS o ON t.s = o.s");
    succeed(
        &mut client,
        "CREATE TABLE p (s varchar(9) COLLATE Latin1_General_CS_AS PRIMARY KEY)",
    );
    fails(&mut client, 1757, "CREATE TABLE f (s varchar(9) REFERENCES p)");
    succeed(
        &mut client,
        "CREATE TABLE f (s varchar(9) COLLATE Latin1_General_CS_AS REFERENCES p) INSERT p VALUES ('a')",
    );
    fails(&mut client, 547, "INSERT f VALUES ('A')");
    assert_eq!(
        client.text("SELECT COLLATION_NAME FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'p'"),
        "Latin1_General_CS_AS"
    );
}

#[test]
fn functions_that_return_rows_keep_collations_and_parameters_have_the_databases() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture, "Latin1_General_CS_AS");
    client.batch(
        "CREATE FUNCTION f () RETURNS @r TABLE (s varchar(9) COLLATE Latin1_General_CS_AS, d varchar(9)) AS
         BEGIN INSERT @r VALUES ('a', 'a'), ('A', 'A') RETURN END",
    );
    client
        .batch("CREATE FUNCTION g (@p nvarchar(20)) RETURNS TABLE AS RETURN SELECT CASE @p WHEN N'a' THEN 1 END AS x");
    client.batch("CREATE FUNCTION h (@p nvarchar(20)) RETURNS int AS BEGIN RETURN CASE @p WHEN N'a' THEN 1 END END");
    for (sql, expected) in [
        ("SELECT COUNT(*) FROM f() WHERE s = 'A'", 1),
        ("SELECT COUNT(*) FROM f() WHERE d = 'A'", 2),
        ("SELECT COUNT(*) FROM t WHERE s = N'A'", 1),
        ("SELECT COUNT(x) FROM t CROSS APPLY g(t.s)", 2),
        ("SELECT COUNT(dbo.h(s)) FROM t", 2),
        (
            "SELECT COUNT(*) FROM t CROSS APPLY STRING_SPLIT(s, ',') AS v WHERE v.value = 'A'",
            1,
        ),
        (
            "DECLARE @a varchar(9) = (SELECT s FROM t WHERE n = 4) SELECT COUNT(*) WHERE @a = 'a'",
            1,
        ),
    ] {
        assert_eq!(client.int(sql), expected, "{sql}");
    }
    let collation = "SELECT collation_name FROM sys.columns WHERE object_id = OBJECT_ID('f') AND name = 's'";
    assert_eq!(client.text(collation), "Latin1_General_CS_AS");
}

#[test]
fn window_functions_keep_the_collation_of_their_values() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture, "Latin1_General_CS_AS");
    for (value, other) in [
        ("MIN(s) OVER ()", "A"),
        ("MAX(s) OVER ()", "\u{e9}"),
        ("FIRST_VALUE(s) OVER (ORDER BY n)", "B"),
        ("LAST_VALUE(s) OVER (ORDER BY n DESC)", "Ac"),
        ("LAG(s, 1, N'q') OVER (ORDER BY n)", "Ac"),
        ("LEAD(s) OVER (ORDER BY n)", "AB"),
        ("LEAD(s) IGNORE NULLS OVER (ORDER BY n)", "AB"),
        ("PERCENTILE_DISC(0) WITHIN GROUP (ORDER BY s) OVER ()", "A"),
    ] {
        let found = |condition: &str| {
            format!("SELECT SIGN(COUNT(*)) FROM (SELECT {value} AS x FROM t) AS d WHERE x{condition} = N'{other}'")
        };
        let any_case = found(" COLLATE Latin1_General_CI_AS");
        assert_eq!((client.int(&any_case), client.int(&found(""))), (1, 0), "{value}");
    }
    let lag = "SELECT s, LAG(s) OVER (ORDER BY n) AS x";
    assert_eq!(
        client.int(&format!("SELECT COUNT(*) FROM ({lag} FROM t) AS d WHERE s = x")),
        0
    );
    succeed(&mut client, &format!("{lag} INTO t2 FROM t"));
    assert_eq!(
        client.text("SELECT collation_name FROM sys.columns WHERE object_id = OBJECT_ID('t2') AND name = 'x'"),
        "Latin1_General_CS_AS"
    );
}

#[test]
fn two_columns_have_no_collation_until_one_is_given() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (n int IDENTITY, s varchar(9) COLLATE Latin1_General_CS_AS, o varchar(9) COLLATE Latin1_General_CI_AI)",
    );
    succeed(&mut client, "INSERT t VALUES ('a', 'B'), ('A', 'b')");
    for (sql, expected) in [
        (
            "SELECT COUNT(*) FROM t WHERE (s + o) COLLATE Latin1_General_CI_AS = 'AB'",
            2,
        ),
        (
            "SELECT COUNT(*) FROM t WHERE s + o + '' COLLATE Latin1_General_CS_AS = 'aB'",
            1,
        ),
        (
            "SELECT COUNT(*) FROM t WHERE CASE n WHEN 1 THEN s ELSE o END COLLATE Latin1_General_BIN = 'b'",
            1,
        ),
        ("SELECT COUNT(*) FROM t WHERE s = 'a' AND o = 'b'", 1),
        ("SELECT COUNT(*) FROM t WHERE s COLLATE DATABASE_DEFAULT = o", 0),
        ("SELECT COUNT(*) FROM t WHERE s COLLATE CATALOG_DEFAULT = 'A'", 2),
        ("SELECT COUNT(*) FROM (SELECT 'A' AS x UNION SELECT s FROM t) AS d", 2),
        (
            "SELECT COUNT(*) FROM (SELECT s AS x FROM t UNION SELECT 'B') AS d WHERE x = 'b'",
            0,
        ),
        (
            "SELECT COUNT(*) FROM (SELECT 'b' AS x UNION SELECT o FROM t) AS d WHERE x = 'B'",
            1,
        ),
        (
            "SELECT COUNT(*) FROM (SELECT 'A' AS x EXCEPT SELECT s FROM t WHERE n = 1) AS d",
            1,
        ),
    ] {
        assert_eq!(client.int(sql), expected, "{sql}");
    }
    all_fail(
        &mut client,
        &[
            (468, "SELECT COUNT(*) FROM t WHERE s = o"),
            (468, "SELECT COUNT(*) FROM t WHERE s LIKE o"),
            (468, "SELECT COUNT(*) FROM t WHERE s IN (SELECT o FROM t)"),
            (457, "SELECT s + o FROM t"),
            (457, "SELECT COUNT(*) FROM t GROUP BY s + o"),
            (457, "SELECT MAX(CASE n WHEN 1 THEN s ELSE o END) FROM t"),
            (468, "SELECT 1 FROM t ORDER BY ISNULL(s, o)"),
            (457, "UPDATE t SET s = s + o"),
            (457, "SELECT COALESCE(s, o) FROM t"),
            (468, "SELECT CONCAT(s, o) FROM t"),
            (468, "SELECT 1 FROM t WHERE CONCAT(s, o) = ''"),
            (451, "SELECT n, CAST(s AS nvarchar(9)) + o FROM t"),
            (468, "SELECT s FROM t UNION SELECT o FROM t"),
            (451, "SELECT n, s FROM t UNION ALL SELECT n, o FROM t"),
            (
                468,
                "SELECT s COLLATE Latin1_General_BIN + o COLLATE Latin1_General_BIN2 FROM t",
            ),
        ],
    );
}

#[test]
fn a_conflict_names_the_later_collation_first_and_its_operator() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE g (s varchar(9) COLLATE Latin1_General_CS_AS, o nvarchar(9) COLLATE Latin1_General_CI_AI, \
         p varchar(9) COLLATE Latin1_General_BIN)",
    );
    let both = "\"Latin1_General_CI_AI\" and \"Latin1_General_CS_AS\"";
    for (sql, text) in [
        (
            "SELECT 1 FROM g WHERE s = o",
            format!("Cannot resolve the collation conflict between {both} in the equal to operation."),
        ),
        (
            "SELECT 1 AS n, s + o FROM g",
            format!("Cannot resolve collation conflict between {both} in add operator occurring in SELECT statement column 2."),
        ),
        (
            "SELECT s + p FROM g",
            "Implicit conversion of varchar value to varchar cannot be performed because the collation of the value is \
             unresolved due to a collation conflict between \"Latin1_General_BIN\" and \"Latin1_General_CS_AS\" in add operator."
                .to_owned(),
        ),
    ] {
        assert_eq!(client.batch(sql).said()[0].text, text, "{sql}");
    }
}

#[test]
fn properties_and_the_wire_tell_a_collation() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (name, told) in [
        ("SQL_Latin1_General_CP1_CS_AS", "1252,1033,196608,0"),
        ("Latin1_General_100_CI_AI", "1252,1033,196611,2"),
        ("latin1_general_ci_as_ks_ws", "1252,1033,1,0"),
        ("Latin1_General_BIN", "1252,1033,0,0"),
        ("Klingon", ",,,"),
    ] {
        let of = |property: &str| format!("CONVERT(varchar(20), COLLATIONPROPERTY('{name}', '{property}'))");
        let all = ["CodePage", "LCID", "ComparisonStyle", "Version"]
            .map(of)
            .join(", ',', ");
        assert_eq!(client.text(&format!("SELECT CONCAT({all})")), told, "{name}");
    }
    let description = "SELECT description FROM sys.fn_helpcollations() WHERE name = 'Latin1_General_CS_AS'";
    let told = "Latin1-General, case-sensitive, accent-sensitive, kanatype-insensitive, width-insensitive";
    assert_eq!(client.text(description), told);
    let answer = succeed(
        &mut client,
        "SELECT 'a', 'a' COLLATE Latin1_General_100_CS_AS, N'a' COLLATE Latin1_General_BIN2",
    );
    let columns = answer.0.iter().find_map(|token| match token {
        Token::Columns(columns) => Some(columns),
        _ => None,
    });
    let collations: Vec<_> = columns
        .unwrap()
        .iter()
        .map(|column| column.type_info.collation)
        .collect();
    assert_eq!(
        collations,
        [
            Some(Collation([0x09, 0x04, 0xd0, 0x00, 0x34])),
            Some(Collation([0x09, 0x04, 0xc0, 0x20, 0x00])),
            Some(Collation([0x09, 0x04, 0x00, 0x02, 0x00])),
        ]
    );
}
