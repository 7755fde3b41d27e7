//! Keys, checks, defaults and foreign keys of the database in use.

use std::sync::Arc;

use selenite_compiler::catalog::{ForeignKey, ReferencedAction};
use selenite_compiler::{ObjectKind, SqlError, same_name};
use selenite_tsql::{stored_condition, stored_expression};

use super::objects::{OBJECT, object, of_kind};
use super::{BIT, ColumnSpec, INT, LONG_TEXT, Row, SYS, TINY, ViewContext, ViewSpec, row, text};
use crate::catalog::effective_permissions::Permissions;
use crate::catalog::object_list::{ListedIndex, ListedObject, constraint_id};
use crate::catalog::schema::SchemaTable;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "key_constraints",
        is_of_server: false,
        columns: &[OBJECT, KEY],
        rows: keys,
    },
    ViewSpec {
        schema: SYS,
        name: "check_constraints",
        is_of_server: false,
        columns: &[OBJECT, CHECK],
        rows: checks,
    },
    ViewSpec {
        schema: SYS,
        name: "default_constraints",
        is_of_server: false,
        columns: &[OBJECT, DEFAULT],
        rows: defaults,
    },
    ViewSpec {
        schema: SYS,
        name: "foreign_keys",
        is_of_server: false,
        columns: &[OBJECT, FOREIGN],
        rows: foreign_keys,
    },
    ViewSpec {
        schema: SYS,
        name: "foreign_key_columns",
        is_of_server: false,
        columns: &[FOREIGN_COLUMN],
        rows: foreign_key_columns,
    },
];

const KEY: &[ColumnSpec] = &[
    ("unique_index_id", INT, true),
    ("is_system_named", BIT, false),
    ("is_enforced", BIT, true),
];

fn keys(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let rest = |listed: &ListedObject| {
        let table = parent(context, listed);
        let indexes = table.map(|table| table.listed_indexes()).unwrap_or_default();
        let index = indexes
            .iter()
            .find(|index| index.name.as_deref().is_some_and(|name| same_name(name, &listed.name)));
        row![index.map(|index| index.number), is_given("PK__", "UQ__", listed), true]
    };
    let mut rows = of_kind(context, ObjectKind::PrimaryKey, rest);
    rows.extend(of_kind(context, ObjectKind::Unique, rest));
    Ok(rows)
}

/// Whether the server has named a constraint: such a name begins so.
fn is_given(prefix: &str, other: &str, listed: &ListedObject) -> bool {
    listed.name.starts_with(prefix) || listed.name.starts_with(other)
}

/// The table of a constraint.
fn parent<'a>(context: &'a ViewContext<'_>, listed: &ListedObject) -> Option<&'a Arc<SchemaTable>> {
    context
        .objects
        .catalog
        .schema
        .tables()
        .find(|table| table.table.object_id == listed.parent)
}

const CHECK: &[ColumnSpec] = &[
    ("is_disabled", BIT, false),
    ("is_not_for_replication", BIT, false),
    ("is_not_trusted", BIT, false),
    ("parent_column_id", INT, false),
    ("definition", LONG_TEXT, true),
    ("uses_database_collation", BIT, true),
    ("is_system_named", BIT, false),
];

fn checks(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let permissions = context.objects.permissions();
    Ok(of_kind(context, ObjectKind::Check, |listed| {
        let shows = shows_parent(&permissions, parent(context, listed));
        let table = parent(context, listed);
        let checks = table
            .map(|table| table.definition.checks.as_slice())
            .unwrap_or_default();
        let check = checks.iter().find(|check| same_name(&check.name, &listed.name));
        let column = check.and_then(|check| Some(column_id(table?, check.column.as_deref()?)));
        let is_disabled = check.is_some_and(|check| !check.is_enabled);
        row![
            is_disabled,
            false,
            check.is_some_and(|check| !check.is_trusted),
            column.unwrap_or(0),
            check.filter(|_| shows).map(|check| stored_condition(&check.condition)),
            true,
            is_given("CK__", "CK__", listed),
        ]
    }))
}

/// Whether the texts of a table's constraints are shown.
fn shows_parent(permissions: &Permissions, table: Option<&Arc<SchemaTable>>) -> bool {
    table.is_some_and(|table| permissions.sees_text((&table.definition.schema, &table.definition.name)))
}

/// A column's number in its table, from 1.
pub(crate) fn column_id(table: &SchemaTable, name: &str) -> i32 {
    let at = table.table.column(name).map_or(0, |at| at + 1);
    i32::try_from(at).unwrap_or(0)
}

