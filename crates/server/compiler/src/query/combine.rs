//! UNION, INTERSECT, EXCEPT and VALUES, which convert columns to one type.

use selenite_tsql::ast;
use selenite_types::{DataType, Encoding, Family};

use super::tree::{Body, ColumnKind, Query, QueryColumn, Select};
use super::{Clause, QueryBinder};
use crate::{Collation, ColumnRef, Expr, SqlError, common_type};

impl QueryBinder<'_> {
    pub(super) fn bind_combination(&mut self, combined: &ast::Combination) -> Result<Query, SqlError> {
        let line = combined.position.line;
        let sequence_count = self.parts.sequences.len();
        let first = self.bind_body(&combined.first)?;
        let mut rest = Vec::with_capacity(combined.rest.len());
        for term in &combined.rest {
            rest.push((term.operator, self.bind_body(&term.body)?));
        }
        if self.parts.sequences.len() > sequence_count {
            return Err(SqlError::next_value_distinct().on_line(line));
        }
        self.combine(first, rest).map_err(|error| error.on_line(line))
    }

    /// Combines queries, with their columns converted to the common types.
    ///
    /// Errors: 205 for unequal counts, 206 and related ones for types without a common type.
    pub(super) fn combine(&mut self, first: Query, rest: Vec<(ast::SetOperator, Query)>) -> Result<Query, SqlError> {
        if rest.iter().any(|(_, query)| query.columns.len() != first.columns.len()) {
            return Err(SqlError::unequal_columns());
        }
        let mut types = Vec::with_capacity(first.columns.len());
        let mut columns = Vec::with_capacity(first.columns.len());
        let mut collations = Vec::with_capacity(first.columns.len());
        for (at, column) in first.columns.iter().enumerate() {
            let mut samples = vec![sample(&first, at)];
            samples.extend(rest.iter().map(|(_, query)| sample(query, at)));
            let data_type = common_type(&samples)?;
            let nullable = samples.iter().any(|sample| sample.nullable);
            types.push(data_type);
            let operators = rest.iter().map(|(operator, _)| *operator);
            let collation = combined_collation(&samples, operators, at)?;
            collations.push(collation);
            let kind = ColumnKind {
                data_type,
                nullable,
                collation,
            };
            columns.push(QueryColumn::named(column.name.clone(), kind));
        }
        let first = self.with_types(first, &types)?;
        let first = self.with_collations(first, &collations);
        let mut converted = Vec::with_capacity(rest.len());
        for (operator, query) in rest {
            converted.push((operator, self.with_types(query, &types)?));
        }
        Ok(Query {
            body: Body::Combined(Box::new(first), converted),
            columns,
            order: Vec::new(),
            limit: None,
        })
    }

    /// The query with its columns converted.
    ///
    /// Errors: 206 and related ones.
    pub(crate) fn with_types(&mut self, mut query: Query, types: &[DataType]) -> Result<Query, SqlError> {
        if query
            .columns
            .iter()
            .zip(types)
            .all(|(column, data_type)| column.data_type == *data_type)
        {
            return Ok(query);
        }
        let simple = query.plain().is_some() && query.order.is_empty();
        if !simple {
            query = self.wrapped(query);
        }
        if let Body::Select(select) = &mut query.body {
            for ((item, column), data_type) in select.items.iter_mut().zip(&mut query.columns).zip(types) {
                *item = item.clone().converted_to(data_type)?;
                column.data_type = *data_type;
                column.nullable = item.nullable;
            }
        }
        Ok(query)
    }

    /// The query with its columns under these collations: SQLite compares rows of several queries under those of the
    /// first.
    fn with_collations(&mut self, mut query: Query, collations: &[Collation]) -> Query {
        let is_same = |(column, collation): (&QueryColumn, &Collation)| column.collation.named == collation.named;
        if query.columns.iter().zip(collations).all(is_same) {
            return query;
        }
        if query.plain().is_none() || !query.order.is_empty() {
            query = self.wrapped(query);
        }
        if let Body::Select(select) = &mut query.body {
            for ((item, column), collation) in select.items.iter_mut().zip(&mut query.columns).zip(collations) {
                item.collation = *collation;
                column.collation = *collation;
            }
        }
        query
    }

    /// A query over another, with the same columns.
    pub(crate) fn wrapped(&mut self, query: Query) -> Query {
        let columns = query.columns.clone();
        let bound = self.leaf(query, String::new());
        let number = bound.sources.first().map_or(0, |source| source.number);
        let read = |(at, column): (usize, &QueryColumn)| {
            column.read(ColumnRef {
                source: number,
                column: u32::try_from(at).unwrap_or(u32::MAX),
            })
        };
        let items = columns.iter().enumerate().map(read).collect();
        Query::of_select(
            Select {
                items,
                from: Some(bound.from),
                ..Select::default()
            },
            columns,
        )
    }

    /// Binds `VALUES (1, 2), (3, 4)`.
    ///
    /// Errors: 10709 for rows of unequal length.
    pub(crate) fn bind_values(&mut self, rows: &[Vec<ast::Expr>]) -> Result<Query, SqlError> {
        let mut bound = Vec::with_capacity(rows.len());
        for row in rows {
            let mut values = Vec::with_capacity(row.len());
            for value in row {
                values.push(self.value(Clause::Where, value)?);
            }
            bound.push(values);
        }
        self.values(bound)
    }

    /// A query of rows of values; the values of a column have one type.
    ///
    /// Errors: 10709.
    pub(crate) fn values(&mut self, mut rows: Vec<Vec<Expr>>) -> Result<Query, SqlError> {
        let count = rows.first().map_or(0, Vec::len);
        if rows.iter().any(|row| row.len() != count) {
            return Err(SqlError::unequal_rows());
        }
        let mut columns = Vec::with_capacity(count);
        for at in 0..count {
            let samples: Vec<Expr> = rows.iter().filter_map(|row| row.get(at).cloned()).collect();
            let data_type = common_type(&samples)?;
            let nullable = samples.iter().any(|sample| sample.nullable);
            let collation = combined_collation(&samples, std::iter::repeat(ast::SetOperator::UnionAll), at)?;
            for row in &mut rows {
                if let Some(value) = row.get_mut(at) {
                    *value = value.clone().converted_to(&data_type)?;
                }
            }
            columns.push(QueryColumn::named(
                String::new(),
                ColumnKind {
                    data_type,
                    nullable,
                    collation,
                },
            ));
        }
        Ok(Query {
            body: Body::Values(rows),
            columns,
            order: Vec::new(),
            limit: None,
        })
    }
}

