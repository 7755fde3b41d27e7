//! Collations with supplementary characters (`_SC`) and in UTF-8: what a character is, what varchar holds and how it is
//! sent.

use selenite_tds::Collation;
use selenite_tds::client::Token;
use selenite_types::{DataType, Value, Width};

use super::client::{Answer, Client, all_fail, fails, shown, succeed};
use super::fixture::Fixture;

const UTF8: &str = "Latin1_General_100_CI_AS_SC_UTF8";

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client_of_utf8();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

/// A table with text of a UTF-8 collation, of the server's, and in UTF-16.
fn filled(fixture: &Fixture) -> Client {
    let mut client = client(fixture);
    succeed(
        &mut client,
        &format!(
            "CREATE TABLE t (n int IDENTITY PRIMARY KEY, u varchar(10) COLLATE {UTF8}, c char(6) COLLATE {UTF8}, \
             m varchar(max) COLLATE {UTF8}, l varchar(10), w nvarchar(10) COLLATE Latin1_General_100_CI_AS_SC)"
        ),
    );
    succeed(
        &mut client,
        "INSERT t VALUES (N'\u{e9}\u{416}\u{1f600}', N'\u{416}', N'\u{1f600}m', N'\u{e9}\u{416}', N'a\u{1f600}b')",
    );
    client
}

/// The type and the collation of each column of an answer.
fn columns(answer: &Answer) -> Vec<(DataType, Option<Collation>)> {
    let columns = answer.0.iter().find_map(|token| match token {
        Token::Columns(columns) => Some(columns),
        _ => None,
    });
    let told = |column: &selenite_tds::client::ResultColumn| (column.type_info.data_type, column.type_info.collation);
    columns.unwrap().iter().map(told).collect()
}

#[test]
fn a_code_point_is_one_character_where_the_collation_says_so() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (value, units, points) in [
        ("LEN(?)", "4", "3"),
        ("DATALENGTH(?)", "8", "8"),
        ("SUBSTRING(?, 2, 1)", "", "\u{1f600}"),
        ("SUBSTRING(?, 2, 2)", "\u{1f600}", "\u{1f600}b"),
        ("LEFT(?, 2)", "a", "a\u{1f600}"),
        ("RIGHT(?, 2)", "b", "\u{1f600}b"),
        ("CHARINDEX(N'b', ?)", "4", "3"),
        ("PATINDEX(N'%b', ?)", "4", "3"),
        ("REVERSE(?)", "b\u{1f600}a", "b\u{1f600}a"),
        ("STUFF(?, 3, 1, N'x')", "axb", "a\u{1f600}x"),
        ("UNICODE(SUBSTRING(?, 2, 2))", "55357", "128512"),
        ("IIF(? LIKE N'a_b', 1, 0)", "0", "1"),
        ("IIF(? LIKE N'a[^x]b', 1, 0)", "0", "1"),
        ("IIF(? LIKE N'%\u{1f600}_', 1, 0)", "1", "1"),
    ] {
        for (name, expected) in [
            ("Latin1_General_100_CI_AS", units),
            ("Latin1_General_100_CI_AS_SC", points),
            ("Latin1_General_100_CS_AS_KS_WS_SC_UTF8", points),
            ("Latin1_General_100_BIN2_UTF8", points),
        ] {
            let text = value.replace('?', &format!("N'a\u{1f600}b' COLLATE {name}"));
            assert_eq!(client.text(&format!("SELECT CONCAT({text}, '')")), expected, "{text}");
        }
    }
    assert_eq!(
        client.int("SELECT LEN(LEFT(REPLICATE(N'\u{1f600}', 50) COLLATE Latin1_General_100_CI_AS_SC, 30))"),
        30
    );
}

