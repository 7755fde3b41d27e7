//! Parses values (MS-TDS 2.2.5.5).

use std::sync::Arc;

use selenite_types::{DataType, DateTime2, DateTimeOffset, Decimal, Guid, Value, Width};

use super::type_info::{IN_CHUNKS, fixed};
use super::value_error::ValueError;
use super::{Collation, WireType, chunks, code_page, moment, variant};
use crate::ParameterFault;
use crate::byte_reader::ByteReader;
use crate::type_byte as byte;

impl WireType {
    /// Parses a value of this type, as in a row or after a parameter's TYPE_INFO.
    pub fn parse_value(&self, reader: &mut ByteReader<'_>) -> Result<Value, ValueError> {
        if self.byte == byte::NULL {
            return Ok(Value::Null);
        }
        if fixed(self.byte).is_some() {
            let bytes = reader.take(self.size.into())?;
            return self.value(bytes);
        }
        match self.byte {
            byte::BIG_VARBINARY
            | byte::BIG_BINARY
            | byte::BIG_VARCHAR
            | byte::BIG_CHAR
            | byte::NVARCHAR
            | byte::NCHAR
            | byte::XML => self.parse_string_value(reader),
            byte::TEXT | byte::NTEXT | byte::IMAGE => match reader.u32()? {
                u32::MAX => Ok(Value::Null),
                size => self.value(reader.take(usize::try_from(size).unwrap_or(usize::MAX))?),
            },
            byte::VARIANT => variant::parse(reader),
            _ => {
                let bytes = reader.short_bytes()?;
                match bytes.is_empty() {
                    true => Ok(Value::Null),
                    false => self.sized_value(bytes),
                }
            }
        }
    }

    fn parse_string_value(&self, reader: &mut ByteReader<'_>) -> Result<Value, ValueError> {
        if self.size == IN_CHUNKS {
            return match chunks::parse(reader, self.byte)? {
                Some(bytes) => self.value(&bytes),
                None => Ok(Value::Null),
            };
        }
        match reader.u16()? {
            u16::MAX => Ok(Value::Null),
            size if size > self.size => Err(ParameterFault::Length(self.byte).into()),
            size => self.value(reader.take(size.into())?),
        }
    }

    /// Parses the bytes of a value whose size its type determines.
    pub(super) fn sized_value(&self, bytes: &[u8]) -> Result<Value, ValueError> {
        let is_decimal = matches!(self.byte, byte::DECIMAL_N | byte::NUMERIC_N);
        match u16::try_from(bytes.len()) {
            Ok(2..=17) if is_decimal => self.value(bytes),
            Ok(size) if size == self.size => self.value(bytes),
            Ok(_) | Err(_) => Err(ParameterFault::Length(self.byte).into()),
        }
    }

    /// Parses a value that is not NULL.
    pub(super) fn value(&self, bytes: &[u8]) -> Result<Value, ValueError> {
        match self.info.data_type {
            DataType::Char(_)
            | DataType::Utf8Char(_)
            | DataType::VarChar(_)
            | DataType::Utf8VarChar(_)
            | DataType::NChar(_)
            | DataType::NVarChar(_) => self.text(bytes),
            DataType::Binary(size) => {
                let mut padded = bytes.to_vec();
                padded.resize(usize::from(size).max(bytes.len()), 0);
                Ok(Value::Binary(padded.into()))
            }
            DataType::VarBinary(_) | DataType::RowVersion => Ok(Value::Binary(Arc::from(bytes))),
            DataType::Xml => xml(bytes),
            DataType::Bit
            | DataType::TinyInt
            | DataType::SmallInt
            | DataType::Int
            | DataType::BigInt
            | DataType::Decimal { .. }
            | DataType::Numeric { .. }
            | DataType::SmallMoney
            | DataType::Money
            | DataType::Real
            | DataType::Float
            | DataType::Date
            | DataType::Time(_)
            | DataType::SmallDateTime
            | DataType::DateTime
            | DataType::DateTime2(_)
            | DataType::DateTimeOffset(_)
            | DataType::UniqueIdentifier
            | DataType::SqlVariant => scalar(self.info.data_type, bytes).ok_or(ParameterFault::Value(self.byte).into()),
        }
    }

    /// Decodes text and pads it to the length of char and nchar.
    fn text(&self, bytes: &[u8]) -> Result<Value, ValueError> {
        let data_type = self.info.data_type;
        let mut text = if matches!(data_type, DataType::NChar(_) | DataType::NVarChar(_)) {
            if !bytes.len().is_multiple_of(2) {
                return Err(ParameterFault::Length(self.byte).into());
            }
            crate::utf16::parse(bytes).ok_or(ParameterFault::Unsupported("half a surrogate pair"))?
        } else {
            let collation = self.info.collation.unwrap_or(Collation::DEFAULT);
            let fault = ParameterFault::Unsupported("text in a code page other than 1252 and UTF-8");
            code_page::parse(bytes, collation).ok_or(fault)?
        };
        if let DataType::Char(size) | DataType::Utf8Char(size) | DataType::NChar(size) = data_type {
            let unit_size = if matches!(data_type, DataType::NChar(_)) { 2 } else { 1 };
            let missing = usize::from(size).saturating_sub(bytes.len() / unit_size);
            text.extend(std::iter::repeat_n(' ', missing));
        }
        Ok(Value::Text(text.into()))
    }
}

