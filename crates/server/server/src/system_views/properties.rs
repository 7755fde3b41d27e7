//! Extended properties: `sys.extended_properties` and `fn_listextendedproperty`.

use selenite_compiler::{SqlError, same_name};
use selenite_types::storage::StoredRef;
use selenite_types::{DataType, Width};

use super::describe::text_at;
use super::{Cell, ColumnSpec, FunctionSpec, INT, NAME, Row, SYS, TINY, VARIANT, ViewContext, ViewSpec, row, text};
use crate::catalog::extended_properties::{ExtendedProperty, HolderKind, PropertyHolder};
use crate::catalog::schema::{Schema, SchemaTable, parameter_names};

pub(crate) const VIEWS: &[ViewSpec] = &[ViewSpec {
    schema: SYS,
    name: "extended_properties",
    is_of_server: false,
    columns: &[PROPERTY],
    rows: properties,
}];

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[function(SYS), function("")];

const PROPERTY: &[ColumnSpec] = &[
    ("class", TINY, false),
    ("class_desc", text(60), true),
    ("major_id", INT, false),
    ("minor_id", INT, false),
    ("name", NAME, false),
    ("value", VARIANT, true),
];

/// `fn_listextendedproperty`, with and without its schema.
const fn function(schema: &'static str) -> FunctionSpec {
    FunctionSpec {
        schema,
        name: "fn_listextendedproperty",
        columns: LISTED,
        arguments: &[NAME_ARGUMENT; 7],
        required: 7,
        rows: listed,
    }
}

const LISTED: &[ColumnSpec] = &[
    ("objtype", NAME, true),
    ("objname", NAME, true),
    ("name", NAME, false),
    ("value", VARIANT, true),
];
const NAME_ARGUMENT: DataType = DataType::NVarChar(Width::Limited(128));

/// What has a property, as the views show it.
struct Located {
    major: i32,
    minor: i32,
    /// Type and name of each level.
    levels: Vec<(&'static str, String)>,
}

fn properties(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for property in context.objects.catalog.schema.properties() {
        if let Some(located) = locate(context, property)? {
            let (class, class_desc) = property.holder.kind.class();
            rows.push(row![
                class,
                class_desc,
                located.major,
                located.minor,
                &property.name,
                Cell::variant(&property.value),
            ]);
        }
    }
    Ok(rows)
}

fn listed(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let given = |at: usize| match arguments.get(at) {
        Some(StoredRef::Null) | None => None,
        Some(_) => Some(text_at(arguments, at)),
    };
    let types: Vec<&str> = [1, 3, 5].into_iter().map_while(given).collect();
    let mut rows = Vec::new();
    for property in context.objects.catalog.schema.properties() {
        let Some(located) = locate(context, property)? else {
            continue;
        };
        let is_named = |wanted: Option<&str>, name: &str| wanted.is_none_or(|wanted| same_name(wanted, name));
        let is_there = located.levels.len() == types.len()
            && located
                .levels
                .iter()
                .zip(&types)
                .zip([2, 4, 6])
                .all(|(((kind, name), wanted), at)| kind.eq_ignore_ascii_case(wanted) && is_named(given(at), name));
        if is_there && is_named(given(0), &property.name) {
            let last = located.levels.last();
            rows.push(row![
                last.map_or(Cell::Null, |(kind, _)| Cell::from(*kind)),
                last.map_or(Cell::Null, |(_, name)| Cell::from(name)),
                &property.name,
                Cell::variant(&property.value),
            ]);
        }
    }
    Ok(rows)
}

/// One level more.
fn part(kind: &'static str, levels: &[(&'static str, String)], name: &str) -> Vec<(&'static str, String)> {
    let mut levels = levels.to_vec();
    levels.push((kind, name.to_owned()));
    levels
}

fn number(at: usize) -> i32 {
    i32::try_from(at).unwrap_or(i32::MAX)
}

fn in_table(schema: &Schema, table: &SchemaTable, holder: &PropertyHolder) -> Option<Located> {
    let is_part = |name: &str| same_name(name, &holder.part);
    let definition = &table.definition;
    let levels = [(SCHEMA, definition.schema.clone()), ("TABLE", definition.name.clone())];
    let located = |minor: i32, levels: Vec<(&'static str, String)>| Located {
        major: holder.id,
        minor,
        levels,
    };
    match holder.kind {
        HolderKind::Column => {
            let mut columns = definition.columns.iter().enumerate();
            let (at, column) = columns.find(|(_, column)| is_part(&column.name))?;
            Some(located(number(at + 1), part("COLUMN", &levels, &column.name)))
        }
        HolderKind::Index => {
            let indexes = table.listed_indexes().into_iter();
            let mut named = indexes.filter_map(|index| Some((index.number, index.name?)));
            let (index, name) = named.find(|(_, name)| is_part(name))?;
            Some(located(index, part("INDEX", &levels, &name)))
        }
        HolderKind::Constraint => {
            let mut objects = schema.objects().into_iter();
            let found = objects.find(|object| object.parent == holder.id && is_part(&object.name))?;
            Some(Located {
                major: found.id,
                ..located(0, part("CONSTRAINT", &levels, &found.name))
            })
        }
        HolderKind::Database | HolderKind::Schema | HolderKind::Object | HolderKind::Parameter => {
            Some(located(0, levels.to_vec()))
        }
    }
}

/// Where the holder of a property is; `None` if it is not there, or not for the session to see.
fn locate(context: &ViewContext<'_>, property: &ExtendedProperty) -> Result<Option<Located>, SqlError> {
    let schema = &context.objects.catalog.schema;
    let holder = &property.holder;
    let located = |minor: i32, levels: Vec<(&'static str, String)>| Located {
        major: holder.id,
        minor,
        levels,
    };
    match holder.kind {
        HolderKind::Database => return Ok(Some(located(0, Vec::new()))),
        HolderKind::Schema => {
            let found = schema.names().of_id(holder.id);
            return Ok(found.map(|found| located(0, vec![(SCHEMA, found.name.clone())])));
        }
        HolderKind::Object
        | HolderKind::Column
        | HolderKind::Constraint
        | HolderKind::Index
        | HolderKind::Parameter => {}
    }
    let is_part = |name: &str| same_name(name, &holder.part);
    if let Some(table) = schema.tables().find(|table| table.table.object_id == holder.id) {
        return Ok(in_table(schema, table, holder));
    }
    if let Some(view) = schema.views().find(|view| view.row.object_id == holder.id) {
        let levels = [(SCHEMA, view.row.schema.clone()), ("VIEW", view.row.name.clone())];
        if holder.kind != HolderKind::Column {
            return Ok(Some(located(0, levels.to_vec())));
        }
        let columns = context.objects.catalog.view_columns(view);
        let found = columns.iter().enumerate().find(|(_, column)| is_part(&column.name));
        return Ok(found.map(|(at, column)| located(number(at + 1), part("COLUMN", &levels, &column.name))));
    }
    let Some(row) = schema.procedures().find(|row| row.object_id == holder.id) else {
        return Ok(None);
    };
    let levels = [(SCHEMA, row.schema.clone()), ("PROCEDURE", row.name.clone())];
    if holder.kind != HolderKind::Parameter {
        return Ok(Some(located(0, levels.to_vec())));
    }
    let names = parameter_names(row)?;
    let found = names.iter().enumerate().find(|(_, name)| is_part(name));
    Ok(found.map(|(at, name)| located(number(at + 1), part("PARAMETER", &levels, name))))
}

const SCHEMA: &str = "SCHEMA";