#[test]
fn varchar_in_utf_8_holds_every_character_and_counts_bytes() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    for (sql, expected) in [
        ("SELECT u FROM t", "\u{e9}\u{416}\u{1f600}"),
        ("SELECT c FROM t", "\u{416}    "),
        ("SELECT m FROM t", "\u{1f600}m"),
        ("SELECT l FROM t", "\u{e9}?"),
        (
            "SELECT CONCAT(DATALENGTH(u), ' ', LEN(u), ' ', DATALENGTH(c), ' ', LEN(c), ' ', DATALENGTH(m)) FROM t",
            "8 3 6 1 5",
        ),
        ("SELECT CAST(u AS varchar(7)) FROM t", "\u{e9}\u{416}"),
        ("SELECT CAST(u AS varchar(8)) + '|' FROM t", "\u{e9}\u{416}\u{1f600}|"),
        ("SELECT CAST(w AS varchar(20)) FROM t", "a??b"),
        (
            "SELECT CAST(w COLLATE Latin1_General_100_CI_AS_SC_UTF8 AS varchar(5)) FROM t",
            "a\u{1f600}",
        ),
        (
            "SELECT CONVERT(varchar(30), CAST(u AS varbinary(20)), 1) FROM t",
            "0xC3A9D096F09F9880",
        ),
        ("SELECT UPPER(u) FROM t", "\u{c9}\u{416}\u{1f600}"),
        ("SELECT LOWER(u) FROM t", "\u{e9}\u{436}\u{1f600}"),
        ("SELECT LEFT(u, 2) + RIGHT(u, 1) FROM t", "\u{e9}\u{416}\u{1f600}"),
        ("SELECT SUBSTRING(u, 3, 9) FROM t", "\u{1f600}"),
        ("SELECT u + '\u{e9}?' FROM t", "\u{e9}\u{416}\u{1f600}\u{e9}?"),
        (
            "SELECT CONCAT(u, 1, '\u{20ac}') FROM t",
            "\u{e9}\u{416}\u{1f600}1\u{20ac}",
        ),
        ("SELECT REPLACE(u, N'\u{436}', 'x') FROM t", "\u{e9}x\u{1f600}"),
        (
            "SELECT REPLICATE(u, 2) FROM t",
            "\u{e9}\u{416}\u{1f600}\u{e9}\u{416}\u{1f600}",
        ),
        ("SELECT STUFF(u, 2, 1, '\u{e9}') FROM t", "\u{e9}\u{e9}\u{1f600}"),
        ("SELECT REVERSE(u) FROM t", "\u{1f600}\u{416}\u{e9}"),
        ("SELECT COALESCE(NULL, u, 'x') FROM t", "\u{e9}\u{416}\u{1f600}"),
        ("DECLARE @n varchar(2) SELECT ISNULL(@n, u) FROM t", "\u{e9}\u{416}"),
        (
            "SELECT CASE WHEN n = 1 THEN u ELSE 'x' END FROM t",
            "\u{e9}\u{416}\u{1f600}",
        ),
        ("SELECT MAX(u) FROM t", "\u{e9}\u{416}\u{1f600}"),
        ("SELECT STRING_AGG(u, ',') FROM t", "\u{e9}\u{416}\u{1f600}"),
        (
            "SELECT value FROM t CROSS APPLY STRING_SPLIT(u, ',')",
            "\u{e9}\u{416}\u{1f600}",
        ),
        (
            "SELECT x FROM (SELECT 'a' AS x UNION SELECT u FROM t) AS d WHERE x > 'b'",
            "\u{e9}\u{416}\u{1f600}",
        ),
        ("DECLARE @v varchar(20) = (SELECT u FROM t) SELECT @v", "\u{e9}???"),
        ("SELECT u COLLATE Latin1_General_100_CI_AS FROM t", "\u{e9}???"),
        ("SELECT '\u{20ac}' COLLATE Latin1_General_100_BIN2_UTF8", "\u{20ac}"),
        (
            "SELECT CONVERT(varchar(9), DATALENGTH('\u{20ac}' COLLATE Latin1_General_100_BIN2_UTF8))",
            "3",
        ),
        (
            "SELECT v FROM OPENJSON(N'{\"v\": \"\u{416}\u{416}\u{416}\"}') \
             WITH (v varchar(6) COLLATE Latin1_General_100_BIN2_UTF8)",
            "\u{416}\u{416}\u{416}",
        ),
    ] {
        assert_eq!(client.text(sql), expected, "{sql}");
    }
}

