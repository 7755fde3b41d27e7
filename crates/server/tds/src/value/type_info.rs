//! TYPE_INFO (MS-TDS 2.2.5.6).

use selenite_types::{DataType, Width};

use super::{Collation, ValueError};
use crate::ParameterFault;
use crate::byte_reader::ByteReader;
use crate::type_byte as byte;

/// TYPE_INFO: a type with its collation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeInfo {
    /// The type. Legacy text, ntext and image are represented as their `max` type; an untyped NULL as int.
    pub data_type: DataType,
    /// The collation of a text type.
    pub collation: Option<Collation>,
}

impl TypeInfo {
    /// A type of text or bytes, whose encoding is that of its collation.
    fn of_text(data_type: DataType, collation: Option<Collation>) -> Self {
        let data_type = match collation.is_some_and(Collation::is_utf8) {
            true => data_type.in_utf8(),
            false => data_type,
        };
        Self { data_type, collation }
    }
}

/// A type with the encoding of its values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WireType {
    pub byte: u8,
    pub info: TypeInfo,
    /// The size of a value, or its maximum.
    pub size: u16,
}

fn decimal(byte: u8, precision: u8, scale: u8) -> DataType {
    match byte {
        byte::NUMERIC_N => DataType::Numeric { precision, scale },
        _ => DataType::Decimal { precision, scale },
    }
}

/// A sign, and one to sixteen bytes.
const DECIMAL_SIZES: std::ops::RangeInclusive<u8> = 2..=17;
/// The size of a type whose values are sent in chunks.
pub(crate) const IN_CHUNKS: u16 = u16::MAX;
/// The maximum size of char, varchar, nchar, nvarchar, binary and varbinary without chunks.
const SIZE_MAX: u16 = 8000;

impl WireType {
    pub fn parse(reader: &mut ByteReader<'_>) -> Result<Self, ValueError> {
        let byte = reader.u8()?;
        if let Some((data_type, size)) = fixed(byte) {
            return Ok(Self::new(byte, data_type, size));
        }
        match byte {
            byte::GUID | byte::INT_N | byte::BIT_N | byte::FLOAT_N | byte::MONEY_N | byte::DATETIME_N => {
                Self::parse_sized(byte, reader)
            }
            byte::DATE_N => Ok(Self::new(byte, DataType::Date, 3)),
            byte::TIME_N | byte::DATETIME2_N | byte::DATETIMEOFFSET_N => Self::parse_scaled(byte, reader),
            byte::DECIMAL_N | byte::NUMERIC_N => Self::parse_decimal(byte, reader),
            byte::BIG_VARBINARY
            | byte::BIG_BINARY
            | byte::BIG_VARCHAR
            | byte::BIG_CHAR
            | byte::NVARCHAR
            | byte::NCHAR => Self::parse_string(byte, reader),
            byte::TEXT | byte::NTEXT | byte::IMAGE => Self::parse_legacy(byte, reader),
            byte::XML => match reader.u8()? {
                0 => Ok(Self::new(byte, DataType::Xml, IN_CHUNKS)),
                _ => Err(ParameterFault::Unsupported("xml of a schema collection").into()),
            },
            byte::VARIANT => {
                // The declared maximum is ignored: a sql_variant has one.
                reader.u32()?;
                Ok(Self::new(byte, DataType::SqlVariant, 0))
            }
            _ => Err(match byte::unsupported(byte) {
                Some(name) => ParameterFault::UnsupportedType(name),
                None => ParameterFault::UnknownType(byte),
            }
            .into()),
        }
    }

    /// Whether this is the type of an untyped NULL.
    pub fn is_untyped(&self) -> bool {
        self.byte == byte::NULL
    }

    /// Whether its values have a size that the type determines, and no length.
    pub fn is_fixed(&self) -> bool {
        fixed(self.byte).is_some()
    }

    /// Whether its values are sent in chunks.
    pub fn is_in_chunks(&self) -> bool {
        self.size == IN_CHUNKS
    }

    /// Whether its values have a length of two bytes (USHORTLEN_TYPE).
    pub fn has_short_size(&self) -> bool {
        matches!(
            self.byte,
            byte::BIG_VARBINARY | byte::BIG_BINARY | byte::BIG_VARCHAR | byte::BIG_CHAR | byte::NVARCHAR | byte::NCHAR
        )
    }

    fn new(byte: u8, data_type: DataType, size: u16) -> Self {
        let info = TypeInfo {
            data_type,
            collation: None,
        };
        Self { byte, info, size }
    }

    /// Parses a BYTELEN_TYPE whose length determines the type.
    fn parse_sized(byte: u8, reader: &mut ByteReader<'_>) -> Result<Self, ValueError> {
        let size = match (byte, reader.u8()?) {
            // MS-TDS 2.2.5.4.2 allows 0; mssql-jdbc sends it for NULL.
            (byte::GUID, 0) => 16,
            (_, size) => size,
        };
        let data_type = match (byte, size) {
            (byte::GUID, 16) => DataType::UniqueIdentifier,
            (byte::BIT_N, 1) => DataType::Bit,
            (byte::INT_N, 1) => DataType::TinyInt,
            (byte::INT_N, 2) => DataType::SmallInt,
            (byte::INT_N, 4) => DataType::Int,
            (byte::INT_N, 8) => DataType::BigInt,
            (byte::FLOAT_N, 4) => DataType::Real,
            (byte::FLOAT_N, 8) => DataType::Float,
            (byte::MONEY_N, 4) => DataType::SmallMoney,
            (byte::MONEY_N, 8) => DataType::Money,
            (byte::DATETIME_N, 4) => DataType::SmallDateTime,
            (byte::DATETIME_N, 8) => DataType::DateTime,
            _ => return Err(ParameterFault::Length(byte).into()),
        };
        Ok(Self::new(byte, data_type, size.into()))
    }

