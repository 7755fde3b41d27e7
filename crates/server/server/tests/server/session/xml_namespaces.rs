//! WITH XMLNAMESPACES: of FOR XML, and of the methods of xml.

use super::client::{Client, fails, shown, succeed};
use super::fixture::Fixture;

fn client(fixture: &Fixture) -> Client {
    let mut client = fixture.client();
    succeed(&mut client, "CREATE DATABASE d");
    succeed(&mut client, "USE d");
    succeed(
        &mut client,
        "CREATE TABLE t (id int, a int NULL); INSERT t VALUES (1, 10), (2, NULL); CREATE TABLE x (x xml); \
         INSERT x VALUES ('<p:a xmlns:p=\"u\"><p:b>1</p:b></p:a>'), ('<a><b>2</b></a>')",
    );
    client
}

#[test]
fn namespaces_are_declared_by_the_outermost_elements_the_last_one_first() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (query, xml) in [
        (
            "WITH XMLNAMESPACES ('u' AS p) SELECT id AS [p:id], a AS [p:a] FROM t FOR XML RAW ('p:r'), ELEMENTS",
            "<p:r xmlns:p=\"u\"><p:id>1</p:id><p:a>10</p:a></p:r><p:r xmlns:p=\"u\"><p:id>2</p:id></p:r>",
        ),
        (
            "WITH XMLNAMESPACES ('u' AS p, DEFAULT 'd&\"') SELECT id AS [@p:id] FROM t WHERE id = 1 FOR XML PATH",
            "<row xmlns=\"d&amp;&quot;\" xmlns:p=\"u\" p:id=\"1\"/>",
        ),
        (
            "WITH XMLNAMESPACES ('u' AS p, 'v' AS q) SELECT id FROM t FOR XML PATH ('p:r'), ROOT ('q:s')",
            "<q:s xmlns:q=\"v\" xmlns:p=\"u\"><p:r><id>1</id></p:r><p:r><id>2</id></p:r></q:s>",
        ),
        (
            "WITH XMLNAMESPACES ('u' AS p) SELECT id, a FROM t WHERE id = 2 FOR XML RAW, ELEMENTS XSINIL",
            "<row xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:p=\"u\"><id>2</id>\
             <a xsi:nil=\"true\"/></row>",
        ),
        (
            "WITH XMLNAMESPACES ('u' AS p) SELECT id AS [p:a/p:b], a AS [text()] FROM t WHERE id = 1 FOR XML PATH ('')",
            "<p:a xmlns:p=\"u\"><p:b>1</p:b></p:a>10",
        ),
        (
            "WITH XMLNAMESPACES ('u' AS p) SELECT t.id, s.a FROM t JOIN t AS s ON s.id = t.id WHERE t.id = 1 FOR XML AUTO",
            "<t xmlns:p=\"u\" id=\"1\"><s a=\"10\"/></t>",
        ),
        (
            "WITH XMLNAMESPACES (DEFAULT 'd') SELECT id, (SELECT a FROM t AS s WHERE s.id = t.id FOR XML PATH ('s'), TYPE) \
             FROM t WHERE id = 1 FOR XML PATH",
            "<row xmlns=\"d\"><id>1</id><s xmlns=\"d\"><a>10</a></s></row>",
        ),
        (
            "WITH XMLNAMESPACES (DEFAULT 'd') SELECT id, (SELECT CAST('<b c=\"1\"><e/></b><p:f xmlns:p=\"u\"/>t' AS xml)) AS x, \
             CAST('<g xmlns=\"v\"/>' AS xml) FROM t WHERE id = 1 FOR XML PATH",
            "<row xmlns=\"d\"><id>1</id><x><b c=\"1\" xmlns=\"\"><e/></b><p:f xmlns:p=\"u\"/>t</x><g xmlns=\"v\"/></row>",
        ),
        (
            "WITH XMLNAMESPACES (DEFAULT 'd') SELECT t.id, x.x FROM t JOIN x ON x.x.exist('/*:a/b') = 0 WHERE t.id = 1 \
             FOR XML AUTO, ROOT",
            "<root xmlns=\"d\"><t id=\"1\"><x><x><p:a xmlns:p=\"u\"><p:b>1</p:b></p:a></x></x><x><x><a xmlns=\"\"><b>2</b></a></x></x>\
             </t></root>",
        ),
        (
            "WITH XMLNAMESPACES (DEFAULT 'd') SELECT x FROM (SELECT (SELECT 1 AS a FOR XML PATH, TYPE) AS x) AS n FOR XML AUTO",
            "<n xmlns=\"d\"><x><row xmlns=\"d\"><a>1</a></row></x></n>",
        ),
        (
            "WITH XMLNAMESPACES ('http://www.w3.org/XML/1998/namespace' AS xml) SELECT 'en' AS [@xml:lang] FOR XML PATH",
            "<row xml:lang=\"en\"/>",
        ),
        (
            "WITH XMLNAMESPACES ('u' AS p), c AS (SELECT TOP (1) id FROM t ORDER BY id) SELECT id AS [p:i] FROM c FOR XML PATH",
            "<row xmlns:p=\"u\"><p:i>1</p:i></row>",
        ),
    ] {
        assert_eq!(shown(&succeed(&mut client, query)), xml, "{query}");
    }
}

