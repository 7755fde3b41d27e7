//! What the server shows of itself as rows: sys and INFORMATION_SCHEMA.
//!
//! V1. A view's rows are made when a statement first needs them, of what is there at that moment, and are the same for the whole
//!     statement. SQLite gets them as JSON (`selenite_compiler::catalog::SystemRows`), so that no virtual table is needed.
//! V2. Columns have SQL Server's names, types and order. A column whose value we do not know is left out, never made up; what stands
//!     behind the last column that we know is left out, too.

mod cell;
mod columns;
mod compatible;
mod constraints;
mod databases;
mod describe;
mod encryption;
mod extended;
mod files;
mod indexes;
mod information;
mod information_constraints;
mod machine;
mod modules;
mod objects;
mod odbc;
mod partitions;
mod principals;
mod requests;
mod sessions;
mod split;
mod sysprocesses;
mod transactions;
mod undeclared;
mod view_column;
mod waits;

use selenite_compiler::catalog::{SystemColumn, SystemFunction, SystemRows, SystemView};
use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{PlanError, same_name};
use selenite_types::storage::StoredRef;
use selenite_types::{DataType, Width};

pub use cell::Cell;

use super::objects::SessionObjects;
use crate::workbench::SessionState;

/// What a view is made of.
pub struct Sight<'a> {
    /// What the session sees.
    pub objects: &'a SessionObjects,
    /// The session.
    pub state: &'a SessionState,
}

/// A column: its name, its type, and whether it may be NULL.
pub type ColumnSpec = (&'static str, DataType, bool);

/// A row of a view: as many as there are columns.
pub type Row = Vec<Cell>;

/// A view.
pub struct ViewSpec {
    /// `sys` or `INFORMATION_SCHEMA`.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Whether it shows the server, not the database in use.
    pub is_of_server: bool,
    /// Its columns: those of the first list, and behind them those of the second.
    pub columns: (&'static [ColumnSpec], &'static [ColumnSpec]),
    /// What makes its rows.
    pub rows: fn(&Sight<'_>) -> Result<Vec<Row>, PlanError>,
}

impl ViewSpec {
    /// Its number in sys.objects.
    pub fn id(&'static self) -> i32 {
        let at = all().position(|view| std::ptr::eq(view, self)).unwrap_or(0);
        FIRST_ID - i32::try_from(at).unwrap_or(0)
    }

    /// The number of its schema.
    pub fn schema_id(&self) -> i32 {
        if self.schema == SYS { 4 } else { 3 }
    }

    /// As the binder sees it; that of another database than the one in use by its id.
    pub fn relation_of(&self, database_id: Option<i32>) -> SystemView {
        let place = database_id.map_or_else(String::new, |id| format!("{id}:"));
        SystemView {
            schema: self.schema.to_owned(),
            name: self.name.to_owned(),
            rows: SystemRows::Json(format!("{place}{}.{}", self.schema, self.name)),
            columns: self.columns.0.iter().chain(self.columns.1).map(system_column).collect(),
        }
    }
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
    /// What makes its rows of its arguments.
    pub rows: fn(&Sight<'_>, &[StoredRef<'_>]) -> Result<Vec<Row>, PlanError>,
}

impl FunctionSpec {
    /// As the binder sees it.
    pub fn relation(&self) -> SystemFunction {
        SystemFunction {
            schema: self.schema.to_owned(),
            name: self.name.to_owned(),
            rows: SystemRows::Json(format!("{}.{}", self.schema, self.name)),
            columns: self.columns.iter().map(system_column).collect(),
            arguments: self.arguments.to_vec(),
            required: self.required,
            is_split: self.name == split::NAME,
        }
    }
}

/// The view of a name.
pub fn find(schema: Option<&str>, name: &str) -> Option<&'static ViewSpec> {
    let is_compatible = schema.is_none_or(|schema| same_name(schema, SCHEMA));
    all().find(|view| {
        let is_there = match schema {
            Some(schema) if !is_compatible => same_name(view.schema, schema),
            Some(_) | None => COMPATIBLE.contains(&view.name),
        };
        is_there && same_name(view.name, name)
    })
}

/// The view of a number.
pub fn of_id(id: i32) -> Option<&'static ViewSpec> {
    all().nth(usize::try_from(FIRST_ID.checked_sub(id)?).ok()?)
}

