//! Opened archives, and backups, which are archives with a manifest.
//!
//! - name-matches-contents: name, folder and the first object agree, and the MAC of the first
//!   object is valid: an archive cannot be presented as one of another time or database.
//! - part-opened-whole: a part is opened completely or not used; its salt is the one that
//!   the manifest lists.
//! - origin-mac-everywhere: if the manifest has an origin MAC, every part, index and object of the
//!   log must have one: the archive's key then has the origin key ([`ArchiveKey::has_origin`]). For
//!   an archive of unknown origin it has none.
//! - index-bounded: an index has no more pages than a part can contain: a small object cannot cause
//!   unlimited use of memory.

use selenite_cipher::{ArchiveKey, DatabaseId, MasterKey, PartKind, sha256};
use selenite_format::anchor::Mark;
use selenite_format::archive::{ArchiveHeader, Facts};
use selenite_format::{PageSize, Superblock};
use selenite_keyring::KeyError;
use zeroize::Zeroizing;

use crate::BackupError;
use crate::archive::{
    ArchiveError, BLOCK_COUNT_MAX, Block, IndexBlock, OpenPart, PART_HEADER_SIZE, PART_SIZE_MAX, PartHeader, Unpacker,
    page_count_max,
};
use crate::destination::{Destination, StoreErrorKind};
use crate::key_source::{KeySource, OpenedBy};
use crate::names::{ArchiveName, Part, object_key};

/// An archive, finished or not.
pub struct OpenArchive {
    /// Its name.
    pub name: ArchiveName,
    /// Its first object.
    pub begun: ArchiveHeader,
    /// Its key.
    pub key: ArchiveKey,
    /// How it was opened.
    pub by: OpenedBy,
    begun_digest: [u8; 32],
    /// Whether an unknown origin is accepted.
    admits_any: bool,
    /// Whether the master key is known to be the database's.
    is_proved: bool,
}

/// The pages in a part.
pub struct PartIndex {
    /// The salt of the object that was read: the index, or the part itself.
    pub salt: [u8; 16],
    /// The pages and their marks, in stored order.
    pub pages: Vec<(u32, Mark)>,
}

/// A finished archive.
pub struct Backup {
    /// The archive.
    pub archive: OpenArchive,
    /// The content of its manifest.
    pub facts: Facts,
    /// The SHA-256 of the manifest's bytes, by which archives based on this one identify it.
    pub manifest_digest: [u8; 32],
}

impl OpenArchive {
    /// Opens an archive.
    ///
    /// # Errors
    /// [`BackupError::NotThere`]; [`BackupError::Key`]; [`BackupError::Unauthentic`]; [`BackupError::Form`];
    /// [`BackupError::Store`].
    pub fn open(
        destination: &dyn Destination,
        id: DatabaseId,
        name: &ArchiveName,
        keys: &KeySource<'_>,
    ) -> Result<Self, BackupError> {
        Self::open_link(destination, id, name, keys, (&mut Vec::new(), false))
    }

