//! The integer types.

use crate::{DataType, Value};

/// An integer type, including bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IntegerType {
    Bit,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
}

impl IntegerType {
    /// `None` for any other type.
    pub fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Bit => Some(Self::Bit),
            DataType::TinyInt => Some(Self::TinyInt),
            DataType::SmallInt => Some(Self::SmallInt),
            DataType::Int => Some(Self::Int),
            DataType::BigInt => Some(Self::BigInt),
            DataType::Decimal { .. }
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
            | DataType::Xml => None,
        }
    }

    /// The number as a value of the type; `None` out of range. bit accepts every number.
    pub fn value(self, number: i128) -> Option<Value> {
        match self {
            Self::Bit => Some(Value::Bit(number != 0)),
            Self::TinyInt => u8::try_from(number).ok().map(Value::TinyInt),
            Self::SmallInt => i16::try_from(number).ok().map(Value::SmallInt),
            Self::Int => i32::try_from(number).ok().map(Value::Int),
            Self::BigInt => i64::try_from(number).ok().map(Value::BigInt),
        }
    }

    /// The value of big-endian bytes; leading bytes beyond the type's size are ignored.
    pub fn value_of_bytes(self, bytes: &[u8]) -> Value {
        match self {
            Self::Bit => Value::Bit(last_bytes::<1>(bytes) != [0]),
            Self::TinyInt => Value::TinyInt(u8::from_be_bytes(last_bytes(bytes))),
            Self::SmallInt => Value::SmallInt(i16::from_be_bytes(last_bytes(bytes))),
            Self::Int => Value::Int(i32::from_be_bytes(last_bytes(bytes))),
            Self::BigInt => Value::BigInt(i64::from_be_bytes(last_bytes(bytes))),
        }
    }

    /// Whether it is tinyint or smallint, which have separate messages.
    pub fn is_narrow(self) -> bool {
        matches!(self, Self::TinyInt | Self::SmallInt)
    }
}

/// The last `COUNT` bytes, with leading zeros if there are fewer.
pub(crate) fn last_bytes<const COUNT: usize>(bytes: &[u8]) -> [u8; COUNT] {
    let mut last = [0; COUNT];
    for (into, byte) in last.iter_mut().rev().zip(bytes.iter().rev()) {
        *into = *byte;
    }
    last
}
