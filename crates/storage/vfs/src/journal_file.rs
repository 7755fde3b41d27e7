//! The rollback journal (FORMAT 7).
//!
//! - recognised-by-order: a page is recognised by a 4-byte access exactly 4 bytes before it, its
//!   checksum by its offset directly after it.
//! - nothing-else-is-written: data that is neither header, page number, sealed page, checksum nor
//!   the name of a super-journal is not written.
//! - unsynced-record-ends: a record that cannot be opened ends the journal only if it may never
//!   have been synced: beyond the record count of its header, in a journal that this connection did
//!   not write. Otherwise it is an error that names the page.

use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;

use selenite_cipher::{PageNo, TRAILER_SIZE};
use selenite_format::Geometry;
use selenite_format::journal::{self, HEADER_SIZE, MAGIC, RECORD_COUNT_UNKNOWN};

use crate::database::{Content, Database};
use crate::device;
use crate::error::VfsError;
use crate::ffi::{Code, File, LockLevel, LowerFile, RawControl, SyncFlags};
use crate::role::Role;
use crate::sealer::Sealer;
use crate::view::View;

/// An open rollback journal.
pub struct JournalFile {
    database: Arc<Database>,
    lower: LowerFile,
    sealer: Sealer,
    /// The last access of 4 bytes: its offset and the number.
    number: Option<(u64, u32)>,
    /// The offset of the last record's checksum, and its mask.
    checksum: Option<(u64, u32)>,
    segment: Segment,
    /// Where the records end that this connection wrote into the journal. Behind them, in `journal_mode=PERSIST`, are
    /// what is left of earlier ones.
    own_end: u64,
    /// The sealed image of the current page.
    image: Vec<u8>,
}

/// The journal header that applies to the records SQLite is reading.
#[derive(Default)]
struct Segment {
    start: u64,
    record_count: u32,
    sector_size: u32,
}

impl Segment {
    /// Whether the header's record count, which is written and synced after the records, includes
    /// the record at `offset`.
    fn covers(&self, offset: u64, record_size: u64) -> bool {
        let first = self.start + u64::from(self.sector_size);
        self.record_count != RECORD_COUNT_UNKNOWN
            && offset >= first
            && (offset - first) / record_size < u64::from(self.record_count)
    }
}

impl JournalFile {
    /// A journal that was just opened.
    ///
    /// # Errors
    /// If the system's random number generator fails.
    pub fn new(database: Arc<Database>, lower: LowerFile) -> Result<Self, VfsError> {
        Ok(Self {
            database,
            lower,
            sealer: Sealer::new(Role::Journal)?,
            number: None,
            checksum: None,
            segment: Segment::default(),
            own_end: 0,
            image: Vec::new(),
        })
    }

    fn is_plain(&self) -> bool {
        matches!(self.database.content(), Content::Plain)
    }

    fn try_read(&mut self, out: &mut [u8], offset: u64) -> Result<(), VfsError> {
        if self.is_plain() {
            return Ok(self.lower.read(out, offset)?);
        }
        if let (Some(view), Some((at, number))) = (self.sealer.view(&self.database), self.number)
            && out.len() == view.page_bytes()
            && offset == at + 4
        {
            return self.read_page(PageNo(number), out, offset, &view);
        }
        if offset < MAGIC_SIZE {
            return self.read_start(out, offset);
        }
        self.lower.read(out, offset)?;
        self.note_read(out, offset);
        Ok(())
    }

    /// Reads the first bytes; the very first is 0 on disk (FORMAT 7.1).
    fn read_start(&mut self, out: &mut [u8], offset: u64) -> Result<(), VfsError> {
        let mut start = [0; 8];
        match self.lower.read(&mut start, 0) {
            Ok(()) | Err(Code::IOERR_SHORT_READ) => {}
            Err(code) => return Err(code.into()),
        }
        let read = self.lower.read(out, offset);
        let start = journal::magic_from_disk(start);
        let skipped = usize::try_from(offset).map_err(|_| Code::IOERR_READ)?;
        for (byte, &known) in out.iter_mut().zip(&start[skipped..]) {
            *byte = known;
        }
        read?;
        self.note_read(out, offset);
        Ok(())
    }

