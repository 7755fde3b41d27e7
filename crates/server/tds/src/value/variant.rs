//! sql_variant (MS-TDS 2.2.5.5.4): the type, its properties, and the value's bytes without a length.

use selenite_types::{DataType, SqlVariant, Value, in_code_page};

use super::cell::VARIANT_SIZE_MAX;
use super::type_info::{IN_CHUNKS, fixed};
use super::{Cell, ValueError, WireType};
use crate::byte_reader::ByteReader;
use crate::type_byte as byte;
use crate::{ParameterFault, TdsError};

/// Appends a value with its length.
///
/// Errors: `Misfit`.
pub(super) fn append(variant: &SqlVariant, out: &mut Vec<u8>) -> Result<(), TdsError> {
    let cell = cell(variant)?;
    let (mut info, mut value) = (Vec::new(), Vec::new());
    cell.type_info(&mut info);
    cell.append(&mut value, variant.value())?;
    let type_byte = info.first().copied().ok_or(MISFIT)?;
    let form = Properties::of(type_byte).ok_or(MISFIT)?;
    // TYPE_INFO has the maximum length before the collation, a sql_variant behind it.
    let properties = match (form, info.as_slice()) {
        (Properties::Plain, _) => Vec::new(),
        (Properties::Scaled, [_, scale]) => vec![*scale],
        (Properties::Decimal, [_, _, precision, scale]) => vec![*precision, *scale],
        (Properties::Bytes, [_, size @ ..]) => size.to_vec(),
        (Properties::Text, [_, low, high, collation @ ..]) => [collation, &[*low, *high]].concat(),
        (Properties::Scaled | Properties::Decimal | Properties::Text | Properties::Bytes, _) => return Err(MISFIT),
    };
    let length_size = match form {
        Properties::Plain if fixed(type_byte).is_some() => 0,
        Properties::Plain | Properties::Scaled | Properties::Decimal => 1,
        Properties::Text | Properties::Bytes => 2,
    };
    let data = value.get(length_size..).ok_or(MISFIT)?;
    let size = u32::try_from(2 + properties.len() + data.len()).map_err(|_| MISFIT)?;
    out.extend(size.to_le_bytes());
    out.extend([type_byte, u8::try_from(properties.len()).map_err(|_| MISFIT)?]);
    out.extend(properties);
    out.extend_from_slice(data);
    Ok(())
}

/// Parses a value with its length.
pub(super) fn parse(reader: &mut ByteReader<'_>) -> Result<Value, ValueError> {
    let size = reader.u32()?;
    if size == 0 {
        return Ok(Value::Null);
    }
    let bytes = reader.take(usize::try_from(size).unwrap_or(usize::MAX))?;
    let [type_byte, property_count, rest @ ..] = bytes else {
        return Err(LENGTH.into());
    };
    let (properties, data) = rest.split_at_checked((*property_count).into()).ok_or(LENGTH)?;
    if size > VARIANT_SIZE_MAX {
        return Err(LENGTH.into());
    }
    let wire = declared(*type_byte, properties)?;
    let room = usize::from(wire.size);
    // The padding of char, nchar and binary is part of the value.
    let fits = match wire.info.data_type.is_padded() {
        true => data.len() == room,
        false => data.len() <= room,
    };
    let value = match wire.has_short_size() {
        true if !fits => return Err(LENGTH.into()),
        true => wire.value(data)?,
        false => wire.sized_value(data)?,
    };
    if let (
        DataType::Char(_) | DataType::Utf8Char(_) | DataType::VarChar(_) | DataType::Utf8VarChar(_),
        Value::Text(text),
    ) = (wire.info.data_type, &value)
        && !text.chars().all(in_code_page)
    {
        return Err(ParameterFault::Unsupported("text in a code page other than 1252 in a sql_variant").into());
    }
    SqlVariant::of(wire.info.data_type.under(selenite_types::Collation::DEFAULT), value)
        .ok_or(ParameterFault::Value(byte::VARIANT).into())
}

/// The type of the value.
fn declared(type_byte: u8, properties: &[u8]) -> Result<WireType, ValueError> {
    let form = Properties::of(type_byte).ok_or(ParameterFault::Value(byte::VARIANT))?;
    let mut info = vec![type_byte];
    match (form, properties) {
        (Properties::Plain, []) if type_byte == byte::GUID => info.push(GUID_SIZE),
        (Properties::Plain, []) => {}
        (Properties::Scaled, [scale]) => info.push(*scale),
        (Properties::Decimal, [precision, scale]) => info.extend([DECIMAL_SIZE, *precision, *scale]),
        (Properties::Bytes, size @ [_, _]) if *size != IN_CHUNKS.to_le_bytes() => info.extend_from_slice(size),
        (Properties::Text, [collation @ .., low, high])
            if collation.len() == COLLATION_SIZE && [*low, *high] != IN_CHUNKS.to_le_bytes() =>
        {
            info.extend([*low, *high]);
            info.extend_from_slice(collation);
        }
        (Properties::Plain | Properties::Scaled | Properties::Decimal | Properties::Text | Properties::Bytes, _) => {
            return Err(LENGTH.into());
        }
    }
    WireType::parse(&mut ByteReader::new(&info, crate::MessagePart::Rpc))
}

/// The properties of a type.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Properties {
    /// None.
    Plain,
    /// The scale.
    Scaled,
    /// Precision and scale.
    Decimal,
    /// The maximum length.
    Bytes,
    /// The collation and the maximum length.
    Text,
}

impl Properties {
    /// `None` for a type that no sql_variant has.
    fn of(type_byte: u8) -> Option<Self> {
        match type_byte {
            byte::GUID | byte::DATE_N => Some(Self::Plain),
            byte::TIME_N | byte::DATETIME2_N | byte::DATETIMEOFFSET_N => Some(Self::Scaled),
            byte::DECIMAL_N | byte::NUMERIC_N => Some(Self::Decimal),
            byte::BIG_VARBINARY | byte::BIG_BINARY => Some(Self::Bytes),
            byte::BIG_VARCHAR | byte::BIG_CHAR | byte::NVARCHAR | byte::NCHAR => Some(Self::Text),
            byte::NULL => None,
            _ => fixed(type_byte).map(|_| Self::Plain),
        }
    }
}

/// The encoding of the value as one that may not be NULL.
fn cell(variant: &SqlVariant) -> Result<Cell, TdsError> {
    Cell::new(*variant.data_type(), false)
}

const GUID_SIZE: u8 = 16;
const DECIMAL_SIZE: u8 = 17;
const COLLATION_SIZE: usize = 5;
const LENGTH: ParameterFault = ParameterFault::Length(byte::VARIANT);
const MISFIT: TdsError = TdsError::Misfit { what: "a value" };

#[cfg(test)]
mod tests;
