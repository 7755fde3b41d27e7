//! The operand types of an operator, their implicit conversions, and the result type.
//!
//! The rules are SQL Server's documented ones for precision, scale and length. The message for each invalid pair was
//! determined with SQL Server: 8117 if the operator never accepts the type, 402 if it accepts each but not both, 206 if
//! neither type converts to the other.

use super::{OperationError, Operator, UnaryOperator};
use crate::data_type::{PRECISION_MAX, concatenated};
use crate::{DataType, Family};

/// The types of a binary operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// The type that the left operand is converted to.
    pub left: DataType,
    /// The type that the right operand is converted to.
    pub right: DataType,
    /// The type of the result.
    pub result: DataType,
}

impl Operator {
    /// The signature for two operand types; errors: 206, 257, 402 or 8117.
    ///
    /// An integer constant next to a decimal must be passed as [`DataType::of_integer_constant`].
    pub fn signature(self, left: &DataType, right: &DataType) -> Result<Signature, OperationError> {
        match self {
            Self::BitAnd | Self::BitOr | Self::BitXor => self.bitwise(left, right),
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Modulo => self.arithmetic(left, right),
        }
    }

    fn arithmetic(self, left: &DataType, right: &DataType) -> Result<Signature, OperationError> {
        use Family::{
            Approximate, Binary, Bit, Decimal, Guid, Integer, Money, NewDate, OldDate, Text, Time, Variant, Xml,
        };
        match (left.family(), right.family()) {
            (Xml, _) => Err(self.invalid(left)),
            (_, Xml) => Err(self.invalid(right)),
            (Variant, Variant) => Err(self.invalid(left)),
            (Variant, _) => Err(not_implicit(left, right)),
            (_, Variant) => Err(not_implicit(right, left)),
            (Integer, Integer) | (Money, Money | Integer | Bit) | (Integer | Bit, Money) => {
                Ok(Signature::all(left.higher(right)))
            }
            (Bit, Integer) => Ok(Signature::all(*right)),
            (Integer, Bit) => Ok(Signature::all(*left)),
            (Decimal, Decimal | Integer | Bit | Money) | (Integer | Bit | Money, Decimal) => {
                Ok(self.of_decimals(left.as_decimal(right), right.as_decimal(left)))
            }
            (Approximate, Approximate) => self.approximate(left, right),
            (Approximate, Integer | Bit | Decimal | Money | Text)
            | (Integer | Bit | Decimal | Money | Text, Approximate) => self.approximate(left, right),
            (Text, Integer | Money) | (Binary, Integer | Money) => self.with_number(left, right, right),
            (Integer | Money, Text) | (Integer | Money, Binary) => self.with_number(left, right, left),
            (Text | Binary, Decimal) => self.with_number(left, right, right),
            (Decimal, Text | Binary) => self.with_number(left, right, left),
            (Text, Text) | (Binary, Binary) if self == Self::Add => Ok(Signature {
                left: *left,
                right: *right,
                result: concatenated(left, right),
            }),
            (Text, Text) => self.two_texts_error(left, right),
            (Bit, Bit | Text | Binary) | (Text | Binary, Bit) | (Binary, Binary | Text) | (Text, Binary) => {
                self.split(left, right)
            }
            (Binary, Approximate) | (Approximate, Binary) if self == Self::Modulo => {
                Err(self.incompatible(left, right))
            }
            (Binary, Approximate) | (Approximate, Binary) => Err(clash(left, right)),
            (OldDate, OldDate) if matches!(self, Self::Add | Self::Subtract) => Ok(Signature::all(left.higher(right))),
            (OldDate, OldDate) => Err(self.invalid(left)),
            (OldDate, Bit | Integer | Decimal | Money | Approximate | Text | Binary) => {
                self.with_date(left, right, left)
            }
            (Bit | Integer | Decimal | Money | Approximate | Text | Binary, OldDate) => {
                self.with_date(left, right, right)
            }
            (OldDate, NewDate | Time) | (NewDate | Time, OldDate) => Err(self.incompatible(left, right)),
            (NewDate | Time, NewDate | Time) | (Guid, Guid) => Err(self.invalid(left)),
            (NewDate | Time | Guid, Text) | (Text, NewDate | Time | Guid) | (Guid, Binary) | (Binary, Guid) => {
                self.split(left, right)
            }
            (NewDate | Time, Bit | Integer | Decimal | Money | Approximate | Binary | Guid)
            | (Bit | Integer | Decimal | Money | Approximate | Binary | Guid, NewDate | Time)
            | (Guid, Bit | Integer | Decimal | Money | Approximate | OldDate)
            | (Bit | Integer | Decimal | Money | Approximate | OldDate, Guid) => Err(clash(left, right)),
        }
    }

