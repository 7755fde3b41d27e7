//! Accumulates the values of one group.

use std::cmp::Ordering;
use std::sync::Arc;

use selenite_types::{DataType, Decimal, Operator, Value, compare, text_of};

use super::{Aggregate, AggregateKind};
use crate::expr::{float_in, within};
use crate::{Collation, SqlError};

/// The state of an aggregate over its group.
#[derive(Clone, Debug)]
pub struct Accumulator {
    kind: AggregateKind,
    operand_type: DataType,
    data_type: DataType,
    collation: Collation,
    counts_rows: bool,
    percentile: (f64, bool),
    count: i64,
    seen: Accumulated,
}

/// The accumulated values.
#[derive(Clone, Debug)]
enum Accumulated {
    /// No values: only their count.
    Count,
    /// The sum of integers or of money.
    Whole(i128),
    /// The sum of decimals; `None` after an overflow.
    Decimal(Option<Decimal>),
    /// The sum of floats.
    Float(f64),
    /// Mean and sum of squared deviations, by Welford's algorithm.
    Spread { mean: f64, squares: f64 },
    /// The least or greatest value so far.
    Extreme(Value),
    /// XOR of the values.
    Checksum(i32),
    /// All values, of a percentile.
    Values(Vec<Value>),
    /// The concatenated text.
    Text { text: String, separator: Arc<str> },
}

impl Accumulator {
    /// An empty accumulator. `separator` is the value of [`Aggregate::separator`].
    #[must_use]
    pub fn new(aggregate: &Aggregate, separator: &Value) -> Self {
        let separator = if let Value::Text(text) = separator {
            Arc::clone(text)
        } else {
            Arc::from("")
        };
        let seen = match aggregate.kind {
            AggregateKind::Count | AggregateKind::CountBig | AggregateKind::ApproxCountDistinct => Accumulated::Count,
            AggregateKind::Sum | AggregateKind::Avg if aggregate.data_type.decimal_digits().is_some() => {
                Accumulated::Decimal(Some(Decimal { unscaled: 0, scale: 0 }))
            }
            AggregateKind::Sum | AggregateKind::Avg if aggregate.data_type == DataType::Float => {
                Accumulated::Float(0.0)
            }
            AggregateKind::Sum | AggregateKind::Avg => Accumulated::Whole(0),
            AggregateKind::Min | AggregateKind::Max | AggregateKind::FirstValue | AggregateKind::LastValue => {
                Accumulated::Extreme(Value::Null)
            }
            AggregateKind::PercentileCont | AggregateKind::PercentileDisc => Accumulated::Values(Vec::new()),
            AggregateKind::StDev | AggregateKind::StDevP | AggregateKind::Var | AggregateKind::VarP => {
                Accumulated::Spread {
                    mean: 0.0,
                    squares: 0.0,
                }
            }
            AggregateKind::StringAgg => Accumulated::Text {
                text: String::new(),
                separator,
            },
            AggregateKind::ChecksumAgg => Accumulated::Checksum(0),
        };
        let operand = aggregate.operand.as_ref();
        Self {
            kind: aggregate.kind,
            operand_type: operand.map_or(DataType::Int, |operand| operand.data_type),
            data_type: aggregate.data_type,
            collation: operand.map_or_else(Collation::default, |operand| operand.collation),
            counts_rows: operand.is_none(),
            percentile: aggregate.percentile.unwrap_or_default(),
            count: 0,
            seen,
        }
    }