/// xml in UTF-16, with or without a byte order mark, or as its bytes declare.
fn xml(bytes: &[u8]) -> Result<Value, ValueError> {
    let is_wide = matches!(bytes, [_, 0, ..]);
    let made = match crate::utf16::parse(bytes).filter(|_| is_wide) {
        Some(text) => selenite_types::normalized(&text, false),
        None => selenite_types::normalized_bytes(bytes, false),
    };
    Ok(Value::Text(made.map_err(ParameterFault::Xml)?.into()))
}

/// Parses a value that is neither text nor binary; `None` if it is out of range or has a wrong length.
fn scalar(data_type: DataType, bytes: &[u8]) -> Option<Value> {
    Some(match data_type {
        DataType::Bit => Value::Bit(bytes != [0]),
        DataType::TinyInt => Value::TinyInt(u8::from_le_bytes(bytes.try_into().ok()?)),
        DataType::SmallInt => Value::SmallInt(i16::from_le_bytes(bytes.try_into().ok()?)),
        DataType::Int => Value::Int(i32::from_le_bytes(bytes.try_into().ok()?)),
        DataType::BigInt => Value::BigInt(i64::from_le_bytes(bytes.try_into().ok()?)),
        DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale } => {
            Value::Decimal(decimal(bytes, precision, scale)?)
        }
        DataType::SmallMoney => Value::Money(i32::from_le_bytes(bytes.try_into().ok()?).into()),
        DataType::Money => Value::Money(money(bytes.try_into().ok()?)),
        DataType::Real => {
            Value::Real(Some(f32::from_le_bytes(bytes.try_into().ok()?)).filter(|real| real.is_finite())?)
        }
        DataType::Float => {
            Value::Float(Some(f64::from_le_bytes(bytes.try_into().ok()?)).filter(|float| float.is_finite())?)
        }
        DataType::Date => Value::Date(moment::parse_date(bytes.try_into().ok()?)?),
        DataType::Time(scale) => Value::Time(moment::parse_time(bytes, scale)?),
        DataType::SmallDateTime => {
            let &[a, b, c, d] = bytes.first_chunk()?;
            let (days, minutes) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
            Value::DateTime(moment::from_smalldatetime(days, minutes)?)
        }
        DataType::DateTime => {
            let (days, ticks) = (bytes.first_chunk()?, bytes.last_chunk()?);
            Value::DateTime(moment::from_datetime(
                i32::from_le_bytes(*days),
                u32::from_le_bytes(*ticks),
            )?)
        }
        DataType::DateTime2(scale) => Value::DateTime(datetime2(bytes, scale)?),
        DataType::DateTimeOffset(scale) => {
            let (utc, offset) = bytes.split_last_chunk()?;
            let value = DateTimeOffset {
                utc: datetime2(utc, scale)?,
                offset_minutes: i16::from_le_bytes(*offset),
            };
            Value::DateTimeOffset(Some(value).filter(|value| moment::is_moment_with_offset(*value))?)
        }
        DataType::UniqueIdentifier => Value::Guid(Guid(bytes.try_into().ok()?)),
        DataType::Char(_)
        | DataType::Utf8Char(_)
        | DataType::VarChar(_)
        | DataType::Utf8VarChar(_)
        | DataType::NChar(_)
        | DataType::NVarChar(_)
        | DataType::Binary(_)
        | DataType::RowVersion
        | DataType::VarBinary(Width::Limited(_) | Width::Max)
        | DataType::SqlVariant
        | DataType::Xml => return None,
    })
}

/// MS-TDS 2.2.5.5.1.6: a sign, then the magnitude.
fn decimal(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
    let (&sign, magnitude) = bytes.split_first()?;
    let mut whole = [0; 16];
    whole.get_mut(..magnitude.len())?.copy_from_slice(magnitude);
    let magnitude = i128::try_from(u128::from_le_bytes(whole)).ok()?;
    if sign > 1 || magnitude >= 10_i128.checked_pow(precision.into())? {
        return None;
    }
    let unscaled = if sign == 0 { -magnitude } else { magnitude };
    Some(Decimal { unscaled, scale })
}

/// MS-TDS 2.2.5.5.1.4: the upper half comes first.
fn money([a, b, c, d, e, f, g, h]: [u8; 8]) -> i64 {
    i64::from_le_bytes([e, f, g, h, a, b, c, d])
}

fn datetime2(bytes: &[u8], scale: u8) -> Option<DateTime2> {
    let (time, date) = bytes.split_last_chunk()?;
    Some(DateTime2 {
        date: moment::parse_date(*date)?,
        time: moment::parse_time(time, scale)?,
    })
}
