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
        (9400, "<!-- x"),
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
        (9422, "<a>]]></a>"),
        (9422, "<!x>"),
        (9423, "<a><![CDATA[x"),
        (9424, "<!-- a -- b -->"),
        (9436, "<a></b>"),
        (9436, "</a>"),
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
        "XML parsing: line 2, character 9, end tag does not match start tag"
    );
    assert_eq!(
        fault("<a>\n1 < 2</a>").1,
        "XML parsing: line 2, character 4, illegal qualified name character"
    );
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
    assert_eq!(written(b), "<p:b xmlns:p=\"v\"/>");
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
    assert_eq!(written(&document, inner), "<p7:c xmlns:p7=\"u7\"/>");
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
    for node in document.children(root) {
        let mut out = String::new();
        let done = writer.write(node, &mut out, &mut |_| {
            steps += 1;
            Ok::<(), ()>(())
        });
        assert_eq!(done, Ok(()));
        assert_eq!(out, "<p7:a xmlns:p7=\"u7\" xmlns:p9=\"u9\" p9:b=\"1\"/>");
    }
    assert!(steps < 20_000 * 20, "{steps}");
}
