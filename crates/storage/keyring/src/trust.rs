//! Which databases are taken for the caller's own.
//!
//! - *fail closed*: a first use that can't be noted in the keyring file is refused.
//! - *no link*: a first use is believed of a path without symbolic links only. Anyone who can
//!   replace a database could else
//!   replace it by a link to one of their own, whose path the keyring file does not list.
//! - *last*: a database is pinned on first use only after everything else about its superblock was checked.

use std::path::{Path, PathBuf};

use crate::{Config, KeyError, Keyring, Origin, OriginPolicy, Pin, Unlocked};

/// What [`crate::unlock`] demands of a database that an identity opens. The default is an empty keyring, and databases
/// of the holder's own.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// The keyring file.
    pub keyring: Keyring,
    /// Which origins are admitted.
    pub policy: OriginPolicy,
    /// The commitment that the caller expects: a database with this master key is admitted, no matter who made it.
    pub commitment: Option<[u8; 32]>,
    pub(crate) first_use: Option<FirstUse>,
}

/// Where a database is, and the keyring file that notes its first use.
#[derive(Clone, Debug)]
pub(crate) struct FirstUse {
    keyring: PathBuf,
    database: PathBuf,
    is_linked: bool,
}

impl From<Keyring> for Trust {
    /// Databases of the holder's own, and those that this keyring lists.
    fn from(keyring: Keyring) -> Self {
        Self {
            keyring,
            ..Self::default()
        }
    }
}

impl Trust {
    /// That of a configuration, for the database at `path`; `policy` overrides the configuration's.
    ///
    /// # Errors
    /// As [`Config::load_keyring`].
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

    /// Says that the path was reached through a symbolic link, for a caller that has only the path behind it.
    pub fn set_linked(&mut self) {
        if let Some(first_use) = &mut self.first_use {
            first_use.is_linked = true;
        }
    }

    /// Whatever an identity opens, and no keyring file.
    #[must_use]
    pub fn any() -> Self {
        Self {
            policy: OriginPolicy::Any,
            ..Self::default()
        }
    }

    /// The same, without what the keyring file lists.
    #[must_use]
    pub fn unpinned(&self) -> Self {
        Self {
            keyring: Keyring::default(),
            ..self.clone()
        }
    }

    /// Whether a database would be admitted where only the holder's own and those that the keyring file lists are.
    #[must_use]
    pub fn proves(&self, unlocked: &Unlocked) -> bool {
        let own = Self {
            policy: OriginPolicy::Own,
            first_use: None,
            ..self.clone()
        };
        own.admit(unlocked).is_ok()
    }

    /// Notes a new database at the path of one that was pinned on first use.
    ///
    /// # Errors
    /// `NotPinned` if the keyring file can't be read or written.
    pub fn note_created(&self, unlocked: &Unlocked) -> Result<(), KeyError> {
        match &self.first_use {
            Some(first_use) => replace_path_pin(&first_use.keyring, &first_use.database, unlocked),
            None => Ok(()),
        }
    }

    /// Refuses a database whose origin is not admitted; pins one whose origin the identity can't tell, on first use.
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
            // Accepted by its path, since no identity that makes marks opens it.
            (OriginPolicy::Own, Origin::Foreign) if self.is_pinned_by_path(unlocked) => Ok(()),
            (OriginPolicy::Own, Origin::Foreign) => Err(KeyError::ForeignOrigin { database_id }),
            (OriginPolicy::Own, Origin::Unknown) => match &self.first_use {
                // A caller that expects a commitment has not forgotten it: another master key is no first use.
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

/// Pins a database by its path, whatever the keyring file listed there before.
///
/// # Errors
/// `NotPinned` if the keyring file can't be read or written.
pub fn pin_path(keyring: &Path, database: &Path, unlocked: &Unlocked) -> Result<(), KeyError> {
    let (id, commitment) = (unlocked.superblock.database_id, unlocked.master.commitment());
    let pinned = Keyring::update(keyring, |pins| pins.pin_path(&absolute(database), id, commitment));
    pinned.map_err(not_pinned)
}

/// The same where the keyring file lists that path; elsewhere nothing is done.
///
/// # Errors
/// As [`pin_path`].
pub fn replace_path_pin(keyring: &Path, database: &Path, unlocked: &Unlocked) -> Result<(), KeyError> {
    let listed = Keyring::load_if_there(keyring).map_err(not_pinned)?;
    if listed.lists_path(&absolute(database)) {
        return pin_path(keyring, database, unlocked);
    }
    Ok(())
}

/// By which a database is pinned: its path without links, if the file is there.
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

/// Whether a path leads through a symbolic link, in its last part or before.
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
