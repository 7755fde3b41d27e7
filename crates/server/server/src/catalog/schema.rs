//! What is in a database: tables, views, procedures and functions, read from SQLite's schema and the catalog.
//!
//! - `sqlite-schema-decides`: SQLite's schema decides which tables there are and which columns they
//!   have; the catalog adds what SQLite can't hold. A table that was made or changed with SQLite
//!   alone is seen as SQLite has it.
//! - `schema-is-immutable`: a schema is a value that never changes: a session that changes a
//!   database reads it again.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;
use selenite_compiler::catalog::{
    Catalog, Fires, Reference, Relation, Sequence, SqliteName, SystemFunction, Table, UserFunction, View,
};
use selenite_compiler::definition::{
    ColumnDefinition, IndexDefinition, SCHEMA, TableDefinition, TableLocation, bracketed, file_name,
};
use selenite_compiler::program::Program;
use selenite_compiler::statement::Binding;
use selenite_compiler::{NameKey, SqlError, Variables, same_name};
use selenite_runtime::sqlite::tsql_error;
use selenite_tsql::ast::{Expr, ObjectName, StatementKind};
use selenite_tsql::{Options, parse};
use selenite_types::DataType;
use selenite_types::storage::declared_type;

use crate::catalog::catalog_rows::{self, CatalogRow, ObjectKind};
use crate::catalog::extended_properties::{self, ExtendedProperty};
use crate::catalog::principals::Principals;
use crate::catalog::schema_names::SchemaNames;
use crate::catalog::stored_keys::StoredKeys;

pub mod function;
pub mod statistics;
mod trigger;
pub mod user_type;

use function::SchemaFunction;
use statistics::SchemaStatistics;
pub use trigger::SchemaTrigger;

/// A database's objects, or those of a session's temporary tables. They are kept by their names in SQLite.
#[derive(Clone, Default)]
pub struct Schema {
    names: SchemaNames,
    tables: HashMap<NameKey, Arc<SchemaTable>>,
    views: HashMap<NameKey, Arc<SchemaView>>,
    procedures: HashMap<NameKey, Arc<CatalogRow>>,
    sequences: HashMap<NameKey, Arc<SchemaSequence>>,
    synonyms: HashMap<NameKey, Arc<SchemaSynonym>>,
    statistics: Vec<SchemaStatistics>,
    functions: HashMap<NameKey, Arc<SchemaFunction>>,
    triggers: HashMap<NameKey, Arc<SchemaTrigger>>,
    types: user_type::Types,
    principals: Principals,
    properties: Arc<[ExtendedProperty]>,
    keys: Arc<StoredKeys>,
    /// Whether a table has a filtered index.
    has_filtered_index: bool,
}

/// A table.
pub struct SchemaTable {
    /// As it is defined.
    pub definition: TableDefinition,
    /// Its indexes but those of its keys, each with its number.
    pub indexes: Vec<(i32, IndexDefinition)>,
    /// As queries see it.
    pub table: Arc<Table>,
    /// When it was created, and changed last: seconds since 1970-01-01 UTC.
    pub times: (i64, i64),
}

/// A sequence.
pub struct SchemaSequence {
    /// As queries see it.
    pub sequence: Arc<Sequence>,
    /// Its row.
    pub row: CatalogRow,
}

/// A synonym.
pub struct SchemaSynonym {
    /// The object that it stands for.
    pub object: ObjectName,
    /// Its row.
    pub row: CatalogRow,
}

/// A view.
pub struct SchemaView {
    /// As queries see it.
    pub view: Arc<View>,
    /// WITH SCHEMABINDING.
    pub is_schema_bound: bool,
    /// Its row.
    pub row: CatalogRow,
}

