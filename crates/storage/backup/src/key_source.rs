//! Keys of archives.
//!
//! - pin-for-requested: a pin in the keyring file applies to the requested archive: if the database
//!   is listed, a master key with a commitment other than the pinned one, and an archive opened
//!   without any master key, are refused. The bases of an archive are identified by hash, and may
//!   have an older master key.
//! - origin-of-requested: the requested archive has the origin of the database whose superblock it
//!   contains (FORMAT 4.7). The origin of an archive that only a recipient's file opens cannot be
//!   proved: anyone who knows the recipient can make it.
//! - unproved-is-refused: the same holds for an archive whose manifest has no origin MAC (FORMAT
//!   12.4): a recipient may know its key. Both are refused unless any origin is accepted, as are
//!   the bases of an accepted archive.

use selenite_cipher::{ArchiveKey, DatabaseId, MasterKey, Secret};
use selenite_format::archive::ArchiveHeader;
use selenite_keyring::{Cache, Identity, KeyError, OriginPolicy, Pin, Trust, Unlocked, archive_recipient, unlock};

/// The source of the keys of archives.
#[derive(Clone, Copy)]
pub enum KeySource<'a> {
    /// The master key of the database, which is available.
    Master(&'a MasterKey),
    /// Identities that open slots or recipients' files.
    Identities {
        /// The identities for a slot of the archive's superblock, or for a recipient's file.
        identities: &'a [Box<dyn Identity>],
        /// The pinned master keys (pin-for-requested) and the accepted origins (origin-of-requested).
        trust: &'a Trust,
        /// The cache of master keys.
        cache: &'a Cache,
    },
}

/// How an archive was opened.
pub enum OpenedBy {
    /// By the available master key.
    Master,
    /// By a slot of the superblock in the archive.
    Slot(Box<Unlocked>),
    /// By a recipient's file: the master key is unknown.
    Recipient,
}

impl KeySource<'_> {
    /// Whether archives without a proof by the master key are accepted (unproved-is-refused).
    pub(crate) fn admits_any(&self) -> bool {
        match self {
            Self::Master(_) => false,
            Self::Identities { trust, .. } => trust.policy == OriginPolicy::Any,
        }
    }

    /// Whether the master key by which an archive was opened is known to be the database's,
    /// whichever origins are accepted (origin-of-requested). For a base this follows from the
    /// archive that is based on it.
    pub(crate) fn proves(&self, by: &OpenedBy, is_link: bool) -> bool {
        match (self, by) {
            (Self::Identities { trust, .. }, OpenedBy::Slot(unlocked)) => is_link || trust.proves(unlocked),
            (Self::Master(_) | Self::Identities { .. }, OpenedBy::Master) | (Self::Master(_), OpenedBy::Slot(_)) => {
                true
            }
            (Self::Master(_) | Self::Identities { .. }, OpenedBy::Recipient) => false,
        }
    }

    /// The archive's key. It must still be checked under the archive's MAC, which `is_right` does
    /// for a candidate.
    ///
    /// `masters` are tried first; a master key that is found is added to them.
    pub(crate) fn open(
        &self,
        begun: &ArchiveHeader,
        masters: &mut Vec<MasterKey>,
        is_link: bool,
        is_right: &dyn Fn(&Secret<32>) -> bool,
    ) -> Result<(ArchiveKey, OpenedBy), KeyError> {
        let unwrapped = |master: &MasterKey| master.unwrap_archive_key(begun.archive_id, &begun.wrapped_key);
        match *self {
            Self::Master(master) => match unwrapped(master) {
                Ok(key) => Ok((key, OpenedBy::Master)),
                Err(_) => Err(KeyError::WrongKey),
            },
            Self::Identities {
                identities,
                trust,
                cache,
            } => {
                if is_link && let Some(key) = masters.iter().find_map(|master| unwrapped(master).ok()) {
                    return Ok((key, OpenedBy::Master));
                }
                let any = Trust::any();
                let trust = if is_link { &any } else { trust };
                let refused = match unlock(&begun.superblock, identities, trust, cache) {
                    Ok(unlocked) => {
                        let Ok(key) = unwrapped(&unlocked.master) else {
                            return Err(foreign("the key of a backup that its master key does not open"));
                        };
                        masters.push(MasterKey::new(unlocked.master.secret().duplicate(), begun.database_id));
                        return Ok((key, OpenedBy::Slot(Box::new(unlocked))));
                    }
                    Err(
                        error @ (KeyError::WrongKey
                        | KeyError::KeyServiceUnavailable { .. }
                        | KeyError::KeyRefused { .. }),
                    ) => error,
                    Err(error) => return Err(error),
                };
                let Ok(secret) = archive_recipient::unwrap(identities, &begun.recipients, is_right) else {
                    return Err(refused);
                };
                check_without_master(trust, begun.database_id)?;
                Ok((ArchiveKey::new(secret, begun.archive_id), OpenedBy::Recipient))
            }
        }
    }
}

/// Checks pin-for-requested and origin-of-requested without a master key.
fn check_without_master(trust: &Trust, database_id: DatabaseId) -> Result<(), KeyError> {
    let keyring = &trust.keyring;
    if trust.policy == OriginPolicy::Own {
        return Err(KeyError::OriginUnknown { database_id });
    }
    // No master key has this commitment, so the result is only whether the database is listed.
    match keyring.check(database_id, [0; 32]) {
        Pin::Mismatch | Pin::Pinned => Err(KeyError::DatabaseReplaced { database_id }),
        Pin::Unknown if keyring.only_listed() => Err(KeyError::NotListed { database_id }),
        Pin::Unknown => Ok(()),
    }
}

fn foreign(what: &'static str) -> KeyError {
    KeyError::Tampered { what, source: None }
}
