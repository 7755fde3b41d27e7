//! Changes of the key slots and the master key of a database.
//!
//! Each change makes a new superblock of the next generation and leaves the old one unchanged. The
//! caller writes it according to FORMAT 3.7, under SQLite's write lock, and twice if
//! `revokes_access` is set.
//!
//! - last-slot-stays: a database never loses its last slot.
//! - copies-stay-readable: removing a slot or renewing the master key takes no access from a user
//!   who already has the master key and an old copy: pages remain under their data keys until the
//!   database is re-encrypted under a new one.
//! - master-key-time-above-epochs: while two epochs are listed, the time of a renewed master key is
//!   later than theirs, whatever the clock returns, and that of a new epoch is never earlier than
//!   the master key's. [`crate::epoch_change::is_since_master`] therefore needs no clock.

use std::fmt;

use selenite_cipher::{MasterKey, SlotId};
use selenite_format::{EpochRecord, SLOT_COUNT_MAX, Slot, State, Superblock};

use crate::create::secret;
use crate::provider::age::AgeRecipient;
use crate::{
    Identity, KeyError, Origin, OriginProof, Random, Recipient, SlotSummary, Unlocked, hex, origin, random, slot,
};

/// A prepared change.
#[derive(Debug)]
pub struct Change {
    /// The database after the change.
    pub unlocked: Unlocked,
    /// Whether the superblock must be written to both places before the change is reported as done (FORMAT 3.7).
    pub revokes_access: bool,
    /// The changes in a form for users.
    pub report: Report,
}

/// The effects of a change. Its display has a line for each slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// New slots.
    pub added: Vec<SlotSummary>,
    /// Slots that were removed on request.
    pub removed: Vec<SlotSummary>,
    /// Slots that contain the new master key.
    pub rewrapped: Vec<SlotSummary>,
    /// Slots that received an origin mark.
    pub accepted: Vec<SlotSummary>,
    /// Slots that were dropped because the new master key could not be wrapped for them.
    pub dropped: Vec<SlotSummary>,
    /// The commitment of a new master key: a keyring file that pins this database has to be updated with it.
    pub commitment: Option<[u8; 32]>,
}

/// Adds a slot for `recipient`. `now` is in seconds since 1970-01-01 UTC.
///
/// `TooManySlots` if there are 32 already, `Unencodable` if the slot or its label is too large.
pub fn add_slot(
    from: &Unlocked,
    recipient: &dyn Recipient,
    label: &str,
    now: u64,
    random: &mut Random<'_>,
) -> Result<Change, KeyError> {
    add_slots(from, &[recipient], label, now, random)
}

/// Adds a slot for each of `recipients`, in one step, with the errors of [`add_slot`].
pub fn add_slots(
    from: &Unlocked,
    recipients: &[&dyn Recipient],
    label: &str,
    now: u64,
    random: &mut Random<'_>,
) -> Result<Change, KeyError> {
    if from.superblock.slots.len() + recipients.len() > SLOT_COUNT_MAX {
        return Err(KeyError::TooManySlots);
    }
    let mut to = next(from)?;
    let mut report = Report::default();
    for recipient in recipients {
        let new = make(&to, *recipient, label, now, random)?;
        report.added.push(SlotSummary::new(&new));
        to.superblock.slots.push(new);
    }
    finish(to, false, report)
}

/// Removes a slot. `NoSuchSlot` if there is none with this id, `LastSlot` if it is the only one.
pub fn remove_slot(from: &Unlocked, id: SlotId) -> Result<Change, KeyError> {
    let index = index_of(from, id)?;
    let mut to = next(from)?;
    let old = to.superblock.slots.remove(index);
    let first = to.superblock.slots.first().ok_or(KeyError::LastSlot)?.id;
    if to.slot == id {
        to.slot = first;
    }
    let report = Report {
        removed: vec![SlotSummary::new(&old)],
        ..Report::default()
    };
    finish(to, true, report)
}

/// Replaces a slot by one for `recipient`, in one step. `NoSuchSlot` if it does not exist.
pub fn replace_slot(
    from: &Unlocked,
    id: SlotId,
    recipient: &dyn Recipient,
    label: &str,
    now: u64,
    random: &mut Random<'_>,
) -> Result<Change, KeyError> {
    let index = index_of(from, id)?;
    let mut to = next(from)?;
    let new = make(&to, recipient, label, now, random)?;
    let added = SlotSummary::new(&new);
    if to.slot == id {
        to.slot = new.id;
    }
    let old = std::mem::replace(&mut to.superblock.slots[index], new);
    let removed = SlotSummary::new(&old);
    let report = Report {
        added: vec![added],
        removed: vec![removed],
        ..Report::default()
    };
    finish(to, true, report)
}

/// Makes a new master key and wraps data keys and log key under it.
///
/// A slot is kept if one of `recipients` owns it, or if its recipient is an age recipient without a
/// plugin; all others are dropped and reported. `LastSlot` if none would remain. If a recipient
/// that owns a slot is unavailable, that is an error (`KeyServiceUnavailable`), not a reason to
/// drop the slot.
pub fn renew_master(
    from: &Unlocked,
    recipients: &[&dyn Recipient],
    now: u64,
    random: &mut Random<'_>,
) -> Result<Change, KeyError> {
    renew_without(from, None, recipients, now, random)
}

/// Removes a slot and makes a new master key, in one step: the removed slot gives no access to any later key.
///
/// Errors as for [`remove_slot`] and [`renew_master`].
pub fn revoke_slot(
    from: &Unlocked,
    id: SlotId,
    recipients: &[&dyn Recipient],
    now: u64,
    random: &mut Random<'_>,
) -> Result<Change, KeyError> {
    index_of(from, id)?;
    renew_without(from, Some(id), recipients, now, random)
}

