//! INFORMATION_SCHEMA: constraints of the database in use.

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::{ForeignKey, KeyKind, ReferencedAction};
use selenite_compiler::definition::mentions;
use selenite_tsql::stored_condition;

use super::constraints::{all_foreign_keys, referenced_key};
use super::information::limited;
use super::{ColumnSpec, INFORMATION, INT, NAME, Row, ViewContext, ViewSpec, narrow, row, text};
use crate::catalog::schema::SchemaTable;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: INFORMATION,
        name: "TABLE_CONSTRAINTS",
        is_of_server: false,
        columns: &[CONSTRAINT, KIND],
        rows: table_constraints,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "KEY_COLUMN_USAGE",
        is_of_server: false,
        columns: &[CONSTRAINT, KEY_COLUMN],
        rows: key_columns,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "REFERENTIAL_CONSTRAINTS",
        is_of_server: false,
        columns: &[CONSTRAINT, REFERENCE],
        rows: references,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "CHECK_CONSTRAINTS",
        is_of_server: false,
        columns: &[CONSTRAINT, CHECK],
        rows: checks,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "CONSTRAINT_COLUMN_USAGE",
        is_of_server: false,
        columns: &[USED_COLUMN, CONSTRAINT],
        rows: used_columns,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "CONSTRAINT_TABLE_USAGE",
        is_of_server: false,
        columns: &[USED_TABLE, CONSTRAINT],
        rows: used_tables,
    },
];

const CONSTRAINT: &[ColumnSpec] = &[
    ("CONSTRAINT_CATALOG", NAME, true),
    ("CONSTRAINT_SCHEMA", NAME, true),
    ("CONSTRAINT_NAME", NAME, false),
];
const KIND: &[ColumnSpec] = &[
    ("TABLE_CATALOG", NAME, true),
    ("TABLE_SCHEMA", NAME, true),
    ("TABLE_NAME", NAME, true),
    ("CONSTRAINT_TYPE", narrow(11), true),
    ("IS_DEFERRABLE", narrow(2), false),
    ("INITIALLY_DEFERRED", narrow(2), false),
];

/// The values of [`CONSTRAINT`], whose schema is its table's, or of a table.
fn place(context: &ViewContext<'_>, table: &SchemaTable, name: &str) -> Row {
    row![&*context.objects.catalog.database, &table.definition.schema, name]
}

fn table_constraints(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for table in context.objects.catalog.schema.sorted_tables() {
        let definition = &table.definition;
        let mut add = |name: &str, kind: &str| {
            let mut row = place(context, table, name);
            row.extend(place(context, table, &definition.name));
            row.extend(row![kind, "NO", "NO"]);
            rows.push(row);
        };
        for key in &definition.keys {
            match key.kind {
                KeyKind::Primary => add(&key.name, "PRIMARY KEY"),
                KeyKind::Unique | KeyKind::Index => add(&key.name, "UNIQUE"),
            }
        }
        definition.checks.iter().for_each(|check| add(&check.name, "CHECK"));
        let foreign_keys = definition.foreign_keys.iter();
        foreign_keys.for_each(|key| add(&key.name, "FOREIGN KEY"));
    }
    Ok(rows)
}

const KEY_COLUMN: &[ColumnSpec] = &[
    ("TABLE_CATALOG", NAME, true),
    ("TABLE_SCHEMA", NAME, true),
    ("TABLE_NAME", NAME, true),
    ("COLUMN_NAME", NAME, true),
    ("ORDINAL_POSITION", INT, false),
];

fn key_columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    let mut add = |table: &Arc<SchemaTable>, name: &str, columns: &mut dyn Iterator<Item = &String>| {
        for (number, column) in (1..).zip(columns) {
            let mut row = place(context, table, name);
            row.extend(place(context, table, &table.definition.name));
            row.extend(row![column, number]);
            rows.push(row);
        }
    };
    for table in context.objects.catalog.schema.sorted_tables() {
        for key in &table.definition.keys {
            add(table, &key.name, &mut key.columns.iter().map(|(name, _)| name));
        }
    }
    for (table, key) in all_foreign_keys(context) {
        add(table, &key.name, &mut key.columns.iter());
    }
    Ok(rows)
}

