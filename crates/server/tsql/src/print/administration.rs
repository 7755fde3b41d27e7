//! DBCC and KILL.

use core::fmt;

use super::{OptionalList, word};
use crate::ast::{Dbcc, Kill};

impl fmt::Display for Dbcc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = OptionalList("(", &self.arguments, ")");
        write!(f, "DBCC {}{arguments}", self.command)?;
        write!(f, "{}", OptionalList("WITH ", &self.options, ""))
    }
}

impl fmt::Display for Kill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KILL {}{}", self.session, word(self.status_only, " WITH STATUSONLY"))
    }
}
