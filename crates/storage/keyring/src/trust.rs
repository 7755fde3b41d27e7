//! The databases that are accepted as the caller's own.
//!
//! - *fail closed*: a first use that cannot be recorded in the keyring file is refused.
//! - *no link*: a first use is accepted only for a path without symbolic links. Otherwise anyone
//!   who can replace a database could replace it by a link to a forged one, whose path is not in
//!   the keyring file.
//! - *last*: a database is pinned on first use only after all other checks of its superblock.

use std::path::{Path, PathBuf};

use crate::{Config, KeyError, Keyring, Origin, OriginPolicy, Pin, Unlocked};

/// The requirements of [`crate::unlock`] for a database that an identity opens. The default is an
/// empty keyring, and databases of own origin.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// The keyring file.
    pub keyring: Keyring,
    /// The accepted origins.
    pub policy: OriginPolicy,
    /// The commitment that the caller expects: a database with this master key is accepted regardless of its origin.
    pub commitment: Option<[u8; 32]>,
    pub(crate) first_use: Option<FirstUse>,
}

/// The path of a database, and the keyring file that records its first use.
#[derive(Clone, Debug)]
pub(crate) struct FirstUse {
    keyring: PathBuf,
    database: PathBuf,
    is_linked: bool,
}

impl From<Keyring> for Trust {
    /// Databases of own origin, and those that this keyring lists.
    fn from(keyring: Keyring) -> Self {
        Self {
            keyring,
            ..Self::default()
        }
    }
}

impl Trust {
    /// The trust of a configuration, for the database at `path`; `policy` overrides the configuration's.
    ///
    /// # Errors
    /// Those of [`Config::load_keyring`].
    pub fn load(config: &Config, policy: Option<OriginPolicy>, path: Option<&Path>) -> Result<Self, KeyError> {
        let keyring_path = config.keyring_path();
        let first_use = path.zip(keyring_path).map(|(database, keyring)| FirstUse {
            keyring: keyring.to_owned(),
            database: absolute(database),
            is_linked: passes_link(database),
        });
        Ok(Self {
            keyring: config.load_keyring()?,
            policy: policy.unwrap_or(config.origin()),
            commitment: None,
            first_use,
        })
    }

    /// Records that the path was reached through a symbolic link, for a caller that has only the resolved path.
    pub fn set_linked(&mut self) {
        if let Some(first_use) = &mut self.first_use {
            first_use.is_linked = true;
        }
    }

    /// Accepts all databases that an identity opens, without a keyring file.
    #[must_use]
    pub fn any() -> Self {
        Self {
            policy: OriginPolicy::Any,
            ..Self::default()
        }
    }

    /// The same trust without the entries of the keyring file.
    #[must_use]
    pub fn unpinned(&self) -> Self {
        Self {
            keyring: Keyring::default(),
            ..self.clone()
        }
    }

    /// Whether a database would be accepted under the policy `own`, without pinning on first use.
    #[must_use]
    pub fn proves(&self, unlocked: &Unlocked) -> bool {
        let own = Self {
            policy: OriginPolicy::Own,
            first_use: None,
            ..self.clone()
        };
        own.admit(unlocked).is_ok()
    }

    /// Whether the keyring file pins a database, by its id or at its path.
    #[must_use]
    pub fn pins(&self, unlocked: &Unlocked) -> bool {
        unlocked.pin == Pin::Pinned || self.is_pinned_by_path(unlocked)
    }

    /// Records a new database at a path that was pinned on first use.
    ///
    /// # Errors
    /// `NotPinned` if the keyring file cannot be read or written.
    pub fn note_created(&self, unlocked: &Unlocked) -> Result<(), KeyError> {
        match &self.first_use {
            Some(first_use) => replace_path_pin(&first_use.keyring, &first_use.database, unlocked),
            None => Ok(()),
        }
    }

