//! Writes conditions as SQL: 0, 1 or NULL.

use selenite_types::{Comparison, DataType, Value};

use super::form::{comparand, exact_scale};
use super::parameter::{Parameter, ParameterValue};
use super::value::collated;
use super::{Form, Writer};
use crate::expr::{is_fixed, is_fixed_predicate, literal_of};
use crate::{Collation, Compare, Expr, ExprKind, Like, Predicate, SqlError};

impl Writer {
    /// SQL of a condition, whose value is 1, 0 or NULL.
    ///
    /// Errors: as [`Writer::value`].
    pub fn condition(&mut self, predicate: &Predicate) -> Result<String, SqlError> {
        self.parts.budget.spend(1)?;
        if is_fixed_predicate(predicate) {
            if self.lazy > 0 {
                return self.predicate_operation(predicate);
            }
            let value = ParameterValue::Truth(predicate.clone());
            return Ok(self.parameter(Parameter {
                value,
                data_type: DataType::Bit,
            }));
        }
        match predicate {
            Predicate::Compare(compare) => self.compare(predicate, compare),
            Predicate::Whole(whole) => {
                let (left, right) = (self.whole(&whole.left)?, self.whole(&whole.right)?);
                Ok(format!("{left} {} {right}", sign(whole.comparison)))
            }
            Predicate::And(parts) => self.chain(parts, "AND"),
            Predicate::Or(parts) => self.chain(parts, "OR"),
            Predicate::Not(inner) => Ok(format!("NOT ({})", self.condition(inner)?)),
            Predicate::IsNull(operand) => Ok(format!("{} IS NULL", self.value(operand)?)),
            Predicate::Same(compare) => match self.operands(&compare.left, &[&compare.right], compare.collation)? {
                Some((left, right)) => Ok(format!("{left} IS {}", right.join(""))),
                None => self.predicate_operation(predicate),
            },
            Predicate::Between {
                operand,
                low,
                high,
                collation,
            } => match self.operands(operand, &[low, high], *collation)? {
                Some((operand, bounds)) => Ok(format!("{operand} BETWEEN {}", bounds.join(" AND "))),
                None => self.predicate_operation(predicate),
            },
            Predicate::InList {
                operand,
                list,
                collation,
            } => {
                let items: Vec<&Expr> = list.iter().collect();
                match self.operands(operand, &items, *collation)? {
                    Some((operand, items)) => Ok(format!("{operand} IN ({})", items.join(", "))),
                    None => self.predicate_operation(predicate),
                }
            }
            Predicate::Like(like) => self.like(predicate, like),
            Predicate::Let(_) => self.predicate_operation(predicate),
            Predicate::QueryNode(reference) => self.query_node_condition(*reference),
            Predicate::Input(_) => Err(SqlError::internal("an input outside an operation")),
        }
    }

    fn compare(&mut self, predicate: &Predicate, compare: &Compare) -> Result<String, SqlError> {
        let sign = sign(compare.comparison);
        // The side with columns is first: it decides the form.
        if is_fixed(&compare.left) {
            if let Some((right, left)) = self.operands(&compare.right, &[&compare.left], compare.collation)? {
                return Ok(format!("{} {sign} {right}", left.join("")));
            }
        } else if let Some((left, right)) = self.operands(&compare.left, &[&compare.right], compare.collation)? {
            return Ok(format!("{left} {sign} {}", right.join("")));
        }
        self.predicate_operation(predicate)
    }

    /// SQL of operands that SQLite compares as T-SQL does; `None` if it does not.
    fn operands(
        &mut self,
        operand: &Expr,
        others: &[&Expr],
        collation: Collation,
    ) -> Result<Option<(String, Vec<String>)>, SqlError> {
        // First without conversions that do not affect the comparison: an index can be used only for a bare column.
        let candidates = [comparand(operand), operand];
        let found = candidates.into_iter().find(|candidate| {
            let form = Form::of(&candidate.data_type);
            others.iter().all(|other| is_comparable(form, other))
        });
        let Some(operand) = found else { return Ok(None) };
        let form = Form::of(&operand.data_type);
        let left = collated(form, self.value(operand)?, collation);
        let mut right = Vec::with_capacity(others.len());
        for other in others {
            right.push(self.other_side(form, other)?);
        }
        Ok(Some((left, right)))
    }

