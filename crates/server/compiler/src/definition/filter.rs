//! The filter of an index, as SQLite's SQL over storage forms.
//!
//! - `constants-have-the-columns-type`: a column is compared with constants that convert to its type, so that
//!   SQLite compares storage forms.

use selenite_tsql::ast::{self, Comparison, Condition, ConditionKind, ExprKind};
use selenite_types::storage::{Stored, to_stored};
use selenite_types::{DataType, DateFormat, Family, Value, convert};

use super::sqlite::quoted;
use super::{ColumnDefinition, TableDefinition};
use crate::expr::literal_of;
use crate::{Binder, Ends, Expr, NoQuery, SqlError, Variables, common_type};

/// An index and its table, as errors name them.
#[derive(Clone, Copy)]
pub(super) struct FilterPlace<'a> {
    pub index: &'a str,
    pub table: &'a TableDefinition,
}

/// A filter: comparisons of columns with constants, IN and IS NULL, all of which have to hold.
///
/// Errors: 10735 for any other condition, 10611 for a constant of another type, 207 for an unknown column.
pub(super) fn native_filter(filter: &Condition, place: FilterPlace<'_>) -> Result<String, SqlError> {
    if let ConditionKind::And(all) = &filter.kind {
        let all = all.iter().map(|one| native_filter(one, place));
        return Ok(all.collect::<Result<Vec<_>, _>>()?.join(" AND "));
    }
    if let ConditionKind::IsNull { operand, negated } = &filter.kind {
        let column = column(operand, place)?;
        let not = if *negated { "NOT " } else { "" };
        return Ok(format!("{} IS {not}NULL", quoted(&column.name)));
    }
    if let ConditionKind::Compare { operator, left, right } = &filter.kind {
        let column = column(left, place)?;
        let operator = match operator {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        };
        return Ok(format!(
            "{} {operator} {}",
            quoted(&column.name),
            constant(right, column, place)?
        ));
    }
    if let ConditionKind::InList {
        operand,
        list,
        negated: false,
    } = &filter.kind
    {
        let column = column(operand, place)?;
        let list = list.iter().map(|value| constant(value, column, place));
        let list = list.collect::<Result<Vec<_>, _>>()?.join(", ");
        return Ok(format!("{} IN ({list})", quoted(&column.name)));
    }
    Err(incorrect(place))
}

/// The columns that a filter names.
#[expect(clippy::wildcard_enum_match_arm, reason = "no other condition is a filter")]
pub(super) fn filter_columns(filter: &Condition) -> Vec<&str> {
    match &filter.kind {
        ConditionKind::And(all) => all.iter().flat_map(filter_columns).collect(),
        ConditionKind::IsNull { operand, .. } | ConditionKind::InList { operand, .. } => {
            named(operand).into_iter().collect()
        }
        ConditionKind::Compare { left, .. } => named(left).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn column<'a>(operand: &ast::Expr, place: FilterPlace<'a>) -> Result<&'a ColumnDefinition, SqlError> {
    let name = named(operand).ok_or_else(|| incorrect(place))?;
    let column = place.table.column(name).ok_or_else(|| SqlError::unknown_column(name))?;
    if column.data_type == Some(DataType::SqlVariant) {
        return Err(SqlError::unsupported("A filter of an index on a sql_variant"));
    }
    match (&column.computed, column.has_offset()) {
        // 10609: a filtered index over a computed column.
        (Some(_), _) => Err(SqlError::new(
            10609,
            Ends::Batch,
            format!(
                "Filtered index '{}' cannot be created on table '{}' because the column '{}' in the filter expression is a \
                 computed column. Rewrite the filter expression so that it does not include this column.",
                place.index, place.table.name, column.name
            ),
        )),
        (None, true) => Err(SqlError::unsupported("A filter of an index on a datetimeoffset")),
        (None, false) => Ok(column),
    }
}

