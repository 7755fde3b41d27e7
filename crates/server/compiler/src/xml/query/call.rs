//! The functions of XQuery.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use selenite_types::{XmlDocument, XmlNodeKind, local_name};

use super::item_reader::ItemReader;
use super::{Arithmetic, Item, Number};
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
    /// substring
    Substring,
    /// floor
    Floor,
    /// ceiling
    Ceiling,
    /// round
    Round,
    /// distinct-values
    DistinctValues,
}

impl QueryFunction {
    /// Whether it takes at most one item for each argument.
    pub fn takes_single(self) -> bool {
        match self {
            Self::Count
            | Self::Sum
            | Self::Min
            | Self::Max
            | Self::Avg
            | Self::Data
            | Self::Not
            | Self::Empty
            | Self::True
            | Self::False
            | Self::Last
            | Self::Position
            | Self::DistinctValues => false,
            Self::Text
            | Self::Number
            | Self::Contains
            | Self::Concat
            | Self::TextLength
            | Self::UpperCase
            | Self::LowerCase
            | Self::LocalName
            | Self::NamespaceUri
            | Self::Substring
            | Self::Floor
            | Self::Ceiling
            | Self::Round => true,
        }
    }
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
    ("substring", QueryFunction::Substring, 2, 3),
    ("floor", QueryFunction::Floor, 1, 1),
    ("ceiling", QueryFunction::Ceiling, 1, 1),
    ("round", QueryFunction::Round, 1, 1),
    ("distinct-values", QueryFunction::DistinctValues, 1, 1),
];

