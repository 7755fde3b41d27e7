//! Converts values to storage forms.

use std::borrow::Cow;
use std::fmt::Write;

use super::clock_text::{ClockText, OFFSET_MINUTES_MAX};
use super::{Misfit, MisfitCause, StorageClass, Stored, text};
use crate::dates::unit_of_scale;
use crate::{
    DataType, Date, DateTime2, DateTimeOffset, DateTimeTicks, Decimal, SqlVariant, TimeOfDay, Value, Width,
    guid_ordered,
};

/// The storage form of `value` of type `declared`.
///
/// A number allocates nothing, and text and bytes are borrowed. A [`Misfit`] if the value does not belong to the type,
/// so that every written form can be read.
#[inline]
pub fn to_stored<'a>(value: &'a Value, declared: &DataType) -> Result<Stored<'a>, Misfit> {
    match (value, declared) {
        (Value::Int(value), DataType::Int) => Ok(Stored::Integer(i64::from(*value))),
        (Value::BigInt(value), DataType::BigInt) => Ok(Stored::Integer(*value)),
        _ => other_to_stored(value, declared),
    }
}

fn other_to_stored<'a>(value: &'a Value, declared: &DataType) -> Result<Stored<'a>, Misfit> {
    let made = match (value, declared) {
        (Value::Null, _) => Ok(Stored::Null),
        (Value::Bit(value), DataType::Bit) => Ok(Stored::Integer(i64::from(*value))),
        (Value::TinyInt(value), DataType::TinyInt) => Ok(Stored::Integer(i64::from(*value))),
        (Value::SmallInt(value), DataType::SmallInt) => Ok(Stored::Integer(i64::from(*value))),
        (Value::Int(value), DataType::Int) => Ok(Stored::Integer(i64::from(*value))),
        (Value::BigInt(value), DataType::BigInt) => Ok(Stored::Integer(*value)),
        (Value::Money(value), DataType::Money) => Ok(Stored::Integer(*value)),
        (Value::Money(value), DataType::SmallMoney) => match i32::try_from(*value) {
            Ok(_) => Ok(Stored::Integer(*value)),
            Err(_) => Err(MisfitCause::Range),
        },
        (Value::Decimal(number), DataType::Decimal { precision, scale })
        | (Value::Decimal(number), DataType::Numeric { precision, scale }) => decimal(*number, *precision, *scale),
        (Value::Real(value), DataType::Real) => finite(f64::from(*value)),
        (Value::Float(value), DataType::Float) => finite(*value),
        (
            Value::Text(value),
            DataType::Char(_)
            | DataType::Utf8Char(_)
            | DataType::VarChar(_)
            | DataType::Utf8VarChar(_)
            | DataType::NChar(_)
            | DataType::NVarChar(_),
        ) => text::checked(value.as_bytes(), declared).map(|text| Stored::Text(Cow::Borrowed(text))),
        (Value::Binary(bytes), DataType::Binary(length)) => {
            blob(bytes, bytes.len() == usize::from(*length), MisfitCause::Size)
        }
        (Value::Binary(bytes), DataType::RowVersion) => blob(bytes, bytes.len() == 8, MisfitCause::Size),
        (Value::Binary(bytes), DataType::VarBinary(Width::Limited(length))) => {
            blob(bytes, bytes.len() <= usize::from(*length), MisfitCause::Length)
        }
        (Value::Binary(bytes), DataType::VarBinary(Width::Max)) => blob(bytes, true, MisfitCause::Length),
        (Value::Date(date), DataType::Date) => clock(is_date(*date), |text| text.date(*date)),
        (Value::Time(time), DataType::Time(scale)) => clock(is_time(*time, *scale), |text| text.time(*time, *scale)),
        (Value::DateTime(moment), DataType::SmallDateTime | DataType::DateTime | DataType::DateTime2(_)) => {
            clock(is_moment(*moment, declared), |text| {
                text.date_time(*moment, declared.time_scale())
            })
        }
        (Value::DateTimeOffset(moment), DataType::DateTimeOffset(scale)) => {
            clock(is_offset_moment(*moment, *scale), |text| {
                text.date_time_offset(*moment, *scale)
            })
        }
        (Value::Text(text), DataType::Xml) => Ok(Stored::Text(Cow::Borrowed(text))),
        (Value::SqlVariant(variant), DataType::SqlVariant) => {
            variant_form(variant).map(|text| Stored::Text(Cow::Owned(text)))
        }
        (Value::Guid(guid), DataType::UniqueIdentifier) => Ok(Stored::Blob(Cow::Owned(guid_ordered(*guid).to_vec()))),
        _ => Err(MisfitCause::Class),
    };
    made.map_err(|cause| Misfit {
        found: class_of(value),
        declared: *declared,
        cause,
    })
}

