//! The list of archives at a destination.
//!
//! - catalog-is-not-authentic: the catalog is not authenticated: names, sizes and times are the
//!   destination's. Opening an archive shows whether it matches its name ([`crate::OpenArchive`]).
//!   Missing objects are found without a key, but possibly not all of them ([`Entry::fault`]).
//! - unknown-objects-ignored: objects with other names are ignored, and counted.

use std::collections::BTreeMap;

use selenite_cipher::{ArchiveId, DatabaseId};
use selenite_format::archive::{ArchiveHeader, Facts};

use crate::archive::is_part_size;
use crate::destination::{Destination, Object, StoreErrorKind};
use crate::inspection::ArchiveFault;
use crate::names::{AHEAD_SECONDS, ArchiveName, Part, database_prefix, object_key, parse_database_id};
use crate::opened::BEGUN_SIZE_MAX;
use crate::{BackupError, StoreError};

/// The archives of a destination.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The archives, ordered by database and name, which begins with the time at which each was begun.
    pub entries: Vec<Entry>,
    /// The number of objects that belong to no archive.
    pub foreign_count: u64,
}

/// An archive in the catalog.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The database id in the name of the archive's folder.
    pub database_id: DatabaseId,
    /// The archive's name, which contains the time at which it was begun.
    pub name: ArchiveName,
    /// The id in the archive's first object; `None` if that was not read, or is missing or damaged.
    pub archive_id: Option<ArchiveId>,
    /// Whether the object `begun` exists.
    pub has_begun: bool,
    /// Whether a manifest exists: without it, the archive is not a backup.
    pub is_finished: bool,
    /// The number of its objects.
    pub object_count: u64,
    /// The total size of its objects in bytes.
    pub size: u64,
    /// When the newest object was written, by the destination's clock: seconds since 1970-01-01 UTC.
    pub modified: u64,
    /// The number of parts with pages.
    pub part_count: u32,
    /// The number of parts of the index.
    pub index_count: u32,
    /// The number of objects of the log.
    pub log_count: u32,
    /// The number of the first missing part with pages: all parts before it exist.
    pub next_part: u32,
    /// The number of the first missing part of the index.
    pub next_index: u32,
    /// The first part of either kind with a size that no part has.
    pub misfit: Option<Part>,
    /// The number of objects of the log before the first gap.
    pub log_whole: u32,
    /// One more than the highest number of an object of the log: above `log_count` if one is missing.
    pub log_end: u32,
}

impl Catalog {
    /// Builds the catalog from the names of the objects of one database, or of all.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn list(destination: &dyn Destination, of: Option<DatabaseId>) -> Result<Self, StoreError> {
        let prefix = of.map(database_prefix).unwrap_or_default();
        let mut catalog = Self::default();
        let mut found: BTreeMap<(DatabaseId, ArchiveName), Entry> = BTreeMap::new();
        for object in destination.list(&prefix)? {
            let Some((id, name, part)) = taken_apart(&object) else {
                catalog.foreign_count += 1;
                continue;
            };
            let entry = found.entry((id, name)).or_insert_with_key(|(id, name)| Entry {
                database_id: *id,
                name: name.clone(),
                archive_id: None,
                has_begun: false,
                is_finished: false,
                object_count: 0,
                size: 0,
                modified: 0,
                part_count: 0,
                index_count: 0,
                log_count: 0,
                next_part: 0,
                next_index: 0,
                misfit: None,
                log_whole: 0,
                log_end: 0,
            });
            entry.add(&object, part);
        }
        catalog.entries = found.into_values().collect();
        Ok(catalog)
    }

    /// As [`Catalog::list`], but reads the first object of each archive. An archive whose first
    /// object does not belong to its name is not listed, and its objects are counted as foreign,
    /// unless there is a manifest. With a manifest it may be an incremental backup whose first
    /// object was lost: it is an entry without an id.
    ///
    /// # Errors
    /// Those of the destination.
    pub fn read(destination: &dyn Destination, of: Option<DatabaseId>) -> Result<Self, StoreError> {
        let mut catalog = Self::list(destination, of)?;
        let mut entries = Vec::with_capacity(catalog.entries.len());
        for mut entry in catalog.entries {
            entry.archive_id = archive_id_of(destination, &entry)?;
            if entry.archive_id.is_some() || entry.is_finished {
                entries.push(entry);
            } else {
                catalog.foreign_count += entry.object_count;
            }
        }
        catalog.entries = entries;
        Ok(catalog)
    }

    /// The databases that have archives.
    #[must_use]
    pub fn databases(&self) -> Vec<DatabaseId> {
        let mut ids: Vec<DatabaseId> = self.entries.iter().map(|entry| entry.database_id).collect();
        ids.dedup();
        ids
    }

    /// The first second from `now` on that is after the times in the names of all archives of this
    /// database. A later archive's name thus sorts after an earlier one's, even if both are begun
    /// in one second, or a clock was set back meanwhile. Names more than [`AHEAD_SECONDS`] ahead
    /// are ignored.
    #[must_use]
    pub fn free_second(&self, id: DatabaseId, now: u64) -> u64 {
        let Some(newest) = self
            .of(id)
            .rfind(|entry| !entry.name.is_after(now.saturating_add(AHEAD_SECONDS)))
        else {
            return now;
        };
        let (mut from, mut to) = (now, now.saturating_add(AHEAD_SECONDS + 1));
        // Binary search for the first second after the newest name.
        while from < to {
            let middle = from + (to - from) / 2;
            if newest.name.is_after(middle) || newest.name.is_from(middle) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// The archives of a database, in the order in which they were begun.
    pub fn of(&self, id: DatabaseId) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.database_id == id)
    }
}

