//! Errors of window functions.

use crate::{Ends, SqlError};

impl SqlError {
    /// 8730: LAG or LEAD with a negative offset.
    pub(crate) fn negative_shift() -> Self {
        let text = "Offset parameter for Lag and Lead functions cannot be a negative value.";
        Self::new(8730, Ends::Statement, text)
    }

    /// 9819: NTILE with a count below 1.
    pub(crate) fn invalid_tiles() -> Self {
        let text = "The function 'ntile' takes only a positive int or bigint expression as its input.";
        Self::new(9819, Ends::Statement, text)
    }

    /// 4109: nested window functions.
    pub(crate) fn window_in_window() -> Self {
        let text = "Windowed functions cannot be used in the context of another windowed function or aggregate.";
        Self::query(4109, 15, 1, text)
    }

    /// 4112: a ranking function without ORDER BY.
    pub(crate) fn window_order_required(function: &str) -> Self {
        Self::query(
            4112,
            15,
            1,
            format!("The function '{function}' must have an OVER clause with ORDER BY."),
        )
    }

    /// 10752: a frame that the function does not support.
    pub(crate) fn window_frame_not_allowed(function: &str) -> Self {
        Self::query(
            10752,
            15,
            1,
            format!("The function '{function}' may not have a window frame."),
        )
    }

    /// 10756: a frame without ORDER BY.
    pub(crate) fn frame_without_order() -> Self {
        Self::query(
            10756,
            15,
            1,
            "Window frame with ROWS or RANGE must have an ORDER BY clause.",
        )
    }

    /// 4193: a frame that ends before it begins.
    pub(crate) fn frame_reversed() -> Self {
        let text = "'BETWEEN ... FOLLOWING AND ... PRECEDING' is not a valid window frame and cannot be used with the OVER \
                    clause.";
        Self::query(4193, 16, 1, text)
    }

    /// 4194: RANGE with an offset.
    pub(crate) fn range_frame() -> Self {
        let text = "RANGE is only supported with UNBOUNDED and CURRENT ROW window frame delimiters.";
        Self::query(4194, 16, 1, text)
    }

    /// 5308: a window ordered by an integer literal.
    pub(crate) fn window_order_index() -> Self {
        let text = "Windowed functions, aggregates and NEXT VALUE FOR functions do not support integer indices as ORDER BY \
                    clause expressions.";
        Self::query(5308, 16, 1, text)
    }

    /// 5309: a window ordered by a constant.
    pub(crate) fn window_order_constant() -> Self {
        let text = "Windowed functions, aggregates and NEXT VALUE FOR functions do not support constants as ORDER BY clause \
                    expressions.";
        Self::query(5309, 16, 1, text)
    }

    /// 10759: DISTINCT with OVER.
    pub(crate) fn distinct_window() -> Self {
        Self::query(10759, 15, 1, "Use of DISTINCT is not allowed with the OVER clause.")
    }

    /// 5362: a window without a definition.
    pub(crate) fn unknown_window(name: &str) -> Self {
        Self::query(5362, 15, 1, format!("Window '{name}' is undefined."))
    }

    /// 5364: a frame of a named window without an order.
    pub(crate) fn named_frame_without_order() -> Self {
        let text = "Window frame with ROWS or RANGE must have an ORDER BY clause.";
        Self::query(5364, 15, 1, text)
    }

    /// 5365: windows that refer to one another.
    pub(crate) fn cyclic_windows() -> Self {
        Self::query(5365, 15, 1, "Cyclic window references are not permitted.")
    }

    /// 16211: two windows of one name.
    pub(crate) fn window_twice() -> Self {
        Self::query(16211, 15, 1, "Cannot repeat window name in the WINDOW clause.")
    }
}
