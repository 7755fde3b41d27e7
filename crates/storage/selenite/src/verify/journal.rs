//! Authenticates the records of a rollback journal (FORMAT 7).
//!
//! - synced-records-only: only records that a synced record count covers must be authentic (FORMAT
//!   7.3); after them the journal ends where SQLite's rollback would end it.
//! - unreadable-is-bad: a record that can't be read is bad, wherever it is: no crash causes that,
//!   and a rollback would fail at it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use selenite_cipher::{PageCipher, TRAILER_SIZE};
use selenite_format::{
    journal::{
        HEADER_SIZE, Header, MAGIC, RECORD_COUNT_UNKNOWN, Record as RecordBytes, checksum, magic_from_disk,
        record_size, unmask_checksum,
    },
    trailer::split_image,
};
use selenite_vfs::view::View;

use super::keys::look_again;
use super::{BAD_LISTED_MAX, BadPage, Findings, Origin, Subject};
use crate::{EngineError, Watch, draft::beside, platform::name_of, raw_file::RawFile, storage::Storage};

/// The size of a journal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JournalReport {
    /// How many records were read.
    pub record_count: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// A journal, and the pages that a rollback would restore.
pub(super) struct JournalRecords {
    /// Its size.
    pub(super) report: JournalReport,
    /// The first authentic record of each page, which is the one that a rollback uses.
    pub(super) records: BTreeMap<u32, RecordAt>,
    /// How many pages the database had before the transaction.
    pub(super) page_count: u32,
    /// Whether it is part of a transaction over several databases, which may have been committed.
    pub(super) has_super_journal: bool,
    /// The file.
    pub(super) file: RawFile,
}

/// Authenticates a journal, if there is one that is not empty.
pub(super) fn check(
    subject: &Subject<'_>,
    view: &mut View,
    findings: &mut Findings,
) -> Result<Option<JournalRecords>, EngineError> {
    let looked = look_again((subject.keys, subject.file), view, subject.watch, |view| {
        let loaded = load_with_bad(subject, view)?;
        let is_good = loaded.as_ref().is_none_or(|(_, bad)| bad.is_empty());
        Ok((loaded, is_good))
    })?;
    let Some((found, bad)) = looked else {
        return Ok(None);
    };
    for bad in bad {
        findings.add(bad);
    }
    Ok(is_hot(&found).then_some(found))
}

/// Reads a journal, if there is one that is not empty.
pub(super) fn load(subject: &Subject<'_>, view: &View) -> Result<Option<JournalRecords>, EngineError> {
    let loaded = load_with_bad(subject, view)?;
    Ok(loaded.map(|(found, _)| found).filter(is_hot))
}

fn load_with_bad(subject: &Subject<'_>, view: &View) -> Result<Option<(JournalRecords, Vec<BadPage>)>, EngineError> {
    let path = beside(subject.path, "-journal");
    let Some(file) = RawFile::open_if_there(subject.storage, &path)? else {
        return Ok(None);
    };
    let reading = read(&file, view, subject.watch)?;
    let mut records = BTreeMap::new();
    for record in reading.records {
        records.entry(record.page_no).or_insert(record);
    }
    let found = JournalRecords {
        report: reading.report,
        records,
        page_count: reading.page_count.unwrap_or(0),
        has_super_journal: super_journal(&file).is_some(),
        file,
    };
    Ok(Some((found, reading.bad)))
}

/// A journal without records is finished: SQLite leaves it so in the journal modes PERSIST and
/// TRUNCATE.
fn is_hot(found: &JournalRecords) -> bool {
    found.report.record_count > 0
}

/// The super-journal that a journal names at its end: it is part of a transaction over several
/// databases. If the name's checksum is wrong, SQLite ignores the name and rolls the transaction
/// back; a name that can't be read is treated the same (sqlite.org/ atomiccommit.html, 5.5;
/// readSuperJournal in pager.c).
pub(crate) fn super_journal(journal: &RawFile) -> Option<PathBuf> {
    let at = journal.size().ok()?.checked_sub(16)?;
    let mut tail = [0; 16];
    journal.read_at(&mut tail, at).ok().filter(|&count| count == 16)?;
    let (size, sum, magic) = (tail.first_chunk()?, tail[4..8].try_into().ok()?, &tail[8..]);
    let size = u32::from_be_bytes(*size);
    if magic != MAGIC || size == 0 || size > NAME_SIZE_MAX {
        return None;
    }
    let at = at.checked_sub(u64::from(size))?;
    let mut name = vec![0; usize::try_from(size).ok()?];
    journal
        .read_at(&mut name, at)
        .ok()
        .filter(|&count| count == name.len())?;
    (name_sum(&name) == u32::from_be_bytes(sum)).then(|| PathBuf::from(name_of(name)))
}

/// Whether the journal is of a committed transaction over several databases: it names a
/// super-journal that is missing or empty (pager_playback in pager.c, unixAccess in `os_unix.c`).
pub(crate) fn is_committed(storage: &dyn Storage, journal: &RawFile) -> bool {
    super_journal(journal).is_some_and(|name| match storage.attributes(&name) {
        Ok(found) => found.is_file && found.size == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    })
}

