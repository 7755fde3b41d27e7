//! xml: columns, variables, parameters, conversions, its methods, what is refused.

use selenite_tds::ProcedureId;
use selenite_types::{DataType, Value, Width};

use super::client::{Client, all_fail, fails, int, output, parameter, shown, succeed, text};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    client
}

fn words(text: &str) -> Value {
    Value::Text(text.into())
}

const BOOKS: &str = "<books xmlns:p=\"u\"><book id=\"1\" p:x=\"y\"><title>A &amp; B</title><price>5</price></book>\
                     <book id=\"2\"><title>C</title><price>12.5</price><!--c--></book></books>";

fn set(query: &str) -> String {
    format!("DECLARE @x xml = '{BOOKS}'; {query}")
}

#[test]
fn xml_is_kept_in_one_form_and_comes_back_as_xml() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE TABLE t (n int PRIMARY KEY, x xml NULL); INSERT t VALUES (1, N'<?xml version=\"1.0\"?> <a b=''1''> <c></c></a>'), \
         (2, NULL), (3, 'text'), (4, CONVERT(xml, '<a> <b/></a>', 1)), (5, 0x3C613E3C2F613E)",
    );
    let rows = succeed(&mut client, "SELECT x FROM t ORDER BY n").rows();
    assert_eq!(
        rows,
        [
            [words("<a b=\"1\"><c/></a>")],
            [Value::Null],
            [words("text")],
            [words("<a>&#x20;<b/></a>")],
            [words("<a/>")],
        ]
    );
    let mut all = |sql: &str| shown(&succeed(&mut client, sql));
    assert_eq!(
        all(
            "SELECT CAST(x AS nvarchar(max)), CAST(x AS varchar(50)), DATALENGTH(x), CAST(CAST(x AS varbinary(max)) AS xml) FROM t \
             WHERE n = 5"
        ),
        "<a/>,<a/>,8,<a/>"
    );
    assert_eq!(
        all("SELECT CAST(ISNULL(x, '<none/>') AS nvarchar(20)) FROM t WHERE n = 2"),
        "<none/>"
    );
    assert_eq!(
        all(
            "SELECT t.name, c.max_length, c.collation_name FROM sys.columns AS c JOIN sys.types AS t \
             ON t.user_type_id = c.user_type_id WHERE c.object_id = OBJECT_ID('t') AND c.name = 'x'"
        ),
        "xml,SmallInt(-1),-"
    );
    assert_eq!(
        all("SELECT DATA_TYPE, CHARACTER_MAXIMUM_LENGTH FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'x'"),
        "xml,-1"
    );
    assert_eq!(all("SELECT TRY_CAST('<a' AS xml), TRY_CAST('<a/>' AS xml)"), "-,<a/>");
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    assert_eq!(
        client.value("SELECT x FROM d..t WHERE n = 1"),
        words("<a b=\"1\"><c/></a>")
    );
    let sqlite = fixture.in_sqlite("d");
    sqlite.execute_batch("UPDATE t SET x = '<a' WHERE n = 3").unwrap();
    fails(&mut client, 50_823, "SELECT x FROM d..t WHERE n = 3");
}

#[test]
fn what_is_no_xml_is_refused_with_its_place() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TABLE t (x xml)");
    let answer = client.batch("SELECT CAST('<a></b>' AS xml)");
    assert_eq!(
        answer.said()[0].text,
        "XML parsing: line 1, character 7, end tag does not match start tag"
    );
    all_fail(
        &mut client,
        &[
            (9400, "INSERT t VALUES ('<a>')"),
            (
                9402,
                "INSERT t VALUES (N'<?xml version=\"1.0\" encoding=\"utf-8\"?><a/>')",
            ),
            (9420, "DECLARE @x xml = N'<a>' + NCHAR(1) + N'</a>'"),
            (9448, "DECLARE @x xml = '<a>&lol;</a>'"),
            (
                6359,
                "DECLARE @x xml = '<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><l>&b;</l>'",
            ),
            (40510, "SELECT CONVERT(xml, '<!DOCTYPE l [<!ENTITY a \"ha\">]><l/>', 2)"),
            (
                6335,
                "DECLARE @x xml = REPLICATE(CAST('<a>' AS varchar(max)), 200) + REPLICATE('</a>', 200)",
            ),
            (6354, "SELECT CAST(CAST('<abc/>' AS xml) AS varchar(3))"),
            (257, "DECLARE @x xml = '<a/>'; DECLARE @s nvarchar(max) = @x"),
            (206, "DECLARE @x xml = 5"),
            (529, "SELECT CAST(5 AS xml)"),
            (206, "DECLARE @x xml = '<a/>'; DECLARE @v sql_variant = @x"),
            (305, "DECLARE @x xml = '<a/>'; IF @x = @x PRINT 'a'"),
            (305, "SELECT x FROM t ORDER BY x"),
            (305, "SELECT COUNT(*) FROM t GROUP BY x"),
            (421, "SELECT DISTINCT x FROM t"),
            (5335, "SELECT x FROM t UNION SELECT x FROM t"),
            (8117, "SELECT MAX(x) FROM t"),
            (8117, "SELECT x + x FROM t"),
            (8116, "SELECT LEN(x) FROM t"),
            (8116, "SELECT * FROM t WHERE x LIKE 'a'"),
            (1919, "CREATE INDEX i ON t (x)"),
            (1919, "CREATE TABLE k (x xml PRIMARY KEY)"),
        ],
    );
}

