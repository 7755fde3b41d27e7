//! `journal/`: FORMAT 7.

use selenite_cipher::{DatabaseId, Suite, TRAILER_SIZE};
use selenite_format::PageSize;
use selenite_format::journal::{
    HEADER_SIZE, Header, MAGIC, RECORD_COUNT_UNKNOWN, checksum, magic_to_disk, mask_checksum, record_size,
};

use crate::vector::{Sparse, Vector};
use crate::world::{PAGE_SIZE, Sealer, log_key, main_file_of, named, pages_of, superblock};

pub fn all() -> Vec<Vector> {
    [good(), sizes(), ends(), refused()].concat()
}

const AES: Suite = Suite::Aes256;
/// A database in the middle of a transaction that spilled, and its journal: three records within
/// the record count, and a second header that is not written yet.
const DATABASE: &[u8] = include_bytes!("../../../../../testdata/sqlite/rollback.db");
const JOURNAL: &[u8] = include_bytes!("../../../../../testdata/sqlite/rollback.db-journal");
const SECTOR_SIZE: usize = 512;

/// A record as SQLite wrote it.
#[derive(Clone)]
struct Record {
    number: u32,
    page: Vec<u8>,
    checksum: u32,
}

fn header() -> Header {
    Header::parse(JOURNAL.first_chunk().expect("a header")).expect("a hot journal")
}

fn records() -> Vec<Record> {
    let records = JOURNAL[SECTOR_SIZE..].chunks_exact(record_size(PageSize::MIN)).take(3);
    records
        .map(|bytes| {
            let word = |at: usize| u32::from_be_bytes(*bytes[at..].first_chunk().expect("4 bytes"));
            Record {
                number: word(0),
                page: bytes[4..1028].to_vec(),
                checksum: word(1028),
            }
        })
        .collect()
}

impl Record {
    fn seal(&self, sealer: &mut Sealer) -> Vec<u8> {
        self.with_image(&sealer.seal(self.number, &self.page))
    }

    fn with_image(&self, image: &[u8]) -> Vec<u8> {
        let trailer: &[u8; TRAILER_SIZE] = image.last_chunk().expect("an image");
        let checksum = mask_checksum(self.checksum, log_key().journal_mask(trailer));
        [self.number.to_be_bytes().as_slice(), image, &checksum.to_be_bytes()].concat()
    }
}

fn sealed(records: &[Record]) -> Vec<Vec<u8>> {
    let mut sealer = Sealer::new(1, AES).after(100);
    records.iter().map(|record| record.seal(&mut sealer)).collect()
}

/// A header padded to a sector, with its first byte as on disk at the start of the file.
fn first_header(record_count: u32) -> Vec<u8> {
    let mut sector = later_header(Header {
        record_count,
        ..header()
    });
    let magic = magic_to_disk(*sector.first_chunk().expect("a header"));
    sector[..8].copy_from_slice(&magic);
    sector
}

fn later_header(header: Header) -> Vec<u8> {
    let mut sector = header.encode().to_vec();
    sector.resize(SECTOR_SIZE, 0);
    sector
}

/// SQLite's journal, sealed.
fn journal(records: &[Vec<u8>]) -> Vec<u8> {
    let behind = SECTOR_SIZE + 3 * record_size(PageSize::MIN);
    [first_header(3), records.concat(), JOURNAL[behind..].to_vec()].concat()
}

/// The database with `records` rolled back.
fn pages_after(records: &[Record]) -> Vec<Vec<u8>> {
    let mut pages = pages_of(DATABASE);
    for record in records {
        pages[usize::try_from(record.number - 1).expect("small")] = record.page.clone();
    }
    pages.truncate(usize::try_from(header().page_count).expect("small"));
    pages
}

fn vector(case: &str, expect: &str, comment: &str, journal: Vec<u8>) -> Vector {
    let images = Sealer::new(1, AES).seal_all(&pages_of(DATABASE));
    Vector::new(&format!("journal/{case}"), expect, comment)
        .file(main_file_of(&superblock(AES), &images))
        .file(Sparse::whole("journal", journal))
}

/// A vector of a journal of which `count` records are rolled back.
fn rolls_back(case: &str, comment: &str, count: usize, journal: Vec<u8>) -> Vector {
    let vector = vector(case, "ok", comment, journal).line("records", count);
    let pages = pages_after(&records()[..count]);
    // If a record is missing, the database is torn: SQLite does not write journals that end early.
    if count == 3 {
        vector.released_sound(&pages)
    } else {
        vector.released_all(&pages)
    }
}

fn good() -> Vec<Vector> {
    let sealed = sealed(&records());
    let unknown = [first_header(RECORD_COUNT_UNKNOWN), sealed.concat()].concat();
    let mut finished = journal(&sealed);
    finished[..HEADER_SIZE].fill(0);
    vec![
        rolls_back("good", "three records, which the count covers", 3, journal(&sealed)),
        rolls_back(
            "count-unknown",
            "three records, and the count is left to the file's size",
            3,
            unknown,
        ),
        rolls_back(
            "two-headers",
            "two records, a second header with another nonce, a third record",
            3,
            two_headers(),
        ),
        rolls_back(
            "super-journal",
            "the name of a super-journal at the end",
            3,
            with_super_journal(&sealed),
        )
        .line("super", SUPER_JOURNAL),
        vector(
            "finished",
            "ok",
            "zeros in place of the header, as PERSIST leaves it",
            finished,
        )
        .line("records", 0)
        .released_all(&pages_of(DATABASE)),
        vector("empty", "ok", "no bytes, as TRUNCATE leaves it", Vec::new())
            .line("records", 0)
            .released_all(&pages_of(DATABASE)),
    ]
}

