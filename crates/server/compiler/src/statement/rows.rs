//! SELECT that returns rows.

use std::sync::Arc;

use crate::Expr;
use crate::binding::{InputColumn, ResultColumn};
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
    /// Values that are computed outside SQLite; `None` if the SQL's columns are the result's.
    pub computed: Option<Box<ComputedColumns>>,
}

/// The columns of a result that are computed for each row outside SQLite, as NEXT VALUE FOR is.
#[derive(Clone, Debug)]
pub struct ComputedColumns {
    /// The query's columns.
    pub inputs: Vec<InputColumn>,
    /// The result's values, over the inputs.
    pub values: Vec<Expr>,
}
