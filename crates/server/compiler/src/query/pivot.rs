//! PIVOT and UNPIVOT.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType, DateFormat, Value, Width, convert};

use super::source::{Bound, join};
use super::tree::{AggregateCall, Body, JoinKind, Query, QueryColumn, QueryNode, Select};
use super::{Clause, QueryBinder};
use crate::bind::compared;
use crate::{Aggregate, AggregateKind, ColumnRef, Compare, Expr, ExprKind, Predicate, Source, SqlError, same_name};

impl QueryBinder<'_> {
    /// PIVOT: a grouping by the columns that neither the aggregate nor FOR names.
    pub(super) fn bind_pivot(&mut self, pivot: &ast::Pivot) -> Result<Bound, SqlError> {
        let source = self.bind_source(&pivot.source)?;
        let sources = source.sources.clone();
        let (items, columns, count, rest) = self.scoped(sources, |binder| {
            let (kind, value) = binder.pivoted_value(&pivot.aggregate)?;
            let column = binder.value(Clause::Where, &pivot.column)?;
            let taken: Vec<ColumnRef> = [&value, &column].into_iter().filter_map(reference_of).collect();
            let rest = binder.remaining_columns(&taken);
            let mut items: Vec<Expr> = rest.iter().map(|(_, value)| value.clone()).collect();
            let mut columns: Vec<QueryColumn> = rest
                .iter()
                .map(|(name, value)| QueryColumn::of(name.clone(), value))
                .collect();
            for name in &pivot.values {
                let item = binder.pivoted_item(kind, &value, &column, name)?;
                columns.push(QueryColumn::of(name.text.clone(), &item));
                items.push(item);
            }
            Ok((items, columns, binder.count_of_rows()?, rest))
        })?;
        let group_by: Vec<Expr> = rest.into_iter().map(|(_, value)| value).collect();
        let none = Expr::literal(Value::BigInt(0), DataType::BigInt);
        // Without a column to group by, there is one row, but none of no rows.
        let having = match group_by.is_empty() {
            true => Some(compared(Comparison::Greater, count, none)?),
            false => None,
        };
        let select = Select {
            items,
            from: Some(source.from),
            group_by,
            having,
            grouped: true,
            ..Select::default()
        };
        self.derived(Query::of_select(select, columns), &pivot.alias)
    }

    /// The aggregate of PIVOT, and the column in it.
    fn pivoted_value(&mut self, aggregate: &ast::Expr) -> Result<(AggregateKind, Expr), SqlError> {
        let refused = || SqlError::unsupported("An aggregate of PIVOT other than of one column");
        let ast::ExprKind::Function(call) = &aggregate.kind else {
            return Err(refused());
        };
        let kind = AggregateKind::find(&call.name.name.text).filter(|kind| *kind != AggregateKind::StringAgg);
        let (Some(kind), ast::Arguments::List(arguments)) = (kind, &call.arguments) else {
            return Err(refused());
        };
        let [argument] = arguments.as_slice() else {
            return Err(refused());
        };
        let value = self.value(Clause::Argument, argument)?;
        match reference_of(&value) {
            Some(_) => Ok((kind, value)),
            None => Err(refused()),
        }
    }

    /// The aggregate of the rows whose column has the value that a name says.
    fn pivoted_item(
        &mut self,
        kind: AggregateKind,
        value: &Expr,
        column: &Expr,
        name: &ast::Name,
    ) -> Result<Expr, SqlError> {
        let text = DataType::NVarChar(Width::Limited(NAME_LENGTH));
        let written = Value::Text(Arc::from(name.text.as_str()));
        let wanted = convert(&written, &text, &column.data_type, None, DateFormat::default())
            .map_err(|_| SqlError::pivot_value(&name.text).on_line(name.position.line))?;
        let wanted = Expr::literal(wanted, column.data_type);
        let condition = compared(Comparison::Equal, column.clone(), wanted)?;
        let case = ExprKind::Case {
            branches: vec![(condition, value.clone())],
            otherwise: None,
        };
        let case = Expr::new(case, value.data_type).with_collation(value.collation);
        let aggregate = Aggregate::bind(kind, vec![case])?;
        let (data_type, nullable) = (aggregate.data_type, !kind.counts());
        let node = QueryNode::Aggregate(Box::new(AggregateCall {
            aggregate,
            distinct: kind == AggregateKind::ApproxCountDistinct,
            order: Vec::new(),
        }));
        let item = self.query_node(node, data_type, nullable);
        Ok(match super::call::is_text(&data_type) {
            true => item.with_collation(value.collation),
            false => item,
        })
    }

    /// The columns in scope without these, with their names.
    fn remaining_columns(&mut self, taken: &[ColumnRef]) -> Vec<(String, Expr)> {
        let sources = self.scope().map_or(&[][..], |scope| &scope.columns.sources);
        let columns = sources.iter().flat_map(columns_of);
        let rest = columns.filter(|(_, value)| reference_of(value).is_none_or(|column| !taken.contains(&column)));
        let rest: Vec<(String, Expr)> = rest.collect();
        self.note_all(&rest);
        rest
    }

    fn note_all(&self, columns: &[(String, Expr)]) {
        let read = columns.iter().filter_map(|(_, value)| reference_of(value));
        read.for_each(|column| self.note_read(column));
    }

    /// UNPIVOT: each row once for each of the columns, without NULLs.
    pub(super) fn bind_unpivot(&mut self, unpivot: &ast::Unpivot) -> Result<Bound, SqlError> {
        let source = self.bind_source(&unpivot.source)?;
        let all: Vec<(String, Expr)> = source.sources.iter().flat_map(columns_of).collect();
        self.note_all(&all);
        let mut chosen: Vec<(String, Expr)> = Vec::with_capacity(unpivot.columns.len());
        for name in &unpivot.columns {
            let found = all.iter().find(|(known, _)| same_name(known, &name.text));
            let (known, value) =
                found.ok_or_else(|| SqlError::unknown_column(&name.text).on_line(name.position.line))?;
            let is_same = |first: &(String, Expr)| first.1.data_type == value.data_type;
            if !chosen.first().is_none_or(is_same) {
                return Err(SqlError::unpivot_type(&name.text).on_line(name.position.line));
            }
            chosen.push((known.clone(), value.clone()));
        }
        let taken: Vec<ColumnRef> = chosen.iter().filter_map(|(_, value)| reference_of(value)).collect();
        let is_left = |(_, value): &(String, Expr)| reference_of(value).is_none_or(|column| !taken.contains(&column));
        let rest: Vec<(String, Expr)> = all.into_iter().filter(is_left).collect();
        let (numbers, which) = self.row_numbers(chosen.len());
        let value = choice(&which, chosen.iter().map(|(_, value)| value.clone()));
        let name_type = DataType::NVarChar(Width::Limited(NAME_LENGTH));
        let names = chosen
            .iter()
            .map(|(name, _)| Expr::literal(Value::Text(Arc::from(name.as_str())), name_type));
        let name = choice(&which, names);
        let filter = Predicate::IsNull(Box::new(value.clone())).negate();
        let joined = join(JoinKind::Inner, source, numbers, None)?;
        let mut columns: Vec<QueryColumn> = Vec::with_capacity(rest.len() + 2);
        let mut items = Vec::with_capacity(rest.len() + 2);
        let added = [
            (unpivot.value.text.clone(), value.with_nullable(false)),
            (unpivot.name.text.clone(), name),
        ];
        for (name, value) in rest.into_iter().chain(added) {
            columns.push(QueryColumn::of(name, &value));
            items.push(value);
        }
        let select = Select {
            items,
            from: Some(joined.from),
            filter: Some(filter),
            ..Select::default()
        };
        self.derived(Query::of_select(select, columns), &unpivot.alias)
    }

    /// A source of the numbers from 0, and its column.
    fn row_numbers(&mut self, count: usize) -> (Bound, Expr) {
        let rows = (0..count).map(|at| vec![number(at)]).collect();
        let column = QueryColumn::of(String::new(), &number(0));
        let query = Query {
            body: Body::Values(rows),
            columns: vec![column.clone()],
            order: Vec::new(),
            limit: None,
        };
        let bound = self.leaf(query, String::new());
        let source = bound.sources.first().map_or(0, |source| source.number);
        let which = column.read(ColumnRef { source, column: 0 });
        let unnamed = Bound {
            from: bound.from,
            sources: Vec::new(),
        };
        (unnamed, which)
    }
}

