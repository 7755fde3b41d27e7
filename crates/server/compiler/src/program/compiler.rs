//! Compiles the syntax tree to steps.
//!
//! - `one-pass`: the text is walked once, in order: a later declaration is not in scope before it.
//! - `errors-leave-no-steps`: errors are collected; a statement with an error adds no step that
//!   could run.
//! - `jumps-are-patched`: a jump to a step that does not exist yet has target 0, and is patched
//!   later.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use selenite_tsql::ast::{self, StatementKind};
use selenite_types::{DataType, DeclarationContext, Value};

use super::step::{EnvironmentRead, Operand, Role, Step, Target, TryRegion};
use super::{Body, Parameter, Program, StatementId, StatementSpan};
use crate::{Binder, Expr, ExprKind, NameKey, NoQuery, Node, Slot, SqlError, Variables, Volatility, declared_type};

mod assignment;
mod command;
mod control;
mod cursor;
mod execute;
mod message;
mod query;
mod session;
mod table;
mod user_function;
mod variable_scan;

pub(super) use user_function::result_type;

/// The state of a compilation.
pub(super) struct Compiler<'a> {
    source: &'a str,
    returns: Returns,
    variables: Variables,
    tables: HashMap<NameKey, TableKind>,
    /// Cursor variables.
    cursors: HashSet<NameKey>,
    parameters: Vec<Parameter>,
    statements: Vec<ast::Statement>,
    steps: Vec<Step>,
    lines: Vec<u32>,
    spans: Vec<StatementSpan>,
    /// Whether the text is one SET.
    pub(super) is_one_option: bool,
    tries: Vec<TryRegion>,
    errors: Vec<SqlError>,
    hidden_count: u32,
    flow: control::Flow,
}

/// A declared table variable or table-valued parameter.
pub(super) struct TableKind {
    /// Its type, if it is one of a user.
    table_type: Option<Arc<ast::TableType>>,
    is_read_only: bool,
}

