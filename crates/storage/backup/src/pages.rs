//! The pages of a backup: the newest image of each page, once.
//!
//! - newest-first: archives are read from the newest to the oldest, and in each archive parts and
//!   blocks from last to first: the first image of a page that is found is the valid one. One bit
//!   for each page records whether it was found.
//! - missing-stays-missing: a page that an archive lists as missing is not taken from an older one,
//!   which contains an older state.
//! - all-pages-or-error: a whole part is opened before any of its pages is returned; and at the end
//!   all pages must have been found.
//! - bounded-memory: two parts, of which one is being fetched, and one unpacked block.
//! - log-before-backup: the log is newer than the backup, and its last object the newest: it is
//!   read first. A page beyond the backup's page count that the log does not contain was never
//!   written.

use std::sync::mpsc::{SyncSender, sync_channel};

use selenite_cipher::{PageNo, PartKind};
use selenite_format::Geometry;

use crate::BackupError;
use crate::archive::{Block, OpenPart, Unpacker};
use crate::chain::Chain;
use crate::destination::Destination;
use crate::log_reader::{LogObject, LogPlan};
use crate::names::Part;
use crate::opened::{Backup, Clear};

impl Chain {
    /// Calls `each` with every page's bytes, as SQLite has them, except for pages that the manifest
    /// lists as missing, and the page that SQLite never uses. Returns the number of pages.
    ///
    /// # Errors
    /// [`BackupError::Unauthentic`], [`BackupError::Form`] and [`BackupError::Store`], possibly
    /// after many pages were passed to `each`; at the end [`BackupError::Incomplete`]; those of
    /// `each`.
    pub fn pages<E, F>(&self, destination: &dyn Destination, each: &mut F) -> Result<u32, E>
    where
        E: From<BackupError>,
        F: FnMut(u32, &[u8]) -> Result<(), E>,
    {
        self.pages_with(destination, &LogPlan::default(), each)
            .map(|pages| pages.given)
    }

    /// As [`Chain::pages`], with the changes of the backup's log (log-before-backup).
    ///
    /// # Errors
    /// Those of [`Chain::pages`].
    pub fn pages_with<E, F>(&self, destination: &dyn Destination, log: &LogPlan, each: &mut F) -> Result<Pages, E>
    where
        E: From<BackupError>,
        F: FnMut(u32, &[u8]) -> Result<(), E>,
    {
        let tip = self.tip();
        let page_count = log.end.map_or(tip.facts.page_count, |(page_count, _)| page_count);
        let mut wanted = Wanted::new(page_count, tip);
        for &object in log.objects.iter().rev() {
            wanted.apply_log_object(destination, tip, object, each)?;
        }
        wanted.never_written(tip)?;
        std::thread::scope(|scope| {
            // The channel has no buffer: at most one fetched part waits in the fetching thread.
            let (sender, parts) = sync_channel(0);
            scope.spawn(move || self.fetch(destination, &sender));
            let mut extractor = PageExtractor::new()?;
            for (index, link) in self.links().iter().enumerate() {
                wanted.give_up(&link.facts.missing, index > 0);
                for _ in &link.facts.parts {
                    if wanted.left == 0 {
                        return Ok(());
                    }
                    let (number, part) = parts.recv().map_err(|_| lost_thread())??;
                    extractor.extract(link, (number, &part), &mut wanted, each)?;
                }
            }
            Ok::<(), E>(())
        })?;
        wanted.check(tip)?;
        Ok(Pages {
            given: wanted.given,
            zeros: wanted.zeros,
        })
    }

    /// Fetches and opens all parts, in the order of newest-first, until the receiver is gone.
    fn fetch(&self, destination: &dyn Destination, to: &SyncSender<Result<(u32, OpenPart), BackupError>>) {
        for link in self.links() {
            let numbered: Vec<(u32, &[u8; 16])> = (0..).zip(&link.facts.parts).collect();
            for (number, salt) in numbered.into_iter().rev() {
                let part = link.archive.part(destination, (PartKind::Part, number), Some(salt));
                let is_bad = part.is_err();
                if to.send(part.map(|part| (number, part))).is_err() || is_bad {
                    return;
                }
            }
        }
    }
}

/// The result of reading a backup's pages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pages {
    /// The number of pages passed on.
    pub given: u32,
    /// The other pages: those that the backup lacks, and those never written since the database grew (FORMAT 2.5).
    pub zeros: Vec<u32>,
}

/// Extracts pages from parts.
struct PageExtractor {
    unpacker: Unpacker,
    block: Clear,
}

impl PageExtractor {
    fn new() -> Result<Self, BackupError> {
        let unpacker = Unpacker::new().map_err(|error| BackupError::Machine {
            what: error.to_string(),
        })?;
        Ok(Self {
            unpacker,
            block: Clear::default(),
        })
    }

    fn extract<E, F>(
        &mut self,
        link: &Backup,
        (number, part): (u32, &OpenPart),
        wanted: &mut Wanted,
        each: &mut F,
    ) -> Result<(), E>
    where
        E: From<BackupError>,
        F: FnMut(u32, &[u8]) -> Result<(), E>,
    {
        let refused = |error| BackupError::of_part(link.archive.object(Part::Pages(number)), error);
        let packed: Vec<&[u8]> = part.blocks().collect();
        for packed in packed.into_iter().rev() {
            self.unpacker.unpack(packed, &mut self.block).map_err(refused)?;
            let block = Block::parse(link.facts.page_size, &self.block).map_err(refused)?;
            for page in block.pages() {
                if wanted.take(page.page_no) {
                    each(page.page_no, page.bytes)?;
                }
            }
        }
        Ok(())
    }
}

