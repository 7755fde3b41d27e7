//! `ALTER DATABASE .. SET DELAYED_DURABILITY`.

use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::{AlterDatabase, AlterDatabaseAction, Setting};

use crate::administration::Administration;
use crate::database::durability::DelayedDurability;
use crate::database::transaction::Writes;
use crate::execution_context::ExecutionContext;

impl Administration<'_, '_> {
    /// `ALTER DATABASE .. SET DELAYED_DURABILITY = ..`; `None` if it is another statement.
    pub(crate) fn set_durability(
        &mut self,
        alter: &AlterDatabase,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Option<()>, Failure> {
        let AlterDatabaseAction::Set { options, .. } = &alter.action else {
            return Ok(None);
        };
        let [option] = options.as_slice() else {
            return Ok(None);
        };
        if !same_name(&option.name.text, "DELAYED_DURABILITY") {
            return Ok(None);
        }
        let wanted = wanted(option)?;
        let before = self.transactions.current;
        if let Some(name) = &alter.name {
            self.transactions.current = self.id_of_database(&name.text)?;
        }
        let done = self.store_durability(wanted, execution);
        self.transactions.current = before;
        done.map(Some)
    }

    fn store_durability(
        &mut self,
        wanted: DelayedDurability,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        self.transactions.connect()?;
        let scope = self.transactions.begin_statement(Writes::Shared, false, execution)?;
        let done = self
            .transactions
            .connected()
            .and_then(|used| wanted.store(&used.database.connection));
        self.transactions.end_statement(scope, done.map_err(Failure::from))?;
        self.transactions.connected()?.database.shared.set_durability(wanted);
        Ok(())
    }

    /// The id of a database by name.
    fn id_of_database(&self, name: &str) -> Result<i32, SqlError> {
        let directory = self.registry.directory(self.session.instance)?;
        let found = directory.databases.iter().find(|record| same_name(&record.name, name));
        found.map(|record| record.id).ok_or_else(|| {
            let text = format!(
                "User does not have permission to alter database '{name}', the database does not exist, or the database \
                 is not in a state that allows access checks."
            );
            SqlError::new(5011, Ends::Statement, text).with_severity(14).with_state(5)
        })
    }
}

fn wanted(option: &Setting) -> Result<DelayedDurability, SqlError> {
    let word = option.word().map_or("", |word| word.text.as_str());
    DelayedDurability::of_word(word).ok_or_else(|| {
        let near = if word.is_empty() {
            option.name.text.as_str()
        } else {
            word
        };
        SqlError::syntax_near(near).on_line(option.position.line)
    })
}
