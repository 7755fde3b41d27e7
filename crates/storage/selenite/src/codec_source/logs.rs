//! The committed pages in another product's WAL or hot journal.
//!
//! - checksums-decide: a WAL counts up to the last commit before its first frame with a wrong salt
//!   or checksum, a journal up to its first record with a wrong checksum, as in SQLite
//!   (<https://sqlite.org/fileformat.html>, 3 and 4).
//! - right-records-only: a journal restores each page whose record has a right checksum, which begins with the nonce of
//!   its section, and, in a format that authenticates pages, is authentic under its number, which the checksum does not
//!   cover. SQLite stops at the first wrong one. A record with another nonce may be of an earlier transaction, where this
//!   one was never written, and is not used, though its page is authentic. Damage of a later section's header is not
//!   seen: it looks like the end.
//! - no-uncommitted-substitute: a page whose record is damaged has an image in the file that may never have been
//!   committed, and counts as lost. Page 1 alone is used, as without it no table has a name. If it is not known which
//!   page a record had, or whether there was one, pages without a record are used, and reported
//!   ([`NotRestored::may_be_others`]).
//! - either-checksum: SQLCipher encrypts a page before SQLite computes its checksum, SQLite3
//!   Multiple Ciphers afterwards, but in older versions before. Which of the two it was is decided
//!   by the first frame or record, and holds for the log.
//! - uncounted-end: a journal that is written with `synchronous = OFF` does not count its records
//!   (<https://sqlite.org/fileformat.html>, 3: page count -1). A record with a wrong checksum is its end, or damage, and
//!   SQLite takes it for the end. It is the end if it is of an earlier transaction, which `journal_mode = PERSIST` leaves
//!   behind it: its checksum is right with another nonce, which the next record has, too (and the records before it have
//!   that of the header: otherwise the header may be damaged). It is damage if a record behind it is right. Otherwise that is not known, and it counts as damage. A part of a record at the end of the file is
//!   the end: the process was killed while it wrote it.

use std::collections::{HashMap, HashSet};

use selenite_codec::Codec;
use selenite_format::journal::{self as journal_format, Header, RECORD_COUNT_UNKNOWN};
use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE, WordOrder, checksum};

use super::{LOCK_BYTES, offset_of};
use crate::bad_page::{BAD_LISTED_MAX, BadPage, Origin};
use crate::raw_file::RawFile;
use crate::storage::Storage;
use crate::verify::journal::is_committed;
use crate::{EngineError, Watch};

/// The committed pages in a log.
pub struct Log {
    /// The offset of each page's image.
    pub pages: HashMap<u32, u64>,
    /// How many pages the database has.
    pub page_count: u32,
    /// What a journal does not restore, though it should.
    pub not_restored: NotRestored,
}

/// The damage of a journal.
#[derive(Default)]
pub struct NotRestored {
    /// Its records that are damaged, or may be (uncounted-end), at most [`BAD_LISTED_MAX`].
    pub records: Vec<BadPage>,
    /// The pages that they had.
    pub pages: HashSet<u32>,
    /// Whether other pages that the journal does not restore may have had a record.
    pub may_be_others: bool,
}

/// What the checksums of a log cover.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Covered {
    Encrypted,
    Decrypted,
}

/// A page of a log: its encrypted image, and room for the decrypted one.
struct Image<'a> {
    codec: &'a Codec,
    encrypted: Vec<u8>,
    decrypted: Vec<u8>,
}

impl<'a> Image<'a> {
    fn new(codec: &'a Codec, page_size: usize) -> Self {
        Self {
            codec,
            encrypted: vec![0; page_size],
            decrypted: vec![0; page_size],
        }
    }

    /// The bytes that a checksum covers; `None` if the page can't be decrypted.
    fn covered(&mut self, page_no: u32, covered: Covered) -> Option<&[u8]> {
        if covered == Covered::Encrypted {
            return Some(&self.encrypted);
        }
        self.decrypted.copy_from_slice(&self.encrypted);
        let decrypted = self.codec.decrypt(page_no, &mut self.decrypted);
        decrypted.is_ok().then_some(self.decrypted.as_slice())
    }

