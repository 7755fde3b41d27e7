use selenite_types::XmlDocument;

use super::*;

/// The texts of the items of a query, separated by commas.
fn found(document: &str, query: &str) -> String {
    let document = XmlDocument::parse(document).unwrap();
    let query = XmlQuery::parse(query, "query").unwrap();
    let (mut work, mut reserve) = (|_| Ok(()), |_| Ok(()));
    let mut evaluation = Evaluation::new(
        ItemReader::new(&document, &mut work, &mut reserve),
        Vec::new(),
        &query.prolog,
    );
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
        ("string((/r/a)[1])", "xy"),
        ("//b[\"a\"\"b\" = \"a\"\"b\"]", "x,y,z"),
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
        (2236, "count()"),
        (2238, "count(a, b)"),
        (2371, "last()"),
        (2389, "contains(/r/a, \"x\")"),
        (2389, "/r/a + 1"),
        (2389, "/r/a eq 1"),
        (2389, "for $a in /r/a order by $a/b return $a"),
        (2203, "/r/a[\"x\"]"),
        (2204, "if (1) then 2 else 3"),
        (2210, "(1, /r/a)"),
        (2227, "$a"),
        (2234, "1 = \"a\""),
        (2234, "string(/r[1]) eq 1"),
        (2234, "/r[(a = 1) = \"true\"]"),
        (9308, "\"a\" + 1"),
        (9308, "sum((\"a\", \"b\"))"),
        (9308, "avg(true())"),
        (9308, "sum((1, \"a\"))"),
        (40510, "max((1, \"a\"))"),
        (2374, "number(\"1\")"),
        (2374, "number(sql:variable(\"@x\"))"),
        (2364, "concat(1, \"a\")"),
        (2364, "contains(\"a\", 1 = 1)"),
        (2364, "upper-case(1)"),
        (2364, "string-length(count(a))"),
        (2364, "substring(1, 2)"),
        (2364, "substring(\"a\", \"b\")"),
        (2234, "data(\"a\") = 1"),
        (2373, "<a/>/b"),
        (2373, "count(<a/>)"),
        (2373, "let $a := <a/> return $a"),
        (2373, "<a/> = 1"),
        (2205, "for $a /r return $a"),
        (9332, "for $a in /r $a"),
        (9303, "if (/r) then 1"),
        (9313, "<a b=\"x{1}\"/>"),
        (9322, "<!--a--b-->"),
        (2209, "<a></b>"),
        (2209, "<a>"),
        (2229, "<p:a/>"),
        (2282, "<a>&none;</a>"),
        (2282, "\"& a\""),
        (2282, "\"&none;\" = \"a\""),
        (2283, "\"&amp a;\""),
        (2285, "concat(\"&#xg;\", \"a\")"),
        (40510, "(1, \"a\") = \"1\""),
        (2342, "12345678901234567890123456789"),
        (2229, "p:a"),
        (40510, "for $a at $b in /r return $a"),
        (40510, "a cast as xs:int?"),
        (40510, "a[1] idiv 2"),
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
    let mut evaluation = Evaluation::new(
        ItemReader::new(&document, &mut work, &mut reserve),
        Vec::new(),
        &query.prolog,
    );
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
        (format!("for $a in ({dots}), $b in ({dots}) return 1"), 2_500),
        (format!("for $a in ({dots}) order by string($a) return 1"), 5_000_000),
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
        ("sum((0.1, 0.2))", "0.3"),
        ("avg((1, 2, 2))", "1.6666666666"),
        ("min(/r/b)", ""),
        ("avg(/r/b)", ""),
        ("sum(/r/b)", "0"),
        ("number((/r/a)[3])", ""),
        ("number((/r/a)[1])", "1"),
        ("number((/r/none)[1])", ""),
        ("\"&#65;&#x42;&amp;lt;\"", "AB&lt;"),
    ] {
        assert_eq!(found(document, query), expected, "{query}");
    }
}

#[test]
fn least_and_greatest_values_have_the_type_of_their_sequence() {
    let document = "<r><a>10</a><a>9</a><a>x</a></r>";
    for (query, expected) in [
        ("min(/r/a), max(/r/a), max(data(/r/a))", "9,10,10"),
        ("min((\"b\", \"B\", \"a\")), max((\"10\", \"9\"))", "B,9"),
        ("max(for $a in /r/a return string($a))", "x"),
        ("min((true(), false())), max((1 = 1, 1 = 2))", "false,true"),
        ("max((1, 2.5, 1e0))", "2.5"),
        ("max(data((\"a\", \"b\"))), max(distinct-values((\"a\", \"b\")))", "b,b"),
        ("max((\"a\", \"b\")) = \"b\"", "true"),
        ("max(()), min(for $a in () return string($a))", ""),
    ] {
        assert_eq!(found(document, query), expected, "{query}");
    }
}

