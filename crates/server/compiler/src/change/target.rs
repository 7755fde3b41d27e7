//! The table that a statement changes.

use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{Comparison, DataType};

use crate::bind::compared;
use crate::binding::Binding;
use crate::catalog::{ChangeVerb, Relation, Table, View};
use crate::query::source::{Bound, join};
use crate::query::tree::{JoinKind, row_id};
use crate::query::{QueryBinder, exposed};
use crate::{Expr, ExprKind, Predicate, Slot, SqlError, same_name, written_object};

/// The table that an UPDATE or DELETE changes, among the sources that it reads.
pub(crate) struct Target {
    /// The table.
    pub table: Arc<Table>,
    /// The table's source number.
    pub source: u32,
    /// The number of the source whose names apply: the table's, or that of the query that it is changed through.
    pub exposed: u32,
    /// All sources.
    pub bound: Bound,
    /// Whether it is the only source.
    pub alone: bool,
    /// The columns of the query that it is changed through.
    pub through: Option<Vec<ThroughColumn>>,
    /// The views that it is changed through.
    pub views: Vec<Arc<View>>,
}

/// A column of a query that rows are changed through: its name, and the index of the table's column.
pub(crate) type ThroughColumn = (String, Option<usize>);

impl Target {
    /// A target that is one of the sources.
    fn among(table: Arc<Table>, source: u32, bound: Bound) -> Self {
        Self {
            table,
            source,
            exposed: source,
            bound,
            alone: false,
            through: None,
            views: Vec::new(),
        }
    }
}

impl Binding<'_> {
    /// The condition of WHERE CURRENT OF: the row has the rowid in the slot behind those of the variables.
    ///
    /// Errors: 40510 for a change through a view.
    pub(super) fn current_row(
        &self,
        target: &Target,
        current_of: Option<&ast::CursorName>,
    ) -> Result<Option<Predicate>, SqlError> {
        if current_of.is_none() {
            return Ok(None);
        }
        if target.through.is_some() || !target.views.is_empty() {
            return Err(SqlError::unsupported(
                "WHERE CURRENT OF in a change of a view or a query",
            ));
        }
        let slot = Slot(u32::try_from(self.variables.slot_count()).unwrap_or(u32::MAX));
        let value = Expr::new(ExprKind::Variable(slot), DataType::BigInt);
        compared(Comparison::Equal, row_id(target.source), value).map(Some)
    }
}

