//! Procedures and functions, as the views list them.

use std::sync::Arc;

use selenite_compiler::catalog::FunctionResult;
use selenite_compiler::program::Program;
use selenite_compiler::{ObjectKind, SqlError};
use selenite_tsql::ast::{Parameter, Procedure, StatementKind, TableType};
use selenite_types::DataType;

use super::ViewContext;
use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::schema::Schema;

/// A procedure or function.
pub(crate) struct Routine<'a> {
    /// Its row.
    pub row: &'a CatalogRow,
    /// P, FN, IF or TF.
    pub kind: ObjectKind,
    /// The type of a scalar function's value.
    pub returns: Option<DataType>,
    /// RETURNS NULL ON NULL INPUT.
    pub is_strict: bool,
    /// Its parameters in order.
    pub parameters: Vec<RoutineParameter>,
}

/// A parameter of a procedure or function.
pub(crate) struct RoutineParameter {
    /// The name with its `@`.
    pub name: String,
    /// The type; that of a table-valued parameter says nothing.
    pub data_type: DataType,
    /// OUTPUT.
    pub is_output: bool,
    /// The type of a table-valued parameter.
    pub table: Option<Arc<TableType>>,
    /// CURSOR VARYING: its type says nothing.
    pub is_cursor: bool,
    /// The number of its alias type.
    pub alias: Option<i32>,
}

/// All of them, by rising number; one whose text can't be compiled any more has no parameters.
pub(crate) fn routines<'a>(context: &'a ViewContext<'_>) -> Result<Vec<Routine<'a>>, SqlError> {
    let schema = &context.objects.catalog.schema;
    let mut found = Vec::new();
    for row in schema.procedures() {
        let Some(tree) = procedure_of(row, schema)? else {
            continue;
        };
        let program = Program::of_procedure(&row.definition, &tree, &row.name, row.object_id);
        let parameters = program.map(|program| program.parameters().to_vec()).unwrap_or_default();
        let parameters = parameters.into_iter().zip(aliases(&tree.parameters, schema));
        found.push(Routine {
            row,
            kind: ObjectKind::Procedure,
            returns: None,
            is_strict: false,
            parameters: parameters
                .map(|(parameter, alias)| RoutineParameter {
                    name: parameter.name,
                    data_type: parameter.data_type,
                    is_output: parameter.is_output,
                    table: parameter.table,
                    is_cursor: parameter.is_cursor,
                    alias,
                })
                .collect(),
        });
    }
    for function in schema.functions() {
        let known = function.function.as_ref().ok();
        let returns = known.and_then(|known| match &known.result {
            FunctionResult::Scalar(data_type) => Some(*data_type),
            FunctionResult::Inline(_) | FunctionResult::Table { .. } => None,
        });
        let parameters = known.map(|known| known.parameters.as_slice()).unwrap_or_default();
        let tree = schema.parsed_in(&function.row.schema, &function.row.definition)?;
        let aliases = match tree.statements.first().map(|statement| &statement.kind) {
            Some(StatementKind::Function(tree)) => aliases(&tree.parameters, schema),
            _ => Vec::new(),
        };
        found.push(Routine {
            row: &function.row,
            kind: function.kind,
            returns,
            is_strict: known.is_some_and(|known| known.is_strict),
            parameters: parameters
                .iter()
                .zip(aliases.into_iter().chain(std::iter::repeat(None)))
                .map(|(parameter, alias)| RoutineParameter {
                    name: parameter.name.clone(),
                    data_type: parameter.data_type,
                    is_output: false,
                    table: parameter.table.clone(),
                    is_cursor: false,
                    alias,
                })
                .collect(),
        });
    }
    found.sort_by_key(|routine| routine.row.object_id);
    Ok(found)
}

/// The numbers of the alias types of parameters.
fn aliases(parameters: &[Parameter], schema: &Schema) -> Vec<Option<i32>> {
    let alias = |parameter: &Parameter| {
        let alias = parameter.type_name.alias()?;
        Some(schema.user_type(&alias.schema, &alias.name)?.id())
    };
    parameters.iter().map(alias).collect()
}

/// A procedure's tree.
pub(crate) fn procedure_of(row: &CatalogRow, schema: &Schema) -> Result<Option<Box<Procedure>>, SqlError> {
    let tree = schema.parsed_in(&row.schema, &row.definition)?;
    let first = tree.statements.into_iter().next().map(|statement| statement.kind);
    let Some(StatementKind::Procedure(procedure)) = first else {
        return Ok(None);
    };
    Ok(Some(procedure))
}