    fn other_side(&mut self, form: Form, other: &Expr) -> Result<String, SqlError> {
        let bare = comparand(other);
        let sql = if Form::of(&other.data_type) == form && is_fixed(other) {
            self.value(other)?
        } else if Form::of(&bare.data_type) == form {
            self.value(bare)?
        } else if Form::of(&other.data_type) == form {
            self.value(other)?
        } else if let Form::Scaled(scale) = form {
            let value = ParameterValue::Scaled(other.clone(), scale);
            self.parameter(Parameter {
                value,
                data_type: other.data_type,
            })
        } else if let Form::Wide(scale) = form {
            let value = ParameterValue::Wide(other.clone(), scale);
            self.parameter(Parameter {
                value,
                data_type: other.data_type,
            })
        } else {
            return Err(SqlError::internal("a comparison of two forms"));
        };
        Ok(form.key(sql))
    }

    /// Parts joined by AND or OR as a balanced tree, so that thousands of them are not deeply nested.
    fn chain(&mut self, parts: &[Predicate], word: &str) -> Result<String, SqlError> {
        let mut written = Vec::with_capacity(parts.len());
        for part in parts {
            written.push(format!("({})", self.condition(part)?));
        }
        Ok(balanced(&written, word))
    }

    /// LIKE is an operation; the literal prefix of a pattern also bounds the matching values, for an index.
    fn like(&mut self, predicate: &Predicate, like: &Like) -> Result<String, SqlError> {
        let operation = self.predicate_operation(predicate)?;
        let operand = comparand(&like.operand);
        let bounded = matches!(operand.kind, ExprKind::Column(_))
            && Form::of(&operand.data_type) == Form::Text
            && !like.collation.named.order().is_binary()
            && is_fixed(&like.pattern)
            && like.escape.as_ref().is_none_or(is_fixed)
            && self.lazy == 0
            && !begins_with_wildcard(like);
        if !bounded {
            return Ok(operation);
        }
        let column = collated(Form::Text, self.value(operand)?, like.collation);
        let data_type = like.pattern.data_type;
        let start = Parameter {
            value: ParameterValue::LikeStart(Box::new(like.clone())),
            data_type,
        };
        let end = Parameter {
            value: ParameterValue::LikeEnd(Box::new(like.clone())),
            data_type,
        };
        let (start, end) = (self.parameter(start), self.parameter(end));
        Ok(format!("({column} >= {start} AND {column} < {end} AND {operation})"))
    }
}

/// Whether a pattern is a constant that begins with a wildcard, so that it has no bounds.
fn begins_with_wildcard(like: &Like) -> bool {
    match literal_of(&like.pattern) {
        Some(Value::Text(pattern)) => pattern.starts_with(['%', '_', '[']),
        Some(_) | None => false,
    }
}

/// Whether SQLite can compare a value with one of `form`.
fn is_comparable(form: Form, other: &Expr) -> bool {
    if Form::of(&comparand(other).data_type) == form || Form::of(&other.data_type) == form {
        return true;
    }
    match form {
        // A constant with no more fractional digits is scaled up.
        Form::Scaled(scale) | Form::Wide(scale) => {
            is_fixed(other) && exact_scale(&other.data_type).is_some_and(|other| other <= scale)
        }
        Form::Real
        | Form::Text
        | Form::Bytes
        | Form::Date
        | Form::Time(_)
        | Form::Moment(_)
        | Form::Offset(_)
        | Form::Guid
        | Form::Variant => false,
    }
}

/// Parts joined by AND or OR as a balanced tree.
pub(super) fn balanced(parts: &[String], word: &str) -> String {
    if parts.len() <= CHAIN_MAX {
        return parts.join(&format!(" {word} "));
    }
    let (left, right) = parts.split_at(parts.len() / 2);
    format!("({}) {word} ({})", balanced(left, word), balanced(right, word))
}

/// A comparison's operator in SQLite.
pub(super) fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "<>",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}

/// So many parts are joined without nesting: SQLite's expression depth is limited to 1000.
const CHAIN_MAX: usize = 32;
