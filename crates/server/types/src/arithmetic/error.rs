//! Errors of an operation.

use std::fmt;

use crate::DataType;

/// An error in an operator's types or values, with SQL Server's number, severity and text.
///
/// The caller is at fault in every variant. [`fmt::Display`] writes SQL Server's exact text: clients display it and
/// users search for it. Type names have no length, except `(max)`.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OperationError {
    /// 206: neither type converts implicitly to the other.
    Clash {
        /// The left operand's type.
        left: DataType,
        /// The right operand's type.
        right: DataType,
    },
    /// 257: a type requires CAST to convert to the other.
    NotImplicit {
        /// The type of the value.
        from: DataType,
        /// The required type.
        to: DataType,
    },
    /// 305: a comparison of xml.
    XmlCompared,
    /// 402: the operator does not accept this pair of types.
    Incompatible {
        /// The left operand's type.
        left: DataType,
        /// The right operand's type.
        right: DataType,
        /// The operator's name in messages.
        operator: &'static str,
    },
    /// 506: the ESCAPE argument is not one character.
    EscapeInvalid {
        /// The argument.
        escape: Box<str>,
    },
    /// 8115: the result does not fit the expression's type.
    Overflow {
        /// The expression's type.
        to: DataType,
    },
    /// 8117: the operator never accepts this type.
    Operand {
        /// The operand's type.
        operand: DataType,
        /// The operator's name in messages.
        operator: &'static str,
    },
    /// 8134: a division or remainder by zero.
    DivideByZero,
    /// 40510: a pair of values that no type rule produces: the caller did not promote them.
    NotPromoted {
        /// The operator's name in messages.
        operator: &'static str,
    },
}

impl OperationError {
    /// SQL Server's message number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.code().0
    }

    /// The severity: always 16.
    #[must_use]
    pub fn severity(&self) -> u8 {
        self.code().1
    }

    /// The state, which identifies the origin of the message in SQL Server.
    #[must_use]
    pub fn state(&self) -> u8 {
        self.code().2
    }

    /// Number, severity and state.
    fn code(&self) -> (u16, u8, u8) {
        match self {
            Self::Clash { .. } => (206, 16, 2),
            Self::NotImplicit { .. } => (257, 16, 3),
            Self::XmlCompared => (305, 16, 1),
            Self::Incompatible { .. } => (402, 16, 1),
            Self::EscapeInvalid { .. } => (506, 16, 1),
            Self::Overflow { .. } => (8115, 16, 2),
            Self::Operand { .. } => (8117, 16, 1),
            Self::DivideByZero => (8134, 16, 1),
            Self::NotPromoted { .. } => (40510, 16, 1),
        }
    }
}

impl std::error::Error for OperationError {}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clash { left, right } => {
                write!(
                    f,
                    "Operand type clash: {} is incompatible with {}",
                    left.bare_name(),
                    right.bare_name()
                )
            }
            Self::NotImplicit { from, to } => {
                let (from, to) = (from.bare_name(), to.bare_name());
                write!(f, "Implicit conversion from data type {from} to {to} is not allowed. ")?;
                f.write_str("Use the CONVERT function to run this query.")
            }
            Self::XmlCompared => {
                f.write_str("The xml data type cannot be compared or sorted, except when using the IS NULL operator.")
            }
            Self::Incompatible { left, right, operator } => {
                let (left, right) = (left.bare_name(), right.bare_name());
                write!(
                    f,
                    "The data types {left} and {right} are incompatible in the {operator} operator."
                )
            }
            Self::EscapeInvalid { escape } => {
                write!(
                    f,
                    "The invalid escape character \"{escape}\" was specified in a LIKE predicate."
                )
            }
            Self::Overflow { to } => {
                let to = to.overflow_name();
                write!(f, "Arithmetic overflow error converting expression to data type {to}.")
            }
            Self::Operand { operand, operator } => {
                write!(
                    f,
                    "Operand data type {} is invalid for {operator} operator.",
                    operand.bare_name()
                )
            }
            Self::DivideByZero => f.write_str("Divide by zero error encountered."),
            Self::NotPromoted { operator } => write!(f, "Operator '{operator}' is not supported for these values."),
        }
    }
}
