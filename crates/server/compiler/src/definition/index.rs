//! The definition of an index.

use std::fmt;
use std::sync::Arc;

use selenite_tsql::ast::{self, Condition, CreateIndex, Setting, StatementKind, Tree};

use super::TableDefinition;
use super::filter::{FilterPlace, filter_columns, native_filter};
use super::sqlite::{collation, index_name, null_index_name, quoted};
use super::text::bracketed;
use crate::SqlError;

/// The definition of an index.
#[derive(Clone, PartialEq, Debug)]
pub struct IndexDefinition {
    /// The name, unique within its table.
    pub name: String,
    /// Its table's schema.
    pub schema: String,
    /// Its table's name.
    pub table: String,
    /// UNIQUE.
    pub is_unique: bool,
    /// CLUSTERED: shown in sys.indexes only; SQLite's tables are ordered by rowid.
    pub is_clustered: bool,
    /// The columns, and whether each is descending.
    pub columns: Vec<(String, bool)>,
    /// INCLUDE: the included columns.
    pub include: Vec<String>,
    /// WHERE: the filter.
    pub filter: Option<Arc<Condition>>,
    /// IGNORE_DUP_KEY.
    pub ignores_duplicates: bool,
    /// ALTER INDEX DISABLE: SQLite has no such index.
    pub is_disabled: bool,
}

impl IndexDefinition {
    /// Reads CREATE INDEX on `table`.
    ///
    /// # Errors
    /// Any error of the statement, as SQL Server reports it; 40510 for unsupported forms.
    pub fn read(statement: &CreateIndex, table: &TableDefinition) -> Result<Self, SqlError> {
        let read = Self {
            name: statement.name.text.clone(),
            schema: table.schema.clone(),
            table: table.name.clone(),
            is_unique: statement.unique,
            is_clustered: statement.clustered.unwrap_or(false),
            columns: table.key_columns(&statement.columns, None),
            include: statement
                .include
                .iter()
                .map(|name| table.own_name(&name.text))
                .collect(),
            filter: statement.filter.clone().map(Arc::new),
            ignores_duplicates: ignores_duplicates(&statement.options),
            is_disabled: false,
        };
        read.check(table)?;
        Ok(read)
    }

    /// Reads an index in a table's definition; `own` is the column of an index of a column.
    pub(super) fn of_table(
        index: &ast::TableIndex,
        own: &[(String, bool)],
        table: &TableDefinition,
    ) -> Result<Self, SqlError> {
        let mut columns = table.key_columns(&index.columns, None);
        if columns.is_empty() {
            columns = own.to_vec();
        }
        let read = Self {
            name: index.name.text.clone(),
            schema: table.schema.clone(),
            table: table.name.clone(),
            is_unique: index.unique,
            is_clustered: index.clustered.unwrap_or(false),
            columns,
            include: index.include.iter().map(|name| table.own_name(&name.text)).collect(),
            filter: index.filter.clone().map(Arc::new),
            ignores_duplicates: ignores_duplicates(&index.options),
            is_disabled: false,
        };
        read.check(table)?;
        Ok(read)
    }

    /// Checks it against its table.
    ///
    /// # Errors
    /// As [`IndexDefinition::read`].
    pub fn check(&self, table: &TableDefinition) -> Result<(), SqlError> {
        table.check_index_columns(self.columns.iter().map(|(name, _)| name.as_str()))?;
        for name in &self.include {
            match table.column(name) {
                None => return Err(SqlError::index_column(name)),
                Some(column) if column.computed.is_some() => {
                    return Err(SqlError::unsupported("An index on a computed column"));
                }
                Some(_) => {}
            }
        }
        if self.ignores_duplicates && !self.is_unique {
            // 1916: IGNORE_DUP_KEY of an index that is not unique.
            let text = "CREATE INDEX options nonunique and ignore_dup_key are mutually exclusive.";
            return Err(SqlError::new(1916, crate::Ends::Batch, text).with_state(4));
        }
        if self.ignores_duplicates && self.filter.is_some() {
            // 10618: IGNORE_DUP_KEY of a filtered index.
            let text = format!(
                "Filtered index '{}' cannot be created on table '{}' because the index option IGNORE_DUP_KEY = ON is specified. \
                 Rewrite the statement so that the option is not specified.",
                self.name, self.table
            );
            return Err(SqlError::new(10618, crate::Ends::Batch, text));
        }
        self.sqlite_filter(table).map(drop)
    }

    /// Reads a printed index.
    ///
    /// # Errors
    /// Any error of the text: another program wrote to the catalog.
    pub fn of_tree(tree: &Tree, table: &TableDefinition) -> Result<Self, SqlError> {
        let mut statements = tree.statements.iter().map(|statement| &statement.kind);
        let Some(StatementKind::CreateIndex(create)) = statements.next() else {
            return Err(SqlError::internal("an index's definition"));
        };
        let mut read = Self::read(create, table)?;
        read.is_disabled = statements.next().is_some();
        Ok(read)
    }

