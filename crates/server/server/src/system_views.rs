//! What the server shows of itself as rows: sys and INFORMATION_SCHEMA.
//!
//! - `rows-are-made-once`: a view's rows are made when a statement first needs them, of the state
//!   at that moment, and are the same for the whole statement. SQLite gets them as JSON
//!   (`selenite_compiler::catalog::SystemRows`), so that no virtual table is needed.
//! - `unknown-columns-are-left-out`: columns have SQL Server's names, types and order. A column
//!   with an unknown value is left out, never invented; columns after the last known one are left
//!   out, too.

mod absent;
mod cell;
mod cell_keys;
mod collations;
mod columns;
mod compatible;
mod constraints;
mod cursors;
mod databases;
mod describe;
mod encryption;
mod file_stats;
mod files;
mod indexes;
mod information;
mod information_constraints;
mod key_management;
mod linked_servers;
mod machine;
mod modules;
mod objects;
mod odbc;
mod partitions;
mod principals;
mod properties;
mod request_text;
mod requests;
mod routine;
mod sequences;
mod sessions;
mod space;
mod split;
mod sysprocesses;
mod transactions;
mod triggers;
mod undeclared;
mod view_column;
mod waits;

use std::sync::LazyLock;

pub use cell::Cell;
pub use encryption::real;
use selenite_compiler::SqlError;
use selenite_types::storage::StoredRef;
use selenite_types::{DataType, Width};
pub use sessions::date_format;

use crate::catalog::system_relations::{
    ColumnSpec, FunctionDefinition, INFORMATION, SYS, SystemRelations, ViewDefinition,
};
use crate::names::session_objects::SessionObjects;
use crate::session_state::SessionState;

/// What names are bound to.
pub static RELATIONS: LazyLock<SystemRelations> = LazyLock::new(|| SystemRelations {
    views: (0..)
        .zip(all())
        .map(|(at, view)| ViewDefinition {
            schema: view.schema,
            name: view.name,
            id: FIRST_ID - at,
            is_of_server: view.is_of_server,
            columns: view.columns,
        })
        .collect(),
    functions: functions()
        .map(|function| FunctionDefinition {
            schema: function.schema,
            name: function.name,
            columns: function.columns,
            arguments: function.arguments,
            required: function.required,
        })
        .collect(),
});

/// The sources of a view.
pub struct ViewContext<'a> {
    /// What the session sees.
    pub objects: &'a SessionObjects,
    /// The session.
    pub state: &'a SessionState,
}

/// A row of a view, with as many values as there are columns.
pub type Row = Vec<Cell>;

/// A view.
pub struct ViewSpec {
    /// `sys` or `INFORMATION_SCHEMA`.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Whether it shows the server, not the database in use.
    pub is_of_server: bool,
    /// Its columns: those of each list in turn.
    pub columns: &'static [&'static [ColumnSpec]],
    /// The function that makes its rows.
    pub rows: fn(&ViewContext<'_>) -> Result<Vec<Row>, SqlError>,
}

/// A function of rows.
pub struct FunctionSpec {
    /// `sys`, or empty for those that have no schema.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub columns: &'static [ColumnSpec],
    /// The types of its arguments.
    pub arguments: &'static [DataType],
    /// How many of them must be given; the rest are NULL, or left out at the end.
    pub required: usize,
    /// The function that makes its rows from its arguments.
    pub rows: fn(&ViewContext<'_>, &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError>,
}

/// What the server shows of itself as rows: schema, name and columns of each view and of each function of rows.
pub fn system_relations() -> impl Iterator<Item = (&'static str, &'static str, Vec<&'static str>)> {
    let relations = &*RELATIONS;
    let views = relations.views.iter();
    let views = views.map(|view| (view.schema, view.name, names(view.columns)));
    let functions = relations.functions.iter();
    let functions = functions.map(|function| (function.schema, function.name, names(&[function.columns])));
    // What the server's own procedures read is not for clients, and what is found without a schema is also in the
    // list with one.
    let is_told = |(schema, name, _): &(&str, &str, Vec<&str>)| !schema.is_empty() && !name.starts_with("selenite_");
    views.chain(functions).filter(is_told)
}

fn names(columns: &[&[ColumnSpec]]) -> Vec<&'static str> {
    columns.iter().copied().flatten().map(|(name, ..)| *name).collect()
}

