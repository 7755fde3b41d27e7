//! Walks b-trees in the order of their entries (sqlite.org/fileformat2.html, 1.6). Their content
//! is not trusted.
//!
//! - page-in-one-tree: no page is in two trees, or twice in one.
//! - rowids-ascend: the rowids of a table ascend, and are in the ranges of the keys above them.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use super::DigestFault;
use super::page_reader::PageReader;
use super::tree_sum::TreeSum;
use crate::Watch;

/// Which pages were visited.
pub struct VisitedPages(Vec<AtomicU64>);

impl VisitedPages {
    /// With none of `page_count` pages visited.
    pub fn none_of(page_count: u32) -> Self {
        let words = usize::try_from(page_count / 64 + 1).unwrap_or(usize::MAX);
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    fn mark(&self, page_no: u32) -> Result<(), DigestFault> {
        let (word, bit) = Self::place(page_no);
        let word = self
            .0
            .get(word)
            .ok_or_else(|| DigestFault::Shape(format!("page {page_no} is beyond the end")))?;
        if word.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            return Err(DigestFault::Shape(format!("page {page_no} is in use twice")));
        }
        Ok(())
    }

    /// Whether the page was visited.
    pub fn has(&self, page_no: u32) -> bool {
        let (word, bit) = Self::place(page_no);
        self.0
            .get(word)
            .is_some_and(|word| word.load(Ordering::Relaxed) & bit != 0)
    }

    fn place(page_no: u32) -> (usize, u64) {
        (usize::try_from(page_no / 64).unwrap_or(usize::MAX), 1 << (page_no % 64))
    }
}

/// The summary of a part of a tree.
#[derive(Clone, Copy, Default)]
pub struct TreePart {
    /// The sum of its entries.
    pub sum: TreeSum,
    first: Option<i64>,
    /// A key before the first rowid.
    floor: Option<i64>,
    /// The last rowid, or a key above all rowids so far.
    last: Option<i64>,
}

impl TreePart {
    /// Appends the part that follows.
    pub fn append(&mut self, next: &Self) -> Result<(), DigestFault> {
        if let (Some(last), Some(first)) = (self.last, next.first)
            && first <= last
        {
            return Err(DigestFault::Shape(format!("rowid {first} comes after {last}")));
        }
        if let Some(floor) = next.floor {
            self.bound(floor)?;
        }
        self.sum.append(&next.sum);
        self.first = self.first.or(next.first);
        self.last = next.last.or(self.last);
        Ok(())
    }

    fn add(&mut self, rowid: Option<i64>, hash: u64) -> Result<(), DigestFault> {
        if let (Some(last), Some(rowid)) = (self.last, rowid)
            && rowid <= last
        {
            return Err(DigestFault::Shape(format!("rowid {rowid} comes after {last}")));
        }
        self.sum.add(hash);
        self.first = self.first.or(rowid);
        self.last = rowid.or(self.last);
        Ok(())
    }

    /// `rowids-ascend`: checks that all rowids so far are at most this key, and that later ones
    /// are above it.
    fn bound(&mut self, key: i64) -> Result<(), DigestFault> {
        if self.last.is_some_and(|last| last > key) {
            return Err(DigestFault::Shape(format!("a key of {key} lies above a greater rowid")));
        }
        if self.first.is_none() && self.floor.is_none() {
            self.floor = Some(key);
        }
        self.last = Some(key);
        Ok(())
    }
}

/// A unit of work in a tree.
#[derive(Clone, Copy)]
pub enum Unit {
    /// All entries below this page.
    Tree(u32),
    /// An entry of an interior page: its hash.
    Entry(u64),
    /// A key of an interior page.
    Bound(i64),
}

/// Walks trees with one reader.
pub struct Walker<'a> {
    /// The source of pages.
    pub reader: &'a mut dyn PageReader,
    /// How entries are hashed.
    pub hashing: &'a RandomState,
    /// Which pages were visited.
    pub seen: &'a VisitedPages,
    /// The size of a page, and how much of it SQLite uses.
    pub page_bytes: usize,
    /// See `page_bytes`.
    pub usable: usize,
    /// Checked for interruption.
    pub watch: &'a Watch,
    /// Buffers to be reused.
    pub spare: Vec<Page>,
}

/// An unencrypted page, zeroed when it is dropped.
#[derive(Default)]
pub struct Page {
    bytes: Vec<u8>,
    /// The offset of its b-tree header.
    header: usize,
}

