use selenite_types::XmlDocument;

use super::*;

/// The texts of the items of a query, separated by commas.
fn found(document: &str, query: &str) -> String {
    let document = XmlDocument::parse(document).unwrap();
    let query = XmlQuery::parse(query, "query").unwrap();
    let mut evaluation = Evaluation {
        document: &document,
        externals: Vec::new(),
        step: &mut |_| Ok(()),
    };
    let items = evaluation.items(&query.root, &Item::Node(document.root())).unwrap();
    let texts: Vec<String> = items.iter().map(|item| item.text(&document)).collect();
    texts.join(",")
}

const DOCUMENT: &str = "<r><a n=\"1\"><b>x</b><b>y</b></a><a n=\"2\"><b>z</b></a><c xmlns=\"u\"><d>w</d></c></r>";

#[test]
fn a_path_selects_nodes_in_document_order() {
    for (query, expected) in [
        ("/r/a/b", "x,y,z"),
        ("/r/a/b[1]", "x,z"),
        ("(/r/a/b)[1]", "x"),
        ("/r/a[2]/b", "z"),
        ("/r/a[last()]/@n", "2"),
        ("//b[. = \"y\"]", "y"),
        ("//b/../@n", "1,2"),
        ("//@n", "1,2"),
        ("/r/a[@n > 1]/b", "z"),
        ("/r/a[@n = \"1\" or b = \"z\"]/@n", "1,2"),
        ("/r/a[b/text() = \"y\"]/b[position() = 2]", "y"),
        ("/r/*[local-name() = \"c\"]", "w"),
        ("/r/c", ""),
        ("/r/*:c/*:d", "w"),
        ("declare default element namespace \"u\"; //d", "w"),
        ("declare namespace p=\"u\"; /r/p:c/p:d/text()", "w"),
        ("count(//b), sum(//@n)", "3,3"),
        ("/r/child::a/attribute::n", "1,2"),
        ("/r/descendant::b", "x,y,z"),
        ("(: a comment :) /r/a[not(b = \"x\")]/@n", "2"),
        ("string(/r/a[1])", "xy"),
        ("//b[\"a\"\"b\"]", "x,y,z"),
        ("1.5, \"a&lt;b\"", "1.5,a<b"),
        ("()", ""),
        ("", ""),
    ] {
        assert_eq!(found(DOCUMENT, query), expected, "{query}");
    }
}

#[test]
fn what_is_no_path_is_refused() {
    for (number, query) in [
        (2209, "/r["),
        (2209, "/r/"),
        (2209, "a b"),
        (2209, "\"a"),
        (2209, "count()"),
        (2229, "p:a"),
        (40510, "for $a in /r return $a"),
        (40510, "<a/>"),
        (40510, "$a"),
        (40510, "a + 1"),
        (40510, "if (a) then b else c"),
        (40510, "unknown(a)"),
        (40510, "a/following-sibling::b"),
        (40510, "a | b"),
    ] {
        assert_eq!(XmlQuery::parse(query, "query").unwrap_err().number(), number, "{query}");
    }
    assert_eq!(
        XmlQuery::parse(&"(".repeat(100_000), "query").unwrap_err().number(),
        40510
    );
    assert_eq!(
        XmlQuery::parse(&"a[".repeat(100_000), "query").unwrap_err().number(),
        40510
    );
}

#[test]
fn whether_there_is_one_item_is_known_before() {
    for (query, expected) in [
        (".", true),
        ("@a", true),
        ("a[1]", true),
        ("(a/b)[1]", true),
        ("a[1]/@b", true),
        ("..", true),
        ("count(a)", true),
        ("\"a\"", true),
        ("a[last()]", true),
        ("a", false),
        ("@*", false),
        ("//a", false),
        ("a[@b = 1]", false),
        ("a/b[1]", false),
        ("text()", false),
        ("(a)", false),
    ] {
        assert_eq!(
            XmlQuery::parse(query, "value").unwrap().root.is_single(),
            expected,
            "{query}"
        );
    }
}

#[test]
fn any_cut_of_a_query_is_a_query_or_an_error() {
    let whole = "declare namespace p=\"u\"; (/r/p:a[@b = sql:variable(\"@x\")]//c/text())[last()]";
    for at in 0..whole.len() {
        let _ = XmlQuery::parse(&whole[..at], "query");
        let _ = XmlQuery::parse(&whole[at..], "query");
    }
}

#[test]
fn the_texts_that_functions_make_are_counted() {
    let document = XmlDocument::parse("<r>1234567890</r>").unwrap();
    let query = XmlQuery::parse("concat(string(/r), string(/r), upper-case(/r))", "query").unwrap();
    let mut made = 0;
    let mut evaluation = Evaluation {
        document: &document,
        externals: Vec::new(),
        step: &mut |size| {
            made += size;
            Ok(())
        },
    };
    evaluation.items(&query.root, &Item::Node(document.root())).unwrap();
    assert_eq!(made, 60);
}
