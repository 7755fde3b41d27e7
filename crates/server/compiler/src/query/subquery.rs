//! Subqueries in expressions and conditions.

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType};

use super::QueryBinder;
use super::tree::{Quantified, Query, QueryNode, SqliteColumn};
use crate::{ColumnRef, Expr, Predicate, SqlError, common_type};

impl QueryBinder<'_> {
    /// `(SELECT ..)` as a value.
    ///
    /// Errors: 116 for several columns.
    pub(super) fn bind_scalar(&mut self, query: &ast::Query) -> Result<Expr, SqlError> {
        let query = self.one_column(query)?;
        let (data_type, collation) = query
            .columns
            .first()
            .map_or((DataType::Int, crate::Collation::default()), |column| {
                (column.data_type, column.collation)
            });
        let expr = self.query_node(QueryNode::Scalar(Box::new(query)), data_type, true);
        Ok(expr.with_collation(collation))
    }

    /// `EXISTS`.
    pub(super) fn bind_exists(&mut self, query: &ast::Query) -> Result<Predicate, SqlError> {
        let bound = self.nested(|binder| binder.bind_rows(query))?;
        Ok(Predicate::QueryNode(
            self.parts.add_query_node(QueryNode::Exists(Box::new(bound))),
        ))
    }

    /// `operand IN (SELECT ..)`.
    pub(super) fn bind_in(&mut self, operand: Expr, query: &ast::Query) -> Result<Predicate, SqlError> {
        let query = self.one_column(query)?;
        let (operand, query, collation) = self.of_one_type(operand, query, "equal to")?;
        let node = QueryNode::In {
            operand,
            query: Box::new(query),
            collation,
        };
        Ok(Predicate::QueryNode(self.parts.add_query_node(node)))
    }

    /// `operand > ANY (SELECT ..)`: an equality with any, or an inequality with all, is an IN.
    pub(super) fn bind_quantified(
        &mut self,
        operand: Expr,
        comparison: Comparison,
        quantifier: ast::Quantifier,
        query: &ast::Query,
    ) -> Result<Predicate, SqlError> {
        match (comparison, quantifier) {
            (Comparison::Equal, ast::Quantifier::Any) => return self.bind_in(operand, query),
            (Comparison::NotEqual, ast::Quantifier::All) => return Ok(self.bind_in(operand, query)?.negate()),
            (
                Comparison::Equal
                | Comparison::NotEqual
                | Comparison::Less
                | Comparison::LessOrEqual
                | Comparison::Greater
                | Comparison::GreaterOrEqual,
                ast::Quantifier::Any | ast::Quantifier::All,
            ) => {}
        }
        let query = self.one_column(query)?;
        let (operand, query, collation) = self.of_one_type(operand, query, comparison.name())?;
        let source = self.parts.add_source(vec![SqliteColumn::Numbered(0)]);
        let all = quantifier == ast::Quantifier::All;
        let quantified = Quantified {
            operand,
            comparison,
            all,
            query,
            source,
            collation,
        };
        Ok(Predicate::QueryNode(
            self.parts.add_query_node(QueryNode::Quantified(Box::new(quantified))),
        ))
    }

    fn one_column(&mut self, query: &ast::Query) -> Result<Query, SqlError> {
        let bound = self.nested(|binder| binder.bind_rows(query))?;
        if bound.columns.len() == 1 {
            return Ok(bound);
        }
        Err(SqlError::one_column_only().on_line(query.position.line))
    }

    /// A value and a query's column, both converted to the type of the comparison.
    fn of_one_type(
        &mut self,
        operand: Expr,
        query: Query,
        operation: &str,
    ) -> Result<(Expr, Query, crate::Collation), SqlError> {
        let Some(column) = query.columns.first() else {
            return Err(SqlError::one_column_only());
        };
        let sample = column.read(ColumnRef { source: 0, column: 0 });
        let collation = operand.collation.combine(sample.collation, operation)?;
        let collation = collation.resolved(operation)?;
        let data_type = common_type([&operand, &sample])?;
        collation.check_encoding(data_type.encoding())?;
        let operand = operand.converted_to(&data_type)?;
        let query = self.with_types(query, &[data_type])?;
        Ok((operand, query, collation))
    }
}