impl Drop for Page {
    fn drop(&mut self) {
        self.bytes.fill(0);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    InteriorIndex,
    InteriorTable,
    LeafIndex,
    LeafTable,
}

impl Walker<'_> {
    /// Divides a tree into units below its interior pages, level by level until there are at least
    /// `wanted`.
    pub fn spread(&mut self, root: u32, wanted: usize) -> Result<Vec<Unit>, DigestFault> {
        let mut units = vec![Unit::Tree(root)];
        for _ in 0..DEPTH_MAX {
            let mut next = Vec::new();
            let mut has_spread = false;
            for unit in &units {
                match unit {
                    Unit::Tree(page_no) => has_spread |= self.spread_page(*page_no, &mut next)?,
                    Unit::Entry(_) | Unit::Bound(_) => next.push(*unit),
                }
            }
            units = next;
            if !has_spread || units.len() >= wanted {
                break;
            }
        }
        Ok(units)
    }

    fn spread_page(&mut self, page_no: u32, units: &mut Vec<Unit>) -> Result<bool, DigestFault> {
        let page = self.page(page_no)?;
        let kind = page.kind()?;
        if matches!(kind, Kind::LeafIndex | Kind::LeafTable) {
            units.push(Unit::Tree(page_no));
            return Ok(false);
        }
        self.seen.mark(page_no)?;
        for index in 0..page.cell_count()? {
            let cell = page.cell(index, kind)?;
            units.push(Unit::Tree(page.number(cell)?));
            units.push(if kind == Kind::InteriorTable {
                Unit::Bound(page.varint(cell + 4)?.0.cast_signed())
            } else {
                Unit::Entry(self.entry(&page, cell + 4, kind)?.1)
            });
        }
        units.push(Unit::Tree(page.number(page.header + 8)?));
        self.spare.push(page);
        Ok(true)
    }

    /// Walks one unit.
    pub fn unit(&mut self, unit: Unit, part: &mut TreePart) -> Result<(), DigestFault> {
        match unit {
            Unit::Tree(page_no) => self.tree(page_no, 0, part),
            Unit::Entry(hash) => part.add(None, hash),
            Unit::Bound(key) => part.bound(key),
        }
    }

    fn tree(&mut self, page_no: u32, depth: u32, part: &mut TreePart) -> Result<(), DigestFault> {
        if depth > DEPTH_MAX {
            return Err(DigestFault::Shape(format!("page {page_no} lies too deep")));
        }
        self.watch.check().map_err(DigestFault::Read)?;
        self.seen.mark(page_no)?;
        let page = self.page(page_no)?;
        let kind = page.kind()?;
        for index in 0..page.cell_count()? {
            let cell = page.cell(index, kind)?;
            match kind {
                Kind::LeafIndex | Kind::LeafTable => {
                    let (rowid, hash) = self.entry(&page, cell, kind)?;
                    part.add(rowid, hash)?;
                }
                Kind::InteriorIndex => {
                    self.tree(page.number(cell)?, depth + 1, part)?;
                    let (_, hash) = self.entry(&page, cell + 4, kind)?;
                    part.add(None, hash)?;
                }
                Kind::InteriorTable => {
                    self.tree(page.number(cell)?, depth + 1, part)?;
                    part.bound(page.varint(cell + 4)?.0.cast_signed())?;
                }
            }
        }
        if matches!(kind, Kind::InteriorIndex | Kind::InteriorTable) {
            self.tree(page.number(page.header + 8)?, depth + 1, part)?;
        }
        self.spare.push(page);
        Ok(())
    }

