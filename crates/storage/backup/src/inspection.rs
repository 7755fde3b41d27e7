//! Verifies that every object of a backup is authentic, and that all pages exist.
//!
//! - every-object-opened: every part and every index is opened, unpacked and parsed. An index must
//!   list the pages of its part, in the same order and with the same marks. Faults are recorded,
//!   and the inspection continues.
//! - page-in-chain: a page exists if a part of the backup or of one of its bases contains it, and
//!   no newer archive lists it as missing, as in [`crate::Chain::pages`].
//! - bounded-memory: a part, a block, and one bit for each page of the database.

use selenite_cipher::{PageNo, PartKind};
use selenite_format::Geometry;
use selenite_format::anchor::Mark;

use crate::BackupError;
use crate::archive::{Block, Unpacker};
use crate::destination::{Destination, StoreErrorKind};
use crate::names::Part;
use crate::opened::{Backup, Clear};

/// The pages that a backup and its bases contain.
#[derive(Clone, Default)]
pub struct Coverage(Vec<u64>);

/// A fault of an object or of a backup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArchiveFault {
    /// The object; the archive's name if the fault concerns several.
    pub object: String,
    /// The description of the fault.
    pub what: String,
}

impl ArchiveFault {
    pub(crate) fn missing(object: String) -> Self {
        let what = MISSING.to_owned();
        Self { object, what }
    }
}

/// The result of an inspection.
#[derive(Default)]
pub struct Inspection {
    /// The pages that are available.
    pub coverage: Coverage,
    /// The number of pages in the backup's own parts.
    pub page_count: u64,
    /// The faults found.
    pub faults: Vec<ArchiveFault>,
}

impl Coverage {
    fn set(&mut self, page_no: u32, is_there: bool) {
        let index = usize::try_from(page_no / 64).unwrap_or(usize::MAX);
        if is_there && self.0.len() <= index {
            self.0.resize(index + 1, 0);
        }
        if let Some(word) = self.0.get_mut(index) {
            let bit = 1 << (page_no % 64);
            *word = if is_there { *word | bit } else { *word & !bit };
        }
    }

    fn has(&self, page_no: u32) -> bool {
        let index = usize::try_from(page_no / 64).unwrap_or(usize::MAX);
        self.0.get(index).is_some_and(|word| word & 1 << (page_no % 64) != 0)
    }
}

impl Backup {
    /// Inspects the whole backup. `below` is the coverage of its base; `read` is called after every
    /// object, and returns whether to continue.
    ///
    /// # Errors
    /// [`BackupError::Stopped`]; [`BackupError::Store`] for an error of the destination itself,
    /// which is no fault of the backup.
    pub fn inspect(
        &self,
        destination: &dyn Destination,
        below: Option<&Coverage>,
        read: &mut dyn FnMut() -> bool,
    ) -> Result<Inspection, BackupError> {
        let mut found = Inspection {
            coverage: below.cloned().unwrap_or_default(),
            ..Inspection::default()
        };
        for (number, (part, index)) in (0..).zip(self.facts.parts.iter().zip(&self.facts.indexes)) {
            let held = self.held(destination, number, part);
            let held = found.take(held)?;
            found.page_count += u64::try_from(held.as_ref().map_or(0, Vec::len)).unwrap_or(u64::MAX);
            for (page_no, _) in held.iter().flatten() {
                found.coverage.set(*page_no, true);
            }
            if !read() {
                return Err(BackupError::Stopped);
            }
            let told = self.archive.index(destination, number, (Some(index), part));
            let told = told.map(|index| index.pages);
            if let (Some(held), Some(told)) = (held, found.take(told)?)
                && held != told
            {
                found.faults.push(ArchiveFault {
                    object: self.archive.object(Part::Index(number)),
                    what: "its pages are not those of its part".to_owned(),
                });
            }
            if !read() {
                return Err(BackupError::Stopped);
            }
        }
        for &page_no in &self.facts.missing {
            found.coverage.set(page_no, false);
        }
        if found.faults.is_empty() {
            self.check_whole(&mut found);
        }
        Ok(found)
    }

