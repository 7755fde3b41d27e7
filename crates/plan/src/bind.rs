//! From the syntax tree to bound expressions: names found, types decided, conversions written out.
//!
//! B1. Binding looks at no value but constants': what it refuses would fail for every row.
//! B2. What only a query has (columns, aggregates, window functions, subqueries) is bound by the [`QueryHook`].

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType};

use crate::{Expr, PlanError, Predicate, Variables, written_column};

/// What binds the nodes that only a query can have.
pub trait QueryHook {
    /// A column of the query's sources.
    ///
    /// Errors: 207, 209, 4104; see [`crate::Columns::find`].
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, PlanError>;

    /// An aggregate ([`crate::AggregateKind::find`]), or any function with OVER: the hook binds its arguments too.
    ///
    /// Errors: whatever is wrong with the call, or 147 and its kin where there can be none.
    fn call(&mut self, call: &ast::FunctionCall, position: ast::Position) -> Result<Expr, PlanError>;

    /// A query of one column as a value.
    ///
    /// Errors: whatever is wrong with the query.
    fn subquery(&mut self, query: &ast::Query) -> Result<Expr, PlanError>;

    /// `EXISTS`.
    ///
    /// Errors: as [`QueryHook::subquery`].
    fn exists(&mut self, query: &ast::Query) -> Result<Predicate, PlanError>;

    /// `operand IN (SELECT ..)`, without its NOT. [`crate::common_type`] tells the type that both sides become.
    ///
    /// Errors: as [`QueryHook::subquery`].
    fn in_query(&mut self, operand: Expr, query: &ast::Query) -> Result<Predicate, PlanError>;

    /// `operand = ANY (SELECT ..)`.
    ///
    /// Errors: as [`QueryHook::subquery`].
    fn quantified(
        &mut self,
        operand: Expr,
        comparison: Comparison,
        quantifier: ast::Quantifier,
        query: &ast::Query,
    ) -> Result<Predicate, PlanError>;
}

/// The hook where there is no query: SET, IF, PRINT.
///
/// A subquery there is plan-program's to bind; here each of a query's nodes is the error that SQL Server gives.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoQuery;

impl QueryHook for NoQuery {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, PlanError> {
        match name.table {
            Some(_) => Err(PlanError::unbound_identifier(&written_column(name))),
            None => Err(PlanError::unknown_column(&name.name.text)),
        }
    }

    fn call(&mut self, call: &ast::FunctionCall, _: ast::Position) -> Result<Expr, PlanError> {
        match call.over {
            Some(_) => Err(PlanError::window_not_allowed()),
            None => Err(PlanError::aggregate_in_where()),
        }
    }

    fn subquery(&mut self, _: &ast::Query) -> Result<Expr, PlanError> {
        Err(PlanError::subquery_not_allowed())
    }

    fn exists(&mut self, _: &ast::Query) -> Result<Predicate, PlanError> {
        Err(PlanError::subquery_not_allowed())
    }

    fn in_query(&mut self, _: Expr, _: &ast::Query) -> Result<Predicate, PlanError> {
        Err(PlanError::subquery_not_allowed())
    }

    fn quantified(
        &mut self,
        _: Expr,
        _: Comparison,
        _: ast::Quantifier,
        _: &ast::Query,
    ) -> Result<Predicate, PlanError> {
        Err(PlanError::subquery_not_allowed())
    }
}

/// Binds expressions and conditions of one statement.
pub struct Binder<'a> {
    variables: &'a Variables,
    hook: &'a mut dyn QueryHook,
}

impl<'a> Binder<'a> {
    /// A binder that finds variables here and leaves a query's nodes to `hook`.
    pub fn new(variables: &'a Variables, hook: &'a mut dyn QueryHook) -> Self {
        Self { variables, hook }
    }

    /// Binds an expression.
    ///
    /// Errors: whatever is wrong with its names and types, with its line.
    pub fn expr(&mut self, expr: &ast::Expr) -> Result<Expr, PlanError> {
        let _ = (&self.variables, &mut self.hook);
        Err(PlanError::unsupported("This expression").on_line(expr.position.line))
    }

    /// Binds an expression and converts it to `data_type` as an assignment does.
    ///
    /// Errors: as [`Binder::expr`]; 206 and 257 if there is no such conversion.
    pub fn expr_as(&mut self, expr: &ast::Expr, data_type: &DataType) -> Result<Expr, PlanError> {
        self.expr(expr)?
            .converted_to(data_type)
            .map_err(|error| error.on_line(expr.position.line))
    }

    /// Binds a condition.
    ///
    /// Errors: as [`Binder::expr`].
    pub fn condition(&mut self, condition: &ast::Condition) -> Result<Predicate, PlanError> {
        Err(PlanError::unsupported("This condition").on_line(condition.position.line))
    }
}

/// The type that a batch declares: of a variable, a column, or in a CAST.
///
/// Errors: whatever is wrong with the name or its numbers.
pub fn declared_type(name: &ast::TypeName, place: selenite_types::Place<'_>) -> Result<DataType, PlanError> {
    let _ = (name, place);
    Err(PlanError::unsupported("This type"))
}

/// The type that several expressions become where they meet: results of CASE, columns of UNION, both sides of IN.
///
/// Errors: 206 and 257 if one of them does not convert to the highest.
pub fn common_type(exprs: &[Expr]) -> Result<DataType, PlanError> {
    let _ = exprs;
    Err(PlanError::unsupported("This type"))
}

impl Expr {
    /// The expression as an assignment to `data_type` converts it; itself, if it is of that type.
    ///
    /// Errors: 206 and 257 if only CAST, or nothing, converts it.
    pub fn converted_to(self, data_type: &DataType) -> Result<Self, PlanError> {
        let _ = data_type;
        Err(PlanError::unsupported("This conversion"))
    }
}
