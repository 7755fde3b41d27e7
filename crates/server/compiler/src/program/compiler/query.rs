//! Subqueries in scalar statements, which make them statements on tables.

use selenite_tsql::ast::{self, ExprKind, Position, StatementKind};
use selenite_types::{Comparison, DataType};

use super::command::Traits;
use super::{Compiler, environment_read};
use crate::program::Command;
use crate::program::step::{Access, EnvironmentRead, Operand, Role};
use crate::{Binder, Expr, Predicate, QueryHook, SqlError, written_column};

impl Compiler<'_> {
    /// Binds an expression, converted to `data_type` if there is one; `None` if it contains a query node.
    ///
    /// Errors: any error of the expression.
    pub(super) fn scalar(&self, value: &ast::Expr, data_type: Option<&DataType>) -> Result<Option<Operand>, SqlError> {
        let mut finder = QueryFinder::default();
        let mut binder = Binder::new(&self.variables, &mut finder);
        let bound = match data_type {
            Some(data_type) => binder.expr_as(value, data_type),
            None => binder.expr(value),
        };
        if finder.found {
            return Ok(None);
        }
        bound.map(|value| Some(Operand::new(value)))
    }

    /// Binds a condition, and returns the environment that it reads; `None` if it contains a query node.
    ///
    /// Errors: any error of the condition.
    pub(super) fn scalar_condition(
        &self,
        condition: &ast::Condition,
    ) -> Result<Option<(Predicate, EnvironmentRead)>, SqlError> {
        let mut finder = QueryFinder::default();
        let bound = Binder::new(&self.variables, &mut finder).condition(condition);
        if finder.found {
            return Ok(None);
        }
        let condition = bound?;
        let mut reads = EnvironmentRead::Nothing;
        condition.visit(&mut |node| reads = reads.max(environment_read(node)));
        Ok(Some((condition, reads)))
    }

    /// `SELECT @name = value`, for the host.
    pub(super) fn select_into(
        &mut self,
        name: &str,
        operator: ast::AssignmentOperator,
        value: ast::Expr,
        position: Position,
        role: Role,
    ) -> Result<(), SqlError> {
        self.check_variables(position)?;
        let item = ast::SelectItem::Assign {
            variable: name.to_owned(),
            operator,
            value,
            position,
        };
        let command = if matches!(role, Role::Condition { .. }) {
            Command::CONDITION
        } else {
            Command::SELECT
        };
        let traits = Traits {
            command,
            access: Access::Read,
            rows: false,
        };
        self.push_statement(select_of(item, position), role, traits);
        Ok(())
    }

    /// Compiles a condition that reads tables: one step, whose target is to be patched.
    pub(super) fn query_condition(&mut self, condition: &ast::Condition, position: Position) -> Result<(), SqlError> {
        let literal = |text: &str| ast::Expr {
            kind: ExprKind::Literal(ast::Literal::Integer(text.to_owned())),
            position: condition.position,
        };
        let value = ast::Expr {
            kind: ExprKind::Iif(Box::new(ast::Iif {
                condition: condition.clone(),
                then: literal("1"),
                otherwise: literal("0"),
            })),
            position: condition.position,
        };
        let (name, slot) = self.hidden(DataType::Int)?;
        let role = Role::Condition {
            slot,
            otherwise: 0,
            end: 0,
        };
        let position = Position {
            line: position.line,
            ..condition.position
        };
        self.select_into(&name, ast::AssignmentOperator::Set, value, position, role)
    }
}

fn select_of(item: ast::SelectItem, position: Position) -> ast::Statement {
    let select = ast::Select {
        distinct: false,
        top: None,
        items: vec![item],
        into: None,
        from: Vec::new(),
        filter: None,
        group_by: Vec::new(),
        having: None,
        windows: Vec::new(),
        position,
    };
    let query = ast::Query {
        body: ast::QueryBody::Select(Box::new(select)),
        order_by: Vec::new(),
        offset: None,
        for_clause: None,
        position,
    };
    let select = ast::SelectStatement {
        with: ast::With::default(),
        query,
        options: Vec::new(),
    };
    ast::Statement {
        kind: StatementKind::Select(Box::new(select)),
        position,
    }
}

/// Finds whether an expression contains a query node: its errors are never reported.
#[derive(Default)]
struct QueryFinder {
    found: bool,
}

impl QueryFinder {
    fn find<T>(&mut self) -> Result<T, SqlError> {
        self.found = true;
        Err(SqlError::subquery_not_allowed())
    }
}

impl QueryHook for QueryFinder {
    fn column(&mut self, name: &ast::ColumnName) -> Result<Expr, SqlError> {
        match name.table {
            Some(_) => Err(SqlError::unbound_identifier(&written_column(name))),
            None => Err(SqlError::unknown_column(&name.name.text)),
        }
    }

    fn call(&mut self, _: &ast::FunctionCall, _: Position) -> Result<Expr, SqlError> {
        self.find()
    }

    fn user_function(&mut self, _: &ast::FunctionCall) -> Result<Expr, SqlError> {
        self.find()
    }

    fn subquery(&mut self, _: &ast::Query) -> Result<Expr, SqlError> {
        self.find()
    }

    fn next_value(&mut self, _: &ast::NextValue) -> Result<Expr, SqlError> {
        self.find()
    }

    fn exists(&mut self, _: &ast::Query) -> Result<Predicate, SqlError> {
        self.find()
    }

    fn in_query(&mut self, _: Expr, _: &ast::Query) -> Result<Predicate, SqlError> {
        self.find()
    }

    fn quantified(
        &mut self,
        _: Expr,
        _: Comparison,
        _: ast::Quantifier,
        _: &ast::Query,
    ) -> Result<Predicate, SqlError> {
        self.find()
    }
}
