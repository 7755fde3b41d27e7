//! The inputs of values that are computed outside SQLite.

use selenite_types::{DataType, Value};

use crate::query::tree::{Body, OrderKey, Parts, Query, QueryColumn};
use crate::{Expr, ExprKind, NodeMut, Predicate};

/// An input column: SQLite returns it, and values are computed from it outside SQLite.
#[derive(Clone, Debug)]
pub struct InputColumn {
    /// Its type.
    pub data_type: DataType,
    /// Table and column, as errors name them; empty for a value that SQLite computes.
    pub place: String,
}

impl InputColumn {
    /// All columns of a query.
    pub(crate) fn all(parts: &Parts, query: &Query) -> Vec<Self> {
        let items = match &query.body {
            Body::Select(select) => select.items.as_slice(),
            Body::Values(_) | Body::Combined(..) => &[],
        };
        let of = |(at, column): (usize, &QueryColumn)| {
            let origin = match items.get(at).map(|item| &item.kind) {
                Some(ExprKind::Column(origin)) => Some(*origin),
                Some(_) | None => column.origin,
            };
            Self {
                data_type: column.data_type,
                place: origin.and_then(|origin| parts.column_name(origin)).unwrap_or_default(),
            }
        };
        query.columns.iter().enumerate().map(of).collect()
    }
}

/// The columns that SQLite must return for each row, with their positions.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// The columns, from position `first` on.
    pub items: Vec<Expr>,
    first: usize,
}

impl Inputs {
    /// No inputs; the position of the first will be `first`.
    pub fn from(first: usize) -> Self {
        Self {
            items: Vec::new(),
            first,
        }
    }

    /// Replaces query nodes in an expression by inputs.
    pub fn take(&mut self, expr: &mut Expr) {
        expr.rewrite(&mut |node| self.replace(node));
    }

    /// As [`Inputs::take`], but query nodes are evaluated only where a condition is true.
    pub fn take_where(&mut self, expr: &mut Expr, applies: &Predicate) {
        expr.rewrite(&mut |node| self.replace_where(node, applies));
    }

    /// As [`Inputs::take_where`], of a condition.
    pub fn take_condition_where(&mut self, condition: &mut Predicate, applies: &Predicate) {
        condition.rewrite(&mut |node| self.replace_where(node, applies));
    }

    fn replace_where(&mut self, node: NodeMut<'_>, applies: &Predicate) {
        let within = |value: Expr| {
            let data_type = value.data_type;
            let collation = value.collation;
            let branches = vec![(applies.clone(), value)];
            let case = ExprKind::Case {
                branches,
                otherwise: None,
            };
            Expr::new(case, data_type).with_collation(collation)
        };
        match node {
            NodeMut::Expr(expr) => match matches!(expr.kind, ExprKind::QueryNode(_)) {
                true => expr.kind = ExprKind::Input(self.place(within(expr.clone()))),
                false => self.replace(NodeMut::Expr(expr)),
            },
            NodeMut::Predicate(predicate) => {
                if let Predicate::QueryNode(_) = predicate {
                    *predicate = Predicate::Input(self.place(within(truth(predicate.clone()))));
                }
            }
            NodeMut::Operand(_) => {}
        }
    }

    /// The position of a column, which is added if it is new.
    pub fn place(&mut self, item: Expr) -> u32 {
        let at = self.items.iter().position(|other| *other == item).unwrap_or_else(|| {
            self.items.push(item);
            self.items.len() - 1
        });
        u32::try_from(self.first + at).unwrap_or(u32::MAX)
    }

    fn replace(&mut self, node: NodeMut<'_>) {
        match node {
            NodeMut::Expr(expr) => {
                if matches!(expr.kind, ExprKind::Column(_) | ExprKind::QueryNode(_)) {
                    expr.kind = ExprKind::Input(self.place(expr.clone()));
                }
            }
            // The walk visits its expression separately.
            NodeMut::Operand(_) => {}
            NodeMut::Predicate(predicate) => {
                if let Predicate::QueryNode(_) = predicate {
                    *predicate = Predicate::Input(self.place(truth(predicate.clone())));
                }
            }
        }
    }
}

/// Replaces a query's columns by the inputs from which they are computed; returns the computed values.
pub(crate) fn take_inputs(query: &mut Query) -> Vec<Expr> {
    let mut inputs = Inputs::from(0);
    let columns = std::mem::take(&mut query.columns);
    let Body::Select(select) = &mut query.body else {
        return Vec::new();
    };
    if select.distinct {
        // SQLite must compare distinct rows: it computes the values themselves.
        let place = |(at, column): (usize, &QueryColumn)| {
            let place = u32::try_from(at).unwrap_or(u32::MAX);
            Expr::new(ExprKind::Input(place), column.data_type)
        };
        let values = columns.iter().enumerate().map(place).collect();
        query.columns = columns;
        return values;
    }
    let items = std::mem::take(&mut select.items);
    for term in &mut query.order {
        if let OrderKey::Output(at) = term.key
            && let Some(item) = items.get(at)
        {
            term.key = OrderKey::Value(item.clone());
        }
    }
    let mut values = items;
    values.iter_mut().for_each(|value| inputs.take(value));
    if inputs.items.is_empty() {
        inputs.place(Expr::literal(Value::Int(1), DataType::Int));
    }
    select.items = inputs.items;
    query.columns = select
        .items
        .iter()
        .map(|item| QueryColumn::of(String::new(), item))
        .collect();
    values
}

/// A condition as a bit: NULL if it is unknown.
fn truth(predicate: Predicate) -> Expr {
    let bit = |bit| Expr::literal(Value::Bit(bit), DataType::Bit);
    let branches = vec![(predicate.clone(), bit(true)), (predicate.negate(), bit(false))];
    Expr::new(
        ExprKind::Case {
            branches,
            otherwise: None,
        },
        DataType::Bit,
    )
}
