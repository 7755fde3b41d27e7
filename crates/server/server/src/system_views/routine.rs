//! Procedures and functions, as the views list them.

use selenite_compiler::catalog::FunctionResult;
use selenite_compiler::program::Program;
use selenite_compiler::{ObjectKind, SqlError};
use selenite_tsql::ast::{Procedure, StatementKind};
use selenite_types::DataType;

use super::ViewContext;
use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::schema::parsed;

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
    /// Name, type and whether it is an OUTPUT parameter.
    pub parameters: Vec<(String, DataType, bool)>,
}

/// All of them, by rising number; one whose text can't be compiled any more has no parameters.
pub(crate) fn routines<'a>(context: &'a ViewContext<'_>) -> Result<Vec<Routine<'a>>, SqlError> {
    let schema = &context.objects.catalog.schema;
    let mut found = Vec::new();
    for row in schema.procedures() {
        let Some(tree) = procedure_of(row)? else { continue };
        let program = Program::of_procedure(&row.definition, &tree, &row.name, row.object_id);
        let parameters = program.map(|program| program.parameters().to_vec()).unwrap_or_default();
        let parameters = parameters.into_iter();
        found.push(Routine {
            row,
            kind: ObjectKind::Procedure,
            returns: None,
            is_strict: false,
            parameters: parameters
                .map(|parameter| (parameter.name, parameter.data_type, parameter.is_output))
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
        found.push(Routine {
            row: &function.row,
            kind: function.kind,
            returns,
            is_strict: known.is_some_and(|known| known.is_strict),
            parameters: parameters
                .iter()
                .map(|parameter| (parameter.name.clone(), parameter.data_type, false))
                .collect(),
        });
    }
    found.sort_by_key(|routine| routine.row.object_id);
    Ok(found)
}

/// A procedure's tree.
pub(crate) fn procedure_of(row: &CatalogRow) -> Result<Option<Box<Procedure>>, SqlError> {
    let tree = parsed(&row.definition)?;
    let first = tree.statements.into_iter().next().map(|statement| statement.kind);
    let Some(StatementKind::Procedure(procedure)) = first else {
        return Ok(None);
    };
    Ok(Some(procedure))
}
