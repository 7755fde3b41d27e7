//! Changes through a common table expression, a view or a derived table: they change rows of its only table, also
//! through nested ones. An UPDATE may be through a join, of which it changes columns of one table.

use std::sync::Arc;

use selenite_tsql::ast::{self, SetOperator, TriggerEvents};
use selenite_types::{Comparison, DataType};

use super::target::{Target, ThroughColumn};
use crate::catalog::{ChangeVerb, Relation, Table, View};
use crate::query::QueryBinder;
use crate::query::source::Bound;
use crate::query::tree::{Body, From, Join, JoinKind, Leaf, Query, QueryColumn, ROW_ID, Rows};
use crate::{ColumnRef, Compare, Expr, ExprKind, Predicate, SqlError, same_name};

/// A query that also returns its table's rowid.
struct QueryWithRowId {
    table: Arc<Table>,
    columns: Vec<ThroughColumn>,
    /// The index of the rowid among the query's columns.
    place: usize,
    /// The views between the query and the table.
    views: Vec<Arc<View>>,
}

/// The target of an INSERT.
pub(crate) struct InsertTarget {
    /// The table.
    pub table: Arc<Table>,
    /// The name and the columns of the named view or common table expression.
    pub through: Option<(String, Vec<ThroughColumn>)>,
    /// The named view, and the views between it and the table.
    pub views: Vec<Arc<View>>,
    /// The catalog's number of the named view.
    pub noted: Option<usize>,
}

