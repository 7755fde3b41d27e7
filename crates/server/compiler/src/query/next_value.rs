//! NEXT VALUE FOR, which is evaluated for each row outside SQLite.

use selenite_tsql::ast;

use super::{Clause, QueryBinder};
use crate::functions::{is_next_value, next_value_of};
use crate::{Ends, Expr, ExprKind, Node, SqlError, written_object};

impl QueryBinder<'_> {
    pub(super) fn bind_next_value(&mut self, next: &ast::NextValue) -> Result<Expr, SqlError> {
        let line = next.sequence.position.line;
        self.next_value(next).map_err(|error| error.on_line(line))
    }

    fn next_value(&mut self, next: &ast::NextValue) -> Result<Expr, SqlError> {
        self.check_next_value(next)?;
        let Some(sequence) = self.catalog.sequence(&next.sequence)? else {
            let written = written_object(&next.sequence);
            return Err(match self.catalog.relation(&next.sequence)? {
                Some(_) => SqlError::not_a_sequence(&written),
                None => SqlError::unknown_object(&written),
            });
        };
        let over = next.over.as_ref().map(ToString::to_string).unwrap_or_default();
        let is_other = |(id, known): &(i32, String)| *id == sequence.object_id && *known != over;
        if self.parts.sequences.iter().any(is_other) {
            return Err(SqlError::next_value_windows());
        }
        self.parts.sequences.push((sequence.object_id, over));
        let ordinal = match &next.over {
            Some(window) => Some(self.ordinal(window, &next.sequence)?),
            None => None,
        };
        Ok(next_value_of(sequence.object_id, sequence.data_type, ordinal))
    }

    /// The number of a row in the order of OVER.
    fn ordinal(&mut self, window: &ast::Window, sequence: &ast::ObjectName) -> Result<Expr, SqlError> {
        let name = ast::Name {
            text: "ROW_NUMBER".to_owned(),
            ..sequence.name.clone()
        };
        self.bind_call(&ast::FunctionCall {
            name: ast::ObjectName {
                server: None,
                database: None,
                schema: None,
                position: name.position,
                name,
            },
            arguments: ast::Arguments::List(Vec::new()),
            within_group: Vec::new(),
            null_treatment: None,
            over: Some(window.clone()),
            odbc: false,
            form: ast::CallForm::Function,
        })
    }

    fn check_next_value(&self, next: &ast::NextValue) -> Result<(), SqlError> {
        if self.depth > 0 || self.scopes.len() > 1 {
            return Err(SqlError::next_value_not_here());
        }
        match self.scopes.last().map(|scope| scope.clause) {
            Some(Clause::Items | Clause::Values | Clause::Set) => {}
            Some(Clause::Argument) => return Err(SqlError::next_value_in_aggregate()),
            Some(Clause::On | Clause::Where | Clause::GroupBy | Clause::Having | Clause::OrderBy | Clause::Output)
            | None => return Err(SqlError::next_value_clause()),
        }
        let Some(window) = &next.over else { return Ok(()) };
        if !window.partition_by.is_empty() {
            return Err(SqlError::next_value_partition());
        }
        if window.order_by.is_empty() {
            return Err(SqlError::next_value_no_order());
        }
        match self.scopes.last().map(|scope| scope.clause) {
            Some(Clause::Items) => Ok(()),
            _ => Err(SqlError::next_value_over()),
        }
    }

    /// Whether NEXT VALUE FOR occurs in what was bound.
    pub(crate) fn advances(&self) -> bool {
        !self.parts.sequences.is_empty()
    }

    /// Checks a select list in which NEXT VALUE FOR may occur.
    ///
    /// Errors: 11721 for DISTINCT, 11723 for ORDER BY without OVER, 11739 for TOP and OFFSET; 11741 for CASE and
    /// related ones.
    pub(super) fn check_next_values(
        &self,
        items: &[Expr],
        (is_distinct, is_ordered, is_limited): (bool, bool, bool),
    ) -> Result<(), SqlError> {
        if !self.advances() {
            return Ok(());
        }
        let has_over = self.parts.sequences.iter().all(|(_, over)| !over.is_empty());
        match () {
            () if is_distinct => Err(SqlError::next_value_distinct()),
            () if is_limited => Err(SqlError::next_value_limited()),
            () if is_ordered && !has_over => Err(SqlError::next_value_ordered()),
            () => items.iter().try_for_each(check_always_evaluated),
        }
    }
}

/// Checks that NEXT VALUE FOR is evaluated for each row.
///
/// Errors: 11741.
pub(crate) fn check_always_evaluated(value: &Expr) -> Result<(), SqlError> {
    let mut is_hidden = false;
    value.visit(&mut |node| {
        if let Node::Expr(expr) = node
            && matches!(
                expr.kind,
                ExprKind::Case { .. } | ExprKind::Coalesce(_) | ExprKind::Choose { .. }
            )
        {
            is_hidden |= advances(expr);
        }
    });
    match is_hidden {
        true => Err(SqlError::next_value_in_case()),
        false => Ok(()),
    }
}

