//! Functions of users: in values, and in FROM.
//!
//! - `text-in-its-schema`: the text of an inline function is bound as a view's, in its own schema; a parameter in it
//!   stands for the bound argument, which keeps the columns that it was bound to.
//! - `rows-are-one-value`: a function of several statements is a value, a JSON array of its rows, which json_each
//!   expands: SQLite's virtual tables take arguments from tables before them.

use std::cmp::Ordering;
use std::sync::Arc;

use selenite_tsql::ast;
use selenite_types::{DataType, Value, Width};

use super::common_table::{CommonScope, ViewHome};
use super::relation::quoted_name;
use super::source::{Bound, rename};
use super::tree::{From, Leaf, Query, Rows};
use super::{Clause, QueryBinder};
use crate::catalog::{FunctionResult, SystemColumn, SystemRows, Table, UserFunction};
use crate::{Binder, Expr, ExprKind, NameKey, NoQuery, Source, SqlError, UserCall, written_object};

/// The parameters of the inline functions whose texts are being bound, each with its argument.
#[derive(Default, Debug)]
pub(crate) struct InlineParameters {
    frames: Vec<Vec<(NameKey, Expr)>>,
    /// The tables of each.
    tables: Vec<Vec<(NameKey, Arc<Table>)>>,
}

impl InlineParameters {
    /// The argument of a parameter of the innermost function.
    pub fn find(&self, name: &str) -> Option<Expr> {
        let frame = self.frames.last()?;
        let key = NameKey::new(name);
        frame
            .iter()
            .find(|(known, _)| *known == key)
            .map(|(_, value)| value.clone())
    }

    /// The table of a table-valued parameter of the innermost function.
    pub fn find_table(&self, name: &str) -> Option<Arc<Table>> {
        let key = NameKey::new(name);
        let found = self.tables.last()?.iter().find(|(known, _)| *known == key)?;
        Some(Arc::clone(&found.1))
    }
}

