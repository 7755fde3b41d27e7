//! CREATE, ALTER and DROP INDEX.

use selenite_compiler::catalog::KeyKind;
use selenite_compiler::definition::{IndexDefinition, TableDefinition, file_name, index_name, null_index_name, quoted};
use selenite_compiler::{Ends, SqlError, same_name, written_object};
use selenite_tsql::ast::{AlterIndex, AlterIndexAction, CreateIndex, DropIndex, Name, ObjectName, Setting};

use super::{DefinitionContext, Written, refusal};
use crate::catalog::catalog_rows::ObjectKind;
use crate::catalog::extended_properties::{self, HolderKind, PropertyHolder};
use crate::catalog::schema::{SchemaTable, is_temporary};

impl DefinitionContext<'_> {
    pub(crate) fn create_index(&self, create: &CreateIndex) -> Result<(), SqlError> {
        let own = create.table.name.text.as_str();
        let Some(table) = self.table(&create.table)? else {
            if self.other_kinds(&create.table).0 {
                return Err(SqlError::unsupported("An index on a view"));
            }
            return Err(refusal::no_object(&written_object(&create.table)));
        };
        let index = IndexDefinition::read(create, &table.definition)?;
        let old = table
            .indexes
            .iter()
            .find(|(_, known)| same_name(&known.name, &index.name));
        match old {
            Some((id, old)) if Setting::is_on(&create.options, "DROP_EXISTING") => self.unmake_index(old, *id)?,
            Some(_) => return Err(SqlError::index_name_taken(&index.name, &schema_name(&table))),
            None if table
                .definition
                .keys
                .iter()
                .any(|key| same_name(&key.name, &index.name)) =>
            {
                return Err(SqlError::index_name_taken(&index.name, &schema_name(&table)));
            }
            None => self.check_statistics_name(&table, &index.name)?,
        }
        if index.is_clustered
            && let Some(other) = clustered(&table).filter(|other| !same_name(other, &index.name))
        {
            return Err(refusal::clustered_twice(own, other));
        }
        let parent = self.row_of(&table)?;
        self.make_index(&index, &table.definition, parent)
    }

    /// The number of a table's row in the catalog, which is written if the table was created with SQLite alone.
    pub(crate) fn row_of(&self, table: &SchemaTable) -> Result<i32, SqlError> {
        let object_id = table.table.object_id;
        if table.times == (0, 0) {
            let written = Written {
                object_id,
                kind: ObjectKind::Table,
                schema: &table.definition.schema,
                name: &table.definition.name,
                parent: None,
                definition: table.definition.to_string(),
            };
            self.store(self.place(&table.definition.name), written)?;
        }
        Ok(object_id)
    }

    /// Creates an index, in SQLite and in the catalog.
    pub(crate) fn make_index(
        &self,
        index: &IndexDefinition,
        table: &TableDefinition,
        parent: i32,
    ) -> Result<(), SqlError> {
        let schema = self.place(&table.name);
        self.make_unique_index(index, table)?;
        let written = Written {
            object_id: self.new_id(schema)?,
            kind: ObjectKind::Index,
            schema: &index.schema,
            name: &index.name,
            parent: Some(parent),
            definition: index.to_string(),
        };
        self.store(schema, written)
    }

    /// Creates an index in SQLite.
    ///
    /// # Errors
    /// 1505.
    pub(crate) fn make_unique_index(&self, index: &IndexDefinition, table: &TableDefinition) -> Result<(), SqlError> {
        let filter = index.sqlite_filter(table)?;
        let place = (index.name.as_str(), index.columns.as_slice(), filter.as_deref());
        self.make_unique(&index.sqlite(table)?, table, place)
    }

    /// Writes the definition of an index that there is.
    fn rewrite_index(&self, id: i32, index: &IndexDefinition, table: &SchemaTable) -> Result<(), SqlError> {
        let written = Written {
            object_id: id,
            kind: ObjectKind::Index,
            schema: &index.schema,
            name: &index.name,
            parent: Some(self.row_of(table)?),
            definition: index.to_string(),
        };
        self.store(self.place(&index.table), written)
    }

    /// DISABLE: SQLite's index goes, and what it enforces.
    fn disable_index(&self, (id, index): (i32, &IndexDefinition), table: &SchemaTable) -> Result<(), SqlError> {
        if index.is_clustered {
            return Err(SqlError::unsupported("ALTER INDEX DISABLE of a clustered index"));
        }
        check_not_referenced(table, index)?;
        for sql in IndexDefinition::sqlite_drop(&table.definition.file_name(), &index.name) {
            self.execute(&sql)?;
        }
        let disabled = IndexDefinition {
            is_disabled: true,
            ..index.clone()
        };
        self.rewrite_index(id, &disabled, table)
    }

    /// REBUILD, which enables a disabled index, and SET.
    fn change_index(
        &self,
        (id, index): (i32, &IndexDefinition),
        table: &SchemaTable,
        (options, is_rebuilt): (&[Setting], bool),
    ) -> Result<(), SqlError> {
        let ignores_duplicates = ignored(options).unwrap_or(index.ignores_duplicates);
        let changed = IndexDefinition {
            ignores_duplicates,
            is_disabled: index.is_disabled && !is_rebuilt,
            ..index.clone()
        };
        changed.check(&table.definition)?;
        if is_rebuilt && index.is_disabled {
            self.make_unique_index(&changed, &table.definition)?;
        } else if is_rebuilt {
            self.reindex(&table.definition, &index.name)?;
        }
        match changed == *index {
            true => Ok(()),
            false => self.rewrite_index(id, &changed, table),
        }
    }

    fn unmake_index(&self, index: &IndexDefinition, object_id: i32) -> Result<(), SqlError> {
        for sql in IndexDefinition::sqlite_drop(&file_name(&index.schema, &index.table), &index.name) {
            self.execute(&sql)?;
        }
        self.forget(self.place(&index.table), object_id)
    }

    pub(crate) fn drop_indexes(&self, if_exists: bool, indexes: &[DropIndex]) -> Result<(), SqlError> {
        for dropped in indexes {
            let (table_name, name) = (&written_object(&dropped.table), dropped.name.text.as_str());
            let table = self.table(&dropped.table)?;
            let index = table
                .as_ref()
                .and_then(|table| table.indexes.iter().find(|(_, index)| same_name(&index.name, name)));
            if let (Some(table), Some((id, index))) = (&table, index) {
                check_not_referenced(table, index)?;
                self.unmake_index(index, *id)?;
                if !is_temporary(&index.table) {
                    let holder = PropertyHolder {
                        kind: HolderKind::Index,
                        id: table.table.object_id,
                        part: index.name.clone(),
                    };
                    extended_properties::move_part(&self.database.connection, &holder, None)?;
                }
                continue;
            }
            let key = table
                .iter()
                .flat_map(|table| &table.definition.keys)
                .find(|key| same_name(&key.name, name));
            if let Some(key) = key {
                let kind = match key.kind {
                    KeyKind::Primary => "PRIMARY KEY",
                    KeyKind::Unique | KeyKind::Index => "UNIQUE KEY",
                };
                return Err(refusal::index_of_constraint(table_name, name, kind));
            }
            if !if_exists {
                return Err(refusal::not_there("index", &format!("{table_name}.{name}")).with_state(7));
            }
        }
        Ok(())
    }

    pub(crate) fn alter_index(&self, alter: &AlterIndex) -> Result<(), SqlError> {
        if let AlterIndexAction::UpdateStatistics(names) = &alter.action {
            return self.check_statistics(&alter.table, names);
        }
        if let (AlterIndexAction::CreateStatistics { columns, .. }, Some(name)) = (&alter.action, &alter.name) {
            return self.create_statistics((alter, &name.text), columns);
        }
        let Some(table) = self.table(&alter.table)? else {
            return Err(refusal::no_object(&written_object(&alter.table)));
        };
        let mut names: Vec<&str> = table.indexes.iter().map(|(_, index)| index.name.as_str()).collect();
        names.extend(table.definition.keys.iter().map(|key| key.name.as_str()));
        if let Some(name) = &alter.name {
            names.retain(|known| same_name(known, &name.text));
            if names.is_empty() {
                return Err(refusal::no_index(&name.text));
            }
        }
        let is_named = |name: &str| names.iter().any(|known| same_name(known, name));
        let indexes = table.indexes.iter().filter(|(_, index)| is_named(&index.name));
        let mut keys = table.definition.keys.iter().filter(|key| is_named(&key.name));
        match &alter.action {
            AlterIndexAction::Rebuild(options) => {
                if ignored(options).is_some() && keys.next().is_some() {
                    return Err(SqlError::unsupported(
                        "IGNORE_DUP_KEY of a constraint's index in ALTER INDEX",
                    ));
                }
                for key in table.definition.keys.iter().filter(|key| is_named(&key.name)) {
                    self.reindex(&table.definition, &key.name)?;
                }
                for (id, index) in indexes {
                    self.change_index((*id, index), &table, (options, true))?;
                }
                Ok(())
            }
            AlterIndexAction::Reorganize(_)
            | AlterIndexAction::UpdateStatistics(_)
            | AlterIndexAction::CreateStatistics { .. } => Ok(()),
            AlterIndexAction::Disable => {
                if keys.next().is_some() {
                    return Err(SqlError::unsupported("ALTER INDEX DISABLE of a constraint's index"));
                }
                for (id, index) in indexes {
                    self.disable_index((*id, index), &table)?;
                }
                Ok(())
            }
            AlterIndexAction::Set(options) => {
                check_settings(options)?;
                if ignored(options).is_some() && keys.next().is_some() {
                    return Err(SqlError::unsupported(
                        "IGNORE_DUP_KEY of a constraint's index in ALTER INDEX",
                    ));
                }
                for (id, index) in indexes {
                    self.change_index((*id, index), &table, (options, false))?;
                }
                Ok(())
            }
        }
    }

    /// UPDATE STATISTICS: SQLite's are not these, but its names have to be those of indexes or statistics.
    fn check_statistics(&self, table: &ObjectName, names: &[Name]) -> Result<(), SqlError> {
        let Some(found) = self.table(table)? else {
            let text = format!("Table '{}' does not exist.", written_object(table));
            // 2706: UPDATE STATISTICS of an unknown table.
            return Err(SqlError::new(2706, Ends::Statement, text)
                .with_severity(11)
                .with_state(6));
        };
        let indexes = found.listed_indexes();
        let own = |name: &Name| {
            let mut own = self.catalog.schema.statistics_of(found.table.object_id);
            own.any(|one| same_name(&one.row.name, &name.text))
        };
        let is_known = |name: &Name| {
            let mut known = indexes.iter().filter_map(|index| index.name.as_deref());
            known.any(|known| same_name(known, &name.text))
        };
        match names.iter().find(|name| !is_known(name) && !own(name)) {
            Some(name) => {
                let text = format!("Could not locate statistics '{}' in the system catalogs.", name.text);
                // 2767: UPDATE STATISTICS of unknown statistics.
                Err(SqlError::new(2767, Ends::Statement, text).with_severity(11))
            }
            None => Ok(()),
        }
    }

    /// A key that is SQLite's rowid, or in its table, has no index of this name.
    fn reindex(&self, table: &TableDefinition, index: &str) -> Result<(), SqlError> {
        let (schema, table) = (self.place(&table.name), &table.file_name());
        let master = if schema == super::TEMP {
            "sqlite_temp_schema"
        } else {
            "sqlite_schema"
        };
        for name in [index_name(table, index), null_index_name(table, index)] {
            let literal = name.replace('\'', "''");
            if self.has_row(&format!(
                "SELECT 1 FROM {master} WHERE type = 'index' AND name = '{literal}'"
            ))? {
                self.execute(&format!("REINDEX {schema}.{}", quoted(&name)))?;
            }
        }
        Ok(())
    }
}

