//! FROM: its sources and their joins.

use selenite_tsql::ast;

use super::tree::{From, Join, JoinKind, Leaf, Query, Rows, SqliteColumn};
use super::{Clause, QueryBinder};
use crate::{Source, SourceColumn, SqlError, same_name};

/// A bound part of FROM, with the names in scope.
pub(crate) struct Bound {
    /// The tables and joins.
    pub from: From,
    /// The sources in which names are resolved.
    pub sources: Vec<Source>,
}

impl QueryBinder<'_> {
    /// Binds a whole FROM; `None` if it is empty.
    ///
    /// Errors: 208 and related ones, and 1011, 1012, 1013 for duplicate names.
    pub(crate) fn bind_from(&mut self, from: &[ast::TableSource]) -> Result<Option<Bound>, SqlError> {
        let mut whole: Option<Bound> = None;
        for source in from {
            let next = self.bind_source(source)?;
            whole = Some(match whole {
                Some(before) => join(JoinKind::Inner, before, next, None)?,
                None => next,
            });
        }
        let mut count = 0;
        if let Some(bound) = &whole {
            bound.from.visit_leaves(&mut |_| count += 1);
        }
        super::check_table_count(count)?;
        Ok(whole)
    }

    pub(super) fn bind_source(&mut self, source: &ast::TableSource) -> Result<Bound, SqlError> {
        let bound = match &source.kind {
            ast::TableSourceKind::Table { name, alias, hints } => {
                self.hints(hints)?;
                self.bind_relation(name, alias.as_ref())
            }
            ast::TableSourceKind::Variable { name, alias, hints } => {
                self.hints(hints)?;
                self.bind_table_variable(name, alias.as_ref())
            }
            ast::TableSourceKind::Function { call, schema, alias } => {
                if call.form != ast::CallForm::Function {
                    let bound = self.bind_xml_nodes(call, alias.as_ref());
                    return bound.map_err(|error| error.on_line(source.position.line));
                }
                match self.bind_computed_rows(call, schema, alias.as_ref()) {
                    Ok(Some(bound)) => Ok(bound),
                    Ok(None) => self.bind_function(call, alias.as_ref()),
                    Err(error) => Err(error),
                }
            }
            ast::TableSourceKind::BulkFile { path, contents, alias } => {
                self.bind_bulk_file(path, *contents, alias.as_ref())
            }
            ast::TableSourceKind::Pivot(pivot) => self.bind_pivot(pivot),
            ast::TableSourceKind::Unpivot(unpivot) => self.bind_unpivot(unpivot),
            ast::TableSourceKind::Derived { query, alias } => {
                let query = self.nested(|binder| binder.bind_rows(query))?;
                self.derived(query, alias)
            }
            ast::TableSourceKind::Values { rows, alias } => {
                let query = self.bind_values(rows)?;
                self.derived(query, alias)
            }
            ast::TableSourceKind::Join(join) => return self.bind_join(join),
        };
        bound.map_err(|error| error.on_line(source.position.line))
    }

    fn bind_join(&mut self, source: &ast::Join) -> Result<Bound, SqlError> {
        // A chain of joins is nested on the left, as deep as the parser's limit.
        let mut chain = vec![source];
        let mut left = &source.left;
        while let ast::TableSourceKind::Join(inner) = &left.kind {
            chain.push(inner);
            left = &inner.left;
        }
        let mut bound = self.bind_source(left)?;
        for link in chain.into_iter().rev() {
            bound = self.bind_link(bound, link)?;
        }
        Ok(bound)
    }

    fn bind_link(&mut self, left: Bound, link: &ast::Join) -> Result<Bound, SqlError> {
        let kind = match link.kind {
            ast::JoinKind::Inner | ast::JoinKind::Cross => JoinKind::Inner,
            ast::JoinKind::Left => JoinKind::Left,
            ast::JoinKind::Right => JoinKind::Right,
            ast::JoinKind::Full => JoinKind::Full,
            ast::JoinKind::CrossApply => return self.bind_apply(left, &link.right, false),
            ast::JoinKind::OuterApply => return self.bind_apply(left, &link.right, true),
        };
        let border = left.sources.len();
        let right = self.joined(|binder| binder.bind_source(&link.right))?;
        match kind {
            JoinKind::Inner => {}
            JoinKind::Left => self.extend_with_null(&right.from, &right.sources)?,
            JoinKind::Right => self.extend_with_null(&left.from, &left.sources)?,
            JoinKind::Full => {
                self.extend_with_null(&left.from, &left.sources)?;
                self.extend_with_null(&right.from, &right.sources)?;
            }
        }
        let mut joined = join(kind, left, right, None)?;
        if let Some(on) = &link.on {
            let sources = joined.sources.clone();
            let condition = self.scoped(sources, |binder| binder.condition(Clause::On, on))?;
            if let From::Join(join) = &mut joined.from {
                join.on = Some(condition);
            }
        }
        for (at, source) in joined.sources.iter_mut().enumerate() {
            let without_match = match kind {
                JoinKind::Inner => false,
                JoinKind::Left => at >= border,
                JoinKind::Right => at < border,
                JoinKind::Full => true,
            };
            source
                .columns
                .iter_mut()
                .for_each(|column| column.nullable |= without_match);
        }
        Ok(joined)
    }

    /// A query as a source under an alias.
    ///
    /// Errors: 8155 to 8159 for its columns' names.
    pub(crate) fn derived(&mut self, mut query: Query, alias: &ast::DerivedAlias) -> Result<Bound, SqlError> {
        rename(&mut query, &alias.name.text, &alias.columns)?;
        Ok(self.leaf(query, alias.name.text.clone()))
    }

    /// A query as a source, named or not.
    pub(crate) fn leaf(&mut self, query: Query, alias: String) -> Bound {
        let columns = query.columns.iter().map(column_of).collect();
        let number = self
            .parts
            .add_source((0..query.columns.len()).map(SqliteColumn::Numbered).collect());
        self.note_json_columns(&query, number);
        let source = Source {
            alias,
            database_and_schema: None,
            number,
            columns,
        };
        let from = From::Leaf(Leaf {
            source: number,
            rows: Rows::Query(Box::new(query)),
        });
        Bound {
            from,
            sources: vec![source],
        }
    }
}

