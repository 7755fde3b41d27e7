use std::sync::Arc;

use super::*;

fn of(text: &str) -> String {
    normalized(text, false).unwrap()
}

fn fault(text: &str) -> (u16, String) {
    let error = normalized(text, false).unwrap_err();
    (error.number(), error.to_string())
}

fn written(document: &XmlDocument, id: XmlNodeId) -> String {
    let mut out = String::new();
    let done = XmlNodeWriter::new(document).write(id, &mut out, &mut |_| Ok::<(), ()>(()));
    assert_eq!(done, Ok(()));
    out
}

#[test]
fn a_value_has_one_form() {
    for (text, form) in [
        (
            "<?xml version='1.0'?><a  b='1'\n c = \"2\" ></a>",
            "<a b=\"1\" c=\"2\"/>",
        ),
        ("<a><![CDATA[<x> & ]]></a>", "<a>&lt;x&gt; &amp; </a>"),
        ("<a>&#65;&#x42;&quot;&apos;</a>", "<a>AB\"'</a>"),
        ("<a b='&quot;&#10;&#13;&#9;'/>", "<a b=\"&quot;&#x0A;&#x0D;&#x09;\"/>"),
        ("<a b='x\n\ty'/>", "<a b=\"x  y\"/>"),
        (" <a> \r\n <b> x </b> </a> ", "<a><b> x </b></a>"),
        ("<a>&#32;</a>", "<a>&#x20;</a>"),
        (
            "<a xml:space='preserve'> <b> </b></a>",
            "<a xml:space=\"preserve\">&#x20;<b>&#x20;</b></a>",
        ),
        ("x<a/>y&amp;z", "x<a/>y&amp;z"),
        ("", ""),
        ("<!-- c --><?p  q r?><a/>", "<!-- c --><?p q r?><a/>"),
        ("<p:a xmlns:p='u' p:b='1'/>", "<p:a xmlns:p=\"u\" p:b=\"1\"/>"),
        ("<a>\r\nx\ry</a>", "<a>\nx\ny</a>"),
        ("<a>&#13;</a>", "<a>&#x0D;</a>"),
    ] {
        assert_eq!(of(text), form, "{text}");
        assert_eq!(of(form), form, "the form of {text}");
    }
    assert_eq!(normalized("<a> <b/></a>", true).unwrap(), "<a>&#x20;<b/></a>");
}

