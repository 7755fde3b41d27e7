//! The objects of a database as sys.objects has them: tables, views, procedures, functions and constraints; and indexes as
//! sys.indexes has them.
//!
//! - `constraint-number-is-derived`: a constraint has no row of its own in the catalog. Its number
//!   is derived from its table's number and its name, so that it stays the same as long as they do.

use std::sync::Arc;

use selenite_compiler::catalog::KeyKind;
use selenite_compiler::definition::IndexDefinition;
use selenite_compiler::{ObjectKind, same_name};
use selenite_tsql::stored_filter;

use crate::catalog::schema::{Schema, SchemaTable};

/// An object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedObject {
    /// Its number.
    pub id: i32,
    /// Its schema; of a constraint, its table's.
    pub schema: String,
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: ObjectKind,
    /// Of a constraint, its table's number; otherwise 0.
    pub parent: i32,
    /// When it was created, and changed last: seconds since 1970-01-01 UTC.
    pub times: (i64, i64),
}

/// An index, a key, or the rows of a table without an order.
#[derive(Clone, PartialEq, Debug)]
pub struct ListedIndex {
    /// 0 for rows without order, 1 for a clustered index, from 2 up for others.
    pub number: i32,
    /// Its name; `None` for rows without order.
    pub name: Option<String>,
    /// The kind of the key whose index it is.
    pub kind: KeyKind,
    /// Whether it is unique.
    pub is_unique: bool,
    /// Its columns, and whether each descends.
    pub columns: Vec<(String, bool)>,
    /// Its included columns.
    pub include: Vec<String>,
    /// The condition of a filtered index.
    pub filter: Option<String>,
    /// IGNORE_DUP_KEY.
    pub ignores_duplicates: bool,
    /// Whether it is disabled.
    pub is_disabled: bool,
}

impl Schema {
    /// All objects, by rising number.
    pub fn objects(&self) -> Vec<ListedObject> {
        let mut listed: Vec<ListedObject> = self.tables().flat_map(of_table).collect();
        let of_row = |row: &crate::catalog::catalog_rows::CatalogRow, kind| ListedObject {
            id: row.object_id,
            schema: row.schema.clone(),
            name: row.name.clone(),
            kind,
            parent: 0,
            times: (row.created, row.modified),
        };
        listed.extend(self.views().map(|view| of_row(&view.row, ObjectKind::View)));
        listed.extend(self.procedures().map(|row| of_row(row, ObjectKind::Procedure)));
        listed.extend(self.sequences().map(|found| of_row(&found.row, ObjectKind::Sequence)));
        listed.extend(self.triggers().map(|found| ListedObject {
            parent: found.row.parent.unwrap_or(0),
            ..of_row(&found.row, ObjectKind::Trigger)
        }));
        listed.extend(self.synonyms().map(|found| of_row(&found.row, ObjectKind::Synonym)));
        listed.extend(self.functions().map(|function| of_row(&function.row, function.kind)));
        listed.sort_by_key(|object| object.id);
        listed
    }

    /// The name of an object of a schema; `None` if it has none.
    pub fn object_in(&self, schema: &str) -> Option<String> {
        let mut objects = self.objects().into_iter();
        let found = objects.find(|object| same_name(&object.schema, schema));
        found.map(|object| object.name)
    }

    /// The schema and name of the table, view, procedure, function, trigger or sequence of a number.
    pub fn name_of_id(&self, id: i32) -> Option<(String, String)> {
        let table = self.tables().find(|table| table.table.object_id == id);
        let table = table.map(|table| (&table.definition.schema, &table.definition.name));
        let view = || self.views().map(|view| &view.row).find(|row| row.object_id == id);
        let procedure = || self.procedures().map(|row| &**row).find(|row| row.object_id == id);
        let function = || {
            self.functions()
                .map(|function| &function.row)
                .find(|row| row.object_id == id)
        };
        let trigger = || {
            self.triggers()
                .map(|trigger| &*trigger.row)
                .find(|row| row.object_id == id)
        };
        let sequence = || {
            self.sequences()
                .map(|sequence| &sequence.row)
                .find(|row| row.object_id == id)
        };
        let callable = || view().or_else(procedure).or_else(function);
        let module = || callable().or_else(trigger).or_else(sequence);
        let module = || module().map(|row| (&row.schema, &row.name));
        let (schema, name) = table.or_else(module)?;
        Some((schema.clone(), name.clone()))
    }

