//! Integers: tinyint to bigint, whose arithmetic needs no conversion between them.
//!
//! Every operand is read into 64 bits; the result is checked against its T-SQL type. So a sum of an int and a smallint
//! is one node, and a loop's counter needs no allocation.

use selenite_types::{Comparison, DataType, Operator};

use super::Expr;
use crate::Slot;

/// Integer arithmetic.
#[derive(Clone, PartialEq, Debug)]
pub struct WholeOperation {
    /// The operator: add, subtract, multiply, divide, modulo or one of three bitwise operators.
    pub operator: Operator,
    /// The left side.
    pub left: WholeOperand,
    /// The right side.
    pub right: WholeOperand,
    /// The result's type.
    pub result: Whole,
}

/// A comparison of two integers.
#[derive(Clone, PartialEq, Debug)]
pub struct WholeCompare {
    /// The operator.
    pub comparison: Comparison,
    /// The left side.
    pub left: WholeOperand,
    /// The right side.
    pub right: WholeOperand,
}

/// An operand of an integer operation.
#[derive(Clone, PartialEq, Debug)]
pub enum WholeOperand {
    /// A variable, and its type.
    Slot(Slot, Whole),
    /// A constant, and its type.
    Literal(i64, Whole),
    /// Input `n`, from the frame's row, and its type.
    Input(u32, Whole),
    /// Any other expression, of an integer type.
    Expr(Box<Expr>),
}

impl WholeOperand {
    /// The operand's type.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Slot(_, whole) | Self::Literal(_, whole) | Self::Input(_, whole) => whole.data_type(),
            Self::Expr(expr) => expr.data_type,
        }
    }
}

/// An integer type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Whole {
    /// 8 bits, unsigned.
    TinyInt,
    /// 16 bits, signed.
    SmallInt,
    /// 32 bits, signed.
    Int,
    /// 64 bits, signed.
    BigInt,
}

impl Whole {
    /// The integer type of a data type; `None` for any other.
    #[must_use]
    pub fn of(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::TinyInt => Some(Self::TinyInt),
            DataType::SmallInt => Some(Self::SmallInt),
            DataType::Int => Some(Self::Int),
            DataType::BigInt => Some(Self::BigInt),
            DataType::Bit
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

    /// The data type.
    #[must_use]
    pub fn data_type(self) -> DataType {
        match self {
            Self::TinyInt => DataType::TinyInt,
            Self::SmallInt => DataType::SmallInt,
            Self::Int => DataType::Int,
            Self::BigInt => DataType::BigInt,
        }
    }
}
