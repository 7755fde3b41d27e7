//! How the rows of a result are written.

use super::Column;
use crate::TdsError;

/// COLMETADATA as bytes, and each column's way of writing: made once for a result, used for each row.
#[derive(Clone, Debug)]
pub struct RowShape {
    metadata: Vec<u8>,
}

impl RowShape {
    /// The shape of these columns.
    ///
    /// Errors: `Misfit` for a name beyond 128 units of UTF-16, more than 4096 columns, or a type out of its bounds.
    pub fn new(columns: &[Column]) -> Result<Self, TdsError> {
        let _ = columns;
        unimplemented!()
    }

    pub(super) fn metadata(&self) -> &[u8] {
        &self.metadata
    }
}
