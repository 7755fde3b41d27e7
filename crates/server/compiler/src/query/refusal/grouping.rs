//! Errors of grouping sets, PIVOT and GENERATE_SERIES.

use crate::{Ends, SqlError};

impl SqlError {
    /// 8161: an argument of GROUPING that is not in GROUP BY.
    pub(crate) fn not_in_groups(argument: usize, function: &str) -> Self {
        let text = format!(
            "Argument {argument} of the {function} function does not match any of the expressions in the GROUP BY clause."
        );
        Self::query(8161, 16, 1, text)
    }

    /// 10702: more grouping sets than 4,096.
    pub(crate) fn too_many_grouping_sets() -> Self {
        let text = "Too many grouping sets. The maximum number is 4096.";
        Self::query(10702, 16, 1, text)
    }

    /// 473: a value of PIVOT that is not of its column's type.
    pub(crate) fn pivot_value(value: &str) -> Self {
        let text = format!("The incorrect value \"{value}\" is supplied in the PIVOT operator.");
        Self::query(473, 16, 1, text)
    }

    /// 8167: columns of UNPIVOT with several types.
    pub(crate) fn unpivot_type(column: &str) -> Self {
        let text = format!(
            "The type of column \"{column}\" conflicts with the type of other columns specified in the UNPIVOT list."
        );
        Self::query(8167, 16, 1, text)
    }

    /// 5373: arguments of GENERATE_SERIES of several types.
    pub(crate) fn series_types() -> Self {
        let text = "All the input parameters should be of the same type. Supported types are tinyint, smallint, int, bigint, \
                    decimal and numeric.";
        Self::query(5373, 16, 1, text)
    }

    /// 4199: a step of 0.
    pub(crate) fn series_step() -> Self {
        let text = "Argument value 0 is invalid for argument 3 of generate_series function.";
        Self::new(4199, Ends::Statement, text)
    }
}
