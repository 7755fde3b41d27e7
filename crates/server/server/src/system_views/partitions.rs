//! How many rows tables have.
//!
//! - `committed-rows-are-counted`: rows are counted when the view is read, of what is committed: a
//!   table that is not committed yet has no count.

use selenite_compiler::SqlError;

use super::{BIG, ColumnSpec, INT, Row, SYS, TINY, ViewContext, ViewSpec, row, text};
use crate::names::session_objects::SessionObjects;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "partitions",
        is_of_server: false,
        columns: &[PARTITION],
        rows: partitions,
    },
    ViewSpec {
        schema: SYS,
        name: "dm_db_partition_stats",
        is_of_server: false,
        columns: &[STATISTICS],
        rows: statistics,
    },
];

const PARTITION: &[ColumnSpec] = &[
    ("partition_id", BIG, false),
    ("object_id", INT, false),
    ("index_id", INT, false),
    ("partition_number", INT, false),
    ("hobt_id", BIG, false),
    ("rows", BIG, true),
    ("filestream_filegroup_id", INT, false),
    ("data_compression", TINY, false),
    ("data_compression_desc", text(60), true),
];
const STATISTICS: &[ColumnSpec] = &[
    ("partition_id", BIG, true),
    ("object_id", INT, false),
    ("index_id", INT, false),
    ("partition_number", INT, false),
    ("row_count", BIG, true),
];

fn partitions(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    each(context, |table, index, count| {
        let id = partition_id(table, index);
        row![id, table, index, 1, id, count, 0, 0, "NONE"]
    })
}

fn statistics(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    each(context, |table, index, count| {
        row![partition_id(table, index), table, index, 1, count]
    })
}

fn each(context: &ViewContext<'_>, row: impl Fn(i32, i32, Option<i64>) -> Row) -> Result<Vec<Row>, SqlError> {
    let tables = context.objects.catalog.schema.sorted_tables();
    let counts = match &context.objects.shared {
        Some(shared) => {
            let SessionObjects {
                instance, interrupts, ..
            } = context.objects;
            shared.row_counts(instance, interrupts.clone(), &tables)?
        }
        None => Vec::new(),
    };
    let mut counts = counts.into_iter();
    let mut rows = Vec::new();
    for table in tables {
        let count = counts.next().flatten();
        for index in table.listed_indexes() {
            // A filtered index has some of the rows only.
            let count = count.filter(|_| index.filter.is_none());
            rows.push(row(table.table.object_id, index.number, count));
        }
    }
    Ok(rows)
}

/// An index has one partition: its number is made of the table's and the index's.
fn partition_id(table: i32, index: i32) -> i64 {
    i64::from(table) * 65_536 + i64::from(index)
}
