//! FOR XML.

use super::shop;
use crate::testing::Session;

#[test]
fn for_xml_path_concatenates() {
    let session = shop();
    let list = "SELECT STUFF((SELECT ',' + name FROM customer ORDER BY id FOR XML PATH('')), 1, 1, '')";
    assert_eq!(session.rows(list), "Ann,bob,Cid");
    let grouped = "SELECT c.id, STUFF((SELECT ', ' + CAST(o.id AS varchar(10)) FROM orders o WHERE o.customer = c.id \
                   ORDER BY o.id FOR XML PATH('')), 1, 2, '') FROM customer c ORDER BY c.id";
    assert_eq!(session.rows(grouped), "1|10, 11\n2|12\n3|NULL");
}

#[test]
fn for_xml_path_places_columns_by_their_names() {
    let session = shop();
    let answer =
        session.answer("SELECT id AS [@id], name, city AS [address/city] FROM customer ORDER BY id FOR XML PATH");
    assert_eq!(
        answer.columns,
        ["XML_F52E2B61-18A1-11d1-B105-00805F49916B nvarchar(max) null"]
    );
    assert_eq!(
        answer.rows,
        [
            "<row id=\"1\"><name>Ann</name><address><city>Oslo</city></address></row>\
          <row id=\"2\"><name>bob</name><address><city>Rome</city></address></row><row id=\"3\"><name>Cid</name></row>"
        ]
    );
    for (rows, xml) in [
        (
            "SELECT 1 AS [a/b], 2 AS [a/c], 3 AS d FOR XML PATH('r')",
            "<r><a><b>1</b><c>2</c></a><d>3</d></r>",
        ),
        ("SELECT 10 AS x, 20 AS x FOR XML PATH('')", "<x>1020</x>"),
        ("SELECT 1 AS [data()], 3 AS [data()] FOR XML PATH('r')", "<r>1 3</r>"),
        ("SELECT 1 AS [text()], 3 AS [text()] FOR XML PATH('r')", "<r>13</r>"),
        (
            "SELECT 'a<b>&\"' AS x, 'a<\"' AS y FOR XML PATH('')",
            "<x>a&lt;b&gt;&amp;\"</x><y>a&lt;\"</y>",
        ),
        ("SELECT 'a<\">' AS [@x] FOR XML PATH('r')", "<r x=\"a&lt;&quot;&gt;\"/>"),
        ("SELECT NULL AS x FOR XML PATH('r')", "<r/>"),
        ("SELECT '' AS x FOR XML PATH('r')", "<r><x></x></r>"),
        (
            "SELECT CAST(NULL AS int) AS x, 1 AS y FOR XML PATH('r'), ELEMENTS XSINIL",
            "<r xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><x xsi:nil=\"true\"/><y>1</y></r>",
        ),
        (
            "SELECT 1 AS x FOR XML PATH, ROOT('rows')",
            "<rows><row><x>1</x></row></rows>",
        ),
        (
            "SELECT 'c' AS [comment()], 'p' AS [processing-instruction(t)] FOR XML PATH('r')",
            "<r><!--c--><?t p?></r>",
        ),
        (
            "SELECT CAST(1 AS bit) AS a, 1.5e0 AS b, $2 AS c, 0x4142 AS d, CAST('2024-01-02' AS date) AS e FOR XML PATH('')",
            "<a>1</a><b>1.500000000000000e+000</b><c>2.0000</c><d>QUI=</d><e>2024-01-02</e>",
        ),
    ] {
        assert_eq!(session.rows(rows), xml, "{rows}");
    }
}

#[test]
fn typed_xml_is_nested_as_elements() {
    let session = shop();
    let rows = |options: &str| {
        format!(
            "SELECT c.id, (SELECT o.id FROM orders o WHERE o.customer = c.id ORDER BY o.id FOR XML PATH('o'){options}) AS os
             FROM customer c WHERE c.id = 2 FOR XML PATH('c')"
        )
    };
    assert_eq!(
        session.rows(&rows(", TYPE")),
        "<c><id>2</id><os><o><id>12</id></o></os></c>"
    );
    assert_eq!(
        session.rows(&rows("")),
        "<c><id>2</id><os>&lt;o&gt;&lt;id&gt;12&lt;/id&gt;&lt;/o&gt;</os></c>"
    );
}

