//! FOR JSON: rows as JSON objects, and the whole result.

use std::sync::Arc;

use selenite_types::{DataType, Value, Width, utf16_prefix};

use crate::expr::{Rule, Typing};
use crate::functions::Arguments;
use crate::json::{Document, RowWriter, is_json_call, push_quoted, push_value, unescaped_name};
use crate::{Function, SqlError};

/// A row as an object: whether NULLs are included, whether names are paths, and names alternating with values.
pub(crate) static FOR_JSON_ROW: Function = Function::new("for json row", &[Rule::Any], LONG_TEXT, row).never_null();

/// A row as an array of its values' JSON: the values.
pub(crate) static FOR_JSON_VALUES: Function =
    Function::new("for json values", &[Rule::Any], LONG_TEXT, row_values).never_null();

/// Objects of several levels: the rows of [`FOR_JSON_VALUES`], whether NULLs are included, the number of levels, the
/// names of all levels but the first; and for each column its name, its level, and whether its value counts when rows
/// are compared.
pub(crate) static FOR_JSON_LEVELS: Function = Function::new("for json levels", &[Rule::Any], LONG_TEXT, levels);

/// The whole result: the objects, the name of the root or NULL, and whether there is an array around them.
pub(crate) static FOR_JSON: Function = Function::new("for json", &[Rule::Any], LONG_TEXT, whole).taking_nulls();

/// A text as rows of at most [`ROW_LENGTH`] characters.
pub(crate) static FOR_ROWS: Function = Function::new("for rows", &[Rule::Any], LONG_TEXT, split);

fn row(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let includes_nulls = *call.value(0) == Value::Bit(true);
    let has_paths = *call.value(1) == Value::Bit(true);
    let mut writer = ObjectWriter {
        text: String::from("{"),
        open: Vec::new(),
        is_empty: true,
    };
    for at in (2..call.values.len()).step_by(2) {
        let value = call.value(at + 1);
        if *value == Value::Null && !includes_nulls {
            continue;
        }
        let name = call.text(at)?;
        let mut steps: Vec<&str> = match has_paths {
            true => name.split('.').collect(),
            false => vec![name],
        };
        let name = steps.pop().unwrap_or_default();
        writer.enter(&steps);
        writer.name(name);
        let is_json = call.exprs.get(at + 1).is_some_and(is_json_call);
        push_value(&mut writer.text, value, &call.data_type(at + 1), is_json)?;
        call.reserve(writer.text.len())?;
    }
    writer.enter(&[]);
    writer.text.push('}');
    Ok(Value::Text(Arc::from(writer.text)))
}

/// Writes an object with nested ones.
struct ObjectWriter<'a> {
    text: String,
    /// The names of the nested objects that are open.
    open: Vec<&'a str>,
    /// Whether the innermost object has no member.
    is_empty: bool,
}

impl<'a> ObjectWriter<'a> {
    /// Opens and closes nested objects so that these are open.
    fn enter(&mut self, steps: &[&'a str]) {
        let common = self
            .open
            .iter()
            .zip(steps)
            .take_while(|(open, step)| open == step)
            .count();
        while self.open.len() > common {
            self.open.pop();
            self.text.push('}');
            self.is_empty = false;
        }
        for step in steps.iter().skip(common) {
            self.name(step);
            self.text.push('{');
            self.open.push(step);
            self.is_empty = true;
        }
    }

    fn name(&mut self, name: &str) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.text.push(',');
        }
        push_quoted(&mut self.text, name);
        self.text.push(':');
    }
}

fn row_values(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let mut text = String::from("[");
    for (at, value) in call.values.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        if *value == Value::Null {
            text.push_str("null");
            continue;
        }
        let mut written = String::new();
        let is_json = call.exprs.get(at).is_some_and(is_json_call);
        push_value(&mut written, value, &call.data_type(at), is_json)?;
        push_quoted(&mut text, &written);
        call.reserve(text.len())?;
    }
    text.push(']');
    Ok(Value::Text(Arc::from(text)))
}

/// A column of [`FOR_JSON_LEVELS`].
struct LevelColumn<'a> {
    name: &'a str,
    level: usize,
    is_compared: bool,
}