impl Schema {
    /// Reads that of a connection's `main` or `temp`; `database` is the name that messages show.
    ///
    /// # Errors
    /// SQLite's error; a catalog that this server did not write.
    pub fn load(connection: &Connection, schema: &str, database: &str) -> Result<Self, SqlError> {
        let mut read = Self::default();
        if schema == "main" {
            read.names = SchemaNames::load(connection)?;
            read.principals = Principals::load(connection)?;
            read.properties = Arc::from(extended_properties::load(connection)?);
            read.keys = Arc::new(StoredKeys::load(connection)?);
        }
        let rows = catalog_rows::load(connection, schema, &read.names)?;
        read.load_types(&rows)?;
        for name in table_names(connection, schema).map_err(|error| tsql_error(&error))? {
            let (in_schema, own) = read.names.of_file_name(&name);
            if own.starts_with('@') {
                // A table variable, or a table of a schema that does not exist.
                continue;
            }
            let is_it = |row: &&CatalogRow| {
                row.kind == ObjectKind::Table && same_name(&row.name, &own) && same_name(&row.schema, &in_schema)
            };
            let row = rows.iter().find(is_it);
            let place = TableLocation {
                database: database.to_owned(),
                sqlite: SqliteName {
                    schema: schema.to_owned(),
                    name: name.clone(),
                },
                object_id: row.map_or_else(|| stray_id(&name), |row| row.object_id),
            };
            let in_sqlite = sqlite_columns(connection, schema, &name).map_err(|error| tsql_error(&error))?;
            let table = SchemaTable::read((in_schema, own), row, (&rows, &read), (in_sqlite, place))?;
            read.tables.insert(NameKey::new(&name), Arc::new(table));
        }
        for row in rows {
            match row.kind {
                ObjectKind::View => {
                    let view = SchemaView::read(row, database, &read)?;
                    read.views.insert(key(&view.row.schema, &view.row.name), Arc::new(view));
                }
                ObjectKind::Procedure => {
                    read.procedures.insert(key(&row.schema, &row.name), Arc::new(row));
                }
                ObjectKind::Sequence => {
                    let sequence = SchemaSequence::read(row)?;
                    let row = &sequence.row;
                    read.sequences.insert(key(&row.schema, &row.name), Arc::new(sequence));
                }
                ObjectKind::Synonym => {
                    let synonym = SchemaSynonym::read(row)?;
                    let row = &synonym.row;
                    read.synonyms.insert(key(&row.schema, &row.name), Arc::new(synonym));
                }
                ObjectKind::Function => {
                    let function = SchemaFunction::read(row, database, &read)?;
                    let (schema, name) = (&function.row.schema, &function.row.name);
                    read.functions.insert(key(schema, name), Arc::new(function));
                }
                ObjectKind::Trigger => {
                    let trigger = SchemaTrigger::read(row)?;
                    let row = &trigger.row;
                    read.triggers.insert(key(&row.schema, &row.name), Arc::new(trigger));
                }
                ObjectKind::Statistics => read.statistics.push(SchemaStatistics::read(row)?),
                ObjectKind::Table | ObjectKind::Index | ObjectKind::Type => {}
            }
        }
        let mut indexes = read.tables.values().flat_map(|table| &table.indexes);
        read.has_filtered_index = indexes.any(|(_, index)| index.filter.is_some());
        read.set_fires();
        read.refer();
        Ok(read)
    }

    /// Whether a table has a filtered index.
    pub fn has_filtered_index(&self) -> bool {
        self.has_filtered_index
    }

    /// Sets in each table and view which changes fire triggers.
    fn set_fires(&mut self) {
        for trigger in self.triggers.values().filter(|trigger| !trigger.state.is_disabled) {
            let is_it = |id: i32| Some(id) == trigger.row.parent;
            if let Some(found) = self.tables.values_mut().find(|table| is_it(table.table.object_id)) {
                let mut table = (*found.table).clone();
                trigger.add_to(&mut table.fires);
                *found = Arc::new(SchemaTable {
                    definition: found.definition.clone(),
                    indexes: found.indexes.clone(),
                    table: Arc::new(table),
                    times: found.times,
                });
            } else if let Some(found) = self.views.values_mut().find(|view| is_it(view.row.object_id)) {
                let mut view = (*found.view).clone();
                trigger.add_to(&mut view.fires);
                *found = Arc::new(SchemaView {
                    view: Arc::new(view),
                    is_schema_bound: found.is_schema_bound,
                    row: found.row.clone(),
                });
            }
        }
    }

