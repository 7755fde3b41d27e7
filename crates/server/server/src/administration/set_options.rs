//! `ALTER DATABASE .. SET`, but for ENCRYPTION and DELAYED_DURABILITY.
//!
//! - `states-change-without-users`: who may use a database, and whether it may be changed, changes while no other
//!   session uses it: those that do are waited for, or ended, as the statement's termination says.

use std::time::{Duration, Instant};

use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::machine::{Failure, Message};
use selenite_tsql::ast::{AlterDatabase, AlterDatabaseAction, Setting, Termination};

use crate::administration::Administration;
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::{DatabaseOptions, DatabaseRecord, OptionFault, UserAccess};

impl Administration<'_, '_> {
    /// Sets options. Returns whether it was such a statement.
    pub(crate) fn set_options(
        &mut self,
        alter: &AlterDatabase,
        line: u32,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<bool, Failure> {
        let AlterDatabaseAction::Set { options, termination } = &alter.action else {
            return Ok(false);
        };
        self.transactions.check_none("ALTER DATABASE")?;
        let directory = self.registry.directory(self.session.instance)?;
        let wanted = |record: &&DatabaseRecord| match &alter.name {
            Some(name) => same_name(&record.name, &name.text),
            None => record.id == self.transactions.current,
        };
        let record = directory.databases.iter().find(wanted).cloned();
        let record = record.ok_or_else(|| not_altered(alter.name.as_ref().map_or("", |name| &name.text)))?;
        let before = directory.options(record.id);
        let mut after = before.clone();
        for option in options {
            after.set(option).map_err(|fault| of_fault(&fault, option))?;
        }
        if record.is_reserved() {
            let option = options
                .first()
                .map_or("", |option| &option.name.text)
                .to_ascii_uppercase();
            // 5058: an option that this database has as it is.
            let text = format!("Option '{option}' cannot be set in database '{}'.", record.name);
            return Err(SqlError::new(5058, Ends::Statement, text).into());
        }
        if after.is_offline() && !before.is_offline() && self.is_used_here(record.id) {
            return Err(in_use(&record, Some(Termination::NoWait), (line, execution)));
        }
        if is_of_state(&before, &after) {
            let restricts = after.user_access() == UserAccess::Restricted && !changes_file(&before, &after);
            self.clear_users((&record, restricts), *termination, (line, &mut *execution))?;
        }
        let stored = self.session.instance.master().set_database_options(record.id, &after);
        stored.map_err(|error| of_master(&error))?;
        self.registry.reload();
        self.registry.note_options(record.id, &after);
        Ok(true)
    }

    /// `states-change-without-users`. With `restricts` users that are no administrators alone have to leave.
    fn clear_users(
        &self,
        (record, restricts): (&DatabaseRecord, bool),
        termination: Option<Termination>,
        (line, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let limit = match termination {
            Some(Termination::NoWait | Termination::RollbackImmediate) => Duration::ZERO,
            Some(Termination::RollbackAfter(seconds)) => Duration::from_secs(seconds.into()),
            None => execution.state.lock_timeout(),
        };
        let ends_sessions = matches!(
            termination,
            Some(Termination::RollbackImmediate | Termination::RollbackAfter(_))
        );
        let mut is_ended = false;
        loop {
            let users = self.users(record, restricts);
            if users.is_empty() {
                return Ok(());
            }
            let is_over = begun.elapsed() >= limit;
            if is_over && ends_sessions && !is_ended {
                for user in users {
                    self.session.instance.registry().kill(user);
                }
                is_ended = true;
            }
            let last = if is_ended { limit + ENDING_MAX } else { limit };
            if begun.elapsed() >= last {
                return Err(in_use(record, termination, (line, execution)));
            }
            execution.reply.poll()?;
            // Sessions that end tell no one: they are looked for.
            std::thread::sleep(LOOK);
        }
    }

    /// Whether what can't go offline uses it: this session, or a scan that re-encrypts its pages.
    fn is_used_here(&mut self, id: i32) -> bool {
        if self.transactions.current == id || self.is_being_scanned(id) {
            return true;
        }
        self.transactions.close(id);
        false
    }

    /// The other sessions that use a database.
    fn users(&self, record: &DatabaseRecord, restricts: bool) -> Vec<u16> {
        let own = self.session.entry.spid();
        let shared = self.registry.known(record.id);
        let mut users = shared.map(|shared| shared.users.others(own)).unwrap_or_default();
        let registry = self.session.instance.registry();
        users.retain(|user| {
            let is_administrator = || registry.session(*user).is_some_and(|one| one.facts().is_administrator);
            !(restricts && is_administrator())
        });
        users
    }
}

/// 5011: a database that is not there, or not the login's to alter.
pub(super) fn not_altered(name: &str) -> SqlError {
    let text = format!(
        "User does not have permission to alter database '{name}', the database does not exist, or the database is not in a \
         state that allows access checks."
    );
    SqlError::new(5011, Ends::Statement, text)
        .with_severity(14)
        .with_state(5)
}

/// Whether the change is one of who may use the database, or of whether it may be changed.
fn is_of_state(before: &DatabaseOptions, after: &DatabaseOptions) -> bool {
    let narrows = before.user_access() != after.user_access() && after.user_access() != UserAccess::Multi;
    narrows || changes_file(before, after)
}

fn changes_file(before: &DatabaseOptions, after: &DatabaseOptions) -> bool {
    let goes_offline = after.is_offline() && !before.is_offline();
    before.is_read_only() != after.is_read_only()
        || goes_offline
        || after.user_access() == UserAccess::Single && before.user_access() != UserAccess::Single
        || before.is_on(SNAPSHOT) != after.is_on(SNAPSHOT)
}

/// 5070 or 5061, and 5069.
fn in_use(
    record: &DatabaseRecord,
    termination: Option<Termination>,
    (line, execution): (u32, &mut ExecutionContext<'_>),
) -> Failure {
    let name = &record.name;
    let (number, text) = match termination {
        // 5061: other sessions have not left in time.
        None => (
            5061,
            format!("ALTER DATABASE failed because a lock could not be placed on database '{name}'. Try again later."),
        ),
        // 5070: others use it.
        Some(_) => (
            5070,
            format!("Database state cannot be changed while other users are using the database '{name}'"),
        ),
    };
    let told = execution.reply.message(&Message {
        severity: 16,
        state: 2,
        ..super::info(number, &text, line)
    });
    if let Err(stop) = told {
        return Failure::Stop(stop);
    }
    // 5069: said after the error that kept ALTER DATABASE from being carried out.
    SqlError::new(5069, Ends::Statement, "ALTER DATABASE statement failed.".to_owned()).into()
}

fn of_fault(fault: &OptionFault, option: &Setting) -> SqlError {
    let error = match fault {
        OptionFault::Syntax(word) => SqlError::syntax_near(word),
        OptionFault::Unsupported(what) => SqlError::unsupported(&format!("ALTER DATABASE {what}")),
        OptionFault::CompatibilityLevel => {
            let text = "Valid values of the database compatibility level are 100, 110, 120, 130, 140, 150, or 160.";
            // 15048: a compatibility level that does not exist.
            SqlError::new(15_048, Ends::Statement, text.to_owned())
        }
    };
    error.on_line(option.position.line)
}

const SNAPSHOT: &str = "READ_COMMITTED_SNAPSHOT";
/// A session that is ended leaves at its next poll; a rollback of much may take longer.
const ENDING_MAX: Duration = Duration::from_secs(30);
/// How often is looked whether sessions have left.
const LOOK: Duration = Duration::from_millis(5);
