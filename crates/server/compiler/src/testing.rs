//! Test support for expressions: an environment, T-SQL in, text out.

use std::cell::Cell;
use std::sync::Arc;

use selenite_tsql::ast::{Condition, Expr as TreeExpr, QueryBody, Select, SelectItem, StatementKind};
use selenite_tsql::{Options, parse};
use selenite_types::{DataType, Guid, Moment, Value, text_of};

use crate::{Binder, Environment, Expr, Frame, NoQuery, Predicate, SqlError, Variables};

mod world;

pub(crate) use world::World;

/// Variables with their values, for binding and evaluation.
#[derive(Default)]
pub(crate) struct Batch {
    pub variables: Variables,
    pub slots: Vec<Value>,
    pub world: World,
}

impl Batch {
    /// A batch without variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares a variable with the type and the value of an expression.
    pub fn declare(&mut self, name: &str, data_type: DataType, value: &str) {
        let initial = self.bind(value).unwrap().converted_to(&data_type).unwrap();
        let value = self.evaluate(&initial).unwrap();
        let slot = self.variables.declare(name, data_type).unwrap();
        assert_eq!(slot.index(), self.slots.len());
        self.slots.push(value);
    }

    pub fn bind(&self, text: &str) -> Result<Expr, SqlError> {
        Binder::new(&self.variables, &mut NoQuery).expr(&expr_of(text))
    }

    pub fn bind_condition(&self, text: &str) -> Result<Predicate, SqlError> {
        Binder::new(&self.variables, &mut NoQuery).condition(&condition_of(text))
    }

    pub fn evaluate(&self, expr: &Expr) -> Result<Value, SqlError> {
        let value = expr.evaluate(&self.frame())?;
        let stored = selenite_types::storage::to_stored(&value, &expr.data_type);
        assert!(stored.is_ok(), "{value:?} is no {}", expr.data_type);
        Ok(value)
    }

    pub fn frame(&self) -> Frame<'_> {
        Frame {
            slots: &self.slots,
            row: &[],
            local: None,
            environment: &self.world,
        }
    }

    /// The value of an expression as text; `NULL` for NULL.
    pub fn shown(&self, text: &str) -> String {
        let expr = self.bind(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let value = self.evaluate(&expr).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        text_of(&value, &expr.data_type).unwrap_or_else(|| "NULL".to_owned())
    }

    /// Number and text of the error of binding or evaluation.
    pub fn fault(&self, text: &str) -> (i32, String) {
        let result = self.bind(text).and_then(|expr| self.evaluate(&expr));
        let error = result.expect_err(text);
        (error.number(), error.text().to_owned())
    }

    /// Whether a condition is true; `None` is unknown.
    pub fn holds(&self, text: &str) -> Option<bool> {
        let predicate = self
            .bind_condition(text)
            .unwrap_or_else(|error| panic!("{text}: {error:?}"));
        predicate
            .evaluate(&self.frame())
            .unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }
}

/// The value of an expression as text, without variables.
pub(crate) fn shown(text: &str) -> String {
    Batch::new().shown(text)
}

/// The type of an expression.
pub(crate) fn type_of(text: &str) -> String {
    Batch::new()
        .bind(text)
        .unwrap_or_else(|error| panic!("{text}: {error:?}"))
        .data_type
        .to_string()
}

/// Number and text of an expression's error.
pub(crate) fn fault(text: &str) -> (i32, String) {
    Batch::new().fault(text)
}

/// Whether a condition is true.
pub(crate) fn holds(text: &str) -> Option<bool> {
    Batch::new().holds(text)
}

/// Asserts the values of expressions; all failures are reported at once.
pub(crate) fn assert_shown(cases: &[(&str, &str)]) {
    let batch = Batch::new();
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, batch.shown(text)))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(text, expected, found)| format!("{text} is [{found}], not [{expected}]"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn select_of(text: &str) -> Select {
    let tree = parse(text, Options::default()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let statement = tree.statements.into_iter().next().expect("a statement");
    let StatementKind::Select(select) = statement.kind else {
        panic!("{text} is no SELECT")
    };
    match select.query.body {
        QueryBody::Select(select) => *select,
        QueryBody::Combined(_) | QueryBody::Nested(_) => panic!("{text} is combined"),
    }
}

/// The tree of an expression.
pub(crate) fn expr_of(text: &str) -> TreeExpr {
    match select_of(&format!("SELECT {text}")).items.into_iter().next() {
        Some(SelectItem::Value { value, alias: None }) => value,
        other => panic!("{text} is no expression: {other:?}"),
    }
}

/// The tree of a condition.
pub(crate) fn condition_of(text: &str) -> Condition {
    select_of(&format!("SELECT 1 WHERE {text}"))
        .filter
        .expect("a condition")
}
