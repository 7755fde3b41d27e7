//! A column as the views show it: of a table or view of the database in use, or of a view of the server's own.

use std::sync::Arc;

use selenite_compiler::catalog::{Column, Table};
use selenite_compiler::definition::{OLD_TYPES, SCHEMA as DBO, SYS, TableDefinition};
use selenite_compiler::{Collation, SqlError};
use selenite_tsql::ast::{TableElement, UserType};
use selenite_tsql::stored_expression;
use selenite_types::{DataType, Family};

use super::{Cell, Row, ViewContext, listed, row};
use crate::catalog::object_list::constraint_id;
use crate::catalog::schema::function::described_table;
use crate::catalog::schema::{Schema, SchemaTable};

/// What a column is to the views.
pub(crate) struct ViewColumn {
    pub object_id: i32,
    pub schema: String,
    pub object: String,
    pub number: i32,
    pub name: String,
    pub data_type: DataType,
    /// The number and the schema of its type, and the type's name, if that is one of a user.
    pub user_type: Option<(i32, String, String)>,
    /// text, ntext or image, which it was declared as.
    pub old_type: Option<&'static str>,
    pub nullable: bool,
    pub collation: Collation,
    pub is_identity: bool,
    pub is_computed: bool,
    /// The number of its default, and the value in parentheses.
    pub default: Option<(i32, String)>,
}

impl ViewColumn {
    /// A column of a table.
    pub fn of_table(schema: &Schema, table: &Arc<SchemaTable>, number: i32, column: &Column) -> Self {
        let object_id = table.table.object_id;
        let object = (
            object_id,
            table.definition.schema.as_str(),
            table.definition.name.as_str(),
        );
        let default = column.default.as_ref();
        Self {
            default: default.map(|default| {
                (
                    constraint_id(object_id, &default.name),
                    stored_expression(&default.value),
                )
            }),
            ..Self::of_definition(schema, object, &table.definition, (number, column))
        }
    }

    /// A column of a table or table type, by its number, schema and name; without its default.
    fn of_definition(
        known: &Schema,
        (object_id, schema, object): (i32, &str, &str),
        definition: &TableDefinition,
        (number, column): (i32, &Column),
    ) -> Self {
        let written = definition.column(&column.name);
        let user_type = written.and_then(|written| written.user_type.as_ref());
        let found = user_type.and_then(|(in_schema, name)| known.user_type(in_schema, name));
        Self {
            object_id,
            schema: schema.to_owned(),
            object: object.to_owned(),
            number,
            name: column.name.clone(),
            data_type: column.data_type,
            user_type: found.map(|found| (found.id(), found.row.schema.clone(), found.row.name.clone())),
            old_type: user_type.and_then(|(schema, name)| {
                let mut old = OLD_TYPES.into_iter();
                old.find(|old| schema == SYS && name == old)
            }),
            nullable: column.nullable,
            collation: column.collation,
            is_identity: column.identity.is_some(),
            is_computed: column.computed.is_some(),
            default: None,
        }
    }

    /// Its row in sys.columns, as far as every view of columns has it.
    pub fn row(&self) -> Row {
        let described = self.data_type.describe();
        let (system_type, length) = match self.old_type {
            Some(name) => (old_type_id(name), OLD_LENGTH),
            None => (i32::from(described.system_type_id), described.max_length),
        };
        let user_type = match (&self.user_type, self.old_type) {
            (Some((id, ..)), _) => *id,
            (None, Some(_)) => system_type,
            (None, None) => i32::try_from(described.user_type_id).unwrap_or(i32::MAX),
        };
        let is_binary = matches!(self.data_type, DataType::Binary(_) | DataType::VarBinary(_));
        let mut row = row![
            self.object_id,
            &self.name,
            self.number,
            system_type,
            user_type,
            length,
            described.precision,
            described.scale,
            self.collation_name(),
            self.nullable,
            self.is_text() || is_binary,
            false,
            self.is_identity,
            self.is_computed,
        ];
        row.extend([false; 6].map(Cell::from));
        let default_id = self.default.as_ref().map_or(0, |(id, _)| *id);
        row.extend(row![0, default_id, 0, false, false]);
        row
    }

