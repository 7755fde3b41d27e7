//! Expressions and conditions by precedence.
//!
//! One parser handles both: after `(` the kind is not yet known.

use super::{Parse, Parser, WEIGHT_EXPRESSION};
use crate::{
    ast::{
        Arguments, BinaryOperator, CallForm, Condition, ConditionKind, Expr, ExprKind, FunctionCall, Name, Position,
        Query, UnaryOperator,
    },
    error::SyntaxFault,
    keyword::Keyword,
    token::TokenKind,
};

/// The result of parsing an expression or condition.
pub(super) enum Term {
    Value(Expr),
    Condition(Condition),
}

/// The precedence of an operator, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Precedence {
    Or,
    And,
    Not,
    Compare,
    /// Includes unary signs: `-a * b` is `-(a * b)`.
    Add,
    Multiply,
    /// `~`, and COLLATE after its operand.
    Tight,
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.nested(WEIGHT_EXPRESSION, |p| p.value(Precedence::Add))
    }

    /// A condition.
    pub(super) fn condition(&mut self) -> Parse<Condition> {
        self.nested(WEIGHT_EXPRESSION, |p| p.condition_at_least(Precedence::Or))
    }

    /// An expression of operators with at least the precedence `min`, which is `Add` or higher.
    pub(super) fn value(&mut self, min: Precedence) -> Parse<Expr> {
        match self.term(min)? {
            Term::Value(value) => Ok(value),
            Term::Condition(_) => Err(self.unexpected()),
        }
    }

    fn condition_at_least(&mut self, min: Precedence) -> Parse<Condition> {
        match self.term(min)? {
            Term::Condition(condition) => Ok(condition),
            Term::Value(_) => Err(self.not_condition()),
        }
    }

    fn not_condition(&self) -> Box<crate::SyntaxError> {
        let token = self.peek();
        if self.lexical_fault(token).is_some() {
            return self.unexpected();
        }
        let token = self.reported_token(token);
        SyntaxFault::not_condition(&self.echo(token)).at(token.position)
    }

    fn term(&mut self, min: Precedence) -> Parse<Term> {
        let start = self.here();
        let left = self.prefix(min)?;
        self.term_after(start, left, min)
    }

    /// The operators after `left`, which begins at `start`, with at least the precedence `min`.
    pub(super) fn term_after(&mut self, start: Position, mut left: Term, min: Precedence) -> Parse<Term> {
        // The precedence of the AND or OR list that this loop started, which the next operand extends.
        let mut junction = None;
        while let Some(level) = self.operator_level().filter(|level| *level >= min) {
            left = match (level, left) {
                (Precedence::Or | Precedence::And, Term::Condition(left)) => {
                    let extend = junction == Some(level);
                    junction = Some(level);
                    if !extend {
                        self.raise()?;
                    }
                    Term::Condition(self.junction(start, left, level, extend)?)
                }
                (Precedence::Or | Precedence::And, Term::Value(_)) => return Err(self.not_condition()),
                (_, Term::Condition(_)) => return Err(self.unexpected()),
                (Precedence::Not | Precedence::Compare, Term::Value(left)) => {
                    self.raise()?;
                    Term::Condition(self.predicate(start, left)?)
                }
                (Precedence::Add | Precedence::Multiply, Term::Value(left)) => {
                    self.raise()?;
                    Term::Value(self.arithmetic(start, left, level)?)
                }
                (Precedence::Tight, Term::Value(left)) => {
                    self.raise()?;
                    Term::Value(self.postfix(start, left)?)
                }
            };
        }
        Ok(left)
    }

    /// The precedence of the next operator; `None` if the next token is not an operator.
    fn operator_level(&self) -> Option<Precedence> {
        match self.kind() {
            _ if self.shift().is_some() => Some(Precedence::Add),
            TokenKind::Star | TokenKind::Slash | TokenKind::Percent => Some(Precedence::Multiply),
            TokenKind::Plus | TokenKind::Minus | TokenKind::Ampersand | TokenKind::Pipe | TokenKind::Caret => {
                Some(Precedence::Add)
            }
            TokenKind::Equal | TokenKind::Less | TokenKind::Greater | TokenKind::Bang => Some(Precedence::Compare),
            TokenKind::Keyword(Keyword::Is | Keyword::Between | Keyword::In | Keyword::Like) => {
                Some(Precedence::Compare)
            }
            TokenKind::Keyword(Keyword::Not) => match self.peek_at(1).kind {
                TokenKind::Keyword(Keyword::Between | Keyword::In | Keyword::Like) => Some(Precedence::Compare),
                _ => None,
            },
            TokenKind::Keyword(Keyword::And) => Some(Precedence::And),
            TokenKind::Keyword(Keyword::Or) => Some(Precedence::Or),
            TokenKind::Keyword(Keyword::Collate) => Some(Precedence::Tight),
            TokenKind::Word if self.is_time_zone() => Some(Precedence::Tight),
            _ => None,
        }
    }

    /// The function for `<<` or `>>`, if the next token is one of them.
    fn shift(&self) -> Option<&'static str> {
        let (first, second) = (self.peek(), self.peek_at(1));
        let adjacent = first.position.end == second.position.start;
        match (first.kind, second.kind) {
            (TokenKind::Less, TokenKind::Less) if adjacent => Some("LEFT_SHIFT"),
            (TokenKind::Greater, TokenKind::Greater) if adjacent => Some("RIGHT_SHIFT"),
            _ => None,
        }
    }

    /// `a << b`, which is equivalent to `LEFT_SHIFT(a, b)`.
    fn shifted(&mut self, start: Position, left: Expr, function: &str) -> Parse<Expr> {
        let first = self.advance().position;
        self.advance();
        let position = self.since(first);
        let right = self.nested(1, |p| p.value(Precedence::Multiply))?;
        let name = Name {
            text: String::from(function),
            quoted: false,
            position,
        };
        let call = FunctionCall {
            name: Self::single(name),
            arguments: Arguments::List(vec![left, right]),
            within_group: Vec::new(),
            null_treatment: None,
            over: None,
            odbc: false,
            form: CallForm::Function,
        };
        Ok(self.expr_since(start, ExprKind::Function(Box::new(call))))
    }

    fn is_time_zone(&self) -> bool {
        self.is_word("at") && self.is_word_at(1, "time") && self.is_word_at(2, "zone")
    }

    /// AND or OR after `left`; with `extend` the right operand is appended to the list `left`.
    fn junction(&mut self, start: Position, left: Condition, level: Precedence, extend: bool) -> Parse<Condition> {
        self.advance();
        let right_level = if level == Precedence::Or {
            Precedence::And
        } else {
            Precedence::Not
        };
        let right = self.nested(1, |p| p.condition_at_least(right_level))?;
        let position = self.since(start);
        let kind = match left.kind {
            ConditionKind::And(mut list) if extend && level == Precedence::And => {
                list.push(right);
                ConditionKind::And(list)
            }
            ConditionKind::Or(mut list) if extend && level == Precedence::Or => {
                list.push(right);
                ConditionKind::Or(list)
            }
            kind => {
                let left = Condition {
                    kind,
                    position: left.position,
                };
                if level == Precedence::Or {
                    ConditionKind::Or(vec![left, right])
                } else {
                    ConditionKind::And(vec![left, right])
                }
            }
        };
        Ok(Condition { kind, position })
    }

    fn arithmetic(&mut self, start: Position, left: Expr, level: Precedence) -> Parse<Expr> {
        if let Some(function) = self.shift() {
            return self.shifted(start, left, function);
        }
        let operator = match self.kind() {
            TokenKind::Star => BinaryOperator::Multiply,
            TokenKind::Slash => BinaryOperator::Divide,
            TokenKind::Percent => BinaryOperator::Modulo,
            TokenKind::Plus => BinaryOperator::Add,
            TokenKind::Minus => BinaryOperator::Subtract,
            TokenKind::Ampersand => BinaryOperator::BitAnd,
            TokenKind::Caret => BinaryOperator::BitXor,
            TokenKind::Pipe => BinaryOperator::BitOr,
            _ => return Err(self.unexpected()),
        };
        self.advance();
        let right_level = if level == Precedence::Add {
            Precedence::Multiply
        } else {
            Precedence::Tight
        };
        let right = self.nested(1, |p| p.value(right_level))?;
        let kind = ExprKind::Binary {
            operator,
            left: Box::new(left),
            right: Box::new(right),
        };
        Ok(self.expr_since(start, kind))
    }

    /// `COLLATE name` and `AT TIME ZONE zone`.
    fn postfix(&mut self, start: Position, operand: Expr) -> Parse<Expr> {
        if self.eat_keyword(Keyword::Collate) {
            let collation = self.name()?;
            let kind = ExprKind::Collate {
                operand: Box::new(operand),
                collation,
            };
            return Ok(self.expr_since(start, kind));
        }
        for _ in 0..3 {
            self.advance();
        }
        let Term::Value(zone) = self.nested(1, |p| p.prefix(Precedence::Tight))? else {
            return Err(self.unexpected());
        };
        let kind = ExprKind::TimeZone {
            operand: Box::new(operand),
            zone: Box::new(zone),
        };
        Ok(self.expr_since(start, kind))
    }

    /// A prefix operator (sign, NOT, EXISTS) with its operand, or a primary expression.
    fn prefix(&mut self, min: Precedence) -> Parse<Term> {
        let start = self.here();
        let allow_condition = min <= Precedence::Compare;
        let operator = match self.kind() {
            TokenKind::LeftParen => {
                return match self.parenthesised(allow_condition)? {
                    Term::Value(value) => self.methods(start, value).map(Term::Value),
                    condition @ Term::Condition(_) => Ok(condition),
                };
            }
            TokenKind::Keyword(Keyword::Not) if min <= Precedence::Not => {
                self.advance();
                let operand = self.nested(WEIGHT_EXPRESSION, |p| p.condition_at_least(Precedence::Not))?;
                return Ok(self.condition_since(start, ConditionKind::Not(Box::new(operand))));
            }
            TokenKind::Keyword(Keyword::Exists) if allow_condition => {
                self.advance();
                let query = self.subquery()?;
                return Ok(self.condition_since(start, ConditionKind::Exists(Box::new(query))));
            }
            TokenKind::Keyword(Keyword::Update) if allow_condition && self.is_at(1, TokenKind::LeftParen) => {
                return self.updated();
            }
            TokenKind::Keyword(Keyword::Contains | Keyword::Freetext) if allow_condition => {
                return self.refused_predicate();
            }
            TokenKind::Plus => UnaryOperator::Plus,
            TokenKind::Minus => UnaryOperator::Minus,
            TokenKind::Tilde => UnaryOperator::BitNot,
            _ => return self.primary().map(Term::Value),
        };
        self.advance();
        let level = match operator {
            UnaryOperator::Plus | UnaryOperator::Minus => Precedence::Multiply,
            UnaryOperator::BitNot => Precedence::Tight,
        };
        let operand = self.nested(WEIGHT_EXPRESSION, |p| p.value(level))?;
        let kind = ExprKind::Unary {
            operator,
            operand: Box::new(operand),
        };
        Ok(Term::Value(self.expr_since(start, kind)))
    }

    pub(super) fn condition_since(&self, start: Position, kind: ConditionKind) -> Term {
        let position = self.since(start);
        Term::Condition(Condition { kind, position })
    }

    /// A parenthesized expression, or, with `allow_condition`, a condition.
    pub(super) fn parenthesised(&mut self, allow_condition: bool) -> Parse<Term> {
        let start = self.here();
        self.expect(TokenKind::LeftParen)?;
        let mut term = self.nested(WEIGHT_EXPRESSION, |p| p.content_of_parens(allow_condition))?;
        self.expect(TokenKind::RightParen)?;
        let position = self.since(start);
        match &mut term {
            Term::Value(value) => value.position = position,
            Term::Condition(condition) => condition.position = position,
        }
        Ok(term)
    }

    fn content_of_parens(&mut self, allow_condition: bool) -> Parse<Term> {
        let min = if allow_condition {
            Precedence::Or
        } else {
            Precedence::Add
        };
        if self.is_keyword(Keyword::Select) {
            let query = self.nested_query()?;
            return Ok(Term::Value(subquery_expr(query)));
        }
        if !self.is(TokenKind::LeftParen) {
            return self.term(min);
        }
        let start = self.here();
        let first = self.parenthesised(allow_condition)?;
        match first {
            Term::Value(Expr {
                kind: ExprKind::Subquery(query),
                ..
            }) if self.is_set_operator() => {
                let query = self.nested_query_after(start, *query)?;
                Ok(Term::Value(subquery_expr(query)))
            }
            first => self.term_after(start, first, min),
        }
    }
}

pub(super) fn subquery_expr(query: Query) -> Expr {
    Expr {
        position: query.position,
        kind: ExprKind::Subquery(Box::new(query)),
    }
}
