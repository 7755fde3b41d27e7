//! SELECT that gives rows.

use std::sync::Arc;

use crate::binding::ResultColumn;
use crate::compiled::Compiled;
use crate::writer::SqlText;

/// SELECT that gives rows: SQL whose columns are the result's, in their stored forms.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The query.
    pub text: SqlText,
    /// The result's columns, as many as the query's.
    pub columns: Vec<ResultColumn>,
    /// What the SQL calls.
    pub compiled: Arc<Compiled>,
}
