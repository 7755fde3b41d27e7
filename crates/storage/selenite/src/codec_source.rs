//! The pages of a source as of its last commit: those of its file, its WAL and its journal.

mod logs;

use std::collections::HashMap;
use std::path::Path;
use std::time::SystemTime;

use selenite_codec::Codec;
use selenite_vfs::ffi::Code;

use logs::{Log, NotRestored};

use crate::bad_page::BadPage;
use crate::draft::beside;
use crate::error::io_error;
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::{EngineError, Watch};

/// The pages of a source.
pub struct SourcePages {
    file: RawFile,
    log: Option<RawFile>,
    codec: Codec,
    page_size: usize,
    page_count: u32,
    /// Those of the file alone.
    own_count: u32,
    not_restored: NotRestored,
    /// The offsets in the log of pages whose committed image is there.
    in_log: HashMap<u32, u64>,
    /// The reserved bytes at the end of each page, as the header has them.
    reserve: usize,
    is_wal: bool,
    mark: Vec<FileMark>,
}

/// Size and time of change of a file; `None` if there is none.
type FileMark = Option<(u64, Option<SystemTime>)>;

impl SourcePages {
    /// Locates every page. `file` is the database at `path`.
    pub fn load(
        (storage, path): (&dyn Storage, &Path),
        file: RawFile,
        (codec, page_bytes): (Codec, u32),
        watch: &Watch,
    ) -> Result<Self, EngineError> {
        let mark = marks(storage, path)?;
        let page_size = usize::try_from(page_bytes).unwrap_or(usize::MAX);
        let own_count = u32::try_from(file.size()?.div_ceil(u64::from(page_bytes))).unwrap_or(u32::MAX);
        let mut pages = Self {
            file,
            log: None,
            codec,
            page_size,
            page_count: own_count,
            own_count,
            not_restored: NotRestored::default(),
            in_log: HashMap::new(),
            reserve: 0,
            is_wal: false,
            mark,
        };
        if let Some(journal) = RawFile::open_if_there(storage, &beside(path, "-journal"))? {
            let found = logs::journal(storage, &journal, (&pages.codec, page_size), watch)?;
            pages.use_log(journal, found);
        }
        // A database in WAL mode has no hot journal: SQLite leaves WAL mode by a transaction with a
        // journal, after a checkpoint.
        if pages.log.is_none()
            && let Some(wal) = RawFile::open_if_there(storage, &beside(path, "-wal"))?
        {
            let found = logs::wal(&wal, (&pages.codec, page_size), watch)?;
            pages.use_log(wal, found);
        }
        let mut first = vec![0; page_size];
        pages.decrypt(1, &mut first).map_err(|_| EngineError::Refused {
            what: format!("{}: its first page can't be read", path.display()),
            pages: Vec::new(),
        })?;
        pages.is_wal = first.get(MODES) == Some(&[2, 2]);
        pages.reserve = first.get(RESERVE).copied().map_or(0, usize::from);
        Ok(pages)
    }

    fn use_log(&mut self, file: RawFile, found: Option<Log>) {
        if let Some(found) = found {
            self.page_count = found.page_count;
            self.in_log = found.pages;
            self.not_restored = found.not_restored;
            self.log = Some(file);
        }
    }

    /// The size of a page in bytes.
    pub fn page_size(&self) -> usize {
        self.page_size
    }

    /// How many bytes of a page SQLite uses.
    pub fn usable_size(&self) -> usize {
        self.page_size.saturating_sub(self.reserve)
    }

    /// How many pages there are.
    pub fn page_count(&self) -> u32 {
        self.page_count
    }

    /// How many of them can be there: a log that was altered may say anything.
    pub fn present_count(&self) -> u32 {
        let in_log = self.in_log.keys().copied().max().unwrap_or(0);
        self.page_count.min(self.own_count.max(in_log))
    }

    /// What is damaged in the journal.
    pub fn bad_logs(&self) -> &[BadPage] {
        &self.not_restored.records
    }

    /// Whether a page's image, if it has one, is certainly that of the last commit (no-uncommitted-substitute in
    /// `codec_source/logs.rs`).
    pub fn is_certain(&self, page_no: u32) -> bool {
        let may_lack_record = self.not_restored.may_be_others || self.not_restored.pages.contains(&page_no);
        !may_lack_record || self.in_log.contains_key(&page_no)
    }

    /// Whether it is SQLite's lock-byte page, which is never written.
    pub fn is_lock_page(&self, page_no: u32) -> bool {
        offset_of(page_no, self.page_size) == LOCK_BYTES
    }

    /// The size of the database in bytes.
    pub fn size(&self) -> u64 {
        u64::from(self.page_count) * u64::try_from(self.page_size).unwrap_or(u64::MAX)
    }

    /// Whether the database is in WAL mode.
    pub fn is_wal(&self) -> bool {
        self.is_wal
    }

    /// Whether the files are those that were loaded.
    pub fn is_unchanged(&self, storage: &dyn Storage, path: &Path) -> Result<bool, EngineError> {
        Ok(marks(storage, path)? == self.mark)
    }

    /// Reads a page as of an unencrypted database in rollback mode. `CORRUPT` if it is not
    /// authentic.
    pub fn read(&self, page_no: u32, out: &mut [u8]) -> Result<(), Code> {
        self.decrypt(page_no, out)?;
        if page_no == 1
            && let Some(modes) = out.get_mut(MODES)
        {
            modes.fill(1);
        }
        Ok(())
    }

    fn decrypt(&self, page_no: u32, out: &mut [u8]) -> Result<(), Code> {
        if page_no != 1 && self.not_restored.pages.contains(&page_no) {
            return Err(Code::CORRUPT);
        }
        let in_log = self.in_log.get(&page_no).copied();
        let (file, offset) = match (in_log, &self.log) {
            (Some(offset), Some(log)) => (log, offset),
            _ => (&self.file, offset_of(page_no, self.page_size)),
        };
        let count = file.read_at(out, offset).map_err(|_| Code::IOERR_READ)?;
        if count == 0 && !self.codec.is_authenticated() {
            // Beyond the end: zeros, which such a format would decrypt to anything.
            out.fill(0);
            return Ok(());
        }
        if count < out.len() {
            return Err(Code::CORRUPT);
        }
        self.codec.decrypt(page_no, out).map_err(|_| Code::CORRUPT)
    }
}

/// The offset of a page in the database file.
pub fn offset_of(page_no: u32, page_size: usize) -> u64 {
    u64::from(page_no.saturating_sub(1)) * u64::try_from(page_size).unwrap_or(u64::MAX)
}

fn marks(storage: &dyn Storage, path: &Path) -> Result<Vec<FileMark>, EngineError> {
    ["", "-wal", "-journal"]
        .iter()
        .map(|suffix| {
            let path = beside(path, suffix);
            match storage.attributes(&path) {
                Ok(found) => {
                    let changed = std::fs::metadata(&path).and_then(|metadata| metadata.modified()).ok();
                    Ok(Some((found.size, changed)))
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(io_error("read", &path)(error)),
            }
        })
        .collect()
}

/// The offset of the lock bytes (<https://sqlite.org/fileformat.html>, 1.4).
const LOCK_BYTES: u64 = 1 << 30;
/// The file format's write and read version in the header: 2 in WAL mode.
const MODES: std::ops::Range<usize> = 18..20;
/// The reserved bytes in the header.
const RESERVE: usize = 20;