    /// Adds a value of the operand's type; for `COUNT(*)` any value. NULL is skipped.
    ///
    /// Errors: 9829 and 7119 for text that grows too large, 8624 for a value of another type.
    pub fn step(&mut self, value: &Value) -> Result<(), SqlError> {
        if *value == Value::Null && !self.counts_rows {
            return Ok(());
        }
        let is_first = self.count == 0;
        self.count += 1;
        match &mut self.seen {
            Accumulated::Count => {}
            Accumulated::Whole(sum) => *sum += whole(value)?,
            Accumulated::Decimal(sum) => {
                let Value::Decimal(number) = value else {
                    return Err(misfit(value));
                };
                *sum = sum.and_then(|sum| sum_of_decimals(sum, *number));
            }
            Accumulated::Float(sum) => *sum += float(value)?,
            Accumulated::Spread { mean, squares } => {
                let number = float(value)?;
                let distance = number - *mean;
                *mean += distance / count_as_float(self.count);
                *squares += distance * (number - *mean);
            }
            Accumulated::Values(values) => values.push(value.clone()),
            Accumulated::Extreme(extreme) if self.kind == AggregateKind::LastValue => *extreme = value.clone(),
            Accumulated::Extreme(extreme) if self.kind == AggregateKind::FirstValue => {
                if is_first {
                    *extreme = value.clone();
                }
            }
            Accumulated::Extreme(extreme) => {
                let ordering = if self.kind == AggregateKind::Min {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
                if is_first || compare(value, extreme, self.collation.named) == Some(ordering) {
                    *extreme = value.clone();
                }
            }
            Accumulated::Checksum(bits) => {
                let Value::Int(number) = value else {
                    return Err(misfit(value));
                };
                *bits ^= number;
            }
            Accumulated::Text { text, separator } => {
                if !is_first {
                    text.push_str(separator);
                }
                if let Value::Text(piece) = value {
                    text.push_str(piece);
                } else {
                    text.push_str(&text_of(value, &self.operand_type).unwrap_or_default());
                }
                within(text.len())?;
                let is_too_long = || !self.data_type.is_max() && !self.data_type.fits(self.data_type.text_length(text));
                if text.len() > LIMIT && is_too_long() {
                    return Err(SqlError::string_agg_too_large());
                }
            }
        }
        Ok(())
    }

    /// Removes a value that was added; false if that is not exact, and the remaining values are to be added again.
    pub fn remove(&mut self, value: &Value) -> bool {
        if *value == Value::Null && !self.counts_rows {
            return true;
        }
        match &mut self.seen {
            Accumulated::Count => {}
            Accumulated::Whole(sum) => match whole(value) {
                Ok(number) => *sum -= number,
                Err(_) => return false,
            },
            Accumulated::Checksum(bits) => {
                let Value::Int(number) = value else { return false };
                *bits ^= number;
            }
            Accumulated::Decimal(_)
            | Accumulated::Float(_)
            | Accumulated::Spread { .. }
            | Accumulated::Extreme(_)
            | Accumulated::Values(_)
            | Accumulated::Text { .. } => return false,
        }
        self.count -= 1;
        true
    }

    /// The aggregate of the accumulated values.
    ///
    /// Errors: 8115 if the result does not fit its type.
    pub fn finish(&self) -> Result<Value, SqlError> {
        let overflow = || SqlError::overflow(self.data_type.overflow_name());
        let counts = matches!(self.seen, Accumulated::Count);
        if self.count == 0 && !counts {
            return Ok(Value::Null);
        }
        let averages = self.kind == AggregateKind::Avg;
        match &self.seen {
            Accumulated::Count => self.whole(i128::from(self.count)).ok_or_else(overflow),
            Accumulated::Whole(sum) => {
                let sum = self.whole(*sum).ok_or_else(overflow)?;
                if !averages {
                    return Ok(sum);
                }
                self.whole(whole(&sum)? / i128::from(self.count)).ok_or_else(overflow)
            }
            Accumulated::Decimal(sum) => {
                let sum = Value::Decimal(sum.ok_or_else(overflow)?);
                if !averages {
                    return Ok(sum);
                }
                let count = Value::Decimal(Decimal {
                    unscaled: i128::from(self.count),
                    scale: 0,
                });
                Ok(Operator::Divide.apply(&sum, &count, &self.data_type)?)
            }
            Accumulated::Float(sum) => {
                let result = if averages {
                    sum / count_as_float(self.count)
                } else {
                    *sum
                };
                if result.is_finite() {
                    Ok(Value::Float(result))
                } else {
                    Err(overflow())
                }
            }
            Accumulated::Spread { squares, .. } => self.spread(*squares),
            Accumulated::Values(values) => self.percentile(values),
            Accumulated::Extreme(extreme) => Ok(extreme.clone()),
            Accumulated::Checksum(bits) => Ok(Value::Int(*bits)),
            Accumulated::Text { text, .. } => Ok(Value::Text(Arc::from(text.as_str()))),
        }
    }

    /// The percentile of all values.
    fn percentile(&self, values: &[Value]) -> Result<Value, SqlError> {
        let (fraction, descending) = self.percentile;
        let mut sorted: Vec<&Value> = values.iter().collect();
        let order = self.collation.named;
        sorted.sort_by(|left, right| {
            let ordering = compare(left, right, order).unwrap_or(Ordering::Equal);
            if descending { ordering.reverse() } else { ordering }
        });
        let count = count_as_float(self.count);
        let at = |index: f64| {
            // An index of a vector is far below 2^53.
            let found = sorted
                .iter()
                .enumerate()
                .find(|(at, _)| i64::try_from(*at).is_ok_and(|at| count_as_float(at) >= index));
            found.map(|(_, value)| *value).or(sorted.last().copied())
        };
        let missing = || SqlError::internal("a percentile of no values");
        if self.kind == AggregateKind::PercentileDisc {
            // The first value whose cumulative distribution is at least the fraction.
            let value = at((fraction * count).ceil() - 1.0);
            return value.cloned().ok_or_else(missing);
        }
        let row = fraction * (count - 1.0);
        let low = float(at(row.floor()).ok_or_else(missing)?)?;
        let high = float(at(row.ceil()).ok_or_else(missing)?)?;
        Ok(Value::Float(low + (high - low) * (row - row.floor())))
    }

    /// A sum in the result's type, if it fits.
    fn whole(&self, sum: i128) -> Option<Value> {
        let sum = i64::try_from(sum).ok()?;
        if self.data_type == DataType::BigInt {
            return Some(Value::BigInt(sum));
        }
        if self.data_type == DataType::Money {
            return Some(Value::Money(sum));
        }
        i32::try_from(sum).ok().map(Value::Int)
    }

    fn spread(&self, squares: f64) -> Result<Value, SqlError> {
        let is_sample = matches!(self.kind, AggregateKind::StDev | AggregateKind::Var);
        let divisor = if is_sample { self.count - 1 } else { self.count };
        if divisor == 0 {
            return Ok(Value::Null);
        }
        let variance = squares / count_as_float(divisor);
        let is_root = matches!(self.kind, AggregateKind::StDev | AggregateKind::StDevP);
        let result = if is_root { variance.sqrt() } else { variance };
        if result.is_finite() {
            Ok(Value::Float(result))
        } else {
            Err(SqlError::overflow("float"))
        }
    }
}

/// A sum with the scale of its operands, which all have the same scale; `None` if it has more than 38 digits.
fn sum_of_decimals(sum: Decimal, number: Decimal) -> Option<Decimal> {
    let scale = sum.scale.max(number.scale);
    let unscaled = sum
        .rescale(scale)?
        .unscaled
        .checked_add(number.rescale(scale)?.unscaled)?;
    let sum = Decimal { unscaled, scale };
    sum.fits(38).then_some(sum)
}

fn whole(value: &Value) -> Result<i128, SqlError> {
    if let Value::Money(units) = value {
        return Ok(i128::from(*units));
    }
    value.as_whole().map(i128::from).ok_or_else(|| misfit(value))
}

fn float(value: &Value) -> Result<f64, SqlError> {
    float_in(value).ok_or_else(|| misfit(value))
}

/// A count, rounded beyond 2^53 as all floats.
fn count_as_float(count: i64) -> f64 {
    const HALF: i64 = 1 << 32;
    let (high, low) = (count / HALF, count % HALF);
    let part = |part: i64| u32::try_from(part).map_or(0.0, f64::from);
    part(high) * 4_294_967_296.0 + part(low)
}

#[cold]
fn misfit(value: &Value) -> SqlError {
    SqlError::internal(&format!("an aggregate of {value:?}"))
}

/// 4,000 bytes: shorter text fits every result type of STRING_AGG.
const LIMIT: usize = 4_000;
