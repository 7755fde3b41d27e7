//! The arguments in the parentheses of a DBCC.

use selenite_compiler::{Ends, SqlError, Variables};
use selenite_tsql::ast::{Expr, ExprKind, Literal, UnaryOperator};
use selenite_types::Value;

use crate::catalog::written_name::name_of_column;
use crate::session_state::SessionState;

/// An argument's value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    /// NULL.
    Null,
    /// A whole number.
    Number(i64),
    /// A text, a word or a name.
    Text(String),
}

impl Argument {
    /// That of what was written.
    ///
    /// # Errors
    /// 137 for an undeclared variable; 2526 for an argument that is not allowed there.
    pub fn of(
        written: &Expr,
        (variables, slots): (&Variables, &[Value]),
        state: &SessionState,
    ) -> Result<Self, SqlError> {
        if let ExprKind::Literal(literal) = &written.kind {
            return of_literal(literal);
        }
        if let ExprKind::Unary {
            operator: UnaryOperator::Minus,
            operand,
        } = &written.kind
            && let ExprKind::Literal(literal) = &operand.kind
            && let Self::Number(number) = of_literal(literal)?
        {
            return Ok(Self::Number(-number));
        }
        if let ExprKind::Column(column) = &written.kind {
            return Ok(Self::Text(name_of_column(column)));
        }
        if let ExprKind::Global(name) = &written.kind
            && name.eq_ignore_ascii_case("@@SPID")
        {
            return Ok(Self::Number(state.session.spid.into()));
        }
        if let ExprKind::Variable(name) | ExprKind::Global(name) = &written.kind {
            let variable = variables.find(name)?;
            return Self::of_value(slots.get(variable.slot.index()).unwrap_or(&Value::Null));
        }
        Err(incorrect())
    }

    fn of_value(value: &Value) -> Result<Self, SqlError> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bit(bit) => Self::Number((*bit).into()),
            Value::TinyInt(number) => Self::Number((*number).into()),
            Value::SmallInt(number) => Self::Number((*number).into()),
            Value::Int(number) => Self::Number((*number).into()),
            Value::BigInt(number) => Self::Number(*number),
            Value::Text(text) => Self::Text(text.trim_end().to_owned()),
            Value::Decimal(_)
            | Value::Money(_)
            | Value::Real(_)
            | Value::Float(_)
            | Value::Binary(_)
            | Value::Date(_)
            | Value::Time(_)
            | Value::DateTime(_)
            | Value::DateTimeOffset(_)
            | Value::Guid(_)
            | Value::SqlVariant(_) => return Err(incorrect()),
        })
    }

    /// Whether it is this word.
    pub fn is(&self, word: &str) -> bool {
        matches!(self, Self::Text(text) if text.eq_ignore_ascii_case(word))
    }
}

/// Whether what was written is the text ALL.
pub(crate) fn is_all(written: &Expr) -> bool {
    if let ExprKind::Literal(literal) = &written.kind {
        return of_literal(literal).is_ok_and(|argument| argument.is("ALL"));
    }
    false
}

fn of_literal(literal: &Literal) -> Result<Argument, SqlError> {
    match literal {
        Literal::Null => Ok(Argument::Null),
        Literal::Integer(digits) => Ok(Argument::Number(digits.parse().unwrap_or(i64::MAX))),
        Literal::String(text) | Literal::National(text) => Ok(Argument::Text(text.trim_end().to_owned())),
        Literal::Decimal(_) | Literal::Float(_) | Literal::Money(_) | Literal::Binary(_) => Err(incorrect()),
    }
}

fn incorrect() -> SqlError {
    let text = "Incorrect DBCC statement. Check the documentation for the correct DBCC syntax and options.";
    SqlError::new(2526, Ends::Statement, text).with_state(3)
}
