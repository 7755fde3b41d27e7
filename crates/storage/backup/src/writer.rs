//! Writes an archive to a destination: its first object, its parts with their indexes, its manifest (FORMAT 12).
//!
//! - manifest-last: the manifest is written last, and identifies the archive's parts by their
//!   salts: a foreign part with the same number does not belong to it.
//! - salt-per-part: no key seals twice: each part has its own salt.
//! - salts-are-macs: salts are origin MACs (FORMAT 12.4), which a recipient of the archive cannot
//!   make. A writer that continues an archive accepts parts with valid ones only.

use std::sync::Arc;

use selenite_cipher::sha256;
use selenite_cipher::{ArchiveId, ArchiveKey, DatabaseId, PartKind, Secret};
use selenite_format::anchor::Mark;
use selenite_format::archive::{ArchiveHeader, Facts};
use selenite_keyring::{AgeRecipient, KeyError, Unlocked, archive_recipient, os_random};

use crate::archive::{
    BLOCK_SIZE_MAX, CompressionLevel, IndexBlock, PART_SIZE_MAX, Packer, PartHeader, PartWriter, index_count_max,
};
use crate::destination::{Destination, StoreError, StoreErrorKind};
use crate::error::{BackupError, machine};
use crate::marks::Marks;
use crate::names::{ArchiveName, Part, object_key};
use crate::opened::OpenArchive;

/// An archive that is being written.
pub struct ArchiveWriter {
    destination: Arc<dyn Destination>,
    key: ArchiveKey,
    database_id: DatabaseId,
    name: ArchiveName,
    begun: [u8; 32],
    made: u64,
    /// The salt of each part.
    salts: Vec<[u8; 16]>,
    /// The salt of the index of each part.
    index_salts: Vec<[u8; 16]>,
}

impl ArchiveWriter {
    /// Begins an archive of the database of `unlocked`. `made` is the present time, in seconds
    /// since 1970-01-01 UTC; `recipients` may open it without the database's identities.
    ///
    /// # Errors
    /// Those of the destination; an unavailable plugin of a recipient; a superblock that cannot be encoded.
    pub fn begin(
        destination: &Arc<dyn Destination>,
        unlocked: &Unlocked,
        made: u64,
        recipients: &[AgeRecipient],
    ) -> Result<Self, BackupError> {
        let archive_id = ArchiveId(drawn());
        refuse_in_fips(ArchiveName::new(made, archive_id))?;
        let secret = Secret::fill(|bytes: &mut [u8; 32]| os_random(bytes));
        let key = unlocked.master.archive_key(secret, archive_id);
        let database_id = unlocked.superblock.database_id;
        let wrapped = recipients.iter().map(|to| archive_recipient::wrap(to, key.secret()));
        let wrapped: Result<_, KeyError> = wrapped.collect();
        let mut begun = ArchiveHeader {
            archive_id,
            database_id,
            made,
            wrapped_key: unlocked.master.wrap_archive_key(drawn(), &key),
            superblock: unlocked.encode().map_err(machine)?,
            recipients: wrapped.map_err(machine)?,
            recipients_tag: [0; 32],
        };
        begun.recipients_tag = recipients_tag(&key, &begun, recipients)?;
        let bytes = begun.encode(|maced| key.mac(maced)).map_err(machine)?;
        let name = ArchiveName::new(made, archive_id);
        destination.put_new(&object_key(database_id, &name, Part::Begun), &bytes)?;
        Ok(Self {
            destination: destination.clone(),
            key,
            database_id,
            name,
            begun: sha256(&bytes),
            made,
            salts: Vec::new(),
            index_salts: Vec::new(),
        })
    }

    /// Continues an unfinished archive after its existing parts. Also returns the marks of their
    /// pages. The counts are those of its parts, and of the first of them that have an index.
    ///
    /// # Errors
    /// Those of [`OpenArchive::part`] and of the destination.
    pub fn resume(
        destination: &Arc<dyn Destination>,
        archive: OpenArchive,
        (part_count, index_count): (u32, u32),
    ) -> Result<(Self, Marks), BackupError> {
        refuse_in_fips(archive.name.clone())?;
        let mut marks = Marks::new().map_err(machine)?;
        let mut writer = Self {
            destination: destination.clone(),
            database_id: archive.begun.database_id,
            name: archive.name.clone(),
            begun: archive.begun_digest(),
            made: archive.begun.made,
            key: archive.key.duplicate(),
            salts: Vec::new(),
            index_salts: Vec::new(),
        };
        let mut set = |pages: &[(u32, Mark)]| {
            let mut pages = pages.iter();
            pages
                .try_for_each(|&(page_no, mark)| marks.set(page_no, mark))
                .map_err(machine)
        };
        for number in 0..part_count {
            if number < index_count {
                let part_salt = archive.part_salt(destination.as_ref(), number)?;
                let index = archive.index(destination.as_ref(), number, (None, &part_salt))?;
                writer.salts.push(part_salt);
                writer.index_salts.push(index.salt);
                set(&index.pages)?;
                continue;
            }
            let index = archive.pages_of_part(destination.as_ref(), number)?;
            writer.salts.push(index.salt);
            writer.index(&index.pages)?;
            set(&index.pages)?;
        }
        marks.settle().map_err(machine)?;
        Ok((writer, marks))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &ArchiveName {
        &self.name
    }

    /// Its key, which also seals the archive's log.
    #[must_use]
    pub fn key(&self) -> &ArchiveKey {
        &self.key
    }

    /// The SHA-256 of the object `begun`.
    #[must_use]
    pub fn begun(&self) -> [u8; 32] {
        self.begun
    }

    /// When it was begun: seconds since 1970-01-01 UTC.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.made
    }

