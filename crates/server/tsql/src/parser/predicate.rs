//! Predicates: conditions formed from expressions.

use super::{
    Parse, Parser,
    expression::{Precedence, Term},
};
use crate::{
    ast::{Comparison, Condition, ConditionKind, Expr, ExprKind, Literal, Position, Quantifier},
    keyword::Keyword,
    token::TokenKind,
};

impl Parser<'_> {
    /// The predicate whose first operand is `left`, which begins at `start`.
    pub(super) fn predicate(&mut self, start: Position, left: Expr) -> Parse<Condition> {
        let operand = Box::new(left);
        let negated = self.eat_keyword(Keyword::Not);
        let kind = match self.kind() {
            TokenKind::Keyword(Keyword::Is) => self.is_predicate(operand)?,
            TokenKind::Keyword(Keyword::Between) => {
                self.advance();
                let low = self.operand()?;
                self.expect_keyword(Keyword::And)?;
                let high = self.operand()?;
                ConditionKind::Between {
                    operand,
                    low,
                    high,
                    negated,
                }
            }
            TokenKind::Keyword(Keyword::Like) => {
                self.advance();
                let pattern = self.operand()?;
                let escape = match self.eat_keyword(Keyword::Escape) {
                    true => Some(self.operand()?),
                    false => None,
                };
                ConditionKind::Like {
                    operand,
                    pattern,
                    escape,
                    negated,
                }
            }
            TokenKind::Keyword(Keyword::In) => self.in_predicate(operand, negated)?,
            _ => self.comparison(operand)?,
        };
        let position = self.since(start);
        Ok(Condition { kind, position })
    }

    fn operand(&mut self) -> Parse<Box<Expr>> {
        self.nested(1, |p| p.value(Precedence::Add)).map(Box::new)
    }

    fn is_predicate(&mut self, operand: Box<Expr>) -> Parse<ConditionKind> {
        self.advance();
        let negated = self.eat_keyword(Keyword::Not);
        if self.eat_keyword(Keyword::Null) {
            return Ok(ConditionKind::IsNull { operand, negated });
        }
        self.expect_keyword(Keyword::Distinct)?;
        self.expect_keyword(Keyword::From)?;
        Ok(ConditionKind::IsDistinctFrom {
            left: operand,
            right: self.operand()?,
            negated,
        })
    }

    fn in_predicate(&mut self, operand: Box<Expr>, negated: bool) -> Parse<ConditionKind> {
        self.advance();
        self.expect(TokenKind::LeftParen)?;
        let start = self.here();
        if self.is_keyword(Keyword::Select) {
            let query = Box::new(self.nested_query()?);
            self.expect(TokenKind::RightParen)?;
            return Ok(ConditionKind::InQuery {
                operand,
                query,
                negated,
            });
        }
        let mut list = Vec::new();
        if self.is(TokenKind::LeftParen) {
            // A parenthesized query, or a list whose first item begins with one.
            let first = match self.parenthesised(false)? {
                Term::Value(value) => value,
                Term::Condition(_) => return Err(self.unexpected()),
            };
            let first = match first.kind {
                ExprKind::Subquery(query) if self.is_set_operator() || self.is(TokenKind::RightParen) => {
                    let query = Box::new(self.nested_query_after(start, *query)?);
                    self.expect(TokenKind::RightParen)?;
                    return Ok(ConditionKind::InQuery {
                        operand,
                        query,
                        negated,
                    });
                }
                kind => Term::Value(Expr {
                    kind,
                    position: first.position,
                }),
            };
            match self.nested(1, |p| p.term_after(start, first, Precedence::Add))? {
                Term::Value(first) => list.push(first),
                Term::Condition(_) => return Err(self.unexpected()),
            }
            if self.eat(TokenKind::Comma) {
                list.extend(self.list(Self::expression)?);
            }
        } else {
            list = self.list(Self::expression)?;
        }
        self.expect(TokenKind::RightParen)?;
        Ok(ConditionKind::InList { operand, list, negated })
    }

    fn comparison(&mut self, left: Box<Expr>) -> Parse<ConditionKind> {
        let operator = self.comparison_operator()?;
        let quantifier = match self.kind() {
            TokenKind::Keyword(Keyword::All) => Some(Quantifier::All),
            TokenKind::Keyword(Keyword::Any | Keyword::Some) => Some(Quantifier::Any),
            _ => None,
        };
        if let Some(quantifier) = quantifier {
            self.advance();
            return Ok(ConditionKind::Quantified {
                operator,
                left,
                quantifier,
                query: Box::new(self.subquery()?),
            });
        }
        Ok(ConditionKind::Compare {
            operator,
            left,
            right: self.operand()?,
        })
    }

    /// `=`, `<>`, `!<` and others; whitespace is allowed between the characters.
    fn comparison_operator(&mut self) -> Parse<Comparison> {
        let first = self.kind();
        self.advance();
        let operator = match first {
            TokenKind::Equal => Comparison::Equal,
            TokenKind::Less if self.eat(TokenKind::Equal) => Comparison::LessOrEqual,
            TokenKind::Less if self.eat(TokenKind::Greater) => Comparison::NotEqual,
            TokenKind::Less => Comparison::Less,
            TokenKind::Greater if self.eat(TokenKind::Equal) => Comparison::GreaterOrEqual,
            TokenKind::Greater => Comparison::Greater,
            TokenKind::Bang if self.eat(TokenKind::Equal) => Comparison::NotEqual,
            TokenKind::Bang if self.eat(TokenKind::Less) => Comparison::GreaterOrEqual,
            TokenKind::Bang if self.eat(TokenKind::Greater) => Comparison::LessOrEqual,
            _ => return Err(self.unexpected()),
        };
        Ok(operator)
    }

    /// CONTAINS (..) and FREETEXT (..): full-text search, which is not supported.
    pub(super) fn refused_predicate(&mut self) -> Parse<Term> {
        let start = self.here();
        let what = match self.is_keyword(Keyword::Contains) {
            true => "CONTAINS",
            false => "FREETEXT",
        };
        self.advance();
        self.skip_parens()?;
        self.refuse(what, self.since(start));
        let operand = Box::new(self.expr_since(start, ExprKind::Literal(Literal::Null)));
        Ok(self.condition_since(
            start,
            ConditionKind::IsNull {
                operand,
                negated: false,
            },
        ))
    }
}
