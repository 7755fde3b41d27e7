//! Reads the objects of an archive's log, and assembles them into complete turns (FORMAT 12.6).
//!
//! - objects-chained: an object is accepted if it contains the hash of the previous one, and begins
//!   where that ended.
//! - whole-turns-count: a turn is applied if all of its objects exist. A turn without its last
//!   object was interrupted, if the next object begins a turn, or nothing follows.

use selenite_cipher::sha256;
use selenite_cipher::{ArchiveKey, DatabaseId, PartKind};
use selenite_format::PageSize;
use selenite_format::archive::{LogEnd, LogFacts, LogPosition};
use zeroize::Zeroizing;

use crate::archive::{ArchiveError, Block, LOG_OBJECT_SIZE_MAX, OpenPart, PackedPage, Unpacker};
use crate::destination::{Destination, StoreErrorKind};
use crate::error::BackupError;
use crate::names::{ArchiveName, Part, object_key};
use crate::opened::Backup;

/// An opened object of the log.
pub struct LogObject {
    /// The facts in the object.
    pub facts: LogFacts,
    /// The SHA-256 of the sealed object.
    pub hash: [u8; 32],
    part: OpenPart,
}

impl LogObject {
    /// Opens the object `number` of an archive's log.
    ///
    /// # Errors
    /// [`ArchiveError`].
    pub fn open(key: &ArchiveKey, number: u32, bytes: Vec<u8>) -> Result<Self, ArchiveError> {
        let hash = sha256(&bytes);
        let part = OpenPart::open(key, (PartKind::Log, number), bytes)?;
        let malformed = ArchiveError::Malformed { what: "facts" };
        let mut facts = Vec::new();
        Unpacker::new()?.unpack(part.blocks().last().ok_or(malformed)?, &mut facts)?;
        let facts = LogFacts::parse(&facts).map_err(|_| malformed)?;
        Ok(Self { facts, hash, part })
    }

    /// Reads and opens an object.
    ///
    /// # Errors
    /// Those of the destination; [`BackupError::Unauthentic`], [`BackupError::Form`].
    pub fn fetch(
        destination: &dyn Destination,
        (key, database_id, name): (&ArchiveKey, DatabaseId, &ArchiveName),
        number: u32,
    ) -> Result<Self, BackupError> {
        let object = object_key(database_id, name, Part::Log(number));
        let bytes = destination.get(&object, LOG_OBJECT_SIZE_MAX)?;
        Self::open(key, number, bytes).map_err(|error| BackupError::of_part(object, error))
    }

    /// Calls `each` with the pages, as SQLite has them, by ascending number without duplicates.
    ///
    /// # Errors
    /// Those of `each`; the result of `refused` for an invalid block.
    pub fn pages<E>(
        &self,
        page_size: PageSize,
        refused: impl Fn(ArchiveError) -> E,
        mut each: impl FnMut(PackedPage<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut unpacker = Unpacker::new().map_err(&refused)?;
        let mut bytes = Zeroizing::new(Vec::new());
        let mut blocks = self.part.blocks().peekable();
        let mut last = 0;
        while let Some(packed) = blocks.next() {
            // The last block contains the facts.
            if blocks.peek().is_none() {
                break;
            }
            unpacker.unpack(packed, &mut bytes).map_err(&refused)?;
            let block = Block::parse(page_size, &bytes).map_err(&refused)?;
            for page in block.pages() {
                if page.page_no <= last {
                    return Err(refused(ArchiveError::Malformed { what: "order of pages" }));
                }
                last = page.page_no;
                each(page)?;
            }
        }
        Ok(())
    }
}

/// The state of reading a log: objects-chained and whole-turns-count.
#[derive(Clone, Debug)]
pub struct LogChain {
    previous: [u8; 32],
    /// The end of the last complete turn; before the first turn only the position is known.
    end: Result<LogEnd, LogPosition>,
    open: Option<LogFacts>,
    made: u64,
}

impl LogChain {
    /// The start of the log of an archive with this manifest, taken at this position.
    #[must_use]
    pub fn new(manifest: [u8; 32], position: LogPosition) -> Self {
        Self {
            previous: manifest,
            end: Err(position),
            open: None,
            made: 0,
        }
    }

