//! The draft of an offline copy, with its own superblocks, and the file beside it that records
//! which runs are done.

use std::path::{Path, PathBuf};

use selenite_cipher::Suite;
use selenite_format::{EpochRecord, SUPERBLOCK_A, SUPERBLOCK_B, SUPERBLOCK_SIZE_MAX, Superblock};
use selenite_keyring::{KeyError, Unlocked, os_random, sole_epoch};

use crate::draft::{DONE, Draft, OFFLINE, beside, sync_folder};
use crate::error::io_error;
use crate::storage::{Storage, WriteAt};
use crate::{EngineError, keys, sealed_draft};

/// A draft, its keys, and the path of its `done_runs` file.
pub struct NewFile<'a> {
    /// The file that will replace the database.
    pub draft: Draft<'a>,
    /// The content of its second superblock, the valid one.
    pub unlocked: Unlocked,
    /// The file that records which runs are done.
    pub done_path: PathBuf,
}

impl<'a> NewFile<'a> {
    /// Continues with the draft of an earlier run if it was made for the same purpose, or creates
    /// a new one.
    pub fn prepare(storage: &'a dyn Storage, path: &Path, from: &Unlocked, suite: Suite) -> Result<Self, EngineError> {
        let draft_path = Draft::path_of(path, OFFLINE)?;
        let done_path = beside(&draft_path, DONE);
        if let Some(unlocked) = taken_over(storage, &draft_path, from, suite)? {
            let draft = Draft::take_over(storage, draft_path);
            return Ok(Self {
                draft,
                unlocked,
                done_path,
            });
        }
        for leftover in [&done_path, &draft_path] {
            remove_if_there(storage, leftover)?;
        }
        let record = sole_epoch::draw(from, suite, keys::now(), &mut os_random)?;
        let log_key = sole_epoch::draw_log_key(from, &mut os_random);
        let [first, second] = superblocks(from, record, log_key)?;
        let draft = Draft::create_at(storage, draft_path)?;
        let file = storage
            .open_to_write(draft.path())
            .map_err(io_error("write", draft.path()))?;
        sealed_draft::write_superblocks(file.as_ref(), draft.path(), [&first, &second])?;
        sync_folder(storage, path)?;
        Ok(Self {
            draft,
            unlocked: second,
            done_path,
        })
    }

    /// Opens the draft.
    pub fn open_to_write(&self, storage: &dyn Storage) -> Result<Box<dyn WriteAt>, EngineError> {
        let path = self.draft.path();
        storage.open_to_write(path).map_err(io_error("write", path))
    }

    /// Opens the file of done runs. Creates it if it is missing or its name has something else.
    pub fn open_done(&self, storage: &dyn Storage) -> Result<Box<dyn WriteAt>, EngineError> {
        let path = &self.done_path;
        if let Ok(file) = storage.open_to_write(path) {
            return Ok(file);
        }
        remove_if_there(storage, path)?;
        storage.create(path).map_err(io_error("create", path))?;
        storage.open_to_write(path).map_err(io_error("write", path))
    }

    /// Removes the file of done runs. If that fails, the next run removes it.
    pub fn forget_done(&self, storage: &dyn Storage) {
        let _ = storage.remove(&self.done_path);
    }
}

/// Removes the drafts of other operations that were interrupted: while the lock is held, no other
/// process has one for this database. Returns their paths.
pub fn remove_others(storage: &dyn Storage, path: &Path) -> Result<Vec<PathBuf>, EngineError> {
    let draft = Draft::path_of(path, OFFLINE)?;
    let own = [beside(&draft, DONE), draft];
    let mut leftovers = Draft::leftovers(storage, path)?;
    leftovers.retain(|leftover| !own.contains(leftover));
    for leftover in &leftovers {
        storage.remove(leftover).map_err(io_error("remove", leftover))?;
    }
    Ok(leftovers)
}

/// The keys of the existing draft, if a new draft would be the same: with the present keys and
/// slots of the database, and this suite. Its superblocks are compared completely with the
/// expected ones, including the MAC; nothing in them is trusted.
fn taken_over(
    storage: &dyn Storage,
    draft: &Path,
    from: &Unlocked,
    suite: Suite,
) -> Result<Option<Unlocked>, EngineError> {
    let is_ours = storage
        .attributes(draft)
        .is_ok_and(|found| found.is_file && found.link_count == 1 && found.mode & OTHERS == 0);
    if !is_ours {
        return Ok(None);
    }
    let Ok(file) = storage.open_to_write(draft) else {
        return Ok(None);
    };
    let mut places = [vec![0; SUPERBLOCK_SIZE_MAX], vec![0; SUPERBLOCK_SIZE_MAX]];
    for (bytes, place) in places.iter_mut().zip([SUPERBLOCK_A, SUPERBLOCK_B]) {
        file.read_at(bytes, place).map_err(io_error("read", draft))?;
    }
    let Some((record, log_key)) = new_keys_of(&places[1]).filter(|(record, _)| record.suite == suite) else {
        return Ok(None);
    };
    let Ok([first, second]) = superblocks(from, record, log_key) else {
        return Ok(None);
    };
    let begins_with =
        |place: &[u8], unlocked: &Unlocked| -> Result<bool, KeyError> { Ok(place.starts_with(&unlocked.encode()?)) };
    let is_same = begins_with(&places[0], &first)? && begins_with(&places[1], &second)?;
    Ok(is_same.then_some(second))
}

/// The only epoch in a superblock, and the log key, unauthenticated.
fn new_keys_of(place: &[u8]) -> Option<(EpochRecord, [u8; 60])> {
    let size = u32::from_be_bytes(place.get(24..28)?.try_into().ok()?);
    let bytes = place.get(..usize::try_from(size).ok()?)?;
    let superblock = Superblock::parse(bytes).ok()?;
    match superblock.epochs.as_slice() {
        [record] => Some((record.clone(), superblock.log_key)),
        _ => None,
    }
}

/// Both superblocks; the second is the valid one.
fn superblocks(from: &Unlocked, record: EpochRecord, log_key: [u8; 60]) -> Result<[Unlocked; 2], KeyError> {
    let first = sole_epoch::superblock(from, record, log_key)?;
    let generation = first.superblock.generation.checked_add(1);
    let second = first.with_generation(generation.ok_or(KeyError::GenerationExhausted)?);
    Ok([first, second])
}

fn remove_if_there(storage: &dyn Storage, path: &Path) -> Result<(), EngineError> {
    match storage.remove(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io_error("remove", path)(error)),
        _ => Ok(()),
    }
}

/// The mode bits of group and others, none of which a draft has.
const OTHERS: u32 = 0o077;
