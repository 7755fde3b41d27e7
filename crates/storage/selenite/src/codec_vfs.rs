//! The VFS `selenite-codec`: a database in another product's format, which SQLite reads or writes as
//! an unencrypted one.
//!
//! - lock-while-open: the first connection to a [`Source`] opens the file by the VFS below, and
//!   holds SQLite's EXCLUSIVE lock on it, or SHARED if the file may only be read.
//! - empty-until-set: a source is empty until its pages are set. SQLite reads a header when it opens
//!   a file, and reads it again with its first transaction.
//! - no-logs-for-sqlite: SQLite sees neither WAL nor journal of a source: [`SourcePages`] has applied
//!   them. The journal of a new database is a file without a name.
//! - nameless-files-sealed: files without a name are opened by the VFS `selenite`.

mod source_file;
mod target_file;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_int};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use selenite_codec::Codec;
use selenite_vfs::ClearFile;
use selenite_vfs::ffi::{Code, LockLevel, LowerFile, LowerVfs, Name, OpenFlags, OpenedFile, Vfs};
use selenite_vfs::selenite::register_beside;
use source_file::SourceFile;
use target_file::TargetFile;

use crate::codec_source::SourcePages;
use crate::error::Class;
use crate::{EngineError, FileUri};

/// A database that connections of this process read.
pub struct ImportSource {
    number: u64,
    pages: OnceLock<SourcePages>,
    /// Pages that were asked for and are not authentic.
    bad: Mutex<BTreeSet<u32>>,
    is_locked: Mutex<bool>,
}

/// A new database that VACUUM INTO writes.
pub struct ExportTarget {
    number: u64,
    codec: Codec,
    /// The size of its pages in bytes.
    page_size: usize,
}

/// What the URIs of connections refer to, by number.
#[derive(Default)]
struct Registry {
    sources: BTreeMap<u64, Weak<ImportSource>>,
    targets: BTreeMap<u64, Weak<ExportTarget>>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    sources: BTreeMap::new(),
    targets: BTreeMap::new(),
});
static NUMBERS: AtomicU64 = AtomicU64::new(1);
const NAME: &CStr = c"selenite-codec";
/// The URI's parameters with the number of a source or target.
const SOURCE: &CStr = c"source";
const TARGET: &CStr = c"target";

/// Registers the VFS, once.
pub fn register() -> Result<(), EngineError> {
    static REGISTERED: OnceLock<Result<(), String>> = OnceLock::new();
    let make = |below, sealed| -> Box<dyn Vfs> { Box::new(CodecVfs { below, sealed }) };
    let registered = REGISTERED.get_or_init(|| register_beside(NAME, make));
    registered.clone().map_err(|what| EngineError::Sqlite {
        class: Class::Other,
        what,
        next: "report this".to_owned(),
    })
}

impl Default for ImportSource {
    fn default() -> Self {
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            pages: OnceLock::new(),
            bad: Mutex::default(),
            is_locked: Mutex::default(),
        }
    }
}

impl ImportSource {
    /// The URI by which connections open it.
    pub fn uri(self: &Arc<Self>, path: &Path) -> FileUri {
        let mut registry = registry();
        registry.sources.retain(|_, source| source.strong_count() > 0);
        registry.sources.insert(self.number, Arc::downgrade(self));
        uri(path, SOURCE, self.number)
    }

    /// Sets the pages, once.
    pub fn set(&self, pages: SourcePages) {
        let _ = self.pages.set(pages);
    }

    /// The pages, after they were set.
    pub fn pages(&self) -> Result<&SourcePages, EngineError> {
        let pages = self.pages.get();
        pages.ok_or_else(|| EngineError::usage("the source is not open", "report this"))
    }

    /// The pages that were asked for and are not authentic.
    pub fn bad_pages(&self) -> Vec<u32> {
        let bad = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
        bad.iter().copied().collect()
    }