/// The pages that are still wanted.
struct Wanted {
    /// A bit for each page; set if it is no longer wanted.
    found: Vec<u64>,
    page_count: u32,
    left: u32,
    given: u32,
    /// Pages whose newest image was already missing in a base.
    lost: Vec<u32>,
    /// All other pages that are not available.
    zeros: Vec<u32>,
}

impl Wanted {
    fn new(page_count: u32, tip: &Backup) -> Self {
        let words = usize::try_from(page_count / 64 + 1).unwrap_or(usize::MAX);
        let mut wanted = Self {
            found: vec![0; words],
            page_count,
            left: page_count,
            given: 0,
            lost: Vec::new(),
            zeros: Vec::new(),
        };
        let PageNo(lock) = Geometry::new(tip.facts.page_size).lock_page();
        wanted.mark_found(lock);
        wanted
    }

    /// Marks a page as found; returns whether it was wanted.
    fn mark_found(&mut self, page_no: u32) -> bool {
        if page_no == 0 || page_no > self.page_count {
            return false;
        }
        let (word, bit) = (page_no / 64, page_no % 64);
        let Some(word) = usize::try_from(word).ok().and_then(|word| self.found.get_mut(word)) else {
            return false;
        };
        let is_new = *word & 1 << bit == 0;
        *word |= 1 << bit;
        self.left -= u32::from(is_new);
        is_new
    }

    fn take(&mut self, page_no: u32) -> bool {
        let is_wanted = self.mark_found(page_no);
        self.given += u32::from(is_wanted);
        is_wanted
    }

    /// Enforces `missing-stays-missing`.
    fn give_up(&mut self, missing: &[u32], is_below: bool) {
        for &page_no in missing {
            if self.mark_found(page_no) {
                let list = if is_below { &mut self.lost } else { &mut self.zeros };
                list.push(page_no);
            }
        }
    }

    /// Enforces `log-before-backup` for the pages of an object of the log.
    fn apply_log_object<E, F>(
        &mut self,
        destination: &dyn Destination,
        tip: &Backup,
        (number, hash): (u32, [u8; 32]),
        each: &mut F,
    ) -> Result<(), E>
    where
        E: From<BackupError>,
        F: FnMut(u32, &[u8]) -> Result<(), E>,
    {
        let archive = &tip.archive;
        let place = (&archive.key, archive.begun.database_id, &archive.name);
        let object = LogObject::fetch(destination, place, number)?;
        if object.hash != hash {
            return Err(BackupError::Unauthentic {
                object: archive.object(Part::Log(number)),
                what: "it has changed since it was opened".to_owned(),
            }
            .into());
        }
        object.pages(
            tip.facts.page_size,
            |error| BackupError::of_part(archive.object(Part::Log(number)), error).into(),
            |page| match self.take(page.page_no) {
                true => each(page.page_no, page.bytes),
                false => Ok(()),
            },
        )
    }

    /// Adds pages beyond the backup's page count that were never written: SQLite omits some when a
    /// database grows. Each of them is referred to by four bytes in a page that was written.
    fn never_written(&mut self, tip: &Backup) -> Result<(), BackupError> {
        let named_max = u64::from(self.given) * tip.facts.page_size.as_u64() / 4;
        if u64::from(self.page_count.saturating_sub(tip.facts.page_count)) > u64::from(self.given) + named_max + 1 {
            return Err(BackupError::Chain {
                archive: tip.name().clone(),
                what: format!("its log cannot have extended it to {} pages", self.page_count),
            });
        }
        for page_no in tip.facts.page_count.saturating_add(1)..=self.page_count {
            if self.mark_found(page_no) {
                self.zeros.push(page_no);
            }
        }
        Ok(())
    }

    /// Enforces `all-pages-or-error`.
    fn check(&self, tip: &Backup) -> Result<(), BackupError> {
        let is_unmet = |page_no: &u32| {
            let word = usize::try_from(page_no / 64).ok().and_then(|word| self.found.get(word));
            word.is_none_or(|word| word & 1 << (page_no % 64) == 0)
        };
        if self.left == 0 && self.lost.is_empty() {
            return Ok(());
        }
        let unmet = if self.left == 0 { 0..=0 } else { 1..=self.page_count };
        let mut first: Vec<u32> = unmet
            .filter(|page_no| *page_no > 0)
            .filter(is_unmet)
            .take(NAMED_MAX)
            .collect();
        first.extend(self.lost.iter().take(NAMED_MAX - first.len()));
        let count = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .saturating_add(self.lost.len());
        let first: Vec<String> = first.iter().map(u32::to_string).collect();
        let more = if count > first.len() { ", ..." } else { "" };
        Err(BackupError::Incomplete {
            archive: tip.name().clone(),
            what: format!(
                "{count} of its pages are missing from its parts: {}{more}",
                first.join(", ")
            ),
        })
    }
}

fn lost_thread() -> BackupError {
    BackupError::Machine {
        what: "a thread ended with a bug in selenite: report this".to_owned(),
    }
}

/// The maximum number of pages listed in an error.
const NAMED_MAX: usize = 10;