#[test]
fn what_is_no_xml_rolls_the_transaction_back() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(&mut client, "CREATE TABLE t (n int, x xml)");
    for (number, fault) in [
        (9400, "INSERT t VALUES (2, '<a')"),
        (6359, "SELECT CAST('<!DOCTYPE a><a/>' AS xml)"),
    ] {
        let answer = client.batch(&format!(
            "BEGIN TRAN; INSERT t (n) VALUES (1); {fault}; INSERT t (n) VALUES (3); COMMIT"
        ));
        let numbers: Vec<_> = answer.errors().iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [number]);
        assert_eq!(shown(&succeed(&mut client, "SELECT COUNT(*) FROM t")), "0");
        let caught = format!(
            "BEGIN TRAN; BEGIN TRY {fault} END TRY BEGIN CATCH SELECT CAST(XACT_STATE() AS int) END CATCH; ROLLBACK"
        );
        assert!(shown(&client.batch(&caught)).ends_with("-1"), "{number}");
    }
}

#[test]
fn a_moment_with_an_offset_is_of_utc_as_datetime2() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (written, found) in [
        ("2015-03-09T16:00:00+01:00", "2015-03-09 15:00:00"),
        ("2015-03-09T16:00:00.5Z", "2015-03-09 16:00:00"),
        ("2015-03-09T16:00:00", "2015-03-09 16:00:00"),
        ("2015-03-09", "2015-03-09 00:00:00"),
    ] {
        let text = format!(
            "DECLARE @x xml = '<a>{written}</a>'; SELECT CONVERT(varchar(19), @x.value('(/a)[1]', 'datetime2'), 120)"
        );
        assert_eq!(shown(&succeed(&mut client, &text)), found, "{written}");
    }
}

#[test]
fn values_are_found_by_paths() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (query, of, expected) in [
        ("(/books/book/title)[1]", "nvarchar(20)", "A & B"),
        ("(/books/book/title/text())[2]", "varchar(20)", "C"),
        ("(/books/book[@id=\"2\"]/price)[1]", "decimal(9,2)", "12.50"),
        ("(/books/book[price > 10]/@id)[1]", "int", "2"),
        ("(/books/book[2]/@id)[1]", "int", "2"),
        ("(//title)[last()]", "char(3)", "C  "),
        ("(/books/book[title=\"C\" and price=12.5]/../book/@id)[1]", "int", "1"),
        ("count(/books/book)", "int", "2"),
        ("sum(//price)", "decimal(9,1)", "17.5"),
        ("local-name((/books/*)[1])", "varchar(9)", "book"),
        ("(//comment())[1]", "varchar(9)", "c"),
        ("(/books/book/@*:x)[1]", "varchar(9)", "y"),
        ("declare namespace q=\"u\"; (/books/book/@q:x)[1]", "varchar(9)", "y"),
        ("(/books/none)[1]", "varchar(9)", "-"),
        ("contains(string((//title)[1]), \"B\")", "bit", "1"),
        (".", "varchar(30)", "A & B5C12.5"),
        ("(/books/book[not(title = \"C\")]/@id)[1]", "int", "1"),
        (
            "(/books/book/title[contains(., \"C\")]/parent::book/@id)[1]",
            "int",
            "2",
        ),
        ("string(/books[1]/book[1]/@id)", "varchar(5)", "1"),
    ] {
        let query = query.replace('\'', "''");
        let sql = set(&format!("SELECT CAST(@x.value('{query}', '{of}') AS varchar(40))"));
        assert_eq!(shown(&succeed(&mut client, &sql)), expected, "{query}");
    }
    let mut all = |sql: &str| shown(&succeed(&mut client, &set(sql)));
    assert_eq!(
        all("SELECT @x.exist('/books/book[@id=\"2\"]'), @x.exist('/books/dvd'), @x.exist('1 = 2')"),
        "1,0,1"
    );
    assert_eq!(
        all(
            "SELECT @x.query('/books/book[@id=2]/title'), @x.query('//price/text()'), @x.query('count(//book), \"a\"')"
        ),
        "<title>C</title>,512.5,2 a"
    );
    assert_eq!(
        all("SELECT @x.query('/books/book[1]').value('(/book/@id)[1]', 'int')"),
        "1"
    );
    assert_eq!(
        all("DECLARE @id int = 2; SELECT @x.value('(/books/book[@id=sql:variable(\"@id\")]/title)[1]', 'varchar(9)')"),
        "C"
    );
    assert_eq!(
        all("DECLARE @n xml; SELECT @n.value('a[1]', 'int'), @n.exist('a'), @n.query('a')"),
        "-,-,-"
    );
}

