//! CREATE, ALTER and DROP LOGIN.

use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{self, AlterLoginAction, LoginSource, StatementKind};

use super::policy::{LoginOptions, is_right, plain, stretch};
use super::procedure::not_allowed;
use super::server_work::ServerWork;
use super::{error, refused, special};
use crate::administration::Administration;
use crate::catalog::permission::is_own_password;
use crate::catalog::principals::not_there;
use crate::database_error::of_master;
use crate::master::{LoginRecord, MasterError, NewLogin, SA, ServerRole, UNSUPPORTED_ROLES};
use crate::password::PasswordHash;
use crate::registry::SessionEntry;

impl Administration<'_, '_> {
    pub(super) fn create_login(&self, create: &ast::CreateLogin, kind: &StatementKind) -> Result<(), SqlError> {
        let name = create.name.text.as_str();
        let (password, settings) = match &create.source {
            LoginSource::Password { password, options } => (password, options),
            LoginSource::Windows(_) => return Err(refused("CREATE LOGIN FROM WINDOWS")),
            LoginSource::Certificate(_) => return Err(refused("CREATE LOGIN FROM CERTIFICATE")),
        };
        if password.unlock {
            return Err(refused("CREATE LOGIN with UNLOCK"));
        }
        let options = LoginOptions::read(settings, "CREATE LOGIN")?;
        if options.name.is_some() {
            let text = "'NAME' is not a recognized CREATE LOGIN option.";
            return Err(error(155, text.to_owned()).with_severity(15));
        }
        let (policy, expiration) = options.policy((true, false))?;
        check_must_change(password, expiration)?;
        let statement = ("CREATE LOGIN", Some(kind));
        self.on_server(statement, |work| work.check_new_login(name, &options))?;
        let hash = stretch(self.session.instance, (name, plain(password)?), policy)?;
        self.on_server(statement, |work| {
            work.check_new_login(name, &options)?;
            let new = NewLogin {
                name,
                sid: options.sid,
                password: &hash,
                must_change: password.must_change,
                default_database: options.database.as_deref().unwrap_or(MASTER_NAME),
            };
            let made = work.master().add_login(&new);
            let made = made.and_then(|_| work.master().set_policy(name, policy, expiration));
            made.map_err(|error| error_of(name, &error))
        })
    }

    pub(super) fn alter_login(&self, alter: &ast::AlterLogin, kind: &StatementKind) -> Result<(), SqlError> {
        let statement = ("ALTER LOGIN", Some(kind));
        match &alter.action {
            AlterLoginAction::AddCredential(credential) => self.on_server(statement, |work| {
                let present = work.login_of_credential(alter)?;
                self.add_login_credential(&present, credential)
            }),
            AlterLoginAction::DropCredential(credential) => self.on_server(statement, |work| {
                let present = work.login_of_credential(alter)?;
                self.drop_login_credential(&present, credential)
            }),
            AlterLoginAction::Enable | AlterLoginAction::Disable => self.on_server(statement, |work| {
                let present = work.login_to_alter(alter)?;
                let is_disabled = alter.action == AlterLoginAction::Disable;
                let changed = work.master().set_disabled(&present.name, is_disabled);
                changed.map_err(|error| error_of(&present.name, &error))
            }),
            AlterLoginAction::With {
                password,
                old_password,
                options,
            } => {
                let password = password.as_ref();
                let change = self.on_server(statement, |work| work.login_change(alter, (password, options)))?;
                let new = password
                    .map(|password| self.new_password(&change, (password, old_password.as_deref())))
                    .transpose()?;
                self.on_server(statement, |work| {
                    let now = work.login_change(alter, (password, options))?;
                    if now.present.sid != change.present.sid {
                        return Err(not_there("alter", "login", &alter.name.text));
                    }
                    work.change_login(&now, password.zip(new.as_ref()))
                })
            }
        }
    }