    /// All tables, by rising number.
    pub fn sorted_tables(&self) -> Vec<&Arc<SchemaTable>> {
        let mut tables: Vec<&Arc<SchemaTable>> = self.tables().collect();
        tables.sort_by_key(|table| table.table.object_id);
        tables
    }
}

/// A table and its constraints.
fn of_table(table: &Arc<SchemaTable>) -> Vec<ListedObject> {
    let parent = table.table.object_id;
    let constraint = |name: &str, kind| ListedObject {
        id: constraint_id(parent, name),
        schema: table.definition.schema.clone(),
        name: name.to_owned(),
        kind,
        parent,
        times: table.times,
    };
    let definition = &table.definition;
    let mut listed = vec![ListedObject {
        id: parent,
        schema: definition.schema.clone(),
        name: definition.name.clone(),
        kind: ObjectKind::UserTable,
        parent: 0,
        times: table.times,
    }];
    listed.extend(
        definition
            .keys
            .iter()
            .map(|key| constraint(&key.name, key_kind(key.kind))),
    );
    listed.extend(
        definition
            .checks
            .iter()
            .map(|check| constraint(&check.name, ObjectKind::Check)),
    );
    listed.extend(
        definition
            .foreign_keys
            .iter()
            .map(|key| constraint(&key.name, ObjectKind::ForeignKey)),
    );
    let defaults = definition.columns.iter().filter_map(|column| column.default.as_ref());
    listed.extend(defaults.map(|(name, _)| constraint(name, ObjectKind::Default)));
    listed
}

fn key_kind(kind: KeyKind) -> ObjectKind {
    match kind {
        KeyKind::Primary => ObjectKind::PrimaryKey,
        KeyKind::Unique | KeyKind::Index => ObjectKind::Unique,
    }
}

impl SchemaTable {
    /// Its indexes as sys.indexes has them, by rising number.
    pub fn listed_indexes(&self) -> Vec<ListedIndex> {
        let keys = self.definition.keys.iter().map(|key| {
            let listed = ListedIndex {
                number: 0,
                name: Some(key.name.clone()),
                kind: key.kind,
                is_unique: true,
                columns: key.columns.clone(),
                include: Vec::new(),
                filter: None,
                ignores_duplicates: key.ignores_duplicates,
                is_disabled: false,
            };
            (key.is_clustered, listed)
        });
        let indexes = self.indexes.iter().map(|(_, index): &(i32, IndexDefinition)| {
            let listed = ListedIndex {
                number: 0,
                name: Some(index.name.clone()),
                kind: KeyKind::Index,
                is_unique: index.is_unique,
                columns: index.columns.clone(),
                include: index.include.clone(),
                filter: index.filter.as_ref().map(|filter| stored_filter(filter)),
                ignores_duplicates: index.ignores_duplicates,
                is_disabled: index.is_disabled,
            };
            (index.is_clustered, listed)
        });
        let all: Vec<(bool, ListedIndex)> = keys.chain(indexes).collect();
        let mut listed = Vec::with_capacity(all.len() + 1);
        match all.iter().find(|(is_clustered, _)| *is_clustered) {
            Some((_, clustered)) => listed.push(ListedIndex {
                number: 1,
                ..clustered.clone()
            }),
            None => listed.push(ListedIndex {
                number: 0,
                name: None,
                kind: KeyKind::Index,
                is_unique: false,
                columns: Vec::new(),
                include: Vec::new(),
                filter: None,
                ignores_duplicates: false,
                is_disabled: false,
            }),
        }
        let others = all.into_iter().filter(|(is_clustered, _)| !is_clustered);
        listed.extend(
            (2..)
                .zip(others)
                .map(|(number, (_, index))| ListedIndex { number, ..index }),
        );
        listed
    }
}

/// `constraint-number-is-derived`: the number of a constraint.
pub fn constraint_id(table: i32, name: &str) -> i32 {
    let mut hash = 0x811c_9dc5_u32;
    for byte in table.to_be_bytes().into_iter().chain(name.to_lowercase().bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    i32::try_from(FIRST_CONSTRAINT + hash % CONSTRAINTS).unwrap_or(i32::MAX)
}

/// After all numbers that the catalog gives, and before those of tables that are not in it.
const FIRST_CONSTRAINT: u32 = 1_073_741_824;
const CONSTRAINTS: u32 = 400_000_000;