/// The collation of a column of several queries.
///
/// Errors: 468 and 451 if it is unresolved.
fn combined_collation(
    samples: &[Expr],
    operators: impl Iterator<Item = ast::SetOperator>,
    at: usize,
) -> Result<Collation, SqlError> {
    let (mut all, others) = match samples.split_first() {
        Some((first, others)) => (first.collation, others),
        None => (Collation::default(), samples),
    };
    for (other, operator) in others.iter().zip(operators) {
        let operation = match operator {
            ast::SetOperator::Union => "UNION",
            ast::SetOperator::UnionAll => "UNION ALL",
            ast::SetOperator::Except => "EXCEPT",
            ast::SetOperator::Intersect => "INTERSECT",
        };
        if other.data_type.family() != Family::Text {
            continue;
        }
        all = all.combine(other.collation, operation)?;
        all.resolved(operation)
            .map_err(|error| match operator == ast::SetOperator::UnionAll {
                true => SqlError::column_conflict(other.collation.name(), all.name(), operation, at + 1),
                false => error,
            })?;
    }
    let texts = samples
        .iter()
        .filter(|sample| sample.data_type.family() == Family::Text);
    all.check_encoding(
        texts
            .map(|text| text.data_type.encoding())
            .max()
            .unwrap_or(Encoding::CodePage),
    )?;
    Ok(all)
}

/// A column for [`common_type`]: the expression itself, because a NULL literal converts to any type.
fn sample(query: &Query, at: usize) -> Expr {
    let item = match &query.body {
        Body::Select(select) => select.items.get(at).filter(|item| item.is_null_word()).cloned(),
        Body::Values(_) | Body::Combined(..) => None,
    };
    let read = || {
        let column = query.columns.get(at)?;
        let read = column.read(ColumnRef { source: 0, column: 0 });
        // A constant in a query is one, not a column.
        Some(read.with_collation(column.collation))
    };
    item.or_else(read)
        .unwrap_or_else(|| Expr::literal(selenite_types::Value::Null, DataType::Int))
}