/// Gives a query's columns the names of a list, and checks that all have distinct names.
pub(super) fn rename(query: &mut Query, name: &str, names: &[ast::Name]) -> Result<(), SqlError> {
    if !names.is_empty() {
        if names.len() != query.columns.len() {
            return Err(SqlError::column_list(name, query.columns.len(), names.len()));
        }
        for (column, given) in query.columns.iter_mut().zip(names) {
            column.name.clone_from(&given.text);
        }
    }
    for (at, column) in query.columns.iter().enumerate() {
        if column.name.is_empty() {
            return Err(SqlError::unnamed_column(at + 1, name));
        }
        if query
            .columns
            .iter()
            .take(at)
            .any(|before| same_name(&before.name, &column.name))
        {
            return Err(SqlError::column_twice(&column.name, name));
        }
    }
    Ok(())
}

/// A query's column as a source column.
pub(super) fn column_of(column: &super::tree::QueryColumn) -> SourceColumn {
    SourceColumn {
        name: column.name.clone(),
        data_type: column.data_type,
        nullable: column.nullable,
        collation: column.collation.of_column(),
    }
}

/// Joins two parts.
///
/// Errors: 1011, 1012 and 1013 for names that both parts have.
pub(crate) fn join(kind: JoinKind, left: Bound, right: Bound, on: Option<crate::Predicate>) -> Result<Bound, SqlError> {
    for source in &right.sources {
        if let Some(other) = left.sources.iter().find(|other| clash(other, source)) {
            return Err(clash_error(other, source));
        }
    }
    let mut sources = left.sources;
    sources.extend(right.sources);
    Ok(Bound {
        from: From::Join(Box::new(Join {
            kind,
            left: left.from,
            right: right.from,
            on,
        })),
        sources,
    })
}

fn clash(left: &Source, right: &Source) -> bool {
    if !same_name(&left.alias, &right.alias) {
        return false;
    }
    match (&left.database_and_schema, &right.database_and_schema) {
        (Some((database, schema)), Some((other_database, other_schema))) => {
            same_name(schema, other_schema) && same_name(database, other_database)
        }
        (None, None) | (None, Some(_)) | (Some(_), None) => true,
    }
}

fn clash_error(left: &Source, right: &Source) -> SqlError {
    match (&left.database_and_schema, &right.database_and_schema) {
        (Some((_, schema)), Some(_)) => {
            let written = |source: &Source| format!("{schema}.{}", source.alias);
            SqlError::table_twice(&written(left), &written(right))
        }
        (None, None) => SqlError::alias_twice(&right.alias),
        (None, Some(_)) | (Some(_), None) => SqlError::table_and_alias(&right.alias),
    }
}
