//! Who opens archives.
//!
//! - pin-for-requested: a pin of the keyring file holds for the archive that was asked for: a
//!   master key with another commitment than the database's, and an archive that was opened without
//!   any master key, are refused where the database is listed. What an archive rests on is known by
//!   its hash, and may be of a master key from before.
//! - origin-of-requested: the archive that was asked for has the origin of the database whose
//!   superblock is in it (FORMAT 4.7). One that only a recipient's file opens has none that could
//!   be proved: anyone who knows the recipient can make it.
//! - unproved-is-refused: so has one whose manifest has no origin MAC (FORMAT 12.4): its key may be
//!   known to a recipient. Both are refused unless any origin is admitted, and so is what an
//!   admitted archive rests on.

use selenite_cipher::{ArchiveKey, DatabaseId, MasterKey, Secret};
use selenite_format::archive::Begun;
use selenite_keyring::{Cache, Identity, KeyError, OriginPolicy, Pin, Trust, Unlocked, archive_recipient, unlock};

/// Who opens archives.
#[derive(Clone, Copy)]
pub enum KeySource<'a> {
    /// The master key of the database, which is available.
    Master(&'a MasterKey),
    /// Identities.
    Identities {
        /// They open a slot of the superblock in it, or one of its recipients' files.
        identities: &'a [Box<dyn Identity>],
        /// Which master key a database has (pin-for-requested), and which origins are admitted (origin-of-requested).
        trust: &'a Trust,
        /// Where master keys are found again.
        cache: &'a Cache,
    },
}

/// How an archive was opened.
pub enum OpenedBy {
    /// By the master key that was available.
    Master,
    /// By a slot of the superblock in it.
    Slot(Box<Unlocked>),
    /// By a recipient's file: no one knows the master key.
    Recipient,
}

impl KeySource<'_> {
    /// Whether archives are admitted that nothing shows to be of a holder of the master key (unproved-is-refused).
    pub(crate) fn admits_any(&self) -> bool {
        match self {
            Self::Master(_) => false,
            Self::Identities { trust, .. } => trust.policy == OriginPolicy::Any,
        }
    }

    /// Whether the master key by which an archive was opened is known to be the database's,
    /// whatever origin is admitted (origin-of-requested). That of what another archive rests on is
    /// as that one's.
    pub(crate) fn proves(&self, by: &OpenedBy, is_link: bool) -> bool {
        match (self, by) {
            (Self::Identities { trust, .. }, OpenedBy::Slot(unlocked)) => is_link || trust.proves(unlocked),
            (Self::Master(_) | Self::Identities { .. }, OpenedBy::Master) | (Self::Master(_), OpenedBy::Slot(_)) => {
                true
            }
            (Self::Master(_) | Self::Identities { .. }, OpenedBy::Recipient) => false,
        }
    }

    /// The archive's key. What it opens is still to be checked under the archive's MAC, of which
    /// `is_right` says whether it is.
    ///
    /// `masters` are tried first; what is found is put there.
    pub(crate) fn open(
        &self,
        begun: &Begun,
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
                        error @ (KeyError::WrongKey | KeyError::KeyServiceAway { .. } | KeyError::KeyRefused { .. }),
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

/// pin-for-requested and origin-of-requested.
fn check_without_master(trust: &Trust, database_id: DatabaseId) -> Result<(), KeyError> {
    let keyring = &trust.keyring;
    if trust.policy == OriginPolicy::Own {
        return Err(KeyError::OriginUnknown { database_id });
    }
    // No master key has this commitment: it is listed, or not.
    match keyring.check(database_id, [0; 32]) {
        Pin::Mismatch | Pin::Pinned => Err(KeyError::DatabaseReplaced { database_id }),
        Pin::Unknown if keyring.only_listed() => Err(KeyError::NotListed { database_id }),
        Pin::Unknown => Ok(()),
    }
}

fn foreign(what: &'static str) -> KeyError {
    KeyError::Tampered { what, source: None }
}