const REFERENCE: &[ColumnSpec] = &[
    ("UNIQUE_CONSTRAINT_CATALOG", NAME, true),
    ("UNIQUE_CONSTRAINT_SCHEMA", NAME, true),
    ("UNIQUE_CONSTRAINT_NAME", NAME, true),
    ("MATCH_OPTION", narrow(7), true),
    ("UPDATE_RULE", narrow(11), true),
    ("DELETE_RULE", narrow(11), true),
];

fn references(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let row = |(table, key): (&Arc<SchemaTable>, &ForeignKey)| {
        let (schema, name) = &key.referenced_table;
        let referenced = context.objects.catalog.schema.table(schema, name);
        let unique = referenced.and_then(|table| referenced_key(table, key));
        let mut row = place(context, table, &key.name);
        row.extend(row![
            &*context.objects.catalog.database,
            schema,
            unique.and_then(|index| index.name),
            "SIMPLE",
            rule(key.on_update),
            rule(key.on_delete)
        ]);
        row
    };
    Ok(all_foreign_keys(context).into_iter().map(row).collect())
}

fn rule(action: ReferencedAction) -> &'static str {
    match action {
        ReferencedAction::NoAction => "NO ACTION",
        ReferencedAction::Cascade => "CASCADE",
        ReferencedAction::SetNull => "SET NULL",
        ReferencedAction::SetDefault => "SET DEFAULT",
    }
}

const CHECK: &[ColumnSpec] = &[("CHECK_CLAUSE", text(4000), true)];

fn checks(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    let permissions = context.objects.permissions();
    for table in context.objects.catalog.schema.sorted_tables() {
        let shows = permissions.sees_text((&table.definition.schema, &table.definition.name));
        for check in &table.definition.checks {
            let mut row = place(context, table, &check.name);
            row.push(match shows {
                true => limited(&stored_condition(&check.condition)),
                false => super::Cell::Null,
            });
            rows.push(row);
        }
    }
    Ok(rows)
}

const USED_COLUMN: &[ColumnSpec] = &[
    ("TABLE_CATALOG", NAME, true),
    ("TABLE_SCHEMA", NAME, true),
    ("TABLE_NAME", NAME, true),
    ("COLUMN_NAME", NAME, true),
];

/// Keys use their columns, foreign keys their own, and a check those that its text names.
fn used_columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for table in context.objects.catalog.schema.sorted_tables() {
        let definition = &table.definition;
        let mut add = |column: &str, name: &str| {
            let mut row = place(context, table, &definition.name);
            row.extend(row![column]);
            row.extend(place(context, table, name));
            rows.push(row);
        };
        for key in &definition.keys {
            key.columns.iter().for_each(|(column, _)| add(column, &key.name));
        }
        for key in &definition.foreign_keys {
            key.columns.iter().for_each(|column| add(column, &key.name));
        }
        for check in &definition.checks {
            let text = check.condition.to_string();
            let columns = definition.columns.iter().map(|column| column.name.as_str());
            for column in columns.filter(|column| mentions(&text, column)) {
                add(column, &check.name);
            }
        }
    }
    Ok(rows)
}

const USED_TABLE: &[ColumnSpec] = &[
    ("TABLE_CATALOG", NAME, true),
    ("TABLE_SCHEMA", NAME, true),
    ("TABLE_NAME", NAME, true),
];

fn used_tables(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for table in context.objects.catalog.schema.sorted_tables() {
        let definition = &table.definition;
        let keys = definition.keys.iter().map(|key| &key.name);
        let foreign_keys = definition.foreign_keys.iter().map(|key| &key.name);
        let checks = definition.checks.iter().map(|check| &check.name);
        for name in keys.chain(foreign_keys).chain(checks) {
            let mut row = place(context, table, &definition.name);
            row.extend(place(context, table, name));
            rows.push(row);
        }
    }
    Ok(rows)
}
