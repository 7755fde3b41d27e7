//! Binds the syntax tree to typed expressions: resolves names, decides types, inserts conversions.
//!
//! - `only-constants-are-evaluated`: binding evaluates constants only: an error in binding would
//!   occur for every row.
//! - `hook-binds-query-parts`: nodes that occur only in queries (columns, aggregates, window
//!   functions, subqueries) are bound by the [`QueryHook`].

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType, Family};

use crate::{
    Collation, CollationLabel, Expr, ExprKind, Function, Predicate, SqlError, Variables, written_column, written_object,
};

mod call;
mod case;
mod condition;
mod conversion;
mod literal;
mod once;
mod operator;
pub(crate) mod xml_method;

pub(crate) use condition::compared;
pub(crate) use conversion::under;
pub use conversion::{common_type, declared_type};
pub use literal::constant;
pub(crate) use once::Once;
use operator::Operand;

/// Binds the nodes that occur only in queries.
pub trait QueryHook {
    /// A column of the query's sources.
    ///
    /// Errors: 207, 209, 4104; see [`crate::Columns::find`].
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError>;

    /// An aggregate ([`crate::AggregateKind::find`]), or any function with OVER: the hook also binds the arguments.
    ///
    /// Errors: any error of the call, or 147 and related ones where aggregates are not allowed.
    fn call(&mut self, call: &ast::FunctionCall, position: ast::Position) -> Result<Expr, SqlError>;

    /// A call of a function whose name has several parts: one of a user. The hook also binds the arguments.
    ///
    /// Errors: 4121 for an unknown function; any error of the call.
    fn user_function(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        Err(SqlError::unknown_user_function(&written_object(&call.name)))
    }

    /// A parameter of the inline function whose text is bound; `None` for other variables.
    fn parameter(&self, _name: &str) -> Option<Expr> {
        None
    }

    /// A query of one column as a value.
    ///
    /// Errors: any error of the query.
    fn subquery(&mut self, query: &ast::Query) -> Result<Expr, SqlError>;

    /// `EXISTS`.
    ///
    /// Errors: as [`QueryHook::subquery`].
    fn exists(&mut self, query: &ast::Query) -> Result<Predicate, SqlError>;

    /// `operand IN (SELECT ..)`, without its NOT. [`crate::common_type`] decides the type to which both sides convert.
    ///
    /// Errors: as [`QueryHook::subquery`].
    fn in_query(&mut self, operand: Expr, query: &ast::Query) -> Result<Predicate, SqlError>;

    /// `operand = ANY (SELECT ..)`.
    ///
    /// Errors: as [`QueryHook::subquery`].
    fn quantified(
        &mut self,
        operand: Expr,
        comparison: Comparison,
        quantifier: ast::Quantifier,
        query: &ast::Query,
    ) -> Result<Predicate, SqlError>;

    /// `NEXT VALUE FOR`.
    ///
    /// Errors: 208 and 11726 for what is no sequence; 11719 and related ones where it is not allowed.
    fn next_value(&mut self, _: &ast::NextValue) -> Result<Expr, SqlError> {
        Err(SqlError::next_value_not_here())
    }

    /// The document of a column that nodes() made, and the number of its node; `None` for any other column.
    ///
    /// Errors: as [`QueryHook::column`].
    fn xml_node(&mut self, _: &ast::ColumnName) -> Result<Option<(Expr, Expr)>, SqlError> {
        Ok(None)
    }

    /// The declarations of the statement's namespaces, before a query of XQuery.
    fn xml_prolog(&self) -> &str {
        ""
    }

    /// Whether an expression is JSON, so that JSON is composed of it without quotes.
    fn is_json(&self, expr: &Expr) -> bool {
        crate::json::is_json_call(expr)
    }

    /// Counts one more bound node.
    ///
    /// Errors: 8623 if there are too many; the error of cancellation.
    fn spend(&mut self) -> Result<(), SqlError> {
        Ok(())
    }
}

/// The hook where there is no query: SET, IF, PRINT.
///
/// The program compiler handles a subquery there; here each query node is the error that SQL Server reports.
#[derive(Clone, Copy, Default, Debug)]
pub struct NoQuery;

