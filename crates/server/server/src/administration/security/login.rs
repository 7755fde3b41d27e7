//! CREATE, ALTER and DROP LOGIN.

use selenite_compiler::{SqlError, same_name};
use selenite_tsql::ast::{self, AlterLoginAction, LoginSource};

use super::policy::{LoginOptions, is_right, plain, stretch};
use super::procedure::not_allowed;
use super::{error, refused, special};
use crate::administration::Administration;
use crate::catalog::permission::is_own_password;
use crate::catalog::principals::not_there;
use crate::database_error::of_master;
use crate::master::{LoginRecord, MasterError, NewLogin, ServerRole, UNSUPPORTED_ROLES};

impl Administration<'_, '_> {
    pub(crate) fn create_login(&mut self, create: &ast::CreateLogin) -> Result<(), SqlError> {
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
        // The users of a login that is gone would be those of the new one.
        if options.sid.is_some() && !self.permissions.is_administrator {
            return Err(not_allowed());
        }
        let (policy, expiration) = options.policy((true, false))?;
        if password.must_change && !expiration {
            let text = "The MUST_CHANGE option cannot be used when CHECK_EXPIRATION is OFF.";
            return Err(error(15099, text.to_owned()));
        }
        let database = options.database.clone().unwrap_or_else(|| "master".to_owned());
        self.check_database(&database)?;
        let instance = self.session.instance;
        if is_fixed_server_role(name) || self.login(name)?.is_some() {
            return Err(taken(name));
        }
        let hash = stretch(instance, (name, plain(password)?), policy)?;
        let new = NewLogin {
            name,
            sid: options.sid,
            password: &hash,
            must_change: password.must_change,
            default_database: &database,
        };
        instance
            .master()
            .add_login(&new)
            .map_err(|error| error_of(name, &error))?;
        let kept = instance.master().set_policy(name, policy, expiration);
        kept.map_err(|error| error_of(name, &error))?;
        self.registry.reload();
        Ok(())
    }

    pub(crate) fn alter_login(&mut self, alter: &ast::AlterLogin) -> Result<(), SqlError> {
        let name = alter.name.text.as_str();
        let master = self.session.instance.master();
        let present = self.login(name)?.ok_or_else(|| not_there("alter", "login", name))?;
        let own = self.own_login()?;
        if !own.is_some_and(|own| is_own_password(alter, &own)) {
            self.check_in_reach(&present, "alter")?;
        }
        match &alter.action {
            AlterLoginAction::Enable => master
                .set_disabled(name, false)
                .map_err(|error| error_of(name, &error))?,
            AlterLoginAction::Disable => master
                .set_disabled(name, true)
                .map_err(|error| error_of(name, &error))?,
            AlterLoginAction::AddCredential(_) | AlterLoginAction::DropCredential(_)
                if !self.permissions.is_administrator =>
            {
                return Err(not_allowed());
            }
            AlterLoginAction::AddCredential(credential) => self.add_login_credential(&present, credential)?,
            AlterLoginAction::DropCredential(credential) => self.drop_login_credential(&present, credential)?,
            AlterLoginAction::With {
                password,
                old_password,
                options,
            } => self.change_login(&present, (password.as_ref(), old_password.as_deref()), options)?,
        }
        self.registry.reload();
        Ok(())
    }

    fn change_login(
        &self,
        present: &LoginRecord,
        (password, old): (Option<&ast::Password>, Option<&str>),
        settings: &[ast::Setting],
    ) -> Result<(), SqlError> {
        let instance = self.session.instance;
        let master = instance.master();
        let name = present.name.as_str();
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
        let hash = match password {
            Some(password) => {
                if password.must_change && !expiration {
                    let text = "The MUST_CHANGE option cannot be used when CHECK_EXPIRATION is OFF.";
                    return Err(error(15099, text.to_owned()));
                }
                if let Some(old) = old {
                    let found = master.login_and_hash(name).map_err(|error| of_master(&error))?;
                    let (login, hash) = found.ok_or_else(|| not_there("alter", "login", name))?;
                    let address = self.session.entry.facts().peer.ip();
                    if !is_right(instance, (&login, &hash), (old, address))? {
                        return Err(not_there("alter", "login", name));
                    }
                }
                Some((stretch(instance, (name, plain(password)?), policy)?, password))
            }
            None => None,
        };
        let wrong = |error: MasterError| error_of(name, &error);
        if let Some((hash, password)) = &hash {
            master.set_password(name, hash, password.must_change).map_err(wrong)?;
            if password.unlock {
                instance.unlock(present).map_err(wrong)?;
            }
        }
        if (policy, expiration) != (present.checks_policy, present.checks_expiration) {
            master.set_policy(name, policy, expiration).map_err(wrong)?;
        }
        if let Some(database) = &options.database {
            master.set_default_database(name, database).map_err(wrong)?;
        }
        match &options.name {
            Some(new) if is_fixed_server_role(new) => Err(taken(new)),
            Some(new) => master.rename_login(name, new).map_err(|error| error_of(new, &error)),
            None => Ok(()),
        }
    }

    pub(crate) fn drop_login(&mut self, name: &str, if_exists: bool) -> Result<(), SqlError> {
        let Some(present) = self.login(name)? else {
            return match if_exists {
                true => Ok(()),
                false => Err(not_there("drop", "login", name)),
            };
        };
        let sessions = self.session.instance.registry().sessions();
        self.check_in_reach(&present, "drop")?;
        if present.id == SA {
            return Err(special(name));
        }
        self.check_owns_no_role(&present.sid)?;
        if sessions.iter().any(|session| session.facts().sid == present.sid) {
            let text = format!("Could not drop login '{name}' as the user is currently logged in.");
            return Err(error(15434, text));
        }
        let removed = self.session.instance.master().remove_login(name);
        removed.map_err(|error| error_of(name, &error))?;
        // One that was about to begin: from now on none does, since each looks again when it is known.
        let registry = self.session.instance.registry();
        for session in registry.sessions() {
            if session.facts().sid == present.sid {
                registry.kill(session.spid());
            }
        }
        self.session.instance.forget_login(present.id);
        self.registry.reload();
        Ok(())
    }

    pub(super) fn login(&self, name: &str) -> Result<Option<LoginRecord>, SqlError> {
        self.session
            .instance
            .master()
            .login(name)
            .map_err(|error| of_master(&error))
    }

    /// The name of the login that the session acts as, if that is no administrator.
    fn own_login(&self) -> Result<Option<String>, SqlError> {
        let directory = self.registry.directory(self.session.instance)?;
        let own = self.permissions.server.sid();
        let found = directory.records.iter().find(|login| login.sid == own);
        Ok(found.map(|login| login.name.clone()))
    }

    /// 15010.
    fn check_database(&self, name: &str) -> Result<(), SqlError> {
        let directory = self.registry.directory(self.session.instance)?;
        if directory.databases.iter().any(|record| same_name(&record.name, name)) {
            return Ok(());
        }
        let text = format!(
            "The database '{name}' does not exist. Supply a valid database name. To see available databases, use sys.databases."
        );
        Err(error(15010, text))
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

/// sa's principal id.
const SA: i64 = 1;
