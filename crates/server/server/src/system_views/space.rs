//! How many pages a database and its tables take, for sp_spaceused.
//!
//! - `each-page-is-read`: SQLite counts pages by reading them, of what is committed.

use selenite_compiler::SqlError;
use selenite_types::storage::StoredRef;

use super::{BIG, ColumnSpec, FunctionSpec, INT, Row, SYS, ViewContext, row};
use crate::database::database_connection::TablePages;
use crate::names::session_objects::SessionObjects;

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[
    FunctionSpec {
        schema: SYS,
        name: "selenite_table_space",
        columns: TABLE,
        arguments: &[INT],
        required: 1,
        rows: tables,
    },
    FunctionSpec {
        schema: SYS,
        name: "selenite_database_space",
        columns: DATABASE,
        arguments: &[],
        required: 0,
        rows: database,
    },
];

const TABLE: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("row_count", BIG, true),
    ("data_pages", BIG, false),
    ("index_pages", BIG, false),
];

const DATABASE: &[ColumnSpec] = &[
    ("page_size", BIG, false),
    ("page_count", BIG, false),
    ("free_pages", BIG, false),
];

/// The tables of the database, or one of them.
fn tables(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let wanted = match arguments.first() {
        Some(StoredRef::Integer(id)) => Some(*id),
        Some(StoredRef::Null | StoredRef::Real(_) | StoredRef::Text(_) | StoredRef::Blob(_)) | None => None,
    };
    let all = context.objects.catalog.schema.sorted_tables().into_iter();
    let tables: Vec<_> = all
        .filter(|table| wanted.is_none_or(|id| i64::from(table.table.object_id) == id))
        .collect();
    let SessionObjects {
        shared: Some(shared),
        instance,
        interrupts,
        ..
    } = context.objects
    else {
        return Ok(Vec::new());
    };
    let counts = match wanted {
        Some(_) => shared.row_counts(instance, interrupts.clone(), &tables)?,
        None => vec![None; tables.len()],
    };
    let pages = shared.table_pages(instance, interrupts.clone())?;
    let rows = tables.iter().zip(counts).map(|(table, count)| {
        let TablePages { data, indexes } = pages
            .get(&table.table.sqlite.name.to_lowercase())
            .copied()
            .unwrap_or_default();
        row![table.table.object_id, count, data, indexes]
    });
    Ok(rows.collect())
}

fn database(context: &ViewContext<'_>, _: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let Some(shared) = &context.objects.shared else {
        return Ok(Vec::new());
    };
    let found = shared.page_counts(&context.objects.instance)?;
    Ok(found
        .map(|(size, count, free)| row![size, count, free])
        .into_iter()
        .collect())
}
