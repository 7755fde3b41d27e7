//! Statements about the server and whole databases: CREATE and DROP DATABASE, keys, logins, backups, DBCC.

mod accept_database;
mod application_lock;
mod backup;
mod cell_keys;
mod checkpoint;
pub(crate) mod dbcc;
mod encryption;
mod kill;
mod rename_database;
mod security;
mod set_durability;
mod set_options;

use std::path::Path;

pub(crate) use security::argument as procedure_argument;
use selenite_compiler::{DEFAULT_COLLATION, Ends, SqlError, same_name};
use selenite_runtime::machine::{Affected, Failure, Message, TableStatement};
use selenite_tsql::ast::{self, StatementKind};
use selenite_types::Value;

use crate::catalog::effective_permissions::Permissions;
use crate::database::database_registry::DatabaseRegistry;
use crate::database::dropped_database::{NotDropped, drop_database};
use crate::database::new_database::{NewDatabase, NewOwner, NotMade};
use crate::database::transactions::Transactions;
use crate::database::unfinished::Settlement;
use crate::database_error::{of_master, unsupported_statement};
use crate::execution_context::{ExecutionContext, SessionInfo};
use crate::master::{DatabaseName, DatabaseOptions, OptionFault};
use crate::names::identity::Identity;
use crate::names::session_catalog::SessionCatalog;
use crate::open_keys::OpenKeys;

/// What these statements work with.
pub(crate) struct Administration<'e, 'a> {
    /// The server's databases.
    pub registry: &'a DatabaseRegistry,
    /// The session.
    pub session: &'e SessionInfo<'a>,
    /// The session's databases.
    pub transactions: &'e mut Transactions<'a>,
    /// Whom it acts as.
    pub identity: &'e Identity,
    /// What that may do in the database in use.
    pub permissions: &'e Permissions,
    /// What names mean there.
    pub catalog: &'e SessionCatalog,
    /// The keys that the session has opened.
    pub open_keys: &'e OpenKeys,
}

impl Administration<'_, '_> {
    /// Carries out a statement that concerns neither rows nor objects.
    pub(crate) fn administer(
        &mut self,
        statement: &TableStatement<'_>,
        slots: &[Value],
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        if self.cell_keys(statement, execution)? || self.encryption(statement, execution)? {
            return Ok(Affected::Nothing);
        }
        let kind = &statement.statement.kind;
        if let StatementKind::AlterDatabase(alter) = kind
            && (self.set_durability(alter, execution)?.is_some()
                || self.modify_name(alter, statement.line(), execution)?
                || self.set_options(alter, statement.line(), execution)?)
        {
            return Ok(Affected::Nothing);
        }
        if let Some(affected) = self.secure(statement, execution)? {
            return Ok(affected);
        }
        if let StatementKind::Backup(backup) = kind {
            return self.back_up(backup, statement, slots, execution);
        }
        if let StatementKind::Restore(restore) = kind {
            return self.restore(restore, statement, slots, execution);
        }
        if let StatementKind::CreateDatabase(create) = kind {
            self.create_database(create, statement.line(), execution)?;
            return Ok(Affected::Nothing);
        }
        if let StatementKind::Drop(drop) = kind
            && drop.kind == ast::DropKind::Database
        {
            for name in &drop.names {
                self.drop_database(&name.name.text, drop.if_exists, (statement.line(), &mut *execution))?;
            }
            return Ok(Affected::Nothing);
        }
        Err(unsupported_statement(statement).into())
    }