    /// The columns of the filter.
    #[must_use]
    pub fn filter_columns(&self) -> Vec<&str> {
        self.filter
            .as_ref()
            .map_or_else(Vec::new, |filter| filter_columns(filter))
    }

    /// The filter as SQLite's SQL.
    ///
    /// # Errors
    /// 207, 10609, 10611, 10735.
    pub fn sqlite_filter(&self, table: &TableDefinition) -> Result<Option<String>, SqlError> {
        let place = FilterPlace {
            index: &self.name,
            table,
        };
        self.filter
            .as_ref()
            .map(|filter| native_filter(filter, place))
            .transpose()
    }

    /// SQLite's statements that create the index; none if it is disabled.
    ///
    /// # Errors
    /// As [`IndexDefinition::sqlite_filter`].
    pub fn sqlite(&self, table: &TableDefinition) -> Result<Vec<String>, SqlError> {
        if self.is_disabled {
            return Ok(Vec::new());
        }
        let mut columns = vec![table.index_columns(&self.columns)];
        // Included columns must not take part in uniqueness.
        if !self.is_unique {
            columns.extend(self.include.iter().map(|name| quoted(name)));
        }
        let filter = self.sqlite_filter(table)?;
        let wheres = filter
            .as_ref()
            .map_or_else(String::new, |filter| format!(" WHERE {filter}"));
        let unique = if self.is_unique { "UNIQUE " } else { "" };
        let file_name = table.file_name();
        let (index, on) = (quoted(&index_name(&file_name, &self.name)), quoted(&file_name));
        let mut made = vec![format!(
            "CREATE {unique}INDEX {index} ON {on} ({}){wheres}",
            columns.join(", ")
        )];
        if self.is_unique {
            made.extend(table.null_index(&self.name, &self.columns, filter.as_deref()));
        }
        Ok(made)
    }

    /// SQLite's statements that drop an index of a table, which is named as SQLite names it.
    #[must_use]
    pub fn sqlite_drop(table: &str, index: &str) -> Vec<String> {
        [index_name(table, index), null_index_name(table, index)]
            .iter()
            .map(|name| format!("DROP INDEX IF EXISTS {}", quoted(name)))
            .collect()
    }
}

impl TableDefinition {
    /// `index-names-contain-the-table`: the second index of a unique key with nullable columns.
    pub(super) fn null_index(&self, name: &str, columns: &[(String, bool)], filter: Option<&str>) -> Option<String> {
        let columns: Vec<_> = columns.iter().filter_map(|(name, _)| self.column(name)).collect();
        let nullable: Vec<String> = columns
            .iter()
            .filter(|column| column.nullable)
            .map(|column| format!("{} IS NULL", quoted(&column.name)))
            .collect();
        if nullable.is_empty() {
            return None;
        }
        let keys = columns.iter().map(|column| {
            // The substitute for NULL has a storage class that no value of the column has.
            let substitute = if collation(column).is_some() || !column.is_bytes() {
                "x''"
            } else {
                "''"
            };
            let collation = collation(column).map_or_else(String::new, |name| format!(" COLLATE {name}"));
            format!("ifnull({}, {substitute}){collation}", column.index_key())
        });
        let keys: Vec<String> = keys.collect();
        let filter = filter.map_or_else(String::new, |filter| format!(" AND ({filter})"));
        let file_name = self.file_name();
        Some(format!(
            "CREATE UNIQUE INDEX {} ON {} ({}) WHERE ({}){filter}",
            quoted(&null_index_name(&file_name, name)),
            quoted(&file_name),
            keys.join(", "),
            nullable.join(" OR ")
        ))
    }
}

/// Whether options have IGNORE_DUP_KEY, which is ON without a value.
pub(super) fn ignores_duplicates(options: &[Setting]) -> bool {
    let is_bare = |option: &Setting| option.value.is_none() && option.name.is_word("IGNORE_DUP_KEY");
    Setting::is_on(options, "IGNORE_DUP_KEY") || options.iter().any(is_bare)
}

/// The CREATE INDEX statement.
impl fmt::Display for IndexDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unique = if self.is_unique { "UNIQUE " } else { "" };
        let clustered = if self.is_clustered { "CLUSTERED" } else { "NONCLUSTERED" };
        let (name, table) = (bracketed(&self.name), bracketed(&self.table));
        let schema = bracketed(&self.schema);
        write!(f, "CREATE {unique}{clustered} INDEX {name} ON {schema}.{table} (")?;
        super::text::key_columns(f, &self.columns)?;
        f.write_str(")")?;
        if !self.include.is_empty() {
            let include: Vec<String> = self.include.iter().map(|name| bracketed(name)).collect();
            write!(f, " INCLUDE ({})", include.join(", "))?;
        }
        if let Some(filter) = &self.filter {
            write!(f, " WHERE {filter}")?;
        }
        if self.ignores_duplicates {
            f.write_str(" WITH (IGNORE_DUP_KEY = ON)")?;
        }
        match self.is_disabled {
            true => write!(f, ";\nALTER INDEX {name} ON {schema}.{table} DISABLE"),
            false => Ok(()),
        }
    }
}