#[test]
fn for_xml_raw_and_auto_write_attributes() {
    let session = shop();
    for (rows, xml) in [
        (
            "SELECT id, name FROM customer WHERE id = 1 FOR XML RAW",
            "<row id=\"1\" name=\"Ann\"/>",
        ),
        (
            "SELECT id AS [a b] FROM customer WHERE id = 1 FOR XML RAW('c')",
            "<c a_x0020_b=\"1\"/>",
        ),
        (
            "SELECT id, city FROM customer WHERE id = 3 FOR XML RAW, ELEMENTS, ROOT",
            "<root><row><id>3</id></row></root>",
        ),
        (
            "SELECT id, city FROM customer WHERE id = 3 FOR XML AUTO",
            "<customer id=\"3\"/>",
        ),
        (
            "SELECT id FROM dbo.customer AS x WHERE id = 3 FOR XML AUTO, ELEMENTS",
            "<x><id>3</id></x>",
        ),
        (
            "SELECT c.name, o.id FROM customer c JOIN orders o ON o.customer = c.id ORDER BY c.id, o.id FOR XML AUTO",
            "<c name=\"Ann\"><o id=\"10\"/><o id=\"11\"/></c><c name=\"bob\"><o id=\"12\"/></c>",
        ),
        (
            "SELECT c.name, o.id FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE c.id > 1 ORDER BY c.id \
             FOR XML AUTO, ELEMENTS",
            "<c><name>bob</name><o><id>12</id></o></c><c><name>Cid</name><o/></c>",
        ),
    ] {
        assert_eq!(session.rows(rows), xml, "{rows}");
    }
}

#[test]
fn for_xml_has_the_errors_of_its_names() {
    let session = shop();
    for (rows, number) in [
        ("SELECT 1 AS a, 2 AS [@b] FOR XML PATH", 6852),
        ("SELECT 1 AS [b/@x], 2 AS [@b] FOR XML PATH", 6852),
        ("SELECT 1 AS [@a] FOR XML PATH('')", 6864),
        ("SELECT 1 AS a FOR XML RAW('')", 6864),
        ("SELECT 1 AS [a b] FOR XML PATH", 6850),
        ("SELECT 1 AS [a//b] FOR XML PATH", 6849),
        ("SELECT 1 AS [p:b] FOR XML PATH", 6846),
        ("SELECT 1 AS [p:comment()] FOR XML PATH", 6846),
        ("SELECT 1 AS [COMMENT()] FOR XML PATH", 6850),
        ("SELECT 1 AS [@*] FOR XML PATH", 6850),
        ("SELECT 1 AS [comment()/a] FOR XML PATH", 6850),
        ("SELECT 1 AS [processing-instruction()] FOR XML PATH", 6854),
        ("SELECT 1 AS [a/processing-instruction(xml)] FOR XML PATH", 6879),
        ("SELECT 1 AS [processing-instruction(a:b)] FOR XML PATH", 6850),
        ("SELECT 1 AS [xmlns] FOR XML PATH", 6867),
        ("SELECT 1 AS [xmlns:a] FOR XML PATH", 6867),
        ("SELECT 1 AS [a/@xmlns:b] FOR XML PATH", 6867),
        ("SELECT 1 AS a FOR XML RAW, ROOT('xmlns:a')", 6867),
        ("SELECT 1 AS a FOR XML PATH('xmlns')", 6867),
        ("SELECT 1 AS [@a], 2 AS [@a] FOR XML PATH", 6810),
        ("SELECT 1 AS [b/@a], 2 AS [b/@c], 3 AS [b/@a] FOR XML PATH", 6810),
        ("SELECT 1 AS a, 2 AS a FOR XML RAW", 6810),
        ("SELECT id, name AS id FROM customer FOR XML AUTO", 6810),
        (
            "SELECT c.id, o.id, c.name AS id FROM customer c JOIN orders o ON o.customer = c.id FOR XML AUTO",
            6810,
        ),
        ("SELECT 1 FOR XML RAW", 6809),
        ("SELECT 1 AS a FOR XML AUTO", 6800),
        ("SELECT 0x41 AS a FOR XML RAW", 6829),
        ("SELECT 1 AS a FOR XML PATH, ROOT('')", 6861),
        ("INSERT customer SELECT 4, 'x', 'y' FOR XML PATH", 6819),
    ] {
        assert_eq!(session.number(rows), number, "{rows}");
    }
}

