//! Logins, users and roles in T-SQL.
//!
//! - `users-belong-to-the-database`: a login belongs to the server, in master.db. A user belongs to
//!   a database, in the database's own file, and to the login with its security id: so a restored
//!   database has the users that it had.
//! - `accepted-permissions-are-enforced`: whatever is accepted is enforced
//!   (`crate::catalog::permission`). What can't be enforced is refused by name.
//! - `checked-as-it-is-written`: what the session may do is found out again once a statement writes, and no other one
//!   does: while it waited, another one may have taken it away. So do [`server_work`] and
//!   [`super::cell_keys`].

mod authorization;
mod grant;
mod grant_rows;
mod grant_target;
mod login;
mod policy;
mod procedure;
mod role;
mod server_grant;
mod server_role;
mod server_work;
mod user;

pub(crate) use procedure::argument;
use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Affected, Failure, TableStatement};
use selenite_tsql::ast::{DropKind, StatementKind};

use crate::administration::Administration;
use crate::catalog::permission::check;
use crate::execution_context::ExecutionContext;

impl Administration<'_, '_> {
    /// Carries out a statement on logins, users and roles; none if it is no such statement.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "other modules execute all other statements"
    )]
    pub(crate) fn secure(
        &mut self,
        statement: &TableStatement<'_>,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Option<Affected>, Failure> {
        let kind = &statement.statement.kind;
        let asked = (Some(kind), execution);
        match kind {
            StatementKind::CreateLogin(create) => self.create_login(create, kind)?,
            StatementKind::AlterLogin(alter) => self.alter_login(alter, kind)?,
            StatementKind::CreateUser(create) => self.in_file(asked, |work| work.create_user(create))?,
            StatementKind::AlterUser(alter) => self.in_file(asked, |work| work.alter_user(alter))?,
            StatementKind::CreateRole(create) if create.server => {
                self.on_server(("CREATE SERVER ROLE", Some(kind)), |work| {
                    work.create_server_role(create)
                })?;
            }
            StatementKind::CreateRole(create) => self.in_file(asked, |work| work.create_role(create))?,
            StatementKind::AlterRole(alter) if alter.server => {
                self.on_server(("ALTER SERVER ROLE", Some(kind)), |work| work.alter_server_role(alter))?;
            }
            StatementKind::AlterRole(alter) => self.in_file(asked, |work| work.alter_role(alter))?,
            StatementKind::Permission(change) if server_grant::is_of_server(change) => {
                self.change_server_permissions(change, kind)?;
            }
            StatementKind::Permission(change) => self.in_file(asked, |work| work.change_permissions(change))?,
            StatementKind::AlterAuthorization(alter) => self.alter_authorization(alter, asked.1)?,
            StatementKind::Drop(drop) => match drop.kind {
                DropKind::Login => self.on_server(("DROP LOGIN", Some(kind)), |work| {
                    drop.names
                        .iter()
                        .try_for_each(|name| work.drop_login(&name.name.text, drop.if_exists))
                })?,
                DropKind::ServerRole => self.on_server(("DROP SERVER ROLE", Some(kind)), |work| {
                    drop.names
                        .iter()
                        .try_for_each(|name| work.drop_server_role(&name.name.text))
                })?,
                DropKind::User => self.in_file(asked, |work| {
                    drop.names
                        .iter()
                        .try_for_each(|name| work.drop_user(&name.name.text, drop.if_exists))
                })?,
                DropKind::Role => self.in_file(asked, |work| {
                    drop.names
                        .iter()
                        .try_for_each(|name| work.drop_role(&name.name.text, drop.if_exists))
                })?,
                DropKind::Table
                | DropKind::View
                | DropKind::Procedure
                | DropKind::Function
                | DropKind::Trigger
                | DropKind::Sequence
                | DropKind::Synonym
                | DropKind::Statistics
                | DropKind::Type
                | DropKind::Database
                | DropKind::Schema
                | DropKind::Certificate
                | DropKind::CryptographicProvider
                | DropKind::Credential
                | DropKind::AsymmetricKey
                | DropKind::SymmetricKey => return Ok(None),
            },
            _ => return Ok(None),
        }
        Ok(Some(Affected::Nothing))
    }

    /// Changes the users of the database in use, with the transaction that the statement is in (`checked-as-it-is-written`).
    /// `kind` is the statement, unless it is a call.
    ///
    /// # Errors
    /// Those of [`check`] and of `change`.
    fn in_file(
        &mut self,
        (kind, execution): (Option<&StatementKind>, &mut ExecutionContext<'_>),
        change: impl FnOnce(&user::UserWork<'_>) -> Result<(), SqlError>,
    ) -> Result<(), Failure> {
        let (registry, session, identity) = (self.registry, self.session, self.identity);
        let (catalog, database_id) = (self.catalog, self.transactions.current);
        self.transactions.change_database(execution, |database| {
            let (_, schema) = database.definitions()?;
            let directory = registry.directory(session.instance)?;
            let permissions = identity.permissions(&directory, database_id, &schema);
            let name = &database.shared.record.name;
            if let Some(kind) = kind {
                check(kind, (&permissions, &|_| None), (&*identity.login, name.as_str()))?;
            }
            change(&user::UserWork {
                connection: &database.connection,
                present: schema.principals(),
                schema: &schema,
                database: name,
                directory: &directory,
                permissions: &permissions,
                catalog,
            })?;
            database.note_change();
            Ok(())
        })
    }
}

/// 15405: a name that no user can have.
pub(super) fn check_new_user(name: &str) -> Result<(), SqlError> {
    match user::is_reserved(name) || user::is_fixed_role(name) {
        true => Err(special(name)),
        false => Ok(()),
    }
}

fn refused(what: &str) -> SqlError {
    SqlError::unsupported(what).with_ends(Ends::Statement)
}

fn error(number: i32, text: String) -> SqlError {
    SqlError::new(number, Ends::Statement, text)
}

/// 15405.
fn special(name: &str) -> SqlError {
    error(15405, format!("Cannot use the special principal '{name}'."))
}