    /// Stretches the new password of a login, if the old one that was given is right.
    fn new_password(
        &self,
        change: &LoginChange,
        (password, old): (&ast::Password, Option<&str>),
    ) -> Result<NewPassword, SqlError> {
        let instance = self.session.instance;
        let name = change.present.name.as_str();
        let mut replaced = None;
        if let Some(old) = old {
            let wrong = || not_there("alter", "login", name);
            let found = instance.master().login_and_hash(name);
            let (login, hash) = found.map_err(|error| of_master(&error))?.ok_or_else(wrong)?;
            let address = self.session.entry.facts().peer.ip();
            if !is_right(instance, (&login, &hash), (old, address))? {
                return Err(wrong());
            }
            replaced = Some(hash);
        }
        Ok(NewPassword {
            hash: stretch(instance, (name, plain(password)?), change.policy)?,
            replaced,
        })
    }
}

/// What ALTER LOGIN sets.
struct LoginChange {
    present: LoginRecord,
    options: LoginOptions,
    policy: bool,
    expiration: bool,
}

/// A password that ALTER LOGIN sets.
struct NewPassword {
    hash: PasswordHash,
    /// That of the old one, if it was given.
    replaced: Option<PasswordHash>,
}

impl ServerWork<'_> {
    fn check_new_login(&self, name: &str, options: &LoginOptions) -> Result<(), SqlError> {
        // The users of a login that is gone would be those of the new one.
        if options.sid.is_some() && !self.permissions.is_administrator {
            return Err(not_allowed());
        }
        self.check_database(options.database.as_deref().unwrap_or(MASTER_NAME))?;
        match is_fixed_server_role(name) || self.login(name)?.is_some() {
            true => Err(taken(name)),
            false => Ok(()),
        }
    }

    /// The login that is altered, if the session may alter it so.
    fn login_to_alter(&self, alter: &ast::AlterLogin) -> Result<LoginRecord, SqlError> {
        let name = alter.name.text.as_str();
        let present = self.login(name)?.ok_or_else(|| not_there("alter", "login", name))?;
        let is_own = present.sid == self.permissions.server.sid();
        if !(is_own && is_own_password(alter, &present.name)) {
            self.check_in_reach(&present, "alter")?;
        }
        Ok(present)
    }

    fn login_of_credential(&self, alter: &ast::AlterLogin) -> Result<LoginRecord, SqlError> {
        let present = self.login_to_alter(alter)?;
        match self.permissions.is_administrator {
            true => Ok(present),
            false => Err(not_allowed()),
        }
    }

    /// What ALTER LOGIN .. WITH sets, if it may.
    fn login_change(
        &self,
        alter: &ast::AlterLogin,
        (password, settings): (Option<&ast::Password>, &[ast::Setting]),
    ) -> Result<LoginChange, SqlError> {
        let present = self.login_to_alter(alter)?;
        let options = LoginOptions::read(settings, "ALTER LOGIN")?;
        if options.sid.is_some() {
            let text = "'SID' is not a recognized ALTER LOGIN option.";
            return Err(error(155, text.to_owned()).with_severity(15));
        }
        let (policy, expiration) = options.policy((present.checks_policy, present.checks_expiration))?;
        if present.must_change && !expiration && password.is_none() {
            let text = "The CHECK_POLICY and CHECK_EXPIRATION options cannot be turned OFF when MUST_CHANGE is ON.";
            return Err(error(15128, text.to_owned()));
        }
        if let Some(database) = &options.database {
            self.check_database(database)?;
        }
        if let Some(password) = password {
            check_must_change(password, expiration)?;
        }
        Ok(LoginChange {
            present,
            options,
            policy,
            expiration,
        })
    }

    fn change_login(&self, change: &LoginChange, new: Option<(&ast::Password, &NewPassword)>) -> Result<(), SqlError> {
        let present = &change.present;
        let name = present.name.as_str();
        let wrong = |error: MasterError| error_of(name, &error);
        if let Some((password, new)) = new {
            let now = self.session.instance.master().login_and_hash(name).map_err(wrong)?;
            let is_replaced = |old: &PasswordHash| now.as_ref().is_none_or(|(_, now)| now.salt != old.salt);
            // Another one has set a password since the old one was found right.
            if new.replaced.as_ref().is_some_and(is_replaced) {
                return Err(not_there("alter", "login", name));
            }
            let set = self.master().set_password(present, &new.hash, password.must_change);
            set.map_err(wrong)?;
            if password.unlock {
                self.session.instance.unlock(present).map_err(wrong)?;
            }
        }
        let (policy, expiration) = (change.policy, change.expiration);
        if (policy, expiration) != (present.checks_policy, present.checks_expiration) {
            self.master().set_policy(name, policy, expiration).map_err(wrong)?;
        }
        if let Some(database) = &change.options.database {
            self.master().set_default_database(name, database).map_err(wrong)?;
        }
        match &change.options.name {
            Some(new) if is_fixed_server_role(new) => Err(taken(new)),
            Some(new) => {
                let renamed = self.master().rename_login(name, new);
                renamed.map_err(|error| error_of(new, &error))
            }
            None => Ok(()),
        }
    }

    pub(super) fn drop_login(&self, name: &str, if_exists: bool) -> Result<(), SqlError> {
        let Some(present) = self.login(name)? else {
            return match if_exists {
                true => Ok(()),
                false => Err(not_there("drop", "login", name)),
            };
        };
        let registry = self.session.instance.registry();
        self.check_in_reach(&present, "drop")?;
        if present.id == SA {
            return Err(special(name));
        }
        self.check_owns_no_role(&present.sid)?;
        let is_its = |session: &SessionEntry| session.facts().sid == present.sid;
        if registry.sessions().iter().any(|session| is_its(session)) {
            let text = format!("Could not drop login '{name}' as the user is currently logged in.");
            return Err(error(15434, text));
        }
        let removed = self.master().remove_login(name);
        removed.map_err(|error| error_of(name, &error))?;
        // Sessions that were registered since; later ones find no login when they look again.
        for session in registry.sessions().iter().filter(|session| is_its(session)) {
            registry.kill(session.spid());
        }
        self.session.instance.forget_login(present.id);
        Ok(())
    }

    /// 15010.
    fn check_database(&self, name: &str) -> Result<(), SqlError> {
        let mut databases = self.directory.databases.iter();
        if databases.any(|record| same_name(&record.name, name)) {
            return Ok(());
        }
        let text = format!(
            "The database '{name}' does not exist. Supply a valid database name. To see available databases, use sys.databases."
        );
        Err(error(15010, text))
    }
}

