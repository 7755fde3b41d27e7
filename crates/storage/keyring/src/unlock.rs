//! Unlocks the keys of a superblock with identities.
//!
//! - mac-before-use: before the MAC is checked only slots are used, and only to try them (FORMAT 3.5).
//! - bad-mac-ends: if a slot yields a master key under which the MAC is wrong, unlocking fails: no
//!   other slot is tried, since the file was forged (FORMAT 3.6).
//! - bounded-time: a hostile file costs its reader a bounded time: slots with a low cost are tried
//!   first, passphrases have a total limit, and a service that timed out once is not called again.

use selenite_cipher::{MasterKey, Secret};
use selenite_format::{FormatError, Slot, State, Superblock};

use crate::key_error::{Refusal, ServiceFailure};
use crate::provider::passphrase::STRETCH_MAX;
use crate::provider::{Effort, Identity};
use crate::unlocked::tampered;
use crate::{Cache, KeyError, Pin, Trust, Unlocked, origin};

/// Unlocks a database from the bytes of its chosen superblock (`selenite_format::choose`).
///
/// Before any key is used: `NotEncrypted`, `Damaged`, `UnsupportedVersion`, `Tampered` (a rule of
/// the format is broken), `NoKey` (no identity was given). While trying: `KeyServiceUnavailable`
/// if a key service failed and no other identity opened the file, else `KeyRefused` if a slot
/// requested too much, else `WrongKey`. With a key: `Tampered` (the MAC is wrong),
/// `DatabaseReplaced` or `NotListed` (by the keyring file), `Retired`, `NotApproved` (a suite that
/// this build does not open); and finally
/// `ForeignOrigin`, `OriginUnknown`, `PathReplaced` or `NotPinned` (not accepted by `trust`).
pub fn unlock(
    bytes: &[u8],
    identities: &[Box<dyn Identity>],
    trust: &Trust,
    cache: &Cache,
) -> Result<Unlocked, KeyError> {
    let superblock = parse(bytes)?;
    if identities.is_empty() {
        return Err(KeyError::NoKey);
    }
    let database_id = superblock.database_id;
    let opened = open(&superblock, identities, cache)?;
    let master = MasterKey::new(opened.master.duplicate(), database_id);
    let (maced, mac) = Superblock::maced(bytes);
    if !master.mac_is_valid(maced, mac) {
        return Err(tampered("its MAC"));
    }
    if !opened.was_cached && opened.identity.may_be_cached() {
        cache.keep(database_id, opened.slot, opened.identity, &opened.master);
    }
    let pin = trust.keyring.check(database_id, master.commitment());
    match pin {
        Pin::Mismatch => return Err(KeyError::DatabaseReplaced { database_id }),
        Pin::Unknown if trust.keyring.only_listed() => return Err(KeyError::NotListed { database_id }),
        Pin::Unknown | Pin::Pinned => {}
    }
    if superblock.state == State::Retired {
        return Err(KeyError::Retired);
    }
    for epoch in &superblock.epochs {
        KeyError::check_opening(epoch.suite)?;
    }
    let slot = opened.slot.id;
    let origin = origin::judge(&superblock, &master, opened.identity, identities);
    let unlocked = Unlocked {
        superblock,
        master,
        slot,
        pin,
        origin,
    };
    unlocked.data_keys()?;
    unlocked.log_key()?;
    trust.admit(&unlocked)?;
    Ok(unlocked)
}

/// An opened slot.
struct OpenedSlot<'a> {
    slot: &'a Slot,
    identity: &'a dyn Identity,
    master: Secret<32>,
    was_cached: bool,
}

/// A slot that an identity may be able to open.
struct Candidate<'a> {
    slot: &'a Slot,
    identity: &'a dyn Identity,
    effort: Effort,
}

/// The failures of the slots that did not open.
#[derive(Default)]
struct Failures {
    away: Option<KeyError>,
    refused: Option<KeyError>,
}

fn parse(bytes: &[u8]) -> Result<Superblock, KeyError> {
    Superblock::parse(bytes).map_err(|error| {
        if error == FormatError::NotWhole {
            let is_ours = bytes.starts_with(MAGIC_START);
            return if is_ours {
                KeyError::Damaged
            } else {
                KeyError::NotEncrypted
            };
        }
        if let FormatError::UnsupportedVersion { version } = error {
            return KeyError::UnsupportedVersion { version };
        }
        let what = if let FormatError::Tampered { what } = error {
            what
        } else {
            "its layout"
        };
        KeyError::Tampered {
            what,
            source: Some(error),
        }
    })
}

fn open<'a>(
    superblock: &'a Superblock,
    identities: &'a [Box<dyn Identity>],
    cache: &Cache,
) -> Result<OpenedSlot<'a>, KeyError> {
    let database_id = superblock.database_id;
    let candidates = candidates(&superblock.slots, identities);
    for &Candidate { slot, identity, .. } in &candidates {
        if let Some(master) = cache.find(database_id, slot, identity) {
            return Ok(OpenedSlot {
                slot,
                identity,
                master,
                was_cached: true,
            });
        }
    }
    let mut failures = Failures::default();
    let mut stretched = 0;
    let mut too_slow: Vec<[u8; 32]> = Vec::new();
    for Candidate { slot, identity, effort } in candidates {
        match effort {
            Effort::Little => {}
            Effort::Service if too_slow.contains(&identity.fingerprint()) => continue,
            Effort::Service => {}
            Effort::Stretch(cost) if stretched > 0 && stretched + cost > STRETCH_MAX => {
                failures.note(KeyError::KeyRefused {
                    slot: slot.id,
                    refusal: Refusal::CostOfAll,
                });
                continue;
            }
            Effort::Stretch(cost) => stretched += cost,
        }
        match identity.unwrap(database_id, slot) {
            Ok(master) => {
                return Ok(OpenedSlot {
                    slot,
                    identity,
                    master,
                    was_cached: false,
                });
            }
            Err(error) => {
                if is_timeout(&error) {
                    too_slow.push(identity.fingerprint());
                }
                failures.note(error);
            }
        }
    }
    Err(failures.verdict())
}

/// The slots to try with the identities: by effort, slots with the identity's identifier first.
fn candidates<'a>(slots: &'a [Slot], identities: &'a [Box<dyn Identity>]) -> Vec<Candidate<'a>> {
    let pairs = identities
        .iter()
        .flat_map(|identity| slots.iter().map(move |slot| (identity.as_ref(), slot)));
    let mut candidates: Vec<Candidate<'a>> = pairs
        .filter(|(identity, slot)| identity.can_open(slot))
        .map(|(identity, slot)| Candidate {
            slot,
            identity,
            effort: identity.effort(slot),
        })
        .collect();
    candidates.sort_by_key(|one| (one.effort, !one.identity.is_named_by(one.slot)));
    candidates
}

impl Failures {
    fn note(&mut self, error: KeyError) {
        if matches!(error, KeyError::KeyServiceUnavailable { .. }) {
            self.away.get_or_insert(error);
        } else if !matches!(error, KeyError::WrongKey) {
            self.refused.get_or_insert(error);
        }
    }

    fn verdict(self) -> KeyError {
        self.away.or(self.refused).unwrap_or(KeyError::WrongKey)
    }
}

fn is_timeout(error: &KeyError) -> bool {
    matches!(
        error,
        KeyError::KeyServiceUnavailable {
            failure: ServiceFailure::TimedOut(_),
            ..
        }
    )
}

/// The first bytes of the magic (FORMAT 3.1); no SQLite database begins with them.
const MAGIC_START: &[u8] = b"Selenite\r\n\x1a\n";

#[cfg(test)]
mod tests;
