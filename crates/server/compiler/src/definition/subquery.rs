//! Refuses subqueries in a table's rules.

use std::fmt::Display;

use super::words::words;
use crate::SqlError;

/// Refuses a value or condition with a subquery.
///
/// # Errors
/// 1046.
pub(super) fn check_scalar(rule: &impl Display) -> Result<(), SqlError> {
    match has_query(&rule.to_string()) {
        true => Err(SqlError::subquery_not_allowed()),
        false => Ok(()),
    }
}

/// Whether a value or condition has no subquery.
pub fn is_scalar(rule: &impl Display) -> bool {
    !has_query(&rule.to_string())
}

/// Whether a text contains the keyword SELECT outside strings and delimited names.
fn has_query(text: &str) -> bool {
    words(text).any(|word| !word.is_delimited && word.text.eq_ignore_ascii_case("SELECT"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_distinguished_from_names_and_strings() {
        for text in [
            "(SELECT 1)",
            "a IN (select b FROM t)",
            "N'x''y' = (Select 1)",
            "[a]]b] > (SELECT 1)",
        ] {
            assert!(has_query(text), "{text}");
        }
        for text in [
            "[select]",
            "'SELECT'",
            "selects",
            "@select",
            "N'it''s SELECT'",
            "\"select\"",
            "[a]]select]",
            "'open",
            "",
        ] {
            assert!(!has_query(text), "{text}");
        }
    }
}
