//! Functions of users, as the catalog has them.

use std::sync::Arc;

use selenite_compiler::catalog::{FunctionParameter, FunctionResult, SqliteName, SystemColumn, Table, UserFunction};
use selenite_compiler::definition::{SCHEMA as DBO, TableDefinition, TableLocation};
use selenite_compiler::program::Program;
use selenite_compiler::{ObjectKind, SqlError};
use selenite_tsql::ast::{Expr, ExprKind, Function, FunctionBody, Literal, StatementKind, TableElement};
use selenite_types::DataType;

use super::{Schema, computed_type};
use crate::catalog::catalog_rows::{CatalogRow, new_temporary_id, salt};

/// A function.
pub struct SchemaFunction {
    /// As statements call it, or the error that every call gets: its text means nothing any more.
    pub function: Result<Arc<UserFunction>, SqlError>,
    /// Its statements; none of an inline function.
    pub program: Option<Arc<Program>>,
    /// FN, IF or TF.
    pub kind: ObjectKind,
    /// WITH SCHEMABINDING.
    pub is_schema_bound: bool,
    /// Its row.
    pub row: CatalogRow,
}

impl SchemaFunction {
    /// Reads a function's row; `database` is the name that messages show, and `known` has the types.
    ///
    /// # Errors
    /// A row that this server did not write.
    pub fn read(row: CatalogRow, database: &str, known: &Schema) -> Result<Self, SqlError> {
        let tree = known.parsed_in(&row.schema, &row.definition)?;
        let Some(StatementKind::Function(tree)) = tree.statements.into_iter().next().map(|one| one.kind) else {
            return Err(SqlError::internal("a function's definition"));
        };
        let place = (database, row.schema.as_str(), row.name.as_str());
        let (function, program) = match user_function(&row.definition, &tree, place, row.object_id) {
            Ok((function, program)) => (Ok(Arc::new(function)), program),
            Err(error) => (Err(error), None),
        };
        Ok(Self {
            function,
            program,
            kind: kind_of(&tree),
            is_schema_bound: has_option(&tree, "SCHEMABINDING"),
            row,
        })
    }
}

/// The kind of a function.
pub fn kind_of(function: &Function) -> ObjectKind {
    match function.body {
        FunctionBody::Scalar { .. } => ObjectKind::ScalarFunction,
        FunctionBody::Inline(_) => ObjectKind::InlineFunction,
        FunctionBody::Table { .. } => ObjectKind::TableFunction,
    }
}

/// Whether a function has an option, which is in upper case.
pub fn has_option(function: &Function, option: &str) -> bool {
    function.options.iter().any(|known| known == option)
}

/// A function from its tree, and its statements; `source` is the text that was parsed, `database`, schema and name are where it is.
///
/// # Errors
/// The first error of its text.
pub fn user_function(
    source: &str,
    tree: &Function,
    (database, schema, name): (&str, &str, &str),
    object_id: i32,
) -> Result<(UserFunction, Option<Arc<Program>>), SqlError> {
    let first = |mut errors: Vec<SqlError>| match errors.is_empty() {
        true => SqlError::internal("a function"),
        false => errors.remove(0),
    };
    let program = match &tree.body {
        FunctionBody::Inline(_) => None,
        FunctionBody::Scalar { .. } | FunctionBody::Table { .. } => {
            let program = Program::of_function(source, tree, name, object_id).map_err(first)?;
            Some(Arc::new(program))
        }
    };
    let returns = program.as_ref().and_then(|program| program.returned_type());
    let result = match &tree.body {
        FunctionBody::Scalar { .. } => {
            let returns = returns.ok_or_else(|| SqlError::internal("a function without a type"))?;
            FunctionResult::Scalar(returns)
        }
        FunctionBody::Inline(select) => FunctionResult::Inline(Arc::new((**select).clone())),
        FunctionBody::Table { variable, elements, .. } => FunctionResult::Table {
            variable: variable.clone(),
            columns: columns_of(variable, elements)?,
        },
    };
    let parameters = Program::parameters_of(&tree.parameters).map_err(first)?;
    let parameters = parameters
        .into_iter()
        .zip(&tree.parameters)
        .map(|(parameter, tree)| FunctionParameter {
            name: parameter.name,
            data_type: parameter.data_type,
            table: parameter.table,
            default: tree.default.clone().map(constant),
        });
    let function = UserFunction {
        database: database.to_owned(),
        schema: schema.to_owned(),
        name: name.to_owned(),
        object_id,
        parameters: parameters.collect(),
        is_strict: has_option(tree, "RETURNS NULL ON NULL INPUT"),
        result,
    };
    Ok((function, program))
}

/// A parameter's default as an expression: a bare word is a string.
fn constant(mut default: Expr) -> Expr {
    if let ExprKind::Column(column) = &default.kind {
        default.kind = ExprKind::Literal(Literal::National(column.name.text.clone()));
    }
    default
}

/// The columns of a table variable.
///
/// # Errors
/// What is wrong with its elements.
fn columns_of(variable: &str, elements: &[TableElement]) -> Result<Vec<SystemColumn>, SqlError> {
    let table = described_table(variable, elements)?;
    let column = |column: &selenite_compiler::catalog::Column| SystemColumn {
        name: column.name.clone(),
        data_type: column.data_type,
        nullable: column.nullable,
        collation: column.collation,
    };
    Ok(table.columns.iter().map(column).collect())
}

/// The table of a variable or type, which SQLite does not have.
///
/// # Errors
/// What is wrong with its elements.
pub fn described_table(name: &str, elements: &[TableElement]) -> Result<Table, SqlError> {
    let definition = TableDefinition::of_elements((DBO, name), elements, salt())?;
    let place = TableLocation {
        database: "tempdb".to_owned(),
        sqlite: SqliteName {
            schema: "temp".to_owned(),
            name: name.to_owned(),
        },
        object_id: new_temporary_id(),
    };
    let computed = |value: &Expr| -> Result<DataType, SqlError> { computed_type(value, &definition, &place) };
    definition.table(&place, &[], computed)
}
