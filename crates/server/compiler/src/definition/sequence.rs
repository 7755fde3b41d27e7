//! CREATE and ALTER SEQUENCE: options, their defaults and their limits.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "constants and types that a sequence can't have are all the others"
)]

use std::fmt;

use selenite_tsql::ast::{self, SequenceOption, StatementKind, Tree};
use selenite_types::{DataType, DeclarationContext};

use super::text::bracketed;
use crate::catalog::{Sequence, SequenceCache, SequenceRule};
use crate::{Ends, SqlError, declared_type};

/// A sequence as it is to be, and where it continues.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SequenceChange {
    /// The type.
    pub data_type: DataType,
    /// How it counts.
    pub rule: SequenceRule,
    /// The next value; `None` if it continues where it is.
    pub restart: Option<i128>,
}

/// The present state of a sequence that is altered.
#[derive(Clone, Copy, Debug)]
pub struct SequencePresent<'a> {
    /// The sequence.
    pub sequence: &'a Sequence,
    /// The last value, or the first if none was taken.
    pub current: i128,
}

/// The options that a statement gives.
#[derive(Default)]
struct Given {
    data_type: Option<DataType>,
    start: Option<i128>,
    restart: Option<Option<i128>>,
    increment: Option<i128>,
    minimum: Option<Option<i128>>,
    maximum: Option<Option<i128>>,
    cycles: Option<bool>,
    cache: Option<SequenceCache>,
}

impl SequenceChange {
    /// Reads a statement; `present` is the sequence that ALTER changes.
    ///
    /// # Errors
    /// 11700 to 11711, 11715.
    pub fn read(definition: &ast::SequenceDefinition, present: Option<SequencePresent<'_>>) -> Result<Self, SqlError> {
        let name = definition.name.name.text.as_str();
        let given = Given::of(definition)?;
        let Some(present) = present else {
            return Self::created(name, &given);
        };
        if definition.options.is_empty() {
            return Err(SqlError::sequence_unchanged());
        }
        let before = present.sequence.rule;
        let (least, most) = bounds(&present.sequence.data_type, name)?;
        let rule = SequenceRule {
            start: before.start,
            increment: given.increment.unwrap_or(before.increment),
            minimum: given.minimum.map_or(before.minimum, |value| value.unwrap_or(least)),
            maximum: given.maximum.map_or(before.maximum, |value| value.unwrap_or(most)),
            cycles: given.cycles.unwrap_or(before.cycles),
            cache: given.cache.unwrap_or(before.cache),
        };
        check(name, &rule, (least, most))?;
        let restart = given.restart.map(|value| value.unwrap_or(before.start));
        let current = restart.unwrap_or(present.current);
        if !(rule.minimum..=rule.maximum).contains(&current) {
            return Err(SqlError::sequence_current(current, name));
        }
        Ok(Self {
            data_type: present.sequence.data_type,
            rule,
            restart,
        })
    }

    fn created(name: &str, given: &Given) -> Result<Self, SqlError> {
        let data_type = given.data_type.unwrap_or(DataType::BigInt);
        let (least, most) = bounds(&data_type, name)?;
        let increment = given.increment.unwrap_or(1);
        let minimum = given.minimum.flatten().unwrap_or(least);
        let maximum = given.maximum.flatten().unwrap_or(most);
        let first = if increment > 0 { minimum } else { maximum };
        let rule = SequenceRule {
            start: given.start.unwrap_or(first),
            increment,
            minimum,
            maximum,
            cycles: given.cycles.unwrap_or(false),
            cache: given.cache.unwrap_or(SequenceCache::Default),
        };
        check(name, &rule, (least, most))?;
        if !(minimum..=maximum).contains(&rule.start) {
            return Err(SqlError::sequence_start(name));
        }
        Ok(Self {
            data_type,
            rule,
            restart: None,
        })
    }

    /// The statement that creates it.
    #[must_use]
    pub fn text(&self, schema: &str, name: &str) -> String {
        let Self { data_type, rule, .. } = self;
        let cycle = if rule.cycles { "CYCLE" } else { "NO CYCLE" };
        format!(
            "CREATE SEQUENCE {}.{} AS {data_type} START WITH {} INCREMENT BY {} MINVALUE {} MAXVALUE {} {cycle} {}",
            bracketed(schema),
            bracketed(name),
            rule.start,
            rule.increment,
            rule.minimum,
            rule.maximum,
            rule.cache
        )
    }
}

