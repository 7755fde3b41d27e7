//! The common type of two types: in CASE, COALESCE and UNION, in a comparison, and in a concatenation.

use crate::data_type::{PRECISION_MAX, joined_strings};
use crate::{Comparison, Conversion, DataType, Family, OperationError, conversion};

impl DataType {
    /// The type that values of two types have together, as in CASE, COALESCE and UNION.
    ///
    /// The higher by precedence, wide enough for both: text as long as the longer, a decimal with all digits of both
    /// (before the point if not all fit), a time as exact as the more exact. Error 206 if the lower does not become
    /// the higher.
    pub fn unify(&self, other: &Self) -> Result<Self, OperationError> {
        if self == other {
            return Ok(*self);
        }
        let (low, high) = if other.precedence() > self.precedence() {
            (self, other)
        } else {
            (other, self)
        };
        if !low.becomes(high) {
            return Err(OperationError::Clash {
                left: *low,
                right: *high,
            });
        }
        Ok(match (high.family(), low.family()) {
            (Family::Text, Family::Text) => united_strings(self, other),
            (Family::Binary, Family::Binary) => united_strings(self, other),
            (Family::Decimal, Family::Decimal | Family::Bit | Family::Integer | Family::Money) => {
                united_decimals(&self.as_decimal(other), &other.as_decimal(self))
            }
            _ => high.with_scale(high.time_scale().max(low.time_scale())),
        })
    }

    /// What the two operands of a comparison are converted to first.
    ///
    /// Where both are values of one kind already (texts, decimals of any scale, times and datetimes of any exactness)
    /// neither is converted. Error 402 for a time beside another date type, else 206 if neither becomes the other.
    pub fn comparable(&self, comparison: Comparison, other: &Self) -> Result<(Self, Self), OperationError> {
        let (left, right) = (self.family(), other.family());
        if self.keyword() == other.keyword() {
            return Ok((*self, *other));
        }
        if left != right && [left, right].contains(&Family::Time) {
            let is_date = |family| matches!(family, Family::OldDate | Family::NewDate);
            if is_date(left) || is_date(right) {
                let operator = comparison.name();
                return Err(OperationError::Incompatible {
                    left: *self,
                    right: *other,
                    operator,
                });
            }
        }
        let high = self.higher(other);
        let low = if high == *self { other } else { self };
        if !low.becomes(&high) {
            return Err(OperationError::Clash {
                left: *self,
                right: *other,
            });
        }
        let converted = |side: &Self| match (side.family(), high.family()) {
            (Family::Decimal, Family::Decimal) | (Family::Text, Family::Text) => *side,
            (Family::Binary, Family::Binary) | (Family::Money, Family::Money) => *side,
            (Family::Bit | Family::Integer | Family::Money, Family::Decimal) => side.as_decimal(&high),
            // A datetime is compared with a datetime2 by its true thirds of ten milliseconds (compatibility level 130
            // and above).
            (Family::OldDate, _) if *side == Self::DateTime && matches!(high, Self::DateTime2(_)) => Self::DateTime2(7),
            (Family::OldDate, _) if matches!(high, Self::DateTime | Self::DateTime2(_)) => *side,
            _ => high,
        };
        Ok((converted(self), converted(other)))
    }

    /// Whether values of this type become values of `other` without CAST.
    #[must_use]
    pub fn becomes(&self, other: &Self) -> bool {
        conversion(self, other) == Conversion::Implicit
    }

    /// How many digits of a second the type has; 0 for a type without a time.
    #[must_use]
    pub fn time_scale(&self) -> u8 {
        match self {
            Self::Time(scale) | Self::DateTime2(scale) | Self::DateTimeOffset(scale) => *scale,
            Self::DateTime => 3,
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
            | Self::VarChar(_)
            | Self::NChar(_)
            | Self::NVarChar(_)
            | Self::Binary(_)
            | Self::VarBinary(_)
            | Self::Date
            | Self::SmallDateTime
            | Self::UniqueIdentifier => 0,
        }
    }

    /// The type with so many digits of a second, if it has a number for them.
    fn with_scale(self, scale: u8) -> Self {
        if matches!(self, Self::Time(_)) {
            Self::Time(scale)
        } else if matches!(self, Self::DateTime2(_)) {
            Self::DateTime2(scale)
        } else if matches!(self, Self::DateTimeOffset(_)) {
            Self::DateTimeOffset(scale)
        } else {
            self
        }
    }
}

/// The type that two strings fit into.
fn united_strings(left: &DataType, right: &DataType) -> DataType {
    joined_strings(left, right, u16::max)
}

/// All digits of both, and those before the point first.
fn united_decimals(left: &DataType, right: &DataType) -> DataType {
    let ((p1, s1), (p2, s2)) = match (left.decimal_digits(), right.decimal_digits()) {
        (Some(left), Some(right)) => (left, right),
        _ => return *left,
    };
    let whole = p1.saturating_sub(s1).max(p2.saturating_sub(s2)).min(PRECISION_MAX);
    let scale = s1.max(s2).min(PRECISION_MAX - whole);
    let precision = (whole + scale).max(1);
    if [left, right]
        .iter()
        .any(|side| matches!(side, DataType::Numeric { .. }))
    {
        DataType::Numeric { precision, scale }
    } else {
        DataType::Decimal { precision, scale }
    }
}

#[cfg(test)]
mod tests;
