//! The definition of an index.

use std::fmt;
use std::sync::Arc;

use selenite_tsql::ast::{self, Condition, ConditionKind, CreateIndex, ExprKind};

use super::TableDefinition;
use super::constraint::key_columns;
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
            columns: key_columns(&statement.columns, None),
            include: statement.include.iter().map(|name| name.text.clone()).collect(),
            filter: statement.filter.clone().map(Arc::new),
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
        let mut columns = key_columns(&index.columns, None);
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
            include: index.include.iter().map(|name| name.text.clone()).collect(),
            filter: index.filter.clone().map(Arc::new),
        };
        read.check(table)?;
        Ok(read)
    }

    fn check(&self, table: &TableDefinition) -> Result<(), SqlError> {
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
        if let Some(filter) = &self.filter {
            native_filter(filter, table)?;
        }
        Ok(())
    }

    /// SQLite's statements that create the index.
    ///
    /// # Errors
    /// 40510 for a filter that SQLite does not support.
    pub fn sqlite(&self, table: &TableDefinition) -> Result<Vec<String>, SqlError> {
        let mut columns = vec![table.index_columns(&self.columns)];
        // Included columns must not take part in uniqueness.
        if !self.is_unique {
            columns.extend(self.include.iter().map(|name| quoted(name)));
        }
        let filter = self
            .filter
            .as_ref()
            .map(|filter| native_filter(filter, table))
            .transpose()?;
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

/// A filter as SQLite's SQL: a conjunction of IS NULL and IS NOT NULL.
fn native_filter(filter: &Condition, table: &TableDefinition) -> Result<String, SqlError> {
    check_filter(filter)?;
    if let ConditionKind::And(all) = &filter.kind {
        let all = all.iter().map(|one| native_filter(one, table));
        return Ok(all.collect::<Result<Vec<_>, _>>()?.join(" AND "));
    }
    let ConditionKind::IsNull { operand, negated } = &filter.kind else {
        return Err(unsupported_filter());
    };
    let ExprKind::Column(column) = &operand.kind else {
        return Err(unsupported_filter());
    };
    let known = table.column(&column.name.text);
    let known = known.ok_or_else(|| SqlError::unknown_column(&column.name.text))?;
    let not = if *negated { "NOT " } else { "" };
    Ok(format!("{} IS {not}NULL", quoted(&known.name)))
}

/// Checks that SQLite supports an index with this filter, whatever its columns are.
///
/// # Errors
/// 40510.
pub fn check_filter(filter: &Condition) -> Result<(), SqlError> {
    if let ConditionKind::And(all) = &filter.kind {
        return all.iter().try_for_each(check_filter);
    }
    let is_known = |operand: &ast::Expr| matches!(operand.kind, ExprKind::Column(_));
    if matches!(&filter.kind, ConditionKind::IsNull { operand, .. } if is_known(operand)) {
        return Ok(());
    }
    Err(unsupported_filter())
}

fn unsupported_filter() -> SqlError {
    SqlError::unsupported("A filter of an index other than IS [NOT] NULL")
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
        match &self.filter {
            Some(filter) => write!(f, " WHERE {filter}"),
            None => Ok(()),
        }
    }
}
