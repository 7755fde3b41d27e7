//! JSON_MODIFY: one range of the document's text is replaced.

use selenite_types::Value;

use super::query::{document_of, path_of};
use crate::SqlError;
use crate::functions::Arguments;
use crate::json::{Document, Found, Kind, Path, Step, is_json_call, push_value};

/// A change of a document's text: a range, and what replaces it.
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

/// JSON_MODIFY.
pub(super) fn json_modify(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let path = path_of(call, "JSON_MODIFY")?;
    if path.steps.is_empty() && !path.append {
        return Err(SqlError::json_modify_path());
    }
    if *call.value(0) == Value::Null {
        return Ok(Value::Null);
    }
    let document = document_of(call)?;
    let found = path.walk(&document, 7)?;
    match (found, document.error(7)) {
        (Found::Value(_), Some(error)) => return Err(error),
        (Found::Nothing, Some(_)) => return unchanged(call, &path),
        (Found::Value(_) | Found::Nothing, None) => {}
    }
    let new = call.value(2);
    let mut text = String::new();
    let is_json = call.exprs.get(2).is_some_and(is_json_call);
    push_value(&mut text, new, &call.data_type(2), is_json)?;
    let is_null = *new == Value::Null;
    let edit = match found {
        Found::Value(node) if path.append => match document.kind(node) {
            Kind::Array => Some(added(&document, node, &text)),
            Kind::Null | Kind::String | Kind::Number | Kind::Boolean | Kind::Object if path.strict => {
                return Err(SqlError::json_array_missing());
            }
            Kind::Null | Kind::String | Kind::Number | Kind::Boolean | Kind::Object => None,
        },
        Found::Value(node) => match (is_null && !path.strict, path.steps.last()) {
            (true, Some(Step::Name(_))) => Some(removed(&document, &path, node)?),
            (true, Some(Step::Index(_)) | None) | (false, _) => {
                let (start, end) = document.range(node);
                Some(Edit { start, end, text })
            }
        },
        Found::Nothing if is_null && !path.append => None,
        Found::Nothing => match (parent(&document, &path)?, path.steps.last()) {
            (Some(parent), Some(Step::Name(name))) if document.kind(parent) == Kind::Object && !path.strict => {
                let value = if path.append { format!("[{text}]") } else { text };
                Some(added(&document, parent, &format!("{}:{value}", written_name(name))))
            }
            (Some(_) | None, _) => None,
        },
    };
    let Some(edit) = edit else {
        return unchanged(call, &path);
    };
    let source = document.source();
    let mut changed = String::with_capacity(source.len() + edit.text.len());
    changed.push_str(source.get(..edit.start).unwrap_or_default());
    changed.push_str(&edit.text);
    changed.push_str(source.get(edit.end..).unwrap_or_default());
    call.reserve(changed.len())?;
    Ok(call.text_result(&changed))
}

/// The document as it is; of a strict path an error.
fn unchanged(call: &Arguments<'_>, path: &Path) -> Result<Value, SqlError> {
    match path.strict {
        true => Err(SqlError::json_property_missing(2)),
        false => Ok(call.text_result(call.text(0)?)),
    }
}

/// The value in which the path's last step is, of a valid document.
fn parent(document: &Document<'_>, path: &Path) -> Result<Option<usize>, SqlError> {
    let steps = path.steps.split_last().map_or(&[][..], |(_, before)| before);
    let path = Path {
        append: false,
        strict: false,
        steps: steps.to_vec(),
    };
    Ok(match path.walk(document, 7)? {
        Found::Value(node) => Some(node),
        Found::Nothing => None,
    })
}

/// A member or element at the end of an object or array.
fn added(document: &Document<'_>, container: usize, text: &str) -> Edit {
    let end = document.range(container).1.saturating_sub(1);
    let comma = if document.children(container).next().is_some() {
        ","
    } else {
        ""
    };
    Edit {
        start: end,
        end,
        text: format!("{comma}{text}"),
    }
}

/// A member without the comma before it, or, if it is the first, without the comma behind it.
fn removed(document: &Document<'_>, path: &Path, node: usize) -> Result<Edit, SqlError> {
    let source = document.source();
    let parent = parent(document, path)?.unwrap_or(0);
    let mut start = document.name_start(node);
    let mut end = document.range(node).1;
    let is_first = document.children(parent).next() == Some(node);
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    if is_first {
        let rest = source.as_bytes().get(end..).unwrap_or_default();
        let spaces = rest.iter().take_while(|byte| is_blank(**byte)).count();
        if rest.get(spaces) == Some(&b',') {
            end += spaces + 1;
        }
    } else {
        let before = source.as_bytes().get(..start).unwrap_or_default();
        let spaces = before.iter().rev().take_while(|byte| is_blank(**byte)).count();
        start = start.saturating_sub(spaces + 1);
    }
    Ok(Edit {
        start,
        end,
        text: String::new(),
    })
}

/// A name of a path as a JSON string: its escapes are those of the path.
fn written_name(name: &str) -> String {
    let mut written = String::from("\"");
    let mut rest = name.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => {
                written.push('\\');
                written.extend(rest.next());
            }
            '"' => written.push_str("\\\""),
            control if u32::from(control) < 0x20 => written.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => written.push(other),
        }
    }
    written.push('"');
    written
}