#[test]
fn nodes_are_rows() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        &format!(
            "CREATE TABLE t (n int PRIMARY KEY, x xml); INSERT t VALUES (1, '{BOOKS}'), (2, '<books/>'), (3, NULL)"
        ),
    );
    let mut all = |sql: &str| shown(&succeed(&mut client, sql));
    assert_eq!(
        all(&set(
            "SELECT b.c.value('@id', 'int'), b.c.value('title[1]', 'varchar(9)'), b.c.exist('price[. > 10]') \
             FROM @x.nodes('/books/book') AS b(c) ORDER BY 1"
        )),
        "1,A & B,0; 2,C,1"
    );
    assert_eq!(
        all(
            "SELECT t.n, b.c.value('(price)[1]', 'float') * 2 AS p, b.c.value('../@none', 'int'), b.c.query('title') FROM t \
             CROSS APPLY t.x.nodes('/books/book') AS b(c) ORDER BY p"
        ),
        "1,Float(10.0),-,<title>A &amp; B</title>; 1,Float(25.0),-,<title>C</title>"
    );
    assert_eq!(
        all("SELECT t.n, b.c.value('@id', 'int') FROM t OUTER APPLY t.x.nodes('/books/book[2]') AS b(c) ORDER BY t.n"),
        "1,2; 2,-; 3,-"
    );
    assert_eq!(
        all(
            "SELECT v.c.value('.', 'varchar(9)') FROM t CROSS APPLY x.nodes('/books/book') AS b(c) \
             CROSS APPLY b.c.nodes('price') AS v(c) WHERE b.c.value('@id', 'int') = 2"
        ),
        "12.5"
    );
    assert_eq!(
        all("SELECT n FROM t WHERE x.exist('/books/book[@id=sql:column(\"t.n\")]') = 1"),
        "1"
    );
    assert_eq!(
        all(
            "SELECT n FROM t WHERE EXISTS (SELECT 1 FROM t.x.nodes('//book') AS b(c) WHERE b.c.value('@id', 'int') = 2)"
        ),
        "1"
    );
    // As a list of values is split and joined.
    assert_eq!(
        all("DECLARE @x xml = '<i>' + REPLACE('a,b,c', ',', '</i><i>') + '</i>'; \
             SELECT c.value('.', 'varchar(5)') FROM @x.nodes('/i') AS t(c)"),
        "a; b; c"
    );
    assert_eq!(
        all(
            "SELECT STUFF((SELECT ',' + v FROM (VALUES ('a&b'), ('c')) AS s (v) FOR XML PATH(''), TYPE).value('.', \
             'nvarchar(max)'), 1, 1, '')"
        ),
        "a&b,c"
    );
    assert_eq!(
        all("SELECT (SELECT 1 AS a FOR XML PATH('r'), TYPE) AS x FOR XML PATH('')"),
        "<x><r><a>1</a></r></x>"
    );
}