    /// Whether it has a collation.
    pub fn is_text(&self) -> bool {
        matches!(self.data_type.family(), Family::Text)
    }

    /// The name of its collation; none if it is no text.
    pub fn collation_name(&self) -> Option<&'static str> {
        self.is_text().then(|| self.collation.name())
    }
}

/// The number of a type of old in sys.types.
fn old_type_id(name: &str) -> i32 {
    match name {
        "text" => 35,
        "ntext" => 99,
        _ => 34,
    }
}

/// The size of a pointer to a value, which is what a row of SQL Server's holds.
const OLD_LENGTH: i16 = 16;

/// All columns of tables and views of the database in use.
pub(crate) fn users(context: &ViewContext<'_>) -> Vec<ViewColumn> {
    let catalog = &context.objects.catalog;
    let mut tolds = Vec::new();
    for table in catalog.schema.sorted_tables() {
        let columns = (1..).zip(&table.table.columns);
        tolds.extend(columns.map(|(number, column)| ViewColumn::of_table(&catalog.schema, table, number, column)));
    }
    let mut views: Vec<_> = catalog.schema.views().collect();
    views.sort_by_key(|view| view.row.object_id);
    for view in views {
        for (number, column) in (1..).zip(catalog.view_columns(view)) {
            tolds.push(ViewColumn {
                object_id: view.row.object_id,
                schema: view.row.schema.clone(),
                object: view.row.name.clone(),
                number,
                name: column.name,
                data_type: column.data_type,
                user_type: None,
                old_type: None,
                nullable: column.nullable,
                collation: column.collation,
                is_identity: column.identity.is_some(),
                is_computed: false,
                default: None,
            });
        }
    }
    tolds
}

/// All columns of the table types.
pub(crate) fn of_types(context: &ViewContext<'_>) -> Vec<ViewColumn> {
    let schema = &context.objects.catalog.schema;
    let mut listed = Vec::new();
    for one in context.objects.seen_types() {
        let UserType::Table(table_type) = &one.user_type else {
            continue;
        };
        let Ok((table, definition)) = described(&one.row.name, &table_type.elements) else {
            continue;
        };
        let object = (one.row.object_id, "sys", one.row.name.as_str());
        let columns = (1..).zip(&table.columns);
        listed.extend(columns.map(|column| ViewColumn::of_definition(schema, object, &definition, column)));
    }
    listed
}

fn described(name: &str, elements: &[TableElement]) -> Result<(Table, TableDefinition), SqlError> {
    let definition = TableDefinition::of_elements((DBO, name), elements, 0)?;
    Ok((described_table(name, elements)?, definition))
}

/// All columns of the functions that return rows.
pub(crate) fn of_functions(context: &ViewContext<'_>) -> Vec<ViewColumn> {
    let catalog = &context.objects.catalog;
    let mut functions: Vec<_> = catalog.schema.functions().collect();
    functions.sort_by_key(|function| function.row.object_id);
    let mut listed = Vec::new();
    for function in functions {
        for (number, column) in (1..).zip(catalog.function_columns(function)) {
            listed.push(ViewColumn {
                object_id: function.row.object_id,
                schema: function.row.schema.clone(),
                object: function.row.name.clone(),
                number,
                name: column.name,
                data_type: column.data_type,
                user_type: None,
                old_type: None,
                nullable: column.nullable,
                collation: column.collation,
                is_identity: false,
                is_computed: false,
                default: None,
            });
        }
    }
    listed
}

/// All columns of the server's own views.
pub(crate) fn systems() -> Vec<ViewColumn> {
    let mut tolds = Vec::new();
    for view in listed() {
        let columns = view.columns.iter().copied().flatten();
        for (number, (name, data_type, nullable)) in (1..).zip(columns) {
            tolds.push(ViewColumn {
                object_id: view.id,
                schema: view.schema.to_owned(),
                object: view.name.to_owned(),
                number,
                name: (*name).to_owned(),
                data_type: *data_type,
                user_type: None,
                old_type: None,
                nullable: *nullable,
                collation: Collation::default(),
                is_identity: false,
                is_computed: false,
                default: None,
            });
        }
    }
    tolds
}