    /// The rowid of an entry, if it has one, and the hash of all of it: sizes, rowid and payload,
    /// with overflow pages.
    fn entry(&mut self, page: &Page, cell: usize, kind: Kind) -> Result<(Option<i64>, u64), DigestFault> {
        let (size, mut end) = page.varint(cell)?;
        let rowid = if kind == Kind::LeafTable {
            let (rowid, after) = page.varint(end)?;
            end = after;
            Some(rowid.cast_signed())
        } else {
            None
        };
        let mut hash = self.hashing.build_hasher();
        let local = self.local(size, kind)?;
        let here = page.bytes.get(cell..end + local).ok_or_else(|| page.broken())?;
        let total = usize::try_from(size).map_err(|_| page.broken())?;
        if local == total {
            hash.write(here);
        } else {
            // In pieces that do not depend on page boundaries.
            let mut pending = here.to_vec();
            let mut left = total - local;
            let mut next = page.number(end + local)?;
            while left > 0 {
                self.seen.mark(next)?;
                let overflow = self.page(next)?;
                let count = left.min(self.usable - 4);
                pending.extend_from_slice(overflow.bytes.get(4..4 + count).ok_or_else(|| overflow.broken())?);
                left -= count;
                next = overflow.word(0)?;
                self.spare.push(overflow);
                while pending.len() >= PIECE_SIZE {
                    hash.write(&pending[..PIECE_SIZE]);
                    pending.drain(..PIECE_SIZE);
                }
            }
            hash.write(&pending);
            pending.fill(0);
        }
        Ok((rowid, hash.finish()))
    }

    /// How much of a payload is in its cell (sqlite.org/fileformat2.html, "Cell payload overflow
    /// pages").
    fn local(&self, size: u64, kind: Kind) -> Result<usize, DigestFault> {
        let usable = self.usable;
        let most = if kind == Kind::LeafTable {
            usable - 35
        } else {
            (usable - 12) * 64 / 255 - 23
        };
        let size = usize::try_from(size).map_err(|_| DigestFault::Shape("an entry is too large".to_owned()))?;
        if size <= most {
            return Ok(size);
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let wanted = least + (size - least) % (usable - 4);
        Ok(if wanted <= most { wanted } else { least })
    }

    fn page(&mut self, page_no: u32) -> Result<Page, DigestFault> {
        let mut page = self.spare.pop().unwrap_or_default();
        page.bytes.resize(self.page_bytes, 0);
        page.header = if page_no == 1 { 100 } else { 0 };
        self.reader.read(page_no, &mut page.bytes)?;
        Ok(page)
    }
}

impl Page {
    fn broken(&self) -> DigestFault {
        let kind = self.bytes.get(self.header).copied().unwrap_or(0);
        DigestFault::Shape(format!("a page that begins with {kind} is no page of a b-tree"))
    }

    fn kind(&self) -> Result<Kind, DigestFault> {
        match self.bytes.get(self.header) {
            Some(2) => Ok(Kind::InteriorIndex),
            Some(5) => Ok(Kind::InteriorTable),
            Some(10) => Ok(Kind::LeafIndex),
            Some(13) => Ok(Kind::LeafTable),
            Some(_) | None => Err(self.broken()),
        }
    }

    fn cell_count(&self) -> Result<usize, DigestFault> {
        self.half(self.header + 3)
    }

    fn cell(&self, index: usize, kind: Kind) -> Result<usize, DigestFault> {
        let header_size = if matches!(kind, Kind::LeafIndex | Kind::LeafTable) {
            8
        } else {
            12
        };
        self.half(self.header + header_size + 2 * index)
    }

    fn half(&self, at: usize) -> Result<usize, DigestFault> {
        let bytes = self.bytes.get(at..at + 2).ok_or_else(|| self.broken())?;
        Ok(usize::from(u16::from_be_bytes([bytes[0], bytes[1]])))
    }

    fn word(&self, at: usize) -> Result<u32, DigestFault> {
        let bytes = self.bytes.get(at..at + 4).ok_or_else(|| self.broken())?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// The number of a page: there is no page 0.
    fn number(&self, at: usize) -> Result<u32, DigestFault> {
        match self.word(at)? {
            0 => Err(self.broken()),
            page_no => Ok(page_no),
        }
    }

    /// A number of 1 to 9 bytes, and the offset after it.
    fn varint(&self, at: usize) -> Result<(u64, usize), DigestFault> {
        let mut value = 0_u64;
        for index in 0..8 {
            let byte = *self.bytes.get(at + index).ok_or_else(|| self.broken())?;
            value = (value << 7) | u64::from(byte & 0x7f);
            if byte < 0x80 {
                return Ok((value, at + index + 1));
            }
        }
        let byte = *self.bytes.get(at + 8).ok_or_else(|| self.broken())?;
        Ok(((value << 8) | u64::from(byte), at + 9))
    }
}

/// SQLite's own limit (BTCURSOR_MAX_DEPTH in btreeInt.h).
const DEPTH_MAX: u32 = 20;
/// 64 KiB: an entry that overflows is hashed in pieces of this size.
const PIECE_SIZE: usize = 64 << 10;
