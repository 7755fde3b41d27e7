//! The committed pages in another product's WAL or hot journal.
//!
//! - checksums-decide: a WAL counts up to the last commit before its first frame with a wrong salt
//!   or checksum, a journal up to its first record with a wrong checksum, as in SQLite
//!   (<https://sqlite.org/fileformat.html>, 3 and 4).
//! - either-checksum: SQLCipher encrypts a page before SQLite computes its checksum, SQLite3
//!   Multiple Ciphers afterwards, but in older versions before. Which of the two it was is decided
//!   by the first frame or record, and holds for the log.
//! - uncounted-end: a journal that is written with `synchronous = OFF` does not count its records
//!   (<https://sqlite.org/fileformat.html>, 3: page count -1). A record with a wrong checksum is its end, or damage, and
//!   SQLite takes it for the end. It is the end if it is of an earlier transaction, which `journal_mode = PERSIST` leaves
//!   behind it: its checksum is right with another nonce, which the next record has, too. It is damage if a record behind
//!   it is right. Otherwise that is not known, and it counts as damage. A part of a record at the end of the file is
//!   the end: the process was killed while it wrote it.

use std::collections::HashMap;

use selenite_codec::Codec;
use selenite_format::journal::{self as journal_format, MAGIC, RECORD_COUNT_UNKNOWN};
use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE, WordOrder, checksum};

use super::{LOCK_BYTES, offset_of};
use crate::bad_page::{BadPage, Origin};
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
    /// A record of a journal that is damaged, or may be (uncounted-end): those behind it are not restored.
    pub damage: Option<BadPage>,
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
        damage: None,
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
    let size = file.size()?;
    let record_size = size_of(page_size) + 8;
    let mut image = Image::new(codec, page_size);
    let mut log: Option<Log> = None;
    let mut covered: Option<Covered> = None;
    let mut at = 0;
    'sections: loop {
        let mut header = [0; journal_format::HEADER_SIZE];
        if file.read_at(&mut header, at)? < header.len() || header[..8] != MAGIC {
            break;
        }
        let [record_count, nonce, page_count, sector, own_size] =
            [8, 12, 16, 20, 24].map(|at| u32::from_be_bytes(four(&header, at)));
        let is_sane = sector.is_power_of_two() && (32..=65536).contains(&sector);
        if !is_sane || usize::try_from(own_size) != Ok(page_size) {
            break;
        }
        let sector = u64::from(sector);
        let found = log.get_or_insert_with(|| Log {
            pages: HashMap::new(),
            page_count,
            damage: None,
        });
        at += sector;
        let fitting = size.saturating_sub(at) / record_size;
        let is_counted = record_count != RECORD_COUNT_UNKNOWN;
        let section = JournalSection {
            file,
            nonce,
            first: at,
            count: if is_counted { u64::from(record_count) } else { fitting },
            record_size,
        };
        for index in 0..section.count {
            watch.check()?;
            let record = section.record(index, &mut image)?;
            let chosen =
                choices(covered).find(|&covered| record.page_no > 0 && image.nonce(&record, covered) == Some(nonce));
            if chosen.is_none() {
                found.damage = match is_counted {
                    // SQLite counts records in the header once they are synced.
                    true => Some(record.damage(NOT_RESTORED)),
                    false => section.damage_at(index, covered, &mut image, watch)?,
                };
                break 'sections;
            }
            covered = chosen;
            // The first record of a page is the one from before the transaction.
            found.pages.entry(record.page_no).or_insert(record.image_at);
        }
        at += section.count * record_size;
        // The next section begins at a sector.
        at = at.next_multiple_of(sector);
    }
    Ok(log)
}

/// A section of a journal: the records behind one header.
struct JournalSection<'a> {
    file: &'a RawFile,
    nonce: u32,
    first: u64,
    count: u64,
    record_size: u64,
}

