//! The place of a restored database: a free name, or that of a file that it replaces.
//!
//! L1. What is there is locked from before the first page is written until the new file has its name, if it can be opened; who
//!     has it open is told then.
//! L2. What can't be opened, since it is damaged or of another key, is replaced without a lock. Its logs are put aside first,
//!     and removed when the new file has the name: between the two a kill leaves them under the draft's name.

use std::path::{Path, PathBuf};

use selenite_format::Superblock;

use crate::conversion::{check_free, check_sole_name};
use crate::draft::{COMPANIONS, Draft, beside, folder_of, sync_folder};
use crate::error::io_error;
use crate::exclusive_source::ExclusiveSource;
use crate::storage::{Attributes, Storage};
use crate::superblock_file::{Present, inspect};
use crate::{Access, Class, EngineError, extended};

/// The place of a restored database.
pub struct Place<'a> {
    storage: &'a dyn Storage,
    /// The file's own name, without links.
    pub path: PathBuf,
    kind: Kind,
}

enum Kind {
    Free,
    Locked(Box<ExclusiveSource>, Attributes),
    /// L2.
    Unopened(String, Option<Attributes>),
}

/// What became of the file that was there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Replaced {
    /// Whether there was one.
    pub was_there: bool,
    /// Why it could not be opened, and was replaced without a lock.
    pub unopened: Option<String>,
    /// Why who had it open will not be told; mostly they will.
    pub not_retired: Option<String>,
    /// What it had besides owner and mode, and the new one could not be given.
    pub not_kept: Vec<String>,
}

impl<'a> Place<'a> {
    /// The place that has this name.
    ///
    /// # Errors
    /// [`EngineError::Exists`], unless it may be replaced; [`EngineError::Busy`] if it is in use; [`EngineError::Io`].
    pub fn find(storage: &'a dyn Storage, to: &Path, access: &Access, may_replace: bool) -> Result<Self, EngineError> {
        let Ok(attributes) = storage.attributes(to) else {
            let folder = folder_of(to);
            storage.attributes(folder).map_err(io_error("open", folder))?;
            let kind = match check_free(storage, to) {
                Ok(()) => Kind::Free,
                Err(EngineError::Exists { .. }) if may_replace => {
                    Kind::Unopened("its logs are there, and it is not".to_owned(), None)
                }
                Err(EngineError::Exists { path, .. }) => return Err(EngineError::Exists { path, can_force: true }),
                Err(error) => return Err(error),
            };
            let path = to.to_owned();
            return Ok(Self { storage, path, kind });
        };
        if !may_replace {
            return Err(EngineError::Exists {
                path: to.to_owned(),
                can_force: true,
            });
        }
        if !attributes.is_file {
            return Err(EngineError::usage(
                format!("{}: not a file", to.display()),
                "name a database file",
            ));
        }
        let path = storage.real_path(to).map_err(io_error("open", to))?;
        check_sole_name(&path, &attributes)?;
        let kind = match lock(storage, &path, access) {
            Ok(source) => Kind::Locked(Box::new(source), attributes),
            Err(error) if is_unopenable(&error) => Kind::Unopened(error.to_string(), Some(attributes)),
            Err(error) => return Err(error),
        };
        Ok(Self { storage, path, kind })
    }

    /// What the file says that is there, if it is encrypted and could be opened.
    pub fn present(&mut self) -> Option<Superblock> {
        match &mut self.kind {
            Kind::Locked(source, _) => source.database().unlocked().ok().map(|unlocked| unlocked.superblock),
            Kind::Free | Kind::Unopened(..) => None,
        }
    }

    /// Gives a complete draft the name.
    ///
    /// # Errors
    /// [`EngineError::Exists`]; [`EngineError::Busy`]; [`EngineError::Io`]. What was there is then there still; but see
    /// `ExclusiveSource::hand_over`.
    pub fn take(self, draft: Draft<'_>) -> Result<Replaced, EngineError> {
        let (storage, path) = (self.storage, &self.path);
        match self.kind {
            Kind::Free => {
                let own = storage
                    .attributes(draft.path())
                    .map_err(io_error("read", draft.path()))?;
                draft.finish(&own)?;
                draft.publish(path)?;
                Ok(Replaced::default())
            }
            Kind::Locked(source, attributes) => {
                let not_kept = extended::carry_over(path, draft.path());
                draft.finish(&attributes)?;
                let not_retired = source.hand_over(storage, draft)?;
                Ok(Replaced {
                    was_there: true,
                    unopened: None,
                    not_retired: not_retired.map(|error| error.to_string()),
                    not_kept,
                })
            }
            Kind::Unopened(why, attributes) => {
                let not_kept = match &attributes {
                    Some(_) => extended::carry_over(path, draft.path()),
                    None => Vec::new(),
                };
                let own = storage
                    .attributes(draft.path())
                    .map_err(io_error("read", draft.path()))?;
                draft.finish(attributes.as_ref().unwrap_or(&own))?;
                replace_unopened(storage, path, draft)?;
                Ok(Replaced {
                    was_there: attributes.is_some(),
                    unopened: Some(why),
                    not_retired: None,
                    not_kept,
                })
            }
        }
    }
}

fn lock(storage: &dyn Storage, path: &Path, access: &Access) -> Result<ExclusiveSource, EngineError> {
    match inspect(storage, path)? {
        Present::Plain | Present::Sealed { .. } => {}
        Present::Empty | Present::Foreign => {
            return Err(EngineError::NotEncrypted {
                path: path.to_owned(),
                what: "it is no database",
            });
        }
    }
    let source = ExclusiveSource::lock(storage, path, &access.passing())?;
    // What can't be put away would stop the hand-over, when all is done.
    source.empty_log()?;
    Ok(source)
}

/// L2. Whoever uses it, or a disk that does not answer, is another matter.
fn is_unopenable(error: &EngineError) -> bool {
    match error.class() {
        Class::NotEncrypted | Class::Key | Class::Data => true,
        Class::Other | Class::Usage | Class::Io | Class::Busy | Class::Interrupted => false,
    }
}

fn replace_unopened(storage: &dyn Storage, path: &Path, mut draft: Draft<'_>) -> Result<(), EngineError> {
    let pairs = COMPANIONS.map(|companion| (beside(path, companion), beside(draft.path(), companion)));
    let mut aside = Vec::new();
    let put_back = |aside: &[(PathBuf, PathBuf)]| {
        for (from, to) in aside {
            let _ = storage.rename(to, from);
        }
    };
    for (from, to) in pairs {
        match storage.rename(&from, &to) {
            Ok(()) => aside.push((from, to)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                put_back(&aside);
                return Err(io_error("put aside", &from)(error));
            }
        }
    }
    let replaced = sync_folder(storage, path).and_then(|()| draft.replace(path));
    if let Err(error) = replaced {
        put_back(&aside);
        return Err(error);
    }
    sync_folder(storage, path)?;
    for (_, to) in aside {
        // What can't be removed now is found by the next run.
        let _ = storage.remove(&to);
    }
    Ok(())
}
