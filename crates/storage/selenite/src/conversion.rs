//! The common part of encryption and decryption: a copy is made, and replaces the database or gets
//! a new name.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::comparison::PageAccess;
use crate::content_digest::ContentDigest;
use crate::draft::{COMPANIONS, Draft, beside};
use crate::error::{Class, io_error};
use crate::exclusive_source::ExclusiveSource;
use crate::storage::{Attributes, ReadAt, Storage};
use crate::tree_digest::TreeDigest;
use crate::{Access, Database, EngineError, Outcome, Target, Watch, platform};

/// One encryption or decryption.
pub struct Conversion<'a> {
    /// The storage of the files.
    pub storage: &'a dyn Storage,
    /// The path of the database, without symbolic links.
    pub path: &'a Path,
    /// How it is opened.
    pub source: Access,
    /// The destination of the result.
    pub target: &'a Target,
    /// The mode of a new file, if it differs from that of the database.
    pub new_mode: Option<u32>,
    /// Receives progress, and can interrupt.
    pub watch: &'a Watch,
}

/// The database to be copied. No connection writes to it meanwhile.
pub struct Source<'a> {
    /// The connection.
    pub database: &'a mut Database,
    /// A second access to its pages.
    pub page_access: PageAccess,
    /// Whether it is in WAL mode.
    pub is_wal: bool,
}

/// The result of copying and comparing.
pub struct Copied {
    table_count: usize,
    row_count: u64,
}

impl Copied {
    /// From the digest of values, which is the same for both.
    pub fn by_values(digest: &ContentDigest) -> Self {
        Self {
            table_count: digest.table_count(),
            row_count: digest.row_count(),
        }
    }

    /// From the digest of trees, which is the same for both.
    pub fn by_trees(digest: &TreeDigest) -> Self {
        Self {
            table_count: digest.table_count(),
            row_count: digest.row_count(),
        }
    }
}

