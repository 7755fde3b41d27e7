use selenite_types::XmlDocument;

use super::*;

/// The texts of the items of a query, separated by commas.
fn found(document: &str, query: &str) -> String {
    let document = XmlDocument::parse(document).unwrap();
    let query = XmlQuery::parse(query, "query").unwrap();
    let (mut work, mut reserve) = (|_| Ok(()), |_| Ok(()));
    let mut evaluation = Evaluation {
        reader: ItemReader::new(&document, &mut work, &mut reserve),
        externals: Vec::new(),
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

/// The steps that a query takes, and the memory that it requests in all.
fn costs(document: &str, query: &str) -> (usize, usize) {
    let document = XmlDocument::parse(document).unwrap();
    let query = XmlQuery::parse(query, "query").unwrap();
    let (mut steps, mut most) = (0, 0);
    let mut work = |count| {
        steps += count;
        Ok(())
    };
    let mut reserve = |bytes: usize| {
        most = most.max(bytes);
        Ok(())
    };
    let mut evaluation = Evaluation {
        reader: ItemReader::new(&document, &mut work, &mut reserve),
        externals: Vec::new(),
    };
    evaluation.items(&query.root, &Item::Node(document.root())).unwrap();
    (steps, most)
}

#[test]
fn memory_of_texts_and_items_is_requested() {
    let text = format!("<r>{}</r>", "x".repeat(100_000));
    let dots = vec!["."; 50].join(", ");
    let (_, most) = costs(&text, &format!("string-length(concat({dots}))"));
    assert!(most >= 5_000_000, "{most}");
    let elements = format!("<r>{}</r>", "<a/>".repeat(10_000));
    let (_, most) = costs(&elements, &format!("count(({}))", vec!["/r/*"; 50].join(", ")));
    assert!(most >= 500_000 * size_of::<Item>(), "{most}");
    let (_, most) = costs(&text, &format!("data(({dots}))"));
    assert!(most >= 5_000_000, "{most}");
}

#[test]
fn memory_of_texts_that_are_gone_is_not_requested_again() {
    let elements = format!("<r>{}</r>", "<a>xxxxxxxxxx</a>".repeat(10_000));
    for query in [
        "/r/a[. = \"y\"]",
        "sum(/r/a)",
        "/r/a[contains(., \"y\")]",
        "/r/a[number(.) > 1]",
    ] {
        let (_, most) = costs(&elements, query);
        assert!(most < 5_000_000, "{query}: {most}");
    }
}

#[test]
fn the_bytes_that_are_looked_at_are_steps() {
    let text = format!("<r>{}</r>", "x".repeat(100_000));
    let dots = vec!["."; 50].join(", ");
    for (query, at_least) in [
        (format!("sum(({dots}))"), 5_000_000),
        (format!("(.)[({dots}) != ({dots})]"), 250_000_000),
        (format!("string-length(concat({dots}))"), 5_000_000),
    ] {
        let (steps, _) = costs(&text, &query);
        assert!(steps >= at_least, "{query}: {steps}");
    }
}

#[test]
fn what_is_no_number_has_no_part_in_a_sum() {
    let document = "<r><a>1</a><a>x</a><a>inf</a><a>3</a><a>INF</a><b/></r>";
    for (query, expected) in [
        ("sum(/r/a[. != \"INF\"])", "4"),
        ("avg(/r/a[. != \"INF\"])", "2"),
        ("min(/r/a)", "1"),
        ("max(/r/a[position() < 5])", "3"),
        ("max(/r/a) > 1000000000", "true"),
        ("min(/r/b)", ""),
        ("avg(/r/b)", ""),
        ("sum(/r/b)", "0"),
        ("number(/r/a[3])", "NaN"),
        ("number(\" 1e2 \")", "100"),
        ("\"&#65;&#x42;&amp;lt; & &amp\"", "AB&lt; & &amp"),
    ] {
        assert_eq!(found(document, query), expected, "{query}");
    }
}

#[test]
fn many_prefixes_are_found_at_once() {
    let mut query = String::new();
    for at in 0..50_000 {
        query.push_str(&format!("declare namespace p{at}=\"u{at}\";"));
    }
    query.push('.');
    for at in 0..50_000 {
        query.push_str(&format!("/p{at}:a"));
    }
    assert_eq!(found("<r/>", &query), "");
}