impl QueryBinder<'_> {
    /// A call in an expression.
    ///
    /// Errors: 4121, 313, 8144, and any error of an argument.
    pub(super) fn bind_user_call(&mut self, call: &ast::FunctionCall) -> Result<Expr, SqlError> {
        let written = written_object(&call.name);
        let found = self.user_function(&call.name)?;
        let Some(function) = found else {
            return Err(SqlError::unknown_user_function(&written));
        };
        let FunctionResult::Scalar(data_type) = &function.result else {
            return Err(SqlError::unknown_user_function(&written));
        };
        let data_type = *data_type;
        if call.over.is_some() || matches!(call.arguments, ast::Arguments::Star | ast::Arguments::Distinct(_)) {
            return Err(SqlError::unknown_user_function(&written));
        }
        let arguments = self.user_arguments(call, &function)?;
        self.parts.calls_functions = true;
        let kind = ExprKind::UserCall(Box::new(UserCall { function, arguments }));
        Ok(Expr::new(kind, data_type))
    }

    /// The function of a user in FROM, as a source.
    ///
    /// Errors: 313, 8144, and any error of an argument or of the function's text.
    pub(super) fn bind_user_rows(
        &mut self,
        function: &Arc<UserFunction>,
        call: &ast::FunctionCall,
        alias: Option<&ast::DerivedAlias>,
    ) -> Result<Bound, SqlError> {
        let mut bound = match &function.result {
            FunctionResult::Inline(_) => {
                let mut query = self.inline_query(function, call)?;
                let columns = alias.map_or(&[][..], |alias| alias.columns.as_slice());
                rename(&mut query, &function.name, columns)?;
                self.leaf(query, String::new())
            }
            FunctionResult::Table { columns, .. } => self.array_source(function, call, columns, alias)?,
            FunctionResult::Scalar(..) => return Err(SqlError::unknown_object(&written_object(&call.name))),
        };
        let named = alias
            .is_none()
            .then(|| (function.database.clone(), function.schema.clone()));
        let alias = alias.map_or(&function.name, |alias| &alias.name.text);
        for source in &mut bound.sources {
            source.alias.clone_from(alias);
            source.database_and_schema.clone_from(&named);
        }
        Ok(bound)
    }

    /// The query of an inline function, with the arguments of a call in it.
    ///
    /// Errors: as [`QueryBinder::bind_user_rows`].
    pub(super) fn inline_query(
        &mut self,
        function: &Arc<UserFunction>,
        call: &ast::FunctionCall,
    ) -> Result<Query, SqlError> {
        let FunctionResult::Inline(select) = &function.result else {
            return Err(SqlError::internal("a function that is not inline"));
        };
        let arguments = self.user_arguments(call, function)?;
        let depends = arguments.iter().any(Expr::depends_on_row);
        let tables = self.table_arguments(call, function)?;
        let names = function
            .parameters
            .iter()
            .map(|parameter| NameKey::new(&parameter.name));
        self.inline_parameters.frames.push(names.zip(arguments).collect());
        self.inline_parameters.tables.push(tables);
        let scopes = std::mem::take(&mut self.scopes);
        self.commons.push(CommonScope::border(ViewHome {
            database: function.database.clone(),
            schema: function.schema.clone(),
        }));
        self.catalog.enter_view((&function.database, &function.schema));
        let query = self.nested(|binder| match depends {
            true => binder.with_expanded(&select.with, |binder| binder.bind_rows(&select.query)),
            false => binder.with_commons(&select.with, |binder| binder.bind_rows(&select.query)),
        });
        self.catalog.leave_view();
        self.commons.pop();
        self.scopes = scopes;
        self.inline_parameters.frames.pop();
        self.inline_parameters.tables.pop();
        query
    }

    /// The inline function that a source calls, if it is one.
    ///
    /// Errors: those of the catalog.
    pub(super) fn inline_function(&self, source: &ast::TableSource) -> Result<Option<Arc<UserFunction>>, SqlError> {
        let ast::TableSourceKind::Function { call, .. } = &source.kind else {
            return Ok(None);
        };
        let found = self.user_function(&call.name)?;
        Ok(found.filter(|function| matches!(function.result, FunctionResult::Inline(_))))
    }

    /// The function of a user with this name, looked up as in a view's text where it is in one.
    ///
    /// Errors: those of the catalog.
    pub(super) fn user_function(&self, name: &ast::ObjectName) -> Result<Option<Arc<UserFunction>>, SqlError> {
        if let Some(server) = &name.server {
            return Err(SqlError::unreachable_server(&server.text));
        }
        let qualified = self.qualified_by_view(name);
        let Some(schemas) = self.schemas_of_view(name) else {
            return self.catalog.user_function(&qualified);
        };
        for schema in schemas {
            let found = self.catalog.user_function(&ast::ObjectName {
                schema: Some(quoted_name(schema, name.position)),
                ..qualified.clone()
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn array_source(
        &mut self,
        function: &Arc<UserFunction>,
        call: &ast::FunctionCall,
        shown: &[SystemColumn],
        alias: Option<&ast::DerivedAlias>,
    ) -> Result<Bound, SqlError> {
        let arguments = self.user_arguments(call, function)?;
        let (number, mut columns) = self.system_columns(shown, true);
        if let Some(names) = alias.map(|alias| &alias.columns).filter(|names| !names.is_empty()) {
            if names.len() != columns.len() {
                return Err(SqlError::column_list(&function.name, columns.len(), names.len()));
            }
            columns
                .iter_mut()
                .zip(names)
                .for_each(|(column, name)| column.name.clone_from(&name.text));
        }
        self.parts.calls_functions = true;
        let function = Arc::clone(function);
        let kind = ExprKind::UserCall(Box::new(UserCall { function, arguments }));
        let array = Expr::new(kind, DataType::NVarChar(Width::Max));
        let source = Source {
            alias: String::new(),
            database_and_schema: None,
            number,
            columns,
        };
        let rows = Rows::Function(SystemRows::Argument, vec![array]);
        Ok(Bound {
            from: From::Leaf(Leaf { source: number, rows }),
            sources: vec![source],
        })
    }

    /// The arguments, converted to the parameters' types; DEFAULT is the parameter's default, or NULL.
    fn user_arguments(&mut self, call: &ast::FunctionCall, function: &UserFunction) -> Result<Vec<Expr>, SqlError> {
        let given: &[ast::Expr] = match &call.arguments {
            ast::Arguments::List(given) => given,
            ast::Arguments::Absent | ast::Arguments::Star | ast::Arguments::Distinct(_) | ast::Arguments::Json(_) => {
                &[]
            }
        };
        check_count(function, given.len())?;
        let mut arguments = Vec::with_capacity(given.len());
        for (argument, parameter) in given.iter().zip(&function.parameters) {
            if let Some(wanted) = &parameter.table {
                let name = match self.table_of_argument(argument, wanted)? {
                    Some(table) => Value::Text(Arc::from(table.sqlite.name.as_str())),
                    None => Value::Null,
                };
                arguments.push(Expr::literal(name, DataType::NVarChar(Width::Max)));
                continue;
            }
            if let ast::ExprKind::Variable(name) = &argument.kind
                && let Some(table) = self.known_table_variable(name)?
            {
                let given = table.table_type.as_ref().map_or("table", |known| known.name.as_str());
                return Err(SqlError::table_clash(given, parameter.data_type.bare_name()));
            }
            let value = match (&argument.kind, &parameter.default) {
                (ast::ExprKind::Default, None) => {
                    arguments.push(Expr::new(ExprKind::Null, parameter.data_type));
                    continue;
                }
                (ast::ExprKind::Default, Some(default)) => default,
                (_, _) => argument,
            };
            let variables = self.variables;
            arguments.push(Binder::new(variables, self).expr_as(value, &parameter.data_type)?);
        }
        Ok(arguments)
    }

    /// The tables of the table-valued parameters of an inline function.
    fn table_arguments(
        &mut self,
        call: &ast::FunctionCall,
        function: &UserFunction,
    ) -> Result<Vec<(NameKey, Arc<Table>)>, SqlError> {
        let ast::Arguments::List(given) = &call.arguments else {
            return Ok(Vec::new());
        };
        let mut tables = Vec::new();
        for (argument, parameter) in given.iter().zip(&function.parameters) {
            let Some(wanted) = &parameter.table else { continue };
            let table = self.table_of_argument(argument, wanted)?;
            let table = table.ok_or_else(|| SqlError::unsupported("DEFAULT of a table-valued parameter"))?;
            tables.push((NameKey::new(&parameter.name), table));
        }
        Ok(tables)
    }

    /// The table variable that is the argument of a table-valued parameter; `None` is DEFAULT.
    ///
    /// Errors: 206 for a value, or a table of another type.
    fn table_of_argument(&self, argument: &ast::Expr, wanted: &ast::TableType) -> Result<Option<Arc<Table>>, SqlError> {
        if argument.kind == ast::ExprKind::Default {
            return Ok(None);
        }
        let table = if let ast::ExprKind::Variable(name) = &argument.kind {
            self.known_table_variable(name)?
        } else {
            None
        };
        let Some(table) = table else {
            let variables = self.variables;
            let given = Binder::new(variables, &mut NoQuery).expr(argument)?;
            return Err(SqlError::table_clash(given.data_type.bare_name(), &wanted.name));
        };
        match &table.table_type {
            Some(given) if given.is_same(wanted) => Ok(Some(table)),
            Some(given) => Err(SqlError::table_clash(&given.name, &wanted.name)),
            None => Err(SqlError::table_clash("table", &wanted.name)),
        }
    }

    fn known_table_variable(&self, name: &str) -> Result<Option<Arc<Table>>, SqlError> {
        match self.inline_parameters.find_table(name) {
            Some(table) => Ok(Some(table)),
            None => self.catalog.table_variable(name),
        }
    }

    /// The clause of an argument in FROM: no aggregate is allowed in it.
    pub(super) fn bind_row_source(
        &mut self,
        call: &ast::FunctionCall,
        alias: Option<&ast::DerivedAlias>,
    ) -> Result<Option<Bound>, SqlError> {
        let Some(function) = self.user_function(&call.name)? else {
            return Ok(None);
        };
        let before = self.enter_clause(Clause::Where);
        let bound = self.bind_user_rows(&function, call, alias);
        self.leave_clause(before);
        bound.map(Some)
    }
}

/// Checks the number of arguments of a call.
///
/// Errors: 313 for too few, 8144 for too many.
fn check_count(function: &UserFunction, count: usize) -> Result<(), SqlError> {
    match count.cmp(&function.parameters.len()) {
        Ordering::Less => Err(SqlError::too_few_arguments(&function.written())),
        Ordering::Equal => Ok(()),
        Ordering::Greater => Err(SqlError::too_many_function_arguments(&function.written())),
    }
}
