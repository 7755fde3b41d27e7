//! Functions that return one of their arguments: COALESCE, ISNULL, NULLIF, CHOOSE; GREATEST and LEAST.

use std::cmp::Ordering;

use selenite_types::{Comparison, DataType, Value, compare};

use super::{Arguments, Function, Rule, Typing};
use crate::bind::{Once, compared, under};
use crate::expr::collation_of;
use crate::{Expr, ExprKind, SqlError, common_type};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::rewritten("choose", 2, 255, choose),
    Function::rewritten("coalesce", 2, usize::MAX, coalesce),
    Function::new("greatest", &[Rule::Alike], Typing::By(alike), greatest)
        .repeated(254)
        .taking_nulls(),
    Function::rewritten("isnull", 2, 2, is_null),
    Function::new("least", &[Rule::Alike], Typing::By(alike), least)
        .repeated(254)
        .taking_nulls(),
    Function::rewritten("nullif", 2, 2, null_if),
];

/// COALESCE: the first value that is not NULL, in the common type.
fn coalesce(_: &'static str, values: Vec<Expr>) -> Result<Expr, SqlError> {
    if values.iter().all(Expr::is_null_word) {
        return Err(SqlError::only_nulls_in_coalesce());
    }
    let data_type = common_type(&values)?;
    let nullable = values.iter().all(|value| value.nullable);
    let values: Vec<Expr> = values
        .into_iter()
        .map(|value| value.converted_to(&data_type))
        .collect::<Result<_, _>>()?;
    let collation = collation_of(&values, "coalesce")?;
    Ok(Expr::new(ExprKind::Coalesce(values), data_type)
        .with_nullable(nullable)
        .with_collation(collation))
}

/// ISNULL: has the type of the first argument, unless that is the literal NULL.
fn is_null(_: &'static str, values: Vec<Expr>) -> Result<Expr, SqlError> {
    let [value, replacement]: [Expr; 2] = values.try_into().map_err(|_| SqlError::argument_count("isnull", 2))?;
    let data_type = if value.is_null_word() {
        replacement.data_type
    } else {
        value.data_type
    };
    let nullable = value.nullable && replacement.nullable;
    let collation = collation_of([&value, &replacement], "isnull")?;
    let data_type = under(&data_type, collation);
    let values = vec![value.converted_to(&data_type)?, replacement.converted_to(&data_type)?];
    Ok(Expr::new(ExprKind::Coalesce(values), data_type)
        .with_nullable(nullable)
        .with_collation(collation))
}

/// NULLIF: NULL if both are equal, else the first.
fn null_if(_: &'static str, values: Vec<Expr>) -> Result<Expr, SqlError> {
    let [value, other]: [Expr; 2] = values.try_into().map_err(|_| SqlError::argument_count("nullif", 2))?;
    if value.is_null_word() {
        return Err(SqlError::nullif_of_null());
    }
    let (data_type, collation) = (value.data_type, value.collation);
    let (once, value) = Once::new(value);
    let is_equal = compared(Comparison::Equal, value.clone(), other)?;
    let kind = ExprKind::Case {
        branches: vec![(is_equal, Expr::literal(Value::Null, data_type))],
        otherwise: Some(Box::new(value)),
    };
    Ok(once.around(Expr::new(kind, data_type).with_collation(collation)))
}

/// CHOOSE: the value at the index in the first argument.
fn choose(_: &'static str, mut values: Vec<Expr>) -> Result<Expr, SqlError> {
    let choices = values.split_off(1);
    let index = values
        .pop()
        .ok_or_else(|| SqlError::argument_count_range("choose", 2, 255))?;
    let data_type = common_type(&choices)?;
    let collation = collation_of(&choices, "choose")?;
    let values = choices
        .into_iter()
        .map(|value| value.converted_to(&data_type))
        .collect::<Result<_, _>>()?;
    let kind = ExprKind::Choose {
        index: Box::new(index.converted_to(&DataType::Int)?),
        values,
    };
    Ok(Expr::new(kind, data_type).with_collation(collation))
}

/// The type of the arguments, which all have one type.
fn alike(arguments: &[Expr]) -> DataType {
    arguments.first().map_or(DataType::Int, |first| first.data_type)
}

fn greatest(call: &Arguments<'_>) -> Result<Value, SqlError> {
    extreme(call, Ordering::Greater)
}

fn least(call: &Arguments<'_>) -> Result<Value, SqlError> {
    extreme(call, Ordering::Less)
}

/// The value that compares as `ordering` with all others; NULLs are skipped.
fn extreme(call: &Arguments<'_>, ordering: Ordering) -> Result<Value, SqlError> {
    let mut found = &Value::Null;
    for value in call.values {
        if *found == Value::Null || compare(value, found, call.collation.named) == Some(ordering) {
            found = value;
        }
    }
    Ok(found.clone())
}