    /// As [`OpenArchive::open`], for the base of another archive.
    pub(crate) fn open_link(
        destination: &dyn Destination,
        id: DatabaseId,
        name: &ArchiveName,
        keys: &KeySource<'_>,
        (masters, is_link): (&mut Vec<MasterKey>, bool),
    ) -> Result<Self, BackupError> {
        let object = object_key(id, name, Part::Begun);
        twice(destination, &object, BEGUN_SIZE_MAX, |bytes| {
            let missing = || BackupError::NotThere {
                what: format!("{} has no backup {name} of this database", destination.place()),
            };
            let bytes = bytes.map_err(|error| or_missing(error, missing))?;
            let (begun, maced, mac) =
                ArchiveHeader::parse(&bytes).map_err(|error| BackupError::of_form(&object, error))?;
            // name-matches-contents.
            let unauthentic = |what: &str| BackupError::Unauthentic {
                object: object.clone(),
                what: what.to_owned(),
            };
            if begun.database_id != id {
                return Err(unauthentic("it is of another database"));
            }
            if ArchiveName::new(begun.made, begun.archive_id) != *name {
                return Err(unauthentic("it is of a backup of another name"));
            }
            let is_right = |secret: &selenite_cipher::Secret<32>| {
                ArchiveKey::new(secret.duplicate(), begun.archive_id).mac_is_valid(maced, &mac)
            };
            let opened = keys.open(&begun, masters, is_link, &is_right);
            let (key, by) = opened.map_err(|source| BackupError::Key {
                archive: name.clone(),
                source,
            })?;
            if !key.mac_is_valid(maced, &mac) {
                return Err(unauthentic("its MAC is wrong: altered, or assembled from several"));
            }
            if let OpenedBy::Slot(unlocked) = &by
                && unlocked.superblock.database_id != id
            {
                return Err(unauthentic("its superblock is of another database"));
            }
            let begun_digest = sha256(&bytes);
            let is_proved = keys.proves(&by, is_link);
            Ok(Self {
                name: name.clone(),
                begun,
                key,
                by,
                begun_digest,
                admits_any: keys.admits_any(),
                is_proved,
            })
        })
    }

    /// Reads its manifest.
    ///
    /// # Errors
    /// [`BackupError::Unfinished`]; [`BackupError::Key`] if a proof of origin is required and the
    /// manifest has none; [`BackupError::Unauthentic`]; [`BackupError::Form`];
    /// [`BackupError::Store`].
    pub fn into_backup(mut self, destination: &dyn Destination) -> Result<Backup, BackupError> {
        let object = self.object(Part::Manifest);
        let (facts, manifest_digest, is_own) = twice(destination, &object, PART_SIZE_MAX, |bytes| {
            let unfinished = || BackupError::Unfinished {
                archive: self.name.clone(),
            };
            let bytes = bytes.map_err(|error| or_missing(error, unfinished))?;
            let digest = sha256(&bytes);
            let opened = OpenPart::open_any(&self.key, (PartKind::Facts, 0), bytes);
            let part = opened.map_err(|error| BackupError::of_part(&object, error))?;
            let is_own = part.is_own(&self.key);
            if !is_own && !self.admits_any {
                return Err(BackupError::Key {
                    archive: self.name.clone(),
                    source: KeyError::ArchiveUnproved,
                });
            }
            let facts = self.facts(&object, &part)?;
            Ok((facts, digest, is_own))
        })?;
        if !is_own {
            self.key = self.key.without_origin();
        }
        Ok(Backup {
            archive: self,
            facts,
            manifest_digest,
        })
    }

    /// Reads and opens a part other than an index. `salt` is the one in the manifest, if that is
    /// known (part-opened-whole).
    ///
    /// # Errors
    /// [`BackupError::Unauthentic`]; [`BackupError::Form`]; [`BackupError::Missing`] if it is
    /// listed and does not exist; [`BackupError::Store`], also if it is not listed and does not
    /// exist.
    pub fn part(
        &self,
        destination: &dyn Destination,
        (kind, number): (PartKind, u32),
        salt: Option<&[u8; 16]>,
    ) -> Result<OpenPart, BackupError> {
        self.any_part(destination, (kind, number), salt, &[0; 16])
    }

    /// As [`OpenArchive::part`], also for an index, whose part has the salt `part_salt`.
    fn any_part(
        &self,
        destination: &dyn Destination,
        (kind, number): (PartKind, u32),
        salt: Option<&[u8; 16]>,
        part_salt: &[u8; 16],
    ) -> Result<OpenPart, BackupError> {
        let object = self.object(match kind {
            PartKind::Part => Part::Pages(number),
            PartKind::Index => Part::Index(number),
            PartKind::Facts => Part::Manifest,
            PartKind::Log => Part::Log(number),
        });
        let missing = || BackupError::Missing { object: object.clone() };
        twice(destination, &object, PART_SIZE_MAX, |bytes| {
            let bytes = match salt {
                // A part that is not listed need not exist.
                None => bytes?,
                Some(_) => bytes.map_err(|error| or_missing(error, missing))?,
            };
            if let Some(salt) = salt
                && PartHeader::parse(&bytes).is_ok_and(|header| header.salt != *salt)
            {
                return Err(BackupError::of_part(&object, ArchiveError::OtherPart));
            }
            let opened = match kind {
                PartKind::Index => OpenPart::open_index(&self.key, number, part_salt, bytes),
                PartKind::Part | PartKind::Facts | PartKind::Log => OpenPart::open(&self.key, (kind, number), bytes),
            };
            opened.map_err(|error| BackupError::of_part(&object, error))
        })
    }