    /// The nonce with which the checksum of a record, whose page this is, is right.
    fn nonce(&mut self, record: &JournalRecord, covered: Covered) -> Option<u32> {
        let sum = self
            .covered(record.page_no, covered)
            .map(|page| journal_format::checksum(0, page))?;
        record.is_whole.then(|| record.checksum.wrapping_sub(sum))
    }
}

const EITHER: [Covered; 2] = [Covered::Encrypted, Covered::Decrypted];

/// What the checksums of a log may cover, if it is known, or not.
fn choices(known: Option<Covered>) -> impl Iterator<Item = Covered> {
    EITHER
        .into_iter()
        .filter(move |one| known.is_none_or(|known| known == *one))
}

/// Reads a WAL; `None` if nothing in it is committed.
pub fn wal(file: &RawFile, (codec, page_size): (&Codec, usize), watch: &Watch) -> Result<Option<Log>, EngineError> {
    let mut header = [0; HEADER_SIZE];
    if file.read_at(&mut header, 0)? < HEADER_SIZE {
        return Ok(None);
    }
    let order = match header[..4] {
        [0x37, 0x7f, 0x06, 0x82] => WordOrder::LittleEndian,
        [0x37, 0x7f, 0x06, 0x83] => WordOrder::BigEndian,
        _ => return Ok(None),
    };
    let own_size = u32::from_be_bytes(four(&header, 8));
    let sum = checksum(order, [0, 0], &header[..24]);
    if sum != sum_at(&header, 24) || usize::try_from(own_size) != Ok(page_size) {
        return Ok(None);
    }
    let salts = &header[16..24];
    let mut image = Image::new(codec, page_size);
    let mut log = Log {
        pages: HashMap::new(),
        page_count: 0,
        not_restored: NotRestored::default(),
    };
    let mut uncommitted: Vec<(u32, u64)> = Vec::new();
    let mut covered: Option<Covered> = None;
    let mut sum = sum;
    let mut at = size_of(HEADER_SIZE);
    loop {
        watch.check()?;
        let mut head = [0; FRAME_HEADER_SIZE];
        let image_at = at + size_of(FRAME_HEADER_SIZE);
        let is_whole = file.read_at(&mut head, at)? == FRAME_HEADER_SIZE
            && file.read_at(&mut image.encrypted, image_at)? == page_size;
        let (page_no, commit_count) = (u32::from_be_bytes(four(&head, 0)), u32::from_be_bytes(four(&head, 4)));
        if !is_whole || head[8..16] != *salts || page_no == 0 {
            break;
        }
        let seed = checksum(order, sum, &head[..8]);
        let matching = choices(covered).find_map(|covered| {
            let next = checksum(order, seed, image.covered(page_no, covered)?);
            (next == sum_at(&head, 16)).then_some((covered, next))
        });
        let Some((chosen, next)) = matching else { break };
        (covered, sum) = (Some(chosen), next);
        uncommitted.push((page_no, image_at));
        if commit_count > 0 {
            log.pages.extend(uncommitted.drain(..));
            log.page_count = commit_count;
        }
        at = image_at + size_of(page_size);
    }
    Ok((log.page_count > 0).then_some(log))
}

/// Reads a journal; `None` if it is not hot, or belongs to a committed transaction.
pub fn journal(
    storage: &dyn Storage,
    file: &RawFile,
    (codec, page_size): (&Codec, usize),
    watch: &Watch,
) -> Result<Option<Log>, EngineError> {
    if is_committed(storage, file) {
        return Ok(None);
    }
    let mut rollback: Option<Rollback<'_>> = None;
    let mut at = 0;
    loop {
        watch.check()?;
        let mut header = [0; journal_format::HEADER_SIZE];
        if file.read_at(&mut header, at)? < header.len() {
            break;
        }
        let Some(header) = Header::parse(&header) else { break };
        if rollback.is_none() {
            // As SQLite, which takes the sizes from the first header (readJournalHdr in pager.c).
            let is_of_pages = header.page_size == 0 || usize::try_from(header.page_size) == Ok(page_size);
            if !header.sizes_are_good() || !is_of_pages {
                break;
            }
            rollback = Some(Rollback::new(file, Image::new(codec, page_size), &header)?);
        }
        let Some(rollback) = &mut rollback else { break };
        at = rollback.section(at + rollback.sector, &header, watch)?;
    }
    Ok(rollback.map(Rollback::into_log))
}

