//! OPENJSON: rows of a document.

use std::sync::Arc;

use selenite_types::{DataType, Family, Value, Width, convert, utf16_prefix};

use crate::expr::{Rule, Typing};
use crate::functions::Arguments;
use crate::json::{Document, Found, Kind, Path, RowWriter, from_base64, scalar_text};
use crate::{Function, SqlError};

/// OPENJSON without WITH: the document and the path; rows of key, value and type.
pub(crate) static OPEN_JSON: Function = Function::new(
    "openjson",
    &[Rule::National, Rule::National],
    Typing::Is(DataType::NVarChar(Width::Max)),
    open,
)
.taking_nulls();

/// OPENJSON with WITH: the document and the path, and three arguments for each column: a NULL of its type, its path,
/// and whether it is AS JSON.
pub(crate) static OPEN_JSON_COLUMNS: Function = Function::new(
    "openjson",
    &[Rule::Any],
    Typing::Is(DataType::NVarChar(Width::Max)),
    open_columns,
)
.taking_nulls();

/// The container that the first two arguments name; `None` if there is nothing to open.
///
/// Errors: 13608, 13609, 13611; 8116 for a NULL path.
fn opened<'a>(call: &Arguments<'a>, has_schema: bool) -> Result<Option<(Document<'a>, usize)>, SqlError> {
    if *call.value(1) == Value::Null {
        return Err(SqlError::json_null_path("OPENJSON", 9));
    }
    let path = Path::parse(call.text(1)?, false)?;
    if *call.value(0) == Value::Null {
        return Ok(None);
    }
    let text = call.text(0)?;
    call.reserve(text.len().saturating_mul(NODE_FACTOR))?;
    let document = Document::read(text);
    let state = if path.steps.is_empty() { 4 } else { 3 };
    let Found::Value(node) = path.find(&document, state, 3)? else {
        return Ok(None);
    };
    if document.kind(node).is_container() {
        return Ok(Some((document, node)));
    }
    match path.strict {
        true => Err(SqlError::json_not_openable(if has_schema { 2 } else { 1 })),
        false => Ok(None),
    }
}

fn open(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some((document, root)) = opened(call, false)? else {
        return Ok(Value::Null);
    };
    let is_object = document.kind(root) == Kind::Object;
    let mut rows = RowWriter::new();
    let mut polls = call.polls();
    for (index, child) in document.children(root).enumerate() {
        polls.step()?;
        let key = match is_object {
            true => crate::json::unescaped_name(document.name(child))?,
            false => index.to_string(),
        };
        let kind = document.kind(child);
        let value = match kind {
            Kind::Null => Value::Null,
            Kind::String | Kind::Number | Kind::Boolean => text(&scalar_text(&document, child)?),
            Kind::Array | Kind::Object => text(document.text(child)),
        };
        rows.begin();
        rows.cell(&text(utf16_prefix(&key, KEY_LENGTH)), &LONG_TEXT)?;
        rows.cell(&value, &LONG_TEXT)?;
        rows.cell(&Value::TinyInt(type_code(kind)), &DataType::TinyInt)?;
        rows.end();
    }
    call.reserve(rows.size())?;
    Ok(text(&rows.finish()))
}

fn type_code(kind: Kind) -> u8 {
    match kind {
        Kind::Null => 0,
        Kind::String => 1,
        Kind::Number => 2,
        Kind::Boolean => 3,
        Kind::Array => 4,
        Kind::Object => 5,
    }
}

/// A column of WITH.
struct Column {
    data_type: DataType,
    path: Path,
    as_json: bool,
}

fn open_columns(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let mut columns = Vec::new();
    for at in (2..call.values.len()).step_by(3) {
        columns.push(Column {
            data_type: call.data_type(at),
            path: Path::parse(call.text(at + 1)?, false)?,
            as_json: *call.value(at + 2) == Value::Bit(true),
        });
    }
    let Some((document, root)) = opened(call, true)? else {
        return Ok(Value::Null);
    };
    let elements: Vec<usize> = match document.kind(root) {
        Kind::Array => document.children(root).collect(),
        Kind::Object | Kind::Null | Kind::String | Kind::Number | Kind::Boolean => vec![root],
    };
    let mut rows = RowWriter::new();
    let mut polls = call.polls();
    for element in elements {
        rows.begin();
        for column in &columns {
            polls.step()?;
            rows.cell(&column.value(&document, element, call)?, &column.data_type)?;
        }
        rows.end();
        call.reserve(rows.size())?;
    }
    Ok(text(&rows.finish()))
}

impl Column {
    fn value(&self, document: &Document<'_>, element: usize, call: &Arguments<'_>) -> Result<Value, SqlError> {
        let Found::Value(node) = self.path.find_in(document, element, 6)? else {
            return Ok(Value::Null);
        };
        let kind = document.kind(node);
        if kind == Kind::Null {
            return Ok(Value::Null);
        }
        if kind.is_container() != self.as_json {
            return match self.path.strict {
                true => Err(SqlError::json_container_missing(1)),
                false => Ok(Value::Null),
            };
        }
        if self.as_json {
            return Ok(text(document.text(node)));
        }
        let scalar = scalar_text(document, node)?;
        if self.data_type.family() == Family::Binary {
            return self.bytes(&scalar);
        }
        let format = call.environment.session().date_format;
        Ok(convert(&text(&scalar), &LONG_TEXT, &self.data_type, None, format)?)
    }

    /// Bytes of Base64.
    fn bytes(&self, scalar: &str) -> Result<Value, SqlError> {
        let mut bytes = from_base64(scalar).ok_or_else(SqlError::json_not_base64)?;
        if let Some(Width::Limited(width)) = self.data_type.width()
            && bytes.len() > usize::from(width)
        {
            return Err(SqlError::json_binary_truncated());
        }
        if let DataType::Binary(width) = self.data_type {
            bytes.resize(usize::from(width), 0);
        }
        Ok(Value::Binary(Arc::from(bytes)))
    }
}

fn text(text: &str) -> Value {
    Value::Text(Arc::from(text))
}

const LONG_TEXT: DataType = DataType::NVarChar(Width::Max);

/// The length of the column `key`.
const KEY_LENGTH: usize = 4000;

/// The size of a document's tree in relation to its text.
const NODE_FACTOR: usize = 4;
