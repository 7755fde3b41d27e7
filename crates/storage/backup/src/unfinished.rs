//! Which unfinished archive a backup goes on with.
//!
//! - same-access: it is of the database as it is now in who may read it: the same master key, the
//!   same key slots, the same recipients. Someone who was shut out since would read pages that
//!   were written later.
//! - newer-than-finished: it is newer than every finished one: its name is from when it was begun,
//!   and what is newest goes by names.
//! - running-is-left-alone: one that may be under way is left alone, unless the caller knows
//!   better: where its newest object is younger than [`QUIET_SECONDS`], another may be writing it.

use std::sync::Arc;

use selenite_cipher::{DatabaseId, macs_are_equal};
use selenite_format::Superblock;
use selenite_keyring::{AgeRecipient, Unlocked};

use crate::catalog::{Catalog, Entry};
use crate::destination::{Destination, Trouble};
use crate::error::BackupError;
use crate::key_source::KeySource;
use crate::marks::Marks;
use crate::names::{AHEAD_SECONDS, ArchiveName};
use crate::opened::OpenArchive;
use crate::writer::{ArchiveWriter, recipients_tag};

/// For how long there must have been no write to an unfinished archive.
pub const QUIET_SECONDS: u64 = 120;

/// Whether an archive is opened by the recipients that are named, and no others. Where its key has
/// the origin key, a recipient can't have put another beginning there; one of before there were
/// origin MACs is for no one then.
#[must_use]
pub fn is_for(archive: &OpenArchive, recipients: &[AgeRecipient]) -> bool {
    let expected = recipients_tag(&archive.key, &archive.begun, recipients);
    expected.is_ok_and(|expected| macs_are_equal(&expected, &archive.begun.recipients_tag))
}

/// Goes on with the newest unfinished archive that will do, or begins one, of which no page is
/// there yet. `now` is in seconds since 1970-01-01 UTC; `is_alone` says that no other process writes
/// backups of this database there.
///
/// # Errors
/// What the destination says; as [`ArchiveWriter::go_on`] and [`ArchiveWriter::begin`].
pub fn go_on_or_begin(
    destination: &Arc<dyn Destination>,
    unlocked: &Unlocked,
    recipients: &[AgeRecipient],
    (now, is_alone): (u64, bool),
) -> Result<(ArchiveWriter, Option<Marks>), BackupError> {
    let id: DatabaseId = unlocked.superblock.database_id;
    let catalog = Catalog::list(destination.as_ref(), Some(id))?;
    for entry in catalog.of(id).rev() {
        if entry.name.is_after(now.saturating_add(AHEAD_SECONDS)) {
            continue;
        }
        // newer-than-finished.
        if entry.is_finished {
            break;
        }
        let is_quiet = is_alone || entry.modified.saturating_add(QUIET_SECONDS) <= now;
        if !entry.has_begun || !is_quiet {
            continue;
        }
        if let Some((writer, marks)) = take_up(destination, unlocked, recipients, entry)? {
            return Ok((writer, Some(marks)));
        }
    }
    let made = catalog.free_second(id, now);
    Ok((ArchiveWriter::begin(destination, unlocked, made, recipients)?, None))
}

/// Goes on with an archive of the caller's own, which a failure cut off: nothing where that will
/// not do (same-access, newer-than-finished).
///
/// # Errors
/// As [`go_on_or_begin`].
pub fn go_on_with(
    destination: &Arc<dyn Destination>,
    unlocked: &Unlocked,
    recipients: &[AgeRecipient],
    own: &ArchiveName,
) -> Result<Option<(ArchiveWriter, Marks)>, BackupError> {
    let id = unlocked.superblock.database_id;
    let catalog = Catalog::list(destination.as_ref(), Some(id))?;
    let mut newest = catalog.of(id).rev().take_while(|entry| !entry.is_finished);
    match newest.find(|entry| entry.name == *own && entry.has_begun) {
        Some(entry) => take_up(destination, unlocked, recipients, entry),
        None => Ok(None),
    }
}

/// Opens an unfinished archive, if it will do.
fn take_up(
    destination: &Arc<dyn Destination>,
    unlocked: &Unlocked,
    recipients: &[AgeRecipient],
    entry: &Entry,
) -> Result<Option<(ArchiveWriter, Marks)>, BackupError> {
    let keys = KeySource::Master(&unlocked.master);
    let archive = match OpenArchive::open(destination.as_ref(), entry.database_id, &entry.name, &keys) {
        Ok(archive) => archive,
        Err(error @ BackupError::Store(_)) => return Err(error),
        Err(_) => return Ok(None),
    };
    // same-access.
    let slots = Superblock::parse(&archive.begun.superblock).map(|superblock| superblock.slots);
    if slots.as_ref() != Ok(&unlocked.superblock.slots) || !is_for(&archive, recipients) {
        return Ok(None);
    }
    let counts = (entry.part_count, entry.index_count);
    // A part that is no good makes the archive none: another is begun.
    match ArchiveWriter::go_on(destination, archive, counts) {
        Ok(taken) => Ok(Some(taken)),
        Err(BackupError::Unauthentic { .. } | BackupError::Form { .. }) => Ok(None),
        Err(BackupError::Store(error)) if error.trouble == Trouble::Missing => Ok(None),
        Err(error) => Err(error),
    }
}

/// Begins an archive whose name is behind those of all others.
///
/// # Errors
/// As [`ArchiveWriter::begin`].
pub fn begin_newest(
    destination: &Arc<dyn Destination>,
    unlocked: &Unlocked,
    recipients: &[AgeRecipient],
    now: u64,
) -> Result<ArchiveWriter, BackupError> {
    let id: DatabaseId = unlocked.superblock.database_id;
    let made = Catalog::list(destination.as_ref(), Some(id))?.free_second(id, now);
    ArchiveWriter::begin(destination, unlocked, made, recipients)
}
