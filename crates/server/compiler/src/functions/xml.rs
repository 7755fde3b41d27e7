//! FOR XML: rows as elements, and the whole result.

use std::sync::Arc;

use selenite_types::{DataType, Value, Width};

use crate::expr::{Rule, Typing};
use crate::functions::Arguments;
use crate::json::{Document, push_quoted, unescaped_name};
use crate::xml::{XmlWriter, form_of, value_text, without_default};
use crate::{Ends, Function, SqlError};

/// A row of RAW: the element or an empty text, whether columns are elements, whether NULLs are marked, the
/// declarations of the element; then name, value and whether it is XML, of each column.
pub(crate) static FOR_XML_RAW: Function = Function::new("for xml raw", &[Rule::Any], LONG_TEXT, raw_row).never_null();

/// A row of PATH, with the arguments of [`FOR_XML_RAW`]; names are paths.
pub(crate) static FOR_XML_PATH: Function =
    Function::new("for xml path", &[Rule::Any], LONG_TEXT, path_row).never_null();

/// A row of AUTO with several levels: a JSON array of the values' texts.
pub(crate) static FOR_XML_VALUES: Function =
    Function::new("for xml values", &[Rule::Any], LONG_TEXT, row_values).never_null();

/// Elements of several levels: the rows of [`FOR_XML_VALUES`], whether columns are elements, whether NULLs are
/// marked, the declarations of the outermost elements, the number of levels, and their names; then name, level,
/// whether its value counts when rows are compared, and whether it is XML, of each column.
pub(crate) static FOR_XML_LEVELS: Function = Function::new("for xml levels", &[Rule::Any], LONG_TEXT, levels);

/// The whole result: the elements, the root or NULL, and the declarations of the root.
pub(crate) static FOR_XML: Function = Function::new("for xml", &[Rule::Any], LONG_TEXT, whole).taking_nulls();

/// As [`FOR_XML`], with TYPE: what composes XML does not escape it.
pub(crate) static FOR_XML_TYPE: Function =
    Function::new("for xml type", &[Rule::Any], Typing::Is(DataType::Xml), typed).taking_nulls();

/// A text that is XML.
pub(crate) static XML_TEXT: Function = Function::new(
    "xml text",
    &[Rule::Any],
    Typing::By(|arguments| arguments.first().map_or(DataType::Int, |first| first.data_type)),
    |call| Ok(call.value(0).clone()),
);

/// xml of which elements of no namespace say so; whether only the outermost ones.
pub(crate) static XML_OF_NO_NAMESPACE: Function =
    Function::new("xml of no namespace", &[Rule::Any], Typing::Is(DataType::Xml), |call| {
        let xml = call.text(0)?;
        call.reserve(xml.len().saturating_mul(2))?;
        Ok(Value::Text(Arc::from(without_default(xml, is_set(call, 1)))))
    });

fn is_set(call: &Arguments<'_>, at: usize) -> bool {
    *call.value(at) == Value::Bit(true)
}

fn raw_row(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (element, elements, xsinil) = (call.text(0)?, is_set(call, 1), is_set(call, 2));
    let mut writer = XmlWriter::new(call.text(3)?);
    if !element.is_empty() {
        writer.open(element);
    }
    // Attributes come before elements, which only XML becomes there.
    for is_attribute in [true, false] {
        for at in (4..call.values.len()).step_by(3) {
            let is_xml = is_set(call, at + 2);
            if is_attribute != (!elements && !is_xml) {
                continue;
            }
            let value = call.value(at + 1);
            let name = call.text(at)?;
            let text = value_text(value, &call.data_type(at + 1))?;
            push_column(&mut writer, (name, is_attribute, is_xml, xsinil), value, &text);
            call.reserve(writer.text.len())?;
        }
    }
    if !element.is_empty() {
        writer.close();
    }
    Ok(Value::Text(Arc::from(writer.text)))
}

