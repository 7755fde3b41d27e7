//! What the server shows of itself, as names are bound to it: sys and INFORMATION_SCHEMA, without their rows.

use selenite_compiler::catalog::{SystemColumn, SystemFunction, SystemRows, SystemView};
use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{Collation, same_name};
use selenite_types::DataType;

/// All views and functions of rows.
pub struct SystemRelations {
    /// In the order of their ids.
    pub views: Vec<ViewDefinition>,
    /// In no order.
    pub functions: Vec<FunctionDefinition>,
}

/// A column: its name, its type, and whether it may be NULL.
pub type ColumnSpec = (&'static str, DataType, bool);

/// A view.
pub struct ViewDefinition {
    /// `sys` or `INFORMATION_SCHEMA`.
    pub schema: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its number in sys.objects.
    pub id: i32,
    /// Whether it shows the server, not the database in use.
    pub is_of_server: bool,
    /// Its columns: those of each list in turn.
    pub columns: &'static [&'static [ColumnSpec]],
}

/// A function of rows.
pub struct FunctionDefinition {
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
}

impl SystemRelations {
    /// The view of a name.
    pub fn view(&self, schema: Option<&str>, name: &str) -> Option<&ViewDefinition> {
        let is_compatible = schema.is_none_or(|schema| same_name(schema, SCHEMA));
        self.views.iter().find(|view| {
            let is_there = match schema {
                Some(schema) if !is_compatible => same_name(view.schema, schema),
                Some(_) | None => COMPATIBLE.contains(&view.name),
            };
            is_there && same_name(view.name, name)
        })
    }

    /// The view of a number.
    pub fn view_of_id(&self, id: i32) -> Option<&ViewDefinition> {
        self.views.iter().find(|view| view.id == id)
    }

    /// The function of rows of a name; those without a schema are found by a name without one.
    pub fn function(&self, schema: Option<&str>, name: &str) -> Option<&FunctionDefinition> {
        let is_it = |function: &&FunctionDefinition| {
            same_name(schema.unwrap_or_default(), function.schema) && same_name(function.name, name)
        };
        self.functions.iter().find(is_it)
    }
}

impl ViewDefinition {
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
            columns: self.columns.iter().copied().flatten().map(system_column).collect(),
        }
    }
}

impl FunctionDefinition {
    /// As the binder sees it.
    pub fn relation(&self) -> SystemFunction {
        SystemFunction {
            schema: self.schema.to_owned(),
            name: self.name.to_owned(),
            rows: SystemRows::Json(format!("{}.{}", self.schema, self.name)),
            columns: self.columns.iter().map(system_column).collect(),
            arguments: self.arguments.to_vec(),
            required: self.required,
            is_split: self.name == SPLIT,
        }
    }
}

fn system_column((name, data_type, nullable): &ColumnSpec) -> SystemColumn {
    SystemColumn {
        name: (*name).to_owned(),
        data_type: *data_type,
        nullable: *nullable,
        collation: Collation::default(),
    }
}

/// The schema of SQL Server's own views.
pub const SYS: &str = "sys";
/// The schema of the SQL standard's views.
pub const INFORMATION: &str = "INFORMATION_SCHEMA";
/// Found without `sys.`, too.
const COMPATIBLE: &[&str] = &[
    "sysobjects",
    "syscolumns",
    "sysdatabases",
    "systypes",
    "sysprocesses",
    "sysusers",
];
/// The function that the binder treats specially: its columns depend on its arguments.
pub const SPLIT: &str = "STRING_SPLIT";
