//! Aggregates: which types they take, what type they make, and their accumulators.
//!
//! G1. NULLs are left out, of COUNT(a) too; an aggregate of no values is NULL, a count of none is 0.
//! G2. Grouping, DISTINCT and order are the caller's: an accumulator takes each value that counts, once.

use selenite_types::DataType;

use crate::{Expr, PlanError};

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
    /// STDEV: of a sample.
    StDev,
    /// STDEVP: of all.
    StDevP,
    /// VAR: of a sample.
    Var,
    /// VARP: of all.
    VarP,
    /// STRING_AGG.
    StringAgg,
    /// CHECKSUM_AGG.
    ChecksumAgg,
}

/// An aggregate whose operand is converted as it wants it.
#[derive(Clone, PartialEq, Debug)]
pub struct Aggregate {
    /// Which.
    pub kind: AggregateKind,
    /// Of what; `None` is `COUNT(*)`.
    pub operand: Option<Expr>,
    /// What STRING_AGG puts between values: a constant or variable.
    pub separator: Option<Expr>,
    /// Its type.
    pub data_type: DataType,
}

impl AggregateKind {
    /// The aggregate of a name, in any case.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        const KINDS: [(&str, AggregateKind); 12] = [
            ("count", AggregateKind::Count),
            ("count_big", AggregateKind::CountBig),
            ("sum", AggregateKind::Sum),
            ("avg", AggregateKind::Avg),
            ("min", AggregateKind::Min),
            ("max", AggregateKind::Max),
            ("stdev", AggregateKind::StDev),
            ("stdevp", AggregateKind::StDevP),
            ("var", AggregateKind::Var),
            ("varp", AggregateKind::VarP),
            ("string_agg", AggregateKind::StringAgg),
            ("checksum_agg", AggregateKind::ChecksumAgg),
        ];
        KINDS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, kind)| *kind)
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
        }
    }
}

impl Aggregate {
    /// The aggregate of bound arguments; none is `COUNT(*)`.
    ///
    /// Errors: 174 for a wrong number of arguments, 8117 and 8116 for types that it does not take.
    pub fn bind(kind: AggregateKind, arguments: Vec<Expr>) -> Result<Self, PlanError> {
        let _ = arguments;
        Err(PlanError::unsupported_function(kind.name()))
    }
}
