//! The VFS `selenite-import`: a database in another product's format, which SQLite reads as an
//! unencrypted one that nobody can change.
//!
//! - lock-while-open: the first connection to a [`Handle`] opens the file by the VFS below, and
//!   holds SQLite's EXCLUSIVE lock on it, or SHARED if the file may only be read.
//! - empty-until-set: the file is empty until its pages are set. SQLite reads a header when it opens
//!   a file, and reads it again with its first transaction.
//! - no-logs-for-sqlite: SQLite sees neither WAL nor journal: [`SourcePages`] has applied them.
//! - temporary-files-sealed: files without a name are opened by the VFS `selenite`.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_int};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use selenite_vfs::ClearFile;
use selenite_vfs::ffi::{
    Code, File, LockLevel, LowerFile, LowerVfs, Name, OpenFlags, OpenedFile, RawControl, ShmLock, ShmRegion, SyncFlags,
    Vfs,
};
use selenite_vfs::selenite::register_beside;

use super::source::SourcePages;
use crate::error::Class;
use crate::{EngineError, FileUri};

/// A source that connections of this process read.
pub struct Handle {
    number: u64,
    pages: OnceLock<SourcePages>,
    /// Pages that were asked for and are not authentic.
    bad: Mutex<BTreeSet<u32>>,
    is_locked: Mutex<bool>,
}

static HANDLES: Mutex<BTreeMap<u64, Weak<Handle>>> = Mutex::new(BTreeMap::new());
static NUMBERS: AtomicU64 = AtomicU64::new(1);
const NAME: &CStr = c"selenite-import";
/// The URI's parameter with the number of a handle.
const PARAMETER: &CStr = c"import";

/// Registers the VFS, once.
pub fn register() -> Result<(), EngineError> {
    static REGISTERED: OnceLock<Result<(), String>> = OnceLock::new();
    let registered =
        REGISTERED.get_or_init(|| register_beside(NAME, |below, sealed| Box::new(Import { below, sealed })));
    registered.clone().map_err(|what| EngineError::Sqlite {
        class: Class::Other,
        what,
        next: "report this".to_owned(),
    })
}

impl Default for Handle {
    fn default() -> Self {
        Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            pages: OnceLock::new(),
            bad: Mutex::default(),
            is_locked: Mutex::default(),
        }
    }
}

impl Handle {
    /// The URI by which connections open it.
    pub fn uri(self: &Arc<Self>, path: &Path) -> FileUri {
        let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
        handles.retain(|_, handle| handle.strong_count() > 0);
        handles.insert(self.number, Arc::downgrade(self));
        FileUri::new(path, "selenite-import").with("import", &self.number.to_string())
    }

    /// Sets the pages, once.
    pub fn set(&self, pages: SourcePages) {
        let _ = self.pages.set(pages);
    }

    /// The pages, after they were set.
    pub fn pages(&self) -> Result<&SourcePages, EngineError> {
        self.pages
            .get()
            .ok_or_else(|| EngineError::usage("the source is not open", "report this"))
    }

    /// The pages that were asked for and are not authentic.
    pub fn bad_pages(&self) -> Vec<u32> {
        let bad = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
        bad.iter().copied().collect()
    }

    fn find(number: &str) -> Option<Arc<Self>> {
        let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
        handles.get(&number.parse().ok()?)?.upgrade()
    }
}

struct Import {
    below: LowerVfs,
    sealed: LowerVfs,
}

impl Vfs for Import {
    fn open(&self, name: Option<&Name<'_>>, flags: OpenFlags) -> Result<OpenedFile, Code> {
        let Some(name) = name else {
            // temporary-files-sealed
            let (file, flags) = self.sealed.open(None, flags)?;
            return Ok(OpenedFile {
                file: Box::new(ClearFile::new(file)),
                flags,
                has_shm: false,
            });
        };
        if !flags.has(OpenFlags::MAIN_DB) {
            return Err(Code::CANTOPEN);
        }
        let number = name.parameter(PARAMETER).ok_or(Code::CANTOPEN)?;
        let handle = Handle::find(&number).ok_or(Code::CANTOPEN)?;
        let lock = handle.lock(name, self.below)?;
        Ok(OpenedFile {
            file: Box::new(SourceFile {
                handle,
                lock,
                page_no: 0,
                page: Vec::new(),
            }),
            flags: OpenFlags(OpenFlags::MAIN_DB.0 | OpenFlags::READ_ONLY.0),
            has_shm: false,
        })
    }