#[test]
fn methods_of_xml_know_the_namespaces_of_their_statement() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (query, answer) in [
        (
            "WITH XMLNAMESPACES ('u' AS p) SELECT x.value('(/p:a/p:b)[1]', 'int') FROM x WHERE x.exist('/p:a') = 1",
            "1",
        ),
        (
            "WITH XMLNAMESPACES (DEFAULT 'u') SELECT n.c.value('.', 'int') FROM x CROSS APPLY x.nodes('/a/b') AS n(c)",
            "1",
        ),
        (
            "WITH XMLNAMESPACES (DEFAULT 'u') SELECT x.value('declare default element namespace \"\"; (/a/b)[1]', 'int') FROM x \
             WHERE x.exist('/a') = 0",
            "2",
        ),
        (
            "DECLARE @x xml = '<p:a xmlns:p=\"u\">3</p:a>'; WITH XMLNAMESPACES ('u' AS q) SELECT @x.value('/q:a[1]', 'int')",
            "3",
        ),
        (
            "DECLARE @x xml = '<a xmlns=\"u\">1</a>'; WITH XMLNAMESPACES (DEFAULT 'u') \
             SELECT TOP (@x.value('/a[1]', 'int')) id FROM t ORDER BY id",
            "1",
        ),
        (
            "WITH XMLNAMESPACES (DEFAULT 'u') INSERT x OUTPUT inserted.x.value('/a[1]', 'int') VALUES ('<a xmlns=\"u\">4</a>')",
            "4",
        ),
    ] {
        assert_eq!(shown(&succeed(&mut client, query)), answer, "{query}");
    }
    succeed(
        &mut client,
        "WITH XMLNAMESPACES ('u' AS q) UPDATE x SET x.modify('replace value of (/q:a/q:b/text())[1] with 7') \
         WHERE x.exist('/q:a/q:b') = 1",
    );
    succeed(
        &mut client,
        "CREATE VIEW v AS WITH XMLNAMESPACES (DEFAULT 'u') SELECT x.value('(/a/b)[1]', 'int') AS b FROM x",
    );
    let views = [
        ("SELECT b FROM v WHERE b IS NOT NULL", "7"),
        // Of the statement's namespaces a view has none.
        (
            "WITH XMLNAMESPACES (DEFAULT 'w') SELECT b FROM v WHERE b IS NOT NULL",
            "7",
        ),
    ];
    for (query, answer) in views {
        assert_eq!(shown(&succeed(&mut client, query)), answer, "{query}");
    }
    succeed(
        &mut client,
        "CREATE FUNCTION f (@x xml) RETURNS TABLE AS RETURN WITH XMLNAMESPACES ('u' AS q) SELECT @x.value('(/q:a/q:b)[1]', 'int') AS b",
    );
    assert_eq!(
        shown(&succeed(
            &mut client,
            "SELECT f.b FROM x CROSS APPLY f(x.x) AS f WHERE f.b IS NOT NULL"
        )),
        "7"
    );
    fails(&mut client, 2229, "SELECT x.value('(/p:a)[1]', 'int') FROM x");
}

#[test]
fn what_is_no_namespace_is_refused() {
    let fixture = Fixture::new();
    let mut client = client(&fixture);
    for (number, query) in [
        (6869, "WITH XMLNAMESPACES ('u' AS p, 'v' AS p) SELECT id FROM t"),
        (6869, "WITH XMLNAMESPACES (DEFAULT 'u', DEFAULT 'v') SELECT id FROM t"),
        (6870, "WITH XMLNAMESPACES ('u' AS [p q]) SELECT id FROM t"),
        (6870, "WITH XMLNAMESPACES ('u' AS [p:q]) SELECT id FROM t"),
        (6871, "WITH XMLNAMESPACES ('u' AS xmlns) SELECT id FROM t"),
        (6872, "WITH XMLNAMESPACES ('u' AS xml) SELECT id FROM t"),
        (
            6872,
            "WITH XMLNAMESPACES ('http://www.w3.org/XML/1998/namespace' AS p) SELECT id FROM t",
        ),
        (6874, "WITH XMLNAMESPACES ('' AS p) SELECT id FROM t"),
        (
            6873,
            "WITH XMLNAMESPACES ('u' AS xsi) SELECT id FROM t FOR XML RAW, ELEMENTS XSINIL",
        ),
        (
            6868,
            "WITH XMLNAMESPACES ('u' AS p) SELECT 1 AS Tag, NULL AS Parent, id AS [x!1!y] FROM t FOR XML EXPLICIT",
        ),
        (
            6846,
            "WITH XMLNAMESPACES ('u' AS p) SELECT id AS [q:a] FROM t FOR XML PATH",
        ),
        (
            6850,
            "WITH XMLNAMESPACES ('u' AS p) SELECT id AS [p:] FROM t FOR XML PATH",
        ),
        (
            6867,
            "WITH XMLNAMESPACES ('u' AS p) SELECT id AS xmlns FROM t FOR XML RAW",
        ),
        (
            6867,
            "WITH XMLNAMESPACES ('u' AS p) SELECT [xmlns:p].id FROM t AS [xmlns:p] FOR XML AUTO",
        ),
        (6872, "WITH XMLNAMESPACES ('' AS xml) SELECT id FROM t"),
        (6875, "WITH XMLNAMESPACES ('a\u{1}' AS p) SELECT id FROM t"),
        (
            40_510,
            "WITH XMLNAMESPACES ('http://www.w3.org/2000/xmlns/' AS p) SELECT id FROM t",
        ),
        (
            6846,
            "WITH XMLNAMESPACES ('u' AS p) SELECT id AS [P:a] FROM t FOR XML PATH",
        ),
        (
            102,
            "WITH c AS (SELECT 1 AS a), XMLNAMESPACES ('u' AS p) SELECT a FROM c",
        ),
    ] {
        fails(&mut client, number, query);
    }
}