    /// Sets in each table which other tables refer to it.
    fn refer(&mut self) {
        let all: Vec<Reference> = self
            .tables
            .values()
            .flat_map(|table| references(&table.definition))
            .collect();
        let enforced: Arc<[Reference]> = all
            .iter()
            .filter(|reference| reference.key.is_enabled)
            .cloned()
            .collect();
        for reference in &all {
            let (schema, name) = &reference.key.referenced_table;
            let Some(referenced) = self.tables.get_mut(&key(schema, name)) else {
                continue;
            };
            let mut table = (*referenced.table).clone();
            let (schema, name) = &reference.table;
            table
                .referenced_by
                .push((format!("{schema}.{name}"), reference.key.clone()));
            table.references = enforced.clone();
            *referenced = Arc::new(SchemaTable {
                definition: referenced.definition.clone(),
                indexes: referenced.indexes.clone(),
                table: Arc::new(table),
                times: referenced.times,
            });
        }
    }

    /// Those of its objects of whose kind, schema and name `is_seen` is true.
    #[must_use]
    pub fn only(&self, is_seen: impl Fn(selenite_compiler::ObjectKind, &str, &str) -> bool) -> Self {
        use selenite_compiler::ObjectKind as Kind;
        let is_row_seen = |kind, row: &CatalogRow| is_seen(kind, &row.schema, &row.name);
        let mut seen = self.clone();
        seen.tables
            .retain(|_, table| is_seen(Kind::UserTable, &table.definition.schema, &table.definition.name));
        seen.views.retain(|_, view| is_row_seen(Kind::View, &view.row));
        seen.procedures.retain(|_, row| is_row_seen(Kind::Procedure, row));
        seen.sequences
            .retain(|_, found| is_row_seen(Kind::Sequence, &found.row));
        seen.triggers.retain(|_, found| is_row_seen(Kind::Trigger, &found.row));
        seen.synonyms.retain(|_, found| is_row_seen(Kind::Synonym, &found.row));
        seen.functions
            .retain(|_, function| is_row_seen(function.kind, &function.row));
        seen
    }

    /// All of it, and a session's temporary tables and procedures.
    #[must_use]
    pub fn with_temporary(&self, temporary: &Self) -> Self {
        let mut both = self.clone();
        both.tables.extend(temporary.tables.clone());
        both.procedures.extend(temporary.procedures.clone());
        both
    }

    /// The extended properties of the database.
    pub fn properties(&self) -> &[ExtendedProperty] {
        &self.properties
    }

    /// The keys of the database that encrypt values.
    pub fn keys(&self) -> &StoredKeys {
        &self.keys
    }

    /// The users of the database.
    pub fn principals(&self) -> &Principals {
        &self.principals
    }

    /// The schemas of the database.
    pub fn names(&self) -> &SchemaNames {
        &self.names
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.views.is_empty() && self.procedures.is_empty() && self.functions.is_empty()
    }