impl QueryBinder<'_> {
    /// The target of a source that is a query: its rows, joined with the table's by rowid.
    ///
    /// `assigned` are the columns that an UPDATE assigns.
    ///
    /// Errors: 4403, 4405, 4426 and 40510 for a query that is not over one table's rows.
    pub(super) fn through(
        &mut self,
        mut bound: Bound,
        number: u32,
        assigned: Option<&[&str]>,
    ) -> Result<Target, SqlError> {
        let alias = bound.sources.iter().find(|source| source.number == number);
        let alias = alias.map(|source| source.alias.clone()).unwrap_or_default();
        let QueryWithRowId {
            table,
            columns,
            place,
            views,
        } = self.opened(&mut bound.from, (number, &alias), assigned)?;
        self.parts.row_ids.insert(number, format!("c{place}"));
        let own = self.bind_table(&table, Some(String::new()))?;
        let source = own.sources.first().map_or(0, |source| source.number);
        let row_id = |source| {
            let column = ExprKind::Column(ColumnRef { source, column: ROW_ID });
            Expr::new(column, DataType::BigInt).with_nullable(false)
        };
        let on = Compare {
            comparison: Comparison::Equal,
            left: row_id(source),
            right: row_id(number),
            collation: crate::Collation::default(),
        };
        let from = From::Join(Box::new(Join {
            kind: JoinKind::Inner,
            left: own.from,
            right: bound.from,
            on: Some(Predicate::Compare(Box::new(on))),
        }));
        Ok(Target {
            table,
            source,
            exposed: number,
            bound: Bound {
                from,
                sources: bound.sources,
            },
            alone: false,
            through: Some(columns),
            views,
        })
    }

    /// The table of an INSERT's target, which may be a view; with `fires` its INSTEAD OF triggers make the rows.
    ///
    /// Errors: as [`QueryBinder::target_table`] and [`QueryBinder::through`].
    pub(super) fn insert_target(&mut self, target: &ast::ChangeTarget, fires: bool) -> Result<InsertTarget, SqlError> {
        let plain = |table| InsertTarget {
            table,
            through: None,
            views: Vec::new(),
            noted: None,
        };
        let ast::ChangeTarget::Table(name) = target else {
            return Ok(plain(self.target_table(target)?));
        };
        let on_line = |error: SqlError| error.on_line(name.position.line);
        // A name is resolved once: a user who has only permission to write must not read.
        let mut bound = match name.single().is_some_and(|single| self.is_common(single)) {
            true => self.bind_relation(name, None),
            false => match self.relation(name).map_err(on_line)? {
                Relation::Table(table) if table.is_logical() => Err(SqlError::logical_table_change()),
                Relation::Table(table) => return Ok(plain(table)),
                Relation::View(view) if fires && view.is_instead_of(&[ChangeVerb::Insert]) => {
                    let mut bound = self.bind_view(&view, None).map_err(on_line)?;
                    let number = bound.sources.first().map_or(0, |source| source.number);
                    return Ok(InsertTarget {
                        table: Arc::new(self.view_as_table(&mut bound, number, &view)?),
                        through: None,
                        views: vec![view],
                        noted: self.parts.noted.get(&number).copied(),
                    });
                }
                Relation::View(view) => self.bind_view(&view, None),
                Relation::System(_) => Err(SqlError::system_change()),
            },
        }
        .map_err(on_line)?;
        let source = bound.sources.first();
        let (number, alias) = source.map_or((0, String::new()), |source| (source.number, source.alias.clone()));
        let opened = self.opened(&mut bound.from, (number, &alias), None)?;
        Ok(InsertTarget {
            table: opened.table,
            through: Some((alias, opened.columns)),
            views: opened.views,
            noted: self.parts.noted.get(&number).copied(),
        })
    }

    /// As [`QueryBinder::with_row_id`].
    ///
    /// Errors: 4403, 4405 and 4426 for a query that is not over one table's rows; 40510 for a view over one whose rows
    /// triggers change.
    fn opened(
        &mut self,
        from: &mut From,
        (number, alias): (u32, &str),
        assigned: Option<&[&str]>,
    ) -> Result<QueryWithRowId, SqlError> {
        let reason = match leaf_of(from, number).map(|leaf| &leaf.rows) {
            Some(Rows::Query(query)) => Some(reason(query)),
            Some(Rows::Common(index)) => {
                let common = self.parts.commons.get(*index);
                common.and_then(|common| common.query.as_ref()).map(reason)
            }
            Some(Rows::Table(_) | Rows::System(_) | Rows::Function(..) | Rows::Lateral(_) | Rows::Computed(_))
            | None => None,
        };
        let opened = self.with_row_id(from, number, assigned)?;
        let opened = opened.ok_or_else(|| reason.unwrap_or(SqlError::change_of_several)(alias))?;
        let inner = opened
            .views
            .iter()
            .rev()
            .skip(usize::from(self.parts.views.contains_key(&number)));
        let has_triggers = |view: &Arc<View>| view.fires.instead_of != TriggerEvents::default();
        match inner.into_iter().any(has_triggers) {
            true => Err(SqlError::unsupported(
                "A change through a view over one with INSTEAD OF triggers",
            )),
            false => Ok(opened),
        }
    }

    /// Makes the query of a source return its table's rowid too.
    fn with_row_id(
        &mut self,
        from: &mut From,
        number: u32,
        assigned: Option<&[&str]>,
    ) -> Result<Option<QueryWithRowId>, SqlError> {
        let Some(leaf) = leaf_of(from, number) else {
            return Ok(None);
        };
        let places = |query: &Query| {
            let is_assigned = |column: &QueryColumn| {
                let mut names = assigned?.iter();
                names.find(|name| same_name(name, &column.name))
            };
            let columns = query.columns.iter().enumerate();
            let places = columns.filter_map(|(at, column)| is_assigned(column).map(|_| at));
            assigned.map(|_| places.collect::<Vec<usize>>())
        };
        match &mut leaf.rows {
            Rows::Query(query) => {
                let places = places(query);
                self.add_row_id(query, number, places.as_deref())
            }
            Rows::Common(index) => {
                let index = *index;
                self.of_common(index, |binder, query| {
                    let places = places(query);
                    binder.add_row_id(query, number, places.as_deref())
                })
            }
            Rows::Table(_) | Rows::System(_) | Rows::Function(..) | Rows::Lateral(_) | Rows::Computed(_) => Ok(None),
        }
    }

    /// Changes the query of a common table expression.
    ///
    /// Errors: 40510 for a recursive one.
    fn of_common<T>(
        &mut self,
        index: usize,
        change: impl FnOnce(&mut Self, &mut Query) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let common = self.parts.commons.get_mut(index);
        let Some(mut query) = common
            .filter(|common| common.recursion.is_none())
            .and_then(|common| common.query.take())
        else {
            return Err(SqlError::unsupported(
                "A change through a recursive common table expression",
            ));
        };
        let changed = change(self, &mut query);
        if let Some(common) = self.parts.commons.get_mut(index) {
            common.query = Some(query);
        }
        changed
    }

    /// Makes the query of source `number`, and each nested query down to the table, return the table's rowid. Of a join
    /// the table is that of the columns at the places `assigned`.
    fn add_row_id(
        &mut self,
        query: &mut Query,
        number: u32,
        assigned: Option<&[usize]>,
    ) -> Result<Option<QueryWithRowId>, SqlError> {
        let Body::Select(select) = &mut query.body else {
            return Ok(None);
        };
        if select.grouped || select.distinct {
            return Ok(None);
        }
        let origins: Option<Vec<ColumnRef>> = assigned.map(|assigned| {
            let columns = assigned.iter().filter_map(|at| query.columns.get(*at));
            columns.filter_map(|column| column.origin).collect()
        });
        let Some(leaf) = select
            .from
            .as_mut()
            .and_then(|from| changed_leaf(from, origins.as_deref()))
        else {
            return Ok(None);
        };
        let source = leaf.source;
        let below = origins.map(|origins| {
            let places = origins.iter().map(|origin| usize::try_from(origin.column));
            places.filter_map(Result::ok).collect::<Vec<usize>>()
        });
        let (table, below, mut views) = match (self.parts.tables.get(&source), &mut leaf.rows) {
            (Some(table), _) => (Arc::clone(table), None, Vec::new()),
            (None, Rows::Query(_) | Rows::Common(_)) => {
                let opened = match &mut leaf.rows {
                    Rows::Query(inner) => self.add_row_id(inner, source, below.as_deref())?,
                    Rows::Common(index) => {
                        let index = *index;
                        self.of_common(index, |binder, inner| {
                            binder.add_row_id(inner, source, below.as_deref())
                        })?
                    }
                    Rows::Table(_) | Rows::System(_) | Rows::Function(..) | Rows::Lateral(_) | Rows::Computed(_) => {
                        None
                    }
                };
                let Some(opened) = opened else { return Ok(None) };
                self.parts.row_ids.insert(source, format!("c{}", opened.place));
                (opened.table, Some(opened.columns), opened.views)
            }
            (None, Rows::Table(_) | Rows::System(_) | Rows::Function(..) | Rows::Lateral(_) | Rows::Computed(_)) => {
                return Ok(None);
            }
        };
        views.extend(self.parts.views.get(&number).cloned());
        let origin = |column: &QueryColumn| {
            let origin = column.origin.filter(|origin| origin.source == source)?;
            let at = usize::try_from(origin.column).ok()?;
            match &below {
                Some(columns) => columns.get(at)?.1,
                None => Some(at),
            }
        };
        let columns = query
            .columns
            .iter()
            .map(|column| (column.name.clone(), origin(column)))
            .collect();
        let column = ExprKind::Column(ColumnRef { source, column: ROW_ID });
        let row_id = Expr::new(column, DataType::BigInt).with_nullable(false);
        query.columns.push(QueryColumn::of(String::new(), &row_id));
        select.items.push(row_id);
        let place = select.items.len() - 1;
        Ok(Some(QueryWithRowId {
            table,
            columns,
            place,
            views,
        }))
    }
}