/// A page in a journal.
struct JournalRecord {
    page_no: u32,
    image_at: u64,
    checksum: u32,
    /// Whether all of it is there.
    is_whole: bool,
}

impl JournalRecord {
    fn damage(&self, reason: &str) -> BadPage {
        BadPage::new(Origin::Journal, self.page_no, None, reason.to_owned())
    }
}

impl JournalSection<'_> {
    /// Reads a record, and its page into `image`.
    fn record(&self, index: u64, image: &mut Image<'_>) -> Result<JournalRecord, EngineError> {
        let at = self.first + index * self.record_size;
        let (mut number, mut sum) = ([0; 4], [0; 4]);
        let image_at = at + 4;
        self.file.read_at(&mut number, at)?;
        self.file.read_at(&mut image.encrypted, image_at)?;
        let sum_size = self.file.read_at(&mut sum, at + self.record_size - 4)?;
        Ok(JournalRecord {
            page_no: u32::from_be_bytes(number),
            image_at,
            checksum: u32::from_be_bytes(sum),
            is_whole: sum_size == sum.len(),
        })
    }

    /// `uncounted-end`: what a record with a wrong checksum is, if it is damage.
    fn damage_at(
        &self,
        index: u64,
        covered: Option<Covered>,
        image: &mut Image<'_>,
        watch: &Watch,
    ) -> Result<Option<BadPage>, EngineError> {
        let bad = self.record(index, image)?;
        let nonces: Vec<_> = choices(covered).map(|covered| image.nonce(&bad, covered)).collect();
        // The name of a super-journal has the number of the lock-byte page before it (PAGER_SJ_PGNO in pager.c).
        let mut is_end = bad.page_no == 0 || offset_of(bad.page_no, image.encrypted.len()) == LOCK_BYTES;
        for behind in index + 1..self.count {
            watch.check()?;
            let record = self.record(behind, image)?;
            let other: Vec<_> = choices(covered).map(|covered| image.nonce(&record, covered)).collect();
            if record.page_no > 0 && other.contains(&Some(self.nonce)) {
                return Ok(Some(bad.damage(NOT_RESTORED)));
            }
            if behind == index + 1 {
                is_end |= nonces
                    .iter()
                    .zip(&other)
                    .any(|(one, next)| one.is_some() && one == next);
            }
        }
        Ok((!is_end).then(|| bad.damage(MAYBE_THE_END)))
    }
}

const NOT_RESTORED: &str = "its checksum is wrong, and records behind it were not restored";
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
mod tests {
    use std::path::{Path, PathBuf};

    use selenite_codec::{Format, Key};

    use super::*;
    use crate::storage::Disk;

    const PAGE: usize = 512;
    const FRAME: usize = FRAME_HEADER_SIZE + PAGE;

    fn codec() -> Codec {
        let mut format = Format::parse("sqlcipher3").unwrap();
        format.set("kdf_iter", "1").unwrap();
        Codec::derive(&format, &Key::passphrase(b"x"), &[7; 16]).unwrap()
    }

    /// A page's clear and encrypted bytes.
    fn page(codec: &Codec, page_no: u32, fill: u8) -> (Vec<u8>, Vec<u8>) {
        let mut encrypted = vec![fill; PAGE];
        codec.encrypt(page_no, &mut encrypted, [fill; 32]);
        let mut clear = encrypted.clone();
        codec.decrypt(page_no, &mut clear).unwrap();
        (clear, encrypted)
    }

