//! The common type of two types: for CASE, COALESCE and UNION, for comparisons, and for concatenation.

use crate::data_type::{PRECISION_MAX, joined_strings};
use crate::{Comparison, Conversion, DataType, Family, OperationError, conversion};

impl DataType {
    /// The common type of two types in CASE, COALESCE and UNION.
    ///
    /// The type with the higher precedence, extended to hold both: the longer length for text, all digits for decimals
    /// (integer digits first if not all fit), the higher scale for times. Error 206 if the lower type does not convert
    /// implicitly to the higher.
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
            (Family::Binary, Family::Binary) if *high == Self::RowVersion => Self::RowVersion,
            (Family::Binary, Family::Binary) => united_strings(self, other),
            (Family::Decimal, Family::Decimal | Family::Bit | Family::Integer | Family::Money) => {
                united_decimals(&self.as_decimal(other), &other.as_decimal(self))
            }
            _ => high.with_scale(high.time_scale().max(low.time_scale())),
        })
    }

    /// The types that the two operands of a comparison are converted to.
    ///
    /// Operands of the same family (texts, decimals of any scale, times and datetimes of any scale) are not converted.
    /// Error 402 for time next to another date type, otherwise 206 if neither type converts to the other.
    pub fn comparable(&self, comparison: Comparison, other: &Self) -> Result<(Self, Self), OperationError> {
        let (left, right) = (self.family(), other.family());
        if [left, right].contains(&Family::Xml) {
            return Err(OperationError::XmlCompared);
        }
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
            // datetime is compared with datetime2 by its exact value in thirds of 10 ms (compatibility level 130 and
            // above).
            (Family::OldDate, _) if *side == Self::DateTime && matches!(high, Self::DateTime2(_)) => Self::DateTime2(7),
            (Family::OldDate, _) if matches!(high, Self::DateTime | Self::DateTime2(_)) => *side,
            _ => high,
        };
        Ok((converted(self), converted(other)))
    }

    /// Whether values of this type convert implicitly to `other`.
    #[must_use]
    pub fn becomes(&self, other: &Self) -> bool {
        conversion(self, other) == Conversion::Implicit
    }

    /// The number of fractional second digits of the type; 0 for a type without a time.
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
            | Self::Utf8Char(_)
            | Self::VarChar(_)
            | Self::Utf8VarChar(_)
            | Self::NChar(_)
            | Self::NVarChar(_)
            | Self::Binary(_)
            | Self::RowVersion
            | Self::VarBinary(_)
            | Self::Date
            | Self::SmallDateTime
            | Self::UniqueIdentifier
            | Self::SqlVariant
            | Self::Xml => 0,
        }
    }

    /// The type with `scale` fractional second digits, if it has a scale.
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

/// The type that holds values of two string types.
fn united_strings(left: &DataType, right: &DataType) -> DataType {
    joined_strings(left, right, u16::max)
}

/// The decimal with all digits of both types; integer digits have priority.
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