/// The leaf whose rows are changed: the only one, or in an UPDATE the one that all assigned columns belong to. Columns of
/// none, which are computed, are any leaf's: their assignment is refused.
fn changed_leaf<'a>(from: &'a mut From, assigned: Option<&[ColumnRef]>) -> Option<&'a mut Leaf> {
    let source = match from {
        From::Leaf(leaf) => leaf.source,
        From::Join(join) => match assigned? {
            [] => first_leaf(&join.left),
            [first, rest @ ..] => {
                let is_same = rest.iter().all(|other| other.source == first.source);
                is_same.then_some(first.source)?
            }
        },
    };
    leaf_of(from, source)
}

fn first_leaf(from: &From) -> u32 {
    match from {
        From::Leaf(leaf) => leaf.source,
        From::Join(join) => first_leaf(&join.left),
    }
}

/// Why rows are not changed through a query, if they are not.
fn reason(query: &Query) -> fn(&str) -> SqlError {
    match &query.body {
        Body::Combined(_, rest) if rest.iter().all(|(operator, _)| *operator == SetOperator::UnionAll) => {
            SqlError::change_of_union_all
        }
        Body::Combined(..) => SqlError::change_of_union,
        Body::Values(_) => SqlError::change_of_several,
        Body::Select(select) if select.grouped || select.distinct => SqlError::change_of_groups,
        Body::Select(select) => match &select.from {
            Some(From::Leaf(Leaf {
                rows: Rows::Query(inner),
                ..
            })) => reason(inner),
            Some(From::Leaf(_) | From::Join(_)) | None => SqlError::change_of_several,
        },
    }
}

/// The leaf of a source.
pub(super) fn leaf_of(from: &mut From, number: u32) -> Option<&mut Leaf> {
    match from {
        From::Leaf(leaf) => (leaf.source == number).then_some(leaf),
        From::Join(join) => leaf_of(&mut join.left, number).or_else(|| leaf_of(&mut join.right, number)),
    }
}
