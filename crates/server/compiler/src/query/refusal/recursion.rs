//! Errors of common table expressions.

use crate::{Ends, SqlError};

impl SqlError {
    /// 240: a recursive member of another type than the anchor.
    pub(crate) fn recursive_type(column: &str, name: &str) -> Self {
        let text = format!(
            "Types don't match between the anchor and the recursive part in column \"{column}\" of recursive query \"{name}\"."
        );
        Self::query(240, 16, 1, text)
    }

    /// 252: a recursive common table expression without UNION ALL.
    pub(crate) fn recursion_without_union(name: &str) -> Self {
        let text =
            format!("Recursive common table expression '{name}' does not contain a top-level UNION ALL operator.");
        Self::query(252, 16, 1, text)
    }

    /// 253: a recursive member that refers to the table more than once.
    pub(crate) fn recursion_twice(name: &str) -> Self {
        let text = format!("Recursive member of a common table expression '{name}' has multiple recursive references.");
        Self::query(253, 16, 1, text)
    }

    /// 246: a recursive common table expression without an anchor.
    pub(crate) fn recursion_without_anchor(name: &str) -> Self {
        let text = format!("No anchor member was specified for recursive query \"{name}\".");
        Self::query(246, 16, 1, text)
    }

    /// 310: MAXRECURSION out of range.
    pub(crate) fn recursion_option(value: &str) -> Self {
        let text =
            format!("The value {value} specified for the MAXRECURSION option exceeds the allowed maximum of 32767.");
        Self::query(310, 15, 1, text)
    }

    /// 460 and related ones: forms that are not allowed in a recursive member.
    pub(crate) fn in_recursive_part(number: i32, what: &str, name: &str) -> Self {
        let text = format!("{what} not allowed in the recursive part of a recursive common table expression '{name}'.");
        Self::query(number, 16, 1, text)
    }

    /// 465: a recursive member that refers to the table in a subquery.
    pub(crate) fn recursion_in_subquery() -> Self {
        Self::query(465, 16, 1, "Recursive references are not allowed in subqueries.")
    }

    /// 530: a recursion that exceeds MAXRECURSION.
    pub fn recursion_exhausted(level_max: i64) -> Self {
        let text = format!(
            "The statement terminated. The maximum recursion {level_max} has been exhausted before statement completion."
        );
        Self::new(530, Ends::Statement, text)
    }

    /// 239: two common table expressions with one name.
    pub(crate) fn common_table_twice(name: &str) -> Self {
        Self::query(
            239,
            16,
            1,
            format!("Duplicate common table expression name '{name}' was specified."),
        )
    }
}
