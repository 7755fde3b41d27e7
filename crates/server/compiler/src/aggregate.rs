//! Aggregates: accepted types, result types and accumulators.
//!
//! - `nulls-are-skipped`: NULLs are skipped, also by COUNT(a); an aggregate of no values is NULL, a
//!   count of none is 0.
//! - `caller-groups-and-orders`: grouping, DISTINCT and order are the caller's: an accumulator
//!   receives each value to aggregate once.

use selenite_types::{DataType, Family, Width};

use crate::expr::{NATIONAL_WIDTH_MAX, widest};
use crate::{Collation, Expr, SqlError};

mod accumulator;

pub use accumulator::Accumulator;

/// A function over the values of a group.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AggregateKind {
    /// COUNT, an int.
    Count,
    /// COUNT_BIG, a bigint.
    CountBig,
    /// SUM.
    Sum,
    /// AVG.
    Avg,
    /// MIN.
    Min,
    /// MAX.
    Max,
    /// STDEV: sample standard deviation.
    StDev,
    /// STDEVP: population standard deviation.
    StDevP,
    /// VAR: sample variance.
    Var,
    /// VARP: population variance.
    VarP,
    /// STRING_AGG.
    StringAgg,
    /// CHECKSUM_AGG.
    ChecksumAgg,
    /// APPROX_COUNT_DISTINCT, a bigint: the exact count.
    ApproxCountDistinct,
    /// PERCENTILE_CONT, which has no name here: it is a window function.
    PercentileCont,
    /// PERCENTILE_DISC, likewise.
    PercentileDisc,
    /// FIRST_VALUE IGNORE NULLS, likewise.
    FirstValue,
    /// LAST_VALUE IGNORE NULLS, likewise.
    LastValue,
}

/// An aggregate whose operand is converted to the type that the aggregate requires.
#[derive(Clone, PartialEq, Debug)]
pub struct Aggregate {
    /// The aggregate function.
    pub kind: AggregateKind,
    /// The operand; `None` is `COUNT(*)`.
    pub operand: Option<Expr>,
    /// STRING_AGG's separator: a constant or a variable.
    pub separator: Option<Expr>,
    /// The result's type.
    pub data_type: DataType,
    /// The percentile, and whether values are in descending order.
    pub percentile: Option<(f64, bool)>,
}

impl AggregateKind {
    /// All aggregates.
    pub const ALL: [Self; 13] = [
        Self::Count,
        Self::CountBig,
        Self::Sum,
        Self::Avg,
        Self::Min,
        Self::Max,
        Self::StDev,
        Self::StDevP,
        Self::Var,
        Self::VarP,
        Self::StringAgg,
        Self::ChecksumAgg,
        Self::ApproxCountDistinct,
    ];

    /// The aggregate with this name, in any case.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// The name in lower case, as messages show it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::CountBig => "count_big",
            Self::Sum => "sum",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::StDev => "stdev",
            Self::StDevP => "stdevp",
            Self::Var => "var",
            Self::VarP => "varp",
            Self::StringAgg => "string_agg",
            Self::ChecksumAgg => "checksum_agg",
            Self::ApproxCountDistinct => "approx_count_distinct",
            Self::PercentileCont => "percentile_cont",
            Self::PercentileDisc => "percentile_disc",
            Self::FirstValue => "first_value",
            Self::LastValue => "last_value",
        }
    }
}

impl Aggregate {
    /// The collation of its text: the operand's.
    #[must_use]
    pub fn collation(&self) -> Collation {
        self.operand
            .as_ref()
            .map(|operand| operand.collation)
            .unwrap_or_default()
    }

    /// Binds an aggregate to its arguments; no arguments means `COUNT(*)`.
    ///
    /// Errors: 174 for a wrong number of arguments, 8117 and 8116 for unsupported argument types.
    pub fn bind(kind: AggregateKind, arguments: Vec<Expr>) -> Result<Self, SqlError> {
        let takes = if kind == AggregateKind::StringAgg { 2 } else { 1 };
        let counts_rows = arguments.is_empty() && matches!(kind, AggregateKind::Count | AggregateKind::CountBig);
        if arguments.len() != takes && !counts_rows {
            return Err(SqlError::argument_count(kind.name(), takes));
        }
        let mut arguments = arguments.into_iter();
        let Some(operand) = arguments.next() else {
            return Ok(Self {
                kind,
                operand: None,
                separator: None,
                data_type: kind.count_type(),
                percentile: None,
            });
        };
        if operand.is_null_word() {
            return Err(SqlError::operand_type("NULL", kind.name()));
        }
        let (operand, data_type) = kind.operand(operand)?;
        let separator = match arguments.next() {
            Some(separator) => Some(separator_of(separator, &data_type)?),
            None => None,
        };
        Ok(Self {
            kind,
            operand: Some(operand),
            separator,
            data_type,
            percentile: None,
        })
    }

