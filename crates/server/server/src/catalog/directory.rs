//! The server's own records that are not objects: databases and logins, as master.db has them.

use std::collections::BTreeMap;

use crate::Instance;
use crate::master::{DatabaseOptions, DatabaseRecord, LoginRecord, MasterError, ServerPermission, ServerSecurity};

/// A copy of both. A change of either calls [`DatabaseRegistry::reload`](crate::DatabaseRegistry::reload).
#[derive(Clone, Default, Debug)]
pub struct Directory {
    /// All databases, by rising id.
    pub databases: Vec<DatabaseRecord>,
    /// What ALTER DATABASE has set, by the database's id.
    pub options: BTreeMap<i32, DatabaseOptions>,
    /// All logins: id and name.
    pub logins: Vec<(i32, String)>,
    /// All logins, as they are stored.
    pub records: Vec<LoginRecord>,
    /// Roles of the server but `sysadmin`, and permissions on it.
    pub security: ServerSecurity,
}

impl Directory {
    /// Reads a copy.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn of(instance: &Instance) -> Result<Self, MasterError> {
        let logins = instance.master().logins()?;
        let numbered = logins
            .iter()
            .map(|login| (i32::try_from(login.id).unwrap_or(i32::MAX), login.name.clone()));
        Ok(Self {
            databases: instance.master().databases()?,
            options: instance.master().database_options()?,
            logins: numbered.collect(),
            records: logins,
            security: instance.master().server_security()?,
        })
    }

    /// The options of a database.
    #[must_use]
    pub fn options(&self, database_id: i32) -> DatabaseOptions {
        self.options.get(&database_id).cloned().unwrap_or_default()
    }

    /// Whether the login of a security id is an administrator.
    #[must_use]
    pub fn is_administrator(&self, sid: &[u8]) -> bool {
        self.records
            .iter()
            .any(|login| login.sid == sid && login.is_administrator)
    }

    /// Whether the login of a security id has CONTROL SERVER.
    #[must_use]
    pub fn has_control(&self, sid: &[u8]) -> bool {
        self.security.of(sid).may(ServerPermission::ControlServer)
    }

    /// Whether a login is an administrator, or may execute as one.
    #[must_use]
    pub fn may_become_administrator(&self, sid: &[u8]) -> bool {
        self.security
            .may_become_administrator(sid, |sid| self.is_administrator(sid))
    }
}
