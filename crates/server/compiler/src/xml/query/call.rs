//! The functions of XQuery.

use std::sync::Arc;

use selenite_types::{XmlDocument, XmlNodeKind, local_name};

use super::Item;

/// A function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QueryFunction {
    /// count
    Count,
    /// sum
    Sum,
    /// min
    Min,
    /// max
    Max,
    /// avg
    Avg,
    /// string
    Text,
    /// data
    Data,
    /// number
    Number,
    /// not
    Not,
    /// empty
    Empty,
    /// true
    True,
    /// false
    False,
    /// last
    Last,
    /// position
    Position,
    /// contains
    Contains,
    /// concat
    Concat,
    /// string-length
    TextLength,
    /// upper-case
    UpperCase,
    /// lower-case
    LowerCase,
    /// local-name
    LocalName,
    /// namespace-uri
    NamespaceUri,
}

/// A function with its name, and the fewest and most arguments.
pub(super) const FUNCTIONS: &[(&str, QueryFunction, usize, usize)] = &[
    ("count", QueryFunction::Count, 1, 1),
    ("sum", QueryFunction::Sum, 1, 1),
    ("min", QueryFunction::Min, 1, 1),
    ("max", QueryFunction::Max, 1, 1),
    ("avg", QueryFunction::Avg, 1, 1),
    ("string", QueryFunction::Text, 0, 1),
    ("data", QueryFunction::Data, 1, 1),
    ("number", QueryFunction::Number, 0, 1),
    ("not", QueryFunction::Not, 1, 1),
    ("empty", QueryFunction::Empty, 1, 1),
    ("true", QueryFunction::True, 0, 0),
    ("false", QueryFunction::False, 0, 0),
    ("last", QueryFunction::Last, 0, 0),
    ("position", QueryFunction::Position, 0, 0),
    ("contains", QueryFunction::Contains, 2, 2),
    ("concat", QueryFunction::Concat, 2, usize::MAX),
    ("string-length", QueryFunction::TextLength, 0, 1),
    ("upper-case", QueryFunction::UpperCase, 1, 1),
    ("lower-case", QueryFunction::LowerCase, 1, 1),
    ("local-name", QueryFunction::LocalName, 0, 1),
    ("namespace-uri", QueryFunction::NamespaceUri, 0, 1),
];

/// A function's result for the items of its arguments; the position and the size are the context's.
pub(super) fn called(
    function: QueryFunction,
    arguments: &[Vec<Item>],
    document: &XmlDocument,
    (position, size): (usize, usize),
) -> Vec<Item> {
    let first = arguments.first().map(Vec::as_slice).unwrap_or_default();
    let text = |items: &[Item]| items.first().map_or_else(String::new, |item| item.text(document));
    let numbers = || first.iter().map(|item| item.as_number(document));
    let one = |item: Item| vec![item];
    let said = |text: String| vec![Item::Text(Arc::from(text))];
    match function {
        QueryFunction::Count => one(Item::Number(count(first.len()))),
        QueryFunction::Sum => one(Item::Number(numbers().sum())),
        QueryFunction::Min | QueryFunction::Max | QueryFunction::Avg if first.is_empty() => Vec::new(),
        QueryFunction::Min => one(Item::Number(numbers().fold(f64::INFINITY, f64::min))),
        QueryFunction::Max => one(Item::Number(numbers().fold(f64::NEG_INFINITY, f64::max))),
        QueryFunction::Avg => one(Item::Number(numbers().sum::<f64>() / count(first.len()))),
        QueryFunction::Text => said(text(first)),
        QueryFunction::Data => first
            .iter()
            .map(|item| Item::Text(Arc::from(item.text(document))))
            .collect(),
        QueryFunction::Number => one(Item::Number(
            first.first().map_or(f64::NAN, |item| item.as_number(document)),
        )),
        QueryFunction::Not => one(Item::Boolean(!is_true(first))),
        QueryFunction::Empty => one(Item::Boolean(first.is_empty())),
        QueryFunction::True => one(Item::Boolean(true)),
        QueryFunction::False => one(Item::Boolean(false)),
        QueryFunction::Last => one(Item::Number(count(size))),
        QueryFunction::Position => one(Item::Number(count(position))),
        QueryFunction::Contains => {
            let inner = arguments.get(1).map(|second| text(second)).unwrap_or_default();
            one(Item::Boolean(text(first).contains(&inner)))
        }
        QueryFunction::Concat => said(arguments.iter().map(|argument| text(argument)).collect()),
        QueryFunction::TextLength => one(Item::Number(count(text(first).encode_utf16().count()))),
        QueryFunction::UpperCase => said(text(first).to_uppercase()),
        QueryFunction::LowerCase => said(text(first).to_lowercase()),
        QueryFunction::LocalName => said(
            first
                .first()
                .map_or_else(String::new, |item| local_name(&name_of(item, document).0).to_owned()),
        ),
        QueryFunction::NamespaceUri => said(
            first
                .first()
                .map_or_else(String::new, |item| name_of(item, document).1.to_string()),
        ),
    }
}

/// Whether a condition of these items is true.
pub(super) fn is_true(items: &[Item]) -> bool {
    match items.first() {
        None => false,
        Some(Item::Node(_) | Item::Attribute(..)) => true,
        Some(Item::Boolean(value)) => *value,
        Some(Item::Text(text)) => !text.is_empty(),
        Some(Item::Number(number)) => *number != 0.0 && !number.is_nan(),
    }
}

/// The name of a node, and its namespace.
pub(super) fn name_of(item: &Item, document: &XmlDocument) -> (Arc<str>, Arc<str>) {
    let none = || (Arc::from(""), Arc::from(""));
    match item {
        Item::Attribute(id, at) => match document.attributes(*id).get(*at) {
            Some(attribute) => (Arc::clone(&attribute.name), Arc::clone(&attribute.namespace)),
            None => none(),
        },
        Item::Node(id) => match document.node(*id).map(|node| &node.kind) {
            Some(XmlNodeKind::Element { name, namespace, .. }) => (Arc::clone(name), Arc::clone(namespace)),
            Some(XmlNodeKind::Instruction(target, _)) => (Arc::clone(target), Arc::from("")),
            Some(XmlNodeKind::Root | XmlNodeKind::Text(_) | XmlNodeKind::Comment(_)) | None => none(),
        },
        Item::Text(_) | Item::Number(_) | Item::Boolean(_) => none(),
    }
}

/// A count as a number; a document has fewer nodes than a float has whole numbers.
pub(super) fn count(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
