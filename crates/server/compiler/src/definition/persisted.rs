//! Refuses PERSISTED columns whose values another computation would not give again.

use selenite_tsql::ast::Expr;

use super::TableDefinition;
use super::words::{Word, words};
use crate::{Function, SqlError, Volatility, same_name};

impl TableDefinition {
    /// Checks the PERSISTED columns, but those that the table had before.
    ///
    /// # Errors
    /// 4936.
    pub fn check_persisted(&self, old: Option<&Self>) -> Result<(), SqlError> {
        let persisted = self.columns.iter().filter_map(|column| match &column.computed {
            Some((value, true)) => Some((&column.name, value)),
            Some((_, false)) | None => None,
        });
        let mut new = persisted.filter(|(name, _)| old.is_none_or(|old| old.column(name).is_none()));
        match new.find(|(_, value)| !is_deterministic(value)) {
            Some((name, _)) => Err(SqlError::not_deterministic(name, &self.name)),
            None => Ok(()),
        }
    }
}

/// Whether the functions of a value return the same for the same arguments. Conversions between text and dates, which
/// depend on the session's language, count as deterministic: their types are not known here.
fn is_deterministic(value: &Expr) -> bool {
    !words(&value.to_string()).any(|word| !word.is_delimited && is_varying(&word))
}

fn is_varying(word: &Word<'_>) -> bool {
    let is_any = |names: &[&str]| names.iter().any(|name| same_name(name, &word.text));
    let function = || Function::find(&word.text);
    if word.text.starts_with("@@") {
        return true;
    }
    if !word.is_called() {
        return function().is_some_and(|function| function.is_bare() && function.volatility != Volatility::Never);
    }
    if is_any(&["RAND"]) {
        // RAND of a seed is always the same.
        return word.after.starts_with("()");
    }
    let part = || words(word.after).next().map(|part| part.text.to_ascii_lowercase());
    let is_weekday = || matches!(part().as_deref(), Some("dw" | "weekday"));
    is_any(VARYING)
        || is_any(&["DATEPART"]) && is_weekday()
        || function().is_some_and(|function| function.volatility != Volatility::Never)
}

/// Functions whose results depend on the session's language, as SQL Server has it.
const VARYING: &[&str] = &["DATENAME", "FORMAT", "PARSE", "PARSENAME", "TRY_PARSE"];