    fn parse_scaled(byte: u8, reader: &mut ByteReader<'_>) -> Result<Self, ValueError> {
        let scale = reader.u8()?;
        if scale > 7 {
            return Err(ParameterFault::Precision(byte).into());
        }
        let time = u16::from(super::moment::time_size(scale));
        Ok(match byte {
            byte::TIME_N => Self::new(byte, DataType::Time(scale), time),
            byte::DATETIME2_N => Self::new(byte, DataType::DateTime2(scale), time + 3),
            _ => Self::new(byte, DataType::DateTimeOffset(scale), time + 5),
        })
    }

    /// Parses the type of a column of a table-valued parameter: mssql-jdbc sends no precision of a decimal without a value.
    pub fn parse_in_table(reader: &mut ByteReader<'_>) -> Result<Self, ValueError> {
        match reader.rest() {
            [byte @ (byte::DECIMAL_N | byte::NUMERIC_N), size, 0, 0, ..] if DECIMAL_SIZES.contains(size) => {
                let byte = *byte;
                reader.take(4)?;
                Ok(Self::new(byte, decimal(byte, 1, 0), 17))
            }
            _ => Self::parse(reader),
        }
    }

    fn parse_decimal(byte: u8, reader: &mut ByteReader<'_>) -> Result<Self, ValueError> {
        let [size, precision, scale] = reader.array()?;
        // A client may send a larger size than its precision requires, and mssql-jdbc sends sizes that MS-TDS does not
        // list.
        if !DECIMAL_SIZES.contains(&size) {
            return Err(ParameterFault::Length(byte).into());
        }
        if !(1..=38).contains(&precision) || scale > precision {
            return Err(ParameterFault::Precision(byte).into());
        }
        Ok(Self::new(byte, decimal(byte, precision, scale), 17))
    }

    /// Parses a USHORTLEN_TYPE.
    fn parse_string(byte: u8, reader: &mut ByteReader<'_>) -> Result<Self, ValueError> {
        let size = reader.u16()?;
        let is_text = !matches!(byte, byte::BIG_VARBINARY | byte::BIG_BINARY);
        let collation = if is_text {
            Some(Collation(reader.array()?))
        } else {
            None
        };
        let is_in_chunks = size == IN_CHUNKS;
        let is_wide = matches!(byte, byte::NVARCHAR | byte::NCHAR);
        if !is_in_chunks && (size > SIZE_MAX || (is_wide && size % 2 != 0)) {
            return Err(ParameterFault::Length(byte).into());
        }
        // varchar(0) is not a type, but clients declare it for empty text.
        let size = size.max(if is_wide { 2 } else { 1 });
        let width = if is_in_chunks {
            Width::Max
        } else {
            Width::Limited(if is_wide { size / 2 } else { size })
        };
        let data_type = match (byte, width) {
            (byte::BIG_VARBINARY, width) => DataType::VarBinary(width),
            (byte::BIG_VARCHAR, width) => DataType::VarChar(width),
            (byte::NVARCHAR, width) => DataType::NVarChar(width),
            (byte::BIG_BINARY, Width::Limited(size)) => DataType::Binary(size),
            (byte::BIG_CHAR, Width::Limited(size)) => DataType::Char(size),
            (byte::NCHAR, Width::Limited(size)) => DataType::NChar(size),
            // MS-TDS 2.2.5.4.3: only variable-length types are sent in chunks.
            _ => return Err(ParameterFault::Length(byte).into()),
        };
        let info = TypeInfo::of_text(data_type, collation);
        Ok(Self { byte, info, size })
    }

    /// Parses a LONGLEN_TYPE.
    fn parse_legacy(byte: u8, reader: &mut ByteReader<'_>) -> Result<Self, ValueError> {
        // The declared maximum is ignored: the message size limits the value.
        reader.u32()?;
        let data_type = match byte {
            byte::TEXT => DataType::VarChar(Width::Max),
            byte::NTEXT => DataType::NVarChar(Width::Max),
            _ => DataType::VarBinary(Width::Max),
        };
        let collation = if byte == byte::IMAGE {
            None
        } else {
            Some(Collation(reader.array()?))
        };
        let info = TypeInfo::of_text(data_type, collation);
        Ok(Self { byte, info, size: 0 })
    }
}

/// FIXEDLEN_TYPE (MS-TDS 2.2.5.4.1): the type and its size.
pub(crate) fn fixed(byte: u8) -> Option<(DataType, u16)> {
    Some(match byte {
        byte::NULL => (DataType::Int, 0),
        byte::INT1 => (DataType::TinyInt, 1),
        byte::BIT => (DataType::Bit, 1),
        byte::INT2 => (DataType::SmallInt, 2),
        byte::INT4 => (DataType::Int, 4),
        byte::INT8 => (DataType::BigInt, 8),
        byte::FLOAT4 => (DataType::Real, 4),
        byte::FLOAT8 => (DataType::Float, 8),
        byte::MONEY4 => (DataType::SmallMoney, 4),
        byte::MONEY8 => (DataType::Money, 8),
        byte::DATETIME4 => (DataType::SmallDateTime, 4),
        byte::DATETIME8 => (DataType::DateTime, 8),
        _ => return None,
    })
}