    /// `&`, `|` and `^`, which accept integers and bit, and one text or binary operand next to one of them.
    fn bitwise(self, left: &DataType, right: &DataType) -> Result<Signature, OperationError> {
        use Family::{Binary, Bit, Integer, Text};
        let is_whole = |family| matches!(family, Integer | Bit);
        let is_string = |family| matches!(family, Text | Binary);
        let (of_left, of_right) = (left.family(), right.family());
        if of_left == Family::Variant && of_right != Family::Variant {
            Err(not_implicit(left, right))
        } else if of_right == Family::Variant && of_left != Family::Variant {
            Err(not_implicit(right, left))
        } else if is_whole(of_left) && is_whole(of_right) {
            Ok(Signature::all(left.higher(right)))
        } else if is_whole(of_left) && is_string(of_right) {
            Ok(Signature::all(*left))
        } else if is_string(of_left) && is_whole(of_right) {
            Ok(Signature::all(*right))
        } else if [of_left, of_right]
            .into_iter()
            .any(|family| is_whole(family) || is_string(family))
        {
            Err(self.incompatible(left, right))
        } else {
            Err(self.invalid(left))
        }
    }

    /// real and float with each other or another number, which is converted to the result's type.
    fn approximate(self, left: &DataType, right: &DataType) -> Result<Signature, OperationError> {
        let both = left.family() == right.family();
        if self == Self::Modulo {
            return Err(if both {
                self.invalid(left)
            } else {
                self.incompatible(left, right)
            });
        }
        let is_float = [left, right].contains(&&DataType::Float);
        Ok(Signature::all(if is_float { DataType::Float } else { DataType::Real }))
    }

    /// Text or binary next to a number: it is converted to the number's type.
    fn with_number(self, left: &DataType, right: &DataType, number: &DataType) -> Result<Signature, OperationError> {
        let family = number.family();
        if self == Self::Modulo && family != Family::Integer {
            Err(self.incompatible(left, right))
        } else if family == Family::Decimal {
            Ok(self.of_decimals(*number, *number))
        } else {
            Ok(Signature::all(*number))
        }
    }

    /// datetime or smalldatetime next to a type that converts to it.
    fn with_date(self, left: &DataType, right: &DataType, date: &DataType) -> Result<Signature, OperationError> {
        match self {
            Self::Add | Self::Subtract => Ok(Signature::all(*date)),
            Self::Multiply | Self::Divide => {
                let other = if date == left { right } else { left };
                if matches!(other.family(), Family::Text | Family::Binary) {
                    Err(self.invalid(left))
                } else {
                    Err(OperationError::NotImplicit {
                        from: *date,
                        to: *other,
                    })
                }
            }
            Self::Modulo | Self::BitAnd | Self::BitOr | Self::BitXor => Err(self.incompatible(left, right)),
        }
    }

    /// Two texts with an operator other than concatenation.
    fn two_texts_error(self, left: &DataType, right: &DataType) -> Result<Signature, OperationError> {
        let has_max = left.is_max() || right.is_max();
        if self == Self::Modulo || (self == Self::Subtract && has_max) {
            Err(self.incompatible(left, right))
        } else {
            Err(self.invalid(left))
        }
    }

    /// Pairs for which `*` and `/` differ from the other operators.
    fn split(self, left: &DataType, right: &DataType) -> Result<Signature, OperationError> {
        if matches!(self, Self::Multiply | Self::Divide) {
            Err(self.invalid(left))
        } else {
            Err(self.incompatible(left, right))
        }
    }

