//! Texts that are JSON, and the arguments of JSON_ARRAY and JSON_OBJECT.

use selenite_types::{DataType, Value};

use crate::expr::{Rule, Typing};
use crate::{Expr, ExprKind, Function, FunctionCall};

/// What becomes of NULLs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NullsInJson {
    /// NULL ON NULL.
    Written,
    /// ABSENT ON NULL.
    Absent,
}

/// A text that is JSON: what composes JSON adds no quotes to it.
static JSON_TEXT: Function = Function::new(
    "json text",
    &[Rule::Any],
    Typing::By(|arguments| arguments.first().map_or(DataType::Int, |first| first.data_type)),
    |call| Ok(call.value(0).clone()),
);

/// The arguments of JSON_ARRAY and JSON_OBJECT: what becomes of NULLs, and the values, of JSON_OBJECT each after its
/// name.
pub(crate) fn json_values(nulls: NullsInJson, values: Vec<Expr>) -> Vec<Expr> {
    let absent = Expr::literal(Value::Bit(nulls == NullsInJson::Absent), DataType::Bit);
    std::iter::once(absent).chain(values).collect()
}

/// An expression marked as JSON.
pub(crate) fn marked(expr: Expr) -> Expr {
    let (data_type, nullable, collation) = (expr.data_type, expr.nullable, expr.collation);
    let call = FunctionCall {
        function: &JSON_TEXT,
        part: None,
        arguments: vec![expr],
    };
    Expr::new(ExprKind::Call(Box::new(call)), data_type)
        .with_nullable(nullable)
        .with_collation(collation)
}