impl Conversion<'_> {
    /// Lets `copy` fill a draft from the source, and publishes the draft.
    ///
    /// # Errors
    /// As [`crate::encrypt`].
    pub fn run(
        &self,
        copy: impl FnOnce(Source<'_>, &Draft<'_>) -> Result<Copied, EngineError>,
    ) -> Result<Outcome, EngineError> {
        let done = match self.target {
            Target::InPlace => self.in_place(copy),
            Target::New(target) => self.to_new(target, copy),
        };
        done.map_err(|error| error.with_room(self.room(), || SAME_AGAIN.to_owned()))
    }

    /// The approximate size of a copy: it includes the contents of the log, and a trailer for each
    /// page or a prefix.
    fn room(&self) -> u64 {
        let files = [self.path.to_owned(), beside(self.path, "-wal")];
        let sizes = files.iter().filter_map(|path| self.attributes(path).ok());
        let size: u64 = sizes.map(|found| found.size).sum();
        size + size / 16 + PREFIX
    }

    fn in_place(
        &self,
        copy: impl FnOnce(Source<'_>, &Draft<'_>) -> Result<Copied, EngineError>,
    ) -> Result<Outcome, EngineError> {
        let attributes = self.attributes(self.path)?;
        check_sole_name(self.path, &attributes)?;
        let pages: Arc<dyn ReadAt>;
        let mut source = ExclusiveSource::lock(self.storage, self.path, &self.source)?;
        source.empty_log()?;
        // While the lock is held, no other run can have a draft for this database.
        let removed = Draft::leftovers(self.storage, self.path)?;
        for path in &removed {
            self.storage.remove(path).map_err(io_error("remove", path))?;
        }
        let draft = Draft::create(self.storage, self.path)?;
        // Opened after SQLite's descriptor, and dropped after the connection: closing a descriptor
        // releases SQLite's locks (`raw_file.rs`, no-second-descriptor).
        pages = Arc::from(self.storage.open(self.path).map_err(io_error("read", self.path))?);
        let is_wal = source.is_wal();
        let page_access = PageAccess::File(pages.clone());
        let database = source.database();
        let copied = copy(
            Source {
                database,
                page_access,
                is_wal,
            },
            &draft,
        )?;
        let not_kept = platform::carry_over(self.path, draft.path());
        draft.finish(&attributes)?;
        self.watch.check()?;
        let size = self.attributes(draft.path())?.size;
        let not_retired = source.hand_over(self.storage, draft)?;
        Ok(Outcome {
            removed,
            not_retired: not_retired.map(|error| error.to_string()),
            not_kept,
            ..outcome(self.path, &copied, size)
        })
    }

    fn to_new(
        &self,
        target: &Path,
        copy: impl FnOnce(Source<'_>, &Draft<'_>) -> Result<Copied, EngineError>,
    ) -> Result<Outcome, EngineError> {
        check_free(self.storage, target)?;
        let attributes = self.attributes(self.path)?;
        let mut leftovers = Draft::leftovers(self.storage, target)?;
        leftovers.extend(Draft::leftovers(self.storage, self.path)?);
        let mut source = Database::connect(self.path, &self.source.uri(self.path), &self.source)?;
        let writers = self.keep_writers_out()?;
        let version = source.number("PRAGMA main.data_version")?;
        let is_wal = source.text("PRAGMA main.journal_mode")? == "wal";
        let draft = Draft::create(self.storage, target)?;
        let second = Database::connect(self.path, &self.source.uri(self.path), &self.source)?;
        let page_access = PageAccess::Connection(Box::new(second));
        let database = &mut source;
        let copied = copy(
            Source {
                database,
                page_access,
                is_wal,
            },
            &draft,
        )?;
        if source.number("PRAGMA main.data_version")? != version {
            return Err(EngineError::Busy {
                path: self.path.to_owned(),
                what: "it was modified while it was copied",
            });
        }
        if let Some(writers) = writers {
            writers.batch("ROLLBACK")?;
        }
        // The new file keeps its owner.
        let own = self.attributes(draft.path())?;
        draft.finish(&Attributes {
            mode: self.new_mode.unwrap_or(attributes.mode),
            ..own
        })?;
        self.watch.check()?;
        draft.publish(target)?;
        Ok(Outcome {
            leftovers,
            ..outcome(target, &copied, own.size)
        })
    }

    /// A second connection that holds the write lock; readers continue. `None` if the database is
    /// read-only.
    fn keep_writers_out(&self) -> Result<Option<Database>, EngineError> {
        let database = Database::connect(self.path, &self.source.uri(self.path), &self.source)?;
        match database.batch("BEGIN IMMEDIATE") {
            Ok(()) => Ok(Some(database)),
            Err(EngineError::Sqlite { class: Class::Io, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn attributes(&self, path: &Path) -> Result<Attributes, EngineError> {
        self.storage.attributes(path).map_err(io_error("read", path))
    }
}

/// What to do after freeing space: a copy that an error interrupted is not kept.
pub const SAME_AGAIN: &str = "run the same command again; the database is unchanged";
/// 128 KiB: the superblocks, and a superblock's journal.
const PREFIX: u64 = 128 << 10;

fn outcome(path: &Path, copied: &Copied, size: u64) -> Outcome {
    Outcome {
        path: path.to_owned(),
        table_count: copied.table_count,
        row_count: copied.row_count,
        size,
        elapsed: Duration::ZERO,
        slots: Vec::new(),
        removed: Vec::new(),
        leftovers: Vec::new(),
        not_retired: None,
        not_kept: Vec::new(),
        authenticated: None,
    }
}

/// Fails if the path is taken, or one that SQLite would use for the journals of a database there.
pub fn check_free(storage: &dyn Storage, target: &Path) -> Result<(), EngineError> {
    let names = COMPANIONS.iter().map(|companion| beside(target, companion));
    for path in names.chain([target.to_owned()]) {
        if storage.attributes(&path).is_ok() {
            return Err(EngineError::Exists { path, can_force: false });
        }
    }
    Ok(())
}

/// The path of the file itself: a symbolic link remains one, to the new file.
pub fn real_path(storage: &dyn Storage, path: &Path) -> Result<PathBuf, EngineError> {
    storage.real_path(path).map_err(io_error("open", path))
}

/// Refuses a file with several names (hard links): only one of them would refer to the new file.
pub fn check_sole_name(path: &Path, attributes: &Attributes) -> Result<(), EngineError> {
    if attributes.link_count > 1 {
        return Err(EngineError::usage(
            format!("{}: has a hard link, which would keep the old contents", path.display()),
            "remove the other link, or use --to",
        ));
    }
    Ok(())
}