    /// Writes the next part of pages, and its index. The part is full unless `is_last` is set.
    ///
    /// # Errors
    /// [`BackupError::WrittenByOther`] if another writer has written a part of that number; those
    /// of the destination.
    pub(crate) fn part(
        &mut self,
        content: &mut PartWriter,
        pages: &[(u32, Mark)],
        is_last: bool,
    ) -> Result<(), BackupError> {
        let salt = self.put((PartKind::Part, self.salts.len(), drawn()), content, is_last)?;
        self.salts.push(salt);
        self.index(pages)
    }

    /// Writes the index of the last part. Its salt is derived from the part's salt, so that a
    /// writer that continues the archive recognises that they belong together. The salt is also the
    /// same whichever process writes the index, so that no other content is sealed under its key
    /// (salt-per-part).
    ///
    /// # Errors
    /// Those of [`ArchiveWriter::part`].
    pub(crate) fn index(&mut self, pages: &[(u32, Mark)]) -> Result<(), BackupError> {
        let mut packer = Packer::new(CompressionLevel::None).map_err(machine)?;
        let mut content = PartWriter::default();
        let (mut block, mut packed) = (Vec::new(), Vec::new());
        for pages in pages.chunks(index_count_max()) {
            IndexBlock::encode(pages, &mut block);
            packer.pack(&block, &mut packed);
            push(&mut content, &packed)?;
        }
        let number = self.salts.len() - 1;
        let salt = self.put((PartKind::Index, number, self.salts[number]), &mut content, true)?;
        self.index_salts.push(salt);
        Ok(())
    }

    /// Checks by their hashes that the object `begun`, and the manifest of the base, still exist:
    /// they may have been removed meanwhile.
    ///
    /// # Errors
    /// [`BackupError::Removed`]; those of the destination.
    pub fn check_prerequisites(&self, base: Option<(&ArchiveName, [u8; 32])>) -> Result<(), BackupError> {
        let own = (&self.name, Part::Begun, self.begun);
        let base = base.map(|(name, digest)| (name, Part::Manifest, digest));
        for (name, part, digest) in [Some(own), base].into_iter().flatten() {
            let object = object_key(self.database_id, name, part);
            match self.destination.get(&object, PART_SIZE_MAX) {
                Ok(bytes) if selenite_cipher::sha256(&bytes) == digest => {}
                Ok(_) => return Err(BackupError::Removed { object }),
                Err(error) if error.kind == StoreErrorKind::Missing => return Err(BackupError::Removed { object }),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Writes the manifest: from now on the archive is a backup. Its parts replace those in
    /// `facts`. Returns the SHA-256 of the manifest.
    ///
    /// # Errors
    /// Those of `ArchiveWriter::part`.
    pub fn finish(&mut self, facts: Facts) -> Result<[u8; 32], BackupError> {
        let facts = Facts {
            begun: self.begun,
            parts: self.salts.clone(),
            indexes: self.index_salts.clone(),
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
        Ok(sha256(&bytes))
    }

    fn put(
        &self,
        (kind, number, salt): (PartKind, usize, [u8; 16]),
        content: &mut PartWriter,
        is_last: bool,
    ) -> Result<[u8; 16], BackupError> {
        let number = u32::try_from(number).map_err(machine)?;
        let bytes = content.seal(&self.key, (kind, number, salt), is_last);
        let salt = PartHeader::parse(&bytes).map_err(machine)?.salt;
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
                kind: StoreErrorKind::Exists,
                ..
            }) => Err(BackupError::WrittenByOther { object: name }),
            written => Ok(written?),
        }
    }
}

/// Identifies a set of recipients (FORMAT 12.3). With the origin key it also covers the rest of the
/// object `begun`, and no recipient can make it.
pub(crate) fn recipients_tag(
    key: &ArchiveKey,
    begun: &ArchiveHeader,
    recipients: &[AgeRecipient],
) -> Result<[u8; 32], BackupError> {
    let mut texts: Vec<&str> = recipients.iter().map(AgeRecipient::text).collect();
    texts.sort_unstable();
    let mut listed = Vec::new();
    for text in texts {
        listed.push(b'\n');
        listed.extend_from_slice(text.as_bytes());
    }
    let label: &[u8] = b"selenite/1 archive recipients";
    let before = begun.before_tag().map_err(machine)?;
    let own = key.origin_mac([label, &before, &listed]);
    Ok(own.unwrap_or_else(|| key.mac(&[label, &listed].concat())))
}

fn push(content: &mut PartWriter, packed: &[u8]) -> Result<(), BackupError> {
    content
        .push(packed)
        .then_some(())
        .ok_or_else(|| machine("too large for a backup"))
}

fn drawn<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    os_random(&mut bytes);
    bytes
}
/// Parts are sealed by AES-GCM under nonces that are their positions (FORMAT 12.4), which is no approved service of the
/// FIPS module.
pub(crate) fn refuse_in_fips(archive: ArchiveName) -> Result<(), BackupError> {
    KeyError::refuse_in_fips("a backup").map_err(|source| BackupError::Key { archive, source })
}