/// The function of rows of a name; those without a schema are found with none.
pub fn find_function(schema: Option<&str>, name: &str) -> Option<&'static FunctionSpec> {
    let is_it = |function: &&FunctionSpec| {
        same_name(schema.unwrap_or_default(), function.schema) && same_name(function.name, name)
    };
    functions().find(is_it)
}

/// The rows of a view or function, as JSON; a view has no arguments.
///
/// # Errors
/// What keeps them from being made.
pub fn json(name: &str, arguments: &[StoredRef<'_>], sight: &Sight<'_>) -> Result<String, PlanError> {
    let (schema, own) = name.split_once('.').unwrap_or_default();
    let (rows, width) = match (find(Some(schema), own), find_function(Some(schema), own)) {
        (Some(view), _) => ((view.rows)(sight)?, view.columns.0.len() + view.columns.1.len()),
        (None, Some(function)) => ((function.rows)(sight, arguments)?, function.columns.len()),
        (None, None) => return Err(PlanError::internal("a view that is none")),
    };
    if rows.iter().any(|row| row.len() != width) {
        return Err(PlanError::internal(&format!("rows of {name}")));
    }
    Ok(cell::json(&rows))
}

/// All views that a client may list.
pub fn listed() -> impl Iterator<Item = &'static ViewSpec> {
    all().filter(|view| !view.name.starts_with("selenite_"))
}

/// All functions of rows.
pub fn functions() -> impl Iterator<Item = &'static FunctionSpec> {
    FUNCTIONS.iter().copied().flatten()
}

/// All views.
pub fn all() -> impl Iterator<Item = &'static ViewSpec> {
    GROUPS.iter().copied().flatten()
}

fn system_column((name, data_type, nullable): &ColumnSpec) -> SystemColumn {
    SystemColumn {
        name: (*name).to_owned(),
        data_type: *data_type,
        nullable: *nullable,
    }
}

/// Values of different types as a row.
macro_rules! row {
    ($($value:expr),* $(,)?) => { vec![$($crate::data::views::Cell::from($value)),*] };
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

/// The schemas of every database, with their numbers.
pub const SCHEMAS: &[(&str, i32)] = &[(SCHEMA, 1), ("guest", 2), (INFORMATION, 3), (SYS, 4)];
const SYS: &str = "sys";
const INFORMATION: &str = "INFORMATION_SCHEMA";
/// Found without `sys.`, too.
const COMPATIBLE: &[&str] = &["sysobjects", "syscolumns", "sysdatabases", "systypes", "sysprocesses"];
/// SQL Server's views have numbers below 0, too.
const FIRST_ID: i32 = -100;
const GROUPS: &[&[ViewSpec]] = &[
    databases::VIEWS,
    encryption::VIEWS,
    objects::VIEWS,
    columns::VIEWS,
    indexes::VIEWS,
    constraints::VIEWS,
    modules::VIEWS,
    principals::VIEWS,
    sessions::VIEWS,
    requests::VIEWS,
    sysprocesses::VIEWS,
    transactions::VIEWS,
    waits::VIEWS,
    machine::VIEWS,
    files::VIEWS,
    partitions::VIEWS,
    extended::VIEWS,
    compatible::VIEWS,
    information::VIEWS,
    information_constraints::VIEWS,
];
const FUNCTIONS: &[&[FunctionSpec]] = &[
    requests::FUNCTIONS,
    extended::FUNCTIONS,
    odbc::FUNCTIONS,
    describe::FUNCTIONS,
    undeclared::FUNCTIONS,
    split::FUNCTIONS,
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
        for view in all() {
            let relation = view.relation_of(None);
            let mut columns: Vec<&str> = relation.columns.iter().map(|column| column.name.as_str()).collect();
            columns.sort_unstable();
            columns.dedup();
            assert_eq!(columns.len(), relation.columns.len(), "{}", view.name);
            assert!(std::ptr::eq(of_id(view.id()).unwrap(), view));
        }
    }

    #[test]
    fn only_old_names_are_found_without_a_schema() {
        assert!(find(None, "sysobjects").is_some() && find(Some("dbo"), "SYSOBJECTS").is_some());
        assert!(find(None, "databases").is_none() && find(Some("dbo"), "databases").is_none());
        assert!(find(Some("SYS"), "Databases").is_some());
        assert!(find(Some("information_schema"), "tables").is_some_and(|view| view.name == "TABLES"));
    }
}
