//! Authenticates the records of a rollback journal (FORMAT 7).
//!
//! J1. Only what a synced record count covers must be authentic (FORMAT 7.3); behind it the journal ends where SQLite's
//!     rollback would end it.

use std::collections::BTreeMap;

use selenite_cipher::TRAILER_SIZE;
use selenite_format::journal::{
    HEADER_SIZE, Header, MAGIC, RECORD_COUNT_UNKNOWN, Record, checksum, magic_from_disk, record_size, unmask_checksum,
};
use selenite_format::trailer::split_image;
use selenite_page::PageCipher;
use selenite_vfs::view::View;

use super::keys::look_again;
use super::{BadPage, Findings, Origin, Subject};
use crate::draft::beside;
use crate::raw_file::RawFile;
use crate::{EngineError, Watch};

/// What a journal holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JournalReport {
    /// How many records were looked at.
    pub record_count: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A journal, and the pages that a rollback would put back.
pub(super) struct Found {
    /// What it holds.
    pub(super) report: JournalReport,
    /// The first authentic record of each page: the one that counts.
    pub(super) records: BTreeMap<u32, RecordAt>,
    /// Whether it is a part of a transaction over several databases, which may have been committed.
    pub(super) has_super_journal: bool,
    /// The file.
    pub(super) file: RawFile,
}

/// Authenticates a journal, if there is one with something in it.
pub(super) fn check(
    subject: &Subject<'_>,
    view: &mut View,
    findings: &mut Findings,
) -> Result<Option<Found>, EngineError> {
    let path = beside(subject.path, "-journal");
    let looked = look_again((subject.keys, subject.file), view, subject.watch, |view| {
        let Some(file) = RawFile::open_if_there(subject.storage, &path)? else {
            return Ok((None, true));
        };
        let reading = read(&file, view, subject.watch)?;
        let has_super_journal = has_super_journal(&file)?;
        let is_good = reading.bad.is_empty();
        Ok((Some((file, reading, has_super_journal)), is_good))
    })?;
    let Some((file, reading, has_super_journal)) = looked else {
        return Ok(None);
    };
    for bad in reading.bad {
        findings.add(bad);
    }
    let mut records = BTreeMap::new();
    for record in reading.records {
        records.entry(record.page_no).or_insert(record);
    }
    let found = Found {
        report: reading.report,
        records,
        has_super_journal,
        file,
    };
    // With no record it is finished: SQLite leaves it so in the journal modes PERSIST and TRUNCATE.
    Ok((found.report.record_count > 0).then_some(found))
}

/// Whether the name of a super-journal stands at the end (sqlite.org/fileformat.html, 3; pager.c, readSuperJournal).
fn has_super_journal(file: &RawFile) -> Result<bool, EngineError> {
    let mut end = [0; 8];
    let at = file.size()?.saturating_sub(8);
    Ok(file.read_at(&mut end, at)? == 8 && end == MAGIC)
}

/// A journal that was read to its end.
#[derive(Default)]
pub struct Reading {
    /// What it holds.
    pub report: JournalReport,
    /// Records that must be authentic and are not.
    pub bad: Vec<BadPage>,
    /// Records that are authentic, in the order of the journal.
    pub records: Vec<RecordAt>,
    /// How many pages the database had; `None` where the journal has no header: it is finished.
    pub page_count: Option<u32>,
}

/// A record in a journal.
#[derive(Clone, Copy, Debug)]
pub struct RecordAt {
    /// Which, from 0.
    pub index: u64,
    /// Which page it is.
    pub page_no: u32,
    /// Where its image begins.
    pub offset: u64,
    /// The trailer of that.
    pub trailer: [u8; TRAILER_SIZE],
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
                Ok(record) => self.reading.records.push(record),
                Err(_) if !is_synced => return Ok(self.size),
                Err((page_no, why)) => {
                    let index = Some(self.reading.report.record_count);
                    self.reading
                        .bad
                        .push(BadPage::new(Origin::Journal, page_no, index, why));
                }
            }
            self.reading.report.record_count += 1;
        }
        Ok((first + count * size).next_multiple_of(sector))
    }

    /// Checks one record; answers it, or which page it is and what is wrong with it.
    fn record(&mut self, header: &Header, at: u64) -> Result<Result<RecordAt, (u32, String)>, EngineError> {
        let page_size = self.view.geometry.page_size();
        let mut bytes = vec![0; record_size(page_size)];
        self.file.read_at(&mut bytes, at)?;
        let cut_off = || Ok(Err((0, "cut off".to_owned())));
        let Some(record) = Record::parse(&bytes, page_size) else {
            return cut_off();
        };
        let Some((_, trailer)) = split_image(record.image) else {
            return cut_off();
        };
        let mut plain = vec![0; page_size.bytes()];
        if let Err(error) = self.cipher.open(record.page_no, record.image, &mut plain) {
            return Ok(Err((record.page_no.0, error.to_string())));
        }
        let mask = self.view.log_key.journal_mask(trailer);
        let is_right = unmask_checksum(record.checksum, mask) == checksum(header.nonce, &plain);
        plain.fill(0);
        if !is_right {
            return Ok(Err((record.page_no.0, "its checksum is of another journal".to_owned())));
        }
        Ok(Ok(RecordAt {
            index: self.reading.report.record_count,
            page_no: record.page_no.0,
            offset: at + IMAGE_OFFSET,
            trailer: *trailer,
        }))
    }
}

/// A record's page number comes before its image.
const IMAGE_OFFSET: u64 = 4;
/// As SQLite has them (pager.c, readJournalHdr).
const SECTOR_MIN: u32 = 32;
const SECTOR_MAX: u32 = 65536;
