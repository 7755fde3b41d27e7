//! Converts storage forms to values.

use std::borrow::Cow;

use super::clock_text::{parse_date, parse_date_time, parse_date_time_offset, parse_time};
use super::write::{INTEGER_PRECISION_MAX, SIGN_BIT, is_moment, is_offset_moment};
use super::{Misfit, MisfitCause, StorageClass, Stored, StoredRef, declared_type, text, xml_text};
use crate::{DataType, Decimal, SqlVariant, Value, Width, guid_from_ordered};

/// The value of type `declared` with the storage form `stored`.
///
/// A [`Misfit`] if it is the form of no value: another program wrote to the file.
#[inline]
pub fn from_stored(stored: StoredRef<'_>, declared: &DataType) -> Result<Value, Misfit> {
    match (stored, declared) {
        (StoredRef::Integer(integer), DataType::Int) => {
            if let Ok(value) = i32::try_from(integer) {
                return Ok(Value::Int(value));
            }
        }
        (StoredRef::Integer(integer), DataType::BigInt) => return Ok(Value::BigInt(integer)),
        _ => {}
    }
    let read = match stored {
        StoredRef::Null => Ok(Value::Null),
        StoredRef::Integer(integer) => from_integer(integer, declared),
        StoredRef::Real(real) => from_real(real, declared),
        StoredRef::Text(bytes) => from_text(bytes, declared),
        StoredRef::Blob(bytes) => from_blob(bytes, declared),
    };
    read.map_err(|cause| Misfit {
        found: stored.class(),
        declared: *declared,
        cause,
    })
}

fn from_integer(integer: i64, declared: &DataType) -> Result<Value, MisfitCause> {
    let value = match *declared {
        DataType::Bit => match integer {
            0 => Some(Value::Bit(false)),
            1 => Some(Value::Bit(true)),
            _ => None,
        },
        DataType::TinyInt => u8::try_from(integer).ok().map(Value::TinyInt),
        DataType::SmallInt => i16::try_from(integer).ok().map(Value::SmallInt),
        DataType::Int => i32::try_from(integer).ok().map(Value::Int),
        DataType::BigInt => Some(Value::BigInt(integer)),
        DataType::SmallMoney => i32::try_from(integer).ok().map(|_| Value::Money(integer)),
        DataType::Money => Some(Value::Money(integer)),
        DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale }
            if precision <= INTEGER_PRECISION_MAX =>
        {
            let number = Decimal {
                unscaled: i128::from(integer),
                scale,
            };
            number.fits(precision).then_some(Value::Decimal(number))
        }
        DataType::Decimal { .. }
        | DataType::Numeric { .. }
        | DataType::Real
        | DataType::Float
        | DataType::Char(_)
        | DataType::Utf8Char(_)
        | DataType::VarChar(_)
        | DataType::Utf8VarChar(_)
        | DataType::NChar(_)
        | DataType::NVarChar(_)
        | DataType::Binary(_)
        | DataType::RowVersion
        | DataType::VarBinary(_)
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_)
        | DataType::UniqueIdentifier
        | DataType::SqlVariant
        | DataType::Xml => return Err(MisfitCause::Class),
    };
    value.ok_or(MisfitCause::Range)
}

fn from_real(real: f64, declared: &DataType) -> Result<Value, MisfitCause> {
    let value = if *declared == DataType::Float {
        Value::Float(real)
    } else if *declared == DataType::Real {
        let narrow = to_real(real);
        if f64::from(narrow) != real {
            return Err(MisfitCause::NotFinite);
        }
        Value::Real(narrow)
    } else {
        return Err(MisfitCause::Class);
    };
    if real.is_finite() {
        Ok(value)
    } else {
        Err(MisfitCause::NotFinite)
    }
}

fn from_text(bytes: &[u8], declared: &DataType) -> Result<Value, MisfitCause> {
    let value = match *declared {
        DataType::Xml => return xml_text::checked(bytes).map(Value::Text),
        DataType::VarChar(_) | DataType::Utf8VarChar(_) | DataType::NVarChar(_) => {
            return text::checked(bytes, declared).map(|text| Value::Text(text.into()));
        }
        DataType::Char(length) | DataType::Utf8Char(length) | DataType::NChar(length) => {
            let text = text::checked(bytes, declared)?;
            return Ok(Value::Text(text::padded(text, length, declared).into()));
        }
        DataType::Date => parse_date(bytes).map(Value::Date),
        DataType::Time(scale) => parse_time(bytes, scale).map(Value::Time),
        DataType::SmallDateTime | DataType::DateTime | DataType::DateTime2(_) => {
            let moment = parse_date_time(bytes, declared.time_scale());
            moment
                .filter(|moment| is_moment(*moment, declared))
                .map(Value::DateTime)
        }
        DataType::DateTimeOffset(scale) => {
            let moment = parse_date_time_offset(bytes, scale);
            moment
                .filter(|moment| is_offset_moment(*moment, scale))
                .map(Value::DateTimeOffset)
        }
        DataType::SqlVariant => return variant(bytes),
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
        | DataType::Binary(_)
        | DataType::RowVersion
        | DataType::VarBinary(_)
        | DataType::UniqueIdentifier => return Err(MisfitCause::Class),
    };
    value.ok_or(MisfitCause::Form)
}

