//! SET of the session's options.

use super::{Expr, Name, ObjectName};

/// A SET statement, except of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOption {
    /// `SET ANSI_NULLS, ANSI_PADDING ON`: names as written, including unknown ones; at least one.
    Switch {
        /// The options.
        names: Vec<Name>,
        /// Whether the value is ON.
        on: bool,
    },
    /// `SET STATISTICS TIME, IO ON`: the words after STATISTICS; at least one.
    Statistics {
        /// The kinds of statistics: IO, PROFILE, TIME, XML.
        names: Vec<Name>,
        /// Whether the value is ON.
        on: bool,
    },
    /// `SET IDENTITY_INSERT t ON`.
    IdentityInsert {
        /// The table.
        table: ObjectName,
        /// Whether the value is ON.
        on: bool,
    },
    /// `SET TRANSACTION ISOLATION LEVEL ..`.
    IsolationLevel(IsolationLevel),
    /// `SET LOCK_TIMEOUT 1000`, `SET DATEFORMAT dmy`: any other option with a value, including unknown ones.
    Value {
        /// The option, as written.
        name: Name,
        /// The value.
        value: SetValue,
    },
}

/// The value of a SET option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetValue {
    /// A word: `mdy`, `us_english`, `LOW`.
    Word(Name),
    /// A constant with an optional sign, or a variable.
    Value(Expr),
}

/// A transaction isolation level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLevel {
    /// `READ UNCOMMITTED`
    ReadUncommitted,
    /// `READ COMMITTED`
    ReadCommitted,
    /// `REPEATABLE READ`
    RepeatableRead,
    /// `SNAPSHOT`
    Snapshot,
    /// `SERIALIZABLE`
    Serializable,
}
