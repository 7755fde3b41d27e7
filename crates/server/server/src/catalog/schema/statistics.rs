//! Statistics of columns, which CREATE STATISTICS has named. SQLite gathers its own, by ANALYZE: these are names alone.

use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{AlterIndexAction, StatementKind};

use super::{Schema, parsed};
use crate::catalog::catalog_rows::CatalogRow;

/// Statistics.
#[derive(Clone, Debug)]
pub struct SchemaStatistics {
    /// Their columns, in order.
    pub columns: Vec<String>,
    /// NORECOMPUTE.
    pub no_recompute: bool,
    /// Their row, whose parent is the table.
    pub row: CatalogRow,
}

impl SchemaStatistics {
    pub(super) fn read(row: CatalogRow) -> Result<Self, SqlError> {
        let wrong = || SqlError::internal("a definition of statistics");
        let tree = parsed(&row.definition)?;
        let Some(StatementKind::AlterIndex(create)) = tree.statements.into_iter().next().map(|one| one.kind) else {
            return Err(wrong());
        };
        let AlterIndexAction::CreateStatistics { columns, no_recompute } = create.action else {
            return Err(wrong());
        };
        Ok(Self {
            columns: columns.into_iter().map(|column| column.text).collect(),
            no_recompute,
            row,
        })
    }

    /// Whether a column is among theirs.
    pub fn has_column(&self, name: &str) -> bool {
        self.columns.iter().any(|column| same_name(column, name))
    }
}

impl Schema {
    /// The statistics of a table, as they were created.
    pub fn statistics_of(&self, table_id: i32) -> impl Iterator<Item = &SchemaStatistics> {
        self.statistics
            .iter()
            .filter(move |one| one.row.parent == Some(table_id))
    }
}
