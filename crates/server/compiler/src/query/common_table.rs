//! Common table expressions, including recursive ones.
//!
//! - `written-once`: each is written once, before the statement; a recursive one gets one more
//!   column, its recursion level.
//! - `expanded-in-place`: those of an inline function whose arguments are columns can't be written
//!   before the statement: each is bound where it is named.
//! - `views-have-their-own`: a view has its own: it sees none of the query that uses the view.

use selenite_tsql::ast;

use super::QueryBinder;
use super::source::{Bound, column_of, rename};
use super::tree::{Body, Common, From, JoinKind, Leaf, Query, QueryColumn, Recursion, Rows, Select, SqliteColumn};
use super::xml_namespaces::StatementNamespaces;
use crate::{Source, SqlError, same_name};

/// One WITH, or the border of a view.
#[derive(Default, Debug)]
pub(crate) struct CommonScope {
    entries: Vec<Entry>,
    home: Option<ViewHome>,
    /// Those that are bound where they are named (`expanded-in-place`).
    expanded: Vec<ast::CommonTable>,
    /// How many of them a name may mean: those before the one whose text is being bound.
    visible: usize,
    namespaces: StatementNamespaces,
}

/// The database and schema of a view, in which names of its text are looked up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ViewHome {
    /// The database.
    pub database: String,
    /// The schema.
    pub schema: String,
}

/// A common table expression.
#[derive(Debug)]
struct Entry {
    name: String,
    index: usize,
    columns: Vec<QueryColumn>,
    state: BindingState,
}

/// The state of binding a common table expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum BindingState {
    /// It is bound.
    Bound,
    /// Its first member is being bound; `is_union` says whether others follow by UNION ALL.
    Anchor { is_union: bool },
    /// A later member is being bound at this depth; `source` is the recursive reference.
    Member { depth: usize, source: Option<u32> },
}

impl CommonScope {
    /// The border of a view: outer names are not visible, and names without a database are in `home`.
    pub fn border(home: ViewHome) -> Self {
        Self {
            home: Some(home),
            ..Self::default()
        }
    }

    /// Where the view is, if this is a border.
    pub fn home(&self) -> Option<&ViewHome> {
        self.home.as_ref()
    }
}

