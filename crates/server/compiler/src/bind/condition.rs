//! Conditions: comparisons and the predicates composed of them.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType, Family, LikePattern, Value, Width};

use super::Binder;
use super::once::Once;
use super::operator::{operand, type_null_literals};
use crate::expr::{HEAVY_SIZE, Rule, collation_of};
use crate::{
    Collation, Compare, Expr, ExprKind, Function, FunctionCall, Like, Predicate, SqlError, Whole, WholeCompare,
};

impl Binder<'_> {
    pub(super) fn unlined_condition(&mut self, condition: &ast::Condition) -> Result<Predicate, SqlError> {
        self.hook.spend()?;
        let (predicate, negated) = match &condition.kind {
            ast::ConditionKind::And(parts) => (Predicate::And(self.conditions(parts)?), false),
            ast::ConditionKind::Or(parts) => (Predicate::Or(self.conditions(parts)?), false),
            ast::ConditionKind::Not(inner) => (self.condition(inner)?, true),
            ast::ConditionKind::Compare { operator, left, right } => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                (compared(comparison(*operator), left, right)?, false)
            }
            ast::ConditionKind::Quantified {
                operator,
                left,
                quantifier,
                query,
            } => {
                let left = self.expr(left)?;
                (
                    self.hook.quantified(left, comparison(*operator), *quantifier, query)?,
                    false,
                )
            }
            ast::ConditionKind::IsNull { operand, negated } => {
                (Predicate::IsNull(Box::new(self.expr(operand)?)), *negated)
            }
            ast::ConditionKind::IsDistinctFrom { left, right, negated } => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                (
                    Predicate::Same(Box::new(compare(Comparison::Equal, left, right)?)),
                    !negated,
                )
            }
            ast::ConditionKind::Between {
                operand,
                low,
                high,
                negated,
            } => {
                let (operand, low, high) = (self.expr(operand)?, self.expr(low)?, self.expr(high)?);
                (between(operand, low, high)?, *negated)
            }
            ast::ConditionKind::InList { operand, list, negated } => {
                let operand = self.expr(operand)?;
                let list = list
                    .iter()
                    .map(|value| self.expr(value))
                    .collect::<Result<Vec<_>, _>>()?;
                (in_list(operand, list)?, *negated)
            }
            ast::ConditionKind::InQuery {
                operand,
                query,
                negated,
            } => {
                let operand = self.expr(operand)?;
                (self.hook.in_query(operand, query)?, *negated)
            }
            ast::ConditionKind::Like {
                operand,
                pattern,
                escape,
                negated,
            } => {
                let (operand, pattern) = (self.expr(operand)?, self.expr(pattern)?);
                let escape = escape.as_ref().map(|escape| self.expr(escape)).transpose()?;
                (like(operand, pattern, escape)?, *negated)
            }
            ast::ConditionKind::Exists(query) => (self.hook.exists(query)?, false),
            ast::ConditionKind::Updated(column) => (is_updated(&column.text)?, false),
        };
        Ok(if negated { predicate.negate() } else { predicate })
    }

    fn conditions(&mut self, parts: &[ast::Condition]) -> Result<Vec<Predicate>, SqlError> {
        parts.iter().map(|part| self.condition(part)).collect()
    }
}

fn comparison(comparison: ast::Comparison) -> Comparison {
    match comparison {
        ast::Comparison::Equal => Comparison::Equal,
        ast::Comparison::NotEqual => Comparison::NotEqual,
        ast::Comparison::Less => Comparison::Less,
        ast::Comparison::LessOrEqual => Comparison::LessOrEqual,
        ast::Comparison::Greater => Comparison::Greater,
        ast::Comparison::GreaterOrEqual => Comparison::GreaterOrEqual,
    }
}

/// A comparison of two bound values, with their conversions.
///
/// Errors: 206, 257 and 402 for types that are not comparable, 468 for collations.
pub(crate) fn compared(comparison: Comparison, left: Expr, right: Expr) -> Result<Predicate, SqlError> {
    let (left, right) = type_null_literals(left, right);
    if let (Some(of_left), Some(of_right)) = (Whole::of(&left.data_type), Whole::of(&right.data_type)) {
        let compare = WholeCompare {
            comparison,
            left: operand(left, of_left),
            right: operand(right, of_right),
        };
        return Ok(Predicate::Whole(Box::new(compare)));
    }
    Ok(Predicate::Compare(Box::new(compare(comparison, left, right)?)))
}

fn compare(comparison: Comparison, left: Expr, right: Expr) -> Result<Compare, SqlError> {
    let (left, right) = type_null_literals(left, right);
    let collation = collation_of([&left, &right], comparison.name())?.resolved(comparison.name())?;
    let (to_left, to_right) = comparable(comparison, &left, &right)?;
    Ok(Compare {
        comparison,
        left: left.converted_to(&to_left)?,
        right: right.converted_to(&to_right)?,
        collation,
    })
}

