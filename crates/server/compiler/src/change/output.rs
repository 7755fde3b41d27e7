//! OUTPUT: changed rows, sent to the client or written to a table.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::DataType;

use super::row_writer::RowWriter;
use super::target::ThroughColumn;
use crate::binding::{Binding, Inputs, ResultColumn};
use crate::catalog::{ChangeVerb, Table};
use crate::query::tree::SqliteColumn;
use crate::query::{Clause, QueryBinder};
use crate::{ColumnRef, Expr, ExprKind, NodeMut, Source, SourceColumn, SqlError};

/// The positions of the old and the new row in a changed row's values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The position of the old row's first column, if there is an old row.
    pub deleted: Option<usize>,
    /// The position of the new row's first column, if there is a new row.
    pub inserted: Option<usize>,
    /// Whether a changed row may lack one of the two.
    pub is_partial: bool,
}

/// One OUTPUT clause.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// Its columns.
    pub columns: Vec<ResultColumn>,
    /// The values, over a changed row's values and further inputs.
    pub values: Vec<Expr>,
    /// The table to write to; `None` is the client.
    pub into: Option<Box<RowWriter>>,
}

impl Outputs {
    /// Binds the OUTPUT clauses of a change of `table`, whose columns have the names of the view or query `through`
    /// which it is changed; `noted` is the catalog's number of what is named. `sources` are those of FROM; columns that
    /// the clauses read from them are added to `inputs`.
    ///
    /// Errors: any error of the clauses.
    pub(crate) fn bind(
        binding: &Binding<'_>,
        binder: &mut QueryBinder<'_>,
        output: &[ast::Output],
        (table, through, noted): (&Arc<Table>, Option<&[ThroughColumn]>, Option<usize>),
        layout: Layout,
        sources: &[Source],
        inputs: &mut Inputs,
    ) -> Result<Vec<Self>, SqlError> {
        let mut bound = Vec::with_capacity(output.len());
        for clause in output {
            let deleted = layout
                .deleted
                .map(|first| Changed::of(binder, table, through, ("deleted", first, layout.is_partial)));
            let inserted = layout
                .inserted
                .map(|first| Changed::of(binder, table, through, ("inserted", first, layout.is_partial)));
            let mut names: Vec<Source> = [&deleted, &inserted]
                .into_iter()
                .flatten()
                .map(|changed| changed.source.clone())
                .collect();
            binder
                .parts
                .noted
                .extend(names.iter().filter_map(|changed| Some((changed.number, noted?))));
            names.extend_from_slice(sources);
            let items = binder.scoped(names, |binder| binder.bind_items(&clause.items, Clause::Output))?;
            let mut columns = Vec::with_capacity(items.len());
            let mut values = Vec::with_capacity(items.len());
            for mut item in items {
                columns.push(ResultColumn {
                    name: item.name,
                    data_type: item.value.data_type,
                    nullable: item.value.nullable,
                    collation: item.value.collation,
                    identity: None,
                    is_computed: false,
                    place: String::new(),
                });
                for changed in [&deleted, &inserted].into_iter().flatten() {
                    changed.place(&mut item.value)?;
                }
                inputs.take(&mut item.value);
                values.push(item.value);
            }
            let into = match &clause.into {
                Some(into) => {
                    let target = binder.target_table(&into.target)?;
                    let types = columns.iter().map(|column| column.data_type).collect();
                    Some(Box::new(RowWriter::bind(binding, &target, &into.columns, types)?))
                }
                None => None,
            };
            bound.push(Self { columns, values, into });
        }
        Ok(bound)
    }

    /// The table that the rows are written to.
    pub fn filled(&self) -> Option<&Arc<Table>> {
        self.into.as_ref().map(|writer| &writer.rules.table)
    }

    /// Whether its rows go to the client.
    pub fn is_result(&self) -> bool {
        self.into.is_none()
    }
}

/// Checks that no trigger could send rows between those of an OUTPUT clause.
///
/// Errors: 334.
pub(crate) fn check_client_output(table: &Table, verb: ChangeVerb, outputs: &[Outputs]) -> Result<(), SqlError> {
    match table.fires.on(verb) && outputs.iter().any(Outputs::is_result) {
        true => Err(SqlError::output_with_triggers(&table.name)),
        false => Ok(()),
    }
}

/// The columns of the clause that is sent to the client.
pub(crate) fn result_columns(outputs: &[Outputs]) -> &[ResultColumn] {
    outputs
        .iter()
        .find(|output| output.is_result())
        .map_or(&[], |output| &output.columns)
}

/// `inserted` or `deleted`: the columns that an OUTPUT may name, of a table or of the query that it is changed through.
struct Changed {
    source: Source,
    /// For each column its position in a row's values; `None` if a query computes it.
    places: Vec<Option<u32>>,
}

impl Changed {
    fn of(
        binder: &mut QueryBinder<'_>,
        table: &Table,
        through: Option<&[ThroughColumn]>,
        (alias, first, is_partial): (&str, usize, bool),
    ) -> Self {
        let own = || table.columns.iter().enumerate();
        let named: Vec<ThroughColumn> = match through {
            Some(columns) => columns.to_vec(),
            None => own().map(|(at, column)| (column.name.clone(), Some(at))).collect(),
        };
        let column = |(name, at): &ThroughColumn| {
            let column = at.and_then(|at| table.columns.get(at));
            SourceColumn {
                name: name.clone(),
                data_type: column.map_or(DataType::Int, |column| column.data_type),
                nullable: is_partial || column.is_none_or(|column| column.nullable),
                collation: column.map(|column| column.collation.of_column()).unwrap_or_default(),
            }
        };
        let places = named
            .iter()
            .map(|(name, _)| SqliteColumn::Named(name.clone()))
            .collect();
        Self {
            source: Source {
                alias: alias.to_owned(),
                database_and_schema: None,
                number: binder.parts.add_source(places),
                columns: named.iter().map(column).collect(),
            },
            places: named
                .iter()
                .map(|(_, at)| at.and_then(|at| u32::try_from(first + at).ok()))
                .collect(),
        }
    }

    /// Replaces columns in an expression by inputs from a changed row's values.
    ///
    /// Errors: 40510 for a column that is not one of the table.
    fn place(&self, value: &mut Expr) -> Result<(), SqlError> {
        let mut is_known = true;
        value.rewrite(&mut |node| {
            if let NodeMut::Expr(expr) = node
                && let ExprKind::Column(ColumnRef { source, column }) = expr.kind
                && source == self.source.number
            {
                let at = usize::try_from(column).ok().and_then(|at| self.places.get(at));
                match at.copied().flatten() {
                    Some(place) => expr.kind = ExprKind::Input(place),
                    None => is_known = false,
                }
            }
        });
        match is_known {
            true => Ok(()),
            false => Err(SqlError::unsupported("OUTPUT of a column that a query computes")),
        }
    }
}

/// Replaces the columns of source `number` by inputs from position `first` on.
pub(crate) fn place_columns(node: NodeMut<'_>, number: u32, first: usize) {
    if let NodeMut::Expr(expr) = node
        && let ExprKind::Column(ColumnRef { source, column }) = expr.kind
        && source == number
    {
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        expr.kind = ExprKind::Input(first.saturating_add(column));
    }
}