/// A column as attribute or element.
fn push_column(
    writer: &mut XmlWriter<'_>,
    (name, is_attribute, is_xml, xsinil): (&str, bool, bool, bool),
    value: &Value,
    text: &str,
) {
    let is_null = *value == Value::Null;
    match (is_null, is_attribute) {
        (true, false) if xsinil => {
            writer.open(name);
            writer.nil();
            writer.close();
        }
        (true, _) => {}
        (false, true) => writer.attribute(name, text),
        (false, false) => {
            writer.open(name);
            match is_xml {
                true => writer.raw(text),
                false => writer.content(text),
            }
            writer.close();
        }
    }
}

fn path_row(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (element, xsinil) = (call.text(0)?, is_set(call, 2));
    let mut writer = XmlWriter::new(call.text(3)?);
    if !element.is_empty() {
        writer.open(element);
    }
    let row = writer.depth();
    for at in (4..call.values.len()).step_by(3) {
        let value = call.value(at + 1);
        let is_xml = is_set(call, at + 2);
        let text = value_text(value, &call.data_type(at + 1))?;
        push_path(&mut writer, row, call.text(at)?, (value, &text), (is_xml, xsinil))?;
        call.reserve(writer.text.len())?;
    }
    writer.enter(0, &[]);
    Ok(Value::Text(Arc::from(writer.text)))
}

/// A column of PATH in its place.
fn push_path(
    writer: &mut XmlWriter<'_>,
    row: usize,
    path: &str,
    (value, text): (&Value, &str),
    (is_xml, xsinil): (bool, bool),
) -> Result<(), SqlError> {
    let mut steps: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
    let last = steps.last().copied().unwrap_or_default();
    let is_null = *value == Value::Null;
    if let Some(name) = last.strip_prefix('@') {
        steps.pop();
        if !is_null {
            writer.enter(row, &steps);
            writer.attribute(name, text);
        }
        return Ok(());
    }
    let is_function = last == "*" || last.ends_with(')');
    let function = if is_function {
        steps.pop().unwrap_or_default()
    } else {
        ""
    };
    let makes_no_text = function == "comment()" || function.starts_with("processing-instruction(");
    if is_null {
        if xsinil && !steps.is_empty() && !makes_no_text {
            writer.enter(row, &steps);
            writer.nil();
            writer.enter(row, steps.split_last().map_or(&[][..], |(_, before)| before));
        }
        return Ok(());
    }
    writer.enter(row, &steps);
    let target = function
        .strip_prefix("processing-instruction(")
        .and_then(|rest| rest.strip_suffix(')'));
    match (function, target) {
        ("data()", _) => writer.atom(text),
        ("comment()", _) => {
            if text.contains("--") || text.ends_with('-') {
                return Err(SqlError::for_xml_comment(if text.contains("--") { 2 } else { 3 }));
            }
            writer.raw(&format!("<!--{text}-->"));
        }
        (_, Some(target)) => writer.raw(&format!("<?{target} {text}?>")),
        _ if is_xml => writer.raw(text),
        _ => writer.content(text),
    }
    Ok(())
}

fn row_values(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let mut text = String::from("[");
    for (at, value) in call.values.iter().enumerate() {
        text.push_str(if at > 0 { "," } else { "" });
        match *value == Value::Null {
            true => text.push_str("null"),
            false => push_quoted(&mut text, &value_text(value, &call.data_type(at))?),
        }
        call.reserve(text.len())?;
    }
    text.push(']');
    Ok(Value::Text(Arc::from(text)))
}

/// A column of [`FOR_XML_LEVELS`].
struct LevelColumn<'a> {
    name: &'a str,
    level: usize,
    is_compared: bool,
    is_xml: bool,
}