impl QueryHook for NoQuery {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        match name.table {
            Some(_) => Err(SqlError::unbound_identifier(&written_column(name))),
            None => Err(SqlError::unknown_column(&name.name.text)),
        }
    }

    fn call(&mut self, call: &ast::FunctionCall, _: ast::Position) -> Result<Expr, SqlError> {
        match call.over {
            Some(_) => Err(SqlError::window_not_allowed()),
            None => Err(SqlError::aggregate_in_where()),
        }
    }

    fn subquery(&mut self, _: &ast::Query) -> Result<Expr, SqlError> {
        Err(SqlError::subquery_not_allowed())
    }

    fn exists(&mut self, _: &ast::Query) -> Result<Predicate, SqlError> {
        Err(SqlError::subquery_not_allowed())
    }

    fn in_query(&mut self, _: Expr, _: &ast::Query) -> Result<Predicate, SqlError> {
        Err(SqlError::subquery_not_allowed())
    }

    fn quantified(
        &mut self,
        _: Expr,
        _: Comparison,
        _: ast::Quantifier,
        _: &ast::Query,
    ) -> Result<Predicate, SqlError> {
        Err(SqlError::subquery_not_allowed())
    }
}

/// Binds expressions and conditions of one statement.
pub struct Binder<'a> {
    variables: &'a Variables,
    hook: &'a mut dyn QueryHook,
}

impl<'a> Binder<'a> {
    /// A binder with these variables, which passes query nodes to `hook`.
    pub fn new(variables: &'a Variables, hook: &'a mut dyn QueryHook) -> Self {
        Self { variables, hook }
    }

    /// Binds an expression.
    ///
    /// Errors: any error of its names and types, with its line.
    pub fn expr(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        self.settled(expr, None)
    }

    /// Binds the expression of a column of a result, by its number.
    ///
    /// Errors: as [`Binder::expr`].
    pub(crate) fn output(&mut self, expr: &ast::Expr, column: usize) -> Result<Expr, SqlError> {
        self.settled(expr, Some(column))
    }

    /// Errors: 457 where varchar or char is converted, otherwise 451 in a column of a result and 468 elsewhere, if two
    /// collations were combined.
    fn settled(&mut self, expr: &ast::Expr, column: Option<usize>) -> Result<Expr, SqlError> {
        let bound = self.operand(expr)?;
        let (Family::Text, CollationLabel::Unresolved { other }) = (bound.data_type.family(), bound.collation.label)
        else {
            return Ok(bound);
        };
        let operation = operation_of(expr);
        let (later, earlier) = (other.name(), bound.collation.name());
        let is_narrow = matches!(
            bound.data_type,
            DataType::VarChar(_) | DataType::Char(_) | DataType::Utf8VarChar(_) | DataType::Utf8Char(_)
        );
        let error = match column {
            _ if is_narrow && ["add", "CASE"].contains(&operation.as_str()) => {
                SqlError::conversion_conflict(bound.data_type.bare_name(), [later, earlier], &operation)
            }
            Some(column) => SqlError::column_conflict(later, earlier, &operation, column),
            None => SqlError::collation_conflict(later, earlier, &operation),
        };
        Err(error.on_line(expr.position.line))
    }

    /// Binds an expression whose collation may be unresolved, because what it is an operand of may have another one.
    fn operand(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        self.unlined(expr).map_err(|error| error.on_line(expr.position.line))
    }

    /// Binds an expression and converts it to `data_type` as an assignment does.
    ///
    /// Errors: as [`Binder::expr`]; 206 and 257 if there is no such conversion.
    pub fn expr_as(&mut self, expr: &ast::Expr, data_type: &DataType) -> Result<Expr, SqlError> {
        self.expr(expr)?
            .converted_to(data_type)
            .map_err(|error| error.on_line(expr.position.line))
    }

    /// Binds a condition.
    ///
    /// Errors: as [`Binder::expr`].
    pub fn condition(&mut self, condition: &ast::Condition) -> Result<Predicate, SqlError> {
        self.unlined_condition(condition)
            .map_err(|error| error.on_line(condition.position.line))
    }