    fn delete(&self, _: &CStr, _: bool) -> Result<(), Code> {
        Err(Code::READONLY)
    }

    /// no-logs-for-sqlite
    fn access(&self, _: &CStr, _: c_int) -> Result<bool, Code> {
        Ok(false)
    }

    fn full_pathname(&self, path: &CStr, out: &mut [u8]) -> Result<bool, Code> {
        self.below.full_pathname(path, out)
    }

    /// temporary-files-sealed
    fn is_sealing(&self) -> bool {
        true
    }
}

impl Handle {
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

/// The source, as one connection reads it.
struct SourceFile {
    handle: Arc<Handle>,
    /// The locked file, in the first connection.
    lock: Option<LowerFile>,
    /// The page read last; 0 if none was.
    page_no: u32,
    page: Vec<u8>,
}

impl Drop for SourceFile {
    fn drop(&mut self) {
        if self.lock.take().is_some() {
            *self.handle.is_locked.lock().unwrap_or_else(PoisonError::into_inner) = false;
        }
    }
}

impl SourceFile {
    fn load(&mut self, page_no: u32) -> Result<&[u8], Code> {
        let pages = self.handle.pages.get().ok_or(Code::IOERR)?;
        if self.page_no != page_no {
            self.page_no = 0;
            self.page.resize(pages.page_size(), 0);
            pages.read(page_no, &mut self.page).map_err(|failure| {
                let mut bad = self.handle.bad.lock().unwrap_or_else(PoisonError::into_inner);
                if bad.len() < BAD_LISTED_MAX && failure == Code::CORRUPT {
                    bad.insert(page_no);
                }
                failure
            })?;
            self.page_no = page_no;
        }
        Ok(&self.page)
    }
}

impl File for SourceFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        let size = self.size()?;
        let page_size = self.handle.pages.get().map_or(0, SourcePages::page_size);
        let page_bytes = u64::try_from(page_size).map_err(|_| Code::IOERR)?.max(1);
        let mut at = offset;
        let mut rest = out;
        while !rest.is_empty() {
            if at >= size {
                rest.fill(0);
                return Err(Code::IOERR_SHORT_READ);
            }
            let page_no = u32::try_from(at / page_bytes + 1).map_err(|_| Code::IOERR)?;
            let within = usize::try_from(at % page_bytes).map_err(|_| Code::IOERR)?;
            let count = rest.len().min(page_size - within);
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(&self.load(page_no)?[within..within + count]);
            at += u64::try_from(count).map_err(|_| Code::IOERR)?;
            rest = later;
        }
        Ok(())
    }

    fn write(&mut self, _: &[u8], _: u64) -> Result<(), Code> {
        Err(Code::READONLY)
    }

    fn truncate(&mut self, _: u64) -> Result<(), Code> {
        Err(Code::READONLY)
    }

    fn sync(&mut self, _: SyncFlags) -> Result<(), Code> {
        Ok(())
    }

    fn size(&mut self) -> Result<u64, Code> {
        Ok(self.handle.pages.get().map_or(0, SourcePages::size))
    }

    fn lock(&mut self, _: LockLevel) -> Result<(), Code> {
        Ok(())
    }

    fn unlock(&mut self, _: LockLevel) -> Result<(), Code> {
        Ok(())
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        Ok(false)
    }

    fn control(&mut self, _: &mut RawControl) -> Result<(), Code> {
        Err(Code::NOTFOUND)
    }

    fn sector_size(&mut self) -> c_int {
        4096
    }

    fn device_characteristics(&mut self) -> c_int {
        0
    }

    fn shm_map(&mut self, _: c_int, _: c_int, _: bool) -> Result<Option<ShmRegion>, Code> {
        Err(Code::NOTFOUND)
    }

    fn shm_lock(&mut self, _: ShmLock) -> Result<(), Code> {
        Err(Code::NOTFOUND)
    }

    fn shm_barrier(&mut self) {}

    fn shm_unmap(&mut self, _: bool) -> Result<(), Code> {
        Ok(())
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// 1,000: a longer list has no use beyond its count.
const BAD_LISTED_MAX: usize = 1000;