#[test]
fn a_text_of_too_many_bytes_is_refused_and_one_that_fits_is_found() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    for sql in [
        "INSERT t (u) VALUES (N'\u{416}\u{416}\u{416}\u{416}\u{416}\u{416}')",
        "INSERT t (u) VALUES ('\u{20ac}\u{20ac}\u{20ac}\u{20ac}')",
        "INSERT t (c) VALUES (N'\u{1f600}\u{1f600}')",
        "UPDATE t SET u = u + u",
    ] {
        let answer = client.batch(sql);
        assert_eq!(answer.errors().first().map(|(number, _)| *number), Some(2628), "{sql}");
    }
    let answer = client.batch("INSERT t (u) VALUES (N'\u{416}\u{416}\u{416}\u{416}\u{416}\u{416}')");
    let told = answer.said().first().map(|said| said.text.clone());
    assert!(
        told.unwrap()
            .ends_with("Truncated value: '\u{416}\u{416}\u{416}\u{416}\u{416}'.")
    );
    succeed(
        &mut client,
        "INSERT t (u) VALUES (N'\u{416}\u{416}\u{416}\u{416}\u{416}')",
    );
    succeed(&mut client, "CREATE UNIQUE INDEX i ON t (u)");
    for (condition, count) in [
        ("u = N'\u{436}\u{416}\u{416}\u{416}\u{416}'", 1),
        ("u = N'\u{c9}\u{416}\u{1f600}  '", 1),
        ("u = '\u{e9}??'", 0),
        ("u LIKE N'\u{e9}_\u{1f600}'", 1),
        ("u IN (N'x', N'\u{e9}\u{416}\u{1f600}')", 1),
        ("u = w", 0),
        ("l COLLATE Latin1_General_100_CI_AS_SC_UTF8 = u", 0),
        ("m = N'\u{1f600}M'", 1),
    ] {
        let sql = format!("SELECT COUNT(*) FROM t WHERE {condition}");
        assert_eq!(
            client.int(&sql.replace("= w", "= w COLLATE Latin1_General_100_CI_AS_SC_UTF8")),
            count,
            "{sql}"
        );
    }
    fails(&mut client, 2601, "INSERT t (u) VALUES (N'\u{c9}\u{436}\u{1f600}')");
    let connection = fixture.in_sqlite("d");
    let sound: String = connection
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(sound, "ok");
}

#[test]
fn what_is_of_two_encodings_is_refused() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    all_fail(
        &mut client,
        &[
            (40510, "SELECT u + 'x' COLLATE Latin1_General_100_CI_AS FROM t"),
            (40510, "SELECT 1 FROM t WHERE u = 'x' COLLATE Latin1_General_100_CI_AS"),
            (
                40510,
                "SELECT 'x' COLLATE Latin1_General_100_CI_AS UNION SELECT u FROM t",
            ),
            (
                40510,
                "SELECT 1 FROM t WHERE 'x' COLLATE Latin1_General_100_CI_AS IN (SELECT u FROM t)",
            ),
            (40510, "SELECT ASCII(u) FROM t"),
            (40510, "SELECT CAST(u AS xml) FROM t"),
            (40510, "SELECT CAST(u AS sql_variant) FROM t"),
            (40510, "INSERT t (u) VALUES (0xC3)"),
            (457, "SELECT u + l FROM t"),
            (468, "SELECT 1 FROM t AS a JOIN t AS b ON a.u = b.l"),
            (40510, "SELECT 'a' COLLATE Latin1_General_100_CS_AI_SC_UTF8"),
        ],
    );
    succeed(&mut client, "INSERT t (u) VALUES (0xD096)");
    assert_eq!(client.text("SELECT u FROM t WHERE n = SCOPE_IDENTITY()"), "\u{416}");
}

#[test]
fn columns_of_a_change_keep_or_change_their_encoding() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    succeed(&mut client, "SELECT u, u + '!' AS x, LEFT(w, 1) AS l, m INTO s FROM t");
    let told = "SELECT STRING_AGG(CONCAT(name, ':', max_length, ':', collation_name), ' ') WITHIN GROUP (ORDER BY column_id) \
                FROM sys.columns WHERE object_id = OBJECT_ID('s')";
    let told = client.text(told);
    let sc = UTF8.trim_end_matches("_UTF8");
    assert_eq!(told, format!("u:10:{UTF8} x:13:{UTF8} l:20:{sc} m:-1:{UTF8}"));
    assert_eq!(client.text("SELECT x FROM s"), "\u{e9}\u{416}\u{1f600}!");
    succeed(
        &mut client,
        "ALTER TABLE s ALTER COLUMN u varchar(20) COLLATE Latin1_General_100_CI_AS",
    );
    assert_eq!(client.text("SELECT u FROM s"), "\u{e9}???");
    succeed(&mut client, "UPDATE s SET u = '\u{e9}\u{20ac}'");
    fails(
        &mut client,
        2628,
        &format!("ALTER TABLE s ALTER COLUMN u varchar(4) COLLATE {UTF8}"),
    );
    succeed(
        &mut client,
        &format!("ALTER TABLE s ALTER COLUMN u varchar(5) COLLATE {UTF8}"),
    );
    assert_eq!(
        client.text("SELECT u + CONVERT(varchar(9), DATALENGTH(u)) FROM s"),
        "\u{e9}\u{20ac}5"
    );
    succeed(
        &mut client,
        &format!("DECLARE @t TABLE (u varchar(4) COLLATE {UTF8}) INSERT @t VALUES (N'\u{1f600}') SELECT u FROM @t"),
    );
    succeed(
        &mut client,
        &format!("CREATE TABLE g (a varchar(4) COLLATE {UTF8} DEFAULT N'\u{1f600}', b AS a + 'x')"),
    );
    succeed(&mut client, "INSERT g DEFAULT VALUES");
    assert_eq!(client.text("SELECT b FROM g"), "\u{1f600}x");
}

