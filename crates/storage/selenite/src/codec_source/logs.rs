//! The committed pages in another product's WAL or hot journal.
//!
//! - checksums-decide: a WAL counts up to the last commit before its first frame with a wrong salt
//!   or checksum, a journal up to its first record with a wrong checksum, as in SQLite
//!   (<https://sqlite.org/fileformat.html>, 3 and 4).
//! - either-checksum: SQLCipher encrypts a page before SQLite computes its checksum, SQLite3
//!   Multiple Ciphers afterwards, but in older versions before. Which of the two it was is decided
//!   by the first frame or record, and holds for the log.

use std::collections::HashMap;

use selenite_codec::Codec;
use selenite_format::journal::{self as journal_format, MAGIC, RECORD_COUNT_UNKNOWN};
use selenite_format::wal::{FRAME_HEADER_SIZE, HEADER_SIZE, WordOrder, checksum};

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
}

const EITHER: [Covered; 2] = [Covered::Encrypted, Covered::Decrypted];

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
        let choices = covered.map_or(EITHER.to_vec(), |covered| vec![covered]);
        let matching = choices.into_iter().find_map(|covered| {
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
        });
        at += sector;
        let fitting = size.saturating_sub(at) / record_size;
        let count = match record_count {
            RECORD_COUNT_UNKNOWN => fitting,
            count => u64::from(count).min(fitting),
        };
        for _ in 0..count {
            watch.check()?;
            let (mut number, mut stored) = ([0; 4], [0; 4]);
            file.read_at(&mut number, at)?;
            file.read_at(&mut image.encrypted, at + 4)?;
            file.read_at(&mut stored, at + 4 + size_of(page_size))?;
            let page_no = u32::from_be_bytes(number);
            let choices = covered.map_or(EITHER.to_vec(), |covered| vec![covered]);
            let chosen = choices.into_iter().find(|&covered| {
                let sum = image
                    .covered(page_no, covered)
                    .map(|page| journal_format::checksum(nonce, page));
                page_no > 0 && sum == Some(u32::from_be_bytes(stored))
            });
            if chosen.is_none() {
                break 'sections;
            }
            covered = chosen;
            // The first record of a page is the one from before the transaction.
            found.pages.entry(page_no).or_insert(at + 4);
            at += record_size;
        }
        // The next section begins at a sector.
        at = at.next_multiple_of(sector);
    }
    Ok(log)
}

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