/// The value with the number `which`.
fn choice(which: &Expr, values: impl Iterator<Item = Expr>) -> Expr {
    let mut data_type = DataType::Int;
    let mut collation = crate::Collation::default();
    let branches = values.enumerate().map(|(at, value)| {
        data_type = value.data_type;
        collation = value.collation;
        let compare = Compare {
            comparison: Comparison::Equal,
            left: which.clone(),
            right: number(at),
            collation: crate::Collation::default(),
        };
        (Predicate::Compare(Box::new(compare)), value)
    });
    let branches = branches.collect();
    let kind = ExprKind::Case {
        branches,
        otherwise: None,
    };
    Expr::new(kind, data_type).with_collation(collation)
}

fn number(at: usize) -> Expr {
    Expr::literal(Value::BigInt(i64::try_from(at).unwrap_or(i64::MAX)), DataType::BigInt)
}

/// The column that an expression is.
pub(super) fn reference_of(expr: &Expr) -> Option<ColumnRef> {
    match expr.kind {
        ExprKind::Column(column) => Some(column),
        ExprKind::Literal(_)
        | ExprKind::Null
        | ExprKind::Variable(_)
        | ExprKind::QueryNode(_)
        | ExprKind::Input(_)
        | ExprKind::Convert(_)
        | ExprKind::Unary { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Whole(_)
        | ExprKind::Case { .. }
        | ExprKind::Coalesce(_)
        | ExprKind::Choose { .. }
        | ExprKind::Call(_)
        | ExprKind::UserCall(_)
        | ExprKind::Let(_)
        | ExprKind::Local => None,
    }
}

/// A source's columns with their names.
fn columns_of(source: &Source) -> impl Iterator<Item = (String, Expr)> {
    source.columns.iter().enumerate().map(|(at, column)| {
        let reference = ColumnRef {
            source: source.number,
            column: u32::try_from(at).unwrap_or(u32::MAX),
        };
        let value = Expr::new(ExprKind::Column(reference), column.data_type)
            .with_nullable(column.nullable)
            .with_collation(column.collation.of_column());
        (column.name.clone(), value)
    })
}

/// The length of names.
const NAME_LENGTH: u16 = 128;