/// What a journal restores, as far as it was read.
struct Rollback<'a> {
    file: &'a RawFile,
    size: u64,
    sector: u64,
    record_size: u64,
    image: Image<'a>,
    covered: Option<Covered>,
    /// How many records the sections before have.
    record_count: u64,
    page_count: u32,
    pages: HashMap<u32, u64>,
    damaged: Vec<JournalRecord>,
    /// Whether records are missing of which nothing is known.
    lacks_others: bool,
}

/// A page in a journal.
struct JournalRecord {
    /// The number of the record, from 0.
    index: u64,
    page_no: u32,
    image_at: u64,
    checksum: u32,
    /// Whether all of it is there.
    is_whole: bool,
    /// Why it restores nothing.
    fault: Option<Fault>,
}

/// Why a record restores nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    Checksum,
    /// The journal may end before it.
    MaybeTheEnd,
    Unauthentic,
    Missing,
}

impl<'a> Rollback<'a> {
    fn new(file: &'a RawFile, image: Image<'a>, header: &Header) -> Result<Self, EngineError> {
        Ok(Self {
            file,
            size: file.size()?,
            sector: u64::from(header.sector_size),
            record_size: size_of(image.encrypted.len() + journal_format::RECORD_OVERHEAD),
            image,
            covered: None,
            record_count: 0,
            page_count: header.page_count,
            pages: HashMap::new(),
            damaged: Vec::new(),
            lacks_others: false,
        })
    }

    /// Reads the records behind a header, of which the first is at `first`. Returns where the next header would be.
    fn section(&mut self, first: u64, header: &Header, watch: &Watch) -> Result<u64, EngineError> {
        let fitting = self.size.saturating_sub(first) / self.record_size;
        let is_counted = header.record_count != RECORD_COUNT_UNKNOWN;
        let count = if is_counted {
            u64::from(header.record_count)
        } else {
            fitting
        };
        let mut bad = Vec::new();
        // Records before this one are the transaction's.
        let mut end = if is_counted { count } else { 0 };
        for index in 0..count.min(fitting) {
            watch.check()?;
            let mut record = self.record(first, index)?;
            record.fault = self.fault(&record, header.nonce);
            if record.fault != Some(Fault::Checksum) {
                end = end.max(index + 1);
            }
            if record.fault.is_some() {
                bad.push(record);
            } else {
                // The first record of a page is the one from before the transaction.
                self.pages.entry(record.page_no).or_insert(record.image_at);
            }
        }
        self.keep_damaged(bad, first, end)?;
        if count > fitting {
            // SQLite counts records in the header once they are synced.
            let mut record = self.record(first, fitting)?;
            record.fault = Some(Fault::Missing);
            self.damaged.push(record);
            self.lacks_others |= count > fitting + 1;
        }
        self.record_count += count.min(fitting);
        // The next section begins at a sector.
        Ok((first + count * self.record_size).next_multiple_of(self.sector))
    }

    /// Keeps the bad records before `end`, and the first one behind it, unless the section ends there.
    fn keep_damaged(&mut self, bad: Vec<JournalRecord>, first: u64, end: u64) -> Result<(), EngineError> {
        let is_before = |record: &JournalRecord| record.index < self.record_count + end;
        let (before, behind): (Vec<_>, Vec<_>) = bad.into_iter().partition(is_before);
        self.damaged.extend(before);
        let Some(mut record) = behind.into_iter().next() else {
            return Ok(());
        };
        if !self.ends_before(&record, first, end)? {
            record.fault = Some(Fault::MaybeTheEnd);
            self.lacks_others = true;
            self.damaged.push(record);
        }
        Ok(())
    }