    /// Follows SQLite's reads of headers and records: readJournalHdr reads the magic, then each
    /// number separately.
    fn note_read(&mut self, out: &[u8], offset: u64) {
        if out == MAGIC {
            self.segment = Segment {
                start: offset,
                ..Segment::default()
            };
        }
        let Some(number) = number_of(out) else { return };
        self.number = Some((offset, number));
        if offset == self.segment.start + 8 {
            self.segment.record_count = number;
        } else if offset == self.segment.start + 20 {
            self.segment.sector_size = number;
        }
    }

    fn read_page(&mut self, page_no: PageNo, out: &mut [u8], offset: u64, view: &View) -> Result<(), VfsError> {
        out.fill(0);
        self.image.resize(view.page_bytes(), 0);
        self.lower.read(&mut self.image, offset)?;
        let opened = match self.sealer.open(&self.database, page_no, &self.image, out) {
            Err(VfsError::UnknownEpoch { .. }) => {
                self.database.refresh(&mut self.database.lock())?;
                self.sealer.open(&self.database, page_no, &self.image, out)
            }
            opened => opened,
        };
        match opened {
            Ok(()) => self.note_image(offset, view),
            Err(VfsError::Unauthentic { .. } | VfsError::UnknownEpoch { .. })
                if offset >= self.own_end && !self.is_covered(offset, view) =>
            {
                let text = format!(
                    "page {} of the journal is not authentic: the journal ends before it",
                    page_no.0
                );
                self.database.host.remark(&self.database.path, &text);
                // pager_playback treats a short read as the end of a journal that was never synced.
                return Err(Code::IOERR_SHORT_READ.into());
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn is_covered(&self, page_offset: u64, view: &View) -> bool {
        let record_size = view.geometry.page_size().as_u64() + 8;
        self.segment.covers(page_offset - 4, record_size)
    }

    /// Remembers the offset of the checksum of the record in `self.image`, and its mask.
    fn note_image(&mut self, page_offset: u64, view: &View) {
        if let Some(trailer) = self.image.last_chunk::<TRAILER_SIZE>() {
            let place = page_offset + view.geometry.page_size().as_u64();
            self.checksum = Some((place, view.log_key.journal_mask(trailer)));
        }
    }

    fn try_write(&mut self, data: &[u8], offset: u64) -> Result<(), VfsError> {
        if self.is_plain() {
            return Ok(self.lower.write(data, offset)?);
        }
        let view = self.sealer.view(&self.database);
        if let (Some(view), Some((at, number))) = (&view, self.number)
            && data.len() == view.page_bytes()
            && offset == at + 4
        {
            return self.write_page(PageNo(number), data, offset, view);
        }
        if let Some(number) = number_of(data) {
            return self.write_number(number, offset);
        }
        // PAGER_SJ_PGNO (pager.c): the name of the super-journal follows the number of the lock-byte page.
        let geometry = view.map_or(Geometry::new(self.database.settings.page_size), |view| view.geometry);
        let is_name = self
            .number
            .is_some_and(|(at, number)| offset == at + 4 && number == geometry.lock_page().0);
        if !is_name && !is_header(data) && data != MAGIC {
            return Err(VfsError::SettingsMismatch(
                "a write to the journal that is not one of a journal's",
            ));
        }
        if is_header(data) && data.starts_with(&MAGIC) {
            self.sealer.begin();
        }
        self.number = None;
        if offset == 0 {
            self.own_end = 0;
        }
        if offset != 0 || data.len() < 8 {
            return Ok(self.lower.write(data, offset)?);
        }
        let mut header = data.to_vec();
        let (start, _) = header.split_first_chunk_mut::<8>().ok_or(Code::IOERR_WRITE)?;
        *start = journal::magic_to_disk(*start);
        Ok(self.lower.write(&header, offset)?)
    }

    fn write_page(&mut self, page_no: PageNo, data: &[u8], offset: u64, view: &View) -> Result<(), VfsError> {
        self.image.resize(view.page_bytes(), 0);
        self.sealer.seal(&self.database, page_no, data, &mut self.image)?;
        self.note_image(offset, view);
        self.own_end = self.own_end.max(offset + view.geometry.page_size().as_u64());
        Ok(self.lower.write(&self.image, offset)?)
    }

    fn write_number(&mut self, number: u32, offset: u64) -> Result<(), VfsError> {
        let number_on_disk = match self.checksum {
            Some((at, mask)) if at == offset => {
                // A header of the size of a page may follow directly; it must not be taken for a
                // page.
                self.number = None;
                journal::mask_checksum(number, mask)
            }
            Some(_) | None => {
                self.number = Some((offset, number));
                number
            }
        };
        Ok(self.lower.write(&number_on_disk.to_be_bytes(), offset)?)
    }

    fn report<T>(&self, result: Result<T, VfsError>) -> Result<T, Code> {
        result.map_err(|error| self.database.report(&error))
    }
}

/// Whether `data` is a header as SQLite writes it (writeJournalHdr, syncJournal, zeroJournalHdr in
/// pager.c): the magic (zeros until the records are synced), five numbers, and zeros up to the end
/// of the sector, or of the page if sectors are larger: then the header is repeated up to the end
/// of the sector; or magic and record count alone; or zeros alone.
fn is_header(data: &[u8]) -> bool {
    let numbers = match data.len() {
        12 if data.starts_with(&MAGIC) => 8..12,
        size if (HEADER_SIZE..=SECTOR_SIZE_MAX).contains(&size)
            && (data.starts_with(&MAGIC) || data.starts_with(&[0; 8])) =>
        {
            8..HEADER_SIZE
        }
        _ => 0..0,
    };
    let magic = if numbers.is_empty() { 0 } else { MAGIC.len() };
    data[magic..numbers.start.max(magic)]
        .iter()
        .chain(&data[numbers.end..])
        .all(|&byte| byte == 0)
}

fn number_of(data: &[u8]) -> Option<u32> {
    data.try_into().ok().map(u32::from_be_bytes)
}

impl File for JournalFile {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        let read = self.try_read(out, offset);
        if let (Some((at, mask)), Some(masked)) = (self.checksum, number_of(out))
            && read.is_ok()
            && at == offset
        {
            out.copy_from_slice(&journal::unmask_checksum(masked, mask).to_be_bytes());
        }
        self.report(read)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        let written = self.try_write(data, offset);
        self.report(written)
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        self.number = None;
        self.checksum = None;
        self.own_end = self.own_end.min(size);
        self.lower.truncate(size)
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        self.database.host.sync_clock.time(|| self.lower.sync(flags))
    }

    fn size(&mut self) -> Result<u64, Code> {
        self.lower.size()
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.lower.lock(level.0)
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.lower.unlock(level.0)
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        self.lower.check_reserved_lock()
    }

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        device::control_beside_main(&mut self.lower, control)
    }

    fn sector_size(&mut self) -> c_int {
        self.lower.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        device::characteristics(self.lower.device_characteristics(), self.is_plain())
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

const MAGIC_SIZE: u64 = 8;
/// MAX_SECTOR_SIZE (pager.c). If overwriting is powersafe SQLite assumes sectors of 512 bytes, else
/// the size that the device reports.
const SECTOR_SIZE_MAX: usize = 65536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_what_sqlite_writes_and_nothing_else() {
        let mut header = [0; 512];
        header[8..28].fill(9);
        assert!(is_header(&header));
        header[..8].copy_from_slice(&MAGIC);
        assert!(is_header(&header));
        assert!(is_header(&header[..12]));
        assert!(is_header(&[0; 28]) && is_header(&[0]) && is_header(&[0; 4096]));
        assert!(!is_header(&header[..20]));
        assert!(!is_header(b"a value of eight bytes or more") && !is_header(&[1]));
        header[28] = 1;
        assert!(!is_header(&header));
        let mut page = [0; 4096];
        page[8..28].fill(9);
        assert!(is_header(&page), "a sector of 4096 bytes");
        page[4095] = 1;
        assert!(!is_header(&page));
    }
}
