//! CREATE and ALTER SEQUENCE.

use super::{Expr, ObjectName, TypeName};

/// CREATE or ALTER SEQUENCE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SequenceDefinition {
    /// Whether it alters a sequence.
    pub alter: bool,
    /// The sequence's name.
    pub name: ObjectName,
    /// Its options in order; empty if absent.
    pub options: Vec<SequenceOption>,
}

/// An option of CREATE or ALTER SEQUENCE. Values are constants with an optional sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SequenceOption {
    /// `AS type`
    As(TypeName),
    /// `START WITH value`
    Start(Expr),
    /// `RESTART [WITH value]`
    Restart(Option<Expr>),
    /// `INCREMENT BY value`
    Increment(Expr),
    /// `MINVALUE value`, `NO MINVALUE`
    Minimum(Option<Expr>),
    /// `MAXVALUE value`, `NO MAXVALUE`
    Maximum(Option<Expr>),
    /// `CYCLE`, `NO CYCLE`
    Cycle(bool),
    /// `CACHE [size]`
    Cache(Option<Expr>),
    /// `NO CACHE`
    NoCache,
}