    /// A table, by its schema and name; temporary ones are in `dbo`.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Arc<SchemaTable>> {
        self.tables.get(&key(schema, name))
    }

    /// A view, by its schema and name.
    pub fn view(&self, schema: &str, name: &str) -> Option<&Arc<SchemaView>> {
        self.views.get(&key(schema, name))
    }

    /// A procedure, by its schema and name; temporary ones are in `dbo`.
    pub fn procedure(&self, schema: &str, name: &str) -> Option<&Arc<CatalogRow>> {
        self.procedures.get(&key(schema, name))
    }

    /// A sequence, by its schema and name.
    pub fn sequence(&self, schema: &str, name: &str) -> Option<&Arc<SchemaSequence>> {
        self.sequences.get(&key(schema, name))
    }

    /// A sequence, by its number.
    pub fn sequence_of_id(&self, object_id: i32) -> Option<&Arc<Sequence>> {
        let mut sequences = self.sequences.values();
        let found = sequences.find(|found| found.row.object_id == object_id)?;
        Some(&found.sequence)
    }

    /// A synonym, by its schema and name.
    pub fn synonym(&self, schema: &str, name: &str) -> Option<&Arc<SchemaSynonym>> {
        self.synonyms.get(&key(schema, name))
    }

    /// A function, by its schema and name.
    pub fn function(&self, schema: &str, name: &str) -> Option<&Arc<SchemaFunction>> {
        self.functions.get(&key(schema, name))
    }

    /// All functions, in no order.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<SchemaFunction>> {
        self.functions.values()
    }

    /// A temporary table.
    pub fn temporary_table(&self, name: &str) -> Option<&Arc<SchemaTable>> {
        self.table(SCHEMA, name)
    }

    /// All tables, in no order.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<SchemaTable>> {
        self.tables.values()
    }

    /// All views, in no order.
    pub fn views(&self) -> impl Iterator<Item = &Arc<SchemaView>> {
        self.views.values()
    }

    /// All procedures, in no order.
    pub fn procedures(&self) -> impl Iterator<Item = &Arc<CatalogRow>> {
        self.procedures.values()
    }

    /// A trigger, by its schema and name.
    pub fn trigger(&self, schema: &str, name: &str) -> Option<&Arc<SchemaTrigger>> {
        self.triggers.get(&key(schema, name))
    }

    /// The triggers of a table, by its number, in no order.
    pub fn triggers_of(&self, table_id: i32) -> impl Iterator<Item = &Arc<SchemaTrigger>> {
        let triggers = self.triggers.values();
        triggers.filter(move |trigger| trigger.row.parent == Some(table_id))
    }

    /// All triggers, in no order.
    pub fn triggers(&self) -> impl Iterator<Item = &Arc<SchemaTrigger>> {
        self.triggers.values()
    }

    /// Whether there are triggers.
    pub fn has_triggers(&self) -> bool {
        !self.triggers.is_empty()
    }

    /// All sequences, in no order.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<SchemaSequence>> {
        self.sequences.values()
    }

    /// All synonyms, in no order.
    pub fn synonyms(&self) -> impl Iterator<Item = &Arc<SchemaSynonym>> {
        self.synonyms.values()
    }

    /// Whether an object or a constraint of a schema has this name.
    pub fn has_object(&self, schema: &str, name: &str) -> bool {
        let is_constraint = |table: &&Arc<SchemaTable>| {
            same_name(&table.definition.schema, schema)
                && table.definition.constraint_names().any(|known| same_name(known, name))
        };
        self.table(schema, name).is_some()
            || self.view(schema, name).is_some()
            || self.procedure(schema, name).is_some()
            || self.sequence(schema, name).is_some()
            || self.synonym(schema, name).is_some()
            || self.function(schema, name).is_some()
            || self.trigger(schema, name).is_some()
            || self.tables.values().any(|table| is_constraint(&table))
    }
}

impl SchemaTable {
    fn read(
        (schema, name): (String, String),
        row: Option<&CatalogRow>,
        (rows, known): (&[CatalogRow], &Schema),
        (in_sqlite, place): (Vec<ColumnDefinition>, TableLocation),
    ) -> Result<Self, SqlError> {
        let written = row.map(|row| {
            let tree = known.parsed_in(SCHEMA, &row.definition)?;
            TableDefinition::of_tree(&tree)
        });
        let definition = match written.transpose()? {
            Some(written) if is_same_shape(&written, &in_sqlite) => TableDefinition { schema, ..written },
            Some(_) | None => TableDefinition {
                schema,
                name,
                columns: in_sqlite,
                keys: Vec::new(),
                checks: Vec::new(),
                foreign_keys: Vec::new(),
                indexes: Vec::new(),
            },
        };
        let own = |index: &&CatalogRow| index.kind == ObjectKind::Index && index.parent == row.map(|row| row.object_id);
        let mut indexes = Vec::new();
        for index in rows.iter().filter(own) {
            let tree = parsed(&index.definition)?;
            indexes.push((index.object_id, IndexDefinition::of_tree(&tree, &definition)?));
        }
        let unique: Vec<IndexDefinition> = indexes.iter().map(|(_, index)| index.clone()).collect();
        let plain = definition.clone();
        let table = definition.table(&place, &unique, |value| computed_type(value, &plain, &place))?;
        Ok(Self {
            definition,
            indexes,
            table: Arc::new(table),
            times: row.map_or((0, 0), |row| (row.created, row.modified)),
        })
    }
}

