//! Functions of users.

use std::sync::Arc;

use selenite_tsql::ast::{Expr, SelectStatement, TableType};
use selenite_types::DataType;

use super::SystemColumn;

/// A function of a user. Equal functions are one and the same.
#[derive(Clone, Debug)]
pub struct UserFunction {
    /// The database's name; names in the function's text are resolved there.
    pub database: String,
    /// The schema's name.
    pub schema: String,
    /// The function's name.
    pub name: String,
    /// The object id.
    pub object_id: i32,
    /// The parameters in order.
    pub parameters: Vec<FunctionParameter>,
    /// RETURNS NULL ON NULL INPUT: the function is not run if an argument is NULL.
    pub is_strict: bool,
    /// The result.
    pub result: FunctionResult,
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionParameter {
    /// The name with its `@`.
    pub name: String,
    /// Its type.
    pub data_type: DataType,
    /// The default: a constant, with an optional sign.
    pub default: Option<Expr>,
    /// The table type of a table-valued parameter: its argument is the table's name in SQLite.
    pub table: Option<Arc<TableType>>,
}

/// The result of a function.
#[derive(Clone, Debug)]
pub enum FunctionResult {
    /// A value of this type.
    Scalar(DataType),
    /// The rows of a SELECT, which is bound in each statement that names the function.
    Inline(Arc<SelectStatement>),
    /// The rows of a table variable when the function's statements have ended.
    Table {
        /// The variable's name, with its `@`.
        variable: String,
        /// Its columns.
        columns: Vec<SystemColumn>,
    },
}

impl UserFunction {
    /// The name with its schema, as messages show it.
    #[must_use]
    pub fn written(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }
}

impl PartialEq for UserFunction {
    fn eq(&self, other: &Self) -> bool {
        self.object_id == other.object_id && self.database == other.database
    }
}
