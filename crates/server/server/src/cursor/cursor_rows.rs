//! The rows of a cursor's query, which are kept instead of sent.

use selenite::Access;
use selenite_compiler::SqlError;
use selenite_tds::Column;
use selenite_types::Value;

use super::row_store::RowStore;
use crate::memory;

/// Takes the rows of a query.
pub(crate) struct CursorRows {
    /// Its columns.
    pub columns: Vec<Column>,
    kept: KeptColumns,
    store: RowStore,
}

/// Which columns of a row are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum KeptColumns {
    /// All of them.
    All,
    /// Those behind so many.
    Behind(usize),
}

impl CursorRows {
    pub fn new(access: &Access, kept: KeptColumns) -> Self {
        Self {
            columns: Vec::new(),
            kept,
            store: RowStore::new(access),
        }
    }

    /// Rows of these columns follow.
    pub fn begin(&mut self, columns: &[Column]) {
        let kept = columns.iter().skip(self.kept.first());
        self.store.set_types(kept.map(|column| column.data_type));
        self.columns = columns.to_vec();
    }

    /// A row.
    ///
    /// # Errors
    /// 701; that of the file.
    pub fn push(&mut self, row: &[Value]) -> Result<(), SqlError> {
        memory::reserve(0)?;
        self.store.push(row.get(self.kept.first()..).unwrap_or(row))
    }

    pub fn count(&self) -> u64 {
        self.store.count()
    }

    /// The row of a number, from 1; `None` outside.
    ///
    /// # Errors
    /// That of the file.
    pub fn row(&self, position: i64) -> Result<Option<Vec<Value>>, SqlError> {
        match u64::try_from(position) {
            Ok(number) if number > 0 && number <= self.store.count() => self.store.row(number).map(Some),
            _ => Ok(None),
        }
    }

    pub fn memory_size(&self) -> u64 {
        self.store.memory_size()
    }
}

impl KeptColumns {
    fn first(self) -> usize {
        match self {
            Self::All => 0,
            Self::Behind(count) => count,
        }
    }
}