#[test]
fn for_xml_explicit_places_rows_by_their_tags() {
    let session = shop();
    for (rows, xml) in [
        (
            "SELECT 1 AS Tag, NULL AS Parent, id AS [c!1!id], name AS [c!1!name!element], NULL AS [o!2!id] FROM customer \
             WHERE id < 3 UNION ALL SELECT 2, 1, customer, NULL, id FROM orders WHERE customer < 3 ORDER BY [c!1!id], [o!2!id] \
             FOR XML EXPLICIT",
            "<c id=\"1\"><name>Ann</name><o id=\"10\"/><o id=\"11\"/></c><c id=\"2\"><name>bob</name><o id=\"12\"/></c>",
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, 'a<' AS [e!1] FOR XML EXPLICIT",
            "<e>a&lt;</e>",
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, '<b/>' AS [e!1!!xml], 'x]]>y' AS [e!1!!cdata], 3 AS [e!1!n], 4 AS [e!1!h!hide] \
             FOR XML EXPLICIT",
            "<e n=\"3\"><b/><![CDATA[x]]]><![CDATA[]>y]]></e>",
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, CAST(NULL AS int) AS [e!1!a!elementxsinil], CAST(NULL AS int) AS [e!1!b!element] \
             FOR XML EXPLICIT, ROOT('r')",
            "<r xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><e><a xsi:nil=\"true\"/></e></r>",
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, 1 AS [e!1!a] UNION ALL SELECT 1, 0, 1 FOR XML EXPLICIT, TYPE",
            "<e a=\"1\"/><e a=\"1\"/>",
        ),
    ] {
        assert_eq!(session.rows(rows), xml, "{rows}");
    }
}

#[test]
fn for_xml_explicit_refuses_what_is_no_universal_table() {
    let session = shop();
    for (rows, number) in [
        ("SELECT 1 AS [e!1!a] FOR XML EXPLICIT", 6801),
        ("SELECT 1 AS Tag, 0 AS Parent, 1 AS a FOR XML EXPLICIT", 6802),
        ("SELECT 'a' AS Tag, 0 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT", 6803),
        (
            "SELECT CAST(NULL AS int) AS Tag, 0 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT",
            6803,
        ),
        ("SELECT 1 AS Tag, -1 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT", 6804),
        ("SELECT 1 AS Tag, 'a' AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT", 6804),
        ("SELECT 1 AS Tag, 1 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT", 6833),
        (
            "SELECT 1 AS Tag, 0 AS Parent, 1 AS [e!1!a] UNION ALL SELECT 1, 1, 1 FOR XML EXPLICIT",
            6805,
        ),
        ("SELECT 2 AS Tag, 0 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT", 6806),
        ("SELECT 1 AS Tag, 2 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT", 6807),
        (
            "SELECT 1 AS Tag, 0 AS Parent, 1 AS [e!1!a], 2 AS [f!1!a] FOR XML EXPLICIT",
            6812,
        ),
        ("SELECT 1 AS T, 0 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT", 6820),
        ("SELECT 1 AS Tag, 0 AS P, 1 AS [e!1!a] FOR XML EXPLICIT", 6820),
        (
            "SELECT 1 AS Tag, 0 AS Parent, 1 AS [e!1!a] FOR XML EXPLICIT, ELEMENTS",
            6825,
        ),
        ("SELECT 1 AS Tag, 0 AS Parent, 0x41 AS [e!1!a] FOR XML EXPLICIT", 6829),
        (
            "SELECT 1 AS Tag, 0 AS Parent, 1 AS [e!1!a!xmltext] FOR XML EXPLICIT",
            6828,
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, '<a/>' AS [e!1!!xmltext], '<a/>' AS [e!1!b!xmltext] FOR XML EXPLICIT",
            6827,
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, '<a>' AS [e!1!!xmltext] FOR XML EXPLICIT",
            6834,
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, CAST('<a/>' AS xml) AS [e!1!!cdata] FOR XML EXPLICIT",
            6843,
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, CAST('<a/>' AS xml) AS [e!1!!xmltext] FOR XML EXPLICIT",
            40510,
        ),
        (
            "SELECT 1 AS Tag, 0 AS Parent, '<a' AS [e!1!!xml] FOR XML EXPLICIT, TYPE",
            9410,
        ),
    ] {
        assert_eq!(session.number(rows), number, "{rows}");
    }
}

