//! SELECT that returns rows.

use std::sync::Arc;

use crate::binding::ResultColumn;
use crate::compiled::Compiled;
use crate::writer::SqlText;

/// SELECT that returns rows: the SQL's columns are the result's, in their storage forms.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The query.
    pub text: SqlText,
    /// The result's columns, as many as the query's.
    pub columns: Vec<ResultColumn>,
    /// The operations and aggregates of its SQL.
    pub compiled: Arc<Compiled>,
}
