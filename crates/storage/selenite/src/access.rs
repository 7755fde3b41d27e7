//! How a database is opened: with whose identity, and what is admitted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selenite_cipher::DatabaseId;
use selenite_keyring::{Config, Identity, KeyError, OriginPolicy, Recipient, Spec, Trust, parse_recipient_of};

use crate::file_uri::FileUri;
use crate::layout::{Layout, auto_vacuum_word};
use crate::{EngineError, Watch};

/// Whose identity is in force, and what is admitted. None of it is a secret.
///
/// The default takes the identity from the environment (`SELENITE_IDENTITY`) or the configuration file.
#[derive(Clone, Debug)]
pub struct Access {
    /// Where the identity is; if none is named here, the environment and the configuration say it.
    pub identity: Option<Spec>,
    /// Identities that backups are opened by besides the one in force, and whose slots get origin
    /// marks. No database is opened by them.
    pub more: Vec<Spec>,
    /// What the file has to be, where the caller knows it.
    pub expected: Expected,
    /// Which origins are admitted (FORMAT 4.7); if it is not said here, the environment and the configuration say it.
    pub origin: Option<OriginPolicy>,
    /// Whether an unencrypted database is admitted.
    pub allow_plain: bool,
    /// Whether TRIPLE_DES_3KEY is admitted.
    pub allow_deprecated: bool,
    /// How long to wait for others that have the database locked.
    pub busy_wait: Duration,
    /// Receives the progress of operations, and may stop them; of a change of keys, before it is made.
    pub watch: Watch,
    /// SQLite's VFS for encrypted databases: `selenite`, or a test's own.
    #[doc(hidden)]
    pub sealed_vfs: &'static str,
    /// SQLite's VFS for unencrypted databases: `unix`, or a test's own.
    #[doc(hidden)]
    pub plain_vfs: &'static str,
}

/// What a file has to be when it is opened, to be taken for the database that is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Expected {
    /// The database's id. An unencrypted file that has none is admitted as [`Access::allow_plain`] says.
    pub database_id: Option<DatabaseId>,
    /// The commitment of the database's master key (FORMAT 4.2), which no one without that key can
    /// choose: a database that has it is admitted whatever its origin.
    pub commitment: Option<[u8; 32]>,
    /// Whether all of its pages have to be encrypted, whatever [`Access::allow_plain`] says.
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
    /// With the identity in that file, which says itself what it is: an age identity, a raw key of 32 bytes, or a
    /// passphrase. [`Spec`] names others.
    #[must_use]
    pub fn with_identity(path: impl Into<PathBuf>) -> Self {
        Self {
            identity: Some(Spec::Sniffed(path.into())),
            ..Self::default()
        }
    }

    /// The configuration that the VFS will find, too.
    pub(crate) fn config() -> Result<Config, EngineError> {
        Ok(Config::load(&|variable| std::env::var_os(variable))?)
    }

    /// The spec in force.
    pub(crate) fn spec(&self, config: &Config) -> Option<Spec> {
        self.identity.clone().or_else(|| config.identity().cloned())
    }

    /// The identities in force; none if no spec is.
    pub(crate) fn identities(&self, config: &Config) -> Result<Vec<Box<dyn Identity>>, EngineError> {
        match self.spec(config) {
            Some(spec) => Ok(selenite_keyring::load(&spec, config)?),
            None => Ok(Vec::new()),
        }
    }

    /// Those that backups are opened by: the identities in force, and [`Access::more`].
    pub(crate) fn backup_identities(&self, config: &Config) -> Result<Vec<Box<dyn Identity>>, EngineError> {
        let mut identities = self.identities(config)?;
        for spec in &self.more {
            identities.extend(selenite_keyring::load(spec, config)?);
        }
        Ok(identities)
    }

    /// Fails as opening would, where that can be said without the file: SQLite has only a number for it.
    pub(crate) fn check(&self) -> Result<Trust, EngineError> {
        let config = Self::config()?;
        self.identities(&config)?;
        Ok(Trust::load(&config, self.origin, None)?)
    }

    /// What is demanded of the database at `path`, as the VFS demands it.
    pub(crate) fn trust(&self, config: &Config, path: &Path) -> Result<Trust, EngineError> {
        let mut trust = Trust::load(config, self.origin, Some(path))?;
        trust.commitment = self.expected.commitment;
        Ok(trust)
    }

    /// The recipient that a text names. One whose secret is available, since it is an identity in force or one of
    /// [`Access::more`], is that identity: its slot gets an origin mark.
    pub(crate) fn recipient(&self, text: &str, config: &Config) -> Result<Box<dyn Recipient>, EngineError> {
        Ok(parse_recipient_of(text, config, self.backup_identities(config)?)?)
    }

    /// The same for several.
    pub(crate) fn recipients(&self, texts: &[String], config: &Config) -> Result<Vec<Box<dyn Recipient>>, EngineError> {
        texts.iter().map(|text| self.recipient(text, config)).collect()
    }

    /// How a database is opened that this process is making, and that has no name yet: its origin needs no proof.
    pub(crate) fn of_draft(&self) -> Self {
        Self {
            origin: Some(OriginPolicy::Any),
            expected: Expected::default(),
            ..self.clone()
        }
    }

    /// Refuses with `NoKeyToMake` where no identity is in force.
    pub(crate) fn require_to_make(&self) -> Result<(), EngineError> {
        match self.spec(&Self::config()?) {
            Some(_) => Ok(()),
            None => Err(KeyError::NoKeyToMake.into()),
        }
    }

    /// Refuses with `NoKey` where no identity is in force.
    pub(crate) fn require(&self) -> Result<(), EngineError> {
        match self.spec(&Self::config()?) {
            Some(_) => Ok(()),
            None => Err(KeyError::NoKey.into()),
        }
    }

    /// The URI of a database that exists: for a connection of one's own, once [`crate::install`] was called.
    #[must_use]
    pub fn uri(&self, path: &Path) -> FileUri {
        let mut uri = FileUri::new(path, self.sealed_vfs);
        if let Some(spec) = &self.identity {
            uri = uri.with("selenite_identity", &spec.to_string());
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

    /// The URI of an unencrypted database, with nothing reserved in its pages if it is made.
    pub(crate) fn plain_uri(&self, path: &Path) -> FileUri {
        FileUri::new(path, self.plain_vfs).with("reserve", "0")
    }

    /// How an unencrypted database is opened through our VFS, which lets it pass: its temporary
    /// files are encrypted then.
    pub(crate) fn passing(&self) -> Self {
        Self {
            allow_plain: true,
            ..self.clone()
        }
    }

    /// The URI of a database that is made.
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
