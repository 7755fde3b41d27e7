//! PRINT, RAISERROR, THROW, WAITFOR.

use selenite_tsql::ast::{self, ExprKind};
use selenite_types::{DataType, Family, Width};

use super::Compiler;
use crate::SqlError;
use crate::program::step::{RaiseError, Step, Throw};

impl Compiler<'_> {
    pub(super) fn print(&mut self, value: &ast::Expr, line: u32) -> Result<(), SqlError> {
        if let ExprKind::Column(column) = &value.kind {
            return Err(SqlError::name_not_permitted(&column.name.text));
        }
        let mut operand = self.operand(value)?;
        if operand.value.data_type.family() != Family::Text {
            operand.value = operand.value.converted_to(&DataType::VarChar(Width::Limited(8000)))?;
        }
        self.push(Step::Print(Box::new(operand)), line);
        Ok(())
    }

    pub(super) fn raise_error(&mut self, statement: &ast::RaiseError, line: u32) -> Result<(), SqlError> {
        if statement.arguments.len() > ARGUMENT_COUNT_MAX {
            return Err(SqlError::too_many_substitutions(ARGUMENT_COUNT_MAX));
        }
        let mut arguments = Vec::with_capacity(statement.arguments.len());
        for (number, argument) in (1..).zip(&statement.arguments) {
            let operand = self.operand(argument)?;
            if !may_be_substituted(&operand.value.data_type) {
                let name = operand.value.data_type.bare_name();
                return Err(SqlError::substitution_type(name, number + 3));
            }
            arguments.push(operand);
        }
        let has = |option| statement.options.contains(&option);
        let mut message = self.operand(&statement.message)?;
        if message.value.data_type.family() != Family::Text {
            message.value = message.value.converted_to(&DataType::Int)?;
        }
        let step = RaiseError {
            message,
            severity: self.operand_as(&statement.severity, &DataType::Int)?,
            state: self.operand_as(&statement.state, &DataType::Int)?,
            arguments,
            log: has(ast::RaiseErrorOption::Log),
            no_wait: has(ast::RaiseErrorOption::NoWait),
            set_error: has(ast::RaiseErrorOption::SetError),
        };
        self.push(Step::RaiseError(Box::new(step)), line);
        Ok(())
    }

    pub(super) fn throw_statement(&mut self, throw: Option<&ast::Throw>, line: u32) -> Result<(), SqlError> {
        let Some(throw) = throw else {
            if !self.in_catch() {
                return Err(SqlError::rethrow_outside_catch());
            }
            self.push(Step::Rethrow, line);
            return Ok(());
        };
        let step = Throw {
            number: self.operand_as(&throw.number, &DataType::Int)?,
            message: self.operand_as(&throw.message, &DataType::NVarChar(Width::Limited(2048)))?,
            state: self.operand_as(&throw.state, &DataType::Int)?,
        };
        self.push(Step::Throw(Box::new(step)), line);
        Ok(())
    }

    pub(super) fn wait_for(&mut self, wait: &ast::WaitFor, line: u32) -> Result<(), SqlError> {
        let value = Box::new(self.operand(&wait.value)?);
        self.push(Step::WaitFor { kind: wait.kind, value }, line);
        Ok(())
    }
}

/// Whether an argument of this type is allowed in a message.
fn may_be_substituted(data_type: &DataType) -> bool {
    match data_type {
        DataType::TinyInt
        | DataType::SmallInt
        | DataType::Int
        | DataType::BigInt
        | DataType::Char(_)
        | DataType::Utf8Char(_)
        | DataType::VarChar(_)
        | DataType::Utf8VarChar(_)
        | DataType::NChar(_)
        | DataType::NVarChar(_)
        | DataType::Binary(_)
        | DataType::RowVersion
        | DataType::VarBinary(_) => true,
        DataType::Bit
        | DataType::Decimal { .. }
        | DataType::Numeric { .. }
        | DataType::SmallMoney
        | DataType::Money
        | DataType::Real
        | DataType::Float
        | DataType::Date
        | DataType::Time(_)
        | DataType::SmallDateTime
        | DataType::DateTime
        | DataType::DateTime2(_)
        | DataType::DateTimeOffset(_)
        | DataType::UniqueIdentifier
        | DataType::SqlVariant
        | DataType::Xml => false,
    }
}

/// SQL Server's limit of RAISERROR's arguments after the state.
const ARGUMENT_COUNT_MAX: usize = 20;
