//! Indexes of the database in use.

use selenite_compiler::SqlError;
use selenite_compiler::catalog::KeyKind;

use super::{BIT, Cell, ColumnSpec, INT, LONG_TEXT, NAME, Row, SYS, TINY, ViewContext, ViewSpec, row, text};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "indexes",
        is_of_server: false,
        columns: &[INDEX],
        rows: indexes,
    },
    ViewSpec {
        schema: SYS,
        name: "index_columns",
        is_of_server: false,
        columns: &[COLUMN],
        rows: index_columns,
    },
    ViewSpec {
        schema: SYS,
        name: "stats",
        is_of_server: false,
        columns: &[STATISTICS],
        rows: statistics,
    },
    ViewSpec {
        schema: SYS,
        name: "stats_columns",
        is_of_server: false,
        columns: &[STATISTICS_COLUMN],
        rows: statistics_columns,
    },
];

pub(crate) const INDEX: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("name", NAME, true),
    ("index_id", INT, false),
    ("type", TINY, false),
    ("type_desc", text(60), true),
    ("is_unique", BIT, true),
    ("data_space_id", INT, true),
    ("ignore_dup_key", BIT, true),
    ("is_primary_key", BIT, true),
    ("is_unique_constraint", BIT, true),
    ("fill_factor", TINY, false),
    ("is_padded", BIT, true),
    ("is_disabled", BIT, true),
    ("is_hypothetical", BIT, true),
    ("is_ignored_in_optimization", BIT, true),
    ("allow_row_locks", BIT, true),
    ("allow_page_locks", BIT, true),
    ("has_filter", BIT, true),
    ("filter_definition", LONG_TEXT, true),
    ("compression_delay", INT, true),
    ("suppress_dup_key_messages", BIT, true),
    ("auto_created", BIT, true),
    ("optimize_for_sequential_key", BIT, true),
];

fn indexes(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    let permissions = context.objects.permissions();
    for table in context.objects.catalog.schema.sorted_tables() {
        let shows = permissions.sees_text((&table.definition.schema, &table.definition.name));
        for index in table.listed_indexes() {
            let (kind, word) = match index.number {
                0 => (0, "HEAP"),
                1 => (1, "CLUSTERED"),
                _ => (2, "NONCLUSTERED"),
            };
            rows.push(row![
                table.table.object_id,
                index.name,
                index.number,
                kind,
                word,
                index.is_unique,
                1,
                index.ignores_duplicates,
                index.kind == KeyKind::Primary,
                index.kind == KeyKind::Unique,
                0,
                false,
                index.is_disabled,
                false,
                false,
                true,
                true,
                index.filter.is_some(),
                index.filter.filter(|_| shows),
                Cell::Null,
                false,
                false,
                false,
            ]);
        }
    }
    Ok(rows)
}

const STATISTICS: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("name", NAME, true),
    ("stats_id", INT, false),
    ("auto_created", BIT, true),
    ("user_created", BIT, true),
    ("no_recompute", BIT, true),
    ("has_filter", BIT, true),
    ("filter_definition", LONG_TEXT, true),
    ("is_temporary", BIT, true),
    ("is_incremental", BIT, true),
];

/// Those of indexes, and those that CREATE STATISTICS has named: none are made by themselves. The number of the latter is
/// that of their row in the catalog, which no index has.
fn statistics(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    let permissions = context.objects.permissions();
    for table in context.objects.catalog.schema.sorted_tables() {
        let shows = permissions.sees_text((&table.definition.schema, &table.definition.name));
        for index in table.listed_indexes().into_iter().filter(|index| index.number > 0) {
            rows.push(row![
                table.table.object_id,
                index.name,
                index.number,
                false,
                false,
                false,
                index.filter.is_some(),
                index.filter.filter(|_| shows),
                false,
                false,
            ]);
        }
        for own in context.objects.catalog.schema.statistics_of(table.table.object_id) {
            rows.push(row![
                table.table.object_id,
                &own.row.name,
                own.row.object_id,
                false,
                true,
                own.no_recompute,
                false,
                Cell::Null,
                false,
                false,
            ]);
        }
    }
    Ok(rows)
}

const STATISTICS_COLUMN: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("stats_id", INT, false),
    ("stats_column_id", INT, true),
    ("column_id", INT, true),
];

fn statistics_columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for table in context.objects.catalog.schema.sorted_tables() {
        for index in table.listed_indexes() {
            for (number, (name, _)) in (1..).zip(&index.columns) {
                let at = table.table.column(name).map_or(0, |at| at + 1);
                let column_id = i32::try_from(at).unwrap_or(0);
                rows.push(row![table.table.object_id, index.number, number, column_id]);
            }
        }
        for own in context.objects.catalog.schema.statistics_of(table.table.object_id) {
            for (number, name) in (1..).zip(&own.columns) {
                let at = table.table.column(name).map_or(0, |at| at + 1);
                let column_id = i32::try_from(at).unwrap_or(0);
                rows.push(row![table.table.object_id, own.row.object_id, number, column_id]);
            }
        }
    }
    Ok(rows)
}

const COLUMN: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("index_id", INT, false),
    ("index_column_id", INT, false),
    ("column_id", INT, false),
    ("key_ordinal", TINY, false),
    ("partition_ordinal", TINY, false),
    ("is_descending_key", BIT, true),
    ("is_included_column", BIT, true),
    ("column_store_order_ordinal", TINY, false),
];

fn index_columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for table in context.objects.catalog.schema.sorted_tables() {
        let column_id = |name: &str| {
            let at = table.table.column(name).map_or(0, |at| at + 1);
            i32::try_from(at).unwrap_or(0)
        };
        for index in table.listed_indexes() {
            let keys = index.columns.iter().map(|(name, descends)| (name, *descends, false));
            let included = index.include.iter().map(|name| (name, false, true));
            for (number, (name, descends, is_included)) in (1..).zip(keys.chain(included)) {
                rows.push(row![
                    table.table.object_id,
                    index.number,
                    number,
                    column_id(name),
                    if is_included { 0 } else { number },
                    0,
                    descends,
                    is_included,
                    0,
                ]);
            }
        }
    }
    Ok(rows)
}