/// Sizes in the header, some of which SQLite rejects. A fuzzed reader divided by the sector size.
fn sizes() -> Vec<Vector> {
    let journal = |sector_size, page_size| {
        let mut journal = journal(&sealed(&records()));
        let header = Header {
            sector_size,
            page_size,
            ..header()
        };
        journal[8..HEADER_SIZE].copy_from_slice(&header.encode()[8..]);
        journal
    };
    let ends = |case: &str, comment: &str, journal| {
        vector(case, "ok", comment, journal)
            .line("records", 0)
            .released_all(&pages_of(DATABASE))
    };
    vec![
        rolls_back(
            "page-size-0",
            "the header says no page size, as old versions do",
            3,
            journal(512, 0),
        ),
        ends(
            "page-size-1000",
            "the header says pages of 1000 bytes",
            journal(512, 1000),
        ),
        ends("sector-size-0", "the header says sectors of no bytes", journal(0, 1024)),
        ends(
            "sector-size-513",
            "the header says sectors of 513 bytes",
            journal(513, 1024),
        ),
    ]
}

fn two_headers() -> Vec<u8> {
    let mut records = records();
    let nonce = header().nonce ^ 0x5a5a_5a5a;
    records[2].checksum = checksum(nonce, &records[2].page);
    let sealed = sealed(&records);
    let mut journal = [first_header(2), sealed[..2].concat()].concat();
    journal.resize(journal.len().next_multiple_of(SECTOR_SIZE), 0);
    let second = later_header(Header {
        record_count: 1,
        nonce,
        ..header()
    });
    [journal, second, sealed[2].clone()].concat()
}

const SUPER_JOURNAL: &str = "/srv/two.db-mj1A2B3C9D4";

/// As writeSuperJournal in pager.c: number of the lock page, name, size of the name, checksum, magic.
fn with_super_journal(sealed: &[Vec<u8>]) -> Vec<u8> {
    let name = SUPER_JOURNAL.as_bytes();
    let size = u32::try_from(name.len()).expect("small");
    let sum: u32 = name.iter().map(|&byte| u32::from(byte)).sum();
    let lock_page = 1_073_741_824 / 1024 + 1_u32;
    let end = [
        &lock_page.to_be_bytes(),
        name,
        &size.to_be_bytes(),
        &sum.to_be_bytes(),
        &MAGIC,
    ]
    .concat();
    [first_header(3), sealed.concat(), end].concat()
}

/// Records that end the journal.
fn ends() -> Vec<Vector> {
    let unknown = |records: &[Vec<u8>]| [first_header(RECORD_COUNT_UNKNOWN), records.concat()].concat();
    let mut flipped = sealed(&records());
    flipped[2][4 + 700] ^= 1;
    let mut torn = sealed(&records());
    torn[1][4 + 512..].fill(0);
    let mut checksum = records();
    checksum[2].checksum ^= 1;
    let mut unmasked = sealed(&records());
    unmasked[2][PAGE_SIZE + 4..].copy_from_slice(&records()[2].checksum.to_be_bytes());
    let whole = unknown(&sealed(&records()));
    let cut = whole[..whole.len() - 1].to_vec();
    vec![
        rolls_back(
            "flip-beyond",
            "no count covers the last record, and a bit of it is flipped",
            2,
            unknown(&flipped),
        ),
        rolls_back(
            "torn-beyond",
            "no count covers the second record, and it is torn",
            1,
            unknown(&torn),
        ),
        rolls_back(
            "cut-beyond",
            "no count covers the last record, and it lacks a byte",
            2,
            cut,
        ),
        rolls_back(
            "checksum",
            "the last record has a wrong checksum of SQLite's",
            2,
            journal(&sealed(&checksum)),
        ),
        rolls_back(
            "unmasked",
            "the last record's checksum is not masked",
            2,
            journal(&unmasked),
        ),
    ]
}

/// Invalid records within the record count.
fn refused() -> Vec<Vector> {
    let with_last = |image: &[u8]| {
        let mut sealed = sealed(&records());
        sealed[2] = records()[2].with_image(image);
        journal(&sealed)
    };
    let all = sealed(&records());
    let image = |index: usize| all[index][4..PAGE_SIZE + 4].to_vec();
    let number = records()[2].number;
    let expect = format!("unauthentic page {number}");
    let mut flipped = image(2);
    flipped[0] ^= 1;
    let foreign = DatabaseId(named("another database id"));
    let foreign = Sealer::of_database(foreign, 1, AES).seal(number, &records()[2].page);
    let mut renumbered = all.clone();
    renumbered[2][3] ^= 1;
    let renumbered_to = format!("unauthentic page {}", number ^ 1);
    vec![
        vector(
            "flip",
            &expect,
            "a bit of the last record is flipped",
            with_last(&flipped),
        ),
        vector(
            "moved",
            &expect,
            "the last record has the image of another page",
            with_last(&image(1)),
        ),
        vector(
            "foreign",
            &expect,
            "the last record's image is of another database",
            with_last(&foreign),
        ),
        vector(
            "zero",
            &expect,
            "the last record's image is all zero",
            with_last(&[0; PAGE_SIZE]),
        ),
        vector(
            "page-number",
            &renumbered_to,
            "the last record's page number is changed",
            journal(&renumbered),
        ),
    ]
}
