//! DBCC and KILL.

use super::{Expr, Name, Setting};

/// `DBCC name (arguments) WITH options`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dbcc {
    /// The command, as written.
    pub command: Name,
    /// The arguments: constants, variables, and words or names, which are columns.
    pub arguments: Vec<Expr>,
    /// `WITH ..`; empty if absent.
    pub options: Vec<Setting>,
}

/// `KILL session [WITH STATUSONLY]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kill {
    /// A session id, or the text of a unit of work (UOW).
    pub session: Expr,
    /// `WITH STATUSONLY`
    pub status_only: bool,
}