#[test]
fn what_is_no_path_is_refused_by_name() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        &format!("CREATE TABLE t (n int PRIMARY KEY, x xml); INSERT t VALUES (1, '{BOOKS}')"),
    );
    all_fail(
        &mut client,
        &[
            (493, "SELECT b.c FROM t CROSS APPLY x.nodes('/a') AS b(c)"),
            (318, "SELECT 1 FROM t CROSS APPLY x.nodes('/a') AS b"),
            (2389, "SELECT x.value('/books/book', 'int') FROM t"),
            (2389, "SELECT x.value('//@id', 'int') FROM t"),
            (2209, "SELECT x.query('/books[') FROM t"),
            (2229, "SELECT x.query('/q:a') FROM t"),
            (8172, "DECLARE @p varchar(9) = '/a'; SELECT x.query(@p) FROM t"),
            (258, "DECLARE @s nvarchar(9) = 'a'; SELECT @s.value('.', 'int')"),
            (245, "SELECT x.value('(/books/book/title)[1]', 'int') FROM t"),
            (9500, "SELECT x.value('(/a)[1]', 'xml') FROM t"),
            (40510, "SELECT x.query('for $b at $n in /books return $b') FROM t"),
            (2373, "SELECT x.value('<a/>', 'int') FROM t"),
            (2373, "SELECT 1 FROM t CROSS APPLY x.nodes('<a/>') AS b(c)"),
            (2389, "SELECT x.value('/a/b + 1', 'int') FROM t"),
            (8137, "SELECT x.modify('delete /a') FROM t"),
            (8137, "DECLARE @x xml; SET @x = @x.modify('delete /a')"),
            (
                9342,
                "DECLARE @y xml = '<a/>'; SELECT x.query('<b>{sql:variable(\"@y\")}</b>') FROM t",
            ),
        ],
    );
}

#[test]
fn queries_compute_and_construct() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let mut all = |sql: &str| shown(&succeed(&mut client, &set(sql)));
    assert_eq!(
        all(
            "SELECT @x.query('for $b in /books/book where $b/price > 10 return <b id=\"{$b/@id}\">{$b/title/text()}</b>')"
        ),
        "<b id=\"2\">C</b>"
    );
    assert_eq!(
        all(
            "SELECT @x.query('<n>{count(/books/book)}</n>'), @x.value('(/books/book/price)[1] * 2 + 1', 'int'), \
             @x.exist('<a/>'), @x.query('if (/books) then <y/> else <n/>')"
        ),
        "<n>2</n>,11,1,<y/>"
    );
    assert_eq!(
        all("DECLARE @n int = 3; SELECT @x.query('<a n=\"{sql:variable(\"@n\")}\">{sql:variable(\"@n\") + 1}</a>')"),
        "<a n=\"3\">4</a>"
    );
    let deep = format!("DECLARE @x xml = '{}{}'; ", "<a>".repeat(128), "</a>".repeat(128));
    fails(&mut client, 6335, &format!("{deep}SELECT @x.query('<b>{{.}}</b>')"));
}

