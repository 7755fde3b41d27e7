//! EXEC.

use std::sync::Arc;

use selenite_tsql::ast::{self, ArgumentValue, ExprKind};
use selenite_types::{DataType, Width};

use super::{Compiler, number, word_value};
use crate::program::StatementId;
use crate::program::step::{ArgumentStep, CallStatement, CalledName, Operand, Step};
use crate::{Slot, SqlError};

impl Compiler<'_> {
    pub(super) fn execute(&mut self, execute: ast::Execute, line: u32) -> Result<(), SqlError> {
        let call = match execute {
            ast::Execute::Procedure(call) => call,
            ast::Execute::Text(text, principal) => {
                let text = Box::new(self.operand_as(&text, &DataType::NVarChar(Width::Max))?);
                self.push(Step::Text(text, principal.map(Box::new)), line);
                return Ok(());
            }
        };
        if call.number.is_some_and(|number| number != 1) {
            return Err(SqlError::unsupported("A procedure's number"));
        }
        if let Some(option) = call.options.iter().find(|option| !option.name.is("RECOMPILE")) {
            let option = option.name.text.to_uppercase();
            return Err(SqlError::unsupported(&format!("EXECUTE ... WITH {option}")));
        }
        let status = match &call.status {
            Some(name) => {
                let variable = self.variables.find(name)?;
                Some((variable.slot, variable.data_type))
            }
            None => None,
        };
        let procedure = match call.procedure {
            ast::ProcedureName::Name(name) => CalledName::Name(Arc::new(name)),
            ast::ProcedureName::Variable(name) => CalledName::Slot(self.variables.find(&name)?.slot),
        };
        let arguments = self.call_arguments(&call.arguments)?;
        let statement = CallStatement {
            status,
            procedure,
            arguments,
        };
        self.push(Step::Call(Box::new(statement)), line);
        Ok(())
    }

    /// INSERT .. EXECUTE: the call is between two steps of the INSERT.
    pub(super) fn insert_execute(&mut self, statement: ast::Statement, execute: ast::Execute) -> Result<(), SqlError> {
        let line = statement.position.line;
        let id = StatementId(number(self.statements.len()));
        self.statements.push(statement);
        self.push(Step::BeginCapture(id), line);
        self.execute(execute, line)?;
        self.push(Step::EndCapture(id), line);
        Ok(())
    }

    fn call_arguments(&self, arguments: &[ast::Argument]) -> Result<Vec<ArgumentStep>, SqlError> {
        let mut named = false;
        let mut steps = Vec::with_capacity(arguments.len());
        for (number, argument) in (1..).zip(arguments) {
            if named && argument.name.is_none() {
                return Err(SqlError::argument_after_named(number));
            }
            named |= argument.name.is_some();
            steps.push(self.call_argument(argument)?);
        }
        Ok(steps)
    }

    fn call_argument(&self, argument: &ast::Argument) -> Result<ArgumentStep, SqlError> {
        if let ArgumentValue::Value(value) = &argument.value
            && let Some(table) = self.table_argument(value)
        {
            if argument.output {
                return Err(SqlError::parameter_not_output(&table.name));
            }
            return Ok(ArgumentStep {
                name: argument.name.clone(),
                value: None,
                table: Some(table),
                output: None,
                cursor: None,
            });
        }
        if let ArgumentValue::Value(value) = &argument.value
            && let ExprKind::Variable(name) = &value.kind
            && self.is_cursor(name)
        {
            if !argument.output {
                return Err(SqlError::cursor_variable(name));
            }
            return Ok(ArgumentStep {
                name: argument.name.clone(),
                value: None,
                table: None,
                output: None,
                cursor: Some(Arc::from(name.as_str())),
            });
        }
        let value = match &argument.value {
            ArgumentValue::Value(value) => Some(self.operand(value)?),
            ArgumentValue::Word(word) => Some(Operand::new(word_value(&word.text))),
            ArgumentValue::Default => None,
        };
        let output = if argument.output {
            Some(self.output_variable(&argument.value)?)
        } else {
            None
        };
        Ok(ArgumentStep {
            name: argument.name.clone(),
            value,
            table: None,
            output,
            cursor: None,
        })
    }

    /// The variable that receives an output parameter.
    ///
    /// Errors: 179 if it is not a variable.
    fn output_variable(&self, value: &ArgumentValue) -> Result<(Slot, DataType), SqlError> {
        if let ArgumentValue::Value(value) = value
            && let ExprKind::Variable(name) = &value.kind
        {
            let variable = self.variables.find(name)?;
            return Ok((variable.slot, variable.data_type));
        }
        Err(SqlError::output_of_constant())
    }
}
