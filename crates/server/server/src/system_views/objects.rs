//! Objects and schemas of the database in use.

use selenite_compiler::{ObjectKind, SqlError};
use selenite_types::DataType;

use super::{BIT, Cell, ColumnSpec, INT, NAME, Row, SYS, TIME, TINY, ViewContext, ViewSpec, listed, row, text};
use crate::catalog::object_list::ListedObject;
use crate::catalog::system_relations::ViewDefinition;
use crate::names::session_objects::letters;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "objects",
        is_of_server: false,
        columns: &[OBJECT],
        rows: objects,
    },
    ViewSpec {
        schema: SYS,
        name: "all_objects",
        is_of_server: false,
        columns: &[OBJECT],
        rows: all_objects,
    },
    ViewSpec {
        schema: SYS,
        name: "system_objects",
        is_of_server: true,
        columns: &[OBJECT],
        rows: |context| Ok(system_objects(context, &[])),
    },
    ViewSpec {
        schema: SYS,
        name: "tables",
        is_of_server: false,
        columns: &[OBJECT, TABLE],
        rows: tables,
    },
    ViewSpec {
        schema: SYS,
        name: "views",
        is_of_server: false,
        columns: &[OBJECT, VIEW],
        rows: views,
    },
    ViewSpec {
        schema: SYS,
        name: "system_views",
        is_of_server: true,
        columns: &[OBJECT, VIEW],
        rows: |context| Ok(system_objects(context, &[false; VIEW.len()])),
    },
    ViewSpec {
        schema: SYS,
        name: "all_views",
        is_of_server: false,
        columns: &[OBJECT, VIEW],
        rows: all_views,
    },
    ViewSpec {
        schema: SYS,
        name: "procedures",
        is_of_server: false,
        columns: &[OBJECT, PROCEDURE],
        rows: procedures,
    },
    ViewSpec {
        schema: SYS,
        name: "schemas",
        is_of_server: false,
        columns: &[SCHEMAS],
        rows: |context| {
            let schemas = context.objects.catalog.schema.names().all().iter();
            Ok(schemas
                .map(|schema| row![&schema.name, schema.id, schema.owner])
                .collect())
        },
    },
];

/// What every view of objects begins with.
pub(crate) const OBJECT: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("object_id", INT, false),
    ("principal_id", INT, true),
    ("schema_id", INT, false),
    ("parent_object_id", INT, false),
    ("type", DataType::Char(2), true),
    ("type_desc", text(60), true),
    ("create_date", TIME, true),
    ("modify_date", TIME, true),
    ("is_ms_shipped", BIT, false),
    ("is_published", BIT, false),
    ("is_schema_published", BIT, false),
];

/// When an object was made, and changed last; NULL for what SQLite alone has made.
pub(crate) fn moments(object: &ListedObject, context: &ViewContext<'_>) -> (Cell, Cell) {
    let offset = context.state.now.offset_minutes;
    (
        Cell::of_seconds(object.times.0, offset),
        Cell::of_seconds(object.times.1, offset),
    )
}

/// The values of [`OBJECT`].
pub(crate) fn object(object: &ListedObject, context: &ViewContext<'_>) -> Row {
    let (made, changed) = moments(object, context);
    row![
        &object.name,
        object.id,
        Cell::Null,
        context.objects.catalog.schema.names().id_of(&object.schema),
        object.parent,
        letters(object.kind),
        description(object.kind),
        made,
        changed,
        false,
        false,
        false,
    ]
}

/// sys.objects.type_desc.
fn description(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::UserTable => "USER_TABLE",
        ObjectKind::SystemTable => "SYSTEM_TABLE",
        ObjectKind::View => "VIEW",
        ObjectKind::Procedure => "SQL_STORED_PROCEDURE",
        ObjectKind::ExtendedProcedure => "EXTENDED_STORED_PROCEDURE",
        ObjectKind::ScalarFunction => "SQL_SCALAR_FUNCTION",
        ObjectKind::InlineFunction => "SQL_INLINE_TABLE_VALUED_FUNCTION",
        ObjectKind::TableFunction => "SQL_TABLE_VALUED_FUNCTION",
        ObjectKind::Trigger => "SQL_TRIGGER",
        ObjectKind::PrimaryKey => "PRIMARY_KEY_CONSTRAINT",
        ObjectKind::Unique => "UNIQUE_CONSTRAINT",
        ObjectKind::ForeignKey => "FOREIGN_KEY_CONSTRAINT",
        ObjectKind::Check => "CHECK_CONSTRAINT",
        ObjectKind::Default => "DEFAULT_CONSTRAINT",
        ObjectKind::Sequence => "SEQUENCE_OBJECT",
        ObjectKind::Synonym => "SYNONYM",
    }
}

fn objects(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let own = context.objects.catalog.schema.objects();
    let own = own.iter().map(|listed| object(listed, context));
    Ok(own.chain(table_types(context)).collect())
}

/// The tables of table types, under names that no one writes.
fn table_types(context: &ViewContext<'_>) -> impl Iterator<Item = Row> {
    let offset = context.state.now.offset_minutes;
    let types = context.objects.seen_types().into_iter();
    types.filter(|one| one.is_table()).map(move |one| {
        row![
            format!("TT_{}_{:08X}", one.row.name, one.row.object_id),
            one.row.object_id,
            Cell::Null,
            SYS_ID,
            0,
            "TT",
            "TYPE_TABLE",
            Cell::of_seconds(one.row.created, offset),
            Cell::of_seconds(one.row.modified, offset),
            true,
            false,
            false,
        ]
    })
}

