//! The catalogue of functions of values: names, arguments, result types, code, and whether each is supported.

use std::fmt;

/// A function of values.
pub struct Function {
    /// Its name in lower case, as messages show it.
    pub name: &'static str,
    /// Whether two calls with equal arguments give equal values.
    pub volatility: Volatility,
}

/// How often a function with the same arguments gives another value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Volatility {
    /// Never.
    Never,
    /// From one statement to the next: GETDATE, RAND, `@@ROWCOUNT`.
    Statement,
    /// From row to row: NEWID.
    Row,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
