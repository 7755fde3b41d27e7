//! Cursors.

use core::fmt;

use super::{List, OptionalList};
use crate::ast::{CursorDefinition, CursorName, CursorPurpose, CursorStatement, FetchCursor, FetchDirection};

impl fmt::Display for CursorStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Declare(declare) => {
                write!(f, "DECLARE {}", declare.name)?;
                words(f, &declare.standard)?;
                write!(f, " {}", declare.definition)
            }
            Self::Set { variable, definition } => write!(f, "SET {variable} = {definition}"),
            Self::Share { variable, cursor } => write!(f, "SET {variable} = {cursor}"),
            Self::OpenQuery(query) => write!(f, "{query}"),
            Self::Open(cursor) => write!(f, "OPEN {cursor}"),
            Self::Fetch(fetch) => write!(f, "{fetch}"),
            Self::Close(cursor) => write!(f, "CLOSE {cursor}"),
            Self::Deallocate(cursor) => write!(f, "DEALLOCATE {cursor}"),
        }
    }
}

impl fmt::Display for CursorDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CURSOR")?;
        words(f, &self.options)?;
        write!(f, " FOR {}", self.query)?;
        match &self.purpose {
            CursorPurpose::Unspecified => Ok(()),
            CursorPurpose::ReadOnly => f.write_str(" FOR READ ONLY"),
            CursorPurpose::Update(columns) => write!(f, " FOR UPDATE{}", OptionalList("OF ", columns, "")),
        }
    }
}

impl fmt::Display for CursorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.global { "GLOBAL " } else { "" })?;
        write!(f, "{}", self.name)
    }
}

impl fmt::Display for FetchCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.direction {
            FetchDirection::Next => f.write_str("FETCH NEXT")?,
            FetchDirection::Prior => f.write_str("FETCH PRIOR")?,
            FetchDirection::First => f.write_str("FETCH FIRST")?,
            FetchDirection::Last => f.write_str("FETCH LAST")?,
            FetchDirection::Absolute(count) => write!(f, "FETCH ABSOLUTE {count}")?,
            FetchDirection::Relative(count) => write!(f, "FETCH RELATIVE {count}")?,
        }
        write!(f, " FROM {}", self.cursor)?;
        match self.into.is_empty() {
            true => Ok(()),
            false => write!(f, " INTO {}", List(&self.into)),
        }
    }
}

fn words(f: &mut fmt::Formatter<'_>, words: &[String]) -> fmt::Result {
    words.iter().try_for_each(|word| write!(f, " {word}"))
}