    fn sums([first, second]: [u32; 2]) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&first.to_be_bytes());
        bytes[4..].copy_from_slice(&second.to_be_bytes());
        bytes
    }

    /// A WAL with frames of (page, page count after a commit or 0); page n of frame i is filled with i.
    fn wal_of(codec: &Codec, covered: Covered, salt: u8, frames: &[(u32, u32)]) -> Vec<u8> {
        let mut log = vec![0x37, 0x7f, 0x06, 0x82];
        for number in [3_007_000_u32, 512, 0] {
            log.extend(number.to_be_bytes());
        }
        log.extend([salt; 8]);
        let mut sum = checksum(WordOrder::LittleEndian, [0, 0], &log);
        log.extend(sums(sum));
        for (index, (page_no, commit)) in (1_u8..).zip(frames) {
            let (clear, encrypted) = page(codec, *page_no, index);
            let mut head = [page_no.to_be_bytes(), commit.to_be_bytes()].concat();
            sum = checksum(WordOrder::LittleEndian, sum, &head);
            let shown = if covered == Covered::Encrypted {
                &encrypted
            } else {
                &clear
            };
            sum = checksum(WordOrder::LittleEndian, sum, shown);
            head.extend([salt; 8]);
            head.extend(sums(sum));
            log.extend(head);
            log.extend(encrypted);
        }
        log
    }

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn file(&self, bytes: &[u8]) -> RawFile {
            let path: PathBuf = self.0.path().join("log");
            std::fs::write(&path, bytes).unwrap();
            RawFile::open(&Disk, Path::new(&path)).unwrap()
        }

        /// The pages of a WAL with the index of their frames, and the page count.
        fn wal(&self, codec: &Codec, bytes: &[u8]) -> Option<(Vec<(u32, usize)>, u32)> {
            let log = wal(&self.file(bytes), (codec, PAGE), &Watch::none()).unwrap()?;
            let index = |offset: u64| (usize::try_from(offset).unwrap() - HEADER_SIZE) / FRAME;
            let mut pages: Vec<_> = log
                .pages
                .iter()
                .map(|(&page_no, &offset)| (page_no, index(offset)))
                .collect();
            pages.sort_unstable();
            Some((pages, log.page_count))
        }

        /// The pages that a journal restores, and the page and reason of its damage.
        fn restored(&self, codec: &Codec, bytes: &[u8]) -> (Vec<u32>, Option<(u32, String)>) {
            let log = journal(&Disk, &self.file(bytes), (codec, PAGE), &Watch::none())
                .unwrap()
                .unwrap();
            let mut pages: Vec<_> = log.pages.into_keys().collect();
            pages.sort_unstable();
            (pages, log.damage.map(|bad| (bad.page_no, bad.why)))
        }

        fn journal(&self, codec: &Codec, bytes: &[u8]) -> Option<(Vec<u32>, u32)> {
            let log = journal(&Disk, &self.file(bytes), (codec, PAGE), &Watch::none()).unwrap()?;
            let mut pages: Vec<_> = log.pages.into_keys().collect();
            pages.sort_unstable();
            Some((pages, log.page_count))
        }
    }

    #[test]
    fn a_wal_counts_up_to_its_last_commit_wherever_it_is_cut() {
        let (codec, folder) = (codec(), Folder::new());
        for covered in EITHER {
            let log = wal_of(&codec, covered, 9, &[(2, 0), (3, 4), (2, 0), (5, 5), (3, 0)]);
            let (first, second) = ((vec![(2, 0), (3, 1)], 4), (vec![(2, 2), (3, 1), (5, 3)], 5));
            let near_a_frame = |size: &usize| (size + FRAME - HEADER_SIZE + 1) % FRAME < 3;
            for size in (0..=log.len()).filter(|size| size % 41 == 0 || near_a_frame(size)) {
                let whole = size.saturating_sub(HEADER_SIZE) / FRAME;
                let expected = match whole {
                    0 | 1 => None,
                    2 | 3 => Some(first.clone()),
                    _ => Some(second.clone()),
                };
                assert_eq!(folder.wal(&codec, &log[..size]), expected, "{size} bytes");
            }
        }
    }

    #[test]
    fn a_wal_ends_before_a_frame_with_another_byte() {
        let (codec, folder) = (codec(), Folder::new());
        for covered in EITHER {
            let log = wal_of(&codec, covered, 9, &[(2, 2), (3, 3), (4, 4)]);
            for at in (0..log.len()).step_by(7) {
                let mut bytes = log.clone();
                bytes[at] ^= 0x20;
                let intact = at.saturating_sub(HEADER_SIZE) / FRAME;
                let found = folder.wal(&codec, &bytes).map_or(0, |(pages, _)| pages.len());
                // A page that can't be decrypted has no checksum; bytes 4 to 7 of the header are a version.
                assert!(found == intact || (4..8).contains(&at), "{at}: {found} of {intact}");
            }
        }
    }

    #[test]
    fn frames_of_an_older_wal_and_of_the_other_kind_do_not_count() {
        let (codec, folder) = (codec(), Folder::new());
        let old = wal_of(&codec, Covered::Encrypted, 1, &[(2, 9), (3, 9), (4, 9)]);
        let new = wal_of(&codec, Covered::Encrypted, 2, &[(5, 7)]);
        let mut both = new.clone();
        both.extend(&old[new.len()..]);
        assert_eq!(folder.wal(&codec, &both), Some((vec![(5, 0)], 7)));
        let mut other_size = new.clone();
        other_size[10] = 4;
        assert_eq!(folder.wal(&codec, &other_size), None);
    }

    /// A section of a journal: its header, and records of these pages.
    fn section(codec: &Codec, covered: Covered, count: u32, pages: &[u32]) -> Vec<u8> {
        section_with_nonce(codec, covered, (count, 77), pages)
    }

    fn section_with_nonce(codec: &Codec, covered: Covered, (count, nonce): (u32, u32), pages: &[u32]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [count, nonce, 6, 512, 512] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.resize(512, 0);
        for &page_no in pages {
            let (clear, encrypted) = page(codec, page_no, 3);
            let shown = if covered == Covered::Encrypted {
                &encrypted
            } else {
                &clear
            };
            let sum = journal_format::checksum(nonce, shown);
            bytes.extend(page_no.to_be_bytes());
            bytes.extend(encrypted);
            bytes.extend(sum.to_be_bytes());
        }
        bytes
    }

    #[test]
    fn a_journal_counts_up_to_its_first_bad_record() {
        let (codec, folder) = (codec(), Folder::new());
        for covered in EITHER {
            let mut two = section(&codec, covered, 2, &[2, 3]);
            two.resize(two.len().next_multiple_of(512), 0);
            two.extend(section(&codec, covered, RECORD_COUNT_UNKNOWN, &[4, 5]));
            assert_eq!(folder.journal(&codec, &two), Some((vec![2, 3, 4, 5], 6)));
            // The second section has lost part of its last record.
            assert_eq!(folder.journal(&codec, &two[..two.len() - 1]), Some((vec![2, 3, 4], 6)));
            let mut bad = two.clone();
            bad[512 + 4 + PAGE + 3] ^= 1;
            assert_eq!(folder.journal(&codec, &bad), Some((vec![], 6)));
            for size in (0..two.len()).step_by(37) {
                let _ = folder.journal(&codec, &two[..size]);
            }
        }
    }

    const RECORD: usize = PAGE + 8;

    /// Changes the checksum of a record of the first section.
    fn damaged(journal: &[u8], index: usize) -> Vec<u8> {
        let mut bytes = journal.to_vec();
        bytes[512 + (index + 1) * RECORD - 2] ^= 8;
        bytes
    }

    #[test]
    fn damage_in_an_uncounted_journal_is_told_from_its_end() {
        let (codec, folder) = (codec(), Folder::new());
        for covered in EITHER {
            let uncounted =
                |nonce, pages: &[u32]| section_with_nonce(&codec, covered, (RECORD_COUNT_UNKNOWN, nonce), pages);
            let whole = uncounted(77, &[2, 3, 4, 5]);
            assert_eq!(folder.restored(&codec, &whole), (vec![2, 3, 4, 5], None));
            let killed = &whole[..whole.len() - 1];
            assert_eq!(folder.restored(&codec, killed), (vec![2, 3, 4], None));
            let damage = |bytes: &[u8]| folder.restored(&codec, bytes).1;
            for index in 0..3 {
                let found = damage(&damaged(&whole, index));
                let page_no = u32::try_from(index).unwrap() + 2;
                assert_eq!(found, Some((page_no, NOT_RESTORED.to_owned())));
            }
            // Nothing is behind it.
            assert_eq!(damage(&damaged(&whole, 3)), Some((5, MAYBE_THE_END.to_owned())));
            // As PERSIST leaves an earlier transaction behind a later one: two of its records, and one of them.
            let older = uncounted(5, &[6, 6, 6, 6]);
            for (kept, found) in [(2, None), (3, Some((6, MAYBE_THE_END.to_owned())))] {
                let both = [&whole[..512 + kept * RECORD], &older[512 + kept * RECORD..]].concat();
                let expected = (vec![2, 3, 4][..kept].to_vec(), found);
                assert_eq!(folder.restored(&codec, &both), expected);
                // Behind it, one more record is damaged.
                let found = damage(&damaged(&both, 0)).map(|(page_no, _)| page_no);
                assert_eq!(found, Some(2));
            }
            // A record that was never written, and the name of a super-journal.
            let lock_page = u32::try_from(LOCK_BYTES).unwrap() / 512 + 1;
            for number in [0, lock_page] {
                let mut named = uncounted(77, &[2]);
                named.extend(number.to_be_bytes());
                named.resize(512 + 2 * RECORD, 0);
                assert_eq!(folder.restored(&codec, &named), (vec![2], None));
            }
        }
    }

    /// Its records were synced before they were counted.
    #[test]
    fn a_journal_with_fewer_records_than_it_counts_is_damaged() {
        let (codec, folder) = (codec(), Folder::new());
        let whole = section(&codec, Covered::Encrypted, 2, &[2, 3]);
        assert_eq!(folder.restored(&codec, &whole), (vec![2, 3], None));
        for (size, page_no) in [(whole.len() - 1, 3), (whole.len() - RECORD, 0)] {
            let (pages, damage) = folder.restored(&codec, &whole[..size]);
            assert_eq!((pages, damage.map(|(page_no, _)| page_no)), (vec![2], Some(page_no)));
        }
    }

    #[test]
    fn a_journal_without_synced_records_or_header_restores_nothing() {
        let (codec, folder) = (codec(), Folder::new());
        let unsynced = section(&codec, Covered::Encrypted, 0, &[2, 3]);
        assert_eq!(folder.journal(&codec, &unsynced), Some((vec![], 6)));
        // As PERSIST leaves it.
        let mut finished = section(&codec, Covered::Encrypted, 2, &[2, 3]);
        finished[..28].fill(0);
        assert_eq!(folder.journal(&codec, &finished), None);
    }

    /// The name of a super-journal at the end (`writeSuperJournal` in pager.c): the transaction of several databases is
    /// committed when that file is gone.
    #[test]
    fn a_journal_whose_super_journal_is_gone_restores_nothing() {
        let (codec, folder) = (codec(), Folder::new());
        let name = folder.0.path().join("app.db-mj12345678");
        let bytes = name.as_os_str().as_encoded_bytes();
        let mut log = section(&codec, Covered::Encrypted, 2, &[2, 3]);
        log.extend([0, 0, 0, 9]);
        log.extend(bytes);
        log.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
        log.extend(bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>().to_be_bytes());
        log.extend(MAGIC);
        assert_eq!(folder.journal(&codec, &log), None);
        std::fs::write(&name, "app.db-journal").unwrap();
        assert_eq!(folder.journal(&codec, &log), Some((vec![2, 3], 6)));
    }
}
