//! Columns and types of the database in use.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::Column;
use selenite_tsql::stored_expression;
use selenite_types::DataType;

use super::view_column::{self, ViewColumn};
use super::{
    BIT, Cell, ColumnSpec, INT, LONG_TEXT, NAME, Row, SMALL, SYS, TINY, VARIANT, ViewContext, ViewSpec, row, text,
};
use crate::catalog::schema::SchemaTable;
use crate::catalog::schema::user_type::SchemaType;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "columns",
        is_of_server: false,
        columns: &[COLUMN, BEHIND],
        rows: columns,
    },
    ViewSpec {
        schema: SYS,
        name: "all_columns",
        is_of_server: false,
        columns: &[COLUMN, BEHIND],
        rows: all_columns,
    },
    ViewSpec {
        schema: SYS,
        name: "system_columns",
        is_of_server: true,
        columns: &[COLUMN, BEHIND],
        rows: system_columns,
    },
    ViewSpec {
        schema: SYS,
        name: "identity_columns",
        is_of_server: false,
        columns: &[COLUMN, IDENTITY],
        rows: identity_columns,
    },
    ViewSpec {
        schema: SYS,
        name: "computed_columns",
        is_of_server: false,
        columns: &[COLUMN, COMPUTED],
        rows: computed_columns,
    },
    ViewSpec {
        schema: SYS,
        name: "types",
        is_of_server: false,
        columns: &[TYPE],
        rows: types,
    },
    ViewSpec {
        schema: SYS,
        name: "table_types",
        is_of_server: false,
        columns: &[TYPE, TABLE_TYPE],
        rows: table_types,
    },
];

pub(crate) const COLUMN: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("name", NAME, true),
    ("column_id", INT, false),
    ("system_type_id", TINY, false),
    ("user_type_id", INT, false),
    ("max_length", SMALL, false),
    ("precision", TINY, false),
    ("scale", TINY, false),
    ("collation_name", NAME, true),
    ("is_nullable", BIT, true),
    ("is_ansi_padded", BIT, false),
    ("is_rowguidcol", BIT, false),
    ("is_identity", BIT, false),
    ("is_computed", BIT, false),
    ("is_filestream", BIT, false),
    ("is_replicated", BIT, true),
    ("is_non_sql_subscribed", BIT, true),
    ("is_merge_published", BIT, true),
    ("is_dts_replicated", BIT, true),
    ("is_xml_document", BIT, false),
    ("xml_collection_id", INT, false),
    ("default_object_id", INT, false),
    ("rule_object_id", INT, false),
    ("is_sparse", BIT, true),
    ("is_column_set", BIT, true),
];
const BEHIND: &[ColumnSpec] = &[
    ("generated_always_type", TINY, true),
    ("generated_always_type_desc", text(60), true),
    ("encryption_type", INT, true),
    ("encryption_type_desc", text(64), true),
    ("encryption_algorithm_name", NAME, true),
    ("column_encryption_key_id", INT, true),
    ("column_encryption_key_database_name", NAME, true),
    ("is_hidden", BIT, true),
    ("is_masked", BIT, false),
];

fn all(tolds: Vec<ViewColumn>) -> Vec<Row> {
    let row = |column: ViewColumn| {
        let mut row = column.row();
        row.extend(behind());
        row
    };
    tolds.into_iter().map(row).collect()
}

fn behind() -> Row {
    row![
        0,
        "NOT_APPLICABLE",
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        false,
        false
    ]
}

fn columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = all(view_column::users(context));
    rows.extend(all(view_column::of_functions(context)));
    rows.extend(all(view_column::of_types(context)));
    Ok(rows)
}

fn system_columns(_: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    Ok(all(view_column::systems()))
}

fn all_columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = columns(context)?;
    rows.extend(all(view_column::systems()));
    Ok(rows)
}

/// The rows of the columns of tables that `rest` adds something to.
fn of_tables(
    context: &ViewContext<'_>,
    rest: impl Fn(&Arc<SchemaTable>, &Column) -> Result<Option<Row>, SqlError>,
) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for table in context.objects.catalog.schema.sorted_tables() {
        for (number, column) in (1..).zip(&table.table.columns) {
            if let Some(rest) = rest(table, column)? {
                let mut row = ViewColumn::of_table(&context.objects.catalog.schema, table, number, column).row();
                row.extend(rest);
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

const IDENTITY: &[ColumnSpec] = &[
    ("seed_value", VARIANT, true),
    ("increment_value", VARIANT, true),
    ("last_value", VARIANT, true),
    ("is_not_for_replication", BIT, true),
];

fn identity_columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    of_tables(context, |table, column| {
        let Some(rule) = column.identity else {
            return Ok(None);
        };
        let last = match &context.objects.shared {
            Some(shared) => shared.last_identity(&context.objects.instance, &table.table)?,
            None => None,
        };
        let whole = |number: i128| Cell::whole_variant(column.data_type, number);
        let last = last.map_or(Cell::Null, whole);
        Ok(Some(row![whole(rule.seed), whole(rule.increment), last, false]))
    })
}

const COMPUTED: &[ColumnSpec] = &[
    ("definition", LONG_TEXT, true),
    ("uses_database_collation", BIT, false),
    ("is_persisted", BIT, false),
];

fn computed_columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let permissions = context.objects.permissions();
    of_tables(context, |table, column| {
        let shows = permissions.sees_text((&table.definition.schema, &table.definition.name));
        let computed = column.computed.as_ref();
        let text = computed
            .filter(|_| shows)
            .map(|computed| stored_expression(&computed.value));
        Ok(computed.map(|computed| row![text, true, computed.persisted]))
    })
}

pub(crate) const TYPE: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("system_type_id", TINY, false),
    ("user_type_id", INT, false),
    ("schema_id", INT, false),
    ("principal_id", INT, true),
    ("max_length", SMALL, false),
    ("precision", TINY, false),
    ("scale", TINY, false),
    ("collation_name", NAME, true),
    ("is_nullable", BIT, true),
    ("is_user_defined", BIT, false),
    ("is_assembly_type", BIT, false),
    ("default_object_id", INT, false),
    ("rule_object_id", INT, false),
    ("is_table_type", BIT, false),
];

