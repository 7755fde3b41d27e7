//! The keys of a database, and whether they have changed.
//!
//! - newer-keys-first: a page that does not open may be sealed under a newer key: it counts as bad
//!   only after an attempt with the keys that the superblock lists, with no change of it meanwhile
//!   (FORMAT 3.8).

use std::path::{Path, PathBuf};
use std::time::Duration;

use selenite_cipher::Suite;
use selenite_keyring::{Cache, Identity, KeyError, Trust, Unlocked};
use selenite_vfs::view::View;

use crate::error::ONLY_NONE;
use crate::raw_file::RawFile;
use crate::sealed::{readable_key, unlocked_status};
use crate::superblock_file::{Copies, Superblocks, unlock};
use crate::{Access, EngineError, Sealed, Watch};

/// The source of a database's keys.
pub(crate) struct Keys<'a> {
    path: &'a Path,
    access: &'a Access,
    source: Source<'a>,
}

enum Source<'a> {
    /// The keys are given, and do not change.
    Given(&'a Unlocked),
    /// The superblock is unlocked with an identity each time.
    Asked(Box<Asked>),
}

struct Asked {
    identities: Vec<Box<dyn Identity>>,
    trust: Trust,
    cache: Cache,
    readable: Option<PathBuf>,
}

impl<'a> Keys<'a> {
    /// The content of the superblock that a view has the keys of.
    pub(crate) fn sealed(&self, view: &View, seen: (Superblocks, u64)) -> Sealed {
        let readable = match &self.source {
            Source::Given(_) => None,
            Source::Asked(asked) => asked.readable.clone(),
        };
        unlocked_status(&view.unlocked, seen, readable)
    }

    /// With given keys, for a database that no other connection uses.
    pub(crate) fn given(path: &'a Path, access: &'a Access, unlocked: &'a Unlocked) -> Self {
        let source = Source::Given(unlocked);
        Self { path, access, source }
    }

    /// With the identity in force.
    pub(crate) fn ask(path: &'a Path, access: &'a Access) -> Result<Self, EngineError> {
        let config = Access::config()?;
        let source = Source::Asked(Box::new(Asked {
            identities: access.identities(&config)?,
            trust: access.trust(&config, path)?,
            cache: Cache::new(),
            readable: readable_key(access, &config),
        }));
        Ok(Self { path, access, source })
    }

    /// The keys of the file's present superblock.
    pub(crate) fn view(&self, file: &RawFile) -> Result<View, EngineError> {
        match &self.source {
            Source::Given(unlocked) => self.view_of(unlocked.duplicate()),
            Source::Asked(asked) => self.view_of(self.unlock(asked, file, &Copies::load(file)?)?),
        }
    }

    /// The same, and which of the superblocks are intact, from one read.
    pub(crate) fn view_and_superblocks(&self, file: &RawFile) -> Result<(View, Superblocks), EngineError> {
        match &self.source {
            Source::Given(_) => Ok((self.view(file)?, Superblocks::load(file)?)),
            Source::Asked(asked) => {
                let copies = Copies::load(file)?;
                let view = self.view_of(self.unlock(asked, file, &copies)?)?;
                Ok((view, copies.superblocks(file)?))
            }
        }
    }

    fn unlock(&self, asked: &Asked, file: &RawFile, copies: &Copies) -> Result<Unlocked, EngineError> {
        let by = |copies, trust: &Trust| unlock(self.path, (file, copies), &asked.identities, trust, &asked.cache);
        match by(copies, &asked.trust) {
            // If the master key was renewed meanwhile, the keyring file has the new pin by now.
            Err(EngineError::Key(KeyError::DatabaseReplaced { .. })) => {
                let trust = self.access.trust(&Access::config()?, self.path)?;
                by(&Copies::load(file)?, &trust)
            }
            unlocked => unlocked,
        }
    }

    fn view_of(&self, unlocked: Unlocked) -> Result<View, EngineError> {
        let epochs = &unlocked.superblock.epochs;
        if epochs.iter().all(|epoch| epoch.suite == Suite::None) && !self.access.allow_plain {
            return Err(EngineError::NotEncrypted {
                path: self.path.to_owned(),
                what: ONLY_NONE,
            });
        }
        View::new(unlocked, self.access.allow_plain, self.access.allow_deprecated)
            .map_err(|error| EngineError::of_vfs(&error, self.path))
    }
}

/// `newer-keys-first`: calls `look` until its result is good, or up to `LOOK_COUNT` times, as
/// others may have been writing; `look` returns what it found, and whether that is good. A call
/// during which the keys changed does not count. `view` then has the keys of the last call.
pub(crate) fn look_again<T>(
    (keys, file): (&Keys<'_>, &RawFile),
    view: &mut View,
    watch: &Watch,
    mut look: impl FnMut(&View) -> Result<(T, bool), EngineError>,
) -> Result<T, EngineError> {
    let mut look_count = 0;
    let mut change_count = 0;
    loop {
        watch.check()?;
        let (found, is_good) = look(view)?;
        if is_good {
            return Ok(found);
        }
        let present = keys.view(file)?;
        let has_changed = present.unlocked.superblock != view.unlocked.superblock;
        *view = present;
        if has_changed && change_count < CHANGE_COUNT_MAX {
            change_count += 1;
            continue;
        }
        look_count += 1;
        if look_count == LOOK_COUNT {
            return Ok(found);
        }
        std::thread::sleep(LOOK_PAUSE * look_count);
    }
}

/// Three attempts, 20 and 40 ms apart: a page is written in microseconds, and a checkpoint's sync
/// does not matter here.
const LOOK_COUNT: u32 = 3;
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// A process that re-encrypts all pages moves the cursor often, but not a hundred times while few
/// pages are read.
const CHANGE_COUNT_MAX: u32 = 100;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::Disk;
    use crate::{Database, Layout};

    #[test]
    fn a_pin_that_was_replaced_meanwhile_is_read_again() {
        crate::install().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        std::fs::write(&key, [7; 32]).unwrap();
        let access = Access {
            identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
            ..Access::default()
        };
        let path = folder.path().join("app.db");
        drop(Database::create(&Disk, &path, &access, &Layout::default()).unwrap());
        let file = RawFile::open(&Disk, &path).unwrap();
        let mut keys = Keys::ask(&path, &access).unwrap();
        let id = keys.view(&file).unwrap().unlocked.superblock.database_id;
        let Source::Asked(asked) = &mut keys.source else {
            panic!("they are given");
        };
        asked.trust.keyring.replace(id, [0; 32]);
        assert!(keys.view(&file).is_ok());
    }
}
