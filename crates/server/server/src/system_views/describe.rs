//! What a text would answer, and the lines of a module's text: rows of functions that procedures select from.
//!
//! - `only-a-leading-query`: a text is described only if its first result is that of a SELECT or a
//!   change with OUTPUT. A text that runs conditionally or calls others is refused by name.

use selenite_compiler::SqlError;
use selenite_compiler::statement::{Binding, ResultColumn};
use selenite_tds::Collation;
use selenite_tsql::ast::{StatementKind, TypeReference};
use selenite_tsql::{Options, parse_typed};
use selenite_types::storage::StoredRef;
use selenite_types::{DataType, Family};

use super::{BIT, Cell, ColumnSpec, FunctionSpec, INT, LONG_TEXT, NAME, Row, SMALL, SYS, TINY, ViewContext, row, text};
use crate::catalog::schema::user_type::SchemaType;
use crate::compile::{ProgramKey, compile_typed};
use crate::memory;

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[
    FunctionSpec {
        schema: SYS,
        name: "dm_exec_describe_first_result_set",
        columns: DESCRIBED,
        arguments: &[LONG_TEXT, LONG_TEXT, TINY],
        required: 3,
        rows: first_result_set,
    },
    FunctionSpec {
        schema: SYS,
        name: "selenite_first_result_set",
        columns: DESCRIBED,
        arguments: &[LONG_TEXT, LONG_TEXT],
        required: 2,
        rows: first_result_set,
    },
    FunctionSpec {
        schema: SYS,
        name: "selenite_module_lines",
        columns: LINE,
        arguments: &[INT],
        required: 1,
        rows: lines,
    },
];

const DESCRIBED: &[ColumnSpec] = &[
    ("is_hidden", BIT, false),
    ("column_ordinal", INT, false),
    ("name", NAME, true),
    ("is_nullable", BIT, false),
    ("system_type_id", INT, false),
    ("system_type_name", text(256), true),
    ("max_length", SMALL, false),
    ("precision", TINY, false),
    ("scale", TINY, false),
    ("collation_name", NAME, true),
    ("user_type_id", INT, true),
    ("user_type_database", NAME, true),
    ("user_type_schema", NAME, true),
    ("user_type_name", NAME, true),
    ("assembly_qualified_type_name", text(4000), true),
    ("xml_collection_id", INT, true),
    ("xml_collection_database", NAME, true),
    ("xml_collection_schema", NAME, true),
    ("xml_collection_name", NAME, true),
    ("is_xml_document", BIT, false),
    ("is_case_sensitive", BIT, false),
    ("is_fixed_length_clr_type", BIT, false),
    ("source_server", NAME, true),
    ("source_database", NAME, true),
    ("source_schema", NAME, true),
    ("source_table", NAME, true),
    ("source_column", NAME, true),
    ("is_identity_column", BIT, true),
    ("is_part_of_unique_key", BIT, true),
    ("is_updateable", BIT, true),
    ("is_computed_column", BIT, true),
    ("is_sparse_column_set", BIT, true),
    ("tds_type_id", INT, false),
    ("tds_length", INT, false),
    ("tds_collation_id", INT, true),
    ("tds_collation_sort_id", TINY, true),
];

fn first_result_set(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let columns = columns_of(context, text_at(arguments, 0), text_at(arguments, 1))?;
    Ok((1..)
        .zip(&columns)
        .map(|(number, column)| {
            let alias = alias_of(context, column);
            described_row(
                number,
                column,
                alias.map(|alias| (alias, &*context.objects.catalog.database)),
            )
        })
        .collect())
}