#[test]
fn control_characters_are_references() {
    let session = Session::new("CREATE TABLE unused (a int)");
    assert_eq!(
        session.rows("SELECT CHAR(1) + CHAR(13) + CHAR(9) + CHAR(31) AS a FOR XML PATH"),
        "<row><a>&#x01;&#x0D;\t&#x1F;</a></row>"
    );
    assert_eq!(
        session.rows("SELECT CHAR(2) + CHAR(9) AS a FOR XML RAW"),
        "<row a=\"&#x02;&#x09;\"/>"
    );
    assert_eq!(session.number("SELECT CHAR(1) AS a FOR XML PATH, TYPE"), 6841);
    assert_eq!(
        session.rows("SELECT NCHAR(65534) AS a FOR XML PATH"),
        "<row><a>&#xFFFE;</a></row>"
    );
    let (number, text) = session.fault("SELECT NCHAR(65535) AS a FOR XML PATH, TYPE");
    assert!(number == 6841 && text.contains("(0xFFFF)"), "{number}: {text}");
    assert_eq!(
        session.rows("SELECT '&#x01;' AS [comment()], CONVERT(xml, '<a> </a>', 1) AS b FOR XML PATH, TYPE"),
        "<row><!--&#x01;--><b><a>&#x20;</a></b></row>"
    );
    assert_eq!(
        session.rows("SELECT CHAR(13) + '&#x01;' AS a FOR XML PATH, TYPE"),
        "<row><a>&#x0D;&amp;#x01;</a></row>"
    );
}

#[test]
fn typed_xml_of_no_rows_is_null_and_a_text_of_none_is_no_row() {
    let session = shop();
    let answer = session.answer("SELECT id FROM customer WHERE id = 9 FOR XML PATH, TYPE");
    assert_eq!(
        (answer.columns, answer.rows),
        (vec![" xml null".to_owned()], vec!["NULL".to_owned()])
    );
    let answer = session.answer("SELECT id FROM customer WHERE id < 3 ORDER BY id FOR XML RAW, TYPE, ROOT('r')");
    assert_eq!(answer.columns, [" xml null"]);
    assert_eq!(answer.rows, ["<r><row id=\"1\"/><row id=\"2\"/></r>"]);
    assert_eq!(session.rows("SELECT id FROM customer WHERE id = 9 FOR XML PATH"), "");
    assert_eq!(
        session.rows("SELECT (SELECT id FROM customer WHERE id = 9 FOR XML PATH, TYPE) AS x"),
        "NULL"
    );
    assert_eq!(
        session.rows("SELECT x FROM (SELECT id FROM customer WHERE id = 9 FOR XML PATH, TYPE) AS d (x)"),
        "NULL"
    );
    assert_eq!(
        session
            .rows("SELECT 1 AS Tag, NULL AS Parent, id AS [e!1!a] FROM customer WHERE id = 9 FOR XML EXPLICIT, TYPE"),
        "NULL"
    );
}

#[test]
fn attributes_of_several_elements_may_have_one_name() {
    let session = shop();
    for (rows, xml) in [
        (
            "SELECT 1 AS [@a], 2 AS [b/@a], 3 AS [c/@a], 4 AS [c/d/@a] FOR XML PATH",
            "<row a=\"1\"><b a=\"2\"/><c a=\"3\"><d a=\"4\"/></c></row>",
        ),
        (
            "SELECT 1 AS [b/@a], 2 AS c, 3 AS [b/@a] FOR XML PATH",
            "<row><b a=\"1\"/><c>2</c><b a=\"3\"/></row>",
        ),
        ("SELECT 1 AS a, 2 AS A FOR XML RAW", "<row a=\"1\" A=\"2\"/>"),
        (
            "SELECT 1 AS a, 2 AS a FOR XML RAW, ELEMENTS",
            "<row><a>1</a><a>2</a></row>",
        ),
        (
            "SELECT 1 AS a, CAST('<b/>' AS xml) AS a FOR XML RAW",
            "<row a=\"1\"><a><b/></a></row>",
        ),
        (
            "SELECT c.id, o.id FROM customer c JOIN orders o ON o.customer = c.id WHERE o.id = 10 FOR XML AUTO",
            "<c id=\"1\"><o id=\"10\"/></c>",
        ),
    ] {
        assert_eq!(session.rows(rows), xml, "{rows}");
    }
}

