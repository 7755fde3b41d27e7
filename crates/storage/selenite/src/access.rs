//! How a database is opened: by which identity, and with which restrictions.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selenite_cipher::DatabaseId;
use selenite_keyring::{Config, Identity, KeyError, OriginPolicy, Recipient, Spec, Trust, parse_recipient_of};

use crate::file_uri::FileUri;
use crate::layout::{Layout, auto_vacuum_word};
use crate::{EngineError, Watch};

/// The identity to use, and the restrictions on what is opened. None of it is secret.
///
/// The default takes the identity from the environment (`SELENITE_IDENTITY`) or the configuration file.
#[derive(Clone, Debug)]
pub struct Access {
    /// The identity; `None` takes it from the environment or the configuration file.
    pub identity: Option<Spec>,
    /// Identities that open backups in addition to the one in force, and whose slots get origin
    /// marks. They open no database.
    pub more: Vec<Spec>,
    /// Properties that the file must have, if the caller knows them.
    pub expected: Expected,
    /// Which origins are admitted (FORMAT 4.7); `None` takes it from the environment or the
    /// configuration file.
    pub origin: Option<OriginPolicy>,
    /// Whether an unencrypted database is admitted.
    pub allow_plain: bool,
    /// Whether TRIPLE_DES_3KEY is admitted.
    pub allow_deprecated: bool,
    /// How long to wait for locks of other connections.
    pub busy_wait: Duration,
    /// Receives the progress of operations, and can stop them. A change of keys can be stopped only
    /// before it is made.
    pub watch: Watch,
    /// SQLite's VFS for encrypted databases: `selenite`, or that of a test.
    #[doc(hidden)]
    pub sealed_vfs: &'static str,
    /// SQLite's VFS for unencrypted databases: `unix`, or that of a test.
    #[doc(hidden)]
    pub plain_vfs: &'static str,
}

/// Properties that a file must have to be accepted as the intended database.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Expected {
    /// The database's id. An unencrypted file without an id is admitted according to
    /// [`Access::allow_plain`].
    pub database_id: Option<DatabaseId>,
    /// The commitment of the database's master key (FORMAT 4.2), which cannot be chosen without
    /// that key: a database that has it is admitted whatever its origin.
    pub commitment: Option<[u8; 32]>,
    /// Whether all pages must be encrypted, whatever [`Access::allow_plain`] says.
    pub is_encrypted: bool,
}

impl Default for Access {
    fn default() -> Self {
        Self {
            identity: None,
            more: Vec::new(),
            expected: Expected::default(),
            origin: None,
            allow_plain: false,
            allow_deprecated: false,
            busy_wait: Duration::from_secs(2),
            watch: Watch::none(),
            sealed_vfs: "selenite",
            plain_vfs: "unix",
        }
    }
}

impl Access {
    /// Uses the identity in the file at `path`, whose content determines its kind: an age identity,
    /// a raw key of 32 bytes, or a passphrase. [`Spec`] names others.
    #[must_use]
    pub fn with_identity(path: impl Into<PathBuf>) -> Self {
        Self {
            identity: Some(Spec::Detected(path.into())),
            ..Self::default()
        }
    }

    /// The configuration, as the VFS will also load it.
    pub(crate) fn config() -> Result<Config, EngineError> {
        Ok(Config::load(&|variable| std::env::var_os(variable))?)
    }

    /// The spec of the identity in force.
    pub(crate) fn spec(&self, config: &Config) -> Option<Spec> {
        self.identity.clone().or_else(|| config.identity().cloned())
    }

    /// The file of the identity in force, if it is in one: no output may replace it.
    ///
    /// # Errors
    /// A configuration that can't be read.
    pub fn key_file(&self) -> Result<Option<PathBuf>, EngineError> {
        Ok(match self.spec(&Self::config()?) {
            Some(Spec::Detected(path) | Spec::Age(path) | Spec::Raw(path) | Spec::Passphrase(path)) => Some(path),
            Some(Spec::Command(_) | Spec::Held(_)) | None => None,
        })
    }

    /// The identities in force; empty without a spec.
    pub(crate) fn identities(&self, config: &Config) -> Result<Vec<Box<dyn Identity>>, EngineError> {
        match self.spec(config) {
            Some(spec) => Ok(selenite_keyring::load(&spec, config)?),
            None => Ok(Vec::new()),
        }
    }