    fn create_database(
        &mut self,
        create: &ast::CreateDatabase,
        line: u32,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<(), Failure> {
        self.transactions.check_none("CREATE DATABASE")?;
        check_create_options(create)?;
        let instance = self.session.instance;
        let name = DatabaseName::new(&create.name.text).map_err(|error| {
            // Trailing blanks of a name do not count.
            match instance.master().database(&create.name.text) {
                Ok(Some(known)) => taken(known.name.as_str()),
                Ok(None) | Err(_) => of_master(&error),
            }
        })?;
        let owner = self.new_owner()?;
        let how = (instance.access(), instance.config().new_databases);
        let new = NewDatabase::begin(instance.master(), instance.data_folder(), how, (&name, owner));
        let made = new.and_then(|new| {
            let id = new.id();
            let made = new.make().and_then(|draft| new.publish(draft));
            let made = made.and_then(|()| Ok(new.finish()?));
            if made.is_err() {
                self.settle(id);
            }
            made
        });
        self.registry.reload();
        let why = match made {
            Ok(_) => return Ok(()),
            Err(why) => why,
        };
        let error = |number, text: String| SqlError::new(number, Ends::Batch, text);
        Err(match why {
            NotMade::Taken(name) => taken(&name),
            NotMade::Master(fault) => of_master(&fault),
            NotMade::FileIsThere(path) => {
                send_not_created(line, execution)?;
                error(5170, file_is_there(&path))
            }
            NotMade::Failed(why) => error(1802, format!("CREATE DATABASE failed: {why}.")).with_state(4),
        }
        .into())
    }

    /// The login that creates a database; none of an administrator, who is `dbo` anyway.
    ///
    /// # Errors
    /// 15405 for a login whose name no user can have.
    fn new_owner(&self) -> Result<Option<NewOwner>, SqlError> {
        let directory = self.registry.directory(self.session.instance)?;
        let own = self.permissions.server.sid();
        let login = directory.records.iter().find(|login| login.sid == own);
        let Some(login) = login.filter(|_| !self.permissions.is_administrator) else {
            return Ok(None);
        };
        security::check_new_user(&login.name)?;
        Ok(Some(NewOwner {
            name: login.name.clone(),
            sid: login.sid.to_vec(),
        }))
    }

    /// Completes or undoes what was begun with a database and failed.
    pub(crate) fn settle(&self, database_id: i32) {
        let instance = self.session.instance;
        let settlement = Settlement {
            master: instance.master(),
            folder: instance.data_folder(),
            access: instance.access(),
            log: instance.log(),
        };
        match instance.master().file(database_id) {
            Ok(Some(file)) => settlement.one(&file),
            Ok(None) => {}
            Err(fault) => instance.log().line(&format!("master.db: {fault}")),
        }
    }

    fn drop_database(
        &mut self,
        name: &str,
        if_exists: bool,
        (line, execution): (u32, &mut ExecutionContext<'_>),
    ) -> Result<(), Failure> {
        self.transactions.check_none("DROP DATABASE")?;
        let instance = self.session.instance;
        let found = self.registry.directory(instance)?;
        let found = found
            .databases
            .iter()
            .find(|record| same_name(&record.name, name))
            .cloned();
        let Some(record) = found else {
            if if_exists {
                return Ok(());
            }
            let text =
                format!("Cannot drop the database '{name}', because it does not exist or you do not have permission.");
            return Err(SqlError::new(3701, Ends::Statement, text).with_severity(11).into());
        };
        if record.is_reserved() {
            let text = format!("Cannot drop database '{name}' because it is a system database.");
            // 3708: DROP DATABASE of a system database.
            return Err(SqlError::new(3708, Ends::Statement, text).into());
        }
        let in_use = || {
            let text = format!("Cannot drop database \"{name}\" because it is currently in use.");
            // 3702: a database that is in use.
            SqlError::new(3702, Ends::Statement, text).with_state(4)
        };
        if self.transactions.current == record.id || self.is_being_scanned(record.id) {
            return Err(in_use().into());
        }
        self.transactions.close(record.id);
        let shared = self.registry.database(instance, &record)?;
        // Each other session that has it open has the value, too: the registry's, and this one.
        if std::sync::Arc::strong_count(&shared) > 2 {
            return Err(in_use().into());
        }
        drop(shared);
        self.registry.forget(record.id);
        let master = instance.master();
        let file = master.file(record.id).map_err(|error| of_master(&error))?;
        let file = file.ok_or_else(|| SqlError::internal("a database that is gone"))?;
        let dropped = drop_database(master, instance.data_folder(), &file);
        self.registry.reload();
        match dropped {
            Ok(None) => Ok(()),
            Ok(Some(kept)) => {
                let text = format!(
                    "The file '{}' was kept: it is not the one that the server knows as the file of database '{}'.",
                    kept.display(),
                    record.name
                );
                Ok(execution.reply.message(&info(50_826, &text, line))?)
            }
            Err(NotDropped::Master(fault)) => Err(of_master(&fault).into()),
            Err(NotDropped::InUse) => Err(in_use().into()),
            Err(NotDropped::File(path, error)) => {
                let text = format!(
                    "The file '{}' of the database '{}' could not be removed: {error}.",
                    path.display(),
                    record.name
                );
                // 5009: a file that could not be removed.
                Err(SqlError::new(5009, Ends::Statement, text).into())
            }
        }
    }
}

/// What a new database can't be made with: every database has the same collation, and options at their defaults.
fn check_create_options(create: &ast::CreateDatabase) -> Result<(), SqlError> {
    let is_default = |collation: &&ast::Name| same_name(&collation.text, DEFAULT_COLLATION);
    if let Some(collation) = create.collation.as_ref().filter(|collation| !is_default(collation)) {
        let what = format!("CREATE DATABASE with COLLATE {}", collation.text);
        return Err(SqlError::unsupported(&what));
    }
    if create
        .containment
        .as_ref()
        .is_some_and(|containment| !containment.is("NONE"))
    {
        return Err(SqlError::unsupported("CREATE DATABASE with CONTAINMENT = PARTIAL"));
    }
    let mut options = DatabaseOptions::default();
    for option in &create.options {
        options.set(option).map_err(|fault| match fault {
            OptionFault::Unsupported(what) => SqlError::unsupported(&format!("CREATE DATABASE WITH {what}")),
            OptionFault::Syntax(word) => SqlError::syntax_near(&word),
            OptionFault::CompatibilityLevel => SqlError::syntax_near(&option.name.text),
        })?;
    }
    match options == DatabaseOptions::default() {
        true => Ok(()),
        false => Err(SqlError::unsupported("CREATE DATABASE WITH an option")),
    }
}

/// 1802, before the reason.
fn send_not_created(line: u32, execution: &mut ExecutionContext<'_>) -> Result<(), Failure> {
    let text = "CREATE DATABASE failed. Some file names listed could not be created. Check related errors.";
    Ok(execution.reply.message(&Message {
        severity: 16,
        state: 4,
        ..info(1802, text, line)
    })?)
}

/// The text of 5170.
pub(crate) fn file_is_there(path: &Path) -> String {
    format!(
        "Cannot create file '{}' because it already exists. Change the file path or the file name, and retry the operation.",
        path.display()
    )
}

fn info(number: i32, text: &str, line: u32) -> Message<'_> {
    Message {
        number,
        severity: 10,
        state: 1,
        line,
        procedure: "",
        text,
        to_log: false,
    }
}

/// 1801: a database that exists.
fn taken(name: &str) -> SqlError {
    let text = format!("Database '{name}' already exists. Choose a different database name.");
    SqlError::new(1801, Ends::Batch, text).with_state(3)
}