const DEFAULT: &[ColumnSpec] = &[
    ("parent_column_id", INT, false),
    ("definition", LONG_TEXT, true),
    ("is_system_named", BIT, false),
];

fn defaults(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let permissions = context.objects.permissions();
    Ok(of_kind(context, ObjectKind::Default, |listed| {
        let table = parent(context, listed);
        let shows = shows_parent(&permissions, table);
        let columns = table.map(|table| table.table.columns.as_slice()).unwrap_or_default();
        let found = (1..).zip(columns).find_map(|(number, column)| {
            let default = column
                .default
                .as_ref()
                .filter(|default| same_name(&default.name, &listed.name))?;
            Some((number, stored_expression(&default.value)))
        });
        let (number, definition) = found.unwrap_or_default();
        row![number, shows.then_some(definition), is_given("DF__", "DF__", listed)]
    }))
}

const FOREIGN: &[ColumnSpec] = &[
    ("referenced_object_id", INT, true),
    ("key_index_id", INT, true),
    ("is_disabled", BIT, false),
    ("is_not_for_replication", BIT, false),
    ("is_not_trusted", BIT, false),
    ("delete_referential_action", TINY, true),
    ("delete_referential_action_desc", text(60), true),
    ("update_referential_action", TINY, true),
    ("update_referential_action_desc", text(60), true),
    ("is_system_named", BIT, false),
];

/// All foreign keys with their tables, by rising number of the table.
pub(crate) fn all_foreign_keys<'a>(context: &'a ViewContext<'_>) -> Vec<(&'a Arc<SchemaTable>, &'a ForeignKey)> {
    let tables = context.objects.catalog.schema.sorted_tables().into_iter();
    tables
        .flat_map(|table| table.definition.foreign_keys.iter().map(move |key| (table, key)))
        .collect()
}

fn foreign_keys(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    let listed = context.objects.catalog.schema.objects();
    for (table, key) in all_foreign_keys(context) {
        let id = constraint_id(table.table.object_id, &key.name);
        let Some(listed) = listed.iter().find(|listed| listed.id == id) else {
            continue;
        };
        let (schema, name) = &key.referenced_table;
        let referenced = context.objects.catalog.schema.table(schema, name);
        let ((on_delete, delete_word), (on_update, update_word)) = (action(key.on_delete), action(key.on_update));
        let mut row = object(listed, context);
        row.extend(row![
            referenced.map(|referenced| referenced.table.object_id),
            referenced.map(|referenced| referenced_key(referenced, key).map_or(0, |index| index.number)),
            !key.is_enabled,
            false,
            !key.is_trusted,
            on_delete,
            delete_word,
            on_update,
            update_word,
            is_given("FK__", "FK__", listed),
        ]);
        rows.push(row);
    }
    Ok(rows)
}

/// The key that a foreign key refers to.
pub(crate) fn referenced_key(referenced: &SchemaTable, key: &ForeignKey) -> Option<ListedIndex> {
    let is_it = |columns: &[(String, bool)]| {
        let has = |name: &String| key.referenced_columns.iter().any(|other| same_name(other, name));
        columns.len() == key.referenced_columns.len() && columns.iter().all(|(name, _)| has(name))
    };
    let indexes = referenced.listed_indexes();
    indexes
        .into_iter()
        .find(|index| index.is_unique && is_it(&index.columns))
}

fn action(action: ReferencedAction) -> (i32, &'static str) {
    match action {
        ReferencedAction::NoAction => (0, "NO_ACTION"),
        ReferencedAction::Cascade => (1, "CASCADE"),
        ReferencedAction::SetNull => (2, "SET_NULL"),
        ReferencedAction::SetDefault => (3, "SET_DEFAULT"),
    }
}

const FOREIGN_COLUMN: &[ColumnSpec] = &[
    ("constraint_object_id", INT, false),
    ("constraint_column_id", INT, false),
    ("parent_object_id", INT, false),
    ("parent_column_id", INT, false),
    ("referenced_object_id", INT, false),
    ("referenced_column_id", INT, false),
];

fn foreign_key_columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for (table, key) in all_foreign_keys(context) {
        let (schema, name) = &key.referenced_table;
        let Some(referenced) = context.objects.catalog.schema.table(schema, name) else {
            continue;
        };
        for (number, (own, other)) in (1..).zip(key.columns.iter().zip(&key.referenced_columns)) {
            rows.push(row![
                constraint_id(table.table.object_id, &key.name),
                number,
                table.table.object_id,
                column_id(table, own),
                referenced.table.object_id,
                column_id(referenced, other),
            ]);
        }
    }
    Ok(rows)
}
