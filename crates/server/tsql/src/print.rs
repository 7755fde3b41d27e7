//! Trees as T-SQL.
//!
//! - `prints-as-it-parses`: what is printed parses to the same tree, positions aside, with
//!   QUOTED_IDENTIFIER on or off.
//! - `names-keep-their-text`: names and constants keep their text; keywords are printed in
//!   capitals, delimited names in brackets.

use core::fmt;

mod administration;
mod change;
mod condition;
mod control;
mod database;
mod definition;
mod encryption;
mod expression;
mod index;
mod name;
mod query;
mod security;
mod set_option;
mod setting;
mod source;
mod statement;
mod table;

/// Items with commas between.
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

/// A blank, what comes before, the item, and what comes after; nothing without an item.
struct Optional<'a, T>(&'static str, Option<&'a T>, &'static str);

impl<T: fmt::Display> fmt::Display for Optional<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.1 {
            Some(item) => write!(f, " {}{item}{}", self.0, self.2),
            None => Ok(()),
        }
    }
}

/// A blank, what comes before, the items with commas between, and what comes after; nothing without items.
struct OptionalList<'a, T>(&'static str, &'a [T], &'static str);

impl<T: fmt::Display> fmt::Display for OptionalList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            return Ok(());
        }
        write!(f, " {}{}{}", self.0, List(self.1), self.2)
    }
}

/// The word with a blank before it, if it is there.
fn word(there: bool, word: &'static str) -> &'static str {
    if there { word } else { "" }
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
                // A backslash at a line's end is no character but joins the lines.
                f.write_str("\\\n")?;
            }
            rest = after;
        }
        write!(f, "{rest}'")
    }
}