#[test]
fn variables_and_columns_are_modified() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    let mut all = |sql: &str| shown(&succeed(&mut client, sql));
    assert_eq!(
        all(
            "DECLARE @x xml = '<r><a n=\"1\">x</a></r>', @v nvarchar(9) = 'a<', @y xml = '<p q=\"1\"/>'; \
             SET @x.modify('insert <b>{sql:variable(\"@v\")}</b> into (/r)[1]'); \
             SET @x.modify('insert sql:variable(\"@y\") as first into (/r)[1]'); \
             SET @x.modify('replace value of (/r/a/@n)[1] with \"5\"'); SET @x.modify('delete /r/a/text()'); SELECT @x"
        ),
        "<r><p q=\"1\"/><a n=\"5\"/><b>a&lt;</b></r>"
    );
    all("CREATE TABLE t (n int PRIMARY KEY, m int, x xml); INSERT t VALUES (1, 7, '<r/>'), (2, 8, '<r a=\"1\"/>')");
    assert_eq!(
        all(
            "UPDATE t SET x.modify('insert attribute m {sql:column(\"m\")} into (/r)[1]'), m = 0 WHERE n > 1; \
             SELECT n, m, x FROM t ORDER BY n"
        ),
        "1,7,<r/>; 2,0,<r a=\"1\" m=\"8\"/>"
    );
    assert_eq!(
        all("UPDATE t SET x.modify('insert <c/> into (/r)[1]') OUTPUT deleted.x, inserted.x WHERE n = 1"),
        "<r/>,<r><c/></r>"
    );
    assert_eq!(
        all(
            "UPDATE u SET x.modify('delete /r/c') FROM t AS u JOIN (SELECT 1 AS x) AS o ON u.n = o.x; SELECT x FROM t WHERE n = 1"
        ),
        "<r/>"
    );
    all_fail(
        &mut client,
        &[
            (5302, "DECLARE @x xml; SET @x.modify('delete /a')"),
            (5302, "INSERT t VALUES (3, 1, NULL); UPDATE t SET x.modify('delete /a')"),
            (258, "DECLARE @x int; SET @x.modify('delete /a')"),
            (258, "UPDATE t SET m.modify('delete /a')"),
            (207, "UPDATE t SET none.modify('delete /a')"),
            (
                8172,
                "DECLARE @x xml = '<a/>', @q varchar(9) = 'delete /a'; SET @x.modify(@q)",
            ),
            (6305, "DECLARE @x xml = '<a/>'; SET @x.modify('/a')"),
            (2226, "UPDATE t SET x.modify('insert <a/> into /r/a')"),
            (
                2207,
                "DECLARE @x xml = '<a/>', @v int = 1; SET @x.modify('insert sql:variable(\"@v\") into (/a)[1]')",
            ),
            (
                6335,
                "DECLARE @x xml = '<a/>', @y xml = '<a/>', @n int = 0; WHILE @n < 200 BEGIN SET @n += 1; \
                    SET @x = @y; SET @y.modify('delete /a'); SET @y.modify('insert <a/> into (/)[1]'); \
                    SET @y.modify('insert sql:variable(\"@x\") into (/a)[1]') END",
            ),
        ],
    );
    assert_eq!(
        client.value("SELECT COUNT(*) FROM t WHERE x IS NULL OR x.exist('/r') = 1"),
        Value::Int(3)
    );
}

#[test]
fn parameters_are_xml() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    succeed(
        &mut client,
        "CREATE PROCEDURE p @x xml, @o xml OUTPUT AS SET @o = @x.query('/a/b'); SELECT @x",
    );
    succeed(&mut client, "CREATE TABLE t (x xml); CREATE TYPE tt AS TABLE (x xml)");
    let answer = client.call_by_name(
        "p",
        vec![
            parameter("@x", DataType::Xml, words("<a> <b c='1'></b></a>")),
            output("@o", DataType::Xml, Value::Null),
        ],
    );
    assert_eq!(answer.errors(), [], "{answer:?}");
    assert_eq!(answer.rows(), [[words("<a><b c=\"1\"/></a>")]]);
    assert_eq!(answer.outputs(), [(1, "@o", &words("<b c=\"1\"/>"))]);
    let asked = |value: Value, of: DataType| vec![text("SELECT @x"), text("@x xml"), parameter("@x", of, value)];
    let wide = DataType::NVarChar(Width::Max);
    let answer = client.call(ProcedureId::ExecuteSql, asked(words("<a/>"), wide));
    assert_eq!(answer.rows(), [[words("<a/>")]]);
    for (number, value) in [(9436, "<a></b>"), (9400, "<a"), (6359, "<!DOCTYPE a []><a/>")] {
        let answer = client.call(ProcedureId::ExecuteSql, asked(words(value), DataType::Xml));
        assert_eq!(
            answer.errors().first().map(|(number, _)| *number),
            Some(number),
            "{answer:?}"
        );
    }
    let answer = client.call_by_name("p", vec![int("@x", 5), output("@o", DataType::Xml, Value::Null)]);
    assert_eq!(
        answer.errors().first().map(|(number, _)| *number),
        Some(206),
        "{answer:?}"
    );
    let rows = vec![vec![words("<a></a>")], vec![Value::Null]];
    let answer = client.bulk("INSERT BULK t (x xml)", &[("x", DataType::Xml)], &rows);
    assert_eq!(answer.errors(), [], "{answer:?}");
    assert_eq!(
        succeed(&mut client, "SELECT x FROM t").rows(),
        [[words("<a/>")], [Value::Null]]
    );
    let rows = super::types_of_users::table("@t", ("dbo", "tt"), &[(DataType::Xml, false)], vec![words("<a></a>")]);
    let asked = vec![text("SELECT x FROM @t"), text("@t tt READONLY"), rows];
    assert_eq!(client.call(ProcedureId::ExecuteSql, asked).rows(), [[words("<a/>")]]);
}
