//! An archive on its way to a destination: what opens it, its parts with their indexes, its manifest (FORMAT 12).
//!
//! W1. The manifest is written last, and says which parts are the archive's, by their salts: another's part of the same number
//!     is none of them.
//! W2. Nothing is sealed twice under a key: each part has a salt of its own.

use selenite_archive::{BLOCK_SIZE_MAX, CompressionLevel, IndexBlock, Packer, PartWriter, index_count_max};
use selenite_cipher::{ArchiveId, ArchiveKey, DatabaseId, PartKind, Secret};
use selenite_format::anchor::Mark;
use selenite_format::archive::{Begun, Facts};
use selenite_keyring::{Unlocked, os_random};
use sha2::{Digest, Sha256};

use crate::destination::{Destination, StoreError, Trouble};
use crate::error::{BackupError, machine};
use crate::names::{ArchiveName, Part, object_key};

/// An archive that is being written.
pub struct ArchiveWriter<'a> {
    destination: &'a dyn Destination,
    key: ArchiveKey,
    database_id: DatabaseId,
    name: ArchiveName,
    begun: [u8; 32],
    made: u64,
    parts: Vec<[u8; 16]>,
    indexes: Vec<[u8; 16]>,
}

impl<'a> ArchiveWriter<'a> {
    /// Begins an archive of the database that `unlocked` is of. `made` is now, in seconds since 1970-01-01 UTC; `wrap` is given the
    /// archive key and answers it as an age file for each who may open the archive without the database's identities.
    ///
    /// # Errors
    /// What `wrap` and the destination say; a superblock that can't be written.
    pub fn begin(
        destination: &'a dyn Destination,
        unlocked: &Unlocked,
        made: u64,
        wrap: impl FnOnce(&Secret<32>) -> Result<Vec<Vec<u8>>, BackupError>,
    ) -> Result<Self, BackupError> {
        let archive_id = ArchiveId(drawn());
        let key = ArchiveKey::new(Secret::fill(|bytes: &mut [u8; 32]| os_random(bytes)), archive_id);
        let database_id = unlocked.superblock.database_id;
        let begun = Begun {
            archive_id,
            database_id,
            made,
            wrapped_key: unlocked.master.wrap_archive_key(drawn(), &key),
            superblock: unlocked.encode().map_err(machine)?,
            recipients: wrap(key.secret())?,
        };
        let bytes = begun.encode(|maced| key.mac(maced)).map_err(machine)?;
        let name = ArchiveName::new(made, archive_id);
        destination.put_new(&object_key(database_id, &name, Part::Begun), &bytes)?;
        Ok(Self {
            destination,
            key,
            database_id,
            name,
            begun: Sha256::digest(&bytes).into(),
            made,
            parts: Vec::new(),
            indexes: Vec::new(),
        })
    }

    /// Goes on with one that was not finished, behind the parts that it has. `begun` is the SHA-256 of what opens it.
    #[must_use]
    pub fn go_on(
        destination: &'a dyn Destination,
        (key, database_id, name): (ArchiveKey, DatabaseId, ArchiveName),
        (begun, made): ([u8; 32], u64),
        parts: Vec<[u8; 16]>,
        indexes: Vec<[u8; 16]>,
    ) -> Self {
        Self {
            destination,
            key,
            database_id,
            name,
            begun,
            made,
            parts,
            indexes,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &ArchiveName {
        &self.name
    }

    /// Its key: what follows the archive is sealed under it, too.
    #[must_use]
    pub fn key(&self) -> &ArchiveKey {
        &self.key
    }

    /// The SHA-256 of what opens it.
    #[must_use]
    pub fn begun(&self) -> [u8; 32] {
        self.begun
    }

    /// When it was begun: seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Writes the next part of pages, and its index. `is_last` or it is full.
    ///
    /// # Errors
    /// [`BackupError::Taken`] where another has written a part of that number; what the destination says.
    pub(crate) fn part(
        &mut self,
        content: &mut PartWriter,
        pages: &[(u32, Mark)],
        is_last: bool,
    ) -> Result<(), BackupError> {
        let salt = self.put(PartKind::Part, self.parts.len(), content, is_last)?;
        self.parts.push(salt);
        self.index(pages)
    }

    /// Writes the index of the last part that has none.
    ///
    /// # Errors
    /// As [`ArchiveWriter::part`].
    pub(crate) fn index(&mut self, pages: &[(u32, Mark)]) -> Result<(), BackupError> {
        let mut packer = Packer::new(CompressionLevel::None).map_err(machine)?;
        let mut content = PartWriter::default();
        let (mut block, mut packed) = (Vec::new(), Vec::new());
        for pages in pages.chunks(index_count_max()) {
            IndexBlock::encode(pages, &mut block);
            packer.pack(&block, &mut packed);
            push(&mut content, &packed)?;
        }
        let salt = self.put(PartKind::Index, self.indexes.len(), &mut content, true)?;
        self.indexes.push(salt);
        Ok(())
    }

    /// Writes the manifest: from now on it is a backup. The parts in `facts` are this archive's. Answers the SHA-256 of the manifest.
    ///
    /// # Errors
    /// As [`ArchiveWriter::part`].
    pub fn finish(&mut self, facts: Facts) -> Result<[u8; 32], BackupError> {
        let facts = Facts {
            begun: self.begun,
            parts: self.parts.clone(),
            indexes: self.indexes.clone(),
            ..facts
        };
        let mut packer = Packer::new(CompressionLevel::default()).map_err(machine)?;
        let mut content = PartWriter::default();
        let mut packed = Vec::new();
        for bytes in facts.encode().chunks(BLOCK_SIZE_MAX) {
            packer.pack(bytes, &mut packed);
            push(&mut content, &packed)?;
        }
        let bytes = content.seal(&self.key, (PartKind::Facts, 0, drawn()), true);
        self.write(Part::Manifest, &bytes)?;
        Ok(Sha256::digest(&bytes).into())
    }

    fn put(
        &self,
        kind: PartKind,
        number: usize,
        content: &mut PartWriter,
        is_last: bool,
    ) -> Result<[u8; 16], BackupError> {
        let number = u32::try_from(number).map_err(machine)?;
        let salt = drawn();
        let bytes = content.seal(&self.key, (kind, number, salt), is_last);
        let part = if kind == PartKind::Index {
            Part::Index(number)
        } else {
            Part::Pages(number)
        };
        self.write(part, &bytes)?;
        Ok(salt)
    }

    fn write(&self, part: Part, bytes: &[u8]) -> Result<(), BackupError> {
        let name = object_key(self.database_id, &self.name, part);
        match self.destination.put_new(&name, bytes) {
            Err(StoreError {
                trouble: Trouble::Exists,
                ..
            }) => Err(BackupError::Taken { object: name }),
            written => Ok(written?),
        }
    }
}

fn push(content: &mut PartWriter, packed: &[u8]) -> Result<(), BackupError> {
    content
        .push(packed)
        .then_some(())
        .ok_or_else(|| machine("more than an archive has room for"))
}

fn drawn<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    os_random(&mut bytes);
    bytes
}