    /// The documented precision and scale for two decimals.
    fn of_decimals(self, left: DataType, right: DataType) -> Signature {
        let ((p1, s1), (p2, s2)) = (left.exact_digits(), right.exact_digits());
        let whole = (p1 - s1).max(p2 - s2);
        let (precision, scale) = match self {
            Self::Add | Self::Subtract => {
                let scale = s1.max(s2);
                let precision = whole + scale + 1;
                // The digit for the carry is dropped before any fractional digit.
                if precision > MAX {
                    (MAX, scale.min(MAX - whole.min(MAX)))
                } else {
                    (precision, scale)
                }
            }
            Self::Multiply => reduced(p1 + p2 + 1, s1 + s2),
            Self::Divide => {
                let scale = (s1 + p2 + 1).max(6);
                reduced(p1 - s1 + s2 + scale, scale)
            }
            Self::Modulo | Self::BitAnd | Self::BitOr | Self::BitXor => {
                let scale = s1.max(s2);
                (((p1 - s1).min(p2 - s2) + scale).max(1), scale)
            }
        };
        let narrow = |number: u16| u8::try_from(number).unwrap_or(PRECISION_MAX);
        let (precision, scale) = (narrow(precision), narrow(scale));
        let is_numeric = [left, right]
            .iter()
            .any(|operand| matches!(operand, DataType::Numeric { .. }));
        let result = if is_numeric {
            DataType::Numeric { precision, scale }
        } else {
            DataType::Decimal { precision, scale }
        };
        Signature { left, right, result }
    }

    fn incompatible(self, left: &DataType, right: &DataType) -> OperationError {
        OperationError::Incompatible {
            left: *left,
            right: *right,
            operator: self.name(),
        }
    }

    fn invalid(self, operand: &DataType) -> OperationError {
        OperationError::Operand {
            operand: *operand,
            operator: self.name(),
        }
    }
}

impl UnaryOperator {
    /// The result type for one operand, or error 8117.
    ///
    /// The minus of a text constant is error 403 in SQL Server, which the caller detects.
    pub fn result_type(self, operand: &DataType) -> Result<DataType, OperationError> {
        let takes = match (self, operand.family()) {
            (Self::Plus, _)
            | (Self::Minus, Family::Integer | Family::Decimal | Family::Money | Family::Approximate)
            | (Self::BitNot, Family::Bit | Family::Integer) => true,
            (Self::Minus | Self::BitNot, _) => false,
        };
        match (self, operand) {
            _ if !takes => Err(OperationError::Operand {
                operand: *operand,
                operator: self.name(),
            }),
            // tinyint is unsigned.
            (Self::Minus, DataType::TinyInt) => Ok(DataType::SmallInt),
            (Self::Plus | Self::Minus | Self::BitNot, _) => Ok(*operand),
        }
    }
}

impl Signature {
    /// A signature with one type for both operands and the result.
    fn all(of: DataType) -> Self {
        Self {
            left: of,
            right: of,
            result: of,
        }
    }
}

impl DataType {
    /// SQL Server's type of an integer constant next to a decimal: numeric with exactly its digits.
    #[must_use]
    pub fn of_integer_constant(constant: i64) -> Self {
        let digits = constant.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1);
        Self::Numeric {
            precision: u8::try_from(digits).unwrap_or(PRECISION_MAX),
            scale: 0,
        }
    }

    /// The type with the higher precedence; the left one if both are equal.
    pub(crate) fn higher(&self, other: &Self) -> Self {
        if other.precedence() > self.precedence() {
            *other
        } else {
            *self
        }
    }

    /// The decimal that an exact number is converted to next to `other`, with the name (decimal or numeric) of `other`.
    pub(crate) fn as_decimal(&self, other: &Self) -> Self {
        if self.family() == Family::Decimal {
            return *self;
        }
        let described = self.describe();
        let (precision, scale) = (described.precision, described.scale);
        if matches!(other, Self::Numeric { .. }) {
            Self::Numeric { precision, scale }
        } else {
            Self::Decimal { precision, scale }
        }
    }

    /// Precision and scale for the computation of a result type.
    fn exact_digits(&self) -> (u16, u16) {
        let (precision, scale) = self.decimal_digits().unwrap_or((PRECISION_MAX, 0));
        (u16::from(precision), u16::from(scale.min(precision)))
    }
}

/// Precision and scale of a product or quotient, reduced to 38 digits: fractional digits are dropped, except for six.
fn reduced(precision: u16, scale: u16) -> (u16, u16) {
    if precision <= MAX {
        return (precision, scale);
    }
    let whole = precision - scale;
    (MAX, scale.min(6).max(MAX.saturating_sub(whole)))
}

/// 257: a sql_variant next to another type.
fn not_implicit(from: &DataType, to: &DataType) -> OperationError {
    OperationError::NotImplicit { from: *from, to: *to }
}

fn clash(left: &DataType, right: &DataType) -> OperationError {
    OperationError::Clash {
        left: *left,
        right: *right,
    }
}

/// The maximum precision of decimal.
const MAX: u16 = 38;

#[cfg(test)]
mod tests;