impl QueryBinder<'_> {
    /// Runs `bind` in the scope of a WITH.
    ///
    /// Errors: any error of the WITH.
    pub(crate) fn with_commons<T>(
        &mut self,
        with: &ast::With,
        bind: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        if with.tables.len() > COMMON_COUNT_MAX {
            return Err(SqlError::nested_too_deeply());
        }
        self.commons.push(CommonScope {
            namespaces: StatementNamespaces::of(&with.namespaces)?,
            ..CommonScope::default()
        });
        let mut bound = Ok(());
        for table in &with.tables {
            bound = self
                .define_common(table)
                .map_err(|error| error.on_line(table.position.line));
            if bound.is_err() {
                break;
            }
        }
        let result = bound.and_then(|()| bind(self));
        self.commons.pop();
        result
    }

    /// Runs `bind` in the scope of a WITH whose queries may use columns of an outer query.
    ///
    /// Errors: any error of the WITH.
    pub(super) fn with_expanded<T>(
        &mut self,
        with: &ast::With,
        bind: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let tables = &with.tables;
        if tables.len() > COMMON_COUNT_MAX {
            return Err(SqlError::nested_too_deeply());
        }
        for (at, table) in tables.iter().enumerate() {
            let before = tables.iter().take(at);
            if before
                .into_iter()
                .any(|before| same_name(&before.name.text, &table.name.text))
            {
                return Err(SqlError::common_table_twice(&table.name.text));
            }
        }
        self.commons.push(CommonScope {
            expanded: tables.clone(),
            visible: tables.len(),
            namespaces: StatementNamespaces::of(&with.namespaces)?,
            ..CommonScope::default()
        });
        let result = bind(self);
        self.commons.pop();
        result
    }

    /// `expanded-in-place`: the query of such a common table expression as a source, if the name is one's.
    fn bind_expanded(&mut self, name: &ast::Name, alias: Option<&ast::Name>) -> Result<Option<Bound>, SqlError> {
        let mut found = None;
        for (place, scope) in self.commons.iter().enumerate().rev() {
            let at = scope
                .expanded
                .iter()
                .position(|table| same_name(&table.name.text, &name.text));
            if let Some(at) = at {
                found = scope
                    .expanded
                    .get(at)
                    .map(|table| (place, at, at < scope.visible, table.clone()));
            }
            if found.is_some() || scope.home.is_some() {
                break;
            }
        }
        let Some((place, at, is_visible, table)) = found else {
            return Ok(None);
        };
        if !is_visible {
            return Err(SqlError::unsupported(
                "A recursive common table expression of a function whose argument is a column",
            ));
        }
        let inner = self.commons.split_off(place + 1);
        let scopes = std::mem::take(&mut self.scopes);
        let set_visible = |binder: &mut Self, visible| {
            let scope = binder.commons.get_mut(place);
            scope.map_or(0, |scope| std::mem::replace(&mut scope.visible, visible))
        };
        let before = set_visible(self, at);
        let query = self.nested(|binder| binder.bind_rows(&table.query));
        set_visible(self, before);
        self.scopes = scopes;
        self.commons.extend(inner);
        let mut query = query?;
        rename(&mut query, &table.name.text, &table.columns)?;
        Ok(Some(self.leaf(query, alias.unwrap_or(&table.name).text.clone())))
    }

    /// The namespaces of the statement, view or function that is being bound.
    pub(super) fn namespaces(&self) -> &StatementNamespaces {
        let mut scopes = self.commons.iter().rev();
        let is_last = |scope: &&CommonScope| scope.home.is_some() || !scope.namespaces.is_empty();
        scopes.find(is_last).map_or(&NO_NAMESPACES, |scope| &scope.namespaces)
    }

    /// Sets the recursion limit: OPTION (MAXRECURSION n), where 0 is no limit.
    pub(crate) fn limit_recursion(&mut self, level_max: u32) {
        self.recursion_max = level_max;
    }

    /// The source for a name of one part, if a common table expression has that name.
    pub(super) fn bind_common(
        &mut self,
        name: &ast::Name,
        alias: Option<&ast::Name>,
    ) -> Result<Option<Bound>, SqlError> {
        if let Some(bound) = self.bind_expanded(name, alias)? {
            return Ok(Some(bound));
        }
        let depth = self.depth;
        let mut found = None;
        for scope in self.commons.iter_mut().rev() {
            found = scope
                .entries
                .iter_mut()
                .find(|entry| same_name(&entry.name, &name.text));
            if found.is_some() || scope.home.is_some() {
                break;
            }
        }
        let Some(entry) = found else { return Ok(None) };
        let number = self
            .parts
            .add_source((0..entry.columns.len()).map(SqliteColumn::Numbered).collect());
        match &mut entry.state {
            BindingState::Bound => {}
            BindingState::Anchor { is_union: true } => return Err(SqlError::recursion_without_anchor(&entry.name)),
            BindingState::Anchor { is_union: false } => return Err(SqlError::recursion_without_union(&entry.name)),
            BindingState::Member { source: Some(_), .. } => return Err(SqlError::recursion_twice(&entry.name)),
            BindingState::Member { depth: allowed, .. } if *allowed != depth => {
                return Err(SqlError::recursion_in_subquery());
            }
            BindingState::Member { source, .. } => *source = Some(number),
        }
        let alias = alias.map_or(&entry.name, |alias| &alias.text).clone();
        let columns = entry.columns.iter().map(column_of).collect();
        let source = Source {
            alias,
            database_and_schema: None,
            number,
            columns,
        };
        let from = From::Leaf(Leaf {
            source: number,
            rows: Rows::Common(entry.index),
        });
        Ok(Some(Bound {
            from,
            sources: vec![source],
        }))
    }

    /// Whether a common table expression has this name.
    pub(crate) fn is_common(&self, name: &ast::Name) -> bool {
        let mut scopes = self.commons.iter().rev();
        let mut seen = scopes.by_ref().take_while(|scope| scope.home.is_none());
        seen.any(|scope| scope.entries.iter().any(|entry| same_name(&entry.name, &name.text)))
    }

    fn define_common(&mut self, table: &ast::CommonTable) -> Result<(), SqlError> {
        let name = &table.name.text;
        let entries = self.commons.last().map_or(&[][..], |scope| &scope.entries);
        if entries.iter().any(|entry| same_name(&entry.name, name)) {
            return Err(SqlError::common_table_twice(name));
        }
        let combined = match &table.query.body {
            ast::QueryBody::Combined(combined) => Some(combined),
            ast::QueryBody::Select(_) | ast::QueryBody::Nested(_) => None,
        };
        let is_union = combined.is_some_and(|combined| {
            combined
                .rest
                .iter()
                .any(|term| term.operator == ast::SetOperator::UnionAll)
        });
        // A query may refer only to earlier entries: an entry gets its index when it has been bound.
        let state = BindingState::Anchor { is_union };
        self.open_entry(Entry {
            name: name.clone(),
            index: usize::MAX,
            columns: Vec::new(),
            state,
        });
        let scopes = std::mem::take(&mut self.scopes);
        let bound = self.nested(|binder| match combined {
            Some(combined) if table.query.order_by.is_empty() => binder.bind_members(table, combined),
            Some(_) | None => Ok((binder.bind_rows(&table.query)?, None)),
        });
        self.scopes = scopes;
        let (mut query, recursion) = bound?;
        rename(&mut query, name, &table.columns)?;
        let columns = query.columns.clone();
        let index = match self.entry().map(|entry| entry.index) {
            Some(index) if index != usize::MAX => {
                if let Some(common) = self.parts.commons.get_mut(index) {
                    *common = Common {
                        query: Some(query),
                        recursion,
                    };
                }
                index
            }
            Some(_) | None => {
                self.parts.commons.push(Common {
                    query: Some(query),
                    recursion,
                });
                self.parts.commons.len() - 1
            }
        };
        if let Some(entry) = self.entry() {
            entry.index = index;
            entry.columns = columns;
            entry.state = BindingState::Bound;
        }
        Ok(())
    }

    fn open_entry(&mut self, entry: Entry) {
        if let Some(scope) = self.commons.last_mut() {
            scope.entries.push(entry);
        }
    }

    /// The common table expression that is being bound.
    fn entry(&mut self) -> Option<&mut Entry> {
        self.commons.last_mut()?.entries.last_mut()
    }

    /// Combines the members: the first is an anchor, those that refer to the table itself are recursive.
    fn bind_members(
        &mut self,
        table: &ast::CommonTable,
        combined: &ast::Combination,
    ) -> Result<(Query, Option<Recursion>), SqlError> {
        let name = &table.name.text;
        let mut first = self.bind_body(&combined.first)?;
        rename(&mut first, name, &table.columns)?;
        self.parts.commons.push(Common {
            query: None,
            recursion: None,
        });
        let index = self.parts.commons.len() - 1;
        let depth = self.depth;
        let mut columns = first.columns.clone();
        columns.iter_mut().for_each(|column| column.nullable = true);
        if let Some(entry) = self.entry() {
            entry.index = index;
            entry.columns.clone_from(&columns);
        }
        let mut rest = Vec::new();
        let mut members = vec![None];
        for term in &combined.rest {
            if let Some(entry) = self.entry() {
                entry.state = BindingState::Member { depth, source: None };
            }
            let query = self.bind_body(&term.body)?;
            let source = self.entry().and_then(|entry| match entry.state {
                BindingState::Member { source, .. } => source,
                BindingState::Bound | BindingState::Anchor { .. } => None,
            });
            if let Some(source) = source {
                if term.operator != ast::SetOperator::UnionAll {
                    return Err(SqlError::recursion_without_union(name));
                }
                check_member(&query, source, name)?;
                check_types(&columns, &query, name)?;
            } else if members.iter().any(Option::is_some) {
                return Err(SqlError::unsupported("An anchor member after a recursive one"));
            }
            members.push(source);
            rest.push((term.operator, query));
        }
        if members.iter().all(Option::is_none) {
            return Ok((self.combine(first, rest)?, None));
        }
        for ((_, query), member) in rest.iter().zip(members.iter().skip(1)) {
            if member.is_none() {
                check_types(&columns, query, name)?;
            }
        }
        let recursion = Recursion {
            members,
            level_max: self.recursion_max,
        };
        let query = Query {
            body: Body::Combined(Box::new(first), rest),
            columns,
            order: Vec::new(),
            limit: None,
        };
        Ok((query, Some(recursion)))
    }
}

