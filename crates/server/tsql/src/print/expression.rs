//! Expressions.

use core::fmt;

use super::{List, Optional, Text, word};
use crate::ast::{
    Arguments, BinaryOperator, CallForm, Case, CaseBranches, Cast, CastKind, Expr, ExprKind, FrameBound, FrameUnit,
    FunctionCall, Iif, NullTreatment, OdbcLiteral, SearchedBranch, SimpleBranch, UnaryOperator, WindowFrame,
};

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Literal(literal) => write!(f, "{literal}"),
            ExprKind::OdbcLiteral(literal) => write!(f, "{literal}"),
            ExprKind::Variable(name) | ExprKind::Global(name) => f.write_str(name),
            ExprKind::Column(column) => write!(f, "{column}"),
            ExprKind::Unary { operator, operand } => {
                write!(f, "{operator}{}", Operand(operand, operand_level(*operator)))
            }
            ExprKind::Binary { operator, left, right } => {
                let level = level(*operator);
                let tighter = match level {
                    Precedence::Add => Precedence::Multiply,
                    Precedence::Multiply | Precedence::Tight => Precedence::Tight,
                };
                write!(f, "{} {operator} {}", Operand(left, level), Operand(right, tighter))
            }
            ExprKind::Collate { operand, collation } => {
                // `~a COLLATE b` is `~(a COLLATE b)`.
                if matches!(operand.kind, ExprKind::Unary { .. }) {
                    return write!(f, "({operand}) COLLATE {collation}");
                }
                write!(f, "{} COLLATE {collation}", Operand(operand, Precedence::Tight))
            }
            ExprKind::TimeZone { operand, zone } => {
                if matches!(operand.kind, ExprKind::Unary { .. }) {
                    write!(f, "({operand})")?;
                } else {
                    write!(f, "{}", Operand(operand, Precedence::Tight))?;
                }
                match zone.kind {
                    ExprKind::Unary { .. }
                    | ExprKind::Binary { .. }
                    | ExprKind::Collate { .. }
                    | ExprKind::TimeZone { .. } => write!(f, " AT TIME ZONE ({zone})"),
                    ExprKind::Literal(_)
                    | ExprKind::OdbcLiteral(_)
                    | ExprKind::Variable(_)
                    | ExprKind::Global(_)
                    | ExprKind::Column(_)
                    | ExprKind::Function(_)
                    | ExprKind::Cast(_)
                    | ExprKind::Case(_)
                    | ExprKind::Iif(_)
                    | ExprKind::NextValue(_)
                    | ExprKind::Default
                    | ExprKind::Subquery(_) => write!(f, " AT TIME ZONE {zone}"),
                }
            }
            ExprKind::Function(call) => write!(f, "{call}"),
            ExprKind::Cast(cast) => write!(f, "{cast}"),
            ExprKind::Case(case) => write!(f, "{case}"),
            ExprKind::Iif(iif) => write!(f, "{iif}"),
            ExprKind::Subquery(query) => write!(f, "({query})"),
            ExprKind::NextValue(next) => write!(f, "{next}"),
            ExprKind::Default => f.write_str("DEFAULT"),
        }
    }
}

/// The precedence of an operator, lowest first.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Precedence {
    Add,
    Multiply,
    Tight,
}

fn level(operator: BinaryOperator) -> Precedence {
    match operator {
        BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::Modulo => Precedence::Multiply,
        BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::BitAnd
        | BinaryOperator::BitXor
        | BinaryOperator::BitOr => Precedence::Add,
    }
}

fn operand_level(operator: UnaryOperator) -> Precedence {
    match operator {
        UnaryOperator::Plus | UnaryOperator::Minus => Precedence::Multiply,
        UnaryOperator::BitNot => Precedence::Tight,
    }
}

/// An operand of an operator with the given precedence: in parentheses if its own is lower.
struct Operand<'a>(&'a Expr, Precedence);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parens = match &self.0.kind {
            ExprKind::Binary { operator, .. } => level(*operator) < self.1,
            // A unary sign applies to a whole product.
            ExprKind::Unary { operator, .. } => *operator != UnaryOperator::BitNot,
            ExprKind::Literal(_)
            | ExprKind::OdbcLiteral(_)
            | ExprKind::Variable(_)
            | ExprKind::Global(_)
            | ExprKind::Column(_)
            | ExprKind::Collate { .. }
            | ExprKind::TimeZone { .. }
            | ExprKind::Function(_)
            | ExprKind::Cast(_)
            | ExprKind::Case(_)
            | ExprKind::Iif(_)
            | ExprKind::Subquery(_)
            | ExprKind::NextValue(_)
            | ExprKind::Default => false,
        };
        match parens {
            true => write!(f, "({})", self.0),
            false => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Display for UnaryOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::BitNot => "~",
        })
    }
}