#[test]
fn text_in_utf_8_is_sent_as_such_to_clients_that_read_it_and_as_utf_16_to_others() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    let sql = "SELECT u, c, m, l, w FROM t";
    let utf8 = Some(Collation([0x09, 0x04, 0xd0, 0x24, 0x00]));
    let windows = Some(Collation([0x09, 0x04, 0xd0, 0x20, 0x00]));
    let of_server = Some(Collation([0x09, 0x04, 0xd0, 0x00, 0x34]));
    let answer = succeed(&mut client, sql);
    assert_eq!(
        columns(&answer),
        [
            (DataType::Utf8VarChar(Width::Limited(10)), utf8),
            (DataType::Utf8Char(6), utf8),
            (DataType::Utf8VarChar(Width::Max), utf8),
            (DataType::VarChar(Width::Limited(10)), of_server),
            (DataType::NVarChar(Width::Limited(10)), windows),
        ]
    );
    let rows = "\u{e9}\u{416}\u{1f600},\u{416}    ,\u{1f600}m,\u{e9}?,a\u{1f600}b";
    assert_eq!(shown(&answer), rows);
    let mut other = fixture.client();
    succeed(&mut other, "USE d");
    let answer = succeed(&mut other, sql);
    let types: Vec<DataType> = columns(&answer).into_iter().map(|(data_type, _)| data_type).collect();
    assert_eq!(
        types,
        [
            DataType::NVarChar(Width::Limited(10)),
            DataType::NVarChar(Width::Limited(6)),
            DataType::NVarChar(Width::Max),
            DataType::VarChar(Width::Limited(10)),
            DataType::NVarChar(Width::Limited(10)),
        ]
    );
    assert_eq!(shown(&answer).replace(' ', ""), rows.replace(' ', ""));
    let cut = "SET TEXTSIZE 5 SELECT m + m FROM t";
    assert_eq!(client.text(cut), "\u{1f600}m");
}

#[test]
fn a_bulk_load_brings_text_in_utf_8() {
    let fixture = Fixture::new();
    let mut client = filled(&fixture);
    let rows = [vec![Value::Text("\u{416}\u{1f600}".into())]];
    let narrow = DataType::Utf8VarChar(Width::Limited(10));
    let answer = client.bulk(
        &format!("INSERT BULK t (u varchar(10) COLLATE {UTF8})"),
        &[("u", narrow)],
        &rows,
    );
    assert_eq!(answer.errors(), []);
    assert_eq!(client.int("SELECT COUNT(*) FROM t WHERE u = N'\u{416}\u{1f600}'"), 1);
}

#[test]
fn properties_and_lists_tell_of_the_encoding() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let property =
        |name: &str, property: &str| format!("SELECT CONVERT(varchar(20), COLLATIONPROPERTY('{name}', '{property}'))");
    assert_eq!(client.text(&property(UTF8, "CodePage")), "65001");
    assert_eq!(client.text(&property(UTF8, "Version")), "2");
    assert_eq!(
        client.text(&property("Latin1_General_100_BIN2_UTF8", "ComparisonStyle")),
        "0"
    );
    assert_eq!(
        client.text(&property("Latin1_General_100_CI_AS_SC", "CodePage")),
        "1252"
    );
    let count = "SELECT COUNT(*) FROM sys.fn_helpcollations() WHERE description LIKE '%supplementary characters%'";
    assert_eq!(client.int(count), 12);
    assert_eq!(client.int(&count.replace("supplementary characters", ", UTF8")), 7);
}
