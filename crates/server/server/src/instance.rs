//! What all sessions share.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use selenite::{Access, EngineError};
use selenite_tds::ProductVersion;

use crate::audit::AuditLog;
use crate::descriptors::Descriptors;
use crate::lockout::Lockout;
use crate::log::Log;
use crate::master::{LoginRecord, Master, MasterError};
use crate::password::{PasswordCost, PasswordFault, PasswordGate, PasswordHash, random_password};
use crate::pending_logins::PendingLogins;
use crate::temporary_database::TemporaryDatabase;
use crate::transport::TlsSetup;
use crate::{Config, DataFolder, Registry};

/// A running server.
pub struct Instance {
    config: Config,
    name: String,
    started: SystemTime,
    data_folder: DataFolder,
    master: Master,
    registry: Registry,
    lockout: Lockout,
    password_gate: PasswordGate,
    statement_gate: PasswordGate,
    nobodys_password: PasswordHash,
    tls: TlsSetup,
    pending_logins: Arc<PendingLogins>,
    descriptors: Descriptors,
    audit: AuditLog,
    /// The file of tempdb, once a session has needed it.
    temporary: Mutex<Option<Arc<TemporaryDatabase>>>,
}

impl Instance {
    pub(crate) fn new(
        config: Config,
        data_folder: DataFolder,
        master: Master,
        tls: TlsSetup,
        (descriptors, audit): (Descriptors, AuditLog),
    ) -> Result<Self, PasswordFault> {
        let limits = config.limits;
        Ok(Self {
            name: host_name(),
            started: SystemTime::now(),
            data_folder,
            master,
            registry: Registry::new(limits.sessions),
            lockout: Lockout::new(limits.attempts),
            password_gate: PasswordGate::new(limits.password_check_max),
            statement_gate: PasswordGate::new(1),
            nobodys_password: PasswordHash::new(&random_password(), config.password_cost)?,
            tls,
            pending_logins: Arc::new(PendingLogins::new(limits.lobby_max)),
            descriptors,
            audit,
            temporary: Mutex::default(),
            config,
        })
    }

    /// Its configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// @@SERVERNAME: the machine's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// When it was started.
    #[must_use]
    pub fn started(&self) -> SystemTime {
        self.started
    }

    /// The folder of the databases.
    #[must_use]
    pub fn data_folder(&self) -> &Path {
        self.data_folder.path()
    }

    /// The file of tempdb, which is made if there is none.
    ///
    /// # Errors
    /// Those of the file and of the VFS.
    pub(crate) fn temporary_database(&self) -> Result<Arc<TemporaryDatabase>, EngineError> {
        let mut made = self.temporary.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*made {
            return Ok(known.clone());
        }
        let new = Arc::new(TemporaryDatabase::create(self.data_folder(), self.access())?);
        *made = Some(new.clone());
        Ok(new)
    }

    /// Whether the file of tempdb was made.
    pub(crate) fn has_temporary_database(&self) -> bool {
        let made = self.temporary.lock().unwrap_or_else(PoisonError::into_inner);
        made.is_some()
    }

    /// The identity that opens the databases.
    #[must_use]
    pub fn access(&self) -> &Access {
        &self.config.access
    }

    /// Logins and the ids of databases.
    #[must_use]
    pub fn master(&self) -> &Master {
        &self.master
    }

    /// The registry of sessions.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The server's log.
    #[must_use]
    pub fn log(&self) -> &Log {
        &self.config.log
    }

    /// The cost of a new password's hash: for [`PasswordHash::new`].
    #[must_use]
    pub fn password_cost(&self) -> PasswordCost {
        self.config.password_cost
    }

    /// How many passwords may be hashed at a time for logins: each hash enters here first.
    #[must_use]
    pub fn password_gate(&self) -> &PasswordGate {
        &self.password_gate
    }

    /// The same for statements, such as ALTER LOGIN. Another gate, so that no session keeps logins waiting.
    #[must_use]
    pub fn statement_gate(&self) -> &PasswordGate {
        &self.statement_gate
    }

    /// Unlocks a login: ALTER LOGIN .. UNLOCK, or a new password.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn unlock(&self, login: &LoginRecord) -> Result<(), MasterError> {
        self.lockout.forgive(login.id);
        self.master.store_attempts(login.id, Default::default())
    }

    /// A login was dropped: nothing is remembered of its id.
    pub(crate) fn forget_login(&self, login: i64) {
        self.lockout.forget(login);
    }

    /// The audit log.
    pub(crate) fn audit(&self) -> &AuditLog {
        &self.audit
    }

    /// The file descriptors of the process.
    pub(crate) fn descriptors(&self) -> &Descriptors {
        &self.descriptors
    }

    /// Releases the data folder for another server.
    pub(crate) fn release_data_folder(&self) {
        *self.temporary.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.data_folder.release();
    }

    pub(crate) fn lockout(&self) -> &Lockout {
        &self.lockout
    }

    /// The hash of a password that no login has: it is checked where there is no other to check.
    pub(crate) fn nobodys_password(&self) -> &PasswordHash {
        &self.nobodys_password
    }

    pub(crate) fn tls(&self) -> &TlsSetup {
        &self.tls
    }

    pub(crate) fn pending_logins(&self) -> &Arc<PendingLogins> {
        &self.pending_logins
    }
}

/// The machine's name, without its domain.
pub(crate) fn host_name() -> String {
    let uname = rustix::system::uname();
    let name = uname.nodename().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    if name.is_empty() { "localhost" } else { name }.to_owned()
}

/// The version that clients expect of a server that speaks TDS.
pub(crate) const PROGRAM: &str = "Microsoft SQL Server";
/// SQL Server 2022: the first that speaks TDS 8.
pub(crate) const VERSION: ProductVersion = ProductVersion {
    major: 16,
    minor: 0,
    build: 1000,
    sub_build: 6,
};
/// The one language.
pub(crate) const LANGUAGE: &str = "us_english";