impl Sequence {
    /// The sequence of a printed definition.
    ///
    /// # Errors
    /// Any error of the text: another program wrote to the catalog.
    pub fn of_tree(tree: &Tree, object_id: i32, (schema, name): (&str, &str)) -> Result<Self, SqlError> {
        let first = tree.statements.first().map(|statement| &statement.kind);
        let Some(StatementKind::Sequence(definition)) = first else {
            return Err(SqlError::internal("a sequence's definition"));
        };
        let change = SequenceChange::read(definition, None)?;
        Ok(Self {
            object_id,
            schema: schema.to_owned(),
            name: name.to_owned(),
            data_type: change.data_type,
            rule: change.rule,
        })
    }
}

impl fmt::Display for SequenceCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("CACHE"),
            Self::Size(size) => write!(f, "CACHE {size}"),
            Self::None => f.write_str("NO CACHE"),
        }
    }
}

impl Given {
    fn of(definition: &ast::SequenceDefinition) -> Result<Self, SqlError> {
        let name = definition.name.name.text.as_str();
        let mut given = Self::default();
        for option in &definition.options {
            match option {
                SequenceOption::As(_) if definition.alter => {
                    return Err(SqlError::sequence_option_of_create("AS", 11711));
                }
                SequenceOption::Start(_) if definition.alter => {
                    return Err(SqlError::sequence_option_of_create("START WITH", 11710));
                }
                SequenceOption::Restart(_) if !definition.alter => return Err(SqlError::sequence_restarted()),
                SequenceOption::As(type_name) => {
                    let place = DeclarationContext::Column { number: 1, name };
                    given.data_type = Some(declared_type(type_name, place)?);
                }
                SequenceOption::Start(value) => given.start = Some(whole(value, "START WITH")?),
                SequenceOption::Restart(value) => given.restart = Some(optional(value.as_ref(), "RESTART WITH")?),
                SequenceOption::Increment(value) => given.increment = Some(whole(value, "INCREMENT BY")?),
                SequenceOption::Minimum(value) => given.minimum = Some(optional(value.as_ref(), "MINVALUE")?),
                SequenceOption::Maximum(value) => given.maximum = Some(optional(value.as_ref(), "MAXVALUE")?),
                SequenceOption::Cycle(cycles) => given.cycles = Some(*cycles),
                SequenceOption::NoCache => given.cache = Some(SequenceCache::None),
                SequenceOption::Cache(None) => given.cache = Some(SequenceCache::Default),
                SequenceOption::Cache(Some(size)) => {
                    let size = whole(size, "CACHE")?;
                    if size <= 0 {
                        return Err(SqlError::sequence_cache(name));
                    }
                    let size = u32::try_from(size).map_err(|_| SqlError::sequence_argument("CACHE"))?;
                    given.cache = Some(SequenceCache::Size(size));
                }
            }
        }
        Ok(given)
    }
}

fn optional(value: Option<&ast::Expr>, argument: &str) -> Result<Option<i128>, SqlError> {
    value.map(|value| whole(value, argument)).transpose()
}

/// The integer of a constant.
fn whole(value: &ast::Expr, argument: &str) -> Result<i128, SqlError> {
    let refused = || SqlError::sequence_argument(argument);
    match &value.kind {
        ast::ExprKind::Literal(ast::Literal::Integer(digits)) => digits.parse().map_err(|_| refused()),
        ast::ExprKind::Unary {
            operator: ast::UnaryOperator::Minus,
            operand,
        } => Ok(-whole(operand, argument)?),
        ast::ExprKind::Unary {
            operator: ast::UnaryOperator::Plus,
            operand,
        } => whole(operand, argument),
        _ => Err(refused()),
    }
}

/// The least and the greatest value of a type.
///
/// Errors: 11702 for a type that a sequence can't have.
fn bounds(data_type: &DataType, name: &str) -> Result<(i128, i128), SqlError> {
    match data_type {
        DataType::TinyInt => Ok((0, u8::MAX.into())),
        DataType::SmallInt => Ok((i16::MIN.into(), i16::MAX.into())),
        DataType::Int => Ok((i32::MIN.into(), i32::MAX.into())),
        DataType::BigInt => Ok((i64::MIN.into(), i64::MAX.into())),
        DataType::Decimal { precision, scale: 0 } | DataType::Numeric { precision, scale: 0 } => {
            let most = 10_i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX) - 1;
            Ok((-most, most))
        }
        _ => Err(SqlError::sequence_type(name)),
    }
}