/// Checks a recursive member by SQL Server's rules, which include SQLite's.
fn check_member(query: &Query, source: u32, name: &str) -> Result<(), SqlError> {
    if query.limit.is_some() {
        return Err(SqlError::in_recursive_part(461, "The TOP or OFFSET operator is", name));
    }
    let Body::Select(select) = &query.body else {
        return Err(SqlError::unsupported("A combination of queries in a recursive member"));
    };
    let Select {
        distinct,
        from,
        grouped,
        ..
    } = &**select;
    if *distinct {
        return Err(SqlError::in_recursive_part(460, "DISTINCT operator is", name));
    }
    if *grouped {
        return Err(SqlError::in_recursive_part(
            467,
            "GROUP BY, HAVING, or aggregate functions are",
            name,
        ));
    }
    let mut inner = true;
    if let Some(from) = from {
        from.visit_joins(&mut |join| inner &= join.kind == JoinKind::Inner);
    }
    if !inner {
        return Err(SqlError::in_recursive_part(462, "Outer join is", name));
    }
    let direct = from.as_ref().is_some_and(|from| from.has_leaf(source));
    if direct {
        Ok(())
    } else {
        Err(SqlError::recursion_in_subquery())
    }
}

/// Checks that a member's types equal the anchor's, including lengths.
fn check_types(columns: &[QueryColumn], member: &Query, name: &str) -> Result<(), SqlError> {
    if columns.len() != member.columns.len() {
        return Err(SqlError::unequal_columns());
    }
    match columns
        .iter()
        .zip(&member.columns)
        .find(|(anchor, column)| anchor.data_type != column.data_type)
    {
        Some((anchor, _)) => Err(SqlError::recursive_type(&anchor.name, name)),
        None => Ok(()),
    }
}

static NO_NAMESPACES: StatementNamespaces = StatementNamespaces::NONE;

/// Each may refer to the one before it, and SQLite supports a thousand levels, including those of views.
const COMMON_COUNT_MAX: usize = 256;