fn levels(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let includes_nulls = *call.value(1) == Value::Bit(true);
    let count = usize::try_from(call.int(2)?).unwrap_or(1).max(1);
    let mut names = Vec::with_capacity(count);
    for at in 3..2 + count {
        names.push(call.text(at)?);
    }
    let mut columns = Vec::new();
    for at in (2 + count..call.values.len()).step_by(3) {
        columns.push(LevelColumn {
            name: call.text(at)?,
            level: usize::try_from(call.int(at + 1)?).unwrap_or(0),
            is_compared: *call.value(at + 2) == Value::Bit(true),
        });
    }
    let source = format!("[{}]", call.text(0)?);
    call.reserve(source.len().saturating_mul(4))?;
    let document = Document::read(&source);
    let last = count - 1;
    let mut text = String::new();
    let mut previous: Option<Vec<&str>> = None;
    let mut polls = call.polls();
    for row in document.children(0) {
        polls.step()?;
        let values: Vec<&str> = document.children(row).map(|value| document.text(value)).collect();
        let first = match &previous {
            None => 0,
            Some(previous) => first_change(&columns, previous, &values, last),
        };
        if previous.is_some() {
            close(&mut text, first, last);
            text.push(',');
        }
        for level in first..=last {
            text.push('{');
            let mut is_empty = true;
            for (column, value) in columns.iter().zip(&values).filter(|(column, _)| column.level == level) {
                if *value == "null" && !includes_nulls {
                    continue;
                }
                if !std::mem::replace(&mut is_empty, false) {
                    text.push(',');
                }
                push_quoted(&mut text, column.name);
                text.push(':');
                let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                match inner {
                    Some(inner) => text.push_str(&unescaped_name(inner)?),
                    None => text.push_str(value),
                }
            }
            if let Some(name) = names.get(level) {
                text.push_str(if is_empty { "" } else { "," });
                push_quoted(&mut text, name);
                text.push_str(":[");
            }
        }
        call.reserve(text.len())?;
        previous = Some(values);
    }
    if previous.is_some() {
        close(&mut text, 0, last);
    }
    Ok(Value::Text(Arc::from(text)))
}

/// The first level of which a row has another object than the row before it; the last level always has.
fn first_change(columns: &[LevelColumn<'_>], previous: &[&str], values: &[&str], last: usize) -> usize {
    let changes = columns.iter().zip(previous.iter().zip(values));
    let changed = changes.filter(|(column, (before, now))| column.is_compared && before != now);
    changed.map(|(column, _)| column.level).min().unwrap_or(last).min(last)
}

/// Closes the objects of the levels from `first` to `last`.
fn close(text: &mut String, first: usize, last: usize) {
    for level in (first..=last).rev() {
        text.push_str(if level < last { "]}" } else { "}" });
    }
}

fn whole(call: &Arguments<'_>) -> Result<Value, SqlError> {
    if *call.value(0) == Value::Null {
        return Ok(Value::Null);
    }
    let objects = call.text(0)?;
    let has_array = *call.value(2) == Value::Bit(true);
    let mut text = String::with_capacity(objects.len() + 2);
    let has_root = *call.value(1) != Value::Null;
    if has_root {
        text.push('{');
        push_quoted(&mut text, call.text(1)?);
        text.push(':');
    }
    text.push_str(if has_array { "[" } else { "" });
    text.push_str(objects);
    text.push_str(if has_array { "]" } else { "" });
    text.push_str(if has_root { "}" } else { "" });
    call.reserve(text.len())?;
    Ok(Value::Text(Arc::from(text)))
}

fn split(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let mut rest = call.text(0)?;
    call.reserve(rest.len().saturating_mul(2))?;
    let mut rows = RowWriter::new();
    while !rest.is_empty() {
        let mut piece = utf16_prefix(rest, ROW_LENGTH);
        if piece.is_empty() {
            piece = rest;
        }
        rows.begin();
        rows.cell(&Value::Text(Arc::from(piece)), &DataType::NVarChar(Width::Max))?;
        rows.end();
        rest = rest.get(piece.len()..).unwrap_or_default();
    }
    Ok(Value::Text(Arc::from(rows.finish())))
}

const LONG_TEXT: Typing = Typing::Is(DataType::NVarChar(Width::Max));

/// The characters of a row of FOR JSON and FOR XML, as SQL Server sends them.
const ROW_LENGTH: usize = 2033;
