//! SET of the session's options.

use super::{Expr, Name, ObjectName};

/// A SET statement other than of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetOption {
    /// `SET ANSI_NULLS, ANSI_PADDING ON`: names as written, known or not; at least one.
    Switch {
        /// The options.
        names: Vec<Name>,
        /// ON.
        on: bool,
    },
    /// `SET STATISTICS TIME, IO ON`: the words after STATISTICS; at least one.
    Statistics {
        /// What is shown: IO, PROFILE, TIME, XML.
        names: Vec<Name>,
        /// ON.
        on: bool,
    },
    /// `SET IDENTITY_INSERT t ON`.
    IdentityInsert {
        /// Of which table.
        table: ObjectName,
        /// ON.
        on: bool,
    },
    /// `SET TRANSACTION ISOLATION LEVEL ..`.
    IsolationLevel(IsolationLevel),
    /// `SET LOCK_TIMEOUT 1000`, `SET DATEFORMAT dmy`: any other name with a value, known or not.
    Value {
        /// The option, as written.
        name: Name,
        /// Its value.
        value: SetValue,
    },
}

/// The value of a SET option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetValue {
    /// A word: `mdy`, `us_english`, `LOW`.
    Word(Name),
    /// A constant, perhaps with a sign, or a variable.
    Value(Expr),
}

/// How transactions see each other.
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