    /// The identities that open backups: those in force, and [`Access::more`].
    pub(crate) fn backup_identities(&self, config: &Config) -> Result<Vec<Box<dyn Identity>>, EngineError> {
        let mut identities = self.identities(config)?;
        for spec in &self.more {
            identities.extend(selenite_keyring::load(spec, config)?);
        }
        Ok(identities)
    }

    /// Returns the errors of opening that do not depend on the file: SQLite reports only a number
    /// for them.
    pub(crate) fn check(&self) -> Result<Trust, EngineError> {
        let config = Self::config()?;
        self.identities(&config)?;
        Ok(Trust::load(&config, self.origin, None)?)
    }

    /// The requirements on the database at `path`, as the VFS applies them.
    pub(crate) fn trust(&self, config: &Config, path: &Path) -> Result<Trust, EngineError> {
        let mut trust = Trust::load(config, self.origin, Some(path))?;
        trust.commitment = self.expected.commitment;
        Ok(trust)
    }

    /// Parses a recipient. If its secret is available, because it is an identity in force or one of
    /// [`Access::more`], that identity is returned: its slot gets an origin mark.
    pub(crate) fn recipient(&self, text: &str, config: &Config) -> Result<Box<dyn Recipient>, EngineError> {
        Ok(parse_recipient_of(text, config, self.backup_identities(config)?)?)
    }

    /// Parses several recipients.
    pub(crate) fn recipients(&self, texts: &[String], config: &Config) -> Result<Vec<Box<dyn Recipient>>, EngineError> {
        texts.iter().map(|text| self.recipient(text, config)).collect()
    }

    /// Access to a database that this process is creating, under a temporary name: its origin needs
    /// no proof.
    pub(crate) fn of_draft(&self) -> Self {
        Self {
            origin: Some(OriginPolicy::Any),
            expected: Expected::default(),
            ..self.clone()
        }
    }

    /// Fails with `NoKeyToMake` if no identity is in force.
    pub(crate) fn require_identity_to_create(&self) -> Result<(), EngineError> {
        match self.spec(&Self::config()?) {
            Some(_) => Ok(()),
            None => Err(KeyError::NoKeyToMake.into()),
        }
    }

    /// Fails with `NoKey` if no identity is in force.
    pub(crate) fn require(&self) -> Result<(), EngineError> {
        match self.spec(&Self::config()?) {
            Some(_) => Ok(()),
            None => Err(KeyError::NoKey.into()),
        }
    }

    /// The URI of an existing database, for an application's own connection after
    /// [`crate::install`] was called.
    #[must_use]
    pub fn uri(&self, path: &Path) -> FileUri {
        let mut uri = FileUri::new(path, self.sealed_vfs);
        if let Some(spec) = &self.identity {
            uri = uri.with_bytes("selenite_identity", &spec.encoded());
        }
        if self.allow_plain {
            uri = uri.with("plain", "allow");
        }
        if let Some(id) = self.expected.database_id {
            uri = uri.with("database_id", &id.to_string());
        }
        if let Some(commitment) = self.expected.commitment {
            uri = uri.with("commitment", &digits(&commitment));
        }
        if let Some(origin) = self.origin {
            uri = uri.with("origin", origin.word());
        }
        if self.expected.is_encrypted {
            uri = uri.with("encrypted", "required");
        }
        if self.allow_deprecated {
            uri = uri.with("deprecated", "allow");
        }
        uri
    }

    /// The URI of an unencrypted database; a new one has no reserved bytes in its pages.
    pub(crate) fn plain_uri(&self, path: &Path) -> FileUri {
        FileUri::new(path, self.plain_vfs).with("reserve", "0")
    }

    /// Access to an unencrypted database through our VFS, which passes it through. Its temporary
    /// files are encrypted then.
    pub(crate) fn allowing_plain(&self) -> Self {
        Self {
            allow_plain: true,
            ..self.clone()
        }
    }

    /// The URI of a new database.
    pub(crate) fn new_uri(&self, path: &Path, layout: &Layout) -> FileUri {
        self.uri(path)
            .with("page_size", &layout.page_size.to_string())
            .with("cipher", layout.suite.name())
            .with("auto_vacuum", auto_vacuum_word(layout.auto_vacuum))
    }
}

/// Two hexadecimal digits for each byte.
fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
