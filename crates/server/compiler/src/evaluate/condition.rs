//! Evaluates conditions: `None` is unknown.

use std::cmp::Ordering;

use selenite_types::{LikePattern, Value, compare};

use super::{Frame, size_of};
use crate::expr::HEAVY_SIZE;
use crate::{Collation, Compare, Expr, LetPredicate, Like, Predicate, SqlError};

impl Predicate {
    /// Whether it is true; `None` is unknown.
    ///
    /// Errors: as [`Expr::evaluate`].
    #[inline]
    pub fn evaluate(&self, frame: &Frame<'_>) -> Result<Option<bool>, SqlError> {
        if let Self::Whole(compare) = self {
            return compare.evaluate(frame);
        }
        self.evaluate_others(frame)
    }

    fn evaluate_others(&self, frame: &Frame<'_>) -> Result<Option<bool>, SqlError> {
        match self {
            Self::Whole(compare) => compare.evaluate(frame),
            Self::Compare(compare) => compared(compare, frame),
            Self::And(parts) => all(parts, frame, false),
            Self::Or(parts) => all(parts, frame, true),
            Self::Not(inner) => Ok(inner.evaluate(frame)?.map(|truth| !truth)),
            Self::IsNull(operand) => Ok(Some(operand.evaluate(frame)? == Value::Null)),
            Self::Same(compare) => same(compare, frame),
            Self::Between {
                operand,
                low,
                high,
                collation,
            } => {
                let operand = operand.evaluate(frame)?;
                let least = order(&operand, &low.evaluate(frame)?, *collation, frame)?.map(Ordering::is_ge);
                let most = order(&operand, &high.evaluate(frame)?, *collation, frame)?.map(Ordering::is_le);
                Ok(match (least, most) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    (None, _) | (_, None) => None,
                })
            }
            Self::InList {
                operand,
                list,
                collation,
            } => in_list(operand, list, *collation, frame),
            Self::Like(like) => alike(like, frame),
            Self::Let(bound) => over_local(bound, frame),
            Self::QueryNode(_) => Err(SqlError::internal("a subquery without its query")),
            Self::Input(at) => {
                let value = frame.input(*at)?;
                if let Value::Bit(truth) = value {
                    return Ok(Some(*truth));
                }
                if *value == Value::Null {
                    Ok(None)
                } else {
                    Err(SqlError::internal("an input that is no truth"))
                }
            }
        }
    }
}

/// AND, or OR if `decisive` is true: the first part with that result decides.
fn all(parts: &[Predicate], frame: &Frame<'_>, decisive: bool) -> Result<Option<bool>, SqlError> {
    let mut truth = Some(!decisive);
    for part in parts {
        match part.evaluate(frame)? {
            Some(part) if part == decisive => return Ok(Some(decisive)),
            Some(_) => {}
            None => truth = None,
        }
    }
    Ok(truth)
}

fn over_local(bound: &LetPredicate, frame: &Frame<'_>) -> Result<Option<bool>, SqlError> {
    let value = bound.value.evaluate(frame)?;
    bound.body.evaluate(&frame.within(&value))
}

fn compared(compare: &Compare, frame: &Frame<'_>) -> Result<Option<bool>, SqlError> {
    let (left, right) = (compare.left.evaluate(frame)?, compare.right.evaluate(frame)?);
    let order = order(&left, &right, compare.collation, frame)?;
    Ok(order.map(|order| compare.comparison.holds(order)))
}

fn same(compare: &Compare, frame: &Frame<'_>) -> Result<Option<bool>, SqlError> {
    let (left, right) = (compare.left.evaluate(frame)?, compare.right.evaluate(frame)?);
    Ok(Some(match order(&left, &right, compare.collation, frame)? {
        Some(order) => order.is_eq(),
        None => left == Value::Null && right == Value::Null,
    }))
}

fn in_list(operand: &Expr, list: &[Expr], collation: Collation, frame: &Frame<'_>) -> Result<Option<bool>, SqlError> {
    let operand = operand.evaluate(frame)?;
    let mut truth = Some(false);
    for value in list {
        match order(&operand, &value.evaluate(frame)?, collation, frame)? {
            Some(order) if order.is_eq() => return Ok(Some(true)),
            Some(_) => {}
            None => truth = None,
        }
    }
    Ok(truth)
}

/// The order of two values; `None` if either is NULL.
///
/// Errors: 8624 if their types differ, which binding rules out; the error of cancellation.
fn order(left: &Value, right: &Value, collation: Collation, frame: &Frame<'_>) -> Result<Option<Ordering>, SqlError> {
    if size_of(left).min(size_of(right)) > HEAVY_SIZE {
        frame.environment.poll()?;
    }
    let order = compare(left, right, collation.named);
    if order.is_none() && *left != Value::Null && *right != Value::Null {
        return Err(SqlError::internal("a comparison of two types"));
    }
    Ok(order)
}

fn alike(like: &Like, frame: &Frame<'_>) -> Result<Option<bool>, SqlError> {
    let is_national = like.operand.data_type.is_national() || like.pattern.data_type.is_national();
    let operand = like.operand.evaluate(frame)?;
    let poll = &mut || frame.environment.poll();
    if let (Value::Text(text), Some(fixed)) = (&operand, &like.fixed) {
        let size = LikePattern::memory_size("", text);
        if size > HEAVY_SIZE {
            frame.environment.reserve(size)?;
        }
        return Ok(Some(fixed.matches_polling(text, is_national, poll)?));
    }
    let pattern = like.pattern.evaluate(frame)?;
    let escape = like.escape.as_ref().map(|escape| escape.evaluate(frame)).transpose()?;
    let escape = match escape {
        None => None,
        Some(Value::Text(escape)) => Some(LikePattern::escape_character(&escape)?),
        Some(_) => return Ok(None),
    };
    match (operand, pattern) {
        (Value::Text(text), Value::Text(pattern)) => {
            let size = LikePattern::memory_size(&pattern, &text);
            if size > HEAVY_SIZE {
                frame.environment.reserve(size)?;
            }
            let pattern = LikePattern::new(&pattern, escape, like.collation.named);
            Ok(Some(pattern.matches_polling(&text, is_national, poll)?))
        }
        _ => Ok(None),
    }
}
