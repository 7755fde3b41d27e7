use std::path::{Path, PathBuf};

use selenite_codec::{Format, Key};
use selenite_format::journal::MAGIC;

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

/// What a journal does not restore.
#[derive(PartialEq, Debug)]
struct Damage {
    /// Number, page and reason of each record.
    records: Vec<(u64, u32, String)>,
    pages: Vec<u32>,
    may_be_others: bool,
}

/// Damage after which the page of each bad record is known.
fn damage(records: &[(u64, u32, &str)]) -> Damage {
    Damage {
        records: records
            .iter()
            .map(|&(index, page_no, why)| (index, page_no, why.to_owned()))
            .collect(),
        pages: sorted(records.iter().map(|&(_, page_no, _)| page_no)),
        may_be_others: false,
    }
}

fn sorted(pages: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut pages: Vec<u32> = pages.into_iter().collect();
    pages.sort_unstable();
    pages
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

    /// The pages that a journal restores, and the page and reason of its first damage.
    fn restored(&self, codec: &Codec, bytes: &[u8]) -> (Vec<u32>, Option<(u32, String)>) {
        let (pages, damage) = self.rolled_back(codec, bytes);
        let first = damage.records.into_iter().next();
        (pages, first.map(|(_, page_no, why)| (page_no, why)))
    }

    /// The pages that a journal restores, and its damage.
    fn rolled_back(&self, codec: &Codec, bytes: &[u8]) -> (Vec<u32>, Damage) {
        let log = journal(&Disk, &self.file(bytes), (codec, PAGE), &Watch::none())
            .unwrap()
            .unwrap();
        let damage = log.not_restored;
        let records = damage.records.into_iter();
        let damage = Damage {
            records: records.map(|bad| (bad.index.unwrap(), bad.page_no, bad.why)).collect(),
            pages: sorted(damage.pages),
            may_be_others: damage.may_be_others,
        };
        (sorted(log.pages.into_keys()), damage)
    }

    fn journal(&self, codec: &Codec, bytes: &[u8]) -> Option<(Vec<u32>, u32)> {
        let log = journal(&Disk, &self.file(bytes), (codec, PAGE), &Watch::none()).unwrap()?;
        Some((sorted(log.pages.into_keys()), log.page_count))
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

/// Pages 2 and 3 in a section that counts its records, 4 and 5 in one that does not.
fn two_sections(codec: &Codec, covered: Covered) -> Vec<u8> {
    let mut two = section(codec, covered, 2, &[2, 3]);
    two.resize(SECOND, 0);
    two.extend(section_with_nonce(codec, covered, (RECORD_COUNT_UNKNOWN, 78), &[4, 5]));
    two
}

/// Where the second section begins.
const SECOND: usize = (512 + 2 * RECORD).next_multiple_of(512);

#[test]
fn every_record_of_all_sections_is_restored_as_far_as_they_are_there() {
    let (codec, folder) = (codec(), Folder::new());
    for covered in EITHER {
        let two = two_sections(&codec, covered);
        assert_eq!(folder.journal(&codec, &two), Some((vec![2, 3, 4, 5], 6)));
        // The second section has lost part of its last record.
        assert_eq!(folder.journal(&codec, &two[..two.len() - 1]), Some((vec![2, 3, 4], 6)));
        for size in (0..two.len()).step_by(37) {
            let _ = folder.journal(&codec, &two[..size]);
        }
    }
}

/// right-records-only: SQLite would stop at the first one that is not.
#[test]
fn records_behind_damage_are_restored_in_all_sections_and_the_damaged_ones_are_named() {
    let (codec, folder) = (codec(), Folder::new());
    for covered in EITHER {
        let two = two_sections(&codec, covered);
        let starts = [512, 512 + RECORD, SECOND + 512, SECOND + 512 + RECORD];
        let numbers = [2, 3, 4, 5];
        for bad in [&[0_u64][..], &[1], &[2], &[0, 2], &[1, 2], &[0, 1, 2]] {
            let mut bytes = two.clone();
            for (_, start) in (0..).zip(starts).filter(|(index, _)| bad.contains(index)) {
                bytes[start + RECORD - 1] ^= 8;
            }
            let good = (0..).zip(numbers).filter(|(index, _)| !bad.contains(index));
            let restored: Vec<u32> = good.map(|(_, page_no)| page_no).collect();
            let records: Vec<_> = (0_u64..)
                .zip(numbers)
                .filter(|(index, _)| bad.contains(index))
                .map(|(index, page_no)| (index, page_no, WRONG_CHECKSUM))
                .collect();
            assert_eq!(
                folder.rolled_back(&codec, &bytes),
                (restored, damage(&records)),
                "{bad:?}"
            );
        }
    }
}

/// The checksum does not cover the number.
#[test]
fn a_record_under_another_number_is_not_restored() {
    let (codec, folder) = (codec(), Folder::new());
    for covered in EITHER {
        let whole = section(&codec, covered, 3, &[2, 3, 4]);
        // Of a page without a record: the one that is named may not be the one.
        let mut bytes = whole.clone();
        bytes[512 + RECORD + 3] = 5;
        let (restored, found) = folder.rolled_back(&codec, &bytes);
        assert_eq!(
            (restored, found.pages, found.records.len()),
            (vec![2, 4], vec![5], 1),
            "{:?}",
            found.records
        );
        // Of a page that has one, of none, or beyond the end: any may be the one.
        for number in [4, 0, 7] {
            bytes[512 + RECORD + 3] = number;
            let (restored, found) = folder.rolled_back(&codec, &bytes);
            assert_eq!((restored, found.pages, found.records.len()), (vec![2, 4], vec![], 1));
            assert!(found.may_be_others);
        }
    }
}

/// A page that is authentic may be of an earlier transaction.
#[test]
fn records_with_another_nonce_are_not_restored() {
    let (codec, folder) = (codec(), Folder::new());
    for covered in EITHER {
        let two = two_sections(&codec, covered);
        let wrong = |at: usize| {
            let mut bytes = two.clone();
            bytes[at + 12..at + 16].copy_from_slice(&5_u32.to_be_bytes());
            folder.rolled_back(&codec, &bytes)
        };
        let records = [(0, 2, WRONG_CHECKSUM), (1, 3, WRONG_CHECKSUM)];
        assert_eq!(wrong(0), (vec![4, 5], damage(&records)));
        // One that does not count its records may end before all of them.
        let unknown = Damage {
            records: vec![(2, 4, MAYBE_THE_END.to_owned())],
            pages: vec![],
            may_be_others: true,
        };
        assert_eq!(wrong(SECOND), (vec![2, 3], unknown));
    }
}

#[test]
fn every_changed_byte_of_a_record_is_found() {
    let (codec, folder) = (codec(), Folder::new());
    for covered in EITHER {
        let whole = section(&codec, covered, 3, &[2, 3, 4]);
        for at in (512 + RECORD..512 + 2 * RECORD).step_by(3) {
            // The last bytes of a page's reserve have no use.
            if (PAGE - 12..PAGE).contains(&(at - (512 + RECORD + 4).min(at))) {
                continue;
            }
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            let (restored, found) = folder.rolled_back(&codec, &bytes);
            assert_eq!((restored, found.records.len()), (vec![2, 4], 1), "{at}");
            assert!(found.may_be_others || !found.pages.is_empty(), "{at}");
        }
    }
}

#[test]
fn a_count_of_more_records_than_there_can_be_costs_no_time() {
    let (codec, folder) = (codec(), Folder::new());
    let bytes = section(&codec, Covered::Encrypted, RECORD_COUNT_UNKNOWN - 1, &[2, 3]);
    let (restored, found) = folder.rolled_back(&codec, &bytes);
    let missing = vec![(2, 0, MISSING.to_owned())];
    assert_eq!(
        (restored, found.records, found.may_be_others),
        (vec![2, 3], missing, true)
    );
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
            assert_eq!(found, Some((page_no, WRONG_CHECKSUM.to_owned())));
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
        assert_eq!((pages, damage), (vec![2], Some((page_no, MISSING.to_owned()))));
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
    let damaged = damaged(&log, 0);
    assert_eq!(folder.journal(&codec, &log), None);
    assert_eq!(folder.journal(&codec, &damaged), None);
    std::fs::write(&name, "app.db-journal").unwrap();
    assert_eq!(folder.rolled_back(&codec, &log), (vec![2, 3], damage(&[])));
    assert_eq!(
        folder.rolled_back(&codec, &damaged),
        (vec![3], damage(&[(0, 2, WRONG_CHECKSUM)]))
    );
}