/// Whether NEXT VALUE FOR occurs in an expression.
pub(crate) fn advances(value: &Expr) -> bool {
    let mut found = false;
    value.visit(&mut |node| {
        if let Node::Expr(expr) = node {
            found |= is_next_value(expr);
        }
    });
    found
}

impl SqlError {
    fn of_next_value(number: i32, text: impl Into<String>) -> Self {
        Self::new(number, Ends::Batch, text).with_severity(15)
    }

    /// 11716: NEXT VALUE FOR with PARTITION BY.
    fn next_value_partition() -> Self {
        Self::of_next_value(
            11716,
            "NEXT VALUE FOR function does not support the PARTITION BY clause.",
        )
    }

    /// 11717: NEXT VALUE FOR with OVER outside a select list.
    fn next_value_over() -> Self {
        Self::of_next_value(
            11717,
            "NEXT VALUE FOR function does not support the OVER clause in default constraints, UPDATE statements, or MERGE \
             statements.",
        )
    }

    /// 11718: NEXT VALUE FOR with an empty OVER.
    fn next_value_no_order() -> Self {
        Self::of_next_value(11718, "NEXT VALUE FOR function does not support an empty OVER clause.")
    }

    /// 11719: NEXT VALUE FOR in a subquery, a view, a check or a computed column.
    #[must_use]
    pub fn next_value_not_here() -> Self {
        Self::of_next_value(
            11719,
            "NEXT VALUE FOR function is not allowed in check constraints, default objects, computed columns, views, \
             user-defined functions, user-defined aggregates, user-defined table types, sub-queries, common table \
             expressions, derived tables or return statements.",
        )
    }

    /// 11720: NEXT VALUE FOR in WHERE and other clauses.
    fn next_value_clause() -> Self {
        Self::of_next_value(
            11720,
            "NEXT VALUE FOR function is not allowed in the TOP, OVER, OUTPUT, ON, WHERE, GROUP BY, HAVING, or ORDER BY \
             clauses.",
        )
    }

    /// 11721: NEXT VALUE FOR with DISTINCT or in a UNION.
    pub(crate) fn next_value_distinct() -> Self {
        Self::of_next_value(
            11721,
            "NEXT VALUE FOR function cannot be used directly in a statement that uses a DISTINCT, UNION, UNION ALL, EXCEPT \
             or INTERSECT operator.",
        )
    }

    /// 11723: NEXT VALUE FOR without OVER in a query with ORDER BY.
    fn next_value_ordered() -> Self {
        Self::of_next_value(
            11723,
            "NEXT VALUE FOR function cannot be used directly in a statement that contains an ORDER BY clause unless the OVER \
             clause is specified.",
        )
    }

    /// 11725: NEXT VALUE FOR in an argument of an aggregate.
    fn next_value_in_aggregate() -> Self {
        Self::of_next_value(
            11725,
            "An expression that contains a NEXT VALUE FOR function cannot be passed as an argument to an aggregate.",
        )
    }

    /// 11726: NEXT VALUE FOR of what is no sequence.
    #[must_use]
    pub fn not_a_sequence(name: &str) -> Self {
        Self::new(11726, Ends::Batch, format!("Object '{name}' is not a sequence object."))
    }

    /// 11727: NEXT VALUE FOR of one sequence with different OVER clauses.
    fn next_value_windows() -> Self {
        Self::of_next_value(
            11727,
            "NEXT VALUE FOR functions for a given sequence object must have exactly the same OVER clause definition.",
        )
    }

    /// 11739: NEXT VALUE FOR in a query with TOP or OFFSET.
    #[must_use]
    pub fn next_value_limited() -> Self {
        Self::of_next_value(
            11739,
            "NEXT VALUE FOR function cannot be used if ROWCOUNT option has been set, or the query contains TOP or OFFSET.",
        )
    }

    /// 11741: NEXT VALUE FOR in CASE and related functions.
    fn next_value_in_case() -> Self {
        Self::of_next_value(
            11741,
            "NEXT VALUE FOR function cannot be used within CASE, CHOOSE, COALESCE, IIF, ISNULL and NULLIF.",
        )
    }

    /// 11728: a sequence without further values.
    #[must_use]
    pub fn sequence_exhausted(name: &str) -> Self {
        let text = format!(
            "The sequence object '{name}' has reached its minimum or maximum value. Restart the sequence object to allow new \
             values to be generated."
        );
        Self::new(11728, Ends::Statement, text)
    }
}
