//! Table variables, and table-valued parameters.

use std::sync::Arc;

use selenite_tsql::ast::{self, ChangeTarget, ExprKind, Position, StatementKind};
use selenite_types::DataType;

use super::user_function::variable_of_alias;
use super::{Compiler, Parameter, TableKind};
use crate::program::step::Role;
use crate::program::step::TableSource;
use crate::{NameKey, SqlError};

impl Compiler<'_> {
    pub(super) fn declare_table(&mut self, declaration: ast::Declaration, position: Position) -> Result<(), SqlError> {
        let table_type = match &declaration.variable_type {
            ast::VariableType::TableType(_, table) => Some(Arc::clone(table)),
            ast::VariableType::Scalar(_) | ast::VariableType::Table(_) | ast::VariableType::Cursor => None,
        };
        self.note_table(&declaration.name, table_type, false)?;
        let position = Position {
            start: declaration.position.start,
            end: declaration.position.end,
            line: declaration.position.line.max(position.line),
        };
        let statement = ast::Statement {
            kind: StatementKind::Declare(vec![declaration]),
            position,
        };
        self.host_statement(statement, Role::Declare)
    }

    /// Declares a table-valued parameter.
    ///
    /// Errors: 352 without READONLY, 134.
    pub(super) fn table_parameter(&mut self, parameter: &ast::Parameter) -> Result<(), SqlError> {
        let name = &parameter.name;
        if !parameter.read_only {
            return Err(SqlError::table_not_read_only(name));
        }
        if parameter.output || parameter.default.is_some() || parameter.nullable.is_some() {
            return Err(SqlError::unsupported(
                "A table-valued parameter with OUTPUT, a default or NULL",
            ));
        }
        let table = parameter.table.clone();
        self.note_table(name, table.clone(), true)?;
        let (_, slot) = self.hidden(DataType::Int)?;
        self.parameters.push(Parameter {
            name: name.clone(),
            data_type: DataType::Int,
            slot,
            default: None,
            is_output: false,
            table,
            is_cursor: false,
        });
        Ok(())
    }

    fn note_table(
        &mut self,
        name: &str,
        table_type: Option<Arc<ast::TableType>>,
        is_read_only: bool,
    ) -> Result<(), SqlError> {
        let key = NameKey::new(name);
        if self.variables.find(name).is_ok() || self.tables.contains_key(&key) || self.is_cursor(name) {
            return Err(SqlError::variable_declared_twice(name));
        }
        self.tables.insert(
            key,
            TableKind {
                table_type,
                is_read_only,
            },
        );
        Ok(())
    }

    /// The table variable that an argument is, if it is one.
    pub(super) fn table_argument(&self, value: &ast::Expr) -> Option<TableSource> {
        let ExprKind::Variable(name) = &value.kind else {
            return None;
        };
        let kind = self.tables.get(&NameKey::new(name))?;
        Some(TableSource {
            name: Arc::from(name.as_str()),
            table_type: kind.table_type.clone(),
        })
    }

    /// Refuses a change of a table-valued parameter.
    ///
    /// Errors: 10700.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "no other statement changes a table variable"
    )]
    pub(super) fn check_read_only(&self, kind: &StatementKind) -> Result<(), SqlError> {
        let (target, from, outputs) = match kind {
            StatementKind::Insert(insert) => (&insert.target, &[][..], &insert.output),
            StatementKind::Update(update) => (&update.target, update.from.as_slice(), &update.output),
            StatementKind::Delete(delete) => (&delete.target, delete.from.as_slice(), &delete.output),
            StatementKind::Merge(merge) => (&merge.target, &[][..], &merge.output),
            _ => return Ok(()),
        };
        let changed = match target {
            ChangeTarget::Variable { name, .. } => Some(name.as_str()),
            ChangeTarget::Table(name) => name
                .single()
                .and_then(|name| from.iter().find_map(|source| variable_of_alias(source, &name.text))),
        };
        let into = outputs.iter().filter_map(|output| match &output.into.as_ref()?.target {
            ChangeTarget::Variable { name, .. } => Some(name.as_str()),
            ChangeTarget::Table(_) => None,
        });
        for name in changed.into_iter().chain(into) {
            let kind = self.tables.get(&NameKey::new(name));
            if kind.is_some_and(|kind| kind.is_read_only) {
                return Err(SqlError::read_only_table(name));
            }
        }
        Ok(())
    }
}