    /// The salt in the header of a part. Only the header is read, which is not authenticated.
    ///
    /// # Errors
    /// Those of [`OpenArchive::part`].
    pub(crate) fn part_salt(&self, destination: &dyn Destination, number: u32) -> Result<[u8; 16], BackupError> {
        let object = self.object(Part::Pages(number));
        let beginning = destination.beginning(&object, PART_HEADER_SIZE)?;
        let header = PartHeader::parse(&beginning).map_err(|error| BackupError::of_part(&object, error))?;
        Ok(header.salt)
    }

    /// The pages in a part and their marks, in stored order, from its index; and the index's salt.
    /// `part_salt` is the part's salt.
    ///
    /// # Errors
    /// Those of [`OpenArchive::part`].
    pub fn index(
        &self,
        destination: &dyn Destination,
        number: u32,
        (salt, part_salt): (Option<&[u8; 16]>, &[u8; 16]),
    ) -> Result<PartIndex, BackupError> {
        let mut pages = Vec::new();
        let place = (PartKind::Index, number);
        let salt = self.blocks(destination, place, (salt, part_salt), &mut |block| {
            let index = IndexBlock::parse(block)?;
            pages.extend(index.pages());
            // index-bounded.
            if pages.len() > part_page_count_max() {
                return Err(ArchiveError::Malformed { what: "index" });
            }
            Ok(())
        })?;
        Ok(PartIndex { salt, pages })
    }

    /// As [`OpenArchive::index`], from the part itself, for a part without an index.
    ///
    /// # Errors
    /// Those of [`OpenArchive::part`].
    pub(crate) fn pages_of_part(&self, destination: &dyn Destination, number: u32) -> Result<PartIndex, BackupError> {
        let page_size = Superblock::parse(&self.begun.superblock)
            .map_err(|error| BackupError::of_form(self.object(Part::Begun), error))?
            .page_size;
        let mut pages = Vec::new();
        let place = (PartKind::Part, number);
        let salt = self.blocks(destination, place, (None, &[0; 16]), &mut |block| {
            let block = Block::parse(page_size, block)?;
            pages.extend(block.pages().map(|page| (page.page_no, page.mark)));
            Ok(())
        })?;
        Ok(PartIndex { salt, pages })
    }

    /// Unpacks the blocks of a part, and returns its salt.
    fn blocks(
        &self,
        destination: &dyn Destination,
        (kind, number): (PartKind, u32),
        (salt, part_salt): (Option<&[u8; 16]>, &[u8; 16]),
        each: &mut dyn FnMut(&[u8]) -> Result<(), ArchiveError>,
    ) -> Result<[u8; 16], BackupError> {
        let part = self.any_part(destination, (kind, number), salt, part_salt)?;
        let object = match kind {
            PartKind::Index => Part::Index(number),
            PartKind::Part | PartKind::Facts => Part::Pages(number),
            PartKind::Log => Part::Log(number),
        };
        let refused = |error| BackupError::of_part(self.object(object), error);
        let mut unpacker = Unpacker::new().map_err(refused)?;
        let mut block = Clear::default();
        for packed in part.blocks() {
            unpacker.unpack(packed, &mut block).map_err(refused)?;
            each(&block).map_err(refused)?;
        }
        Ok(part.salt())
    }

    /// The SHA-256 of the first object.
    pub(crate) fn begun_digest(&self) -> [u8; 32] {
        self.begun_digest
    }