#[test]
fn comments_and_instructions_of_null_are_nothing() {
    let session = shop();
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    for (name, content) in [
        ("a/comment()", "/>"),
        ("a/processing-instruction(p)", "/>"),
        ("a/text()", "><a xsi:nil=\"true\"/></r>"),
        ("a/node()", "><a xsi:nil=\"true\"/></r>"),
    ] {
        let rows = format!("SELECT CAST(NULL AS varchar(5)) AS [{name}] FOR XML PATH('r'), ELEMENTS XSINIL");
        assert_eq!(session.rows(&rows), format!("<r {xsi}{content}"), "{name}");
    }
}

#[test]
fn xmltext_has_the_attributes_and_the_content_of_its_element() {
    let session = shop();
    let explicit = |columns: &str| format!("SELECT 1 AS Tag, NULL AS Parent, {columns} FOR XML EXPLICIT");
    for (columns, xml) in [
        (
            "1 AS [e!1!a], '<o x=\"1\">t</o>' AS [e!1!!xmltext]",
            "<e a=\"1\" x=\"1\">t</e>",
        ),
        (
            "1 AS [e!1!a], '<o x=\"1\">t</o>' AS [e!1!v!xmltext]",
            "<e a=\"1\"><v x=\"1\">t</v></e>",
        ),
        ("'<o/>' AS [e!1!v!xmltext]", "<e><v/></e>"),
        (
            "CAST(NULL AS int) AS [e!1!a], 'Joe' AS [e!1!n!element], '<o a=\"9\" b=\"2\"><k/></o>' AS [e!1!!xmltext]",
            "<e b=\"2\"><k/><n>Joe</n></e>",
        ),
        ("1 AS [e!1!a], '<o a=\"9\"/>' AS [e!1!!xmltext]", "<e a=\"1\"></e>"),
        (
            "1 AS [e!1!a], CAST(NULL AS varchar(9)) AS [e!1!!xmltext]",
            "<e a=\"1\"/>",
        ),
        (
            "'<o  p = ''a&amp;b>'' >  <k  ></k>  </o>' AS [e!1!!xmltext]",
            "<e p=\"a&amp;b>\">  <k  ></k>  </e>",
        ),
        ("'<a/><b/>' AS [e!1!!xmltext]", "<e></e>"),
        ("'<a/>' AS [e!1!!xmltext!hide], 2 AS [e!1!b]", "<e b=\"2\"/>"),
    ] {
        assert_eq!(session.rows(&explicit(columns)), xml, "{columns}");
    }
}

#[test]
fn columns_of_xml_in_explicit_are_content_of_no_namespace() {
    let session = shop();
    let explicit = |columns: &str| format!("SELECT 1 AS Tag, NULL AS Parent, {columns} FOR XML EXPLICIT");
    for (columns, xml) in [
        (
            "CAST('<b>x</b>' AS xml) AS [e!1!a]",
            "<e><a><b xmlns=\"\">x</b></a></e>",
        ),
        (
            "(SELECT 9 AS [@v] FOR XML PATH('i'), TYPE) AS [e!1!a]",
            "<e><a><i v=\"9\" xmlns=\"\"/></a></e>",
        ),
        (
            "CAST('<p:b xmlns:p=\"u\"><c/></p:b><d xmlns=\"v\"/>t' AS xml) AS [e!1!a!element], 1 AS [e!1!n]",
            "<e n=\"1\"><a><p:b xmlns:p=\"u\"><c/></p:b><d xmlns=\"v\"/>t</a></e>",
        ),
        ("CAST('<b/>' AS xml) AS [e!1]", "<e><b xmlns=\"\"/></e>"),
        ("CAST(NULL AS xml) AS [e!1!a]", "<e/>"),
        (
            "CAST('<b/>' AS xml) AS [e!1!a!cdata!hide], 1 AS [e!1!n]",
            "<e n=\"1\"/>",
        ),
    ] {
        assert_eq!(session.rows(&explicit(columns)), xml, "{columns}");
    }
}