/// Writes the origin mark of each of `identities` into the slots that it opens. From then on the
/// database is of own origin for their holder, regardless of who made it. A slot that has the mark is
/// not changed; if there is nothing to write, the report is empty.
///
/// Never returns `WrongKey`: an identity that opens no slot gets no mark.
pub fn accept(from: &Unlocked, identities: &[Box<dyn Identity>], random: &mut Random<'_>) -> Result<Change, KeyError> {
    let mut to = next(from)?;
    let database_id = from.superblock.database_id;
    let mut report = Report::default();
    for slot in &mut to.superblock.slots {
        for identity in identities {
            let can_mark = identity.origin_proof() == OriginProof::Token && identity.can_open(slot);
            if !can_mark || origin::has_mark(&from.superblock, &from.master, slot, identity.as_ref()) {
                continue;
            }
            let opens = identity.unwrap(database_id, slot);
            if opens.is_ok_and(|master| master.ct_eq(from.master.secret())) {
                origin::mark(slot, identity.as_ref(), &from.master, random);
                report.accepted.push(SlotSummary::new(slot));
                break;
            }
        }
    }
    if !report.accepted.is_empty() {
        to.origin = Origin::Own;
    }
    finish(to, false, report)
}

fn renew_without(
    from: &Unlocked,
    gone: Option<SlotId>,
    recipients: &[&dyn Recipient],
    now: u64,
    random: &mut Random<'_>,
) -> Result<Change, KeyError> {
    let database_id = from.superblock.database_id;
    let mut to = next(from)?;
    to.master = MasterKey::new(secret(random), database_id);
    to.superblock.master_created = time_of_master(&from.superblock, now);
    for epoch in &mut to.superblock.epochs {
        let key = from.data_secret(epoch)?;
        let EpochRecord {
            epoch: number, suite, ..
        } = *epoch;
        epoch.wrapped = to.master.wrap_data_key(random::draw(random), number, suite, &key);
    }
    let log_key = from.log_secret()?;
    to.superblock.log_key = to.master.wrap_log_key(random::draw(random), &log_key);

    let mut report = Report {
        commitment: Some(to.master.commitment()),
        ..Report::default()
    };
    to.superblock.slots = Vec::new();
    for old in &from.superblock.slots {
        if Some(old.id) == gone {
            report.removed.push(SlotSummary::new(old));
            continue;
        }
        match rewrap(&to, old, recipients)? {
            Some(mut new) => {
                origin::carry(old, &from.master, &mut new, &to.master, random);
                report.rewrapped.push(SlotSummary::new(&new));
                to.superblock.slots.push(new);
            }
            None => report.dropped.push(SlotSummary::new(old)),
        }
    }
    let first = to.superblock.slots.first().ok_or(KeyError::LastSlot)?.id;
    if report
        .dropped
        .iter()
        .chain(&report.removed)
        .any(|slot| slot.id == to.slot)
    {
        to.slot = first;
    }
    finish(to, true, report)
}

/// The slot `old` with the master key of `to`, if a recipient for it is known.
fn rewrap(to: &Unlocked, old: &Slot, recipients: &[&dyn Recipient]) -> Result<Option<Slot>, KeyError> {
    let database_id = to.superblock.database_id;
    let wrap = |recipient: &dyn Recipient| slot::fill(old.clone(), recipient, &to.master).map(Some);
    for recipient in recipients {
        if recipient.owns(database_id, old)? {
            return wrap(*recipient);
        }
    }
    match AgeRecipient::native_of(old) {
        Some(recipient) => wrap(&recipient),
        None => Ok(None),
    }
}

/// A copy of the database with the next generation.
pub(crate) fn next(from: &Unlocked) -> Result<Unlocked, KeyError> {
    let generation = from.superblock.generation.checked_add(1);
    Ok(from.with_generation(generation.ok_or(KeyError::GenerationExhausted)?))
}

fn make(
    to: &Unlocked,
    recipient: &dyn Recipient,
    label: &str,
    now: u64,
    random: &mut Random<'_>,
) -> Result<Slot, KeyError> {
    slot::make(recipient, label, &to.master, now, random)
}

fn index_of(from: &Unlocked, id: SlotId) -> Result<usize, KeyError> {
    let index = from.superblock.slots.iter().position(|slot| slot.id == id);
    index.ok_or_else(|| KeyError::NoSuchSlot {
        wanted: hex::encode(&id.0),
    })
}

/// Encodes the superblock, so that errors are found before anything is written.
fn finish(unlocked: Unlocked, revokes_access: bool, report: Report) -> Result<Change, KeyError> {
    unlocked.encode()?;
    Ok(Change {
        unlocked,
        revokes_access,
        report,
    })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [
            ("accepted", &self.accepted),
            ("added", &self.added),
            ("removed", &self.removed),
            ("kept", &self.rewrapped),
            ("dropped", &self.dropped),
        ];
        for (verb, slots) in lists {
            for slot in slots {
                writeln!(f, "{verb} key slot {slot}")?;
            }
        }
        match self.commitment {
            Some(commitment) => {
                writeln!(f, "new master key, commitment {}", hex::encode(&commitment))
            }
            None => Ok(()),
        }
    }
}

/// `order-without-clock` of [`crate::epoch_change`]: the time of a master key that is made now. In
/// a steady state the time is never compared, so it is that of the clock, and an earlier wrong
/// clock has no permanent effect.
fn time_of_master(superblock: &Superblock, now: u64) -> u64 {
    if superblock.state == State::Steady {
        return now;
    }
    let latest = superblock.epochs.iter().map(|epoch| epoch.created).max();
    now.max(latest.map_or(0, |latest| latest.saturating_add(1)))
}

#[cfg(test)]
mod tests;
