//! Whole numbers: tinyint to bigint, whose arithmetic needs no conversion between them.
//!
//! Every operand is read into 64 bits; the result is checked against the type that T-SQL gives it. So a sum of an int
//! and a smallint is one node, and a loop's counter costs no allocation.

use selenite_types::{Comparison, DataType, Operator};

use super::Expr;
use crate::Slot;

/// Arithmetic on two whole numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct WholeOperation {
    /// Which: of add, subtract, multiply, divide, modulo and the three of bits.
    pub operator: Operator,
    /// The left side.
    pub left: WholeOperand,
    /// The right side.
    pub right: WholeOperand,
    /// What the result must fit.
    pub result: Whole,
}

/// A comparison of two whole numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct WholeCompare {
    /// Which.
    pub comparison: Comparison,
    /// The left side.
    pub left: WholeOperand,
    /// The right side.
    pub right: WholeOperand,
}

/// A whole number that an operation takes.
#[derive(Clone, PartialEq, Debug)]
pub enum WholeOperand {
    /// A variable's, and its type.
    Slot(Slot, Whole),
    /// A constant, and its type.
    Literal(i64, Whole),
    /// Value `n` of the frame's row, and its type.
    Input(u32, Whole),
    /// Any other, whose type is one of the four.
    Expr(Box<Expr>),
}

impl WholeOperand {
    /// The type of the number.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Slot(_, whole) | Self::Literal(_, whole) | Self::Input(_, whole) => whole.data_type(),
            Self::Expr(expr) => expr.data_type,
        }
    }
}

/// A type of whole numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Whole {
    /// 0 to 255.
    TinyInt,
    /// 16 bits with a sign.
    SmallInt,
    /// 32 bits with a sign.
    Int,
    /// 64 bits with a sign.
    BigInt,
}

impl Whole {
    /// The type, if it is one of whole numbers.
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
            | DataType::VarChar(_)
            | DataType::NChar(_)
            | DataType::NVarChar(_)
            | DataType::Binary(_)
            | DataType::VarBinary(_)
            | DataType::Date
            | DataType::Time(_)
            | DataType::SmallDateTime
            | DataType::DateTime
            | DataType::DateTime2(_)
            | DataType::DateTimeOffset(_)
            | DataType::UniqueIdentifier => None,
        }
    }

    /// The declared type.
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