/// The sql_variant of a form.
fn variant(bytes: &[u8]) -> Result<Value, MisfitCause> {
    let text = std::str::from_utf8(bytes).map_err(|_| MisfitCause::Encoding)?;
    let (name, form) = text.split_once(' ').ok_or(MisfitCause::Form)?;
    let declared = declared_type(name).map_err(|_| MisfitCause::Form)?;
    let is_number = |number: String| number == form;
    let value = match declared.storage_class() {
        StorageClass::Null => return Err(MisfitCause::Form),
        StorageClass::Integer => {
            let number: i64 = form.parse().map_err(|_| MisfitCause::Form)?;
            is_number(number.to_string()).then_some(Stored::Integer(number))
        }
        StorageClass::Real => {
            let number: f64 = form.parse().map_err(|_| MisfitCause::Form)?;
            is_number(format!("{number:?}")).then_some(Stored::Real(number))
        }
        StorageClass::Text => Some(Stored::Text(Cow::Borrowed(form))),
        StorageClass::Blob => from_digits(form).map(|bytes| Stored::Blob(Cow::Owned(bytes))),
    };
    let value = value.ok_or(MisfitCause::Form)?;
    let value = from_stored(value.as_stored_ref(), &declared).map_err(|misfit| misfit.cause)?;
    // `one-form-per-value`: a type has one name, too.
    match SqlVariant::of(declared, value) {
        Some(value) if declared.to_string() == name => Ok(value),
        Some(_) | None => Err(MisfitCause::Form),
    }
}

/// The bytes of lower-case hexadecimal digits.
fn from_digits(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = digits.as_bytes().as_chunks();
    let bytes = pairs.iter().map(|&[high, low]| Some(value(high)? << 4 | value(low)?));
    rest.is_empty().then(|| bytes.collect()).flatten()
}

fn from_blob(bytes: &[u8], declared: &DataType) -> Result<Value, MisfitCause> {
    match *declared {
        DataType::Binary(length) if bytes.len() != usize::from(length) => Err(MisfitCause::Size),
        DataType::VarBinary(Width::Limited(length)) if bytes.len() > usize::from(length) => Err(MisfitCause::Length),
        DataType::RowVersion if bytes.len() != 8 => Err(MisfitCause::Size),
        DataType::Binary(_) | DataType::VarBinary(_) | DataType::RowVersion => Ok(Value::Binary(bytes.into())),
        DataType::UniqueIdentifier => {
            let ordered = <[u8; 16]>::try_from(bytes).map_err(|_| MisfitCause::Size)?;
            Ok(Value::Guid(guid_from_ordered(ordered)))
        }
        DataType::Decimal { precision, scale } | DataType::Numeric { precision, scale }
            if precision > INTEGER_PRECISION_MAX =>
        {
            let ordered = <[u8; 16]>::try_from(bytes).map_err(|_| MisfitCause::Size)?;
            let unscaled = (u128::from_be_bytes(ordered) ^ SIGN_BIT).cast_signed();
            let number = Decimal { unscaled, scale };
            if number.fits(precision) {
                Ok(Value::Decimal(number))
            } else {
                Err(MisfitCause::Range)
            }
        }
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
        | DataType::Char(_)
        | DataType::Utf8Char(_)
        | DataType::VarChar(_)
        | DataType::Utf8VarChar(_)
        | DataType::NChar(_)
        | DataType::NVarChar(_)
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_)
        | DataType::SqlVariant
        | DataType::Xml => Err(MisfitCause::Class),
    }
}

impl DataType {
    /// The storage class of the type's values other than NULL.
    #[must_use]
    pub fn storage_class(&self) -> StorageClass {
        match *self {
            Self::Bit | Self::TinyInt | Self::SmallInt | Self::Int | Self::BigInt | Self::SmallMoney | Self::Money => {
                StorageClass::Integer
            }
            Self::Decimal { precision, .. } | Self::Numeric { precision, .. } => {
                if precision <= INTEGER_PRECISION_MAX {
                    StorageClass::Integer
                } else {
                    StorageClass::Blob
                }
            }
            Self::Real | Self::Float => StorageClass::Real,
            Self::Char(_)
            | Self::Utf8Char(_)
            | Self::VarChar(_)
            | Self::Utf8VarChar(_)
            | Self::NChar(_)
            | Self::NVarChar(_)
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_)
            | Self::SqlVariant
            | Self::Xml => StorageClass::Text,
            Self::Binary(_) | Self::VarBinary(_) | Self::RowVersion | Self::UniqueIdentifier => StorageClass::Blob,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the caller looks whether anything was lost"
)]
fn to_real(value: f64) -> f32 {
    value as f32
}
