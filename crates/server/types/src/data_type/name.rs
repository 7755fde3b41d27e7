//! Type names in T-SQL.

use std::fmt;

use crate::{DataType, Width};

impl DataType {
    /// The name without arguments, except `(max)`, as in messages 206, 402 and 8117.
    #[must_use]
    pub fn bare_name(&self) -> &'static str {
        match self {
            Self::VarChar(Width::Max) | Self::Utf8VarChar(Width::Max) => "varchar(max)",
            Self::NVarChar(Width::Max) => "nvarchar(max)",
            Self::VarBinary(Width::Max) => "varbinary(max)",
            Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::Decimal { .. }
            | Self::Numeric { .. }
            | Self::SmallMoney
            | Self::Money
            | Self::Real
            | Self::Float
            | Self::Char(_)
            | Self::Utf8Char(_)
            | Self::VarChar(Width::Limited(_))
            | Self::Utf8VarChar(Width::Limited(_))
            | Self::NChar(_)
            | Self::NVarChar(Width::Limited(_))
            | Self::Binary(_)
            | Self::RowVersion
            | Self::VarBinary(Width::Limited(_))
            | Self::Date
            | Self::Time(_)
            | Self::SmallDateTime
            | Self::DateTime
            | Self::DateTime2(_)
            | Self::DateTimeOffset(_)
            | Self::UniqueIdentifier
            | Self::SqlVariant
            | Self::Xml => self.keyword(),
        }
    }

    /// The name in message 8115: numeric also for decimal.
    #[must_use]
    pub fn overflow_name(&self) -> &'static str {
        if self.decimal_digits().is_some() {
            "numeric"
        } else {
            self.bare_name()
        }
    }

    /// The name as in column `name` of sys.types.
    #[must_use]
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Bit => "bit",
            Self::TinyInt => "tinyint",
            Self::SmallInt => "smallint",
            Self::Int => "int",
            Self::BigInt => "bigint",
            Self::Decimal { .. } => "decimal",
            Self::Numeric { .. } => "numeric",
            Self::SmallMoney => "smallmoney",
            Self::Money => "money",
            Self::Real => "real",
            Self::Float => "float",
            Self::Char(_) | Self::Utf8Char(_) => "char",
            Self::VarChar(_) | Self::Utf8VarChar(_) => "varchar",
            Self::NChar(_) => "nchar",
            Self::NVarChar(_) => "nvarchar",
            Self::Binary(_) => "binary",
            Self::VarBinary(_) => "varbinary",
            Self::RowVersion => "timestamp",
            Self::Date => "date",
            Self::Time(_) => "time",
            Self::SmallDateTime => "smalldatetime",
            Self::DateTime => "datetime",
            Self::DateTime2(_) => "datetime2",
            Self::DateTimeOffset(_) => "datetimeoffset",
            Self::UniqueIdentifier => "uniqueidentifier",
            Self::SqlVariant => "sql_variant",
            Self::Xml => "xml",
        }
    }
}

impl fmt::Display for DataType {
    /// Writes the type with its arguments: `decimal(10,2)`, `nvarchar(max)`, `datetime2(7)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyword = self.keyword();
        match *self {
            Self::Decimal { precision, scale } | Self::Numeric { precision, scale } => {
                write!(f, "{keyword}({precision},{scale})")
            }
            Self::Char(length) | Self::Utf8Char(length) | Self::NChar(length) | Self::Binary(length) => {
                write!(f, "{keyword}({length})")
            }
            Self::VarChar(Width::Limited(length))
            | Self::Utf8VarChar(Width::Limited(length))
            | Self::NVarChar(Width::Limited(length))
            | Self::VarBinary(Width::Limited(length)) => write!(f, "{keyword}({length})"),
            Self::VarChar(Width::Max)
            | Self::Utf8VarChar(Width::Max)
            | Self::NVarChar(Width::Max)
            | Self::VarBinary(Width::Max) => {
                write!(f, "{keyword}(max)")
            }
            Self::Time(scale) | Self::DateTime2(scale) | Self::DateTimeOffset(scale) => write!(f, "{keyword}({scale})"),
            Self::Bit
            | Self::TinyInt
            | Self::SmallInt
            | Self::Int
            | Self::BigInt
            | Self::SmallMoney
            | Self::Money
            | Self::Real
            | Self::Float
            | Self::Date
            | Self::SmallDateTime
            | Self::DateTime
            | Self::RowVersion
            | Self::UniqueIdentifier
            | Self::SqlVariant
            | Self::Xml => f.write_str(keyword),
        }
    }
}
