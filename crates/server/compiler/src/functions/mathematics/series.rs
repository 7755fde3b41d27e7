//! GENERATE_SERIES.

use std::sync::Arc;

use selenite_types::{DataType, Decimal, Value, Width, convert};

use crate::expr::{Rule, Typing};
use crate::functions::Arguments;
use crate::json::RowWriter;
use crate::{Function, SqlError};

/// Start, stop and step, all of one type; rows of one column.
pub(crate) static GENERATE_SERIES: Function = Function::new(
    "generate_series",
    &[Rule::Any],
    Typing::Is(DataType::NVarChar(Width::Max)),
    series,
);

/// The numbers as integers, decimals times a power of ten.
fn series(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let data_type = call.data_type(0);
    let scale = data_type.decimal_digits().map_or(0, |(_, scale)| scale);
    let one = 10_i128.pow(u32::from(scale));
    let start = number(call.value(0))?;
    let stop = number(call.value(1))?;
    let step = match call.values.len() {
        0..=2 if start <= stop => one,
        0..=2 => -one,
        _ => number(call.value(2))?,
    };
    if step == 0 {
        return Err(SqlError::series_step());
    }
    let mut rows = RowWriter::new();
    let mut polls = call.polls();
    let mut at = start;
    while if step > 0 { at <= stop } else { at >= stop } {
        polls.step()?;
        rows.begin();
        rows.cell(&value(at, scale, &data_type)?, &data_type)?;
        rows.end();
        if rows.size().is_multiple_of(CHECKED_SIZE) {
            call.reserve(rows.size())?;
        }
        let Some(next) = at.checked_add(step) else { break };
        at = next;
    }
    call.reserve(rows.size())?;
    Ok(Value::Text(Arc::from(rows.finish())))
}

fn number(value: &Value) -> Result<i128, SqlError> {
    value
        .unscaled()
        .ok_or_else(|| SqlError::internal("a series of what is no number"))
}

fn value(number: i128, scale: u8, data_type: &DataType) -> Result<Value, SqlError> {
    if data_type.decimal_digits().is_some() {
        return Ok(Value::Decimal(Decimal {
            unscaled: number,
            scale,
        }));
    }
    let number = i64::try_from(number).map_err(|_| SqlError::overflow(data_type.overflow_name()))?;
    let format = selenite_types::DateFormat::default();
    Ok(convert(
        &Value::BigInt(number),
        &DataType::BigInt,
        data_type,
        None,
        format,
    )?)
}

/// Memory is requested whenever the text's size is a multiple of this.
const CHECKED_SIZE: usize = 64;