impl SchemaSequence {
    fn read(row: CatalogRow) -> Result<Self, SqlError> {
        let tree = parsed(&row.definition)?;
        let sequence = Sequence::of_tree(&tree, row.object_id, (&row.schema, &row.name))?;
        Ok(Self {
            sequence: Arc::new(sequence),
            row,
        })
    }
}

impl SchemaSynonym {
    fn read(row: CatalogRow) -> Result<Self, SqlError> {
        let tree = parsed(&row.definition)?;
        let Some(StatementKind::Synonym(create)) = tree.statements.into_iter().next().map(|one| one.kind) else {
            return Err(SqlError::internal("a synonym's definition"));
        };
        Ok(Self {
            object: create.object,
            row,
        })
    }
}

impl SchemaView {
    fn read(row: CatalogRow, database: &str, known: &Schema) -> Result<Self, SqlError> {
        let tree = known.parsed_in(&row.schema, &row.definition)?;
        let Some(StatementKind::View(view)) = tree.statements.into_iter().next().map(|one| one.kind) else {
            return Err(SqlError::internal("a view's definition"));
        };
        let is_schema_bound = view.options.iter().any(|option| option.is_word("SCHEMABINDING"));
        let view = View {
            database: database.to_owned(),
            schema: row.schema.clone(),
            name: row.name.clone(),
            columns: view.columns,
            select: Arc::new(view.select),
            check_option: view.check_option,
            object_id: row.object_id,
            fires: Fires::default(),
        };
        Ok(Self {
            view: Arc::new(view),
            is_schema_bound,
            row,
        })
    }
}

/// The key of an object: by its name in SQLite, which no other one has. Trailing blanks of both names do not count.
fn key(schema: &str, name: &str) -> NameKey {
    NameKey::new(&file_name(schema.trim_end_matches(' '), name))
}

/// Whether a name is that of a global temporary object, which is tempdb's and which all sessions see.
pub fn is_global(name: &str) -> bool {
    name.starts_with("##")
}

/// Whether a name is that of a temporary object of one session.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('#') && !is_global(name)
}

/// The names of a procedure's parameters, in their order.
///
/// # Errors
/// A text that this server did not write.
pub fn parameter_names(row: &CatalogRow) -> Result<Vec<String>, SqlError> {
    let first = parsed(&row.definition)?.statements.into_iter().next();
    let Some(StatementKind::Procedure(procedure)) = first.map(|statement| statement.kind) else {
        return Ok(Vec::new());
    };
    let program = Program::of_procedure(&row.definition, &procedure, &row.name, row.object_id);
    let parameters = |program: Program| {
        let parameters = program.parameters().iter();
        parameters.map(|parameter| parameter.name.to_string()).collect()
    };
    Ok(program.map(parameters).unwrap_or_default())
}

/// A text of the catalog.
pub fn parsed(text: &str) -> Result<selenite_tsql::ast::Tree, SqlError> {
    parse(text, Options::default()).map_err(|error| SqlError::internal(&format!("the catalog: {error}")))
}

/// The type of a computed column: that of its expression over the table's other columns.
///
/// # Errors
/// What is wrong with it.
pub fn computed_type(value: &Expr, definition: &TableDefinition, place: &TableLocation) -> Result<DataType, SqlError> {
    let mut plain = definition.clone();
    plain.columns.retain(|column| column.computed.is_none());
    let none = |_: &Expr| Err(SqlError::internal("a computed column"));
    let table = plain.table(place, &[], none)?;
    let tree = parsed(&format!("SELECT {value} FROM {}", bracketed(&table.name)))?;
    let catalog = OneTable(Arc::new(table));
    let variables = Variables::default();
    let binding = Binding {
        catalog: &catalog,
        variables: &variables,
    };
    let Some(statement) = tree.statements.first() else {
        return Err(SqlError::internal("a computed column"));
    };
    let bound = binding.statement(statement)?;
    let column = bound.columns().first().map(|column| column.data_type);
    column.ok_or_else(|| SqlError::internal("a computed column"))
}

/// A table's foreign keys.
fn references(table: &TableDefinition) -> impl Iterator<Item = Reference> + '_ {
    let place = (table.schema.clone(), table.name.clone());
    table.foreign_keys.iter().map(move |key| Reference {
        table: place.clone(),
        key: key.clone(),
    })
}

