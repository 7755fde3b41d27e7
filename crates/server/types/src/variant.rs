//! The size and the order of values of sql_variant.

use std::cmp::Ordering;

use selenite_collation::Collation;

use crate::convert::{DateFormat, convert};
use crate::{DataType, Date, DateTime2, Decimal, Family, SqlVariant, TimeOfDay, Value, decimal, guid_ordered};

impl SqlVariant {
    /// The size of the value and of the description of its type, in SQL Server's storage.
    #[must_use]
    pub fn total_size(&self) -> usize {
        let described = match self.data_type().family() {
            Family::Decimal => 2,
            Family::Binary => 2,
            // A maximum length, and a collation.
            Family::Text => 6,
            Family::Time => 1,
            Family::NewDate if *self.data_type() != DataType::Date => 1,
            Family::Bit
            | Family::Integer
            | Family::Money
            | Family::Approximate
            | Family::OldDate
            | Family::NewDate
            | Family::Guid
            | Family::Variant
            | Family::Xml => 0,
        };
        2 + described + self.data_type().data_length(self.value()).unwrap_or(0)
    }

    /// Compares by the documented families: a value of a higher one is greater; values of one family are compared as
    /// numbers, instants, texts or bytes, whatever their types.
    ///
    /// A datetimeoffset is compared by its instant, any other date or time as one in UTC, so that the order is total.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank()).then_with(|| self.order_in_family(other))
    }

    /// Bytes that are the same for two values exactly if they are equal.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        let mut key = vec![self.rank()];
        if let Some(number) = self.exact() {
            let mut number = number;
            while number.scale > 0 && number.unscaled % 10 == 0 {
                number.unscaled /= 10;
                number.scale -= 1;
            }
            key.extend(number.unscaled.to_be_bytes());
            key.push(number.scale);
        } else if let Some(number) = self.approximate() {
            // Both zeros are equal.
            key.extend((number + 0.0).to_bits().to_be_bytes());
        } else if let Some(moment) = self.moment() {
            key.extend(moment.date.0.to_be_bytes());
            key.extend(moment.time.0.to_be_bytes());
        } else if let Value::Text(text) = self.value() {
            key.extend(COLLATION.key(text.as_bytes()));
        } else if let Value::Binary(bytes) = self.value() {
            key.extend_from_slice(bytes);
        } else if let Value::Guid(guid) = self.value() {
            key.extend(guid_ordered(*guid));
        }
        key
    }

    /// The rank of the type's family in the documented hierarchy.
    fn rank(&self) -> u8 {
        match self.data_type().family() {
            Family::Guid => 0,
            Family::Binary => 1,
            Family::Text => 2,
            Family::Bit | Family::Integer | Family::Decimal | Family::Money => 3,
            Family::Approximate => 4,
            Family::OldDate | Family::NewDate | Family::Time => 5,
            Family::Variant | Family::Xml => 6,
        }
    }

    fn order_in_family(&self, other: &Self) -> Ordering {
        if let (Some(left), Some(right)) = (self.exact(), other.exact()) {
            return decimal::compare(left, right);
        }
        if let (Some(left), Some(right)) = (self.approximate(), other.approximate()) {
            return left.partial_cmp(&right).unwrap_or_else(|| left.total_cmp(&right));
        }
        if let (Some(left), Some(right)) = (self.moment(), other.moment()) {
            return (left.date, left.time).cmp(&(right.date, right.time));
        }
        crate::order(self.value(), other.value(), COLLATION)
    }

    /// An exact number of any type.
    fn exact(&self) -> Option<Decimal> {
        let whole = |number: i64| Decimal {
            unscaled: i128::from(number),
            scale: 0,
        };
        if let Value::Bit(bit) = self.value() {
            return Some(whole(i64::from(*bit)));
        }
        if let Value::Money(units) = self.value() {
            return Some(Decimal {
                unscaled: i128::from(*units),
                scale: MONEY_SCALE,
            });
        }
        if let Value::Decimal(number) = self.value() {
            return Some(*number);
        }
        self.value().as_whole().map(whole)
    }

    /// A real or float.
    fn approximate(&self) -> Option<f64> {
        if let Value::Real(number) = *self.value() {
            return Some(f64::from(number));
        }
        if let Value::Float(number) = *self.value() {
            Some(number)
        } else {
            None
        }
    }

    /// A date or time of any type: a date at midnight, a time on the day of which datetime counts.
    fn moment(&self) -> Option<DateTime2> {
        match self.value() {
            Value::Date(date) => Some(DateTime2 {
                date: *date,
                time: TimeOfDay(0),
            }),
            Value::Time(time) => Some(DateTime2 {
                date: Date::BASE,
                time: *time,
            }),
            Value::DateTime(moment) if *self.data_type() == DataType::DateTime => {
                // By its exact value in thirds of 10 ms, as beside a datetime2.
                let (from, to) = (DataType::DateTime, DataType::DateTime2(7));
                match convert(self.value(), &from, &to, None, DateFormat::default()) {
                    Ok(Value::DateTime(exact)) => Some(exact),
                    Ok(_) | Err(_) => Some(*moment),
                }
            }
            Value::DateTime(moment) => Some(*moment),
            Value::DateTimeOffset(moment) => Some(moment.utc),
            Value::Null
            | Value::Bit(_)
            | Value::TinyInt(_)
            | Value::SmallInt(_)
            | Value::Int(_)
            | Value::BigInt(_)
            | Value::Decimal(_)
            | Value::Money(_)
            | Value::Real(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::Binary(_)
            | Value::Guid(_)
            | Value::SqlVariant(_) => None,
        }
    }
}

/// The collation of text in a sql_variant.
const COLLATION: Collation = Collation::DEFAULT;

/// The fractional digits of money.
const MONEY_SCALE: u8 = 4;

#[cfg(test)]
mod tests;
