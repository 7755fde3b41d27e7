//! TOP, OFFSET and FETCH.

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType, Family, Value};

use super::QueryBinder;
use super::tree::Limit;
use super::user_function::InlineParameters;
use crate::expr::{Arguments, Typing};
use crate::{Binder, Expr, ExprKind, Function, FunctionCall, NoQuery, Predicate, QueryHook, SqlError};

impl QueryBinder<'_> {
    /// Binds the row limits of a query.
    ///
    /// Errors: 1060 for a count that is not an integer, 1062 for WITH TIES without ORDER BY, 10741 for TOP with OFFSET.
    pub(crate) fn bind_limit(
        &mut self,
        top: Option<&ast::Top>,
        offset: Option<&ast::Offset>,
        ordered: bool,
    ) -> Result<Option<Limit>, SqlError> {
        match (top, offset) {
            (None, None) => Ok(None),
            (Some(_), Some(offset)) => Err(SqlError::top_and_offset().on_line(offset.skip.position.line)),
            (Some(top), None) => {
                if top.with_ties && !ordered {
                    return Err(SqlError::ties_without_order().on_line(top.count.position.line));
                }
                let ties = top.with_ties;
                if top.percent {
                    let count = self.percentage(&top.count)?;
                    return Ok(Some(Limit::Percent { count, ties }));
                }
                Ok(Some(Limit::Top {
                    count: self.row_count(&top.count)?,
                    ties,
                }))
            }
            (None, Some(offset)) => {
                let skip = self.row_count(&offset.skip)?;
                let fetch = match &offset.fetch {
                    Some(fetch) => Some(self.row_count(fetch)?),
                    None => None,
                };
                Ok(Some(Limit::Offset { skip, fetch }))
            }
        }
    }

    fn row_count(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let line = expr.position.line;
        let Some(bound) = self.fixed(expr)? else {
            let bound = self.queried(expr)?;
            if !matches!(bound.data_type.family(), Family::Integer | Family::Bit) {
                return Err(SqlError::row_count_type().on_line(line));
            }
            return checked(&QUERIED_COUNT, bound.converted_to(&DataType::BigInt)?);
        };
        if !matches!(bound.data_type.family(), Family::Integer | Family::Bit) && !bound.is_null_word() {
            return Err(SqlError::row_count_type().on_line(line));
        }
        bound.converted_to(&DataType::BigInt)
    }

    fn percentage(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        match self.fixed(expr)? {
            Some(bound) => bound.converted_to(&DataType::Float),
            None => {
                let bound = self.queried(expr)?;
                checked(&QUERIED_PERCENT, bound.converted_to(&DataType::Float)?)
            }
        }
    }

    /// A value with a query, which SQLite evaluates once: no columns of outer queries are in scope.
    fn queried(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let line = expr.position.line;
        let scopes = std::mem::take(&mut self.scopes);
        let variables = self.variables;
        let bound = self.nested(|binder| Binder::new(variables, binder).expr(expr));
        self.scopes = scopes;
        bound.map_err(|error| match error.number() {
            UNBOUND => SqlError::column_in_limit().on_line(line),
            _ => error.on_line(line),
        })
    }

    /// A value that does not depend on a row; `None` if it has a query.
    fn fixed(&mut self, expr: &ast::Expr) -> Result<Option<Expr>, SqlError> {
        let mut hook = FixedHook {
            parameters: &self.inline_parameters,
            prolog: &self.namespaces().prolog,
        };
        let bound = Binder::new(self.variables, &mut hook).expr(expr);
        match bound {
            Ok(bound) if bound.depends_on_row() => Err(SqlError::unsupported(
                "TOP or OFFSET of a function whose argument is a column",
            )),
            Ok(bound) => Ok(Some(bound)),
            Err(error) if error.number() == SUBQUERY => Ok(None),
            Err(error) => Err(match error.number() {
                UNKNOWN_COLUMN | UNBOUND => SqlError::column_in_limit(),
                _ => error,
            }
            .on_line(expr.position.line)),
        }
    }
}

/// Where there is no query, but the parameters of inline functions.
struct FixedHook<'a> {
    parameters: &'a InlineParameters,
    prolog: &'a str,
}

impl QueryHook for FixedHook<'_> {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        NoQuery.column(name)
    }

    fn call(&mut self, call: &ast::FunctionCall, position: ast::Position) -> Result<Expr, SqlError> {
        NoQuery.call(call, position)
    }

    fn parameter(&self, name: &str) -> Option<Expr> {
        self.parameters.find(name)
    }

    fn xml_prolog(&self) -> &str {
        self.prolog
    }

    fn subquery(&mut self, query: &ast::Query) -> Result<Expr, SqlError> {
        NoQuery.subquery(query)
    }

    fn exists(&mut self, query: &ast::Query) -> Result<Predicate, SqlError> {
        NoQuery.exists(query)
    }

    fn in_query(&mut self, operand: Expr, query: &ast::Query) -> Result<Predicate, SqlError> {
        NoQuery.in_query(operand, query)
    }

    fn quantified(
        &mut self,
        operand: Expr,
        comparison: Comparison,
        quantifier: ast::Quantifier,
        query: &ast::Query,
    ) -> Result<Predicate, SqlError> {
        NoQuery.quantified(operand, comparison, quantifier, query)
    }
}

fn checked(function: &'static Function, value: Expr) -> Result<Expr, SqlError> {
    let data_type = value.data_type;
    let call = FunctionCall {
        function,
        part: None,
        arguments: vec![value],
    };
    Ok(Expr::new(ExprKind::Call(Box::new(call)), data_type))
}

/// Checks the percentage that a query returned; not callable by name.
static QUERIED_PERCENT: Function =
    Function::new("top", &[], Typing::Is(DataType::Float), queried_percent).taking_nulls();

fn queried_percent(call: &Arguments<'_>) -> Result<Value, SqlError> {
    if let Value::Float(percent) = call.value(0)
        && (0.0..=100.0).contains(percent)
    {
        return Ok(Value::Float(*percent));
    }
    Err(SqlError::percent_range())
}

/// Checks the count that a query returned; not callable by name.
static QUERIED_COUNT: Function = Function::new("top", &[], Typing::Is(DataType::BigInt), queried_count).taking_nulls();

fn queried_count(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let count = call.value(0).as_whole().filter(|count| *count >= 0);
    count.map(Value::BigInt).ok_or_else(SqlError::invalid_row_count)
}

const UNKNOWN_COLUMN: i32 = 207;
const UNBOUND: i32 = 4104;
const SUBQUERY: i32 = 1046;