/// The form of a sql_variant: the type's name, a space, and the value's own form as text. INTEGER and REAL are written as
/// numbers, BLOB in hexadecimal digits: `int 5`, `decimal(10,2) 1234`, `nvarchar(20) abc`, `varbinary(4) 0aff`.
fn variant_form(variant: &SqlVariant) -> Result<String, MisfitCause> {
    let declared = variant.data_type();
    let stored = to_stored(variant.value(), declared).map_err(|misfit| misfit.cause)?;
    let mut text = format!("{declared} ");
    let written = match stored {
        Stored::Null => return Err(MisfitCause::Class),
        Stored::Integer(number) => write!(text, "{number}"),
        Stored::Real(number) => write!(text, "{number:?}"),
        Stored::Text(value) => text.write_str(&value),
        Stored::Blob(bytes) => bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}")),
    };
    written.map_err(|_| MisfitCause::Form)?;
    Ok(text)
}

fn decimal<'a>(number: Decimal, precision: u8, scale: u8) -> Result<Stored<'a>, MisfitCause> {
    if number.scale != scale || !number.fits(precision) {
        return Err(MisfitCause::Range);
    }
    match i64::try_from(number.unscaled) {
        Ok(small) if precision <= INTEGER_PRECISION_MAX => Ok(Stored::Integer(small)),
        Ok(_) | Err(_) => {
            let ordered = number.unscaled.cast_unsigned() ^ SIGN_BIT;
            Ok(Stored::Blob(Cow::Owned(ordered.to_be_bytes().to_vec())))
        }
    }
}

fn finite<'a>(value: f64) -> Result<Stored<'a>, MisfitCause> {
    if value.is_finite() {
        Ok(Stored::Real(value))
    } else {
        Err(MisfitCause::NotFinite)
    }
}

fn blob(bytes: &[u8], fits: bool, cause: MisfitCause) -> Result<Stored<'_>, MisfitCause> {
    if fits {
        Ok(Stored::Blob(Cow::Borrowed(bytes)))
    } else {
        Err(cause)
    }
}

fn clock<'a>(is_value: bool, write: impl FnOnce(ClockText) -> ClockText) -> Result<Stored<'a>, MisfitCause> {
    if !is_value {
        return Err(MisfitCause::Range);
    }
    Ok(Stored::Text(Cow::Owned(write(ClockText::new()).into_string())))
}

fn is_date(date: Date) -> bool {
    date <= Date::MAX
}

/// Whether the time is less than a day, and not more precise than its type.
fn is_time(time: TimeOfDay, scale: u8) -> bool {
    time <= TimeOfDay::MAX && time.0.is_multiple_of(unit_of_scale(scale))
}

/// Whether smalldatetime, datetime or datetime2 represents the value exactly.
pub(super) fn is_moment(moment: DateTime2, declared: &DataType) -> bool {
    if !is_date(moment.date) || !is_time(moment.time, declared.time_scale()) {
        return false;
    }
    if *declared == DataType::DateTime {
        DateTimeTicks::nearest(moment).and_then(DateTimeTicks::date_time) == Some(moment)
    } else if *declared == DataType::SmallDateTime {
        let days = moment.date.0.checked_sub(Date::BASE.0);
        days.is_some_and(|days| days <= u32::from(u16::MAX)) && moment.time.second() == 0
    } else {
        true
    }
}

/// Whether the instant and its local time are in the calendar.
pub(super) fn is_offset_moment(moment: DateTimeOffset, scale: u8) -> bool {
    let declared = DataType::DateTime2(scale);
    let minute = i128::from(unit_of_scale(0)) * 60;
    let day = minute * 24 * 60;
    let utc = i128::from(moment.utc.date.0) * day + i128::from(moment.utc.time.0);
    let local = utc + i128::from(moment.offset_minutes) * minute;
    let is_offset = (-OFFSET_MINUTES_MAX..=OFFSET_MINUTES_MAX).contains(&moment.offset_minutes);
    is_offset && is_moment(moment.utc, &declared) && (0..(i128::from(Date::MAX.0) + 1) * day).contains(&local)
}

/// The storage class of the value's variant.
fn class_of(value: &Value) -> StorageClass {
    match value {
        Value::Null => StorageClass::Null,
        Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_) => StorageClass::Integer,
        Value::Real(_) | Value::Float(_) => StorageClass::Real,
        Value::Text(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::SqlVariant(_) => StorageClass::Text,
        Value::Binary(_) | Value::Guid(_) => StorageClass::Blob,
    }
}

/// The maximum precision that is stored as INTEGER: all numbers of 18 digits fit into 64 bits.
pub(super) const INTEGER_PRECISION_MAX: u8 = 18;

/// Flipped, so that negative numbers sort first bytewise.
pub(super) const SIGN_BIT: u128 = 1 << 127;
