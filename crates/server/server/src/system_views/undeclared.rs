//! The parameters that a text uses without declaring them: rows of the function that
//! sp_describe_undeclared_parameters selects from.

use selenite_compiler::SqlError;
use selenite_compiler::program::{Parameter, Program};
use selenite_tsql::ast::{ObjectName, StatementKind};
use selenite_types::storage::StoredRef;

use super::describe::{text_at, wire};
use super::{BIT, Cell, ColumnSpec, FunctionSpec, INT, LONG_TEXT, NAME, Row, SMALL, SYS, TINY, ViewContext, row, text};
use crate::catalog::schema::{is_temporary, parsed};
use crate::parameter_inference::{InferenceContext, Inferred, undeclared};

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[FunctionSpec {
    schema: SYS,
    name: "selenite_undeclared_parameters",
    columns: PARAMETER,
    arguments: &[LONG_TEXT, LONG_TEXT],
    required: 2,
    rows: parameters,
}];

const PARAMETER: &[ColumnSpec] = &[
    ("parameter_ordinal", INT, false),
    ("name", NAME, false),
    ("suggested_system_type_id", INT, false),
    ("suggested_system_type_name", text(256), true),
    ("suggested_max_length", SMALL, false),
    ("suggested_precision", TINY, false),
    ("suggested_scale", TINY, false),
    ("suggested_user_type_id", INT, true),
    ("suggested_user_type_database", NAME, true),
    ("suggested_user_type_schema", NAME, true),
    ("suggested_user_type_name", NAME, true),
    ("suggested_assembly_qualified_type_name", text(4000), true),
    ("suggested_xml_collection_id", INT, true),
    ("suggested_xml_collection_database", NAME, true),
    ("suggested_xml_collection_schema", NAME, true),
    ("suggested_xml_collection_name", NAME, true),
    ("suggested_is_xml_document", BIT, false),
    ("suggested_is_case_sensitive", BIT, false),
    ("suggested_is_fixed_length_clr_type", BIT, false),
    ("suggested_is_input", BIT, false),
    ("suggested_is_output", BIT, false),
    ("formal_parameter_name", NAME, true),
    ("suggested_tds_type_id", INT, false),
    ("suggested_tds_length", INT, false),
];

fn parameters(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let procedures = |name: &ObjectName| formal_parameters(context, name);
    let around = InferenceContext {
        catalog: &context.objects.catalog,
        procedures: &procedures,
    };
    let deduced = undeclared(text_at(arguments, 0), text_at(arguments, 1), &around)?;
    let rows = (1..).zip(&deduced);
    Ok(rows.map(|(number, parameter)| described(number, parameter)).collect())
}

fn described(number: i32, parameter: &Inferred) -> Row {
    let described = parameter.data_type.describe();
    let mut row = row![
        number,
        &parameter.name,
        described.system_type_id,
        parameter.data_type.to_string(),
        described.max_length,
        described.precision,
        described.scale,
    ];
    row.extend(vec![Cell::Null; 9]);
    let (wire_type, wire_length) = wire(&parameter.data_type, true);
    row.extend(row![
        false,
        false,
        false,
        parameter.is_input,
        parameter.is_output,
        parameter.formal.as_ref(),
        wire_type,
        wire_length,
    ]);
    row
}

/// The parameters of one of the database's own procedures.
fn formal_parameters(context: &ViewContext<'_>, name: &ObjectName) -> Option<Vec<Parameter>> {
    let catalog = &context.objects.catalog;
    if !is_temporary(&name.name.text) {
        catalog.check_place(name).ok()?;
    }
    let procedure = catalog.procedure(name)?;
    let tree = parsed(&procedure.definition).ok()?;
    let StatementKind::Procedure(tree) = tree.statements.into_iter().next()?.kind else {
        return None;
    };
    let program = Program::of_procedure(&procedure.definition, &tree, &procedure.name, procedure.object_id).ok()?;
    Some(program.parameters().to_vec())
}