impl ItemReader<'_> {
    /// A function's result for the items of its arguments; `typed` if the first one has values of a type, the
    /// position and the size are the context's.
    pub(super) fn called(
        &mut self,
        function: QueryFunction,
        arguments: &[Vec<Item>],
        typed: bool,
        (position, size): (usize, usize),
    ) -> Result<Vec<Item>, SqlError> {
        let first = arguments.first().map(Vec::as_slice).unwrap_or_default();
        Ok(match function {
            QueryFunction::Sum => {
                let numbers = self.summands(first, typed)?;
                of_option(sum(&numbers)?)
            }
            QueryFunction::Min => self.extreme(first, typed, Ordering::Less)?.into_iter().collect(),
            QueryFunction::Max => self.extreme(first, typed, Ordering::Greater)?.into_iter().collect(),
            QueryFunction::Avg => {
                let numbers = self.summands(first, typed)?;
                let sum = if numbers.is_empty() { None } else { sum(&numbers)? };
                of_option(sum.map(|sum| sum.divided_by(numbers.len())))
            }
            QueryFunction::Data => self.atoms(first)?,
            QueryFunction::DistinctValues => {
                let mut known = HashSet::new();
                let mut atoms = self.atoms(first)?;
                let texts: usize = atoms.iter().map(Item::text_size).sum();
                self.hold(texts)?;
                // Numbers are those that are written alike.
                atoms.retain(|atom| known.insert(atom.text(self.document)));
                atoms
            }
            QueryFunction::Substring => {
                let text = self.first_text(first)?;
                let text = self.substring(&text, arguments)?;
                text.map(|text| Item::Text(Arc::from(text))).into_iter().collect()
            }
            QueryFunction::Floor => self.rounded(first, f64::floor)?,
            QueryFunction::Ceiling => self.rounded(first, f64::ceil)?,
            QueryFunction::Round => self.rounded(first, |number| (number + 0.5).floor())?,
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
                // A pair of surrogates is one character, as from compatibility level 110 on.
                let text = self.first_text(first)?;
                vec![Item::Number(Number::of_count(text.chars().count()))]
            }
            QueryFunction::Number => of_option(self.numbers(first)?.into_iter().next()),
            QueryFunction::Count => vec![Item::Number(Number::of_count(first.len()))],
            QueryFunction::Not => vec![Item::Boolean(!is_true(first))],
            QueryFunction::Empty => vec![Item::Boolean(first.is_empty())],
            QueryFunction::True => vec![Item::Boolean(true)],
            QueryFunction::False => vec![Item::Boolean(false)],
            QueryFunction::Last => vec![Item::Number(Number::of_count(size))],
            QueryFunction::Position => vec![Item::Number(Number::of_count(position))],
        })
    }

    /// The numbers of items. One that has none does not count: SQL Server makes an empty sequence of the error.
    fn numbers(&mut self, items: &[Item]) -> Result<Vec<Number>, SqlError> {
        let mut numbers = Vec::new();
        for item in items {
            self.hold(size_of::<Number>())?;
            numbers.push(self.number(item)?);
        }
        numbers.retain(|number| !number.double().is_nan());
        Ok(numbers)
    }

    /// The numbers of values that are summed up.
    ///
    /// Errors: 40510 for values of sql:column and sql:variable that are no numbers.
    fn summands(&mut self, items: &[Item], typed: bool) -> Result<Vec<Number>, SqlError> {
        match typed && items.iter().any(|item| !matches!(item, Item::Number(_))) {
            true => Err(SqlError::unsupported("XQuery: a sum of what is no number")),
            false => self.numbers(items),
        }
    }

    /// The least or the greatest of values of one type; values without a type are numbers.
    ///
    /// Errors: 40510 for values of several types.
    fn extreme(&mut self, items: &[Item], typed: bool, wanted: Ordering) -> Result<Option<Item>, SqlError> {
        if !typed {
            let numbers = self.numbers(items)?;
            return Ok(best(numbers, |number, other| number.order(*other), wanted).map(Item::Number));
        }
        let (mut numbers, mut texts, mut booleans) = (Vec::new(), Vec::new(), Vec::new());
        for item in items {
            self.hold(size_of::<Item>())?;
            self.work(1 + item.text_size())?;
            match item {
                Item::Number(number) => numbers.push(*number),
                Item::Text(text) => texts.push(text),
                Item::Boolean(boolean) => booleans.push(*boolean),
                Item::Node(_) | Item::Attribute(..) | Item::Made(_) => {}
            }
        }
        match (numbers.is_empty(), texts.is_empty(), booleans.is_empty()) {
            (_, true, true) => Ok(best(numbers, |number, other| number.order(*other), wanted).map(Item::Number)),
            (true, false, true) => {
                let text = best(texts, |text, other| Some(text.cmp(other)), wanted);
                Ok(text.map(|text| Item::Text(Arc::clone(text))))
            }
            (true, true, false) => {
                Ok(best(booleans, |boolean, other| Some(boolean.cmp(other)), wanted).map(Item::Boolean))
            }
            (_, _, _) => Err(SqlError::unsupported(
                "XQuery: min() and max() of values of several types",
            )),
        }
    }

    /// The values of items.
    pub(super) fn atoms(&mut self, items: &[Item]) -> Result<Vec<Item>, SqlError> {
        let mut atoms = Vec::new();
        for item in items {
            let atom = match item {
                Item::Number(_) | Item::Boolean(_) => item.clone(),
                Item::Node(_) | Item::Attribute(..) | Item::Text(_) | Item::Made(_) => {
                    Item::Text(Arc::from(self.text(item)?))
                }
            };
            self.push(&mut atoms, atom)?;
        }
        Ok(atoms)
    }

    /// The part of a text from a position on, of a length; `None` without them.
    fn substring(&mut self, text: &str, arguments: &[Vec<Item>]) -> Result<Option<String>, SqlError> {
        let mut numbers = Vec::new();
        for argument in arguments.iter().skip(1) {
            let Some(item) = argument.first() else { return Ok(None) };
            numbers.push(self.number(item)?.double());
        }
        if numbers.iter().any(|number| number.is_nan()) {
            return Ok(None);
        }
        Ok(Some(substring(text, &numbers)))
    }

    fn rounded(&mut self, items: &[Item], round: fn(f64) -> f64) -> Result<Vec<Item>, SqlError> {
        let Some(item) = items.first() else {
            return Ok(Vec::new());
        };
        let number = self.number(item)?;
        let whole = round(number.double());
        Ok(of_option(match number {
            // Text without a point is exact.
            Number::Exact(_) => Number::exact(&format!("{whole:.0}")).or(Some(Number::Double(whole))),
            Number::Double(_) => (!whole.is_nan()).then_some(Number::Double(whole)),
        }))
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

fn of_option(number: Option<Number>) -> Vec<Item> {
    number.map(Item::Number).into_iter().collect()
}

/// Whether a condition of these items is true.
pub(super) fn is_true(items: &[Item]) -> bool {
    match items.first() {
        None => false,
        Some(Item::Node(_) | Item::Attribute(..) | Item::Made(_)) => true,
        Some(Item::Boolean(value)) => *value,
        Some(Item::Text(text)) => !text.is_empty(),
        Some(Item::Number(number)) => number.is_true(),
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
        Item::Text(_) | Item::Number(_) | Item::Boolean(_) | Item::Made(_) => none(),
    }
}

/// The sum; 0 of nothing, and `None` past the range.
fn sum(numbers: &[Number]) -> Result<Option<Number>, SqlError> {
    let Some((first, rest)) = numbers.split_first() else {
        return Ok(Some(Number::ZERO));
    };
    let mut sum = *first;
    for number in rest {
        match sum.combined(Arithmetic::Add, *number)? {
            Some(next) => sum = next,
            None => return Ok(None),
        }
    }
    Ok(Some(sum))
}

/// The least or the greatest value, the first one of equal ones.
fn best<T>(values: Vec<T>, order: impl Fn(&T, &T) -> Option<Ordering>, wanted: Ordering) -> Option<T> {
    let better = |best: T, next: T| {
        if order(&next, &best) == Some(wanted) {
            next
        } else {
            best
        }
    };
    values.into_iter().reduce(better)
}

/// The characters from a position on, at most so many: both are rounded, and what is before the text counts.
fn substring(text: &str, numbers: &[f64]) -> String {
    let round = |number: f64| (number + 0.5).floor();
    let (Some(start), length) = (numbers.first(), numbers.get(1)) else {
        return String::new();
    };
    let start = round(*start);
    let end = length.map_or(f64::INFINITY, |length| start + round(*length));
    let mut out = String::new();
    let mut position = 1.0;
    for character in text.chars() {
        if position >= start && position < end {
            out.push(character);
        }
        position += 1.0;
    }
    out
}

/// A character of two bytes has three characters of two bytes in the other case at most.
const CASE_GROWTH_MAX: usize = 3;
