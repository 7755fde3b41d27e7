//! A digest of every b-tree of a database, from its pages, to compare a copy that VACUUM made with
//! its source at the speed of reading both.
//!
//! - vacuum-keeps-records: VACUUM copies records unchanged (`xferOptimization` in insert.c): if
//!   both databases have the same definitions ([`crate::content_digest`]) and the same digest
//!   here, every value, rowid and index entry is the same, byte for byte and in the same order.
//!   The reverse does not hold: if the digests differ, the databases have to be compared value by
//!   value.
//! - random-siphash-key: the hash is SipHash with a random key for each comparison: it detects
//!   faults of hardware and software, not attacks.
//! - every-page-is-read: every page of a file is read, also those that are in no tree: in a sealed
//!   file, every page is authenticated.

mod page_reader;
mod tree_sum;
mod walker;

use std::collections::BTreeMap;
use std::hash::RandomState;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::storage::ReadAt;
use crate::watch::Phase;
use crate::{Database, EngineError, Watch};

pub use page_reader::{FilePages, Form, PageReader, SnapshotPages};
use tree_sum::TreeSum;
use walker::{TreePart, Unit, VisitedPages, Walker};

/// Why there is no digest.
#[derive(Debug)]
pub enum DigestFault {
    /// A page can't be read, or is malformed.
    Shape(String),
    /// All other errors, including [`EngineError::Interrupted`].
    Read(EngineError),
}

/// The summary of every tree of a database, by type and name.
#[derive(PartialEq, Eq)]
pub struct TreeDigest(BTreeMap<(String, String), TreeSum>);

/// The roots of a database's trees.
pub struct Trees {
    roots: Vec<Root>,
    page_count: u32,
}

struct Root {
    name: (String, String),
    page_no: u32,
}

impl Trees {
    /// Reads them from the schema.
    pub fn of(database: &Database) -> Result<Self, EngineError> {
        let read = || -> Result<Vec<Root>, rusqlite::Error> {
            let sql = "SELECT type, name, rootpage FROM main.sqlite_schema WHERE rootpage > 0";
            let mut statement = database.connection().prepare(sql)?;
            let roots = statement.query_map([], |row| {
                let name = (row.get(0)?, row.get(1)?);
                Ok(Root {
                    name,
                    page_no: row.get(2)?,
                })
            })?;
            roots.collect()
        };
        let mut roots = read().map_err(|error| database.error(error))?;
        // The schema's own tree: it has other page numbers in a copy, so its content is compared
        // elsewhere.
        roots.push(Root {
            name: (String::new(), String::new()),
            page_no: 1,
        });
        let page_count = database.number("PRAGMA main.page_count")?;
        Ok(Self {
            roots,
            page_count: u32::try_from(page_count).unwrap_or(u32::MAX),
        })
    }
}

impl TreeDigest {
    /// With one reader, in this thread.
    pub fn of(
        trees: &Trees,
        reader: &mut dyn PageReader,
        page_bytes: usize,
        hashing: &RandomState,
        watch: &Watch,
    ) -> Result<Self, DigestFault> {
        let walk = Walk::new(trees, page_bytes, hashing, watch, reader)?;
        let mut walker = walk.walker(reader);
        let mut digest = BTreeMap::new();
        for root in &trees.roots {
            let mut part = TreePart::default();
            walker.unit(Unit::Tree(root.page_no), &mut part)?;
            digest.insert(root.name.clone(), part.sum);
        }
        Ok(Self::without_schema(digest))
    }

    /// From a file, on all cores.
    pub fn of_file(
        trees: &Trees,
        (file, form): (&dyn ReadAt, Form<'_>),
        hashing: &RandomState,
        watch: &Watch,
    ) -> Result<Self, DigestFault> {
        let mut reader = FilePages::new(file, form);
        let walk = Walk::new(trees, form.page_bytes(), hashing, watch, &mut reader)?;
        let units = walk.units(&mut reader)?;
        let thread_count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let batch_size = (units.len() / (thread_count * 16)).clamp(1, 64);
        let batches: Vec<&[(usize, Unit)]> = units.chunks(batch_size).collect();
        let next = AtomicUsize::new(0);
        let work = || walk.batches(&mut FilePages::new(file, form), &batches, &next);
        let ended: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..thread_count).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        let mut parts = Vec::new();
        for thread in ended {
            parts.extend(thread.map_err(|_| DigestFault::Shape("a thread ended with a bug in selenite".to_owned()))??);
        }
        parts.sort_by_key(|(batch, _, _)| *batch);
        let mut whole = vec![TreePart::default(); trees.roots.len()];
        for (_, tree, part) in &parts {
            whole[*tree].append(part)?;
        }
        walk.read_rest(&mut reader)?;
        let names = trees.roots.iter().map(|root| root.name.clone());
        Ok(Self::without_schema(
            names.zip(whole.iter().map(|part| part.sum)).collect(),
        ))
    }