pub(crate) fn text_at<'a>(arguments: &'a [StoredRef<'_>], at: usize) -> &'a str {
    match arguments.get(at) {
        Some(StoredRef::Text(text)) => std::str::from_utf8(text).unwrap_or_default(),
        Some(StoredRef::Null | StoredRef::Integer(_) | StoredRef::Real(_) | StoredRef::Blob(_)) | None => "",
    }
}

/// The columns of the first result of a text; none if it has no result.
fn columns_of(context: &ViewContext<'_>, text: &str, parameters: &str) -> Result<Vec<ResultColumn>, SqlError> {
    let key = ProgramKey {
        text: text.into(),
        parameters: parameters.into(),
        quoted_identifier: true,
        is_cursor: false,
    };
    let first = |mut errors: Vec<SqlError>| match errors.is_empty() {
        true => SqlError::internal("a text without program or error"),
        false => errors.swap_remove(0),
    };
    let catalog = &context.objects.catalog;
    let types = |name: &TypeReference| catalog.schema.type_of(name, &catalog.default_schema);
    let goes_on = || memory::reserve(0).is_ok();
    let program = compile_typed(&key, &goes_on, &types).map_err(first)?;
    let tree = parse_typed(text, Options::default(), &goes_on, &types)
        .map_err(|_| SqlError::internal("a text that was parsed"))?;
    for statement in &tree.statements {
        if matches!(
            statement.kind,
            StatementKind::Block(_)
                | StatementKind::If(_)
                | StatementKind::While(_)
                | StatementKind::Try(_)
                | StatementKind::Execute(_)
        ) {
            return Err(SqlError::unsupported(
                "Describing the result of a text that branches or calls",
            ));
        }
        if matches!(
            statement.kind,
            StatementKind::Select(_)
                | StatementKind::Insert(_)
                | StatementKind::Update(_)
                | StatementKind::Delete(_)
                | StatementKind::Merge(_)
        ) {
            let binding = Binding {
                catalog: &context.objects.catalog,
                variables: program.variables(),
            };
            let columns = binding.statement(statement)?.columns().to_vec();
            if !columns.is_empty() {
                return Ok(columns);
            }
        }
    }
    Ok(Vec::new())
}

/// The alias type of a column that is one of a table.
fn alias_of<'a>(context: &'a ViewContext<'_>, column: &ResultColumn) -> Option<&'a SchemaType> {
    let schema = &context.objects.catalog.schema;
    let mut columns = schema.tables().flat_map(|table| {
        let definition = &table.definition;
        definition.columns.iter().map(move |column| (definition, column))
    });
    let (_, found) = columns.find(|(table, one)| {
        let (schema, table) = (&table.schema, &table.name);
        one.user_type.is_some() && column.place == format!("table '{schema}.{table}', column '{}'", one.name)
    })?;
    let (of, name) = found.user_type.as_ref()?;
    schema.user_type(of, name).map(|found| &**found)
}

fn described_row(number: i32, column: &ResultColumn, alias: Option<(&SchemaType, &str)>) -> Row {
    let described = column.data_type.describe();
    let is_text = matches!(column.data_type.family(), Family::Text);
    let collation = column.collation.named;
    let Collation([a, b, c, d, sort_id]) = Collation::of(collation);
    let mut row = row![
        false,
        number,
        (!column.name.is_empty()).then_some(&column.name),
        column.nullable,
        described.system_type_id,
        column.data_type.to_string(),
        described.max_length,
        described.precision,
        described.scale,
        is_text.then_some(collation.name()),
    ];
    match alias {
        Some((alias, database)) => row.extend(row![alias.id(), database, &alias.row.schema, &alias.row.name]),
        None => row.extend(vec![Cell::Null; 4]),
    }
    row.extend(vec![Cell::Null; 5]);
    row.extend(row![false, is_text && collation.comparison_style() & 1 == 0, false]);
    row.extend(vec![Cell::Null; 5]);
    let (wire_type, wire_length) = wire(&column.data_type, column.nullable);
    row.extend(row![
        column.identity.is_some().then_some(true),
        Cell::Null,
        (!column.place.is_empty()).then_some(true),
        Cell::Null,
        false,
        wire_type,
        wire_length,
        is_text.then_some(i32::from_le_bytes([a, b, c, d])),
        is_text.then_some(sort_id).map(i32::from),
    ]);
    row
}

/// The byte and the length of a type on the wire (MS-TDS 2.2.5.4).
pub(crate) fn wire(data_type: &DataType, nullable: bool) -> (i32, i32) {
    let described = data_type.describe();
    let length = i32::from(described.max_length);
    let own = i32::from(described.system_type_id);
    match data_type.family() {
        Family::Integer => (if nullable { 38 } else { own }, length),
        Family::Bit => (if nullable { 104 } else { 50 }, 1),
        Family::Approximate => (if nullable { 109 } else { own }, length),
        Family::Money => (if nullable { 110 } else { own }, length),
        Family::OldDate => (if nullable { 111 } else { own }, length),
        Family::Decimal => (own, 17),
        Family::Text | Family::Binary => (own, if length < 0 { MAX_LENGTH } else { length }),
        Family::NewDate | Family::Time | Family::Guid => (own, length),
        Family::Variant => (own, VARIANT_LENGTH),
        Family::Xml => (own, MAX_LENGTH),
    }
}

/// The length of a sql_variant.
const VARIANT_LENGTH: i32 = 8009;
/// The length of a type without bounds.
const MAX_LENGTH: i32 = 65_535;

const LINE: &[ColumnSpec] = &[("number", INT, false), ("text", text(255), true)];

/// A line is cut every 255 characters, as sp_helptext has it; each but the last ends as it does in the text.
fn lines(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let Some(StoredRef::Integer(id)) = arguments.first() else {
        return Ok(Vec::new());
    };
    let schema = &context.objects.catalog.schema;
    let mut modules = schema
        .views()
        .map(|view| &view.row)
        .chain(schema.procedures().map(|row| &**row))
        .chain(schema.functions().map(|function| &function.row))
        .chain(schema.triggers().map(|trigger| &*trigger.row));
    let Some(module) = modules.find(|module| i64::from(module.object_id) == *id) else {
        return Ok(Vec::new());
    };
    if !context.objects.permissions().sees_text((&module.schema, &module.name)) {
        return Ok(Vec::new());
    }
    let mut lines: Vec<String> = Vec::new();
    for line in module.definition.split_inclusive('\n') {
        let mut piece = String::new();
        let mut units = 0;
        for sign in line.chars() {
            if units + sign.len_utf16() > LINE_LENGTH_MAX {
                lines.push(std::mem::take(&mut piece));
                units = 0;
            }
            units += sign.len_utf16();
            piece.push(sign);
        }
        lines.push(piece);
    }
    Ok((1..)
        .zip(&lines)
        .map(|(number, line): (i32, _)| row![number, line])
        .collect())
}

/// UTF-16 units: sp_helptext's column.
const LINE_LENGTH_MAX: usize = 255;
