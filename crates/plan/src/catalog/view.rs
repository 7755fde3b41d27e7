//! A view, and what the server itself shows as rows.

use std::sync::Arc;

use selenite_tsql::ast::{Name, SelectStatement};
use selenite_types::DataType;

use super::SqliteName;

/// A view that somebody has defined: bound again in each statement that names it.
#[derive(Clone, Debug)]
pub struct View {
    /// The database's name; its own names are looked up there.
    pub database: String,
    /// The schema's name: `dbo`.
    pub schema: String,
    /// Its own name.
    pub name: String,
    /// Its columns' names; empty if the query names them.
    pub columns: Vec<Name>,
    /// Its rows.
    pub select: Arc<SelectStatement>,
}

/// A view that the server has: a virtual table of SQLite's.
#[derive(Clone, Debug)]
pub struct SystemView {
    /// The schema's name: `sys` or `INFORMATION_SCHEMA`.
    pub schema: String,
    /// Its own name.
    pub name: String,
    /// What it is called in SQLite.
    pub sqlite: SqliteName,
    /// Its columns in order.
    pub columns: Vec<SystemColumn>,
}

/// A function of rows that the server has: a virtual table of SQLite's with hidden columns.
#[derive(Clone, Debug)]
pub struct SystemFunction {
    /// The schema's name: `sys`; empty for those that have none, such as STRING_SPLIT.
    pub schema: String,
    /// Its own name.
    pub name: String,
    /// What it is called in SQLite.
    pub sqlite: SqliteName,
    /// Its columns in order, the hidden ones left out.
    pub columns: Vec<SystemColumn>,
    /// The types of its arguments, which are the hidden columns in order.
    pub arguments: Vec<DataType>,
    /// How many of the arguments must be given; the rest are NULL.
    pub required: usize,
}

/// A column of what the server shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemColumn {
    /// Its name, which is also its name in SQLite.
    pub name: String,
    /// Its type: what its storage form is.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
}