fn check(name: &str, rule: &SequenceRule, (least, most): (i128, i128)) -> Result<(), SqlError> {
    let fits = |value: i128| (least..=most).contains(&value);
    let named = [
        (rule.start, "START WITH"),
        (rule.minimum, "MINVALUE"),
        (rule.maximum, "MAXVALUE"),
    ];
    if let Some((_, argument)) = named.into_iter().find(|(value, _)| !fits(*value)) {
        return Err(SqlError::sequence_argument(argument));
    }
    if rule.increment == 0 {
        return Err(SqlError::sequence_increment(name));
    }
    if rule.minimum >= rule.maximum {
        return Err(SqlError::sequence_bounds(name));
    }
    let distance = rule.maximum.checked_sub(rule.minimum);
    if distance.is_some_and(|distance| rule.increment.unsigned_abs() > distance.unsigned_abs()) {
        return Err(SqlError::sequence_increment_range(name));
    }
    Ok(())
}

impl SqlError {
    fn of_sequence(number: i32, text: String) -> Self {
        Self::new(number, Ends::Batch, text)
    }

    /// 11700: a sequence whose increment is 0.
    fn sequence_increment(name: &str) -> Self {
        Self::of_sequence(
            11700,
            format!("The increment for sequence object '{name}' cannot be zero."),
        )
    }

    /// 11701: an increment that is larger than the range of a sequence.
    fn sequence_increment_range(name: &str) -> Self {
        let text = format!(
            "The absolute value of the increment for sequence object '{name}' must be less than or equal to the difference \
             between the minimum and maximum value of the sequence object."
        );
        Self::of_sequence(11701, text)
    }

    /// 11702: a sequence of an unsupported type.
    fn sequence_type(name: &str) -> Self {
        let text = format!(
            "The sequence object '{name}' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with a \
             scale of 0, or any user-defined data type that is based on one of the above integer data types."
        );
        Self::of_sequence(11702, text)
    }

    /// 11703: a start value out of the range of a sequence.
    fn sequence_start(name: &str) -> Self {
        let text = format!(
            "The start value for sequence object '{name}' must be between the minimum and maximum value of the sequence \
             object."
        );
        Self::of_sequence(11703, text)
    }

    /// 11704: a current value out of the new range of a sequence.
    fn sequence_current(value: i128, name: &str) -> Self {
        let text = format!(
            "The current value '{value}' for sequence object '{name}' must be between the minimum and maximum value of the \
             sequence object."
        );
        Self::of_sequence(11704, text)
    }

    /// 11705: a sequence whose minimum is not below its maximum.
    fn sequence_bounds(name: &str) -> Self {
        let text = format!("The minimum value for sequence object '{name}' must be less than its maximum value.");
        Self::of_sequence(11705, text)
    }

    /// 11706: a sequence with a cache of no value.
    fn sequence_cache(name: &str) -> Self {
        Self::of_sequence(
            11706,
            format!("The cache size for sequence object '{name}' must be greater than 0."),
        )
    }

    /// 11708: an option of a sequence that is no integer of its type.
    fn sequence_argument(argument: &str) -> Self {
        let text = format!("An invalid value was specified for argument '{argument}' for the given data type.");
        Self::of_sequence(11708, text)
    }

    /// 11709: RESTART in CREATE SEQUENCE.
    fn sequence_restarted() -> Self {
        let text = "The 'RESTART WITH' argument cannot be used in a CREATE SEQUENCE statement.";
        Self::of_sequence(11709, text.to_owned())
    }

    /// 11710 and 11711: START WITH or AS in ALTER SEQUENCE.
    fn sequence_option_of_create(argument: &str, number: i32) -> Self {
        let text = format!("Argument '{argument}' cannot be used in an ALTER SEQUENCE statement.");
        Self::of_sequence(number, text)
    }

    /// 11715: ALTER SEQUENCE without options.
    fn sequence_unchanged() -> Self {
        Self::of_sequence(11715, "No properties specified for ALTER SEQUENCE.".to_owned())
    }
}
