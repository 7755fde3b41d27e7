//! The functions of XQuery.

use std::sync::Arc;

use selenite_types::{XmlDocument, XmlNodeKind, local_name};

use super::Item;
use super::item_reader::ItemReader;
use crate::SqlError;

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

impl ItemReader<'_> {
    /// A function's result for the items of its arguments; the position and the size are the context's.
    pub(super) fn called(
        &mut self,
        function: QueryFunction,
        arguments: &[Vec<Item>],
        (position, size): (usize, usize),
    ) -> Result<Vec<Item>, SqlError> {
        let first = arguments.first().map(Vec::as_slice).unwrap_or_default();
        Ok(match function {
            QueryFunction::Sum => {
                // The sum of nothing is 0; Rust's is -0.
                let sum = self.numbers(first)?.into_iter().fold(0.0, |sum, number| sum + number);
                vec![Item::Number(sum)]
            }
            QueryFunction::Min => of_option(self.numbers(first)?.into_iter().reduce(f64::min)),
            QueryFunction::Max => of_option(self.numbers(first)?.into_iter().reduce(f64::max)),
            QueryFunction::Avg => {
                let numbers = self.numbers(first)?;
                let sum: f64 = numbers.iter().sum();
                of_option((!numbers.is_empty()).then(|| sum / count(numbers.len())))
            }
            QueryFunction::Data => {
                let mut texts = Vec::new();
                for item in first {
                    let text = self.text(item)?;
                    self.push(&mut texts, Item::Text(Arc::from(text)))?;
                }
                texts
            }
            QueryFunction::Contains => {
                let inner = self.first_text(arguments.get(1).map(Vec::as_slice).unwrap_or_default())?;
                vec![Item::Boolean(self.first_text(first)?.contains(&inner))]
            }
            QueryFunction::Concat => {
                let mut out = String::new();
                for item in arguments.iter().filter_map(|argument| argument.first()) {
                    self.append_text(item, &mut out)?;
                }
                vec![Item::Text(Arc::from(out))]
            }
            QueryFunction::Text => vec![Item::Text(Arc::from(self.first_text(first)?))],
            QueryFunction::UpperCase => vec![Item::Text(Arc::from(self.text_to_change(first)?.to_uppercase()))],
            QueryFunction::LowerCase => vec![Item::Text(Arc::from(self.text_to_change(first)?.to_lowercase()))],
            QueryFunction::LocalName => {
                let name = self.name(first).0;
                vec![Item::Text(Arc::from(local_name(&name)))]
            }
            QueryFunction::NamespaceUri => vec![Item::Text(self.name(first).1)],
            QueryFunction::TextLength => {
                let text = self.first_text(first)?;
                vec![Item::Number(count(text.encode_utf16().count()))]
            }
            QueryFunction::Number => match first.first() {
                Some(item) => vec![Item::Number(self.number(item)?)],
                None => vec![Item::Number(f64::NAN)],
            },
            QueryFunction::Count => vec![Item::Number(count(first.len()))],
            QueryFunction::Not => vec![Item::Boolean(!is_true(first))],
            QueryFunction::Empty => vec![Item::Boolean(first.is_empty())],
            QueryFunction::True => vec![Item::Boolean(true)],
            QueryFunction::False => vec![Item::Boolean(false)],
            QueryFunction::Last => vec![Item::Number(count(size))],
            QueryFunction::Position => vec![Item::Number(count(position))],
        })
    }

    /// The numbers of items. One that has none does not count: SQL Server makes an empty sequence of the error.
    fn numbers(&mut self, items: &[Item]) -> Result<Vec<f64>, SqlError> {
        let mut numbers = Vec::new();
        for item in items {
            self.hold(size_of::<f64>())?;
            numbers.push(self.number(item)?);
        }
        numbers.retain(|number| !number.is_nan());
        Ok(numbers)
    }

    fn first_text(&mut self, items: &[Item]) -> Result<String, SqlError> {
        items.first().map_or(Ok(String::new()), |item| self.text(item))
    }

    /// The text of the first item, of which a copy is made that may be longer.
    fn text_to_change(&mut self, items: &[Item]) -> Result<String, SqlError> {
        let text = self.first_text(items)?;
        self.hold(text.len().saturating_mul(CASE_GROWTH_MAX))?;
        Ok(text)
    }

    fn name(&self, items: &[Item]) -> (Arc<str>, Arc<str>) {
        let none = || (Arc::from(""), Arc::from(""));
        items.first().map_or_else(none, |item| name_of(item, self.document))
    }
}

fn of_option(number: Option<f64>) -> Vec<Item> {
    number.map(Item::Number).into_iter().collect()
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

/// A character of two bytes has three characters of two bytes in the other case at most.
const CASE_GROWTH_MAX: usize = 3;
