//! Conversion to binary and varbinary.

use crate::{
    DataType, DateTime2, DateTimeMinutes, DateTimeTicks, Decimal, TimeOfDay, Value, Width,
    convert::{ConversionError, ConversionFault, bytes_text::bytes_of_hex, request::Request},
    dates::{MomentType, unit_of_scale},
};

/// The sides where bytes are truncated and padded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Numbers: truncated and zero-padded at the front.
    Left,
    /// Text and binary: truncated and zero-padded at the end.
    Right,
    /// Decimals: truncated at the end, zero-padded at the front.
    Both,
    /// Dates of the newer types: never truncated, zero-padded at the end.
    Whole,
}

/// Numbers are big-endian, as in SQL Server.
pub(crate) fn to_binary(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let (bytes, side) = match value {
        Value::Binary(bytes) => return fitted(bytes, Side::Right, request),
        Value::Text(text) => (of_text(text, request)?, Side::Right),
        Value::Bit(bit) => (vec![u8::from(*bit)], Side::Left),
        Value::TinyInt(number) => (vec![*number], Side::Left),
        Value::SmallInt(number) => (number.to_be_bytes().to_vec(), Side::Left),
        Value::Int(number) => (number.to_be_bytes().to_vec(), Side::Left),
        Value::BigInt(number) => (number.to_be_bytes().to_vec(), Side::Left),
        Value::Decimal(number) => (of_decimal(*number, request.from), Side::Both),
        Value::Money(units) => (of_money(*units, request.from), Side::Left),
        Value::Real(number) => (number.to_be_bytes().to_vec(), Side::Left),
        Value::Float(number) => (number.to_be_bytes().to_vec(), Side::Left),
        Value::Guid(guid) => (guid.0.to_vec(), Side::Right),
        Value::DateTime(moment) if matches!(request.from, DataType::DateTime | DataType::SmallDateTime) => (
            of_datetime(*moment, request.from).ok_or_else(|| request.misfit())?,
            Side::Left,
        ),
        Value::Date(date) => (day_bytes(date.0).to_vec(), Side::Whole),
        Value::Time(time) => (of_time(*time, request.from), Side::Whole),
        Value::DateTime(moment) => (of_date_time(*moment, request.from), Side::Whole),
        Value::DateTimeOffset(moment) => {
            let mut bytes = of_date_time(moment.utc, request.from);
            bytes.extend(moment.offset_minutes.to_le_bytes());
            (bytes, Side::Whole)
        }
        Value::Null | Value::SqlVariant(_) => return Err(request.misfit()),
    };
    fitted(&bytes, side, request)
}

fn fitted(bytes: &[u8], side: Side, request: &Request<'_>) -> Result<Value, ConversionError> {
    let Some(Width::Limited(width)) = request.to.width() else {
        return Ok(Value::Binary(bytes.into()));
    };
    let width = usize::from(width);
    if let Some(excess) = bytes.len().checked_sub(width).filter(|excess| *excess > 0) {
        let kept = match side {
            Side::Left => bytes.get(excess..),
            Side::Right | Side::Both => bytes.get(..width),
            Side::Whole => return Err(request.fail(ConversionFault::Truncated)),
        };
        return Ok(Value::Binary(kept.unwrap_or(bytes).into()));
    }
    if !request.to.is_padded() {
        return Ok(Value::Binary(bytes.into()));
    }
    let zeros = std::iter::repeat_n(0, width - bytes.len());
    let padded: Vec<u8> = match side {
        Side::Left | Side::Both => zeros.chain(bytes.iter().copied()).collect(),
        Side::Right | Side::Whole => bytes.iter().copied().chain(zeros).collect(),
    };
    Ok(Value::Binary(padded.into()))
}

/// The encoded characters, or in styles 1 and 2 the bytes that the hexadecimal digits denote.
fn of_text(text: &str, request: &Request<'_>) -> Result<Vec<u8>, ConversionError> {
    match request.style.unwrap_or(0) {
        0 => Ok(request.from.encoded(text)),
        style @ (1 | 2) => bytes_of_hex(text, style == 1).ok_or_else(|| request.fail(ConversionFault::Unreadable)),
        _ => Err(request.no_style()),
    }
}

/// Precision, scale, a zero byte, the sign (1 is positive), and the magnitude little-endian in as few four-byte words
/// as possible.
fn of_decimal(number: Decimal, from: &DataType) -> Vec<u8> {
    let (precision, _) = from.decimal_digits().unwrap_or((38, 0));
    let digits = number.unscaled.unsigned_abs().to_le_bytes();
    let used = 16 - digits.iter().rev().take_while(|byte| **byte == 0).count();
    let length = used.div_ceil(4).max(1) * 4;
    let mut bytes = vec![precision, number.scale, 0, u8::from(number.unscaled >= 0)];
    bytes.extend(digits.iter().take(length));
    bytes
}

fn of_money(units: i64, from: &DataType) -> Vec<u8> {
    match i32::try_from(units) {
        Ok(units) if *from == DataType::SmallMoney => units.to_be_bytes().to_vec(),
        Ok(_) | Err(_) => units.to_be_bytes().to_vec(),
    }
}

fn of_datetime(moment: DateTime2, from: &DataType) -> Option<Vec<u8>> {
    if *from == DataType::SmallDateTime {
        let moment = DateTimeMinutes::nearest(moment)?;
        return Some([moment.days.to_be_bytes(), moment.minutes.to_be_bytes()].concat());
    }
    let moment = DateTimeTicks::nearest(moment)?;
    Some([moment.days.to_be_bytes(), moment.ticks.to_be_bytes()].concat())
}

fn of_date_time(moment: DateTime2, from: &DataType) -> Vec<u8> {
    let mut bytes = of_time(moment.time, from);
    bytes.extend(day_bytes(moment.date.0));
    bytes
}

/// The scale, and the units of the last digit since midnight, little-endian in a size that depends on the scale.
fn of_time(time: TimeOfDay, from: &DataType) -> Vec<u8> {
    let scale = MomentType::of(from).map_or(7, MomentType::scale);
    let units = time.0 / unit_of_scale(scale);
    let mut bytes = vec![scale];
    bytes.extend(units.to_le_bytes().iter().take(time_length(scale)));
    bytes
}

/// The size in bytes of a time with `scale` fractional digits.
pub(crate) fn time_length(scale: u8) -> usize {
    match scale {
        0..=2 => 3,
        3 | 4 => 4,
        _ => 5,
    }
}

fn day_bytes(days: u32) -> [u8; 3] {
    let [first, second, third, _] = days.to_le_bytes();
    [first, second, third]
}
