//! ODBC escape sequences: `{fn ..}`, `{d '..'}` and others.

use super::{Parse, Parser};
use crate::{
    ast::{Expr, ExprKind, OdbcLiteral},
    token::TokenKind,
};

impl Parser<'_> {
    /// An escape sequence that is an expression.
    pub(super) fn odbc_escape(&mut self) -> Parse<Expr> {
        let start = self.expect(TokenKind::LeftBrace)?.position;
        if self.eat_word("fn") {
            let mut value = self.odbc_function()?;
            self.expect(TokenKind::RightBrace)?;
            value.position = self.since(start);
            return Ok(value);
        }
        let make: fn(String) -> OdbcLiteral = if self.eat_word("d") {
            OdbcLiteral::Date
        } else if self.eat_word("t") {
            OdbcLiteral::Time
        } else if self.eat_word("ts") {
            OdbcLiteral::Timestamp
        } else if self.eat_word("guid") {
            OdbcLiteral::Guid
        } else {
            return Err(self.unexpected());
        };
        let text = self.string()?;
        self.expect(TokenKind::RightBrace)?;
        Ok(self.expr_since(start, ExprKind::OdbcLiteral(make(text))))
    }
}