    /// The name of one of its objects.
    #[must_use]
    pub fn object(&self, part: Part) -> String {
        object_key(self.begun.database_id, &self.name, part)
    }

    fn facts(&self, object: &str, part: &OpenPart) -> Result<Facts, BackupError> {
        let refused = |error| BackupError::of_part(object, error);
        let form = |what: &str| BackupError::Form {
            object: object.to_owned(),
            what: what.to_owned(),
        };
        let mut unpacker = Unpacker::new().map_err(refused)?;
        let (mut block, mut bytes) = (Vec::new(), Vec::new());
        for packed in part.blocks() {
            unpacker.unpack(packed, &mut block).map_err(refused)?;
            if bytes.len() + block.len() > FACTS_SIZE_MAX {
                return Err(form("a manifest is far shorter"));
            }
            bytes.extend_from_slice(&block);
        }
        let facts = Facts::parse(&bytes).map_err(|error| BackupError::of_form(object, error))?;
        if facts.begun != self.begun_digest {
            return Err(BackupError::Unauthentic {
                object: object.to_owned(),
                what: "it belongs to another backup".to_owned(),
            });
        }
        if facts.parts.len() != facts.indexes.len() {
            return Err(form("each part has an index"));
        }
        Ok(facts)
    }
}

impl Backup {
    /// The archive's name, for errors.
    #[must_use]
    pub fn name(&self) -> &ArchiveName {
        &self.archive.name
    }

    /// Whether its origin MACs prove that a holder of the database's master key made it
    /// (origin-mac-everywhere), and that master key is known to be the database's. The second
    /// condition is needed because an attacker who makes a whole database for a public recipient
    /// also makes its origin MACs.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.archive.is_proved && self.archive.key.has_origin()
    }

    /// Calls `each` with the pages in its parts and their marks, oldest part first: later marks of
    /// a page replace earlier ones. Then with its missing pages and a mark of zeros, which no image
    /// of a page has.
    ///
    /// # Errors
    /// Those of [`OpenArchive::part`].
    pub fn marks(&self, destination: &dyn Destination, each: &mut dyn FnMut(u32, Mark)) -> Result<(), BackupError> {
        let salts = self.facts.indexes.iter().zip(&self.facts.parts);
        for (number, (salt, part_salt)) in (0..).zip(salts) {
            let index = self.archive.index(destination, number, (Some(salt), part_salt))?;
            index.pages.into_iter().for_each(|(page_no, mark)| each(page_no, mark));
        }
        self.facts
            .missing
            .iter()
            .for_each(|&page_no| each(page_no, Mark::default()));
        Ok(())
    }
}

/// The maximum number of pages in a part, for the smallest page size.
fn part_page_count_max() -> usize {
    BLOCK_COUNT_MAX * page_count_max(PageSize::MIN)
}

/// Reads an object; if it is invalid, reads it again, bypassing any cache.
fn twice<T>(
    destination: &dyn Destination,
    object: &str,
    size_max: usize,
    mut take: impl FnMut(Result<Vec<u8>, crate::StoreError>) -> Result<T, BackupError>,
) -> Result<T, BackupError> {
    match take(destination.get(object, size_max)) {
        Err(BackupError::Unauthentic { .. } | BackupError::Form { .. }) => {
            take(destination.get_uncached(object, size_max))
        }
        taken => taken,
    }
}

/// Converts the error that an object is missing to an error about its archive.
fn or_missing(error: crate::StoreError, missing: impl FnOnce() -> BackupError) -> BackupError {
    if error.kind == StoreErrorKind::Missing {
        missing()
    } else {
        BackupError::Store(error)
    }
}

/// A first object with the maximum number of slots and recipients has less than 300 KiB.
pub const BEGUN_SIZE_MAX: usize = 512 << 10;
/// The salts of two million parts of 16 MiB: more than the largest database has.
const FACTS_SIZE_MAX: usize = 64 << 20;

/// Unpacked content, which is unencrypted pages.
pub(crate) type Clear = Zeroizing<Vec<u8>>;