    /// Binds PERCENTILE_CONT or PERCENTILE_DISC.
    ///
    /// Errors: 8117 for an operand of PERCENTILE_CONT that is no number.
    pub(crate) fn percentile(
        kind: AggregateKind,
        operand: Expr,
        fraction: f64,
        descending: bool,
    ) -> Result<Self, SqlError> {
        Ok(Self {
            percentile: Some((fraction, descending)),
            ..Self::bind(kind, vec![operand])?
        })
    }

    /// Whether NULLs that it skips are reported (8153).
    #[must_use]
    pub fn reports_nulls(&self) -> bool {
        match self.kind {
            AggregateKind::PercentileCont
            | AggregateKind::PercentileDisc
            | AggregateKind::FirstValue
            | AggregateKind::LastValue => false,
            AggregateKind::Count
            | AggregateKind::CountBig
            | AggregateKind::Sum
            | AggregateKind::Avg
            | AggregateKind::Min
            | AggregateKind::Max
            | AggregateKind::StDev
            | AggregateKind::StDevP
            | AggregateKind::Var
            | AggregateKind::VarP
            | AggregateKind::StringAgg
            | AggregateKind::ChecksumAgg
            | AggregateKind::ApproxCountDistinct => true,
        }
    }
}

impl AggregateKind {
    fn count_type(self) -> DataType {
        if matches!(self, Self::CountBig | Self::ApproxCountDistinct) {
            DataType::BigInt
        } else {
            DataType::Int
        }
    }

    /// The operand converted for the aggregate, and the result's type.
    fn operand(self, operand: Expr) -> Result<(Expr, DataType), SqlError> {
        let of = operand.data_type;
        let refused = || SqlError::operand_type(of.bare_name(), self.name());
        match self {
            Self::Count | Self::CountBig | Self::ApproxCountDistinct => Ok((operand, self.count_type())),
            Self::Min | Self::Max if matches!(of, DataType::Bit | DataType::Xml) => Err(refused()),
            Self::Min | Self::Max => Ok((operand, of)),
            Self::Sum | Self::Avg => {
                let data_type = sum_type(&of, self == Self::Avg).ok_or_else(refused)?;
                Ok((operand, data_type))
            }
            Self::PercentileDisc | Self::FirstValue | Self::LastValue => Ok((operand, of)),
            Self::PercentileCont => {
                sum_type(&of, false).ok_or_else(refused)?;
                Ok((operand.converted_to(&DataType::Float)?, DataType::Float))
            }
            Self::StDev | Self::StDevP | Self::Var | Self::VarP => {
                sum_type(&of, false).ok_or_else(refused)?;
                Ok((operand.converted_to(&DataType::Float)?, DataType::Float))
            }
            Self::ChecksumAgg if matches!(of.family(), Family::Integer) => {
                Ok((operand.converted_to(&DataType::Int)?, DataType::Int))
            }
            Self::ChecksumAgg => Err(refused()),
            Self::StringAgg => {
                let operand = if of.family() == Family::Text {
                    operand
                } else {
                    operand.converted_to(&DataType::NVarChar(Width::Limited(NATIONAL_WIDTH_MAX)))?
                };
                let data_type = widest(Some(&operand));
                Ok((operand, data_type))
            }
        }
    }
}

/// The type of SUM, or of AVG with `averages`; `None` for a type that has no sum.
fn sum_type(of: &DataType, averages: bool) -> Option<DataType> {
    match *of {
        DataType::TinyInt | DataType::SmallInt | DataType::Int => Some(DataType::Int),
        DataType::BigInt => Some(DataType::BigInt),
        DataType::Decimal { scale, .. } => Some(DataType::Decimal {
            precision: 38,
            scale: if averages { scale.max(6) } else { scale },
        }),
        DataType::Numeric { scale, .. } => Some(DataType::Numeric {
            precision: 38,
            scale: if averages { scale.max(6) } else { scale },
        }),
        DataType::SmallMoney | DataType::Money => Some(DataType::Money),
        DataType::Real | DataType::Float => Some(DataType::Float),
        DataType::Bit
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

/// STRING_AGG's separator, as text of the result's kind.
fn separator_of(separator: Expr, data_type: &DataType) -> Result<Expr, SqlError> {
    if separator.data_type.family() != Family::Text && !separator.is_null_word() {
        return Err(SqlError::argument_type(
            separator.data_type.bare_name(),
            2,
            "string_agg",
        ));
    }
    separator.converted_to(data_type)
}

#[cfg(test)]
mod tests;
