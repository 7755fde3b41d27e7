//! Sequences and synonyms.

use selenite_compiler::catalog::SequenceCache;
use selenite_compiler::definition::bracketed;
use selenite_compiler::{ObjectKind, SqlError};

use super::columns::type_name;
use super::objects::{OBJECT, object};
use super::{
    BIT, Cell, ColumnSpec, INFORMATION, INT, NAME, Row, SMALL, SYS, TINY, VARIANT, ViewContext, ViewSpec, row, text,
};
use crate::catalog::object_list::ListedObject;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "sequences",
        is_of_server: false,
        columns: &[OBJECT, SEQUENCE],
        rows: sequences,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "SEQUENCES",
        is_of_server: false,
        columns: &[OF_STANDARD],
        rows: of_standard,
    },
    ViewSpec {
        schema: SYS,
        name: "synonyms",
        is_of_server: false,
        columns: &[OBJECT, &[("base_object_name", text(1035), true)]],
        rows: synonyms,
    },
];

const SEQUENCE: &[ColumnSpec] = &[
    ("start_value", VARIANT, false),
    ("increment", VARIANT, false),
    ("minimum_value", VARIANT, true),
    ("maximum_value", VARIANT, true),
    ("is_cycling", BIT, true),
    ("is_cached", BIT, true),
    ("cache_size", INT, true),
    ("system_type_id", TINY, false),
    ("user_type_id", INT, false),
    ("precision", TINY, false),
    ("scale", TINY, true),
    ("current_value", VARIANT, false),
    ("is_exhausted", BIT, false),
    ("last_used_value", VARIANT, true),
];

fn sequences(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let catalog = &context.objects.catalog;
    let mut rows = Vec::new();
    for listed in catalog.schema.objects() {
        let Some(found) = catalog.schema.sequence_of_id(listed.id) else {
            continue;
        };
        let counter = match &context.objects.shared {
            Some(shared) => shared.sequence_counter(&context.objects.instance, found)?,
            None => None,
        };
        let (rule, described) = (&found.rule, found.data_type.describe());
        let value = |number: i128| Cell::whole_variant(found.data_type, number);
        let last = counter.and_then(|counter| counter.last);
        let current = last.or_else(|| counter.and_then(|counter| counter.next));
        let size = match rule.cache {
            SequenceCache::Size(size) => Cell::Whole(size.into()),
            SequenceCache::Default | SequenceCache::None => Cell::Null,
        };
        let mut row = object(&listed, context);
        row.extend(row![
            value(rule.start),
            value(rule.increment),
            value(rule.minimum),
            value(rule.maximum),
            rule.cycles,
            rule.cache != SequenceCache::None,
            size,
            described.system_type_id,
            i64::from(described.user_type_id),
            described.precision,
            described.scale,
            value(current.unwrap_or(rule.start)),
            counter.is_some_and(|counter| counter.next.is_none()),
            last.map_or(Cell::Null, value),
        ]);
        rows.push(row);
    }
    Ok(rows)
}

const OF_STANDARD: &[ColumnSpec] = &[
    ("SEQUENCE_CATALOG", NAME, true),
    ("SEQUENCE_SCHEMA", NAME, true),
    ("SEQUENCE_NAME", NAME, false),
    ("DATA_TYPE", NAME, true),
    ("NUMERIC_PRECISION", TINY, true),
    ("NUMERIC_PRECISION_RADIX", SMALL, true),
    ("NUMERIC_SCALE", INT, true),
    ("START_VALUE", VARIANT, false),
    ("MINIMUM_VALUE", VARIANT, true),
    ("MAXIMUM_VALUE", VARIANT, true),
    ("INCREMENT", VARIANT, false),
    ("CYCLE_OPTION", INT, true),
];

fn of_standard(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let catalog = &context.objects.catalog;
    let row = |listed: &ListedObject| {
        let found = catalog.schema.sequence_of_id(listed.id)?;
        let (rule, described) = (&found.rule, found.data_type.describe());
        let value = |number: i128| Cell::whole_variant(found.data_type, number);
        Some(row![
            &*catalog.database,
            &listed.schema,
            &listed.name,
            type_name(&found.data_type),
            described.precision,
            RADIX,
            i32::from(described.scale),
            value(rule.start),
            value(rule.minimum),
            value(rule.maximum),
            value(rule.increment),
            i32::from(rule.cycles),
        ])
    };
    Ok(catalog.schema.objects().iter().filter_map(row).collect())
}

/// Every type of a sequence is of decimal digits.
const RADIX: i32 = 10;

fn synonyms(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let schema = &context.objects.catalog.schema;
    Ok(super::objects::of_kind(context, ObjectKind::Synonym, |listed| {
        let found = schema.synonym(&listed.schema, &listed.name);
        let object = found.map(|found| {
            let name = &found.object;
            let parts = [
                name.server.as_ref(),
                name.database.as_ref(),
                name.schema.as_ref(),
                Some(&name.name),
            ];
            let parts = parts.into_iter().flatten();
            let parts: Vec<String> = parts.map(|part| bracketed(&part.text)).collect();
            parts.join(".")
        });
        vec![object.map_or(Cell::Null, Cell::Text)]
    }))
}