    /// Refuses a database whose origin is not accepted; pins on first use one whose origin is unknown.
    ///
    /// # Errors
    /// `ForeignOrigin`, `OriginUnknown`, `PathReplaced` or `NotPinned`.
    pub fn admit(&self, unlocked: &Unlocked) -> Result<(), KeyError> {
        let database_id = unlocked.superblock.database_id;
        let commitment = unlocked.master.commitment();
        let is_known = unlocked.pin == Pin::Pinned || self.commitment == Some(commitment);
        match (self.policy, unlocked.origin) {
            (OriginPolicy::Any, _) | (OriginPolicy::Own, Origin::Own) => Ok(()),
            (OriginPolicy::Own, Origin::Foreign | Origin::Unknown) if is_known => Ok(()),
            // Accepted by its path, since it is opened by no identity that makes marks.
            (OriginPolicy::Own, Origin::Foreign) if self.is_pinned_by_path(unlocked) => Ok(()),
            (OriginPolicy::Own, Origin::Foreign) => Err(KeyError::ForeignOrigin { database_id }),
            (OriginPolicy::Own, Origin::Unknown) => match &self.first_use {
                // If the caller expects a commitment, another master key is not a first use.
                Some(first_use) => first_use.check(unlocked, self.commitment.is_none()),
                // A backup has no path; but its database may have one.
                None if self.keyring.knows(database_id, commitment) => Ok(()),
                None => Err(KeyError::OriginUnknown { database_id }),
            },
        }
    }
}

impl Trust {
    fn is_pinned_by_path(&self, unlocked: &Unlocked) -> bool {
        let (id, commitment) = (unlocked.superblock.database_id, unlocked.master.commitment());
        self.first_use
            .as_ref()
            .is_some_and(|FirstUse { keyring, database, .. }| {
                Keyring::load_if_there(keyring)
                    .is_ok_and(|pins| pins.check_path(database, id, commitment) == Pin::Pinned)
            })
    }
}

impl FirstUse {
    fn check(&self, unlocked: &Unlocked, may_pin: bool) -> Result<(), KeyError> {
        let Self { keyring, database, .. } = self;
        let (id, commitment) = (unlocked.superblock.database_id, unlocked.master.commitment());
        let replaced = || KeyError::PathReplaced {
            path: database.clone(),
            database_id: id,
        };
        match Keyring::load_if_there(keyring)
            .map_err(not_pinned)?
            .check_path(database, id, commitment)
        {
            Pin::Pinned => return Ok(()),
            Pin::Mismatch => return Err(replaced()),
            Pin::Unknown if !may_pin || self.is_linked => return Err(KeyError::OriginUnknown { database_id: id }),
            Pin::Unknown => {}
        }
        // Another process may have pinned it since.
        let pinned = Keyring::update(keyring, |pins| match pins.check_path(database, id, commitment) {
            Pin::Pinned => Ok(true),
            Pin::Mismatch => Ok(false),
            Pin::Unknown => pins.pin_path(database, id, commitment).map(|()| true),
        });
        if pinned.map_err(not_pinned)? {
            Ok(())
        } else {
            Err(replaced())
        }
    }
}

/// Pins a database by its path, replacing any entry of the path in the keyring file.
///
/// # Errors
/// `NotPinned` if the keyring file cannot be read or written.
pub fn pin_path(keyring: &Path, database: &Path, unlocked: &Unlocked) -> Result<(), KeyError> {
    let (id, commitment) = (unlocked.superblock.database_id, unlocked.master.commitment());
    let pinned = Keyring::update(keyring, |pins| pins.pin_path(&absolute(database), id, commitment));
    pinned.map_err(not_pinned)
}

/// Pins a database by its path if the keyring file lists that path; otherwise does nothing.
///
/// # Errors
/// Those of [`pin_path`].
pub fn replace_path_pin(keyring: &Path, database: &Path, unlocked: &Unlocked) -> Result<(), KeyError> {
    let listed = Keyring::load_if_there(keyring).map_err(not_pinned)?;
    if listed.lists_path(&absolute(database)) {
        return pin_path(keyring, database, unlocked);
    }
    Ok(())
}

/// The path by which a database is pinned: absolute and without links, if the file exists.
#[must_use]
pub fn absolute(path: &Path) -> PathBuf {
    let without_links = path.canonicalize();
    without_links
        .or_else(|_| {
            let name = path.file_name().ok_or(std::io::ErrorKind::InvalidInput)?;
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            Ok::<_, std::io::Error>(folder.unwrap_or(Path::new(".")).canonicalize()?.join(name))
        })
        .unwrap_or_else(|_| path.to_owned())
}

/// Whether any component of a path is a symbolic link.
#[must_use]
pub fn passes_link(path: &Path) -> bool {
    let is_link = |part: &Path| part.symlink_metadata().is_ok_and(|there| there.is_symlink());
    std::path::absolute(path).is_ok_and(|path| path.ancestors().any(is_link))
}

fn not_pinned(source: KeyError) -> KeyError {
    KeyError::NotPinned {
        source: Box::new(source),
    }
}

#[cfg(test)]
mod tests;
