//! Texts of views, procedures and functions, and their parameters.

use selenite_compiler::{ObjectKind, SqlError};
use selenite_types::DataType;

use super::columns::TABLE_TYPE_ID;
use super::routine::routines;
use super::{BIT, Cell, ColumnSpec, INT, LONG_TEXT, NAME, Row, SMALL, SYS, TINY, ViewContext, ViewSpec, row};
use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::module_context::StoredContext;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "sql_modules",
        is_of_server: false,
        columns: &[MODULE],
        rows: modules,
    },
    ViewSpec {
        schema: SYS,
        name: "all_sql_modules",
        is_of_server: false,
        columns: &[MODULE],
        rows: modules,
    },
    // The server's own views and procedures have no texts in T-SQL to show.
    ViewSpec {
        schema: SYS,
        name: "system_sql_modules",
        is_of_server: true,
        columns: &[MODULE],
        rows: |_| Ok(Vec::new()),
    },
    ViewSpec {
        schema: SYS,
        name: "parameters",
        is_of_server: false,
        columns: &[PARAMETER],
        rows: parameters,
    },
    ViewSpec {
        schema: SYS,
        name: "all_parameters",
        is_of_server: false,
        columns: &[PARAMETER],
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
    modules.extend(schema.functions().map(|function| &function.row));
    modules.extend(schema.triggers().map(|trigger| &*trigger.row));
    modules.sort_by_key(|row| row.object_id);
    let permissions = context.objects.permissions();
    let function_of = |module: &CatalogRow| {
        schema
            .functions()
            .find(|function| function.row.object_id == module.object_id)
    };
    let is_bound_view = |module: &CatalogRow| {
        let mut views = schema.views();
        views.any(|view| view.row.object_id == module.object_id && view.is_schema_bound)
    };
    let execute_as = |module: &CatalogRow| match StoredContext::in_state(module.state.as_deref()) {
        Some(context) => Cell::Whole(context.number().into()),
        None => Cell::Null,
    };
    let row = |module: &CatalogRow| {
        let function = function_of(module);
        let is_strict = function.is_some_and(|function| function.function.as_ref().is_ok_and(|known| known.is_strict));
        let shows = permissions.sees_text((&module.schema, &module.name));
        row![
            module.object_id,
            shows.then_some(&module.definition),
            true,
            true,
            function.is_some_and(|function| function.is_schema_bound) || is_bound_view(module),
            false,
            false,
            is_strict,
            execute_as(module),
            false,
            function.is_some_and(|function| function.kind == ObjectKind::InlineFunction),
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
    ("is_readonly", BIT, false),
    ("is_nullable", BIT, true),
];

/// The place of user_type_id in [`PARAMETER`].
const USER_TYPE: usize = 4;

fn parameters(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for routine in routines(context)? {
        let object_id = routine.row.object_id;
        if let Some(data_type) = routine.returns {
            rows.push(parameter(object_id, (0, ""), &data_type, (true, false)));
        }
        for (number, known) in (1..).zip(&routine.parameters) {
            let (place, name) = ((number, known.name.as_str()), &known.name);
            rows.push(match &known.table {
                Some(user_type) => {
                    let schema = &context.objects.catalog.schema;
                    let id = schema
                        .user_type(&user_type.schema, &user_type.name)
                        .map(|found| found.id());
                    row![
                        object_id,
                        name,
                        number,
                        TABLE_TYPE_ID,
                        id,
                        -1,
                        0,
                        0,
                        false,
                        false,
                        false,
                        false,
                        true,
                        true
                    ]
                }
                None => {
                    let mut row = parameter(object_id, place, &known.data_type, (known.is_output, known.is_cursor));
                    if let (Some(alias), Some(cell)) = (known.alias, row.get_mut(USER_TYPE)) {
                        *cell = alias.into();
                    }
                    row
                }
            });
        }
    }
    Ok(rows)
}

fn parameter(
    object_id: i32,
    (number, name): (i32, &str),
    data_type: &DataType,
    (is_output, is_cursor): (bool, bool),
) -> Row {
    let described = data_type.describe();
    row![
        object_id,
        name,
        number,
        described.system_type_id,
        i64::from(described.user_type_id),
        described.max_length,
        described.precision,
        described.scale,
        is_output,
        is_cursor,
        // As SQL Server has it: it knows defaults of procedures of the CLR alone.
        false,
        false,
        false,
        true,
    ]
}