#[test]
fn what_is_not_well_formed_is_refused_with_its_place() {
    for (number, text) in [
        (9400, "<a>"),
        (9400, "<a"),
        (9400, "<a b='1"),
        (9400, "<a><b></b>"),
        (9410, "<a b='1'c='2'/>"),
        (9411, "<a>&lt</a>"),
        (9413, "<a b=1/>"),
        (9414, "<a b/>"),
        (9415, "<a b='<'/>"),
        (9416, "<a>&#xg;</a>"),
        (9417, "<a>&#a;</a>"),
        (9420, "<a>\u{1}</a>"),
        (9420, "<a>&#1;</a>"),
        (9420, "<a>&#xD800;</a>"),
        (9420, "<a>&#x110000;</a>"),
        (9421, "<a>x & y</a>"),
        (9421, "<a b='x & y'/>"),
        (9422, "<!x>"),
        (9423, "<a><![CDATA[x"),
        (9436, "<a></b>"),
        (9437, "<a b='1' b='2'/>"),
        (9438, " <?xml version='1.0'?><a/>"),
        (9441, "<?xml?><a/>"),
        (9441, "<?xml version='1.0' x='1'?><a/>"),
        (9448, "<a>&copy;</a>"),
        (9455, "<1/>"),
        (9455, "<a>1 < 2</a>"),
        (9455, "<>"),
        (9455, "<a><</a>"),
        (9456, "<a:b:c/>"),
        (9459, "<p:a/>"),
        (9459, "<a p:b='1'/>"),
        (9460, "<a xmlns:p=''/>"),
        (9402, "<?xml version='1.0' encoding='utf-8'?><a/>"),
        (6359, "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
    ] {
        assert_eq!(fault(text).0, number, "{text}");
    }
    assert_eq!(
        fault("<a>\n <b></c></a>").1,
        "XML parsing: line 2, character 8, end tag does not match start tag"
    );
    assert_eq!(
        fault("<a>\n1 < 2</a>").1,
        "XML parsing: line 2, character 4, illegal qualified name character"
    );
}

#[test]
fn an_error_is_at_the_character_that_the_parser_stopped_on() {
    for (text, number, line, character) in [
        ("<a>", 9400, 1, 3),
        ("<a><b></a>", 9436, 1, 10),
        ("<a x=1/>", 9413, 1, 6),
        ("<a>&foo;</a>", 9448, 1, 8),
        ("</a>", 9455, 1, 2),
        ("  </a>", 9455, 1, 4),
        ("text</a>", 9436, 1, 8),
        ("<a><![CDATA[x</a>", 9423, 1, 17),
        ("<!-- x", 9424, 1, 6),
        ("<a/><?xml version=\"1.0\"?>", 9438, 1, 10),
        ("<a>&#0;</a>", 9420, 1, 7),
        ("<a x=\"1\" x=\"2\"/>", 9437, 1, 16),
        ("<a x=\"1\"y=\"2\"/>", 9410, 1, 9),
        ("<a x=\"<\"/>", 9415, 1, 7),
        ("<a>&</a>", 9421, 1, 5),
        ("<a>&amp</a>", 9411, 1, 8),
        ("<a>&#x;</a>", 9416, 1, 7),
        ("<a>&#a;</a>", 9417, 1, 6),
        ("<a b='&#a;'/>", 9417, 1, 9),
        ("<a>]]></a>", 9454, 1, 4),
        ("<a><!-- a -- b --></a>", 9412, 1, 13),
        ("<a></a", 9412, 1, 6),
        ("<a x", 9414, 1, 4),
        ("<a><!DOCTYPE a></a>", 9422, 1, 6),
        ("<?pi x", 9451, 1, 6),
        ("<?XML version=\"1.0\"?><a/>", 9439, 1, 6),
        ("<?xml version=\"2.0\"?><a/>", 9441, 1, 19),
        ("<?xml?><a/>", 9441, 1, 7),
        ("<?xml version=\"1.0\" encoding=\"bogus\"?><a/>", 9401, 1, 38),
        ("<?xml version=\"1.0\" encoding=\"utf-8\"?><a/>", 9402, 1, 38),
        ("<a:b:c xmlns:a=\"u\"/>", 9456, 1, 5),
        ("<a>\n<b>\n</a>", 9436, 3, 4),
        ("<a>\r\n  <b x=1/>", 9413, 2, 8),
        ("<a>\r<b x=1/>", 9413, 2, 6),
        ("<a>\u{1f600}</a", 9412, 1, 7),
    ] {
        let error = normalized(text, false).unwrap_err();
        assert_eq!(
            (error.number(), error.line, error.character),
            (number, line, character),
            "{text}"
        );
    }
}

#[test]
fn prefixes_and_namespaces_are_bound_once_and_reserved_ones_by_none() {
    let xml = "http://www.w3.org/XML/1998/namespace";
    for (text, number, character) in [
        ("<a xmlns=\"u\" xmlns=\"v\"/>".to_owned(), 9458, 24),
        ("<a xmlns:p=\"u\" xmlns:p=\"u\"/>".to_owned(), 9458, 28),
        ("<a b:c=\"1\" b:c=\"2\"/>".to_owned(), 9459, 20),
        (
            "<a xmlns:p=\"u\" xmlns:q=\"u\" p:x=\"1\" q:x=\"2\"/>".to_owned(),
            9437,
            44,
        ),
        ("<a xmlns:p=\"\"/>".to_owned(), 9460, 15),
        ("<a xmlns:xmlns=\"u\"/>".to_owned(), 9465, 20),
        ("<xmlns:a/>".to_owned(), 9465, 10),
        ("<a xmlns:xml=\"u\"/>".to_owned(), 9464, 18),
        (format!("<a xmlns:p=\"{xml}\"/>"), 9466, 51),
        (format!("<a xmlns=\"{xml}\"/>"), 9466, 49),
        ("<a xmlns=\"http://www.w3.org/2000/xmlns/\"/>".to_owned(), 9467, 42),
        (
            "<p:a xmlns:p=\"u\"><b xmlns:q=\"u\" p:x=\"\" q:x=\"\"/></p:a>".to_owned(),
            9437,
            47,
        ),
    ] {
        let error = normalized(&text, false).unwrap_err();
        assert_eq!((error.number(), error.character), (number, character), "{text}");
    }
    for text in [
        format!("<a xmlns:xml=\"{xml}\" xml:lang=\"en\"/>"),
        "<p:a xmlns:p=\"u\" p:x=\"1\" x=\"2\"><p:b xmlns:p=\"v\" xmlns:q=\"u\" p:x=\"1\" q:x=\"2\"/></p:a>".to_owned(),
        "<a xmlns=\"u\"><b xmlns=\"\"/></a>".to_owned(),
    ] {
        assert_eq!(of(&text), text);
    }
}

#[test]
fn names_are_those_of_the_fourth_edition() {
    for name in [
        "a\u{e9}",
        "\u{e9}a",
        "a\u{b7}b",
        "\u{6f22}\u{5b57}",
        "a\u{345}b",
        "a\u{660}",
        "\u{ac00}",
        "_-.1",
    ] {
        let text = format!("<{name}/>");
        assert_eq!(of(&text), text);
    }
    for name in [
        "a\u{ab}",
        "a\u{d7}",
        "a\u{20ac}",
        "a\u{376}",
        "a\u{2118}",
        "a\u{ff21}",
        "a\u{365}",
        "a\u{1d400}",
        "\u{b7}a",
        "\u{345}a",
        "\u{660}",
    ] {
        // The name ends before such a character.
        let number = if name.starts_with('a') { 9410 } else { 9455 };
        assert_eq!(fault(&format!("<{name}/>")).0, number, "{name}");
    }
}

#[test]
fn parsing_is_interrupted() {
    let text = format!("<r>{}</r>", "<a>x</a>".repeat(1_000));
    let mut left = 4_000_usize;
    let mut poll = |bytes: usize| {
        left = left.saturating_sub(bytes);
        left > 0
    };
    let stopped = normalized_while(XmlSource::Wide(&text), false, &mut poll).unwrap_err();
    assert_eq!(stopped.fault, XmlFault::Interrupted);
    assert_eq!(
        XmlDocument::parse_while(&text, &mut poll).unwrap_err().fault,
        XmlFault::Interrupted
    );
    let mut told = 0;
    normalized_while(XmlSource::Bytes(text.as_bytes()), false, &mut |bytes| {
        told += bytes;
        true
    })
    .unwrap();
    assert_eq!(told, text.len());
}

#[test]
fn the_size_of_nodes_is_no_more_than_was_requested_for_them() {
    for text in [
        format!("<r>{}</r>", "<a/>".repeat(10_000)),
        format!("<r>{}</r>", "<a b=\"1\" c=\"2\">text</a>".repeat(10_000)),
    ] {
        let size = XmlDocument::parse(&text).unwrap().size();
        assert!(size > 10_000 * size_of::<XmlNode>(), "{size}");
        assert!(size <= XmlDocument::size_max(&text), "{size}");
    }
}

#[test]
fn entities_and_depth_are_bounded() {
    let laughs = "<!DOCTYPE l [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><l>&b;</l>";
    assert_eq!(fault(laughs).0, 6359);
    let nested = |depth: usize| "<a>".repeat(depth) + &"</a>".repeat(depth);
    assert!(normalized(&nested(128), false).is_ok());
    let (number, text) = fault(&nested(129));
    assert_eq!(number, 6335);
    assert_eq!(
        text,
        "XML datatype instance has too many levels of nested nodes. Maximum allowed depth is 128 levels."
    );
    assert_eq!(fault(&nested(100_000)).0, 6335);
}

#[test]
fn text_is_decoded_as_it_was_encoded() {
    let declared = |encoding: &str| format!("<?xml version=\"1.0\" encoding=\"{encoding}\"?><a>\u{e9}</a>");
    assert_eq!(of(&declared("UTF-16")), "<a>\u{e9}</a>");
    assert_eq!(
        normalized_narrow(&declared("windows-1252"), false).unwrap(),
        "<a>\u{e9}</a>"
    );
    assert_eq!(
        normalized_narrow(&declared("utf-16"), false).unwrap_err().number(),
        9402
    );
    // The byte E9 alone is not UTF-8; C3 A9 is.
    assert_eq!(normalized_narrow(&declared("utf-8"), false).unwrap_err().number(), 9420);
    let twice = "<?xml version=\"1.0\" encoding=\"utf-8\"?><a>\u{c3}\u{a9}</a>";
    assert_eq!(normalized_narrow(twice, false).unwrap(), "<a>\u{e9}</a>");
    assert_eq!(
        normalized_bytes("<a>\u{e9}</a>".as_bytes(), false).unwrap(),
        "<a>\u{e9}</a>"
    );
    assert_eq!(normalized_bytes(b"<a>\xe9</a>", false).unwrap_err().number(), 9420);
    let declared = b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xe9</a>";
    assert_eq!(normalized_bytes(declared, false).unwrap(), "<a>\u{e9}</a>");
    let wide: Vec<u8> = "\u{feff}<a>\u{e9}</a>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(normalized_bytes(&wide, false).unwrap(), "<a>\u{e9}</a>");
    assert_eq!(normalized_bytes(&wide[2..], false).unwrap(), "<a>\u{e9}</a>");
    assert!(normalized_bytes(&wide[..wide.len() - 1], false).is_err());
}

#[test]
fn a_document_has_nodes_with_names_values_and_parents() {
    let document = XmlDocument::parse("<a x=\"1\" xmlns=\"u\" xmlns:p=\"v\">t<p:b/><!--c-->w</a><d/>").unwrap();
    let top: Vec<XmlNodeId> = document.children(document.root()).collect();
    let [a, d] = top[..] else { panic!("{top:?}") };
    assert_eq!(document.children(a).count(), 4);
    assert_eq!(document.string_value(a), "tw");
    assert_eq!(document.string_value(document.root()), "tw");
    assert_eq!(&*document.attributes(a)[0].value, "1");
    let b = document.children(a).nth(1).unwrap();
    let XmlNodeKind::Element { name, namespace, .. } = &document.node(b).unwrap().kind else {
        panic!()
    };
    assert_eq!((&**name, &**namespace, local_name(name)), ("p:b", "v", "b"));
    assert_eq!(document.node(b).unwrap().parent, Some(a));
    let written = |id| written(&document, id);
    assert_eq!(written(b), "<p1:b xmlns:p1=\"v\"/>");
    assert_eq!(written(d), "<d/>");
    assert_eq!(
        written(document.root()),
        "<a xmlns=\"u\" xmlns:p=\"v\" x=\"1\">t<p:b/><!--c-->w</a><d/>"
    );
    assert!(document.node(XmlNodeId(99)).is_none());
}

#[test]
fn any_cut_of_a_text_is_a_value_or_an_error() {
    let whole = "<?xml version='1.0'?><!--x--><a b='&lt;\u{e9}'><![CDATA[y]]>&#65;<p:c xmlns:p='u'/><?q r?></a>z";
    for (at, _) in whole.char_indices() {
        for text in [&whole[..at], &whole[at..]] {
            if let Ok(form) = normalized(text, false) {
                assert_eq!(normalized(&form, false).unwrap(), form, "{text}");
                XmlDocument::parse(&form).unwrap();
            }
            let _ = normalized_bytes(text.as_bytes(), true);
        }
    }
}

/// Each is looked up among all others: 10,000 million steps would not end here.
#[test]
fn an_element_may_have_many_attributes_and_prefixes() {
    let mut text = String::from("<p0:a");
    for at in 0..100_000 {
        text.push_str(&format!(" xmlns:p{at}=\"u{at}\" p{at}:b{at}=\"\""));
    }
    let whole = format!("{text}><p7:c/></p0:a>");
    assert_eq!(normalized(&whole, false).unwrap(), whole);
    let document = XmlDocument::parse(&whole).unwrap();
    let outer = document.children(document.root()).next().unwrap();
    let inner = document.children(outer).next().unwrap();
    assert_eq!(written(&document, inner), "<p1:c xmlns:p1=\"u7\"/>");
    let twice = format!("{text} p0:b0=\"\"/>");
    assert_eq!(normalized(&twice, false).unwrap_err().fault, XmlFault::Duplicate);
}

#[test]
fn a_node_is_written_without_a_look_at_each_declaration_outside() {
    let mut text = String::from("<r");
    for at in 0..20_000 {
        text.push_str(&format!(" xmlns:p{at}=\"u{at}\""));
    }
    text.push('>');
    text.push_str(&"<p7:a p9:b=\"1\"/>".repeat(20_000));
    text.push_str("</r>");
    let document = XmlDocument::parse(&text).unwrap();
    let root = document.children(document.root()).next().unwrap();
    let (mut writer, mut steps) = (XmlNodeWriter::new(&document), 0);
    for (at, node) in document.children(root).enumerate() {
        let (first, second) = (2 * at + 1, 2 * at + 2);
        let mut out = String::new();
        let done = writer.write(node, &mut out, &mut |_| {
            steps += 1;
            Ok::<(), ()>(())
        });
        assert_eq!(done, Ok(()));
        assert_eq!(
            out,
            format!("<p{first}:a xmlns:p{first}=\"u7\" xmlns:p{second}=\"u9\" p{second}:b=\"1\"/>")
        );
    }
    assert!(steps < 20_000 * 20, "{steps}");
}

#[test]
fn a_node_that_is_written_alone_has_prefixes_of_the_query_or_new_ones() {
    let binding = |prefix: &str, namespace: &str| (Arc::from(prefix), Arc::from(namespace));
    let named = "<r xmlns=\"d\" xmlns:p=\"u\" xmlns:q=\"v\"><a><p:b p:c=\"1\" q:e=\"2\"/><q:f/></a></r>";
    for (text, prolog, expected) in [
        (
            "<r xmlns:p=\"u\"><a><p:b/></a></r>",
            vec![],
            "<a><p1:b xmlns:p1=\"u\"/></a>",
        ),
        (
            named,
            vec![],
            "<p1:a xmlns:p1=\"d\"><p2:b xmlns:p2=\"u\" p2:c=\"1\" xmlns:p3=\"v\" p3:e=\"2\"/><p4:f xmlns:p4=\"v\"/></p1:a>",
        ),
        (
            named,
            vec![binding("", "d"), binding("x", "u"), binding("y", "v")],
            "<a xmlns=\"d\"><x:b xmlns:x=\"u\" x:c=\"1\" xmlns:y=\"v\" y:e=\"2\"/><y:f xmlns:y=\"v\"/></a>",
        ),
        (
            named,
            vec![binding("", "u"), binding("p2", "w")],
            "<p1:a xmlns:p1=\"d\"><b xmlns=\"u\" xmlns:p3=\"u\" p3:c=\"1\" xmlns:p4=\"v\" p4:e=\"2\"/>\
             <p5:f xmlns:p5=\"v\"/></p1:a>",
        ),
        (
            "<r xmlns:q=\"u\"><q:a xmlns:p=\"v\"><p:b/><q:c/></q:a></r>",
            vec![],
            "<p10:a xmlns:p10=\"u\" xmlns:p=\"v\"><p:b/><p10:c/></p10:a>",
        ),
        (
            "<p:r xmlns:p=\"u\"><p:a><b/></p:a></p:r>",
            vec![binding("", "u")],
            "<a xmlns=\"u\"><b xmlns=\"\"/></a>",
        ),
        (
            "<r xmlns=\"d\"><a xmlns=\"\" xml:lang=\"en\"><b/></a></r>",
            vec![],
            "<a xmlns=\"\" xml:lang=\"en\"><b/></a>",
        ),
    ] {
        let document = XmlDocument::parse(text).unwrap();
        let root = document.children(document.root()).next().unwrap();
        let node = document.children(root).next().unwrap();
        let mut out = String::new();
        let mut writer = XmlNodeWriter::new(&document).of_query(&prolog, 0);
        let done = writer.write(node, &mut out, &mut |_| Ok::<(), ()>(()));
        assert_eq!(done, Ok(()));
        assert_eq!(out, expected, "{text}");
        assert!(normalized(&out, true).is_ok(), "{out}");
    }
}
