//! Conditions.

use core::fmt;

use super::{List, word};
use crate::ast::{Comparison, Condition, ConditionKind, Quantifier};

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ConditionKind::And(list) => junction(f, list, " AND ", |kind| {
                matches!(kind, ConditionKind::And(_) | ConditionKind::Or(_))
            }),
            ConditionKind::Or(list) => junction(f, list, " OR ", |kind| matches!(kind, ConditionKind::Or(_))),
            ConditionKind::Not(operand) => {
                if matches!(operand.kind, ConditionKind::And(_) | ConditionKind::Or(_)) {
                    return write!(f, "NOT ({operand})");
                }
                write!(f, "NOT {operand}")
            }
            ConditionKind::Compare { operator, left, right } => write!(f, "{left} {operator} {right}"),
            ConditionKind::Quantified {
                operator,
                left,
                quantifier,
                query,
            } => write!(f, "{left} {operator} {quantifier} ({query})"),
            ConditionKind::IsNull { operand, negated } => {
                write!(f, "{operand} IS{} NULL", word(*negated, " NOT"))
            }
            ConditionKind::IsDistinctFrom { left, right, negated } => {
                write!(f, "{left} IS{} DISTINCT FROM {right}", word(*negated, " NOT"))
            }
            ConditionKind::Between {
                operand,
                low,
                high,
                negated,
            } => write!(f, "{operand}{} BETWEEN {low} AND {high}", word(*negated, " NOT")),
            ConditionKind::InList { operand, list, negated } => {
                write!(f, "{operand}{} IN ({})", word(*negated, " NOT"), List(list))
            }
            ConditionKind::InQuery {
                operand,
                query,
                negated,
            } => write!(f, "{operand}{} IN ({query})", word(*negated, " NOT")),
            ConditionKind::Like {
                operand,
                pattern,
                escape,
                negated,
            } => {
                write!(f, "{operand}{} LIKE {pattern}", word(*negated, " NOT"))?;
                match escape {
                    Some(escape) => write!(f, " ESCAPE {escape}"),
                    None => Ok(()),
                }
            }
            ConditionKind::Updated(column) => write!(f, "UPDATE ({column})"),
            ConditionKind::Exists(query) => write!(f, "EXISTS ({query})"),
        }
    }
}

/// Conditions separated by `between`; `parens` selects those in parentheses.
fn junction(
    f: &mut fmt::Formatter<'_>,
    list: &[Condition],
    between: &str,
    parens: impl Fn(&ConditionKind) -> bool,
) -> fmt::Result {
    for (index, condition) in list.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        match parens(&condition.kind) {
            true => write!(f, "({condition})")?,
            false => write!(f, "{condition}")?,
        }
    }
    Ok(())
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        })
    }
}

impl fmt::Display for Quantifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "ALL",
            Self::Any => "ANY",
        })
    }
}
