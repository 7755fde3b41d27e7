//! A backup archive assembled object by object, for tests with archives that our writer does not produce.

use std::collections::BTreeMap;

use selenite_backup::{
    ArchiveName, Destination, Part,
    archive::{Block, CompressionLevel, IndexBlock, OpenPart, PackedPage, Packer, PartHeader, PartWriter},
    object_key,
};
use selenite_cipher::{ArchiveId, ArchiveKey, PartKind, Secret, sha256};
use selenite_format::anchor::Mark;
use selenite_format::archive::{ArchiveHeader, Base, Facts};
use selenite_keyring::{AgeRecipient, Unlocked, archive_recipient, os_random};

/// An archive, complete or not.
pub struct HandMade {
    /// The archive key.
    pub key: ArchiveKey,
    /// The content of the object `begun`, with the wrapped archive key.
    pub begun: ArchiveHeader,
    /// The content of the manifest.
    pub facts: Facts,
    /// The objects of the archive.
    pub objects: BTreeMap<Part, Vec<u8>>,
}

/// Pages of one block, by ascending number.
pub type Pages<'a> = &'a [(u32, Mark, &'a [u8])];

impl HandMade {
    /// An archive of the database of `unlocked`, with the `begun` object only.
    ///
    /// # Panics
    /// If a recipient requires a plugin.
    #[must_use]
    pub fn begin(unlocked: &Unlocked, made: u64, recipients: &[AgeRecipient]) -> Self {
        let archive_id = ArchiveId(drawn());
        let key = unlocked.master.archive_key(Secret::new(drawn()), archive_id);
        let wrapped = recipients
            .iter()
            .map(|to| archive_recipient::wrap(to, key.secret()).expect("a recipient without a plugin"));
        let begun = ArchiveHeader {
            archive_id,
            database_id: unlocked.superblock.database_id,
            made,
            wrapped_key: unlocked.master.wrap_archive_key(drawn(), &key),
            superblock: unlocked.encode().expect("it was encoded before"),
            recipients: wrapped.collect(),
            recipients_tag: [0; 32],
        };
        let facts = Facts {
            begun: [0; 32],
            base: None,
            page_size: unlocked.superblock.page_size,
            page_count: 0,
            change_counter: 1,
            generation: unlocked.superblock.generation,
            made,
            log: None,
            digest: None,
            parts: Vec::new(),
            indexes: Vec::new(),
            missing: Vec::new(),
        };
        let mut made = Self {
            key,
            begun,
            facts,
            objects: BTreeMap::new(),
        };
        made.seal_begun();
        made
    }

    /// The archive's name.
    #[must_use]
    pub fn name(&self) -> ArchiveName {
        ArchiveName::new(self.begun.made, self.begun.archive_id)
    }

    /// The reference to this archive in one that is based on it.
    ///
    /// # Panics
    /// If there is no manifest.
    #[must_use]
    pub fn as_base(&self) -> Base {
        Base {
            archive_id: self.begun.archive_id,
            manifest: sha256(&self.objects[&Part::Manifest]),
        }
    }

    /// Replaces the `begun` object by the encoding of `begun`.
    ///
    /// # Panics
    /// If that cannot be encoded.
    pub fn seal_begun(&mut self) {
        let bytes = self.begun.encode(|maced| self.key.mac(maced)).expect("a form");
        self.facts.begun = sha256(&bytes);
        self.objects.insert(Part::Begun, bytes);
    }

    /// Adds a part with these blocks, and its index.
    ///
    /// # Panics
    /// If the part has no room for them.
    pub fn part(&mut self, blocks: &[Pages<'_>]) {
        let number = u32::try_from(self.facts.parts.len()).expect("a few parts");
        let mut packer = Packer::new(CompressionLevel::default()).expect("zstd has this level");
        let (mut pages, mut index) = (PartWriter::default(), PartWriter::default());
        let (mut block, mut packed) = (Vec::new(), Vec::new());
        for &of in blocks {
            let all: Vec<PackedPage<'_>> = of
                .iter()
                .map(|&(page_no, mark, bytes)| PackedPage { page_no, mark, bytes })
                .collect();
            Block::encode(self.facts.page_size, &all, &mut block);
            packer.pack(&block, &mut packed);
            assert!(pages.push(&packed));
            let marks: Vec<(u32, Mark)> = of.iter().map(|&(page_no, mark, _)| (page_no, mark)).collect();
            IndexBlock::encode(&marks, &mut block);
            packer.pack(&block, &mut packed);
            assert!(index.push(&packed));
        }
        let sealed = pages.seal(&self.key, (PartKind::Part, number, drawn()), true);
        let salt = salt_of(&sealed);
        self.facts.parts.push(salt);
        self.objects.insert(Part::Pages(number), sealed);
        let sealed = index.seal(&self.key, (PartKind::Index, number, salt), true);
        self.facts.indexes.push(salt_of(&sealed));
        self.objects.insert(Part::Index(number), sealed);
    }

    /// Seals the manifest with the content of `facts`.
    pub fn finish(&mut self) {
        let bytes = self.facts.encode();
        self.finish_with(&bytes);
    }

    /// Seals a manifest with these bytes.
    ///
    /// # Panics
    /// If a part has no room for them.
    pub fn finish_with(&mut self, facts: &[u8]) {
        let mut packer = Packer::new(CompressionLevel::default()).expect("zstd has this level");
        let (mut content, mut packed) = (PartWriter::default(), Vec::new());
        for bytes in facts.chunks(1 << 20) {
            packer.pack(bytes, &mut packed);
            assert!(content.push(&packed));
        }
        let sealed = content.seal(&self.key, (PartKind::Facts, 0, drawn()), true);
        self.objects.insert(Part::Manifest, sealed);
    }

    /// Writes all objects to their names at the destination.
    ///
    /// # Panics
    /// If one of the names exists.
    pub fn put(&self, destination: &dyn Destination) {
        for (part, bytes) in &self.objects {
            let key = object_key(self.begun.database_id, &self.name(), *part);
            destination.put_new(&key, bytes).expect("a name that is free");
        }
    }

    /// The name of an object of the archive.
    #[must_use]
    pub fn object(&self, part: Part) -> String {
        object_key(self.begun.database_id, &self.name(), part)
    }
}

/// Reseals a manifest without the origin key, as a recipient can who has the archive key alone.
///
/// # Panics
/// If it cannot be opened.
#[must_use]
pub fn forged_manifest(key: ArchiveKey, sealed: Vec<u8>) -> Vec<u8> {
    let key = key.without_origin();
    let opened = OpenPart::open(&key, (PartKind::Facts, 0), sealed).expect("it is a manifest of that archive");
    let mut content = PartWriter::default();
    opened.blocks().for_each(|block| assert!(content.push(block)));
    content.seal(&key, (PartKind::Facts, 0, drawn()), true)
}

/// The salt in the header of a sealed part.
fn salt_of(sealed: &[u8]) -> [u8; 16] {
    PartHeader::parse(sealed).expect("it has a header").salt
}

fn drawn<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    os_random(&mut bytes);
    bytes
}
