//! Text and bytes that are to be a value of xml.

use selenite_types::XmlNodeKind::{Comment, Element, Instruction, Root, Text};
use selenite_types::{
    XmlDocument, XmlError, XmlNode, XmlNodeId, XmlNodeWriter, normalized, normalized_bytes, normalized_narrow,
};

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    let [choice, rest @ ..] = data else { return };
    let keeps_space = choice % 2 == 1;
    let text = String::from_utf8_lossy(rest);
    check(normalized(&text, keeps_space));
    check(normalized_narrow(&text, keeps_space));
    check(normalized_bytes(rest, keeps_space));
}

fn check(value: Result<String, XmlError>) {
    let Ok(value) = value else { return };
    assert_eq!(normalized(&value, true).as_ref(), Ok(&value), "a value is its own form");
    let document = XmlDocument::parse(&value).expect("a value has nodes");
    let nodes: Vec<XmlNodeId> = document.descendants(document.root()).collect();
    assert!(nodes.len() * size_of::<XmlNode>() <= XmlDocument::size_max(&value));
    assert_eq!(written(&document, document.root()), value);
    // Namespaces that a node has from outside are declared in it.
    for node in nodes.into_iter().take(NODES_MAX) {
        let part = written(&document, node);
        assert_eq!(normalized(&part, true).as_ref(), Ok(&part), "a node is a value");
        let again = XmlDocument::parse(&part).expect("a node is a value");
        assert_eq!(again.string_value(again.root()), string_of(&document, node));
    }
}

fn written(document: &XmlDocument, node: XmlNodeId) -> String {
    let mut out = String::new();
    let done = XmlNodeWriter::new(document).write(node, &mut out, &mut |_| Ok::<(), ()>(()));
    done.expect("nothing stops it");
    out
}

/// The string value as that of a root: comments and instructions have no part in it.
fn string_of(document: &XmlDocument, node: XmlNodeId) -> String {
    match document.node(node).map(|node| &node.kind) {
        Some(Comment(_) | Instruction(..)) | None => String::new(),
        Some(Root | Element { .. } | Text(_)) => document.string_value(node),
    }
}

/// Of a document with many nodes, each of which may be large, so many are written.
const NODES_MAX: usize = 100;
