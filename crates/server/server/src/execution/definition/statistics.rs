//! CREATE and DROP STATISTICS.

use selenite_compiler::definition::bracketed;
use selenite_compiler::{Ends, SqlError, same_name, written_object};
use selenite_tsql::ast::{AlterIndex, Name, ObjectName};

use super::{DefinitionContext, Written, refusal};
use crate::catalog::catalog_rows::{self, ObjectKind};
use crate::catalog::permission::table_of_statistics;
use crate::catalog::schema::statistics::SchemaStatistics;
use crate::catalog::schema::{SchemaTable, is_temporary};

impl DefinitionContext<'_> {
    pub(crate) fn create_statistics(
        &self,
        (create, name): (&AlterIndex, &str),
        columns: &[Name],
    ) -> Result<(), SqlError> {
        let Some(table) = self.table(&create.table)? else {
            return Err(refusal::no_object(&written_object(&create.table)));
        };
        if is_temporary(&table.definition.name) {
            return Err(SqlError::unsupported("Statistics of a temporary table"));
        }
        catalog_rows::check_name(name)?;
        self.check_statistics_name(&table, name)?;
        if columns.len() > COLUMN_COUNT_MAX {
            let text = format!(
                "CREATE STATISTICS statement failed. The maximum number of columns of statistics is {COLUMN_COUNT_MAX}."
            );
            // 1904: statistics of too many columns.
            return Err(SqlError::new(1904, Ends::Statement, text));
        }
        for (at, column) in columns.iter().enumerate() {
            let own = column.text.as_str();
            if table.definition.column(own).is_none() {
                let text = format!("Column name '{own}' does not exist in the target table or view.");
                return Err(SqlError::new(1911, Ends::Statement, text));
            }
            if columns.iter().take(at).any(|before| same_name(&before.text, own)) {
                let text = format!(
                    "Cannot use duplicate column names in statistics. Column name '{own}' listed more than once."
                );
                return Err(SqlError::new(1909, Ends::Statement, text));
            }
        }
        let parent = self.row_of(&table)?;
        let written = Written {
            object_id: self.new_id("main")?,
            kind: ObjectKind::Statistics,
            schema: &table.definition.schema,
            name,
            parent: Some(parent),
            definition: create.to_string(),
        };
        self.store("main", written)
    }

    /// 1927: a name that other statistics of the table have, or an index.
    pub(crate) fn check_statistics_name(&self, table: &SchemaTable, name: &str) -> Result<(), SqlError> {
        let mut statistics = self.catalog.schema.statistics_of(table.table.object_id);
        let indexes = table.listed_indexes();
        let mut indexes = indexes.iter().filter_map(|index| index.name.as_deref());
        if statistics.any(|one| same_name(&one.row.name, name)) || indexes.any(|known| same_name(known, name)) {
            let text = format!(
                "There are already statistics on table '{}' named '{name}'.",
                table.definition.name
            );
            return Err(SqlError::new(1927, Ends::Statement, text));
        }
        Ok(())
    }

    pub(crate) fn drop_statistics(&self, name: &ObjectName) -> Result<(), SqlError> {
        let own = name.name.text.as_str();
        let written = written_object(name);
        let not_there = || refusal::not_there("statistics", &written);
        let Some(of) = table_of_statistics(name) else {
            // 1934 and others: a name of one part.
            return Err(SqlError::syntax_near(own));
        };
        let table = self.table(&of)?.ok_or_else(not_there)?;
        let mut all = self.catalog.schema.statistics_of(table.table.object_id);
        if let Some(found) = all.find(|one| same_name(&one.row.name, own)) {
            return self.forget("main", found.row.object_id);
        }
        let indexes = table.listed_indexes();
        let mut indexes = indexes.iter().filter_map(|index| index.name.as_deref());
        if indexes.any(|known| same_name(known, own)) {
            // 3739: statistics that are an index's.
            let text = format!("Cannot DROP the index '{written}' because it is not a statistics collection.");
            return Err(SqlError::new(3739, Ends::Statement, text).with_severity(11));
        }
        Err(not_there())
    }

    /// 5074: a column that statistics are about.
    pub(crate) fn check_no_statistics(&self, table: &SchemaTable, column: &str) -> Result<(), SqlError> {
        let mut all = self.catalog.schema.statistics_of(table.table.object_id);
        match all.find(|one| one.has_column(column)) {
            Some(found) => Err(SqlError::column_needed(
                &format!("statistics '{}'", found.row.name),
                column,
            )),
            None => Ok(()),
        }
    }

    /// A column of theirs has another name.
    pub(crate) fn rename_in_statistics(
        &self,
        (table, parent): (&SchemaTable, i32),
        (old, new): (&str, &str),
    ) -> Result<(), SqlError> {
        let all = self.catalog.schema.statistics_of(table.table.object_id);
        for found in all.filter(|one| one.has_column(old)) {
            let columns = found.columns.iter();
            let columns = columns.map(|column| bracketed(if same_name(column, old) { new } else { column }));
            self.store("main", written_again(found, parent, &columns.collect::<Vec<_>>()))?;
        }
        Ok(())
    }
}

fn written_again<'a>(found: &'a SchemaStatistics, parent: i32, columns: &[String]) -> Written<'a> {
    let option = if found.no_recompute { " WITH NORECOMPUTE" } else { "" };
    Written {
        object_id: found.row.object_id,
        kind: ObjectKind::Statistics,
        schema: &found.row.schema,
        name: &found.row.name,
        parent: Some(parent),
        definition: format!(
            "CREATE STATISTICS {} ON [t] ({}){option}",
            bracketed(&found.row.name),
            columns.join(", ")
        ),
    }
}

/// SQL Server's limit.
const COLUMN_COUNT_MAX: usize = 64;