/// The sum of a name's bytes as C's `char`, which is signed or unsigned (writeSuperJournal in
/// pager.c).
fn name_sum(name: &[u8]) -> u32 {
    let sign_is_kept = std::ffi::c_char::MIN != 0;
    name.iter().fold(0, |sum: u32, &byte| {
        let sum = sum.wrapping_add(u32::from(byte));
        if sign_is_kept && byte >= 0x80 {
            sum.wrapping_sub(0x100)
        } else {
            sum
        }
    })
}

/// The result of reading a whole journal.
#[derive(Default)]
pub struct Reading {
    /// Its size.
    pub report: JournalReport,
    /// Records that must be authentic and are not.
    pub bad: Vec<BadPage>,
    /// The authentic records, in the order of the journal.
    pub records: Vec<RecordAt>,
    /// How many pages the database had; `None` if the journal has no header: it is finished.
    pub page_count: Option<u32>,
}

/// A record in a journal.
#[derive(Clone, Copy, Debug)]
pub struct RecordAt {
    /// Its index, from 0.
    pub index: u64,
    /// Its page number.
    pub page_no: u32,
    /// The offset of its image.
    pub offset: u64,
    /// The trailer of the image.
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
    loop {
        watch.check()?;
        let header = match journal.header(at) {
            Ok(Some(header)) => header,
            Ok(None) => break,
            Err(error) => {
                // unreadable-is-bad.
                let why = format!("its header at {at} could not be read: {error}");
                journal.reading.bad.push(BadPage::new(Origin::Journal, 0, None, why));
                break;
            }
        };
        journal.reading.page_count.get_or_insert(header.page_count);
        at = journal.section(&header, at)?;
    }
    Ok(journal.reading)
}

/// The result of reading a record. The page is 0 if it is unknown.
enum Record {
    Good(RecordAt),
    Bad {
        page_no: u32,
        why: String,
    },
    /// It could not be read.
    Unread {
        page_no: u32,
        why: String,
    },
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
        // With an invalid sector size the offset of the next header would be arbitrary.
        let is_sane = |header: &Header| {
            header.sector_size.is_power_of_two() && (SECTOR_MIN..=SECTOR_MAX).contains(&header.sector_size)
        };
        Ok(Header::parse(&bytes).filter(is_sane))
    }

    /// Checks the records after a header; returns the offset of the next header.
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
            match self.record(header, at) {
                Record::Good(record) => self.reading.records.push(record),
                Record::Bad { .. } if !is_synced => return Ok(self.size),
                Record::Bad { page_no, why } | Record::Unread { page_no, why } => {
                    let index = Some(self.reading.report.record_count);
                    let bad = &mut self.reading.bad;
                    // Messages for all of them could take more memory than the journal.
                    let why = if bad.len() < BAD_LISTED_MAX { why } else { String::new() };
                    bad.push(BadPage::new(Origin::Journal, page_no, index, why));
                }
            }
            self.reading.report.record_count += 1;
        }
        Ok((first + count * size).next_multiple_of(sector))
    }

    /// Checks one record.
    fn record(&mut self, header: &Header, at: u64) -> Record {
        let page_size = self.view.geometry.page_size();
        let mut bytes = vec![0; record_size(page_size)];
        if let Err(error) = self.file.read_at(&mut bytes, at) {
            return self.unread(at, &error);
        }
        let bad = |page_no, why: String| Record::Bad { page_no, why };
        let Some(record) = RecordBytes::parse(&bytes, page_size) else {
            return bad(0, "cut off".to_owned());
        };
        let page_no = record.page_no.0;
        let Some((_, trailer)) = split_image(record.image) else {
            return bad(0, "cut off".to_owned());
        };
        let mut plain = vec![0; page_size.bytes()];
        if let Err(error) = self.cipher.open(record.page_no, record.image, &mut plain) {
            return bad(page_no, error.to_string());
        }
        let mask = self.view.log_key.journal_mask(trailer);
        let is_right = unmask_checksum(record.checksum, mask) == checksum(header.nonce, &plain);
        plain.fill(0);
        if !is_right {
            return bad(page_no, "its checksum is of another journal".to_owned());
        }
        Record::Good(RecordAt {
            index: self.reading.report.record_count,
            page_no,
            offset: at + IMAGE_OFFSET,
            trailer: *trailer,
        })
    }

    /// `unreadable-is-bad`: its page number may be in a sector that is readable.
    fn unread(&self, at: u64, error: &EngineError) -> Record {
        let mut number = [0; 4];
        let was_read = self.file.read_at(&mut number, at).is_ok();
        Record::Unread {
            page_no: if was_read { u32::from_be_bytes(number) } else { 0 },
            why: error.to_string(),
        }
    }
}

/// A record's page number comes before its image.
const IMAGE_OFFSET: u64 = 4;
/// SQLite's limits (pager.c, readJournalHdr).
const SECTOR_MIN: u32 = 32;
const SECTOR_MAX: u32 = 65536;
/// PATH_MAX of Linux.
const NAME_SIZE_MAX: u32 = 4096;