/// The rows of a view or function, as JSON; a view has no arguments.
///
/// # Errors
/// What keeps them from being made.
pub fn json(name: &str, arguments: &[StoredRef<'_>], context: &ViewContext<'_>) -> Result<String, SqlError> {
    let (schema, own) = name.split_once('.').unwrap_or_default();
    let view = all().find(|view| (view.schema, view.name) == (schema, own));
    let function = functions().find(|function| (function.schema, function.name) == (schema, own));
    let (rows, width) = match (view, function) {
        (Some(view), _) => (
            (view.rows)(context)?,
            view.columns.iter().map(|columns| columns.len()).sum(),
        ),
        (None, Some(function)) => ((function.rows)(context, arguments)?, function.columns.len()),
        (None, None) => return Err(SqlError::internal("an unknown system view")),
    };
    if rows.iter().any(|row| row.len() != width) {
        return Err(SqlError::internal(&format!("rows of {name}")));
    }
    Ok(cell::json(&rows))
}

/// All views that a client may list.
pub fn listed() -> impl Iterator<Item = &'static ViewDefinition> {
    RELATIONS
        .views
        .iter()
        .filter(|view| !view.name.starts_with("selenite_"))
}

/// All functions of rows.
fn functions() -> impl Iterator<Item = &'static FunctionSpec> {
    FUNCTIONS.iter().copied().flatten()
}

/// All views.
fn all() -> impl Iterator<Item = &'static ViewSpec> {
    GROUPS.iter().copied().flatten()
}

/// Values of different types as a row.
macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$($crate::system_views::Cell::from($value)),*] };
}
use row;

const fn text(length: u16) -> DataType {
    DataType::NVarChar(Width::Limited(length))
}

const fn narrow(length: u16) -> DataType {
    DataType::VarChar(Width::Limited(length))
}

const fn bytes(length: u16) -> DataType {
    DataType::VarBinary(Width::Limited(length))
}

/// sysname.
const NAME: DataType = text(128);
const LONG_TEXT: DataType = DataType::NVarChar(Width::Max);
const BIT: DataType = DataType::Bit;
const TINY: DataType = DataType::TinyInt;
const SMALL: DataType = DataType::SmallInt;
const INT: DataType = DataType::Int;
const BIG: DataType = DataType::BigInt;
const TIME: DataType = DataType::DateTime;
const VARIANT: DataType = DataType::SqlVariant;

/// SQL Server's views have numbers below 0, too.
const FIRST_ID: i32 = -100;
const GROUPS: &[&[ViewSpec]] = &[
    databases::VIEWS,
    encryption::VIEWS,
    key_management::VIEWS,
    cell_keys::VIEWS,
    objects::VIEWS,
    columns::VIEWS,
    indexes::VIEWS,
    constraints::VIEWS,
    modules::VIEWS,
    sequences::VIEWS,
    triggers::VIEWS,
    properties::VIEWS,
    principals::VIEWS,
    sessions::VIEWS,
    requests::VIEWS,
    sysprocesses::VIEWS,
    transactions::VIEWS,
    waits::VIEWS,
    machine::VIEWS,
    files::VIEWS,
    partitions::VIEWS,
    compatible::VIEWS,
    information::VIEWS,
    information_constraints::VIEWS,
    linked_servers::VIEWS,
    absent::VIEWS,
];
const FUNCTIONS: &[&[FunctionSpec]] = &[
    principals::FUNCTIONS,
    requests::FUNCTIONS,
    collations::FUNCTIONS,
    properties::FUNCTIONS,
    odbc::FUNCTIONS,
    describe::FUNCTIONS,
    undeclared::FUNCTIONS,
    split::FUNCTIONS,
    file_stats::FUNCTIONS,
    space::FUNCTIONS,
    cursors::FUNCTIONS,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_views_and_of_their_columns_occur_once() {
        let mut names: Vec<String> = all().map(|view| format!("{}.{}", view.schema, view.name)).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
        for view in &RELATIONS.views {
            let relation = view.relation_of(None);
            let mut columns: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
            columns.sort_unstable();
            columns.dedup();
            assert_eq!(columns.len(), relation.columns.len(), "{}", view.name);
            assert_eq!(RELATIONS.view_of_id(view.id).unwrap().name, view.name);
        }
    }

    #[test]
    fn only_old_names_are_found_without_a_schema() {
        let find = |schema, name| RELATIONS.view(schema, name);
        assert!(find(None, "sysobjects").is_some() && find(Some("dbo"), "SYSOBJECTS").is_some());
        assert!(find(None, "databases").is_none() && find(Some("dbo"), "databases").is_none());
        assert!(find(Some("SYS"), "Databases").is_some());
        assert!(find(Some("information_schema"), "tables").is_some_and(|view| view.name == "TABLES"));
    }
}