    /// Accepts the next object. Returns whether it completes a turn.
    ///
    /// # Errors
    /// A description of the mismatch.
    pub fn accept(&mut self, object: &LogObject) -> Result<bool, &'static str> {
        let facts = object.facts;
        if facts.previous != self.previous {
            return Err("it does not follow the object before it: one is missing or was replaced");
        }
        let continues = self.open.is_some_and(|open| {
            (open.made, open.from, open.to, open.page_count) == (facts.made, facts.from, facts.to, facts.page_count)
        });
        if !facts.is_first && !continues {
            return Err("it continues a turn that did not begin");
        }
        if facts.made < self.made {
            return Err("it is earlier than the object before it");
        }
        let begins_right = match self.end {
            Ok(end) => facts.from == end,
            Err(position) => facts.from.position == position,
        };
        if !begins_right {
            return Err("it does not begin where the object before it ended");
        }
        (self.previous, self.made) = (object.hash, facts.made);
        self.open = (!facts.is_last).then_some(facts);
        if facts.is_last {
            self.end = Ok(facts.to);
        }
        Ok(facts.is_last)
    }
}

/// The objects of a log that restore the database at a given time.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LogPlan {
    /// The objects by ascending number, each with its SHA-256: later pages replace earlier ones. An
    /// object with another SHA-256 has changed since it was read.
    pub objects: Vec<(u32, [u8; 32])>,
    /// The page count of the database after them, and the time of that state: milliseconds since
    /// 1970-01-01 UTC. `None` without objects.
    pub end: Option<(u32, u64)>,
    /// The time of the last object in the same form; `None` if not all objects were read, since one
    /// was later than requested.
    pub all_until: Option<u64>,
}

impl LogPlan {
    /// Reads a log up to the time `until`, in milliseconds since 1970-01-01 UTC. `count` is the
    /// number of listed objects.
    ///
    /// # Errors
    /// An object cannot be opened, does not exist, or does not follow the previous one.
    pub fn make(
        destination: &dyn Destination,
        (key, database_id, name): (&ArchiveKey, DatabaseId, &ArchiveName),
        mut chain: LogChain,
        (count, until): (u32, u64),
    ) -> Result<Self, BackupError> {
        let mut plan = Self::default();
        let mut turn = Vec::new();
        let mut last = None;
        for number in 0..count {
            let refused = |what: &str| BackupError::Chain {
                archive: name.clone(),
                what: format!("{}: {what}", Part::Log(number)),
            };
            let object = match LogObject::fetch(destination, (key, database_id, name), number) {
                Err(BackupError::Store(error)) if error.kind == StoreErrorKind::Missing => {
                    return Err(refused("it is missing, but later ones exist"));
                }
                object => object?,
            };
            let is_whole = chain.accept(&object).map_err(refused)?;
            if object.facts.made > until {
                return Ok(plan);
            }
            last = Some(object.facts.made);
            if object.facts.is_first {
                turn.clear();
            }
            turn.push((number, object.hash));
            if is_whole {
                plan.objects.append(&mut turn);
                plan.end = Some((object.facts.page_count, object.facts.made));
            }
        }
        plan.all_until = last;
        Ok(plan)
    }
}

impl Backup {
    /// The plan for this backup's log up to `until`, in milliseconds since 1970-01-01 UTC. `count`
    /// is the number of listed objects of the log.
    ///
    /// # Errors
    /// Those of [`LogPlan::make`].
    pub fn log(&self, destination: &dyn Destination, count: u32, until: u64) -> Result<LogPlan, BackupError> {
        let Some(position) = self.facts.log.filter(|_| count > 0) else {
            return Ok(LogPlan::default());
        };
        let archive = &self.archive;
        let place = (&archive.key, archive.begun.database_id, &archive.name);
        let chain = LogChain::new(self.manifest_digest, position);
        LogPlan::make(destination, place, chain, (count, until))
    }
}
