//! Selects the unfinished archive that a backup continues.
//!
//! - same-access: its access is that of the present database: the same master key, the same key
//!   slots, the same recipients. Otherwise a user whose access was revoked meanwhile could read
//!   pages that were written later.
//! - newer-than-finished: it is newer than every finished archive: its name contains the time at
//!   which it was begun, and the newest archive is determined by name.
//! - running-is-left-alone: an archive that may be in progress is not used, unless the caller
//!   excludes that: if its newest object is younger than [`QUIET_SECONDS`], another process may be
//!   writing it.

use std::sync::Arc;

use selenite_cipher::{DatabaseId, macs_are_equal};
use selenite_format::Superblock;
use selenite_keyring::{AgeRecipient, Unlocked};

use crate::catalog::{Catalog, Entry};
use crate::destination::{Destination, StoreErrorKind};
use crate::error::BackupError;
use crate::key_source::KeySource;
use crate::marks::Marks;
use crate::names::{AHEAD_SECONDS, ArchiveName};
use crate::opened::OpenArchive;
use crate::writer::{ArchiveWriter, recipients_tag};

/// The minimum time since the last write to an unfinished archive, in seconds.
pub const QUIET_SECONDS: u64 = 120;

/// Whether an archive is for exactly the given recipients. If its key has the origin key, a
/// recipient cannot have replaced its first object; an archive made before origin MACs existed then
/// matches no recipients.
#[must_use]
pub fn is_for(archive: &OpenArchive, recipients: &[AgeRecipient]) -> bool {
    let expected = recipients_tag(&archive.key, &archive.begun, recipients);
    expected.is_ok_and(|expected| macs_are_equal(&expected, &archive.begun.recipients_tag))
}

/// Continues the newest suitable unfinished archive, or begins one without pages. `now` is in
/// seconds since 1970-01-01 UTC; `is_alone` states that no other process writes backups of this
/// database to the destination.
///
/// # Errors
/// Those of the destination, of [`ArchiveWriter::resume`] and of [`ArchiveWriter::begin`].
pub fn resume_or_begin(
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
        if let Some((writer, marks)) = resume(destination, unlocked, recipients, entry)? {
            return Ok((writer, Some(marks)));
        }
    }
    let made = catalog.free_second(id, now);
    Ok((ArchiveWriter::begin(destination, unlocked, made, recipients)?, None))
}

/// Continues an archive of the caller after a failure; `None` if it is not suitable (same-access,
/// newer-than-finished).
///
/// # Errors
/// Those of [`resume_or_begin`].
pub fn resume_own(
    destination: &Arc<dyn Destination>,
    unlocked: &Unlocked,
    recipients: &[AgeRecipient],
    own: &ArchiveName,
) -> Result<Option<(ArchiveWriter, Marks)>, BackupError> {
    let id = unlocked.superblock.database_id;
    let catalog = Catalog::list(destination.as_ref(), Some(id))?;
    let mut newest = catalog.of(id).rev().take_while(|entry| !entry.is_finished);
    match newest.find(|entry| entry.name == *own && entry.has_begun) {
        Some(entry) => resume(destination, unlocked, recipients, entry),
        None => Ok(None),
    }
}

/// Opens an unfinished archive, if it is suitable.
fn resume(
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
    // If a part is invalid, the archive is not suitable: another is begun.
    match ArchiveWriter::resume(destination, archive, counts) {
        Ok(taken) => Ok(Some(taken)),
        Err(BackupError::Unauthentic { .. } | BackupError::Form { .. }) => Ok(None),
        Err(BackupError::Store(error)) if error.kind == StoreErrorKind::Missing => Ok(None),
        Err(error) => Err(error),
    }
}

/// Begins an archive whose name sorts after those of all others.
///
/// # Errors
/// Those of [`ArchiveWriter::begin`].
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