/// Whether SQLite's table has the columns that the definition has, in its order.
fn is_same_shape(written: &TableDefinition, in_sqlite: &[ColumnDefinition]) -> bool {
    let stored = written.columns.iter().filter(|column| column.computed.is_none());
    stored.clone().count() == in_sqlite.len()
        && stored
            .zip(in_sqlite)
            .all(|(written, found)| same_name(&written.name, &found.name))
}

fn table_names(connection: &Connection, schema: &str) -> rusqlite::Result<Vec<String>> {
    let master = if schema == "temp" {
        "sqlite_temp_schema"
    } else {
        "sqlite_schema"
    };
    let mut statement = connection.prepare(&format!(
        "SELECT name FROM {master} WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND name NOT LIKE 'selenite\\_%' ESCAPE '\\' ORDER BY rowid"
    ))?;
    let rows = statement.query_map([], |row| row.get(0))?;
    rows.collect()
}

/// The columns of a table as SQLite has them. What is declared as no type of T-SQL's is what SQLite's affinity makes
/// of it.
fn sqlite_columns(connection: &Connection, schema: &str, table: &str) -> rusqlite::Result<Vec<ColumnDefinition>> {
    let mut statement =
        connection.prepare("SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1, ?2) ORDER BY cid")?;
    let rows = statement.query_map([table, schema], |row| {
        let declared: String = row.get(1)?;
        let is_key = row.get::<_, i64>(3)? > 0;
        Ok(ColumnDefinition {
            name: row.get(0)?,
            data_type: Some(type_of(&declared)),
            user_type: None,
            nullable: row.get::<_, i64>(2)? == 0 && !is_key,
            collation: selenite_types::Collation::DEFAULT,
            identity: None,
            default: None,
            computed: None,
        })
    })?;
    rows.collect()
}

/// INTEGER is SQLite's own word, of 64 bits, though T-SQL has it for int; else a type of T-SQL's is what it says.
fn type_of(declared: &str) -> DataType {
    if declared.eq_ignore_ascii_case("INTEGER") {
        return DataType::BigInt;
    }
    // SQLite's applications have dates and times in what they call timestamp.
    let known = declared_type(declared)
        .ok()
        .filter(|known| *known != DataType::RowVersion);
    known.unwrap_or_else(|| by_affinity(declared))
}

/// As sqlite.org/datatype3.html, 3.1, has it.
fn by_affinity(declared: &str) -> DataType {
    use selenite_types::Width;
    let declared = declared.to_ascii_uppercase();
    let has = |word: &str| declared.contains(word);
    if has("INT") {
        DataType::BigInt
    } else if has("CHAR") || has("CLOB") || has("TEXT") {
        DataType::NVarChar(Width::Max)
    } else if has("BLOB") || declared.is_empty() {
        DataType::VarBinary(Width::Max)
    } else {
        DataType::Float
    }
}

/// The number of a table that is not in the catalog: derived from its name, so that it stays the same.
fn stray_id(name: &str) -> i32 {
    let mut hash = 0x811c_9dc5_u32;
    for byte in name.to_lowercase().bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    i32::try_from(1_500_000_000 + u64::from(hash % 600_000_000)).unwrap_or(i32::MAX)
}

/// A catalog of one table.
pub struct OneTable(pub Arc<Table>);

impl Catalog for OneTable {
    fn sequence(&self, _name: &ObjectName) -> Result<Option<Arc<Sequence>>, SqlError> {
        Err(SqlError::next_value_not_here())
    }

    fn relation(&self, name: &ObjectName) -> Result<Option<Relation>, SqlError> {
        let is_it = same_name(&name.name.text, &self.0.name);
        Ok(is_it.then(|| Relation::Table(self.0.clone())))
    }

    fn function(&self, _name: &ObjectName) -> Result<Option<Arc<SystemFunction>>, SqlError> {
        Ok(None)
    }

    fn user_function(&self, _name: &ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        Err(SqlError::unsupported("A function of a user in a computed column"))
    }

    fn table_variable(&self, _name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        Ok(None)
    }
}
