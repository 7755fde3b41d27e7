use super::*;
use crate::{Date, DateTime2, Decimal, TimeOfDay, Width};

mod bytes;
mod messages;
mod moments;
mod numbers;
mod round_trips;
mod texts;

const VARCHAR: DataType = DataType::VarChar(Width::Limited(100));
const NVARCHAR: DataType = DataType::NVarChar(Width::Limited(100));
const VARBINARY: DataType = DataType::VarBinary(Width::Limited(100));

fn decimal(precision: u8, scale: u8) -> DataType {
    DataType::Decimal { precision, scale }
}

fn varchar(width: u16) -> DataType {
    DataType::VarChar(Width::Limited(width))
}

fn nvarchar(width: u16) -> DataType {
    DataType::NVarChar(Width::Limited(width))
}

fn varbinary(width: u16) -> DataType {
    DataType::VarBinary(Width::Limited(width))
}

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn bytes(bytes: &[u8]) -> Value {
    Value::Binary(bytes.into())
}

fn number(unscaled: i128, scale: u8) -> Value {
    Value::Decimal(Decimal { unscaled, scale })
}

fn cast(value: &Value, from: DataType, to: DataType) -> Result<Value, ConversionError> {
    convert(value, &from, &to, None, DateFormat::Mdy)
}

fn styled(value: &Value, from: DataType, to: DataType, style: i32) -> Result<Value, ConversionError> {
    convert(value, &from, &to, Some(style), DateFormat::Mdy)
}

/// CAST of text.
fn read(from: &str, to: DataType) -> Result<Value, ConversionError> {
    cast(&text(from), VARCHAR, to)
}

/// CAST to varchar(100).
fn shown(value: &Value, from: DataType) -> String {
    match cast(value, from, VARCHAR) {
        Ok(Value::Text(text)) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

fn refused(result: Result<Value, ConversionError>) -> (u16, String) {
    let error = result.expect_err("it converts");
    (error.number(), error.to_string())
}

fn moment(year: i32, month: i32, day: i32, clock: (u32, u32, u32), units: u32) -> DateTime2 {
    DateTime2 {
        date: Date::from_civil(year, month, day).unwrap(),
        time: TimeOfDay::from_clock(clock.0, clock.1, clock.2, units).unwrap(),
    }
}

/// Every type, some with several lengths and scales.
fn every_type() -> Vec<DataType> {
    let mut types = vec![
        DataType::Bit,
        DataType::TinyInt,
        DataType::SmallInt,
        DataType::Int,
        DataType::BigInt,
        DataType::SmallMoney,
        DataType::Money,
        DataType::Real,
        DataType::Float,
        DataType::Date,
        DataType::SmallDateTime,
        DataType::DateTime,
        DataType::UniqueIdentifier,
    ];
    for (precision, scale) in [(1, 0), (9, 4), (38, 0), (38, 38)] {
        types.extend([decimal(precision, scale), DataType::Numeric { precision, scale }]);
    }
    for length in [1, 7, 40] {
        types.extend([
            DataType::Char(length),
            varchar(length),
            DataType::NChar(length),
            nvarchar(length),
            DataType::Binary(length),
            varbinary(length),
        ]);
    }
    types.extend([
        DataType::VarChar(Width::Max),
        DataType::NVarChar(Width::Max),
        DataType::VarBinary(Width::Max),
    ]);
    for scale in 0..=7 {
        types.extend([
            DataType::Time(scale),
            DataType::DateTime2(scale),
            DataType::DateTimeOffset(scale),
        ]);
    }
    types
}