impl QueryBinder<'_> {
    /// Resolves the name of the table to write to.
    ///
    /// Errors: 208, 259 for a system view, 40510 for a view.
    pub(crate) fn target_table(&self, target: &ast::ChangeTarget) -> Result<Arc<Table>, SqlError> {
        match target {
            ast::ChangeTarget::Variable { name, position } => {
                self.table_variable(name).map_err(|error| error.on_line(position.line))
            }
            ast::ChangeTarget::Table(name) => {
                if let Some(single) = name.single()
                    && self.is_common(single)
                {
                    let error = SqlError::unsupported("A change through a common table expression");
                    return Err(error.on_line(name.position.line));
                }
                let relation = self.relation(name);
                let table = relation.and_then(changed_table);
                table.map_err(|error| error.on_line(name.position.line))
            }
        }
    }

    /// The target of an UPDATE or DELETE with FROM: an alias or table of FROM, or another table joined with it. Of a
    /// view, INSTEAD OF triggers may make the changes `verbs`. An UPDATE has `assigned` columns.
    ///
    /// Errors: as [`QueryBinder::target_table`]; 8154 for a table that occurs more than once in FROM.
    pub(crate) fn bind_target(
        &mut self,
        target: &ast::ChangeTarget,
        from: &[ast::TableSource],
        (verbs, assigned): (&[ChangeVerb], Option<&[&str]>),
    ) -> Result<Target, SqlError> {
        let Some(bound) = self.bind_from(from)? else {
            return match self.bind_query_target(target)? {
                QueryOrTable::Query(bound) => {
                    let number = bound.sources.first().map_or(0, |source| source.number);
                    self.through_or_instead(bound, number, (verbs, assigned))
                }
                QueryOrTable::Table(table) => self.lone_target(table, target),
            };
        };
        let (name, single) = match target {
            ast::ChangeTarget::Table(name) => (written_object(name), name.single().map(|name| name.text.clone())),
            ast::ChangeTarget::Variable { name, .. } => (name.clone(), Some(name.clone())),
        };
        let by_alias = bound
            .sources
            .iter()
            .find(|source| single.as_ref().is_some_and(|name| same_name(name, &source.alias)));
        if let Some(source) = by_alias {
            let number = source.number;
            let Some(table) = self.parts.tables.get(&number).cloned() else {
                return self.through_or_instead(bound, number, (verbs, assigned));
            };
            return Ok(Target::among(table, number, bound));
        }
        let table = self.target_table(target)?;
        let is_it = |number: &u32| {
            self.parts
                .tables
                .get(number)
                .is_some_and(|other| other.sqlite == table.sqlite)
        };
        let numbers: Vec<u32> = bound.sources.iter().map(|source| source.number).filter(is_it).collect();
        match numbers.as_slice() {
            [number] => Ok(Target::among(table, *number, bound)),
            [] => {
                let own = self.lone_target(Arc::clone(&table), target)?;
                let bound = join(JoinKind::Inner, own.bound, bound, None)?;
                Ok(Target::among(table, own.source, bound))
            }
            [_, ..] => Err(SqlError::ambiguous_target(&name)),
        }
    }

    /// The target of a source that is no table.
    fn through_or_instead(
        &mut self,
        bound: Bound,
        number: u32,
        (verbs, assigned): (&[ChangeVerb], Option<&[&str]>),
    ) -> Result<Target, SqlError> {
        let view = self.parts.views.get(&number).filter(|view| view.is_instead_of(verbs));
        match view.cloned() {
            Some(view) => self.instead_target(bound, number, &view),
            None => self.through(bound, number, assigned),
        }
    }

    /// The target of a MERGE, with its alias.
    ///
    /// Errors: as [`QueryBinder::bind_target`].
    pub(crate) fn bind_merge_target(
        &mut self,
        target: &ast::ChangeTarget,
        alias: Option<&ast::Name>,
        verbs: &[ChangeVerb],
    ) -> Result<Target, SqlError> {
        let mut found = self.bind_target(target, &[], (verbs, None))?;
        let from = found.bound.from.clone();
        self.extend_with_null(&from, &found.bound.sources)?;
        found.alone = false;
        if let Some(alias) = alias {
            for source in &mut found.bound.sources {
                source.alias.clone_from(&alias.text);
                source.database_and_schema = None;
            }
        }
        Ok(found)
    }

    /// The source of a target without FROM, if that is a common table expression or a view, or its table. The name is
    /// resolved once: each time counts as a use, which needs a permission.
    fn bind_query_target(&mut self, target: &ast::ChangeTarget) -> Result<QueryOrTable, SqlError> {
        let ast::ChangeTarget::Table(name) = target else {
            return self.target_table(target).map(QueryOrTable::Table);
        };
        let found = match name.single().is_some_and(|single| self.is_common(single)) {
            true => self.bind_relation(name, None).map(QueryOrTable::Query),
            false => self.relation(name).and_then(|relation| match relation {
                Relation::View(view) => self
                    .bind_view(&view, exposed(name, &view.name))
                    .map(QueryOrTable::Query),
                Relation::Table(_) | Relation::System(_) => changed_table(relation).map(QueryOrTable::Table),
            }),
        };
        found.map_err(|error| error.on_line(name.position.line))
    }

    fn lone_target(&mut self, table: Arc<Table>, target: &ast::ChangeTarget) -> Result<Target, SqlError> {
        let alias = match target {
            ast::ChangeTarget::Table(name) => exposed(name, &table.name).map(|name| name.text.clone()),
            ast::ChangeTarget::Variable { name, .. } => Some(name.clone()),
        };
        let bound = self.bind_table(&table, alias)?;
        let source = bound.sources.first().map_or(0, |source| source.number);
        Ok(Target {
            alone: true,
            ..Target::among(table, source, bound)
        })
    }
}

/// What a change without FROM names.
enum QueryOrTable {
    /// A common table expression or a view.
    Query(Bound),
    /// A table.
    Table(Arc<Table>),
}

/// The table that a statement may change.
///
/// Errors: 286, 259, 40510 for a view.
fn changed_table(relation: Relation) -> Result<Arc<Table>, SqlError> {
    match relation {
        Relation::Table(table) if table.is_logical() => Err(SqlError::logical_table_change()),
        Relation::Table(table) => Ok(table),
        Relation::View(view) => {
            let what = format!("A change through a view ('{}')", view.name);
            Err(SqlError::unsupported(&what))
        }
        Relation::System(_) => Err(SqlError::system_change()),
    }
}