    /// The new value of the target of `target operator value`, in its type: `SET @a += 1`, `UPDATE t SET c = 1`.
    ///
    /// Errors: as [`Binder::expr_as`], and 402 or 8117 for incompatible types.
    pub fn assigned(
        &mut self,
        target: Expr,
        operator: ast::AssignmentOperator,
        value: &ast::Expr,
    ) -> Result<Expr, SqlError> {
        let data_type = target.data_type;
        let Some(operator) = operator::of_assignment(operator) else {
            return self.expr_as(value, &data_type);
        };
        let right = Operand::new(self.expr(value)?, value);
        operator::binary(operator, Operand::computed(target), right)
            .and_then(|result| result.converted_to(&data_type))
            .map_err(|error| error.on_line(value.position.line))
    }

    fn unlined(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        self.hook.spend()?;
        match &expr.kind {
            ast::ExprKind::Literal(constant) => literal::bind(constant),
            ast::ExprKind::OdbcLiteral(constant) => literal::bind_odbc(constant),
            ast::ExprKind::Variable(name) => self.variable(name),
            ast::ExprKind::Global(name) => self.global(name),
            ast::ExprKind::Column(name) => self.hook.column(name),
            ast::ExprKind::Unary { operator, operand } => {
                let bound = self.expr(operand)?;
                operator::unary(*operator, bound, operand)
            }
            ast::ExprKind::Binary { operator, left, right } => {
                let left = Operand::new(self.operand(left)?, left);
                let right = Operand::new(self.operand(right)?, right);
                operator::binary(operator::operator(*operator), left, right)
            }
            ast::ExprKind::Collate { operand, collation } => {
                let operand = self.operand(operand)?;
                collated(operand, &collation.text)
            }
            ast::ExprKind::TimeZone { operand, zone } => {
                let arguments = vec![self.expr(operand)?, self.expr(zone)?];
                Function::at_time_zone().bind(None, arguments)
            }
            ast::ExprKind::Function(call) => self.call(call, expr.position),
            ast::ExprKind::Cast(cast) => self.cast(cast),
            ast::ExprKind::Case(case) => self.case(case),
            ast::ExprKind::Iif(iif) => self.iif(iif),
            ast::ExprKind::Subquery(query) => self.hook.subquery(query),
            ast::ExprKind::NextValue(next) => self.hook.next_value(next),
            ast::ExprKind::Default => Err(SqlError::syntax_near("DEFAULT")),
        }
    }

    fn variable(&self, name: &str) -> Result<Expr, SqlError> {
        if let Some(argument) = self.hook.parameter(name) {
            return Ok(argument.with_collation(Collation::default()));
        }
        let variable = self.variables.find(name)?;
        Ok(Expr::new(ExprKind::Variable(variable.slot), variable.data_type))
    }

    /// `@@NAME`: a global variable of the server, or a variable with such a name.
    fn global(&self, name: &str) -> Result<Expr, SqlError> {
        match Function::find(name) {
            Some(function) => function.bind(None, Vec::new()),
            None => self.variable(name),
        }
    }
}

/// What combined collations in an expression, as error messages name it.
fn operation_of(expr: &ast::Expr) -> String {
    if let ast::ExprKind::Binary { operator, .. } = &expr.kind {
        operator::operator(*operator).name().to_owned()
    } else if let ast::ExprKind::Cast(cast) = &expr.kind {
        operation_of(&cast.operand)
    } else if let ast::ExprKind::Function(call) = &expr.kind {
        match call.name.name.is("COALESCE") {
            true => "CASE".to_owned(),
            false => call.name.name.text.to_ascii_lowercase(),
        }
    } else {
        "CASE".to_owned()
    }
}

/// An expression with COLLATE.
fn collated(operand: Expr, name: &str) -> Result<Expr, SqlError> {
    let collation = Collation::explicit(name)?;
    if operand.data_type.family() != Family::Text {
        return Err(SqlError::collate_type(operand.data_type.bare_name()));
    }
    let data_type = under(&operand.data_type, collation);
    let converted = match data_type == operand.data_type {
        true => operand,
        false => operand.wrapped(&data_type, None, false),
    };
    Ok(converted.with_collation(collation))
}

#[cfg(test)]
mod tests;