/// 15099.
fn check_must_change(password: &ast::Password, expiration: bool) -> Result<(), SqlError> {
    match password.must_change && !expiration {
        true => {
            let text = "The MUST_CHANGE option cannot be used when CHECK_EXPIRATION is OFF.";
            Err(error(15099, text.to_owned()))
        }
        false => Ok(()),
    }
}

/// Whether a role that every server of SQL Server's has is of a name.
pub(super) fn is_fixed_server_role(name: &str) -> bool {
    let fixed = ServerRole::of_name(name).is_some();
    fixed
        || UNSUPPORTED_ROLES
            .iter()
            .chain(&["public"])
            .any(|known| same_name(known, name))
}

pub(super) fn taken(name: &str) -> SqlError {
    error(15025, format!("The server principal '{name}' already exists."))
}

/// An error of master.db about a login or role.
pub(super) fn error_of(name: &str, why: &MasterError) -> SqlError {
    match why {
        MasterError::Taken(_) => taken(name),
        MasterError::Unknown(_) => not_there("alter", "login", name),
        MasterError::Reserved(_) => special(name),
        MasterError::Name(_) => error(
            15006,
            format!("'{name}' is not a valid name because it contains invalid characters."),
        ),
        MasterError::Password(_)
        | MasterError::Version(_)
        | MasterError::NotMaster(_)
        | MasterError::NotTold(_)
        | MasterError::Engine(_)
        | MasterError::Sqlite(_) => of_master(why),
    }
}

/// Where a login begins that has no other default database.
const MASTER_NAME: &str = "master";
