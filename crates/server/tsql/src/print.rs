//! Prints trees as T-SQL.
//!
//! - `prints-as-it-parses`: the printed text parses to the same tree, except for positions, with
//!   QUOTED_IDENTIFIER on or off.
//! - `names-keep-their-text`: names and constants keep their text; keywords are printed in upper
//!   case, delimited names in brackets.

use core::fmt;

mod administration;
mod cell_key;
mod change;
mod condition;
mod control;
mod cursor;
mod database;
mod definition;
mod encryption;
mod expression;
mod index;
mod key_management;
mod merge;
mod name;
mod query;
mod rowset;
mod security;
mod sequence;
mod set_option;
mod setting;
mod source;
mod statement;
mod stored;
mod table;
mod trigger;

pub use stored::{stored_condition, stored_expression, stored_filter};

/// Items separated by commas.
struct List<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.iter();
        if let Some(first) = rest.next() {
            write!(f, "{first}")?;
        }
        rest.try_for_each(|item| write!(f, ", {item}"))
    }
}

/// A space, a prefix, the item and a suffix; nothing if the item is absent.
struct Optional<'a, T>(&'static str, Option<&'a T>, &'static str);

impl<T: fmt::Display> fmt::Display for Optional<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(item) => write!(f, " {}{item}{}", self.0, self.2),
            None => Ok(()),
        }
    }
}

/// A space, a prefix, the items separated by commas, and a suffix; nothing if there are no items.
struct OptionalList<'a, T>(&'static str, &'a [T], &'static str);

impl<T: fmt::Display> fmt::Display for OptionalList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            return Ok(());
        }
        write!(f, " {}{}{}", self.0, List(self.1), self.2)
    }
}

/// The keyword, which includes its leading space, if `present`.
fn word(present: bool, word: &'static str) -> &'static str {
    if present { word } else { "" }
}

/// ON or OFF.
fn on_or_off(on: bool) -> &'static str {
    if on { "ON" } else { "OFF" }
}

/// A string constant.
struct Text<'a>(&'a str);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("'")?;
        let mut rest = self.0;
        while let Some(at) = rest.find(['\'', '\\']) {
            let (before, after) = rest.split_at(at + 1);
            f.write_str(before)?;
            if before.ends_with('\'') {
                f.write_str("'")?;
            } else if after.starts_with('\n') || after.starts_with("\r\n") {
                // A backslash at the end of a line would join the lines; a second line break keeps it.
                f.write_str("\\\n")?;
            }
            rest = after;
        }
        write!(f, "{rest}'")
    }
}