/// What RETURN may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Returns {
    /// Nothing: a batch.
    Nothing,
    /// A status: a procedure.
    Status,
    /// A value of this type: a scalar function.
    Value(DataType),
    /// Nothing: a function that returns rows.
    Rows,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(source: &'a str, returns: Returns) -> Self {
        Self {
            source,
            returns,
            variables: Variables::new(),
            tables: HashMap::new(),
            cursors: HashSet::new(),
            parameters: Vec::new(),
            statements: Vec::new(),
            steps: Vec::new(),
            lines: Vec::new(),
            spans: Vec::new(),
            is_one_option: false,
            tries: Vec::new(),
            errors: Vec::new(),
            hidden_count: 0,
            flow: control::Flow::default(),
        }
    }

    /// Declares the parameters of a procedure or text.
    pub(super) fn parameters(&mut self, parameters: &[ast::Parameter]) {
        for (number, parameter) in (1..).zip(parameters) {
            if let Err(error) = self.parameter(number, parameter) {
                self.error(error, parameter.position.line);
            }
        }
    }

    fn parameter(&mut self, number: u32, parameter: &ast::Parameter) -> Result<(), SqlError> {
        let place = DeclarationContext::Variable {
            number,
            name: &parameter.name,
        };
        if parameter.table.is_some() {
            return self.table_parameter(parameter);
        }
        if parameter.is_cursor() {
            return self.cursor_parameter(parameter);
        }
        let data_type = declared_type(&parameter.type_name, place)?;
        if parameter.read_only {
            return Err(SqlError::read_only_scalar(&parameter.name));
        }
        let default = match &parameter.default {
            Some(value) => Some(self.parameter_default(value, &data_type)?),
            None => None,
        };
        let slot = self.declare(&parameter.name, data_type)?;
        self.parameters.push(Parameter {
            name: parameter.name.clone(),
            data_type,
            slot,
            default,
            is_output: parameter.output,
            table: None,
            is_cursor: false,
        });
        Ok(())
    }

    /// A parameter's default is a constant; a bare word is a string.
    fn parameter_default(&self, value: &ast::Expr, data_type: &DataType) -> Result<Expr, SqlError> {
        if let ast::ExprKind::Column(column) = &value.kind {
            return word_value(&column.name.text).converted_to(data_type);
        }
        Binder::new(&Variables::new(), &mut NoQuery).expr_as(value, data_type)
    }

    /// Declares a scalar variable.
    ///
    /// Errors: 134.
    fn declare(&mut self, name: &str, data_type: DataType) -> Result<Slot, SqlError> {
        if self.tables.contains_key(&NameKey::new(name)) || self.is_cursor(name) {
            return Err(SqlError::variable_declared_twice(name));
        }
        self.variables.declare(name, data_type)
    }

    /// Compiles statements in order.
    pub(super) fn statements(&mut self, statements: Vec<ast::Statement>) {
        for statement in statements {
            self.statement(statement);
        }
    }

    /// The compiled program.
    ///
    /// Errors: all errors, in order of the text.
    pub(super) fn finish(mut self, body: Body) -> Result<Program, Vec<SqlError>> {
        self.push(Step::End, 0);
        self.patch_gotos();
        if u32::try_from(self.steps.len()).is_err() {
            self.errors.push(SqlError::internal("a batch of too many steps"));
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let returned_type = match self.returns {
            Returns::Value(data_type) => Some(data_type),
            Returns::Nothing | Returns::Status | Returns::Rows => None,
        };
        Ok(Program {
            returned_type,
            execute_as: ast::ModuleContext::Caller,
            memory_size: 0,
            body,
            source: Arc::from(self.source),
            variables: self.variables,
            parameters: self.parameters,
            statements: self.statements,
            steps: self.steps,
            lines: self.lines,
            spans: self.spans,
            tries: self.tries,
        })
    }

    fn statement(&mut self, statement: ast::Statement) {
        let line = statement.position.line;
        self.spans.push(StatementSpan {
            step: self.here(),
            position: statement.position,
        });
        if let Err(error) = self.compile(statement) {
            self.error(error, line);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the host executes every statement that is not scalar"
    )]
    fn compile(&mut self, statement: ast::Statement) -> Result<(), SqlError> {
        self.check_side_effect(&statement.kind)?;
        let position = statement.position;
        let line = position.line;
        match statement.kind {
            StatementKind::Block(statements) => self.statements(statements),
            StatementKind::If(inner) => self.if_statement(*inner, position),
            StatementKind::While(inner) => self.while_statement(*inner, position),
            StatementKind::Break => self.break_statement(line)?,
            StatementKind::Continue => self.continue_statement(line)?,
            StatementKind::Return(value) => self.return_statement(value, position)?,
            StatementKind::Try(inner) => self.try_statement(*inner, line),
            StatementKind::Throw(throw) => self.throw_statement(throw.as_deref(), line)?,
            StatementKind::RaiseError(inner) => self.raise_error(&inner, line)?,
            StatementKind::Print(value) => self.print(&value, line)?,
            StatementKind::WaitFor(wait) => self.wait_for(&wait, line)?,
            StatementKind::Goto(label) => self.goto(&label, line),
            StatementKind::Label(label) => self.label(&label)?,
            StatementKind::Declare(declarations) => self.declarations(declarations, position),
            StatementKind::SetVariable(set) => self.set_variable(set, position)?,
            StatementKind::SetOption(option) => self.set_option(option, line)?,
            StatementKind::Use(name) => self.push(Step::Use(Box::new(name)), line),
            StatementKind::Transaction(transaction) => self.transaction(transaction, line)?,
            StatementKind::Execute(execute) => self.execute(*execute, line)?,
            StatementKind::Select(select) => self.select(*select, position)?,
            StatementKind::Cursor(cursor) => self.cursor(*cursor, position)?,
            StatementKind::Unsupported(unsupported) => {
                // No statement of the batch is executed: the statements before this one would be an incomplete batch.
                return Err(SqlError::unsupported(&unsupported.what).on_line(unsupported.position.line));
            }
            kind => self.host_statement(ast::Statement { kind, position }, Role::Plain)?,
        }
        Ok(())
    }

    /// Adds a statement that the host executes.
    ///
    /// Errors: 137 and 1087 for an undeclared variable in it; 10700 for a change of a table-valued parameter.
    fn host_statement(&mut self, statement: ast::Statement, role: Role) -> Result<(), SqlError> {
        self.check_read_only(&statement.kind)?;
        self.check_current_of(&statement.kind)?;
        // The body of a procedure, function or trigger is compiled separately, with variables of its own.
        if !matches!(
            statement.kind,
            StatementKind::Procedure(_) | StatementKind::Function(_) | StatementKind::Trigger(_)
        ) {
            self.check_variables(statement.position)?;
        }
        if let StatementKind::Insert(insert) = &statement.kind
            && let ast::InsertSource::Execute(execute) = &insert.source
        {
            let execute = (**execute).clone();
            if !insert.output.is_empty() {
                return Err(SqlError::output_of_execute());
            }
            return self.insert_execute(statement, execute);
        }
        let traits = command::traits(&statement.kind);
        self.push_statement(statement, role, traits);
        Ok(())
    }

    fn push_statement(&mut self, statement: ast::Statement, role: Role, traits: command::Traits) {
        let line = statement.position.line;
        let id = StatementId(number(self.statements.len()));
        self.statements.push(statement);
        let step = Step::Statement {
            id,
            role,
            command: traits.command,
            access: traits.access,
            rows: traits.rows,
        };
        self.push(step, line);
    }

    fn push(&mut self, step: Step, line: u32) {
        self.steps.push(step);
        self.lines.push(line);
    }

    /// The number of the next step.
    fn here(&self) -> Target {
        number(self.steps.len())
    }

    fn error(&mut self, error: SqlError, line: u32) {
        self.errors.push(error.on_line(line));
    }

    /// Binds an expression where no subquery is allowed.
    fn operand(&self, value: &ast::Expr) -> Result<Operand, SqlError> {
        Ok(Operand::new(Binder::new(&self.variables, &mut NoQuery).expr(value)?))
    }

    /// As [`Compiler::operand`], converted to a type.
    fn operand_as(&self, value: &ast::Expr, data_type: &DataType) -> Result<Operand, SqlError> {
        Ok(Operand::new(
            Binder::new(&self.variables, &mut NoQuery).expr_as(value, data_type)?,
        ))
    }

    /// Declares a hidden variable: its name contains a space, as no name in a batch does.
    fn hidden(&mut self, data_type: DataType) -> Result<(String, Slot), SqlError> {
        let name = format!("@ {}", self.hidden_count);
        self.hidden_count = self.hidden_count.saturating_add(1);
        let slot = self.variables.declare(&name, data_type)?;
        Ok((name, slot))
    }
}

impl Operand {
    fn new(value: Expr) -> Self {
        let mut reads = EnvironmentRead::Nothing;
        value.visit(&mut |node| reads = reads.max(environment_read(node)));
        Self { value, reads }
    }
}

/// The part of the environment that a node reads.
fn environment_read(node: Node<'_>) -> EnvironmentRead {
    if let Node::Expr(expr) = node
        && let ExprKind::Call(call) = &expr.kind
    {
        return match call.function.volatility {
            Volatility::Never => EnvironmentRead::Nothing,
            Volatility::Statement | Volatility::Row => EnvironmentRead::Session,
            Volatility::Definition => EnvironmentRead::Names,
        };
    }
    EnvironmentRead::Nothing
}

/// A bare word as a string.
fn word_value(word: &str) -> Expr {
    let length = selenite_types::utf16_length(word).clamp(1, 4000);
    let length = u16::try_from(length).unwrap_or(4000);
    let data_type = DataType::NVarChar(selenite_types::Width::Limited(length));
    Expr::literal(Value::Text(Arc::from(word)), data_type)
}

/// A count as the number of a step; [`Compiler::finish`] refuses a count that does not fit.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