    /// Reads a record of a section, and its page into `image`.
    fn record(&mut self, first: u64, index: u64) -> Result<JournalRecord, EngineError> {
        let at = first + index * self.record_size;
        let (mut number, mut sum) = ([0; 4], [0; 4]);
        let image_at = at + 4;
        if self.file.read_at(&mut number, at)? < number.len() {
            number.fill(0);
        }
        self.file.read_at(&mut self.image.encrypted, image_at)?;
        let sum_size = self.file.read_at(&mut sum, at + self.record_size - 4)?;
        Ok(JournalRecord {
            index: self.record_count + index,
            page_no: u32::from_be_bytes(number),
            image_at,
            checksum: u32::from_be_bytes(sum),
            is_whole: sum_size == sum.len(),
            fault: None,
        })
    }

    /// Why the record that was just read restores nothing; `None` if it does (right-records-only).
    fn fault(&mut self, record: &JournalRecord, nonce: u32) -> Option<Fault> {
        let image = &mut self.image;
        let is_right = |covered: &Covered| record.page_no > 0 && image.nonce(record, *covered) == Some(nonce);
        let Some(chosen) = choices(self.covered).find(is_right) else {
            return Some(Fault::Checksum);
        };
        self.covered = Some(chosen);
        let is_authentic =
            !image.codec.is_authenticated() || image.covered(record.page_no, Covered::Decrypted).is_some();
        (!is_authentic).then_some(Fault::Unauthentic)
    }

    /// `uncounted-end`: whether a section ends before this record, which is behind all that are right.
    fn ends_before(&mut self, bad: &JournalRecord, first: u64, index: u64) -> Result<bool, EngineError> {
        // The name of a super-journal has the number of the lock-byte page before it (PAGER_SJ_PGNO in pager.c).
        if bad.page_no == 0 || offset_of(bad.page_no, self.image.encrypted.len()) == LOCK_BYTES {
            return Ok(true);
        }
        if index == 0 {
            return Ok(false);
        }
        let mut nonces = |index| {
            let record = self.record(first, index)?;
            let covered = choices(self.covered);
            Ok::<Vec<_>, EngineError>(covered.map(|covered| self.image.nonce(&record, covered)).collect())
        };
        let (own, next) = (nonces(index)?, nonces(index + 1)?);
        Ok(own.iter().zip(&next).any(|(one, next)| one.is_some() && one == next))
    }

    fn into_log(self) -> Log {
        let mut not_restored = NotRestored {
            may_be_others: self.lacks_others,
            ..NotRestored::default()
        };
        let page_size = self.image.encrypted.len();
        for record in self.damaged {
            let page_no = record.page_no;
            let is_page = (1..=self.page_count).contains(&page_no) && offset_of(page_no, page_size) != LOCK_BYTES;
            let is_of_page = is_page && !self.pages.contains_key(&page_no);
            let why = match record.fault {
                Some(Fault::MaybeTheEnd) => MAYBE_THE_END,
                Some(Fault::Unauthentic) => UNAUTHENTIC,
                Some(Fault::Missing) => MISSING,
                Some(Fault::Checksum) | None => WRONG_CHECKSUM,
            };
            if !is_of_page {
                not_restored.may_be_others = true;
            } else if record.fault != Some(Fault::MaybeTheEnd) {
                not_restored.pages.insert(page_no);
            }
            if not_restored.records.len() < BAD_LISTED_MAX {
                let bad = BadPage::new(Origin::Journal, page_no, Some(record.index), why.to_owned());
                not_restored.records.push(bad);
            }
        }
        Log {
            pages: self.pages,
            page_count: self.page_count,
            not_restored,
        }
    }
}

const WRONG_CHECKSUM: &str = "its checksum is wrong";
const UNAUTHENTIC: &str = "not authentic";
const MISSING: &str = "it is missing, though the journal counts it";
const MAYBE_THE_END: &str =
    "its checksum is wrong; the journal does not count its records, so that it may end before this one, or be damaged";

fn four(bytes: &[u8], at: usize) -> [u8; 4] {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk().copied())
        .unwrap_or_default()
}

fn sum_at(bytes: &[u8], at: usize) -> [u32; 2] {
    [four(bytes, at), four(bytes, at + 4)].map(u32::from_be_bytes)
}

fn size_of(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