    /// lock-while-open
    fn lock(&self, name: &Name<'_>, below: LowerVfs) -> Result<Option<LowerFile>, Code> {
        let mut is_locked = self.is_locked.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_locked {
            return Ok(None);
        }
        let (mut file, flags) = below.open(Some(name), OpenFlags(OpenFlags::MAIN_DB.0 | OpenFlags::READ_WRITE.0))?;
        file.lock(LockLevel::SHARED.0)?;
        if !flags.has(OpenFlags::READ_ONLY) {
            file.lock(LockLevel::EXCLUSIVE.0)?;
        }
        *is_locked = true;
        Ok(Some(file))
    }
}

impl ExportTarget {
    /// A new database with pages of `page_size` bytes.
    pub fn new(codec: Codec, page_size: usize) -> Arc<Self> {
        Arc::new(Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            codec,
            page_size,
        })
    }

    /// The URI by which VACUUM INTO writes it.
    pub fn uri(self: &Arc<Self>, path: &Path) -> FileUri {
        let mut registry = registry();
        registry.targets.retain(|_, target| target.strong_count() > 0);
        registry.targets.insert(self.number, Arc::downgrade(self));
        uri(path, TARGET, self.number).with("reserve", &self.codec.reserve().to_string())
    }
}

fn registry() -> std::sync::MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn uri(path: &Path, parameter: &CStr, number: u64) -> FileUri {
    FileUri::new(path, &NAME.to_string_lossy()).with(&parameter.to_string_lossy(), &number.to_string())
}

struct CodecVfs {
    below: LowerVfs,
    sealed: LowerVfs,
}

impl CodecVfs {
    /// nameless-files-sealed
    fn open_nameless(&self, flags: OpenFlags) -> Result<OpenedFile, Code> {
        let (file, flags) = self.sealed.open(None, flags)?;
        Ok(OpenedFile {
            file: Box::new(ClearFile::new(file)),
            flags,
            has_shm: false,
        })
    }

    fn open_main(&self, name: &Name<'_>, flags: OpenFlags) -> Result<OpenedFile, Code> {
        let number = |key| name.parameter(key)?.parse().ok();
        let (source, target) = (number(SOURCE), number(TARGET));
        if let Some(source) = source.and_then(|number: u64| registry().sources.get(&number)?.upgrade()) {
            let lock = source.lock(name, self.below)?;
            return Ok(OpenedFile {
                file: Box::new(SourceFile::new(source, lock)),
                flags: OpenFlags(OpenFlags::MAIN_DB.0 | OpenFlags::READ_ONLY.0),
                has_shm: false,
            });
        }
        let target = target.and_then(|number: u64| registry().targets.get(&number)?.upgrade());
        let target = target.ok_or(Code::CANTOPEN)?;
        let (lower, flags) = self.below.open(Some(name), flags)?;
        Ok(OpenedFile {
            file: Box::new(TargetFile::new(target, lower)),
            flags,
            has_shm: false,
        })
    }
}

impl Vfs for CodecVfs {
    fn open(&self, name: Option<&Name<'_>>, flags: OpenFlags) -> Result<OpenedFile, Code> {
        match name {
            Some(name) if flags.has(OpenFlags::MAIN_DB) => self.open_main(name, flags),
            // no-logs-for-sqlite
            Some(_) if flags.has(OpenFlags::MAIN_JOURNAL) => {
                let nameless = OpenFlags::TEMP_JOURNAL.0 | OpenFlags::READ_WRITE.0 | OpenFlags::CREATE.0;
                self.open_nameless(OpenFlags(nameless | OpenFlags::DELETE_ON_CLOSE.0))
            }
            None => self.open_nameless(flags),
            Some(_) => Err(Code::CANTOPEN),
        }
    }

    /// Of a journal, which has no name here.
    fn delete(&self, _: &CStr, _: bool) -> Result<(), Code> {
        Ok(())
    }

    /// no-logs-for-sqlite
    fn access(&self, _: &CStr, _: c_int) -> Result<bool, Code> {
        Ok(false)
    }

    fn full_pathname(&self, path: &CStr, out: &mut [u8]) -> Result<bool, Code> {
        self.below.full_pathname(path, out)
    }

    fn is_sealing(&self) -> bool {
        true
    }
}
