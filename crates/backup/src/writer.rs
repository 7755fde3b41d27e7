//! An archive on its way to a destination: what opens it, its parts with their indexes, its manifest (FORMAT 12).
//!
//! W1. The manifest is written last, and says which parts are the archive's, by their salts: another's part of the same number
//!     is none of them.
//! W2. Nothing is sealed twice under a key: each part has a salt of its own.

use std::sync::Arc;

use selenite_archive::{BLOCK_SIZE_MAX, CompressionLevel, IndexBlock, Packer, PartWriter, index_count_max};
use selenite_cipher::{ArchiveId, ArchiveKey, DatabaseId, PartKind, Secret};
use selenite_format::anchor::Mark;
use selenite_format::archive::{Begun, Facts};
use selenite_keyring::{AgeRecipient, KeyError, Unlocked, archive_recipient, os_random};
use sha2::{Digest, Sha256};

use crate::destination::{Destination, StoreError, Trouble};
use crate::error::{BackupError, machine};
use crate::marks::Marks;
use crate::names::{ArchiveName, Part, object_key};
use crate::opened::{OpenArchive, PART_SIZE_MAX};

/// An archive that is being written.
pub struct ArchiveWriter {
    destination: Arc<dyn Destination>,
    key: ArchiveKey,
    database_id: DatabaseId,
    name: ArchiveName,
    begun: [u8; 32],
    made: u64,
    /// Of each part, and of its index.
    salts: Vec<[u8; 16]>,
}

impl ArchiveWriter {
    /// Begins an archive of the database that `unlocked` is of. `made` is now, in seconds since 1970-01-01 UTC; `recipients` may open
    /// it without the database's identities.
    ///
    /// # Errors
    /// What the destination says; a recipient's plugin that is away; a superblock that can't be written.
    pub fn begin(
        destination: &Arc<dyn Destination>,
        unlocked: &Unlocked,
        made: u64,
        recipients: &[AgeRecipient],
    ) -> Result<Self, BackupError> {
        let archive_id = ArchiveId(drawn());
        let key = ArchiveKey::new(Secret::fill(|bytes: &mut [u8; 32]| os_random(bytes)), archive_id);
        let database_id = unlocked.superblock.database_id;
        let wrapped = recipients.iter().map(|to| archive_recipient::wrap(to, key.secret()));
        let wrapped: Result<_, KeyError> = wrapped.collect();
        let begun = Begun {
            archive_id,
            database_id,
            made,
            wrapped_key: unlocked.master.wrap_archive_key(drawn(), &key),
            superblock: unlocked.encode().map_err(machine)?,
            recipients: wrapped.map_err(machine)?,
            recipients_tag: recipients_tag(&key, recipients),
        };
        let bytes = begun.encode(|maced| key.mac(maced)).map_err(machine)?;
        let name = ArchiveName::new(made, archive_id);
        destination.put_new(&object_key(database_id, &name, Part::Begun), &bytes)?;
        Ok(Self {
            destination: destination.clone(),
            key,
            database_id,
            name,
            begun: Sha256::digest(&bytes).into(),
            made,
            salts: Vec::new(),
        })
    }

    /// Goes on with one that was not finished, behind the parts that it has. Answers the marks of their pages, too.
    /// The counts are those of its parts, and of the first of them that have an index.
    ///
    /// # Errors
    /// As [`OpenArchive::part`]; what the destination says.
    pub fn go_on(
        destination: &Arc<dyn Destination>,
        archive: OpenArchive,
        (part_count, index_count): (u32, u32),
    ) -> Result<(Self, Marks), BackupError> {
        let mut marks = Marks::new().map_err(machine)?;
        let mut writer = Self {
            destination: destination.clone(),
            database_id: archive.begun.database_id,
            name: archive.name.clone(),
            begun: archive.begun_digest(),
            made: archive.begun.made,
            key: ArchiveKey::new(archive.key.secret().duplicate(), archive.begun.archive_id),
            salts: Vec::new(),
        };
        let mut set = |pages: &[(u32, Mark)]| {
            let mut pages = pages.iter();
            pages
                .try_for_each(|&(page_no, mark)| marks.set(page_no, mark))
                .map_err(machine)
        };
        for number in 0..part_count {
            if number < index_count {
                let index = archive.index(destination.as_ref(), number, None)?;
                writer.salts.push(index.salt);
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
        let salt = drawn();
        self.put((PartKind::Part, self.salts.len(), salt), content, is_last)?;
        self.salts.push(salt);
        self.index(pages)
    }

    /// Writes the index of the last part. It has the part's salt, by which one that goes on with the archive knows it; and it is the
    /// same whoever writes it, so that nothing else is sealed under its key (W2).
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
        let number = self.salts.len() - 1;
        self.put((PartKind::Index, number, self.salts[number]), &mut content, true)
    }

    /// Whether what opens it is still there, and the manifest of what it rests on, by its hash: somebody may have removed them
    /// meanwhile.
    ///
    /// # Errors
    /// [`BackupError::Removed`]; what the destination says.
    pub fn check_ground(&self, base: Option<(&ArchiveName, [u8; 32])>) -> Result<(), BackupError> {
        let own = (&self.name, Part::Begun, self.begun);
        let base = base.map(|(name, digest)| (name, Part::Manifest, digest));
        for (name, part, digest) in [Some(own), base].into_iter().flatten() {
            let object = object_key(self.database_id, name, part);
            match self.destination.get(&object, PART_SIZE_MAX) {
                Ok(bytes) if selenite_cipher::sha256(&bytes) == digest => {}
                Ok(_) => return Err(BackupError::Removed { object }),
                Err(error) if error.trouble == Trouble::Missing => return Err(BackupError::Removed { object }),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Writes the manifest: from now on it is a backup. The parts in `facts` are this archive's. Answers the SHA-256 of the manifest.
    ///
    /// # Errors
    /// As [`ArchiveWriter::part`].
    pub fn finish(&mut self, facts: Facts) -> Result<[u8; 32], BackupError> {
        let facts = Facts {
            begun: self.begun,
            parts: self.salts.clone(),
            indexes: self.salts.clone(),
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
        (kind, number, salt): (PartKind, usize, [u8; 16]),
        content: &mut PartWriter,
        is_last: bool,
    ) -> Result<(), BackupError> {
        let number = u32::try_from(number).map_err(machine)?;
        let bytes = content.seal(&self.key, (kind, number, salt), is_last);
        let part = if kind == PartKind::Index {
            Part::Index(number)
        } else {
            Part::Pages(number)
        };
        self.write(part, &bytes)
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

/// Tells one set of recipients from another (FORMAT 12.3).
pub(crate) fn recipients_tag(key: &ArchiveKey, recipients: &[AgeRecipient]) -> [u8; 32] {
    let mut texts: Vec<&str> = recipients.iter().map(AgeRecipient::text).collect();
    texts.sort_unstable();
    let mut bytes = b"selenite/1 archive recipients".to_vec();
    for text in texts {
        bytes.push(b'\n');
        bytes.extend_from_slice(text.as_bytes());
    }
    key.mac(&bytes)
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