fn named(operand: &ast::Expr) -> Option<&str> {
    if let ExprKind::Column(column) = &operand.kind {
        return Some(&column.name.text);
    }
    None
}

/// A constant as SQLite's literal.
fn constant(value: &ast::Expr, column: &ColumnDefinition, place: FilterPlace<'_>) -> Result<String, SqlError> {
    let data_type = column.data_type.ok_or_else(|| incorrect(place))?;
    let mut literal = value;
    let mut is_negative = false;
    if let ExprKind::Unary {
        operator: ast::UnaryOperator::Minus,
        operand,
    } = &value.kind
    {
        (literal, is_negative) = (operand, true);
    }
    if !matches!(literal.kind, ExprKind::Literal(_)) {
        return Err(incorrect(place));
    }
    let variables = Variables::default();
    let bound = Binder::new(&variables, &mut NoQuery).expr(literal)?;
    let known = literal_of(&bound).filter(|known| **known != Value::Null);
    let known = known.ok_or_else(|| incorrect(place))?.clone();
    let known = match is_negative {
        true => negated(known).ok_or_else(|| incorrect(place))?,
        false => known,
    };
    if !is_within(&bound, data_type) {
        // 10611: a filtered index that compares a column with a constant of a higher type.
        let text = format!(
            "Filtered index '{}' cannot be created on table '{}' because the column '{}' in the filter expression is compared \
             with a constant of higher data type precedence or of a different collation. Converting a column to the data type \
             of a constant is not supported for filtered indexes. To resolve this error, explicitly convert the constant to \
             the same data type and collation as the column '{}'.",
            place.index, place.table.name, column.name, column.name
        );
        return Err(SqlError::new(10611, Ends::Batch, text));
    }
    let converted = convert(&known, &bound.data_type, &data_type, None, DateFormat::default())?;
    if bound.data_type.family() == data_type.family()
        && convert(&converted, &data_type, &bound.data_type, None, DateFormat::default()) != Ok(known)
    {
        return Err(SqlError::unsupported(
            "A filter of an index with a constant that its column can't have",
        ));
    }
    let stored = to_stored(&converted, &data_type).map_err(|misfit| SqlError::internal(&misfit.to_string()))?;
    Ok(match stored {
        Stored::Null => return Err(incorrect(place)),
        Stored::Integer(number) => number.to_string(),
        Stored::Real(number) => format!("{number:e}"),
        Stored::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Stored::Blob(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x'{digits}'")
        }
    })
}

/// Whether a constant takes a column's type in a comparison: integers do so among one another.
fn is_within(constant: &Expr, data_type: DataType) -> bool {
    let is_whole = |data_type: &DataType| matches!(data_type.family(), Family::Integer | Family::Bit);
    if is_whole(&constant.data_type) && is_whole(&data_type) {
        return true;
    }
    let column = Expr::literal(Value::Null, data_type);
    let common = common_type([&column, constant]);
    common.is_ok_and(|common| common.family() == data_type.family() && common.is_national() == data_type.is_national())
}

#[expect(clippy::wildcard_enum_match_arm, reason = "no other constant has a sign")]
fn negated(value: Value) -> Option<Value> {
    Some(match value {
        Value::Int(value) => Value::Int(value.checked_neg()?),
        Value::BigInt(value) => Value::BigInt(value.checked_neg()?),
        Value::Decimal(mut value) => {
            value.unscaled = value.unscaled.checked_neg()?;
            Value::Decimal(value)
        }
        Value::Float(value) => Value::Float(-value),
        Value::Money(value) => Value::Money(value.checked_neg()?),
        _ => return None,
    })
}

/// 10735: a condition that no index can have.
fn incorrect(place: FilterPlace<'_>) -> SqlError {
    let text = format!(
        "Incorrect WHERE clause for filtered index '{}' on table '{}'.",
        place.index, place.table.name
    );
    SqlError::new(10735, Ends::Batch, text).with_severity(15)
}
