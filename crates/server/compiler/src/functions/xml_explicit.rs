//! FOR XML EXPLICIT: each row is an element, placed by the tags that are open.

use std::sync::Arc;

use selenite_types::{DataType, Value, Width};

use crate::expr::{Rule, Typing};
use crate::functions::Arguments;
use crate::json::{Document, unescaped_name};
use crate::xml::{ExplicitColumn, Overflow, XmlWriter, parse_explicit_column};
use crate::{Ends, Function, SqlError};

/// The elements of a universal table: the rows of [`super::FOR_XML_VALUES`], the declarations of
/// outermost elements, and the names of the columns behind Tag and Parent.
pub(crate) static FOR_XML_EXPLICIT: Function = Function::new(
    "for xml explicit",
    &[Rule::Any],
    Typing::Is(DataType::NVarChar(Width::Max)),
    explicit,
);

fn explicit(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let mut columns = Vec::new();
    for at in 2..call.values.len() {
        columns.push(parse_explicit_column(call.text(at)?)?);
    }
    let source = format!("[{}]", call.text(0)?);
    call.reserve(source.len().saturating_mul(4))?;
    let document = Document::read(&source);
    let mut writer = XmlWriter::new(call.text(1)?);
    let mut open: Vec<i64> = Vec::new();
    let mut polls = call.polls();
    for row in document.children(0) {
        polls.step()?;
        let mut values = Vec::with_capacity(columns.len() + 2);
        for value in document.children(row) {
            let text = document.text(value);
            let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            values.push(inner.map(unescaped_name).transpose()?);
        }
        let mut values = values.into_iter();
        let mut number = || values.next().flatten().and_then(|text| text.parse::<i64>().ok());
        let (tag, parent) = (number(), number().unwrap_or(0));
        let tag = tag.filter(|tag| *tag > 0).ok_or_else(|| SqlError::explicit_tag(2))?;
        polls.steps(open.len())?;
        let depth = place(&columns, (tag, parent), &open)?;
        open.truncate(depth);
        while writer.depth() > depth {
            writer.close();
        }
        open.push(tag);
        let values: Vec<Option<String>> = values.collect();
        push_element(&mut writer, &columns, tag, &values)?;
        polls.steps(values.len())?;
        call.reserve(writer.text.len())?;
    }
    writer.enter(0, &[]);
    Ok(Value::Text(Arc::from(writer.text)))
}

/// How many elements stay open around the element of a row.
///
/// Errors: 6803 to 6807, 6833.
fn place(columns: &[ExplicitColumn<'_>], (tag, parent): (i64, i64), open: &[i64]) -> Result<usize, SqlError> {
    let is_known = |tag: i64| columns.iter().any(|column| column.tag == tag);
    if parent < 0 {
        return Err(SqlError::explicit_parent(2));
    }
    if !is_known(tag) {
        let text = format!("Undeclared tag ID {tag} is used in a FOR XML EXPLICIT query.");
        // 6806: a tag without a column.
        return Err(SqlError::new(6806, Ends::Statement, text).with_state(2));
    }
    if parent == 0 {
        return Ok(0);
    }
    if !is_known(parent) {
        let text = format!("Undeclared parent tag ID {parent} is used in a FOR XML EXPLICIT query.");
        // 6807: a parent without a column.
        return Err(SqlError::new(6807, Ends::Statement, text).with_state(2));
    }
    let Some(at) = open.iter().position(|known| *known == parent) else {
        let text = format!(
            "Parent tag ID {parent} is not among the open tags. FOR XML EXPLICIT requires parent tags to be opened first. Check \
             the ordering of the result set."
        );
        // 6833: a row before its parent's.
        return Err(SqlError::new(6833, Ends::Statement, text));
    };
    let around = open.get(..=at).unwrap_or_default();
    if around.contains(&tag) {
        let text = "FOR XML EXPLICIT stack overflow occurred. Circular parent tag relationships are not allowed.";
        // 6805: a tag within itself.
        return Err(SqlError::new(6805, Ends::Statement, text).with_state(2));
    }
    Ok(around.len())
}

/// Errors: 6834 for XMLTEXT of what is no element.
fn push_element(
    writer: &mut XmlWriter<'_>,
    columns: &[ExplicitColumn<'_>],
    tag: i64,
    values: &[Option<String>],
) -> Result<(), SqlError> {
    let own = || columns.iter().zip(values).filter(|(column, _)| column.tag == tag);
    let Some((first, _)) = own().next() else { return Ok(()) };
    writer.open(first.element);
    for (column, value) in own() {
        if let (true, Some(value)) = (column.is_attribute(), value) {
            writer.attribute(column.name, value);
        }
    }
    let is_written = |column: &ExplicitColumn<'_>| !column.is_attribute() && !column.is_hidden;
    // The content of an element without a name comes before the other ones.
    let unnamed = own().find(|(column, _)| is_written(column) && column.is_overflow() && column.name.is_empty());
    if let Some((column, Some(value))) = unnamed {
        let overflow = Overflow::parse(value, column.name)?;
        let is_new = |name: &str| !own().any(|(column, _)| column.is_attribute() && column.name == name);
        for (name, value) in overflow.attributes.iter().filter(|(name, _)| is_new(name)) {
            writer.raw_attribute(name, value);
        }
        writer.raw(overflow.content.unwrap_or_default());
    }
    for (column, value) in own().filter(|(column, _)| is_written(column)) {
        if column.is_overflow() {
            if let (Some(value), false) = (value, column.name.is_empty()) {
                push_overflow(writer, column.name, &Overflow::parse(value, column.name)?);
            }
            continue;
        }
        let is_nil = value.is_none() && column.is_nil();
        let named = !column.name.is_empty();
        if value.is_none() && !is_nil {
            continue;
        }
        if named {
            writer.open(column.name);
        }
        match value {
            None => writer.nil(),
            Some(value) if column.is_raw() => writer.raw(value),
            Some(value) if column.is_cdata() => {
                writer.raw(&format!("<![CDATA[{}]]>", value.replace("]]>", "]]]><![CDATA[]>")));
            }
            Some(value) => writer.content(value),
        }
        if named {
            writer.close();
        }
    }
    Ok(())
}

/// An element of XMLTEXT with another name.
fn push_overflow(writer: &mut XmlWriter<'_>, name: &str, overflow: &Overflow<'_>) {
    writer.open(name);
    for (name, value) in &overflow.attributes {
        writer.raw_attribute(name, value);
    }
    if let Some(content) = overflow.content {
        writer.raw(content);
    }
    writer.close();
}

impl SqlError {
    /// 6803: a first column that is no tag.
    pub(crate) fn explicit_tag(state: u8) -> Self {
        let text = "FOR XML EXPLICIT requires the first column to hold positive integers that represent XML tag IDs.";
        Self::new(6803, Ends::Statement, text).with_state(state)
    }

    /// 6804: a second column that is no tag.
    pub(crate) fn explicit_parent(state: u8) -> Self {
        let text = "FOR XML EXPLICIT requires the second column to hold NULL or nonnegative integers that represent XML \
                    parent tag IDs.";
        Self::new(6804, Ends::Statement, text).with_state(state)
    }
}
