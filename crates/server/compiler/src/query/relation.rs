//! Resolves names of tables, views and table-valued functions.

use std::sync::Arc;

use selenite_tsql::ast;

use super::common_table::{CommonScope, ViewHome};
use super::source::{Bound, rename};
use super::tree::{From, Leaf, Query, QueryColumn, ROW_ID, Rows, Select, SqliteColumn};
use super::{Clause, QueryBinder};
use crate::catalog::{Relation, SystemColumn, SystemFunction, SystemRows, SystemView, Table, View};
use crate::file_name::SCHEMA;
use crate::{ColumnRef, Expr, ExprKind, Source, SourceColumn, SqlError, same_name, written_object};

impl QueryBinder<'_> {
    /// The catalog's object with this name.
    ///
    /// Errors: 208, and errors of the catalog.
    pub(crate) fn relation(&self, name: &ast::ObjectName) -> Result<Relation, SqlError> {
        if let Some(server) = &name.server {
            return Err(SqlError::unreachable_server(&server.text));
        }
        let qualified = self.qualified_by_view(name);
        let found = match self.schemas_of_view(name) {
            None => self.catalog.relation(&qualified)?,
            Some(schemas) => {
                let mut found = None;
                for schema in schemas {
                    let schema = Some(quoted_name(schema, name.position));
                    found = self.catalog.relation(&ast::ObjectName {
                        schema,
                        ..qualified.clone()
                    })?;
                    if found.is_some() {
                        break;
                    }
                }
                found
            }
        };
        found.ok_or_else(|| SqlError::unknown_object(&written_object(&qualified)))
    }

    pub(crate) fn bind_relation(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::Name>,
    ) -> Result<Bound, SqlError> {
        if let Some(single) = name.single()
            && let Some(bound) = self.bind_common(single, alias)?
        {
            return Ok(bound);
        }
        match self.relation(name).map_err(|error| error.on_line(name.position.line))? {
            Relation::Table(table) => {
                let alias = alias.or_else(|| exposed(name, &table.name));
                self.bind_table(&table, alias.map(|alias| alias.text.clone()))
            }
            Relation::View(view) => self.bind_view(&view, alias.or_else(|| exposed(name, &view.name))),
            Relation::System(view) => Ok(self.bind_system(&view, name.database.as_ref(), alias)),
        }
    }

    pub(super) fn bind_table_variable(&mut self, name: &str, alias: Option<&ast::Name>) -> Result<Bound, SqlError> {
        let table = self.table_variable(name)?;
        let alias = alias.map_or_else(|| name.to_owned(), |alias| alias.text.clone());
        self.bind_table(&table, Some(alias))
    }

    /// The table of a table variable.
    ///
    /// Errors: 1087.
    pub(crate) fn table_variable(&self, name: &str) -> Result<Arc<Table>, SqlError> {
        if let Some(table) = self.inline_parameters.find_table(name) {
            return Ok(table);
        }
        let table = self.catalog.table_variable(name)?;
        table.ok_or_else(|| SqlError::undeclared_table_variable(name))
    }

    /// A table as a source; for a table with computed columns a query that computes them.
    pub(crate) fn bind_table(&mut self, table: &Arc<Table>, alias: Option<String>) -> Result<Bound, SqlError> {
        let stored = self.stored_table(table);
        let named = match alias {
            Some(alias) => (alias, None),
            None => (table.name.clone(), Some((table.database.clone(), table.schema.clone()))),
        };
        let mut bound = if table.columns.iter().any(|column| column.computed.is_some()) {
            let query = self.computed_query(table, stored)?;
            let mut bound = self.leaf(query, String::new());
            if let Some(source) = bound.sources.first_mut() {
                // The rowid follows the columns.
                source.columns.truncate(table.columns.len());
                self.parts
                    .row_ids
                    .insert(source.number, format!("c{}", table.columns.len()));
            }
            bound
        } else {
            stored
        };
        for source in &mut bound.sources {
            self.parts.tables.insert(source.number, Arc::clone(table));
            source.alias.clone_from(&named.0);
            source.database_and_schema.clone_from(&named.1);
        }
        for source in &bound.sources {
            self.note_source(&Relation::Table(Arc::clone(table)), source);
        }
        Ok(bound)
    }

    /// A table as a source of names, where computed columns count as stored.
    pub(crate) fn plain_table(&mut self, table: &Arc<Table>) -> Bound {
        self.stored_table(table)
    }

    /// The columns that SQLite stores.
    fn stored_table(&mut self, table: &Arc<Table>) -> Bound {
        let places = table
            .columns
            .iter()
            .map(|column| SqliteColumn::Named(column.name.clone()))
            .collect();
        let number = self.parts.add_source(places);
        if let Some(row_id) = table.row_id() {
            self.parts.row_ids.insert(number, row_id.to_owned());
        }
        let column = |column: &crate::catalog::Column| SourceColumn {
            name: column.name.clone(),
            data_type: column.data_type,
            nullable: column.nullable,
            collation: column.collation.of_column(),
        };
        let columns = table.columns.iter().map(column).collect();
        let source = Source {
            alias: table.name.clone(),
            database_and_schema: None,
            number,
            columns,
        };
        let from = From::Leaf(Leaf {
            source: number,
            rows: Rows::Table(Arc::clone(table)),
        });
        Bound {
            from,
            sources: vec![source],
        }
    }

    fn computed_query(&mut self, table: &Arc<Table>, stored: Bound) -> Result<Query, SqlError> {
        let number = stored.sources.first().map_or(0, |source| source.number);
        let mut items = Vec::new();
        let outer = std::mem::take(&mut self.scopes);
        let bound = self.scoped(stored.sources, |binder| {
            for (at, column) in table.columns.iter().enumerate() {
                items.push(match &column.computed {
                    Some(computed) => binder
                        .value(Clause::Where, &computed.value)?
                        .converted_to(&column.data_type)?,
                    None => {
                        let reference = ColumnRef {
                            source: number,
                            column: index(at),
                        };
                        Expr::new(ExprKind::Column(reference), column.data_type)
                            .with_nullable(column.nullable)
                            .with_collation(column.collation.of_column())
                    }
                });
            }
            Ok(())
        });
        self.scopes = outer;
        bound?;
        if table.row_id().is_some() {
            let row_id = ExprKind::Column(ColumnRef {
                source: number,
                column: ROW_ID,
            });
            items.push(Expr::new(row_id, selenite_types::DataType::BigInt).with_nullable(false));
        }
        let names = table
            .columns
            .iter()
            .map(|column| column.name.clone())
            .chain(["rowid".to_owned()]);
        let columns = names
            .zip(&items)
            .map(|(name, item)| QueryColumn::of(name, item))
            .collect();
        let select = Select {
            items,
            from: Some(stored.from),
            ..Select::default()
        };
        Ok(Query::of_select(select, columns))
    }

    pub(crate) fn bind_view(&mut self, view: &Arc<View>, alias: Option<&ast::Name>) -> Result<Bound, SqlError> {
        if self.parts.sources.len() > SOURCE_COUNT_MAX {
            return Err(SqlError::too_many_tables(SOURCE_COUNT_MAX));
        }
        let scopes = std::mem::take(&mut self.scopes);
        self.commons.push(CommonScope::border(ViewHome {
            database: view.database.clone(),
            schema: view.schema.clone(),
        }));
        self.catalog.enter_view((&view.database, &view.schema));
        let query = self.nested(|binder| binder.bind_view_rows(view));
        self.catalog.leave_view();
        self.commons.pop();
        self.scopes = scopes;
        let mut query = query?;
        rename(&mut query, &view.name, &view.columns)?;
        let mut bound = self.leaf(query, alias.map_or(&view.name, |alias| &alias.text).clone());
        for source in &bound.sources {
            self.parts.views.insert(source.number, Arc::clone(view));
            self.note_source(&Relation::View(Arc::clone(view)), source);
        }
        if alias.is_none() {
            let named = Some((view.database.clone(), view.schema.clone()));
            bound
                .sources
                .iter_mut()
                .for_each(|source| source.database_and_schema.clone_from(&named));
        }
        Ok(bound)
    }

    fn bind_view_rows(&mut self, view: &View) -> Result<Query, SqlError> {
        self.with_commons(&view.select.with, |binder| binder.bind_rows(&view.select.query))
    }

    fn bind_system(&mut self, view: &SystemView, database: Option<&ast::Name>, alias: Option<&ast::Name>) -> Bound {
        let (number, columns) = self.system_columns(&view.columns, false);
        let named = alias.is_none().then(|| (database_of(database), view.schema.clone()));
        let alias = alias.map_or(&view.name, |alias| &alias.text).clone();
        let source = Source {
            alias,
            database_and_schema: named,
            number,
            columns,
        };
        let from = From::Leaf(Leaf {
            source: number,
            rows: Rows::System(Box::new(view.clone())),
        });
        Bound {
            from,
            sources: vec![source],
        }
    }

    pub(super) fn system_columns(&mut self, columns: &[SystemColumn], is_json: bool) -> (u32, Vec<SourceColumn>) {
        let place = |(at, column): (usize, &SystemColumn)| match is_json {
            true => SqliteColumn::Element(at, column.data_type.storage_class()),
            false => SqliteColumn::Named(column.name.clone()),
        };
        let places = columns.iter().enumerate().map(place).collect();
        let column = |column: &SystemColumn| SourceColumn {
            name: column.name.clone(),
            data_type: column.data_type,
            nullable: column.nullable,
            collation: column.collation.of_column(),
        };
        (self.parts.add_source(places), columns.iter().map(column).collect())
    }

    pub(super) fn bind_function(
        &mut self,
        call: &ast::FunctionCall,
        alias: Option<&ast::DerivedAlias>,
    ) -> Result<Bound, SqlError> {
        let written = written_object(&call.name);
        let Some(function) = self.catalog.function(&self.qualified_by_view(&call.name))? else {
            let bound = self.bind_row_source(call, alias)?;
            return bound.ok_or_else(|| SqlError::unknown_object(&written));
        };
        let (arguments, shown) = self.function_arguments(call, &function, &written)?;
        let is_json = matches!(function.rows, SystemRows::Json(_));
        let (number, mut columns) = self.system_columns(&shown, is_json);
        if let Some(names) = alias.map(|alias| &alias.columns).filter(|names| !names.is_empty()) {
            if names.len() != columns.len() {
                return Err(SqlError::column_list(&function.name, columns.len(), names.len()));
            }
            columns
                .iter_mut()
                .zip(names)
                .for_each(|(column, name)| column.name.clone_from(&name.text));
        }
        let database = database_of(call.name.database.as_ref());
        let named = alias.is_none().then(|| (database, function.schema.clone()));
        let alias = alias.map_or(&function.name, |alias| &alias.name.text).clone();
        let source = Source {
            alias,
            database_and_schema: named,
            number,
            columns,
        };
        let rows = Rows::Function(function.rows.clone(), arguments);
        Ok(Bound {
            from: From::Leaf(Leaf { source: number, rows }),
            sources: vec![source],
        })
    }

    fn function_arguments(
        &mut self,
        call: &ast::FunctionCall,
        function: &SystemFunction,
        written: &str,
    ) -> Result<(Vec<Expr>, Vec<SystemColumn>), SqlError> {
        let given: &[ast::Expr] = match &call.arguments {
            ast::Arguments::List(given) => given,
            ast::Arguments::Absent | ast::Arguments::Star | ast::Arguments::Distinct(_) | ast::Arguments::Json(_) => {
                &[]
            }
        };
        if given.len() < function.required {
            return Err(SqlError::too_few_arguments(written));
        }
        if given.len() > function.arguments.len() {
            return Err(SqlError::too_many_function_arguments(written));
        }
        let mut arguments = Vec::with_capacity(given.len());
        let mut columns = function.columns.clone();
        for (at, (argument, data_type)) in given.iter().zip(&function.arguments).enumerate() {
            // To a view of the system's with arguments, DEFAULT is NULL.
            if argument.kind == ast::ExprKind::Default && !function.is_split {
                arguments.push(super::output::null().converted_to(data_type)?);
                continue;
            }
            let bound = self.value(Clause::Argument, argument)?;
            if let (0, true, Some(first)) = (at, function.is_split, columns.first_mut()) {
                first.collation = bound.collation;
                if !bound.data_type.is_national() {
                    first.data_type = bound.data_type.encoding().varying(selenite_types::Width::Max);
                }
            }
            arguments.push(bound.converted_to(data_type)?);
        }
        if function.is_split && !is_one(given.get(function.arguments.len() - 1)) {
            columns.pop();
        }
        Ok((arguments, columns))
    }

    /// The name qualified by the database of the view that contains it.
    pub(super) fn qualified_by_view(&self, name: &ast::ObjectName) -> ast::ObjectName {
        let mut name = name.clone();
        if let (None, Some(home)) = (&name.database, self.view_home())
            && !name.name.text.starts_with('#')
        {
            name.database = Some(quoted_name(&home.database, name.position));
        }
        name
    }

    fn view_home(&self) -> Option<&ViewHome> {
        self.commons.iter().rev().find_map(CommonScope::home)
    }

    /// Where a name of one part in a view's text is looked up: in the view's schema, and then in `dbo`, whatever the
    /// default schema of the user is. `None` for any other name.
    pub(super) fn schemas_of_view(&self, name: &ast::ObjectName) -> Option<Vec<&str>> {
        let home = self.view_home()?;
        let single = name.single()?;
        if single.text.starts_with('#') {
            return None;
        }
        let mut schemas = vec![home.schema.as_str()];
        if !same_name(&home.schema, SCHEMA) {
            schemas.push(SCHEMA);
        }
        Some(schemas)
    }
}

pub(super) fn quoted_name(text: &str, position: ast::Position) -> ast::Name {
    ast::Name {
        text: text.to_owned(),
        quoted: true,
        position,
    }
}

fn is_one(argument: Option<&ast::Expr>) -> bool {
    argument.is_some_and(|argument| argument.kind == ast::ExprKind::Literal(ast::Literal::Integer("1".to_owned())))
}

/// The database that qualifies the name of a system object: the written one, or `master`.
fn database_of(written: Option<&ast::Name>) -> String {
    written.map_or_else(|| String::from("master"), |written| written.text.clone())
}

fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// SQL Server's limit of tables in a query is 256; here views and nested queries count, too. Views that join views
/// double with each level.
const SOURCE_COUNT_MAX: usize = 512;

/// The name by which columns of an object are qualified, if it was found by another name than its own: a synonym.
pub(crate) fn exposed<'n>(name: &'n ast::ObjectName, own: &str) -> Option<&'n ast::Name> {
    (!same_name(&name.name.text, own)).then_some(&name.name)
}