/// The types that there are: name, numbers, length, precision and scale.
pub(crate) const TYPES: &[(&str, i32, i32, i32, i32)] = &[
    ("image", 34, 16, 0, 0),
    ("text", 35, 16, 0, 0),
    ("uniqueidentifier", 36, 16, 0, 0),
    ("date", 40, 3, 10, 0),
    ("time", 41, 5, 16, 7),
    ("datetime2", 42, 8, 27, 7),
    ("datetimeoffset", 43, 10, 34, 7),
    ("tinyint", 48, 1, 3, 0),
    ("smallint", 52, 2, 5, 0),
    ("int", 56, 4, 10, 0),
    ("smalldatetime", 58, 4, 16, 0),
    ("real", 59, 4, 24, 0),
    ("money", 60, 8, 19, 4),
    ("datetime", 61, 8, 23, 3),
    ("float", 62, 8, 53, 0),
    ("sql_variant", 98, 8016, 0, 0),
    ("ntext", 99, 16, 0, 0),
    ("bit", 104, 1, 1, 0),
    ("decimal", 106, 17, 38, 38),
    ("numeric", 108, 17, 38, 38),
    ("smallmoney", 122, 4, 10, 4),
    ("bigint", 127, 8, 19, 0),
    ("varbinary", 165, 8000, 0, 0),
    ("varchar", 167, 8000, 0, 0),
    ("binary", 173, 8000, 0, 0),
    ("char", 175, 8000, 0, 0),
    ("timestamp", ROW_VERSION, 8, 0, 0),
    ("nvarchar", 231, 8000, 0, 0),
    ("nchar", 239, 8000, 0, 0),
    ("xml", 241, -1, 0, 0),
    ("sysname", 256, 256, 0, 0),
];

const TABLE_TYPE: &[ColumnSpec] = &[("type_table_object_id", INT, false), ("is_memory_optimized", BIT, true)];

fn table_types(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let types = context.objects.seen_types().into_iter();
    let tables = types.filter(|one| one.is_table()).map(|one| {
        let mut row = user_type(context, one);
        row.extend(row![one.row.object_id, false]);
        row
    });
    Ok(tables.collect())
}

/// A type of a user in sys.types.
fn user_type(context: &ViewContext<'_>, one: &SchemaType) -> Row {
    let schema_id = context.objects.catalog.schema.names().id_of(&one.row.schema);
    let base = one.base();
    let described = base.map(|base| base.describe());
    let is_text = base.is_some_and(|base| base.family() == selenite_types::Family::Text);
    row![
        &one.row.name,
        described
            .as_ref()
            .map_or(TABLE_TYPE_ID, |described| i32::from(described.system_type_id)),
        one.id(),
        schema_id,
        Cell::Null,
        described
            .as_ref()
            .map_or(-1, |described| i32::from(described.max_length)),
        described.as_ref().map_or(0, |described| i32::from(described.precision)),
        described.as_ref().map_or(0, |described| i32::from(described.scale)),
        is_text.then_some(selenite_compiler::DEFAULT_COLLATION),
        one.is_nullable(),
        true,
        false,
        0,
        0,
        one.is_table(),
    ]
}

/// The system_type_id of table types.
pub(crate) const TABLE_TYPE_ID: i32 = 243;

fn types(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let rows = TYPES.iter().map(|(name, id, length, precision, scale)| {
        let is_text = matches!(*id, 35 | 99 | 167 | 175 | 231 | 239 | SYSNAME);
        let collation = is_text.then_some(selenite_compiler::DEFAULT_COLLATION);
        // sysname is nvarchar by another name.
        let system = if *id == SYSNAME { 231 } else { *id };
        row![
            *name,
            system,
            *id,
            4,
            Cell::Null,
            *length,
            *precision,
            *scale,
            collation,
            *id != SYSNAME && *id != ROW_VERSION,
            false,
            false,
            0,
            0,
            false,
        ]
    });
    let types = context.objects.seen_types().into_iter();
    Ok(rows.chain(types.map(|one| user_type(context, one))).collect())
}

/// The name of a type as sys.types has it.
pub(crate) fn type_name(data_type: &DataType) -> &'static str {
    let id = i32::from(data_type.describe().system_type_id);
    TYPES
        .iter()
        .find(|(_, known, ..)| *known == id)
        .map_or("", |(name, ..)| name)
}

pub(crate) const SYSNAME: i32 = 256;
const ROW_VERSION: i32 = 189;
