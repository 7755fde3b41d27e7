//! The rules of a cursor that its declaration asks for.
//!
//! - `forms-do-not-mix`: INSENSITIVE and SCROLL before CURSOR are the standard's form; any word after
//!   CURSOR is Transact-SQL's.

use selenite_tsql::ast::{CursorDefinition, CursorPurpose};

use crate::SqlError;

/// What a declaration says of a cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CursorRule {
    /// LOCAL or GLOBAL; `None` is the database's default.
    pub is_local: Option<bool>,
    /// How changes by others are seen.
    pub sensitivity: CursorSensitivity,
    /// Whether it fetches in all directions.
    pub scrolls: bool,
    /// Whether no row may be changed through it, whatever its kind.
    pub is_read_only: bool,
    /// The columns of FOR UPDATE, all if there are none; `None` without FOR UPDATE.
    pub for_update: Option<Vec<String>>,
    /// Whether the client is told of a cursor of another kind than it asked for.
    pub warns: bool,
}

/// How a cursor sees changes after OPEN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CursorSensitivity {
    /// Its rows are those of OPEN.
    Static,
    /// The set of rows is that of OPEN; each is read when it is fetched.
    Keyset,
    /// Rows are read when they are fetched.
    Dynamic,
}

impl CursorRule {
    /// The rule of `DECLARE name standard CURSOR options FOR .. purpose`.
    ///
    /// Errors: 1048 and 1049 for words that exclude each other, 16957, 40510 for SCROLL_LOCKS.
    pub fn new(standard: &[String], definition: &CursorDefinition) -> Result<Self, SqlError> {
        let options = &definition.options;
        if !standard.is_empty() && !options.is_empty() {
            return Err(SqlError::cursor_syntax_mixed());
        }
        check_conflicts(options)?;
        let has = |word: &str| options.iter().chain(standard).any(|option| option == word);
        if has("SCROLL_LOCKS") {
            return Err(SqlError::unsupported("SCROLL_LOCKS of a cursor"));
        }
        let for_update = match &definition.purpose {
            CursorPurpose::Update(columns) => Some(columns.iter().map(|column| column.text.clone()).collect()),
            CursorPurpose::ReadOnly | CursorPurpose::Unspecified => None,
        };
        let is_for_update = for_update.is_some();
        let is_static = has("STATIC") || has("INSENSITIVE");
        let is_fast = has("FAST_FORWARD");
        if is_for_update && (has("READ_ONLY") || is_static) {
            return Err(SqlError::for_update_of_read_only());
        }
        if is_for_update && is_fast {
            return Err(SqlError::cursor_options("FAST_FORWARD", "FOR UPDATE"));
        }
        if let Some(word) = standard.iter().find(|word| *word != "SCROLL" && *word != "INSENSITIVE") {
            return Err(SqlError::syntax_near(word));
        }
        let is_sensitive = has("KEYSET") || has("DYNAMIC");
        let sensitivity = match () {
            () if is_static || is_fast => CursorSensitivity::Static,
            // SCROLL alone is a cursor with a set of keys.
            () if has("KEYSET") || has("SCROLL") && !has("DYNAMIC") => CursorSensitivity::Keyset,
            () => CursorSensitivity::Dynamic,
        };
        Ok(Self {
            is_local: match (has("LOCAL"), has("GLOBAL")) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                (false, false) => None,
            },
            sensitivity,
            is_read_only: is_static || is_fast || has("READ_ONLY") || definition.purpose == CursorPurpose::ReadOnly,
            for_update,
            scrolls: has("SCROLL") || !has("FORWARD_ONLY") && !is_fast && (has("STATIC") || is_sensitive),
            warns: has("TYPE_WARNING"),
        })
    }
}

/// Errors: 1048.
fn check_conflicts(options: &[String]) -> Result<(), SqlError> {
    for (at, first) in options.iter().enumerate() {
        for second in options.iter().skip(at + 1) {
            let excludes = |group: &&[&str]| group.contains(&first.as_str()) && group.contains(&second.as_str());
            if EXCLUSIVE.iter().any(excludes) {
                return Err(SqlError::cursor_options(first, second));
            }
        }
        if first == "INSENSITIVE" {
            return Err(SqlError::cursor_syntax_mixed());
        }
    }
    Ok(())
}

/// Words of which a declaration has one at most.
const EXCLUSIVE: &[&[&str]] = &[
    &["LOCAL", "GLOBAL"],
    &["FORWARD_ONLY", "SCROLL"],
    &["FAST_FORWARD", "SCROLL"],
    &["STATIC", "KEYSET", "DYNAMIC", "FAST_FORWARD"],
    &["READ_ONLY", "SCROLL_LOCKS", "OPTIMISTIC"],
    &["FAST_FORWARD", "SCROLL_LOCKS"],
    &["FAST_FORWARD", "OPTIMISTIC"],
];

#[cfg(test)]
mod tests;