#[test]
fn what_has_no_type_is_a_boolean_beside_one() {
    let document = "<r><a>1</a><a>false</a><a> true </a><a>yes</a></r>";
    for (query, expected) in [
        ("count(/r/a[. = true()])", "2"),
        ("count(/r/a[. = (1 = 2)])", "1"),
        ("count(/r/a[. != true()])", "1"),
        ("count(/r/a[. < true()])", "1"),
        ("count(/r/a[true() >= .])", "3"),
        ("(/r/a)[4] = true(), (/r/a)[4] != true()", "false,false"),
    ] {
        assert_eq!(found(document, query), expected, "{query}");
    }
}

#[test]
fn characters_are_counted_whatever_their_size() {
    let document = "<r>a\u{1f600}b</r>";
    for (query, expected) in [
        ("string-length((/r)[1])", "3"),
        ("substring(string((/r)[1]), 2, 1)", "\u{1f600}"),
        ("substring(string((/r)[1]), 3)", "b"),
        ("substring(string((/r)[1]), (/r)[1])", ""),
        ("string-length(\"&#x1F600;\")", "1"),
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

/// What query() would write.
fn written(document: &str, query: &str) -> String {
    let document = XmlDocument::parse(document).unwrap();
    let query = XmlQuery::parse(query, "query").unwrap();
    let (mut work, mut reserve) = (|_| Ok(()), |_| Ok(()));
    let mut evaluation = Evaluation::new(
        ItemReader::new(&document, &mut work, &mut reserve),
        Vec::new(),
        &query.prolog,
    );
    let items = evaluation.items(&query.root, &Item::Node(document.root())).unwrap();
    let texts = items.iter().map(|item| match item {
        Item::Made(node) => match &**node {
            MadeNode::Xml(xml) => xml.clone(),
            MadeNode::Text(text) => text.clone(),
            MadeNode::Attribute(_) | MadeNode::Fragment(_) => String::new(),
        },
        Item::Node(_) | Item::Attribute(..) | Item::Text(_) | Item::Number(_) | Item::Boolean(_) => {
            item.text(&document)
        }
    });
    texts.collect::<Vec<_>>().join("|")
}

#[test]
fn arithmetic_has_the_types_of_its_operands() {
    for (query, expected) in [
        ("1 + 2 * 3", "7"),
        ("10 div 4", "2.5"),
        ("2 div 3", "0.666666"),
        ("7 mod 3, -7 mod 3", "1,-1"),
        ("- - 2, -(1 + 1)", "2,-2"),
        ("0.1 + 0.2", "0.3"),
        ("(/r/a/@n)[1] + 1", "2"),
        ("1 div 0", ""),
        ("(/r/none)[1] + 1", ""),
        ("(/r/a/b)[1] + 1", ""),
        ("1e3 + 1", "1001"),
        ("/r/a[@n = 3 - 1]/b", "z"),
        (
            "substring(\"12345\", 2), substring(\"12345\", 1.5, 2.6), substring(\"12345\", 0, 3)",
            "2345,234,12",
        ),
        ("floor(1.5), ceiling(1.5), round(2.5), round(-2.5)", "1,2,3,-2"),
        ("distinct-values((1, 2, 1))", "1,2"),
    ] {
        assert_eq!(found(DOCUMENT, query), expected, "{query}");
    }
}

#[test]
fn variables_are_bound_ordered_and_filtered() {
    for (query, expected) in [
        ("for $a in /r/a return string($a/@n)", "1,2"),
        (
            "for $a in /r/a, $b in $a/b return concat(string($a/@n), string($b))",
            "1x,1y,2z",
        ),
        ("for $b in //b order by $b descending return $b", "z,y,x"),
        ("for $n in (2, 10, 1) order by $n return $n", "1,2,10"),
        (
            "for $n in (2, 10, 1) where $n > 1 order by $n descending return $n",
            "10,2",
        ),
        ("for $a in /r/a let $n := count($a/b) where $n = 2 return $n", "2"),
        ("for $a in /r/* order by $a/@n return local-name($a)", "c,a,a"),
        ("for $a in (1, 2) return for $b in (3, 4) return $a * $b", "3,4,6,8"),
        ("some $b in //b satisfies $b = \"z\"", "true"),
        ("every $b in //b satisfies $b = \"z\"", "false"),
        (
            "some $b in () satisfies $b = 1, every $b in () satisfies $b = 1",
            "false,true",
        ),
        ("if (/r/a) then \"a\" else \"b\"", "a"),
        ("if (/r/none) then 1 else if (1 = 1) then 2 else 3", "2"),
    ] {
        assert_eq!(found(DOCUMENT, query), expected, "{query}");
    }
}

#[test]
fn constructors_make_nodes() {
    for (query, expected) in [
        ("<x/>", "<x/>"),
        ("<x a=\"1\" b='{/r/a/@n}'>t</x>", "<x a=\"1\" b=\"1 2\">t</x>"),
        ("<x>{/r/a[1]/b}</x>", "<x><b>x</b><b>y</b></x>"),
        ("<x>{1}  {2}</x>", "<x>12</x>"),
        ("<x>{1, 2}</x>", "<x>1 2</x>"),
        ("<x>  y  {1}</x>", "<x>  y  1</x>"),
        ("<x>{{}}&lt;<![CDATA[<&]]></x>", "<x>{}&lt;&lt;&amp;</x>"),
        ("<x>{/r/a/@n[. = 1]}</x>", "<x n=\"1\"/>"),
        (
            "<x a=\"1\">{attribute b {\"2\"}, text {\"t\"}}</x>",
            "<x a=\"1\" b=\"2\">t</x>",
        ),
        ("for $b in //b return <i>{string($b)}</i>", "<i>x</i>|<i>y</i>|<i>z</i>"),
        ("<o><i><!--c--><?p d?></i></o>", "<o><i><!--c--><?p d?></i></o>"),
        ("element e {attribute a {1}, text {2}}", "<e a=\"1\">2</e>"),
        ("text {\"a\"}", "a"),
        (
            "declare namespace p=\"u\"; <p:x>{<p:y/>}</p:x>",
            "<p:x xmlns:p=\"u\"><p:y/></p:x>",
        ),
        ("declare default element namespace \"d\"; <x/>", "<x xmlns=\"d\"/>"),
        (
            "<x xmlns=\"v\">{/*:r/*:a[2]/*:b}</x>",
            "<x xmlns=\"v\"><b xmlns=\"\">z</b></x>",
        ),
        ("<x>{/r/*:c}</x>", "<x><c xmlns=\"u\"><d>w</d></c></x>"),
        ("<x xmlns=\"u\">{/*:r/*:c/*:d}</x>", "<x xmlns=\"u\"><d>w</d></x>"),
        (
            "<x>{/r/*:c/*:d}</x>, <y>{/r/*:c/*:d}</y>",
            "<x><p1:d xmlns:p1=\"u\">w</p1:d></x>|<y><p2:d xmlns:p2=\"u\">w</p2:d></y>",
        ),
        (
            "declare namespace q=\"u\"; <x>{/r/*:c/*:d}</x>",
            "<x><q:d xmlns:q=\"u\">w</q:d></x>",
        ),
        ("let $n := 2 return <x>{$n + 1}</x>", "<x>3</x>"),
        ("if (<a/>) then <b/> else ()", "<b/>"),
    ] {
        assert_eq!(written(DOCUMENT, query), expected, "{query}");
    }
}

#[test]
fn attributes_of_constructors_are_checked() {
    let document = XmlDocument::parse("<r a=\"1\"/>").unwrap();
    for (query, number) in [
        ("<x a=\"1\">{/r/@a}</x>", 6308),
        ("<x><y/>{/r/@a}</x>", 6307),
        ("<x a=\"1\" a=\"2\"/>", 6308),
        ("<x xmlns:p=\"u\" xmlns:q=\"u\" p:a=\"1\" q:a=\"2\"/>", 6308),
    ] {
        let query = XmlQuery::parse(query, "query").unwrap();
        let (mut work, mut reserve) = (|_| Ok(()), |_| Ok(()));
        let mut evaluation = Evaluation::new(
            ItemReader::new(&document, &mut work, &mut reserve),
            Vec::new(),
            &query.prolog,
        );
        let error = evaluation.items(&query.root, &Item::Node(document.root())).unwrap_err();
        assert_eq!(error.number(), number);
    }
}

#[test]
fn nested_constructors_variables_and_conditions_are_bounded() {
    for query in [
        "<a>".repeat(100_000),
        "<a>{".repeat(100_000),
        "if (".repeat(100_000),
        format!("for {} return 1", vec!["$a in (1, 2)"; 100_000].join(", ")),
        "let $a := 1 ".repeat(100_000),
        "some $a in ".repeat(100_000),
        "text {".repeat(100_000),
    ] {
        assert_eq!(
            XmlQuery::parse(&query, "query").unwrap_err().number(),
            40510,
            "{}",
            &query[..20]
        );
    }
    let long = format!("1{}", " + 1".repeat(100_000));
    assert_eq!(found("<r/>", &long), "100001");
    let long = format!("{}1", "-".repeat(100_001));
    assert_eq!(found("<r/>", &long), "-1");
    let many = format!("count((1, {}))", vec!["2"; 100_000].join(", "));
    assert_eq!(found("<r/>", &many), "100001");
}

#[test]
fn many_constructors_are_parsed_once() {
    let many = format!("({}<a/>)", "<a>'(:</a>, ".repeat(100_000));
    assert!(XmlQuery::parse(&many, "query").is_ok());
}

#[test]
fn memory_of_what_is_made_is_requested() {
    let text = format!("<r>{}</r>", "x".repeat(100_000));
    for query in [
        format!("({})", vec!["<a>{/r}</a>"; 50].join(", ")),
        format!("<a>{}</a>", "{string(.)}".repeat(50)),
        format!("let $a := ({}) return 1", vec!["string(.)"; 50].join(", ")),
    ] {
        let (steps, most) = costs(&text, &query);
        assert!(most >= 5_000_000 && steps >= 5_000_000, "{query}: {most} {steps}");
    }
}

/// A document with a change, or the number of an error.
fn changed(document: &str, change: &str) -> Result<String, i32> {
    let parsed = XmlDocument::parse(document).unwrap();
    let change = XmlChange::parse(change).map_err(|error| error.number())?;
    let (mut work, mut reserve) = (|_| Ok(()), |_| Ok(()));
    let mut evaluation = Evaluation::new(
        ItemReader::new(&parsed, &mut work, &mut reserve),
        Vec::new(),
        &change.prolog,
    );
    let changed = evaluation.changed(&change).map_err(|error| error.number())?;
    Ok(changed.unwrap_or_else(|| document.to_owned()))
}

#[test]
fn changes_are_made() {
    let document = "<r><a n=\"1\" o=\"2\">x</a><a>y<b/></a></r>";
    for (change, expected) in [
        (
            "insert <c/> into (/r)[1]",
            "<r><a n=\"1\" o=\"2\">x</a><a>y<b/></a><c/></r>",
        ),
        (
            "insert <c/> as last into (/r/a)[1]",
            "<r><a n=\"1\" o=\"2\">x<c/></a><a>y<b/></a></r>",
        ),
        (
            "insert (<c/>, <d/>) as first into (/r)[1]",
            "<r><c/><d/><a n=\"1\" o=\"2\">x</a><a>y<b/></a></r>",
        ),
        (
            "insert <c/> before (/r/a)[2]",
            "<r><a n=\"1\" o=\"2\">x</a><c/><a>y<b/></a></r>",
        ),
        (
            "insert <c>{count(/r/a)}</c> after (/r/a/b)[1]",
            "<r><a n=\"1\" o=\"2\">x</a><a>y<b/><c>2</c></a></r>",
        ),
        (
            "insert attribute p {\"3\"} into (/r/a)[1]",
            "<r><a n=\"1\" p=\"3\" o=\"2\">x</a><a>y<b/></a></r>",
        ),
        (
            "insert text {\"t\"} into (/r/a/b)[1]",
            "<r><a n=\"1\" o=\"2\">x</a><a>y<b>t</b></a></r>",
        ),
        (
            "insert (/r/a/b)[1] into (/r/a)[1]",
            "<r><a n=\"1\" o=\"2\">x<b/></a><a>y<b/></a></r>",
        ),
        (
            "insert <c/> after (/r)[1]",
            "<r><a n=\"1\" o=\"2\">x</a><a>y<b/></a></r><c/>",
        ),
        ("insert <c/> into (/none)[1]", document),
        ("delete /r/a[1]", "<r><a>y<b/></a></r>"),
        ("delete /r/a", "<r/>"),
        ("delete (/r/a/@n, //b)", "<r><a o=\"2\">x</a><a>y</a></r>"),
        ("delete /r/a/text()", "<r><a n=\"1\" o=\"2\"/><a><b/></a></r>"),
        ("delete /r", ""),
        (
            "replace value of (/r/a/text())[1] with \"z<\"",
            "<r><a n=\"1\" o=\"2\">z&lt;</a><a>y<b/></a></r>",
        ),
        (
            "replace value of (/r/a/@n)[1] with (1 + 4, 6)",
            "<r><a n=\"5 6\" o=\"2\">x</a><a>y<b/></a></r>",
        ),
        (
            "replace value of (/r/a/text())[1] with ()",
            "<r><a n=\"1\" o=\"2\"/><a>y<b/></a></r>",
        ),
        ("replace value of (/r/none/text())[1] with 1", document),
        (
            "replace value of (/r/a/text())[2] with (if (/r/a/@n = 1) then \"p\" else \"q\")",
            "<r><a n=\"1\" o=\"2\">x</a><a>p<b/></a></r>",
        ),
    ] {
        assert_eq!(changed(document, change).as_deref(), Ok(expected), "{change}");
    }
}

#[test]
fn what_is_inserted_declares_the_namespaces_that_its_place_does_not() {
    let named = "<r xmlns=\"d\" xmlns:p=\"u\"/>";
    for (change, expected) in [
        (
            "insert <b/> into (/*)[1]",
            "<r xmlns=\"d\" xmlns:p=\"u\"><b xmlns=\"\"/></r>",
        ),
        (
            "declare default element namespace \"d\"; insert <b/> into (/r)[1]",
            "<r xmlns=\"d\" xmlns:p=\"u\"><b/></r>",
        ),
        (
            "declare namespace p=\"u\"; insert <p:b/> into (/*)[1]",
            "<r xmlns=\"d\" xmlns:p=\"u\"><p:b/></r>",
        ),
        (
            "declare namespace q=\"v\"; insert <q:b/> into (/*)[1]",
            "<r xmlns=\"d\" xmlns:p=\"u\"><q:b xmlns:q=\"v\"/></r>",
        ),
    ] {
        assert_eq!(changed(named, change).as_deref(), Ok(expected), "{change}");
    }
}

#[test]
fn an_attribute_is_inserted_once_and_changes_no_other_name() {
    let named = "<r xmlns:p=\"u\"><a p:b=\"1\"><p:c/></a></r>";
    let declared = |prefix: &str, namespace: &str, name: &str| {
        format!("declare namespace {prefix}=\"{namespace}\"; insert attribute {name} {{2}} into (/r/a)[1]")
    };
    for (change, expected) in [
        (declared("q", "u", "q:b"), Err(6308)),
        (declared("p", "u", "p:b"), Err(6308)),
        (declared("p", "v", "p:b"), Err(40510)),
        (
            declared("q", "v", "q:b"),
            Ok("<r xmlns:p=\"u\"><a p:b=\"1\" xmlns:q=\"v\" q:b=\"2\"><p:c/></a></r>"),
        ),
        (
            declared("q", "u", "q:d"),
            Ok("<r xmlns:p=\"u\"><a p:b=\"1\" xmlns:q=\"u\" q:d=\"2\"><p:c/></a></r>"),
        ),
    ] {
        assert_eq!(changed(named, &change), expected.map(str::to_owned), "{change}");
    }
}

#[test]
fn changes_of_what_can_not_be_changed_are_refused() {
    let document = "<r><a n=\"1\">x</a><a/></r>";
    for (change, number) in [
        ("insert <c/> into /r/a", 2226),
        ("insert \"c\" into (/r)[1]", 2207),
        ("insert 1 into /r/a", 2226),
        ("insert attribute c {1} before (/r/a)[1]", 2258),
        ("insert <c/> into (/r/a/text())[1]", 2240),
        ("insert <c/> into (/r/a/@n)[1]", 2240),
        ("insert <c/> after (/r/a/@n)[1]", 2249),
        ("insert attribute n {2} into (/r/a)[1]", 6308),
        ("delete .", 2264),
        ("delete /", 2264),
        ("delete 1", 2264),
        ("replace value of /r/a/text() with 1", 2337),
        ("replace value of (/r/a)[1] with 1", 2356),
        ("replace value of (/r/a/text())[1] with <b/>", 9310),
        ("replace value of (/r/a/text())[1]", 2205),
        ("replace value of (/r/a/@n)[1] with ()", 6320),
        ("replace value of (/r/a/text())[1] with /none", 6325),
        ("/r", 6305),
        ("<a/>", 6305),
        ("", 6306),
        ("insert", 2209),
        ("insert <a/>", 2209),
        ("insert <a/> into (/r)[1] extra", 2209),
    ] {
        assert_eq!(changed(document, change), Err(number), "{change}");
    }
}

#[test]
fn any_cut_of_a_change_is_a_change_or_an_error() {
    let whole = "declare namespace p=\"u\"; insert <p:a b=\"{1 + 2}\">{for $x in /r/a order by $x return <c>{$x}</c>}&lt;<!--d--></p:a> \
                 as first into (/r)[1]";
    for at in 0..whole.len() {
        let _ = XmlChange::parse(&whole[..at]);
        let _ = XmlChange::parse(&whole[at..]);
        let _ = XmlQuery::parse(&whole[at..], "query");
    }
}
