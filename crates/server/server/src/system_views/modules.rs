//! Texts of views and procedures, and the parameters of procedures.

use selenite_compiler::SqlError;
use selenite_compiler::program::Program;
use selenite_tsql::ast::{Procedure, StatementKind};
use selenite_types::DataType;

use super::{BIT, Cell, ColumnSpec, INT, LONG_TEXT, NAME, Row, SMALL, SYS, TINY, ViewContext, ViewSpec, row};
use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::schema::parsed;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "sql_modules",
        is_of_server: false,
        columns: (MODULE, &[]),
        rows: modules,
    },
    ViewSpec {
        schema: SYS,
        name: "parameters",
        is_of_server: false,
        columns: (PARAMETER, &[]),
        rows: parameters,
    },
];

const MODULE: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("definition", LONG_TEXT, true),
    ("uses_ansi_nulls", BIT, true),
    ("uses_quoted_identifier", BIT, true),
    ("is_schema_bound", BIT, true),
    ("uses_database_collation", BIT, true),
    ("is_recompiled", BIT, true),
    ("null_on_null_input", BIT, true),
    ("execute_as_principal_id", INT, true),
    ("uses_native_compilation", BIT, true),
    ("is_inlineable", BIT, true),
];

fn modules(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let schema = &context.objects.catalog.schema;
    let mut modules: Vec<&CatalogRow> = schema.views().map(|view| &view.row).collect();
    modules.extend(schema.procedures().map(|row| &**row));
    modules.sort_by_key(|row| row.object_id);
    let shows = context.objects.sees_texts();
    let row = |module: &CatalogRow| {
        row![
            module.object_id,
            shows.then_some(&module.definition),
            true,
            true,
            false,
            false,
            false,
            false,
            Cell::Null,
            false,
            false,
        ]
    };
    Ok(modules.into_iter().map(row).collect())
}

const PARAMETER: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("name", NAME, true),
    ("parameter_id", INT, false),
    ("system_type_id", TINY, false),
    ("user_type_id", INT, false),
    ("max_length", SMALL, false),
    ("precision", TINY, false),
    ("scale", TINY, false),
    ("is_output", BIT, false),
    ("is_cursor_ref", BIT, false),
    ("has_default_value", BIT, false),
    ("is_xml_document", BIT, false),
];

fn parameters(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for row in context.objects.catalog.schema.procedures() {
        let Some(procedure) = procedure_of(row)? else {
            continue;
        };
        let program = Program::of_procedure(&row.definition, &procedure, &row.name, row.object_id);
        let Ok(program) = program else {
            continue;
        };
        for (number, parameter) in (1..).zip(program.parameters()) {
            let data_type: DataType = parameter.data_type;
            let described = data_type.describe();
            rows.push(row![
                row.object_id,
                &parameter.name,
                number,
                described.system_type_id,
                i64::from(described.user_type_id),
                described.max_length,
                described.precision,
                described.scale,
                parameter.is_output,
                false,
                // As SQL Server has it: it knows defaults of procedures of the CLR alone.
                false,
                false,
            ]);
        }
    }
    Ok(rows)
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