/// The types to which both sides are converted; integers are compared without conversion.
fn comparable(comparison: Comparison, left: &Expr, right: &Expr) -> Result<(DataType, DataType), SqlError> {
    let are_whole = Whole::of(&left.data_type).is_some() && Whole::of(&right.data_type).is_some();
    if are_whole {
        return Ok((left.data_type, right.data_type));
    }
    Ok(left.data_type.comparable(comparison, &right.data_type)?)
}

/// BETWEEN: one node if both bounds convert the operand to the same type, else two comparisons.
fn between(operand: Expr, low: Expr, high: Expr) -> Result<Predicate, SqlError> {
    let (once, operand) = Once::new(operand);
    let least = compare(Comparison::GreaterOrEqual, operand.clone(), low)?;
    let most = compare(Comparison::LessOrEqual, operand, high)?;
    if least.left == most.left && least.collation == most.collation {
        return Ok(Predicate::Between {
            operand: Box::new(once.substitute_in(least.left)),
            low: Box::new(least.right),
            high: Box::new(most.right),
            collation: least.collation,
        });
    }
    Ok(once.around_predicate(Predicate::And(vec![
        Predicate::Compare(Box::new(least)),
        Predicate::Compare(Box::new(most)),
    ])))
}

/// IN: one node if all values convert the operand to the same type, else comparisons.
fn in_list(operand: Expr, list: Vec<Expr>) -> Result<Predicate, SqlError> {
    let (once, operand) = Once::new(operand);
    let compares = list
        .into_iter()
        .map(|value| compare(Comparison::Equal, operand.clone(), value))
        .collect::<Result<Vec<_>, _>>()?;
    let Some(first) = compares.first() else {
        return Err(SqlError::syntax_near(")"));
    };
    let collation = first.collation;
    if compares
        .iter()
        .all(|one| one.left == first.left && one.collation == collation)
    {
        let operand = Box::new(once.substitute_in(first.left.clone()));
        let list = compares.into_iter().map(|one| one.right).collect();
        return Ok(Predicate::InList {
            operand,
            list,
            collation,
        });
    }
    Ok(once.around_predicate(Predicate::Or(
        compares
            .into_iter()
            .map(|one| Predicate::Compare(Box::new(one)))
            .collect(),
    )))
}

/// LIKE: all sides become text; a constant pattern is parsed once.
fn like(operand: Expr, pattern: Expr, escape: Option<Expr>) -> Result<Predicate, SqlError> {
    let operand = Rule::Text.apply(operand, 1, "like")?;
    let pattern = Rule::Text.apply(pattern, 2, "like")?;
    let escape = escape.map(|escape| Rule::Text.apply(escape, 3, "like")).transpose()?;
    let collation = collation_of([&operand, &pattern], "like")?.resolved("like")?;
    let fixed = fixed_pattern(&pattern, escape.as_ref(), collation);
    Ok(Predicate::Like(Box::new(Like {
        operand,
        pattern,
        escape,
        collation,
        fixed,
    })))
}

fn fixed_pattern(pattern: &Expr, escape: Option<&Expr>, collation: Collation) -> Option<LikePattern> {
    let text = |expr: &Expr| {
        if let ExprKind::Literal(Value::Text(text)) = &expr.kind {
            Some(text.clone())
        } else {
            None
        }
    };
    let escape = match escape {
        Some(escape) => Some(LikePattern::escape_character(&text(escape)?).ok()?),
        None => None,
    };
    debug_assert_eq!(pattern.data_type.family(), Family::Text, "binding has made text of it");
    // A long pattern takes much more memory than its text; the memory is reserved at evaluation.
    let pattern = text(pattern).filter(|text| text.len() <= HEAVY_SIZE)?;
    Some(LikePattern::new(&pattern, escape, collation.named))
}

/// `UPDATE (column)`.
fn is_updated(column: &str) -> Result<Predicate, SqlError> {
    let length = u16::try_from(column.encode_utf16().count().clamp(1, 128)).unwrap_or(128);
    let name = Expr::literal(
        Value::Text(Arc::from(column)),
        DataType::NVarChar(Width::Limited(length)),
    );
    let call = FunctionCall {
        function: Function::updated(),
        part: None,
        arguments: vec![name],
    };
    let called = Expr::new(ExprKind::Call(Box::new(call)), DataType::Bit).with_nullable(false);
    let yes = Expr::literal(Value::Bit(true), DataType::Bit);
    compared(Comparison::Equal, called, yes)
}