    fn without_schema(mut digest: BTreeMap<(String, String), TreeSum>) -> Self {
        digest.remove(&(String::new(), String::new()));
        Self(digest)
    }

    /// How many tables there are.
    pub fn table_count(&self) -> usize {
        self.tables().count()
    }

    /// How many rows all tables have.
    pub fn row_count(&self) -> u64 {
        self.tables().map(|sum| sum.count).sum()
    }

    fn tables(&self) -> impl Iterator<Item = &TreeSum> {
        let is_table = |((kind, _), _): &(&(String, String), &TreeSum)| kind == "table";
        self.0.iter().filter(is_table).map(|(_, sum)| sum)
    }
}

/// The computation of one digest.
struct Walk<'a> {
    trees: &'a Trees,
    page_bytes: usize,
    usable: usize,
    hashing: &'a RandomState,
    watch: &'a Watch,
    seen: VisitedPages,
}

impl<'a> Walk<'a> {
    fn new(
        trees: &'a Trees,
        page_bytes: usize,
        hashing: &'a RandomState,
        watch: &'a Watch,
        reader: &mut dyn PageReader,
    ) -> Result<Self, DigestFault> {
        let mut first = vec![0; page_bytes];
        reader.read(1, &mut first)?;
        let reserve = usize::from(first.get(20).copied().unwrap_or(0));
        first.fill(0);
        // SQLite needs 480 bytes of a page.
        let usable = page_bytes.saturating_sub(reserve);
        if usable < 480 {
            return Err(DigestFault::Shape("page 1 has no header of a database".to_owned()));
        }
        Ok(Self {
            trees,
            page_bytes,
            usable,
            hashing,
            watch,
            seen: VisitedPages::none_of(trees.page_count),
        })
    }

    fn walker<'b>(&'b self, reader: &'b mut dyn PageReader) -> Walker<'b> {
        Walker {
            reader,
            hashing: self.hashing,
            seen: &self.seen,
            page_bytes: self.page_bytes,
            usable: self.usable,
            watch: self.watch,
            spare: Vec::new(),
        }
    }

    /// The units that different threads can walk, in order.
    fn units(&self, reader: &mut dyn PageReader) -> Result<Vec<(usize, Unit)>, DigestFault> {
        let mut walker = self.walker(reader);
        let mut units = Vec::new();
        for (tree, root) in self.trees.roots.iter().enumerate() {
            let spread = walker.spread(root.page_no, SPREAD_UNITS)?;
            units.extend(spread.into_iter().map(|unit| (tree, unit)));
        }
        Ok(units)
    }

    fn batches(
        &self,
        reader: &mut dyn PageReader,
        batches: &[&[(usize, Unit)]],
        next: &AtomicUsize,
    ) -> Result<Vec<(usize, usize, TreePart)>, DigestFault> {
        let mut walker = self.walker(reader);
        let mut parts: Vec<(usize, usize, TreePart)> = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(batch) = batches.get(index) else {
                return Ok(parts);
            };
            for (tree, unit) in *batch {
                match parts.last_mut() {
                    Some((of_batch, of_tree, part)) if (*of_batch, *of_tree) == (index, *tree) => {
                        walker.unit(*unit, part)?;
                    }
                    Some(_) | None => {
                        let mut part = TreePart::default();
                        walker.unit(*unit, &mut part)?;
                        parts.push((index, *tree, part));
                    }
                }
            }
            let count = |part: usize| u64::try_from(part).unwrap_or(u64::MAX);
            let size = u64::from(self.trees.page_count).saturating_mul(count(self.page_bytes));
            let done = u128::from(size) * u128::from(count(index + 1)) / u128::from(count(batches.len()).max(1));
            self.watch
                .report(Phase::Comparing, u64::try_from(done).unwrap_or(size), size);
        }
    }

    /// `every-page-is-read`: reads the remaining pages: pointer maps and free pages.
    fn read_rest(&self, reader: &mut FilePages<'_>) -> Result<(), DigestFault> {
        let mut page = vec![0; self.page_bytes];
        for page_no in 1..=self.trees.page_count {
            if !self.seen.has(page_no) && reader.has_place(page_no) {
                self.watch.check().map_err(DigestFault::Read)?;
                reader.read(page_no, &mut page)?;
            }
        }
        page.fill(0);
        Ok(())
    }
}

/// Enough for all cores to share the work, however uneven the units are.
const SPREAD_UNITS: usize = 64;

#[cfg(test)]
mod tests;
