//! TOP, OFFSET and FETCH.

use selenite_tsql::ast;
use selenite_types::{DataType, Family, Value};

use super::QueryBinder;
use super::tree::Limit;
use crate::expr::{Arguments, Typing, whole_in};
use crate::{Binder, Expr, ExprKind, Function, FunctionCall, NoQuery, SqlError};

impl QueryBinder<'_> {
    /// Binds the row limits of a query.
    ///
    /// Errors: 1060 for a count that is not an integer, 1062 for WITH TIES without ORDER BY, 10741 for TOP with OFFSET,
    /// 40510 for a count that is neither a constant nor a variable.
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
                    let count = self.fixed(&top.count)?.converted_to(&DataType::Float)?;
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
        if let ast::ExprKind::Subquery(query) = &expr.kind {
            return self.queried_count(query, expr.position.line);
        }
        let bound = self.fixed(expr)?;
        if !matches!(bound.data_type.family(), Family::Integer | Family::Bit) && !bound.is_null_word() {
            return Err(SqlError::row_count_type().on_line(expr.position.line));
        }
        bound.converted_to(&DataType::BigInt)
    }

    /// A count that a query returns, which SQLite evaluates once: no columns of outer queries are in scope.
    fn queried_count(&mut self, query: &ast::Query, line: u32) -> Result<Expr, SqlError> {
        let scopes = std::mem::take(&mut self.scopes);
        let bound = self.nested(|binder| binder.bind_scalar(query));
        self.scopes = scopes;
        let bound = bound.map_err(|error| match error.number() {
            UNBOUND => SqlError::column_in_limit().on_line(line),
            _ => error.on_line(line),
        })?;
        if !matches!(bound.data_type.family(), Family::Integer | Family::Bit) {
            return Err(SqlError::row_count_type().on_line(line));
        }
        let count = FunctionCall {
            function: &QUERIED_COUNT,
            part: None,
            arguments: vec![bound.converted_to(&DataType::BigInt)?],
        };
        Ok(Expr::new(ExprKind::Call(Box::new(count)), DataType::BigInt))
    }

    /// A value that does not depend on a row.
    fn fixed(&mut self, expr: &ast::Expr) -> Result<Expr, SqlError> {
        let bound = Binder::new(self.variables, &mut NoQuery).expr(expr);
        let bound = bound.map_err(|error| match error.number() {
            UNKNOWN_COLUMN | UNBOUND => SqlError::column_in_limit(),
            SUBQUERY => SqlError::unsupported("A subquery in TOP, OFFSET or FETCH"),
            _ => error,
        });
        bound.map_err(|error| error.on_line(expr.position.line))
    }
}

/// Checks the count that a query returned; not callable by name.
static QUERIED_COUNT: Function = Function::new("top", &[], Typing::Is(DataType::BigInt), queried_count).taking_nulls();

fn queried_count(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let count = whole_in(call.value(0)).filter(|count| *count >= 0);
    count.map(Value::BigInt).ok_or_else(SqlError::invalid_row_count)
}

const UNKNOWN_COLUMN: i32 = 207;
const UNBOUND: i32 = 4104;
const SUBQUERY: i32 = 1046;
