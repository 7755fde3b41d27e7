//! Cursors: the host keeps them, and executes the query of a cursor as a statement of the program.
//!
//! - `query-follows-its-cursor`: the query of a DECLARE or SET is the statement after it, which no step
//!   executes.

use selenite_tsql::ast::{self, CursorStatement, NameOrVariable, Position, StatementKind};

use selenite_types::DataType;

use super::{Compiler, Returns, command};
use crate::program::step::Role;
use crate::program::{CursorRule, Parameter};
use crate::{NameKey, SqlError};

impl Compiler<'_> {
    pub(super) fn cursor(&mut self, statement: CursorStatement, position: Position) -> Result<(), SqlError> {
        match &statement {
            CursorStatement::Declare(declare) => {
                CursorRule::new(&declare.standard, &declare.definition)?;
                self.cursor_query(statement.clone(), &declare.definition.query, position)
            }
            CursorStatement::Set { variable, definition } => {
                CursorRule::new(&[], definition)?;
                self.check_cursor(variable)?;
                self.cursor_query(statement.clone(), &definition.query, position)
            }
            CursorStatement::OpenQuery(query) => self.cursor_query(statement.clone(), query, position),
            CursorStatement::Share { variable, cursor } => {
                if !self.is_cursor(variable)
                    && let NameOrVariable::Name(name) = &cursor.name
                {
                    return self.set_variable(value_of_name(variable, name), position);
                }
                self.check_cursor(variable)?;
                self.cursor_statement(statement, position)
            }
            CursorStatement::Open(name) | CursorStatement::Close(name) | CursorStatement::Deallocate(name) => {
                self.check_cursor_name(&name.name)?;
                self.cursor_statement(statement, position)
            }
            CursorStatement::Fetch(fetch) => {
                self.check_cursor_name(&fetch.cursor.name)?;
                for variable in &fetch.into {
                    if self.is_cursor(variable) {
                        return Err(SqlError::cursor_variable(variable));
                    }
                    self.variables.find(variable)?;
                }
                self.cursor_statement(statement, position)
            }
        }
    }

    /// `SET @a = value` of a cursor variable: the value is another one.
    pub(super) fn share_cursor(&mut self, set: &ast::SetVariable, position: Position) -> Result<(), SqlError> {
        let ast::ExprKind::Variable(other) = &set.value.kind else {
            return Err(SqlError::cursor_variable(&set.variable));
        };
        self.check_cursor(other)?;
        let statement = CursorStatement::Share {
            variable: set.variable.clone(),
            cursor: ast::CursorName {
                global: false,
                name: NameOrVariable::Variable(other.clone()),
            },
        };
        self.cursor_statement(statement, position)
    }

    /// `DECLARE @name CURSOR`.
    pub(super) fn declare_cursor_variable(
        &mut self,
        declaration: ast::Declaration,
        position: Position,
    ) -> Result<(), SqlError> {
        if matches!(self.returns, Returns::Value(_) | Returns::Rows) {
            return Err(SqlError::unsupported("A cursor in a function"));
        }
        let name = &declaration.name;
        let key = NameKey::new(name);
        if self.variables.find(name).is_ok() || self.tables.contains_key(&key) || !self.cursors.insert(key) {
            return Err(SqlError::variable_declared_twice(name));
        }
        let kind = StatementKind::Declare(vec![declaration]);
        let traits = command::traits(&kind);
        self.push_statement(ast::Statement { kind, position }, Role::Declare, traits);
        Ok(())
    }

    /// Declares a cursor parameter, which the program may set.
    ///
    /// Errors: 134; 40510 in a function, and without OUTPUT.
    pub(super) fn cursor_parameter(&mut self, parameter: &ast::Parameter) -> Result<(), SqlError> {
        if matches!(self.returns, Returns::Value(_) | Returns::Rows) {
            return Err(SqlError::unsupported("A cursor in a function"));
        }
        if !parameter.output || parameter.default.is_some() || parameter.nullable.is_some() || parameter.read_only {
            return Err(SqlError::unsupported(
                "A cursor parameter without OUTPUT, or with a default, NULL or READONLY",
            ));
        }
        let name = &parameter.name;
        let key = NameKey::new(name);
        if self.variables.find(name).is_ok() || self.tables.contains_key(&key) || !self.cursors.insert(key) {
            return Err(SqlError::variable_declared_twice(name));
        }
        let (_, slot) = self.hidden(DataType::Int)?;
        self.parameters.push(Parameter {
            name: name.clone(),
            data_type: DataType::Int,
            slot,
            default: None,
            is_output: true,
            table: None,
            is_cursor: true,
        });
        Ok(())
    }

    pub(super) fn is_cursor(&self, name: &str) -> bool {
        self.cursors.contains(&NameKey::new(name))
    }

    /// Checks the cursor of WHERE CURRENT OF.
    ///
    /// Errors: 137 and 16948 for a variable that is no cursor's, 40510 in a function.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other statement has WHERE CURRENT OF")]
    pub(super) fn check_current_of(&self, kind: &StatementKind) -> Result<(), SqlError> {
        let cursor = match kind {
            StatementKind::Update(update) => &update.current_of,
            StatementKind::Delete(delete) => &delete.current_of,
            _ => return Ok(()),
        };
        match cursor {
            Some(_) if matches!(self.returns, Returns::Value(_) | Returns::Rows) => {
                Err(SqlError::unsupported("A cursor in a function"))
            }
            Some(cursor) => self.check_cursor_name(&cursor.name),
            None => Ok(()),
        }
    }

    fn check_cursor_name(&self, name: &NameOrVariable) -> Result<(), SqlError> {
        match name {
            NameOrVariable::Name(_) => Ok(()),
            NameOrVariable::Variable(name) => self.check_cursor(name),
        }
    }

    fn check_cursor(&self, name: &str) -> Result<(), SqlError> {
        if self.is_cursor(name) {
            return Ok(());
        }
        match self.variables.find(name) {
            Ok(_) => Err(SqlError::not_a_cursor_variable(name)),
            Err(error) => Err(error),
        }
    }

    /// `query-follows-its-cursor`.
    fn cursor_query(
        &mut self,
        statement: CursorStatement,
        query: &ast::SelectStatement,
        position: Position,
    ) -> Result<(), SqlError> {
        if let Some(clause) = &query.query.for_clause {
            return Err(SqlError::for_in_cursor(clause.format == ast::ForFormat::Json));
        }
        self.cursor_statement(statement, position)?;
        self.statements.push(ast::Statement {
            kind: StatementKind::Select(Box::new(query.clone())),
            position,
        });
        Ok(())
    }

    fn cursor_statement(&mut self, statement: CursorStatement, position: Position) -> Result<(), SqlError> {
        self.check_variables(position)?;
        let kind = StatementKind::Cursor(Box::new(statement));
        let traits = command::traits(&kind);
        self.push_statement(ast::Statement { kind, position }, Role::Plain, traits);
        Ok(())
    }
}

/// `SET @a = name` of a scalar variable: a column, which is not there.
fn value_of_name(variable: &str, name: &ast::Name) -> ast::SetVariable {
    ast::SetVariable {
        variable: variable.to_owned(),
        operator: ast::AssignmentOperator::Set,
        value: ast::Expr {
            kind: ast::ExprKind::Column(Box::new(ast::ColumnName {
                table: None,
                name: name.clone(),
            })),
            position: name.position,
        },
    }
}