    /// The pages of a part and their marks, in stored order.
    fn held(
        &self,
        destination: &dyn Destination,
        number: u32,
        salt: &[u8; 16],
    ) -> Result<Vec<(u32, Mark)>, BackupError> {
        let part = self.archive.part(destination, (PartKind::Part, number), Some(salt))?;
        let refused = |error| BackupError::of_part(self.archive.object(Part::Pages(number)), error);
        let mut unpacker = Unpacker::new().map_err(refused)?;
        let (mut block, mut held) = (Clear::default(), Vec::new());
        for packed in part.blocks() {
            unpacker.unpack(packed, &mut block).map_err(refused)?;
            let pages = Block::parse(self.facts.page_size, &block).map_err(refused)?;
            held.extend(pages.pages().map(|page| (page.page_no, page.mark)));
        }
        Ok(held)
    }

    /// Enforces `page-in-chain`.
    fn check_whole(&self, found: &mut Inspection) {
        let PageNo(lock) = Geometry::new(self.facts.page_size).lock_page();
        let missing = &self.facts.missing;
        let mut lost = (1..=self.facts.page_count)
            .filter(|page_no| *page_no != lock && !found.coverage.has(*page_no))
            .filter(|page_no| missing.binary_search(page_no).is_err());
        let Some(first) = lost.next() else { return };
        let more = lost.count();
        found.faults.push(ArchiveFault {
            object: self.name().to_string(),
            what: format!(
                "{} of its pages are missing from its parts and its bases, the first is {first}",
                more + 1
            ),
        });
    }
}

impl Inspection {
    /// Records a fault of an object; returns errors of the destination.
    fn take<T>(&mut self, got: Result<T, BackupError>) -> Result<Option<T>, BackupError> {
        match got {
            Ok(got) => Ok(Some(got)),
            Err(error) => {
                self.faults.push(fault_of(error)?);
                Ok(None)
            }
        }
    }
}

/// The fault that an error shows in the backup; the error itself if it shows none.
///
/// # Errors
/// [`BackupError::Stopped`], [`BackupError::Machine`], and [`BackupError::Store`] unless an object
/// is missing or is not what was promised.
pub fn fault_of(error: BackupError) -> Result<ArchiveFault, BackupError> {
    let fault = |object: &str, what: &str| {
        Ok(ArchiveFault {
            object: object.to_owned(),
            what: what.to_owned(),
        })
    };
    match &error {
        BackupError::Unauthentic { object, what } | BackupError::Form { object, what } => fault(object, what),
        BackupError::Missing { object } => Ok(ArchiveFault::missing(object.clone())),
        BackupError::Store(store) if matches!(store.kind, StoreErrorKind::Missing) => {
            Ok(ArchiveFault::missing(store.name.clone()))
        }
        BackupError::Store(store) if matches!(store.kind, StoreErrorKind::InvalidResponse) => {
            fault(&store.name, &store.what)
        }
        BackupError::MissingLink { archive, .. }
        | BackupError::Chain { archive, .. }
        | BackupError::Gap { archive, .. }
        | BackupError::Incomplete { archive, .. }
        | BackupError::LacksPages { archive, .. }
        | BackupError::Unfinished { archive } => fault(archive.as_str(), &error.to_string()),
        BackupError::NotThere { .. }
        | BackupError::Key { .. }
        | BackupError::Store(_)
        | BackupError::Source(_)
        | BackupError::WrittenByOther { .. }
        | BackupError::Removed { .. }
        | BackupError::ArchiveRemoved { .. }
        | BackupError::KeysChanged
        | BackupError::Machine { .. }
        | BackupError::Stopped => Err(error),
    }
}

/// The description of a missing object.
const MISSING: &str = "it is missing";