/// The schema_id of sys.
const SYS_ID: i32 = 4;

fn all_objects(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = objects(context)?;
    rows.extend(system_objects(context, &[]));
    Ok(rows)
}

fn all_views(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = views(context)?;
    rows.extend(system_objects(context, &[false; VIEW.len()]));
    Ok(rows)
}

/// The server's own views, which are as old as the server's run, each with `rest` after it.
fn system_objects(context: &ViewContext<'_>, rest: &[bool]) -> Vec<Row> {
    let started = Cell::of_time(
        Some(context.objects.instance.started()),
        context.state.now.offset_minutes,
    );
    let row = |view: &'static ViewDefinition| {
        let mut row = row![
            view.name,
            view.id,
            Cell::Null,
            view.schema_id(),
            0,
            letters(ObjectKind::View),
            description(ObjectKind::View),
            started.clone(),
            started.clone(),
            true,
            false,
            false,
        ];
        row.extend(rest.iter().copied().map(Cell::from));
        row
    };
    listed().map(row).collect()
}

/// The objects of one kind, each with what `rest` adds.
pub(crate) fn of_kind(context: &ViewContext<'_>, kind: ObjectKind, rest: impl Fn(&ListedObject) -> Row) -> Vec<Row> {
    let own = context.objects.catalog.schema.objects();
    let found = own.iter().filter(|listed| listed.kind == kind);
    found
        .map(|listed| {
            let mut row = object(listed, context);
            row.extend(rest(listed));
            row
        })
        .collect()
}

const TABLE: &[ColumnSpec] = &[
    ("lob_data_space_id", INT, false),
    ("filestream_data_space_id", INT, true),
    ("max_column_id_used", INT, false),
    ("lock_on_bulk_load", BIT, false),
    ("uses_ansi_nulls", BIT, true),
    ("is_replicated", BIT, true),
    ("has_replication_filter", BIT, true),
    ("is_merge_published", BIT, true),
    ("is_sync_tran_subscribed", BIT, true),
    ("has_unchecked_assembly_data", BIT, false),
    ("text_in_row_limit", INT, true),
    ("large_value_types_out_of_row", BIT, true),
    ("is_tracked_by_cdc", BIT, true),
    ("lock_escalation", TINY, true),
    ("lock_escalation_desc", text(60), true),
    ("is_filetable", BIT, true),
    ("is_memory_optimized", BIT, true),
    ("durability", TINY, true),
    ("durability_desc", text(60), true),
    ("temporal_type", TINY, true),
    ("temporal_type_desc", text(60), true),
    ("history_table_id", INT, true),
    ("is_remote_data_archive_enabled", BIT, true),
    ("is_external", BIT, false),
    ("history_retention_period", INT, true),
    ("history_retention_period_unit", INT, true),
    ("history_retention_period_unit_desc", text(10), true),
    ("is_node", BIT, false),
    ("is_edge", BIT, false),
    ("ledger_type", TINY, false),
    ("ledger_type_desc", text(60), false),
    ("ledger_view_id", INT, true),
    ("is_dropped_ledger_table", BIT, true),
];

fn tables(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    Ok(of_kind(context, ObjectKind::UserTable, |listed| {
        let table = context.objects.catalog.schema.table(&listed.schema, &listed.name);
        let columns = table.map_or(0, |table| table.table.columns.len());
        row![
            0,
            Cell::Null,
            i32::try_from(columns).unwrap_or(i32::MAX),
            false,
            true,
            false,
            false,
            false,
            false,
            false,
            0,
            false,
            false,
            0,
            "TABLE",
            false,
            false,
            0,
            "SCHEMA_AND_DATA",
            0,
            "NON_TEMPORAL_TABLE",
            Cell::Null,
            false,
            false,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            false,
            false,
            0,
            "NON_LEDGER_TABLE",
            Cell::Null,
            false,
        ]
    }))
}

const VIEW: &[ColumnSpec] = &[
    ("is_replicated", BIT, true),
    ("has_replication_filter", BIT, true),
    ("has_opaque_metadata", BIT, false),
    ("has_unchecked_assembly_data", BIT, false),
    ("with_check_option", BIT, false),
    ("is_date_correlation_view", BIT, false),
    ("is_tracked_by_cdc", BIT, true),
];

fn views(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let schema = &context.objects.catalog.schema;
    Ok(of_kind(context, ObjectKind::View, |listed| {
        let is_checked = schema
            .view(&listed.schema, &listed.name)
            .is_some_and(|view| view.view.check_option);
        let cell = |(name, ..): &ColumnSpec| Cell::from(is_checked && *name == "with_check_option");
        VIEW.iter().map(cell).collect()
    }))
}

const PROCEDURE: &[ColumnSpec] = &[
    ("is_auto_executed", BIT, false),
    ("is_execution_replicated", BIT, true),
    ("is_repl_serializable_only", BIT, true),
    ("skips_repl_constraints", BIT, true),
];

fn procedures(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    Ok(of_kind(context, ObjectKind::Procedure, |_| {
        vec![Cell::from(false); PROCEDURE.len()]
    }))
}

const SCHEMAS: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("schema_id", INT, false),
    ("principal_id", INT, true),
];
