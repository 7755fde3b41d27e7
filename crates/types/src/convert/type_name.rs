//! Types as messages name them.

use std::fmt;

use crate::{DataType, Width};

/// A type's name without its length, except `(max)`.
#[derive(Clone, Copy, Debug)]
pub struct TypeName<'a>(pub &'a DataType);

impl fmt::Display for TypeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            DataType::Bit => "bit",
            DataType::TinyInt => "tinyint",
            DataType::SmallInt => "smallint",
            DataType::Int => "int",
            DataType::BigInt => "bigint",
            DataType::Decimal { .. } => "decimal",
            DataType::Numeric { .. } => "numeric",
            DataType::SmallMoney => "smallmoney",
            DataType::Money => "money",
            DataType::Real => "real",
            DataType::Float => "float",
            DataType::Char(_) => "char",
            DataType::VarChar(Width::Limited(_)) => "varchar",
            DataType::VarChar(Width::Max) => "varchar(max)",
            DataType::NChar(_) => "nchar",
            DataType::NVarChar(Width::Limited(_)) => "nvarchar",
            DataType::NVarChar(Width::Max) => "nvarchar(max)",
            DataType::Binary(_) => "binary",
            DataType::VarBinary(Width::Limited(_)) => "varbinary",
            DataType::VarBinary(Width::Max) => "varbinary(max)",
            DataType::Date => "date",
            DataType::Time(_) => "time",
            DataType::SmallDateTime => "smalldatetime",
            DataType::DateTime => "datetime",
            DataType::DateTime2(_) => "datetime2",
            DataType::DateTimeOffset(_) => "datetimeoffset",
            DataType::UniqueIdentifier => "uniqueidentifier",
        })
    }
}

/// As [`TypeName`], and decimal is numeric: so name it the messages about values.
#[derive(Clone, Copy, Debug)]
pub struct ValueTypeName<'a>(pub &'a DataType);

impl fmt::Display for ValueTypeName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let DataType::Decimal { .. } = self.0 {
            f.write_str("numeric")
        } else {
            TypeName(self.0).fmt(f)
        }
    }
}
