//! Authenticates the records of a rollback journal (FORMAT 7).
//!
//! J1. Only what a synced record count covers must be authentic (FORMAT 7.3); behind it the journal ends where SQLite's
//!     rollback would end it.

use std::path::Path;
use std::time::Duration;

use selenite_format::journal::{
    HEADER_SIZE, Header, RECORD_COUNT_UNKNOWN, Record, checksum, magic_from_disk, record_size, unmask_checksum,
};
use selenite_format::trailer::split_image;
use selenite_page::PageCipher;
use selenite_vfs::view::View;

use super::{BadPage, Findings, Origin};
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::{EngineError, Watch};

/// What a journal holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JournalReport {
    /// How many records were looked at.
    pub record_count: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// Authenticates a journal, if there is one with something in it.
pub fn check(
    storage: &dyn Storage,
    path: &Path,
    view: &View,
    watch: &Watch,
    findings: &mut Findings,
) -> Result<Option<JournalReport>, EngineError> {
    let mut looked = (None, Vec::new());
    for attempt in 0..LOOK_COUNT {
        std::thread::sleep(LOOK_PAUSE * attempt);
        looked = look(storage, path, view, watch)?;
        if looked.1.is_empty() {
            break;
        }
    }
    let (report, bad) = looked;
    for bad in bad {
        findings.add(bad);
    }
    Ok(report)
}

fn look(
    storage: &dyn Storage,
    path: &Path,
    view: &View,
    watch: &Watch,
) -> Result<(Option<JournalReport>, Vec<BadPage>), EngineError> {
    let Some(file) = RawFile::open_if_there(storage, path)? else {
        return Ok((None, Vec::new()));
    };
    let reading = read(&file, view, watch)?;
    // With no record it is finished: SQLite leaves it so in the journal modes PERSIST and TRUNCATE.
    let report = (reading.report.record_count > 0).then_some(reading.report);
    Ok((report, reading.bad))
}

/// A journal that was read to its end.
#[derive(Default)]
pub struct Reading {
    /// What it holds.
    pub report: JournalReport,
    /// Records that must be authentic and are not.
    pub bad: Vec<BadPage>,
    /// Pages and where their images begin, in the order of the journal.
    pub records: Vec<(u32, u64)>,
    /// How many pages the database had; `None` where the journal has no header: it is finished.
    pub page_count: Option<u32>,
}

/// Reads a journal.
pub fn read(file: &RawFile, view: &View, watch: &Watch) -> Result<Reading, EngineError> {
    let size = file.size()?;
    let mut journal = Journal {
        file,
        view,
        cipher: PageCipher::new(view.page_keys.clone()),
        size,
        reading: Reading::default(),
    };
    journal.reading.report.size = size;
    let mut at = 0;
    while let Some(header) = journal.header(at)? {
        watch.check()?;
        journal.reading.page_count.get_or_insert(header.page_count);
        at = journal.section(&header, at)?;
    }
    Ok(journal.reading)
}

struct Journal<'a> {
    file: &'a RawFile,
    view: &'a View,
    cipher: PageCipher,
    size: u64,
    reading: Reading,
}

impl Journal<'_> {
    fn header(&self, at: u64) -> Result<Option<Header>, EngineError> {
        let mut bytes = [0; HEADER_SIZE];
        if self.file.read_at(&mut bytes, at)? < HEADER_SIZE {
            return Ok(None);
        }
        if at == 0
            && let Some(start) = bytes.first_chunk::<8>()
        {
            let start = magic_from_disk(*start);
            bytes[..8].copy_from_slice(&start);
        }
        // A sector size that nobody has would make the next header lie anywhere.
        let is_sane = |header: &Header| {
            header.sector_size.is_power_of_two() && (SECTOR_MIN..=SECTOR_MAX).contains(&header.sector_size)
        };
        Ok(Header::parse(&bytes).filter(is_sane))
    }

    /// Checks the records behind a header; answers where the next header would be.
    fn section(&mut self, header: &Header, at: u64) -> Result<u64, EngineError> {
        let sector = u64::from(header.sector_size);
        let size = u64::try_from(record_size(self.view.geometry.page_size())).unwrap_or(u64::MAX);
        let first = at + sector;
        let room = self.size.saturating_sub(first) / size;
        let (count, is_synced) = match header.record_count {
            RECORD_COUNT_UNKNOWN => (room, false),
            count => (u64::from(count).min(room), true),
        };
        for index in 0..count {
            let at = first + index * size;
            match self.record(header, at)? {
                Ok(page_no) => self.reading.records.push((page_no, at + IMAGE_OFFSET)),
                Err(_) if !is_synced => return Ok(self.size),
                Err((page_no, why)) => self.reading.bad.push(BadPage {
                    origin: Origin::Journal,
                    page_no,
                    index: Some(self.reading.report.record_count),
                    why,
                }),
            }
            self.reading.report.record_count += 1;
        }
        Ok((first + count * size).next_multiple_of(sector))
    }

    /// Checks one record; answers which page it is, or what is wrong with it.
    fn record(&mut self, header: &Header, at: u64) -> Result<Result<u32, (u32, String)>, EngineError> {
        let page_size = self.view.geometry.page_size();
        let mut bytes = vec![0; record_size(page_size)];
        self.file.read_at(&mut bytes, at)?;
        let Some(record) = Record::parse(&bytes, page_size) else {
            return Ok(Err((0, "cut off".to_owned())));
        };
        let mut plain = vec![0; page_size.bytes()];
        if let Err(error) = self.cipher.open(record.page_no, record.image, &mut plain) {
            return Ok(Err((record.page_no.0, error.to_string())));
        }
        let mask = split_image(record.image).map_or(0, |(_, trailer)| self.view.log_key.journal_mask(trailer));
        let is_right = unmask_checksum(record.checksum, mask) == checksum(header.nonce, &plain);
        plain.fill(0);
        if is_right {
            return Ok(Ok(record.page_no.0));
        }
        Ok(Err((record.page_no.0, "its checksum is of another journal".to_owned())))
    }
}

/// A record's page number comes before its image.
const IMAGE_OFFSET: u64 = 4;
/// As for pages: somebody may be writing to the journal.
const LOOK_COUNT: u32 = 3;
const LOOK_PAUSE: Duration = Duration::from_millis(20);
/// As SQLite has them (pager.c, readJournalHdr).
const SECTOR_MIN: u32 = 32;
const SECTOR_MAX: u32 = 65536;
