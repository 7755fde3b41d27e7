//! Expressions and conditions by precedence.
//!
//! One parser makes both: after `(` it is not known yet which of the two it is.

use super::{Parse, Parser, WEIGHT_EXPRESSION};
use crate::{
    ast::{
        Arguments, BinaryOperator, Condition, ConditionKind, Expr, ExprKind, FunctionCall, Name, Position, Query,
        UnaryOperator,
    },
    error::Fault,
    keyword::Keyword,
    token::TokenKind,
};

/// What an expression's parse gives.
pub(super) enum Term {
    Value(Expr),
    Condition(Condition),
}

/// How much an operator binds: more is tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Or,
    And,
    Not,
    Compare,
    /// Signs too: `-a * b` is `-(a * b)`.
    Add,
    Multiply,
    /// `~`, and COLLATE after its operand.
    Tight,
}

impl Parser<'_> {
    /// A value.
    pub(super) fn expression(&mut self) -> Parse<Expr> {
        self.nested(WEIGHT_EXPRESSION, |p| p.value(Level::Add))
    }

    /// A truth.
    pub(super) fn condition(&mut self) -> Parse<Condition> {
        self.nested(WEIGHT_EXPRESSION, |p| p.truth(Level::Or))
    }

    /// A value of operators that bind at least as `min`, which is `Add` or tighter.
    pub(super) fn value(&mut self, min: Level) -> Parse<Expr> {
        match self.term(min)? {
            Term::Value(value) => Ok(value),
            Term::Condition(_) => Err(self.unexpected()),
        }
    }

    fn truth(&mut self, min: Level) -> Parse<Condition> {
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
        let token = self.blamed(token);
        Fault::not_condition(&self.echo(token)).at(token.position)
    }

    fn term(&mut self, min: Level) -> Parse<Term> {
        let start = self.here();
        let left = self.prefix(min)?;
        self.term_after(start, left, min)
    }

    /// What follows `left`, which begins at `start`, of operators that bind at least as `min`.
    pub(super) fn term_after(&mut self, start: Position, mut left: Term, min: Level) -> Parse<Term> {
        // Whether `left` is a list of ANDs or ORs that was begun here, so that the next one belongs to it.
        let mut junction = None;
        while let Some(level) = self.operator_level().filter(|level| *level >= min) {
            left = match (level, left) {
                (Level::Or | Level::And, Term::Condition(left)) => {
                    let extend = junction == Some(level);
                    junction = Some(level);
                    if !extend {
                        self.raise()?;
                    }
                    Term::Condition(self.junction(start, left, level, extend)?)
                }
                (Level::Or | Level::And, Term::Value(_)) => return Err(self.not_condition()),
                (_, Term::Condition(_)) => return Err(self.unexpected()),
                (Level::Not | Level::Compare, Term::Value(left)) => {
                    self.raise()?;
                    Term::Condition(self.predicate(start, left)?)
                }
                (Level::Add | Level::Multiply, Term::Value(left)) => {
                    self.raise()?;
                    Term::Value(self.arithmetic(start, left, level)?)
                }
                (Level::Tight, Term::Value(left)) => {
                    self.raise()?;
                    Term::Value(self.postfix(start, left)?)
                }
            };
        }
        Ok(left)
    }

    /// How much the operator binds that is next; nothing if none is.
    fn operator_level(&self) -> Option<Level> {
        match self.kind() {
            _ if self.shift().is_some() => Some(Level::Add),
            TokenKind::Star | TokenKind::Slash | TokenKind::Percent => Some(Level::Multiply),
            TokenKind::Plus | TokenKind::Minus | TokenKind::Ampersand | TokenKind::Pipe | TokenKind::Caret => {
                Some(Level::Add)
            }
            TokenKind::Equal | TokenKind::Less | TokenKind::Greater | TokenKind::Bang => Some(Level::Compare),
            TokenKind::Keyword(Keyword::Is | Keyword::Between | Keyword::In | Keyword::Like) => Some(Level::Compare),
            TokenKind::Keyword(Keyword::Not) => match self.peek_at(1).kind {
                TokenKind::Keyword(Keyword::Between | Keyword::In | Keyword::Like) => Some(Level::Compare),
                _ => None,
            },
            TokenKind::Keyword(Keyword::And) => Some(Level::And),
            TokenKind::Keyword(Keyword::Or) => Some(Level::Or),
            TokenKind::Keyword(Keyword::Collate) => Some(Level::Tight),
            TokenKind::Word if self.is_time_zone() => Some(Level::Tight),
            _ => None,
        }
    }

    /// The function for `<<` or `>>`, if one of these is next.
    fn shift(&self) -> Option<&'static str> {
        let (first, second) = (self.peek(), self.peek_at(1));
        let adjacent = first.position.end == second.position.start;
        match (first.kind, second.kind) {
            (TokenKind::Less, TokenKind::Less) if adjacent => Some("LEFT_SHIFT"),
            (TokenKind::Greater, TokenKind::Greater) if adjacent => Some("RIGHT_SHIFT"),
            _ => None,
        }
    }

    /// `a << b`, which is `LEFT_SHIFT(a, b)`.
    fn shifted(&mut self, start: Position, left: Expr, function: &str) -> Parse<Expr> {
        let first = self.advance().position;
        self.advance();
        let position = self.since(first);
        let right = self.nested(1, |p| p.value(Level::Multiply))?;
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
        };
        Ok(self.expr_since(start, ExprKind::Function(Box::new(call))))
    }

    fn is_time_zone(&self) -> bool {
        self.is_word("at") && self.is_word_at(1, "time") && self.is_word_at(2, "zone")
    }

    /// AND or OR after `left`; `extend` says that `left` is the list that the next one belongs to.
    fn junction(&mut self, start: Position, left: Condition, level: Level, extend: bool) -> Parse<Condition> {
        self.advance();
        let right_level = if level == Level::Or { Level::And } else { Level::Not };
        let right = self.nested(1, |p| p.truth(right_level))?;
        let position = self.since(start);
        let kind = match left.kind {
            ConditionKind::And(mut list) if extend && level == Level::And => {
                list.push(right);
                ConditionKind::And(list)
            }
            ConditionKind::Or(mut list) if extend && level == Level::Or => {
                list.push(right);
                ConditionKind::Or(list)
            }
            kind => {
                let left = Condition {
                    kind,
                    position: left.position,
                };
                if level == Level::Or {
                    ConditionKind::Or(vec![left, right])
                } else {
                    ConditionKind::And(vec![left, right])
                }
            }
        };
        Ok(Condition { kind, position })
    }

    fn arithmetic(&mut self, start: Position, left: Expr, level: Level) -> Parse<Expr> {
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
        let right_level = if level == Level::Add {
            Level::Multiply
        } else {
            Level::Tight
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
        let at = self.here();
        for _ in 0..3 {
            self.advance();
        }
        self.nested(1, |p| p.value(Level::Tight))?;
        self.refuse("AT TIME ZONE", self.since(at));
        Ok(operand)
    }

    /// What an expression begins with: signs, NOT, EXISTS, or a value without operators.
    fn prefix(&mut self, min: Level) -> Parse<Term> {
        let start = self.here();
        let truths = min <= Level::Compare;
        let operator = match self.kind() {
            TokenKind::LeftParen => return self.parenthesised(truths),
            TokenKind::Keyword(Keyword::Not) if min <= Level::Not => {
                self.advance();
                let operand = self.nested(WEIGHT_EXPRESSION, |p| p.truth(Level::Not))?;
                return Ok(self.condition_since(start, ConditionKind::Not(Box::new(operand))));
            }
            TokenKind::Keyword(Keyword::Exists) if truths => {
                self.advance();
                let query = self.subquery()?;
                return Ok(self.condition_since(start, ConditionKind::Exists(Box::new(query))));
            }
            TokenKind::Keyword(Keyword::Contains | Keyword::Freetext) if truths => {
                return self.refused_predicate();
            }
            TokenKind::Plus => UnaryOperator::Plus,
            TokenKind::Minus => UnaryOperator::Minus,
            TokenKind::Tilde => UnaryOperator::BitNot,
            _ => return self.primary().map(Term::Value),
        };
        self.advance();
        let level = match operator {
            UnaryOperator::Plus | UnaryOperator::Minus => Level::Multiply,
            UnaryOperator::BitNot => Level::Tight,
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

    /// The contents of parentheses; a condition only where `truths` allows one.
    pub(super) fn parenthesised(&mut self, truths: bool) -> Parse<Term> {
        let start = self.here();
        self.expect(TokenKind::LeftParen)?;
        let mut term = self.nested(WEIGHT_EXPRESSION, |p| p.content_of_parens(truths))?;
        self.expect(TokenKind::RightParen)?;
        let position = self.since(start);
        match &mut term {
            Term::Value(value) => value.position = position,
            Term::Condition(condition) => condition.position = position,
        }
        Ok(term)
    }

    fn content_of_parens(&mut self, truths: bool) -> Parse<Term> {
        let min = if truths { Level::Or } else { Level::Add };
        if self.is_keyword(Keyword::Select) {
            let query = self.nested_query()?;
            return Ok(Term::Value(subquery_expr(query)));
        }
        if !self.is(TokenKind::LeftParen) {
            return self.term(min);
        }
        let start = self.here();
        let first = self.parenthesised(truths)?;
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
