//! OPENROWSET(BULK): the contents of a file.

use std::sync::Arc;

use selenite_types::{DataType, Value, Width, decode_code_page};

use crate::expr::{Arguments, Rule, Typing};
use crate::json::RowWriter;
use crate::{Function, SqlError};

/// The path, and NULL of the column's type; a row of one column.
pub(crate) static OPEN_BULK_FILE: Function = Function::new(
    "openrowset",
    &[Rule::Any, Rule::Any],
    Typing::Is(DataType::NVarChar(Width::Max)),
    open,
)
.taking_nulls()
.of_statement();

/// Errors: those of [`Environment::bulk_file`](crate::Environment::bulk_file); 4806 and 4809 for text of the other width.
fn open(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let data_type = call.data_type(1);
    let bytes = call.environment.bulk_file(call.text(0)?)?;
    // The rows are hexadecimal digits or escaped text.
    call.reserve(bytes.len().saturating_mul(4))?;
    let units = bytes.strip_prefix(&[0xFF, 0xFE]);
    let value = match (data_type.is_national(), units) {
        _ if matches!(data_type, DataType::VarBinary(_)) => Value::Binary(Arc::from(bytes)),
        (true, Some(units)) => Value::Text(Arc::from(utf16(units))),
        (true, None) => return Err(SqlError::bulk_not_unicode()),
        (false, Some(_)) => return Err(SqlError::bulk_unicode()),
        (false, None) => Value::Text(Arc::from(decode_code_page(&bytes))),
    };
    let mut rows = RowWriter::new();
    rows.begin();
    rows.cell(&value, &data_type)?;
    rows.end();
    Ok(Value::Text(Arc::from(rows.finish())))
}

fn utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}