impl fmt::Display for BinaryOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Modulo => "%",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::BitAnd => "&",
            Self::BitXor => "^",
            Self::BitOr => "|",
        })
    }
}

impl fmt::Display for OdbcLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, text) = match self {
            Self::Date(text) => ("d", text),
            Self::Time(text) => ("t", text),
            Self::Timestamp(text) => ("ts", text),
            Self::Guid(text) => ("guid", text),
        };
        write!(f, "{{{word} {}}}", Text(text))
    }
}

impl fmt::Display for FunctionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (CallForm::Method | CallForm::Mutator, Arguments::List(given)) = (self.form, &self.arguments)
            && let Some((operand, given)) = given.split_first()
        {
            let is_bare = matches!(
                operand.kind,
                ExprKind::Variable(_) | ExprKind::Column(_) | ExprKind::Function(_) | ExprKind::Subquery(_)
            );
            return match is_bare {
                true => write!(f, "{operand}.{}({})", self.name, List(given)),
                false => write!(f, "({operand}).{}({})", self.name, List(given)),
            };
        }
        write!(f, "{}{}{}", word(self.odbc, "{fn "), self.name, self.arguments)?;
        if !self.within_group.is_empty() {
            write!(f, " WITHIN GROUP (ORDER BY {})", List(&self.within_group))?;
        }
        f.write_str(match self.null_treatment {
            Some(NullTreatment::Ignore) => " IGNORE NULLS",
            Some(NullTreatment::Respect) => " RESPECT NULLS",
            None => "",
        })?;
        write!(
            f,
            "{}{}",
            Optional("OVER (", self.over.as_ref(), ")"),
            word(self.odbc, "}")
        )
    }
}

impl fmt::Display for Arguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => Ok(()),
            Self::Star => f.write_str("(*)"),
            Self::List(list) => write!(f, "({})", List(list)),
            Self::Distinct(list) => write!(f, "(DISTINCT {})", List(list)),
            Self::Json(arguments) => write!(f, "{arguments}"),
        }
    }
}

impl fmt::Display for WindowFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            FrameUnit::Rows => "ROWS",
            FrameUnit::Range => "RANGE",
        };
        match self.end {
            Some(end) => write!(f, "{unit} BETWEEN {} AND {end}", self.start),
            None => write!(f, "{unit} {}", self.start),
        }
    }
}

impl fmt::Display for FrameBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnboundedPreceding => f.write_str("UNBOUNDED PRECEDING"),
            Self::Preceding(count) => write!(f, "{count} PRECEDING"),
            Self::CurrentRow => f.write_str("CURRENT ROW"),
            Self::Following(count) => write!(f, "{count} FOLLOWING"),
            Self::UnboundedFollowing => f.write_str("UNBOUNDED FOLLOWING"),
        }
    }
}

impl fmt::Display for Cast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, type_first) = match self.kind {
            CastKind::Cast => ("CAST", false),
            CastKind::TryCast => ("TRY_CAST", false),
            CastKind::Convert => ("CONVERT", true),
            CastKind::TryConvert => ("TRY_CONVERT", true),
            CastKind::Parse => ("PARSE", false),
            CastKind::TryParse => ("TRY_PARSE", false),
        };
        if !type_first {
            let culture = Optional("USING ", self.style.as_ref(), "");
            return write!(f, "{name}({} AS {}{culture})", self.operand, self.type_name);
        }
        write!(f, "{name}({}, {}", self.type_name, self.operand)?;
        match &self.style {
            Some(style) => write!(f, ", {style})"),
            None => f.write_str(")"),
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CASE")?;
        match &self.branches {
            CaseBranches::Simple { operand, branches } => {
                write!(f, " {operand}")?;
                branches.iter().try_for_each(|branch| write!(f, " {branch}"))?;
            }
            CaseBranches::Searched(branches) => {
                branches.iter().try_for_each(|branch| write!(f, " {branch}"))?;
            }
        }
        write!(f, "{} END", Optional("ELSE ", self.otherwise.as_ref(), ""))
    }
}

impl fmt::Display for SimpleBranch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WHEN {} THEN {}", self.value, self.result)
    }
}

impl fmt::Display for SearchedBranch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WHEN {} THEN {}", self.condition, self.result)
    }
}

impl fmt::Display for Iif {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IIF({}, {}, {})", self.condition, self.then, self.otherwise)
    }
}
