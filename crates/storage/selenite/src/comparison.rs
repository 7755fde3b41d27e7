//! Compares a copy that VACUUM made with its source: by the contents of their pages, or otherwise
//! value by value.
//!
//! - digest-while-copying: a second thread computes the digest of the source while the first makes
//!   the copy: no process writes to the source meanwhile.
//! - equal-trees-suffice: a copy is accepted at once if its definitions and trees are those of its
//!   source (`tree_digest`, vacuum-keeps-records). Any other result is inconclusive: the caller
//!   then compares all values ([`crate::transfer::compare`]).
//! - read-from-file: the copy is read from its file, after SQLite has closed it: every page that
//!   the file holds is compared.

use std::hash::RandomState;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use selenite_vfs::view::View;

use crate::content_digest::ContentDigest;
use crate::draft::beside;
use crate::error::io_error;
use crate::storage::{ReadAt, Storage};
use crate::transfer::SourceLayout;
use crate::tree_digest::{DigestFault, FilePages, Form, SnapshotPages, TreeDigest, Trees};
use crate::watch::Observer;
use crate::{Database, EngineError, Progress, Watch};

/// A second access to a source's pages.
pub enum PageAccess {
    /// Its file, which is locked and contains all pages.
    File(Arc<dyn ReadAt>),
    /// Another connection: other connections may read, and the log may contain pages.
    Connection(Box<Database>),
}

/// A source, with a second access to its pages.
pub struct SourceDigest {
    page_access: PageAccess,
    outline: ContentDigest,
    trees: Trees,
    page_bytes: usize,
    hashing: RandomState,
    digest: Option<TreeDigest>,
}

impl SourceDigest {
    /// Reads the definitions and trees that the copy must have.
    pub fn new(source: &Database, layout: &SourceLayout, page_access: PageAccess) -> Result<Self, EngineError> {
        Ok(Self {
            page_access,
            outline: ContentDigest::outline(source)?,
            trees: Trees::of(source)?,
            page_bytes: usize::try_from(layout.page_bytes).unwrap_or(0),
            hashing: RandomState::new(),
            digest: None,
        })
    }

    /// `digest-while-copying`: runs `copy`, and computes the digest of the source. `view` opens the
    /// pages of a sealed file.
    pub fn while_copying(
        &mut self,
        view: Option<&View>,
        watch: &Watch,
        copy: impl FnOnce() -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let observer = Arc::new(StopOnFailure {
            watch: watch.clone(),
            stop: AtomicBool::new(false),
        });
        let quiet = Watch::new(observer.clone());
        let (copied, digest) = std::thread::scope(|scope| {
            let digesting = scope.spawn(|| self.digest(view, &quiet));
            let copied = copy();
            if copied.is_err() {
                observer.stop.store(true, Ordering::Relaxed);
            }
            (copied, digesting.join())
        });
        copied?;
        // If an error here matters, it occurs again when values are compared.
        self.digest = digest.ok().and_then(Result::ok);
        Ok(())
    }

    fn digest(&mut self, view: Option<&View>, watch: &Watch) -> Result<TreeDigest, DigestFault> {
        let (trees, hashing) = (&self.trees, &self.hashing);
        match &mut self.page_access {
            PageAccess::File(file) => {
                let form = view.map_or(Form::Clear(self.page_bytes), Form::Sealed);
                let mut pages = FilePages::new(file.as_ref(), form);
                TreeDigest::of(trees, &mut pages, self.page_bytes, hashing, watch)
            }
            PageAccess::Connection(database) => {
                database.batch("BEGIN").map_err(DigestFault::Read)?;
                let digest = SnapshotPages::new(database)
                    .and_then(|mut pages| TreeDigest::of(trees, &mut pages, self.page_bytes, hashing, watch));
                database.batch("ROLLBACK").map_err(DigestFault::Read)?;
                digest
            }
        }
    }

    /// The trees of a copy, if it has the same definitions and settings.
    pub fn trees_of(&self, copy: &Database) -> Result<Option<Trees>, EngineError> {
        if self.digest.is_none() || self.outline.compare(&ContentDigest::outline(copy)?).is_err() {
            return Ok(None);
        }
        Ok(Some(Trees::of(copy)?))
    }

    /// equal-trees-suffice, read-from-file. The digest of a closed copy, if it equals that of its source.
    ///
    /// [`EngineError::CopyDiffers`] if its pages are not those of a database, or not authentic.
    pub fn if_same(
        &self,
        storage: &dyn Storage,
        (copy, form): (&Path, Form<'_>),
        trees: Option<Trees>,
        watch: &Watch,
    ) -> Result<Option<TreeDigest>, EngineError> {
        let has_log = ["-wal", "-journal"]
            .iter()
            .any(|log| storage.attributes(&beside(copy, log)).is_ok_and(|found| found.size > 0));
        let (Some(trees), false) = (trees, has_log) else {
            return Ok(None);
        };
        let file = storage.open(copy).map_err(io_error("read", copy))?;
        match TreeDigest::of_file(&trees, (file.as_ref(), form), &self.hashing, watch) {
            Ok(digest) if self.digest.as_ref() == Some(&digest) => Ok(Some(digest)),
            Ok(_) => Ok(None),
            Err(DigestFault::Read(error)) => Err(error),
            Err(DigestFault::Shape(what)) => Err(EngineError::CopyDiffers { what }),
        }
    }
}

/// Reports no progress. It is interrupted when the operation is, or when the copy has failed.
struct StopOnFailure {
    watch: Watch,
    stop: AtomicBool,
}

impl Observer for StopOnFailure {
    fn progress(&self, _: Progress) {}

    fn is_interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.watch.is_interrupted()
    }
}