impl Entry {
    /// The fault of an archive with a manifest that its names and sizes show: among all objects
    /// that the manifest lists, if `facts` is given; otherwise among the existing objects. Nothing
    /// is fetched.
    #[must_use]
    pub fn fault(&self, facts: Option<&Facts>) -> Option<ArchiveFault> {
        Some(match self.flaw(facts)? {
            Flaw::Missing(object) => ArchiveFault::missing(object),
            Flaw::Misfit(object) => ArchiveFault {
                object,
                what: MISFIT.to_owned(),
            },
        })
    }

    /// As [`Entry::fault`], with an error as the result.
    ///
    /// # Errors
    /// [`BackupError::Missing`]; [`BackupError::Unauthentic`] for an object of another size.
    pub(crate) fn check(&self, facts: &Facts) -> Result<(), BackupError> {
        match self.flaw(Some(facts)) {
            None => Ok(()),
            Some(Flaw::Missing(object)) => Err(BackupError::Missing { object }),
            Some(Flaw::Misfit(object)) => Err(BackupError::Unauthentic {
                object,
                what: MISFIT.to_owned(),
            }),
        }
    }

    fn flaw(&self, facts: Option<&Facts>) -> Option<Flaw> {
        if !self.is_finished {
            return None;
        }
        let key = |part: Part| object_key(self.database_id, &self.name, part);
        let count = facts.map_or_else(
            || self.part_count.max(self.index_count),
            |facts| u32::try_from(facts.parts.len()).unwrap_or(u32::MAX),
        );
        if !self.has_begun {
            return Some(Flaw::Missing(key(Part::Begun)));
        }
        if self.next_part < count {
            return Some(Flaw::Missing(key(Part::Pages(self.next_part))));
        }
        if self.next_index < count {
            return Some(Flaw::Missing(key(Part::Index(self.next_index))));
        }
        let is_listed = |part: &Part| matches!(part, Part::Pages(number) | Part::Index(number) if *number < count);
        self.misfit.filter(is_listed).map(|part| Flaw::Misfit(key(part)))
    }

    /// Adds an object. Objects arrive ordered by name, and therefore by number.
    fn add(&mut self, object: &Object, part: Part) {
        self.object_count += 1;
        self.size = self.size.saturating_add(object.size);
        self.modified = self.modified.max(object.modified);
        match part {
            Part::Begun => self.has_begun = true,
            Part::Manifest => self.is_finished = true,
            Part::Pages(number) => {
                self.part_count += 1;
                self.next_part += u32::from(number == self.next_part);
            }
            Part::Index(number) => {
                self.index_count += 1;
                self.next_index += u32::from(number == self.next_index);
            }
            Part::Log(number) => {
                self.log_count += 1;
                // Objects are ordered by name, and therefore by number.
                self.log_whole += u32::from(number == self.log_whole);
                self.log_end = self.log_end.max(number.saturating_add(1));
            }
        }
        if matches!(part, Part::Pages(_) | Part::Index(_)) && !is_part_size(object.size) {
            self.misfit.get_or_insert(part);
        }
    }
}

/// A fault that names and sizes show.
enum Flaw {
    Missing(String),
    Misfit(String),
}

const MISFIT: &str = "its size is not that of a part: truncated, or not completely written";

fn archive_id_of(destination: &dyn Destination, entry: &Entry) -> Result<Option<ArchiveId>, StoreError> {
    if !entry.has_begun {
        return Ok(None);
    }
    let key = object_key(entry.database_id, &entry.name, Part::Begun);
    let bytes = match destination.get(&key, BEGUN_SIZE_MAX) {
        Ok(bytes) => bytes,
        // Removed meanwhile, or far too large.
        Err(error) if matches!(error.kind, StoreErrorKind::Missing | StoreErrorKind::InvalidResponse) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let begun = ArchiveHeader::parse(&bytes).ok().map(|(begun, _, _)| begun);
    let fits = |begun: &ArchiveHeader| {
        begun.database_id == entry.database_id && ArchiveName::new(begun.made, begun.archive_id) == entry.name
    };
    Ok(begun.filter(fits).map(|begun| begun.archive_id))
}

/// Parses `DATABASE/ARCHIVE/PART`.
fn taken_apart(object: &Object) -> Option<(DatabaseId, ArchiveName, Part)> {
    let (database, rest) = object.name.split_once('/')?;
    let (archive, part) = rest.split_once('/')?;
    Some((parse_database_id(database)?, archive.parse().ok()?, Part::parse(part)?))
}
