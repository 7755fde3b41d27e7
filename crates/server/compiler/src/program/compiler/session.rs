//! Transactions and SET options.

use selenite_tsql::ast::{self, NameOrVariable, SetOption, SetValue};

use super::Compiler;
use crate::SqlError;
use crate::program::PlanForm;
use crate::program::step::{Step, Switch, TransactionName, TransactionStatement};

impl Compiler<'_> {
    pub(super) fn transaction(&mut self, transaction: ast::Transaction, line: u32) -> Result<(), SqlError> {
        let statement = match transaction {
            ast::Transaction::Begin(name) => TransactionStatement::Begin(self.transaction_name(name)?),
            ast::Transaction::Commit {
                name,
                delayed_durability,
            } => {
                self.transaction_name(name)?;
                TransactionStatement::Commit { delayed_durability }
            }
            ast::Transaction::Rollback(name) => TransactionStatement::Rollback(self.transaction_name(name)?),
            ast::Transaction::Save(name) => TransactionStatement::Save(self.name_or_slot(name)?),
        };
        self.push(Step::Transaction(Box::new(statement)), line);
        Ok(())
    }

    fn transaction_name(&self, name: Option<NameOrVariable>) -> Result<Option<TransactionName>, SqlError> {
        name.map(|name| self.name_or_slot(name)).transpose()
    }

    fn name_or_slot(&self, name: NameOrVariable) -> Result<TransactionName, SqlError> {
        Ok(match name {
            NameOrVariable::Name(name) => TransactionName::Name(name.text),
            NameOrVariable::Variable(name) => TransactionName::Slot(self.variables.find(&name)?.slot),
        })
    }

    pub(super) fn set_option(&mut self, option: SetOption, line: u32) -> Result<(), SqlError> {
        if PlanForm::is_in(&option) && !self.is_one_option {
            return Err(SqlError::plans_not_alone());
        }
        let value = match &option {
            SetOption::Switch { names, on } => return self.switches(names, *on, line),
            SetOption::Value {
                value: SetValue::Value(value),
                ..
            } => Some(Box::new(self.operand(value)?)),
            SetOption::Value {
                value: SetValue::Word(_),
                ..
            }
            | SetOption::Statistics { .. }
            | SetOption::IdentityInsert { .. }
            | SetOption::IsolationLevel(_) => None,
        };
        let option = Box::new(option);
        self.push(Step::SetOption { option, value }, line);
        Ok(())
    }

    /// `SET a, b ON`: the machine's options are separate steps; the others remain one SET.
    fn switches(&mut self, names: &[ast::Name], on: bool, line: u32) -> Result<(), SqlError> {
        let (own, others): (Vec<_>, Vec<_>) = names.iter().partition(|name| switch(name).is_some());
        let count = own.len();
        for (at, name) in (1..).zip(own) {
            if let Some(switch) = switch(name) {
                let last = at == count && others.is_empty();
                self.push(Step::SetSwitch { switch, on, last }, line);
            }
        }
        if !others.is_empty() {
            let names = others.into_iter().cloned().collect();
            let option = Box::new(SetOption::Switch { names, on });
            self.push(Step::SetOption { option, value: None }, line);
        }
        Ok(())
    }
}

/// The machine's option with this name.
fn switch(name: &ast::Name) -> Option<Switch> {
    let known = [
        ("NOCOUNT", Switch::NoCount),
        ("XACT_ABORT", Switch::XactAbort),
        ("IMPLICIT_TRANSACTIONS", Switch::ImplicitTransactions),
        ("FMTONLY", Switch::FormatOnly),
    ];
    known
        .into_iter()
        .find(|(text, _)| name.is(text))
        .map(|(_, switch)| switch)
}