/// IGNORE_DUP_KEY, if it is among the options.
fn ignored(options: &[Setting]) -> Option<bool> {
    let is_given = options.iter().any(|option| option.name.is_word("IGNORE_DUP_KEY"));
    is_given.then(|| Setting::is_on(options, "IGNORE_DUP_KEY"))
}

/// The options of ALTER INDEX SET; those other than IGNORE_DUP_KEY change nothing.
fn check_settings(options: &[Setting]) -> Result<(), SqlError> {
    const KNOWN: [&str; 5] = [
        "ALLOW_PAGE_LOCKS",
        "ALLOW_ROW_LOCKS",
        "IGNORE_DUP_KEY",
        "OPTIMIZE_FOR_SEQUENTIAL_KEY",
        "STATISTICS_NORECOMPUTE",
    ];
    match options
        .iter()
        .find(|option| !KNOWN.iter().any(|name| option.name.is_word(name)))
    {
        Some(option) => Err(SqlError::unsupported(&format!("ALTER INDEX SET {}", option.name.text))),
        None => Ok(()),
    }
}

/// 3723: an index that a foreign key refers to, where no other key has the same columns.
fn check_not_referenced(table: &SchemaTable, index: &IndexDefinition) -> Result<(), SqlError> {
    let is_same = |columns: &[(String, bool)], wanted: &[String]| {
        columns.len() == wanted.len()
            && columns
                .iter()
                .all(|(name, _)| wanted.iter().any(|wanted| same_name(wanted, name)))
    };
    for (_, key) in &table.table.referenced_by {
        let wanted = key.referenced_columns.as_slice();
        let by_others = table.definition.keys.iter().any(|key| is_same(&key.columns, wanted))
            || table.indexes.iter().any(|(_, other)| {
                other.is_unique && !same_name(&other.name, &index.name) && is_same(&other.columns, wanted)
            });
        if index.is_unique && is_same(&index.columns, wanted) && !by_others {
            return Err(refusal::index_of_constraint(&index.table, &index.name, "FOREIGN KEY"));
        }
    }
    Ok(())
}

/// The name of what orders a table.
fn clustered(table: &SchemaTable) -> Option<&str> {
    let key = table
        .definition
        .keys
        .iter()
        .find(|key| key.is_clustered)
        .map(|key| key.name.as_str());
    key.or_else(|| {
        table
            .indexes
            .iter()
            .find(|(_, index)| index.is_clustered)
            .map(|(_, index)| index.name.as_str())
    })
}

fn schema_name(table: &SchemaTable) -> String {
    table.table.schema_name()
}
