//! Finds where an earlier run stopped: by the existing archives, and the last object of the newest
//! one's log.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use selenite_backup::{
    ArchiveName, BackupError, Catalog, Destination, KeySource, LogObject, LogWriter, OpenArchive, Part,
    archive_key_prefix, is_for,
};
use selenite_cipher::DatabaseId;
use selenite_format::Superblock;
use selenite_keyring::Unlocked;

use super::log_view::Keys;
use super::{FollowContext, Followed};
use crate::backup::Backup;
use crate::keys::now;
use crate::{Database, EngineError};

/// The archive that can be continued, if there is one: the log that the read transaction of
/// `holder` sees has what comes next.
pub fn find(place: &FollowContext<'_>, holder: &Database) -> Result<Option<Followed>, EngineError> {
    let destination = place.destination.clone();
    let how = place.backup.clone();
    let path = place.path.to_owned();
    holder.read(move |snapshot| {
        let refused = |error| EngineError::of_vfs(&error, &path);
        let unlocked = snapshot.unlocked().map_err(refused)?;
        let Some(found) = last_of(destination, &unlocked, &how)? else {
            return Ok(None);
        };
        let (writer, keys, since) = found;
        let end = writer.end();
        // A log without salts of its own yet has zeros, which are not unique.
        let is_known = end.position.frames > 0 || end.position.salts != [0; 8];
        let now_end = snapshot.end();
        let is_same = is_known
            && now_end.is_some_and(|now| now.position.salts == end.position.salts)
            && snapshot.place_behind(end.position.frames).map_err(refused)? == Some(end)
            && (now_end == Some(end) || snapshot.sees_log());
        Ok(is_same.then(|| Followed {
            name: writer.name().clone(),
            writer: Arc::new(Mutex::new(writer)),
            keys,
            since,
            seen: Instant::now(),
        }))
    })
}

/// The writer after the last object of the newest archive that has a log. An archive that does not
/// open, or is inconsistent, is no error: a new one is made.
fn last_of(
    destination: Arc<dyn Destination>,
    unlocked: &Unlocked,
    how: &Backup,
) -> Result<Option<(LogWriter, Keys, Instant)>, BackupError> {
    let id = unlocked.superblock.database_id;
    let catalog = Catalog::list(destination.as_ref(), Some(id))?;
    let newest = catalog.of(id).rfind(|entry| entry.is_finished && entry.log_count > 0);
    let Some(entry) = newest else { return Ok(None) };
    let name: ArchiveName = entry.name.clone();
    let Some((number, size)) = last_object(destination.as_ref(), id, &name)? else {
        return Ok(None);
    };
    let keys = KeySource::Master(&unlocked.master);
    let opened = OpenArchive::open(destination.as_ref(), id, &name, &keys)
        .and_then(|archive| archive.into_backup(destination.as_ref()));
    let backup = match opened {
        Err(error @ BackupError::Store(_)) => return Err(error),
        Err(_) => return Ok(None),
        Ok(backup) => backup,
    };
    let Ok(superblock) = Superblock::parse(&backup.archive.begun.superblock) else {
        return Ok(None);
    };
    let of_archive = Keys::of(&Unlocked {
        superblock,
        ..unlocked.duplicate()
    });
    // removed-keys-open-nothing-new.
    if of_archive != Keys::of(unlocked) || !is_for(&backup.archive, &how.recipients) {
        return Ok(None);
    }
    let key = backup.archive.key;
    let last = match LogObject::fetch(destination.as_ref(), (&key, id, &name), number) {
        Ok(last) => last,
        // A number is missing, or the object is not ours.
        Err(BackupError::Store(error)) if error.kind == selenite_backup::StoreErrorKind::Missing => return Ok(None),
        Err(error @ BackupError::Store(_)) => return Err(error),
        Err(_) => return Ok(None),
    };
    let age = Duration::from_secs(now().saturating_sub(backup.archive.begun.made));
    let since = Instant::now().checked_sub(age).unwrap_or_else(Instant::now);
    let writer = LogWriter::new(
        destination,
        (key, id, name),
        backup.manifest_digest,
        last.facts.from,
        how.level,
    );
    Ok(Some((writer.continue_after(number, &last, size), of_archive, since)))
}

/// The number of the last object of a log, and the size of all in bytes; `None` if one is missing.
fn last_object(
    destination: &dyn Destination,
    id: DatabaseId,
    name: &ArchiveName,
) -> Result<Option<(u32, u64)>, BackupError> {
    let prefix = archive_key_prefix(id, name);
    let (mut numbers, mut size) = (Vec::new(), 0);
    for object in destination.list(&prefix)? {
        if let Some(Part::Log(number)) = object.name.strip_prefix(&prefix).and_then(Part::parse) {
            numbers.push(number);
            size += object.size;
        }
    }
    numbers.sort_unstable();
    let is_whole = (0..).zip(&numbers).all(|(expected, number)| expected == *number);
    Ok(numbers.last().filter(|_| is_whole).map(|&last| (last, size)))
}