fn levels(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (elements, xsinil) = (is_set(call, 1), is_set(call, 2));
    let count = usize::try_from(call.int(4)?).unwrap_or(1).max(1);
    let mut names = Vec::with_capacity(count);
    for at in 5..5 + count {
        names.push(call.text(at)?);
    }
    let mut columns = Vec::new();
    for at in (5 + count..call.values.len()).step_by(4) {
        columns.push(LevelColumn {
            name: call.text(at)?,
            level: usize::try_from(call.int(at + 1)?).unwrap_or(0),
            is_compared: is_set(call, at + 2),
            is_xml: is_set(call, at + 3),
        });
    }
    let source = format!("[{}]", call.text(0)?);
    call.reserve(source.len().saturating_mul(4))?;
    let document = Document::read(&source);
    let mut writer = XmlWriter::new(call.text(3)?);
    let mut previous: Option<Vec<&str>> = None;
    let mut polls = call.polls();
    for row in document.children(0) {
        polls.step()?;
        let values: Vec<&str> = document.children(row).map(|value| document.text(value)).collect();
        let first = match &previous {
            None => 0,
            Some(previous) => first_change(&columns, previous, &values, count - 1),
        };
        while writer.depth() > first {
            writer.close();
        }
        for (level, name) in names.iter().enumerate().skip(first) {
            writer.open(name);
            for is_attribute in [true, false] {
                for (column, value) in columns.iter().zip(&values).filter(|(column, _)| column.level == level) {
                    if is_attribute != (!elements && !column.is_xml) {
                        continue;
                    }
                    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
                    let text = inner.map(unescaped_name).transpose()?;
                    let is_null = text.is_none();
                    let value = if is_null { Value::Null } else { Value::Bit(true) };
                    let how = (column.name, is_attribute, column.is_xml, xsinil);
                    push_column(&mut writer, how, &value, &text.unwrap_or_default());
                }
            }
        }
        call.reserve(writer.text.len())?;
        previous = Some(values);
    }
    writer.enter(0, &[]);
    Ok(Value::Text(Arc::from(writer.text)))
}

/// The first level of which a row has another element than the row before it; the last level always has.
fn first_change(columns: &[LevelColumn<'_>], previous: &[&str], values: &[&str], last: usize) -> usize {
    let changes = columns.iter().zip(previous.iter().zip(values));
    let changed = changes.filter(|(column, (before, now))| column.is_xml || column.is_compared && before != now);
    changed.map(|(column, _)| column.level).min().unwrap_or(last).min(last)
}

/// As [`whole`], without characters that the type xml does not have.
fn typed(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let whole = whole(call)?;
    let Value::Text(text) = &whole else { return Ok(whole) };
    // EXPLICIT writes values of the directive xml as they are.
    let form = form_of(&mut call.polls(), text);
    let form = form.map_err(|error| match not_in_xml(text) {
        Some(code) if error.number() == ILLEGAL_CHARACTER => SqlError::not_in_xml(code),
        Some(_) | None => error,
    })?;
    Ok(Value::Text(Arc::from(form)))
}

/// The first character that is written as a reference, and that xml does not have.
fn not_in_xml(text: &str) -> Option<u32> {
    let mut codes = text.split("&#x").skip(1).filter_map(|rest| {
        let digits = rest.split_once(';')?.0;
        u32::from_str_radix(digits, 16).ok()
    });
    codes.find(|code| matches!(code, 0..=8 | 0xB | 0xC | 0xE..=0x1F | 0xFFFE | 0xFFFF))
}

/// The number of the error of a character that xml does not have.
const ILLEGAL_CHARACTER: i32 = 9420;

fn whole(call: &Arguments<'_>) -> Result<Value, SqlError> {
    if *call.value(0) == Value::Null {
        return Ok(Value::Null);
    }
    let elements = call.text(0)?;
    if *call.value(1) == Value::Null {
        return Ok(call.value(0).clone());
    }
    let mut writer = XmlWriter::new(call.text(2)?);
    writer.open(call.text(1)?);
    writer.raw(elements);
    writer.close();
    call.reserve(writer.text.len())?;
    Ok(Value::Text(Arc::from(writer.text)))
}

const LONG_TEXT: Typing = Typing::Is(DataType::NVarChar(Width::Max));

impl SqlError {
    /// 6841: a control character where xml is wanted.
    fn not_in_xml(code: u32) -> Self {
        let text = format!(
            "FOR XML could not serialize the data for node 'NoName' because it contains a character (0x{code:04X}) which is not \
             allowed in XML. To retrieve this data using FOR XML, convert it to binary, varbinary or image data type and use \
             the BINARY BASE64 directive."
        );
        Self::new(6841, Ends::Statement, text)
    }
}
