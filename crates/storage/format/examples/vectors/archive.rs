//! An archive and its log, object by object (FORMAT 12), written independently of the production writer.

use std::collections::BTreeMap;

use selenite_cipher::{ArchiveId, ArchiveKey, PartKind, Suite, sha256};
use selenite_format::PageSize;
use selenite_format::archive::{ArchiveHeader, Base, Facts, LogFacts};

use crate::vector::{Vector, hex};
use crate::world::{CREATED, database_id, encode, master_key, named, secret, superblock};

/// An archive, complete or not. `name` determines its random bits.
#[derive(Clone)]
pub struct Archive {
    name: &'static str,
    minute: u64,
    /// Whether it has origin MACs.
    is_own: bool,
    pub begun: ArchiveHeader,
    pub facts: Facts,
    /// Objects by their names in the archive.
    pub objects: BTreeMap<String, Vec<u8>>,
}

/// A page number and the page.
pub type Page<'a> = (u32, &'a [u8]);

impl Archive {
    /// An archive of the example database with the object `begun` only, begun in minute `minute`.
    pub fn begin(name: &'static str, minute: u64) -> Self {
        let made = CREATED + 60 * minute;
        let key = key_of(name);
        let begun = ArchiveHeader {
            archive_id: key.archive_id(),
            database_id: database_id(),
            made,
            wrapped_key: master_key().wrap_archive_key(named(&format!("nonce of {name}")), &key),
            superblock: encode(&superblock(Suite::Aes256)),
            recipients: Vec::new(),
            recipients_tag: key.mac(b"selenite/1 archive recipients"),
        };
        let facts = Facts {
            begun: [0; 32],
            base: None,
            page_size: PageSize::MIN,
            page_count: 3,
            change_counter: 4,
            generation: 1,
            made,
            log: None,
            digest: None,
            parts: Vec::new(),
            indexes: Vec::new(),
            missing: Vec::new(),
        };
        let mut archive = Self {
            name,
            minute,
            is_own: false,
            begun,
            facts,
            objects: BTreeMap::new(),
        };
        archive.seal_begun();
        archive
    }

    /// As [`Archive::begin`], with origin MACs.
    pub fn begin_own(name: &'static str, minute: u64) -> Self {
        let mut archive = Self::begin(name, minute);
        archive.is_own = true;
        let before = archive.begun.before_tag().expect("a form");
        let label: &[u8] = b"selenite/1 archive recipients";
        let tag = archive.key().origin_mac([label, before.as_slice()]);
        archive.begun.recipients_tag = tag.expect("it has the origin key");
        archive.seal_begun();
        archive
    }

    /// From now on seals without origin MACs, as a recipient does.
    pub fn by_recipient(mut self) -> Self {
        self.is_own = false;
        self
    }

    pub fn key(&self) -> ArchiveKey {
        let key = key_of(self.name);
        if !self.is_own {
            return key;
        }
        master_key().archive_key(key.secret().duplicate(), key.archive_id())
    }

    /// `DATABASE/TIME-ID`.
    pub fn folder(&self) -> String {
        let id = hex(&self.key().archive_id().0[..8]);
        let minute = 13 + self.minute;
        format!("{}/20231114T22{minute}20Z-{id}", hex(&database_id().0))
    }

    /// Replaces the object `begun` by the encoding of `begun`.
    pub fn seal_begun(&mut self) {
        let bytes = self.begun.encode(|maced| self.key().mac(maced));
        self.put_begun(bytes.expect("a form"));
    }

    pub fn put_begun(&mut self, bytes: Vec<u8>) {
        self.facts.begun = sha256(&bytes);
        self.objects.insert("begun".to_owned(), bytes);
    }

    /// Adds a part of these packed blocks, and an index of these pages.
    pub fn part(self, packed: &[Vec<u8>], pages: &[Page<'_>]) -> Self {
        self.part_and_index(&content(packed), &content(&[stored(&index_block(pages))]))
    }

    pub fn part_and_index(mut self, part: &[u8], index: &[u8]) -> Self {
        let number = u32::try_from(self.facts.parts.len()).expect("a few parts");
        let salt = named(&format!("salt of part {number} of {}", self.name));
        let part = sealed(&self.key(), PartKind::Part, number, salt, part);
        let salt = salt_of(&part);
        let index = sealed(&self.key(), PartKind::Index, number, salt, index);
        self.facts.parts.push(salt);
        self.facts.indexes.push(salt_of(&index));
        self.objects.insert(format!("part-{number:08}"), part);
        self.objects.insert(format!("index-{number:08}"), index);
        self
    }

    /// Seals the manifest with the content of `facts`.
    pub fn finish(self) -> Self {
        let facts = self.facts.encode();
        self.finish_with(&facts)
    }

    /// Seals a manifest with these bytes.
    pub fn finish_with(mut self, facts: &[u8]) -> Self {
        let salt = named(&format!("salt of the manifest of {}", self.name));
        let object = sealed(&self.key(), PartKind::Facts, 0, salt, &content(&[stored(facts)]));
        self.objects.insert("manifest".to_owned(), object);
        self
    }

    /// The reference to this archive in one that is based on it.
    pub fn as_base(&self) -> Base {
        Base {
            archive_id: self.begun.archive_id,
            manifest: sha256(&self.objects["manifest"]),
        }
    }

    /// Adds the next object of the log: blocks, then facts.
    pub fn log(self, packed: &[Vec<u8>], facts: &LogFacts) -> Self {
        let facts = facts.encode();
        self.log_of(&[packed, &[stored(&facts)]].concat())
    }

    pub fn log_of(mut self, packed: &[Vec<u8>]) -> Self {
        let number = self.log_count();
        let salt = named(&format!("salt of log {number} of {}", self.name));
        let object = sealed(&self.key(), PartKind::Log, number, salt, &content(packed));
        self.objects.insert(log_name(number), object);
        self
    }

    /// The hash that the next object of the log must contain.
    pub fn previous(&self) -> [u8; 32] {
        match self.log_count() {
            0 => sha256(&self.objects["manifest"]),
            count => sha256(&self.objects[&log_name(count - 1)]),
        }
    }

    fn log_count(&self) -> u32 {
        let names = self.objects.keys().filter(|name| name.starts_with("log-"));
        u32::try_from(names.count()).expect("a few objects")
    }

    pub fn without(mut self, name: &str) -> Self {
        self.objects.remove(name).expect("it was there");
        self
    }

    /// Replaces an object.
    pub fn with(mut self, name: &str, bytes: Vec<u8>) -> Self {
        self.objects.insert(name.to_owned(), bytes);
        self
    }

    /// Flips a bit of an object; a negative `at` counts from the end.
    pub fn flipped(mut self, name: &str, at: i64) -> Self {
        let bytes = self.objects.get_mut(name).expect("it is there");
        let size = i64::try_from(bytes.len()).expect("a small object");
        let at = usize::try_from(if at < 0 { size + at } else { at }).expect("within the object");
        bytes[at] ^= 1;
        self
    }

    /// Cuts bytes off the end of an object.
    pub fn cut(mut self, name: &str, by: usize) -> Self {
        let bytes = self.objects.get_mut(name).expect("it is there");
        bytes.truncate(bytes.len() - by);
        self
    }

    /// Adds all objects to a vector, under their names.
    pub fn add_to(&self, vector: Vector) -> Vector {
        let folder = self.folder();
        let objects = self.objects.iter();
        objects.fold(vector, |vector, (name, bytes)| {
            vector.object(format!("{folder}/{name}"), bytes.clone())
        })
    }
}

fn key_of(name: &str) -> ArchiveKey {
    let id = ArchiveId(named(&format!("archive id of {name}")));
    ArchiveKey::new(secret(&format!("archive key of {name}")), id)
}

pub fn log_name(number: u32) -> String {
    format!("log-{number:08}")
}

/// The mark of a page, as in `testdata/archive/pages.zst`.
fn mark_of(page_no: u32) -> [u8; 8] {
    named(&format!("mark of page {page_no}"))
}

pub fn word(value: usize) -> [u8; 4] {
    u32::try_from(value).expect("a small number").to_be_bytes()
}

/// A block of these pages.
pub fn block(pages: &[Page<'_>]) -> Vec<u8> {
    let mut out = index_block(pages);
    pages.iter().for_each(|(_, page)| out.extend_from_slice(page));
    out
}

/// A block of the pages' numbers and marks only.
pub fn index_block(pages: &[Page<'_>]) -> Vec<u8> {
    let mut out = word(pages.len()).to_vec();
    pages.iter().for_each(|(page_no, _)| out.extend(page_no.to_be_bytes()));
    pages.iter().for_each(|(page_no, _)| out.extend(mark_of(*page_no)));
    out
}

/// A block, stored without compression.
pub fn stored(block: &[u8]) -> Vec<u8> {
    [&[0], block].concat()
}

/// A block that consists of these frames.
pub fn framed(frames: &[u8]) -> Vec<u8> {
    [&[1], frames].concat()
}

/// A Zstandard frame of these blocks: `count` times one byte or, if `count` is 1, the bytes (RFC 8878, 3.1.1).
pub fn frame(blocks: &[(usize, &[u8])]) -> Vec<u8> {
    // A window of 128 KiB, no content size, no checksum.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    for (index, &(count, bytes)) in blocks.iter().enumerate() {
        let is_last = usize::from(index + 1 == blocks.len());
        let (kind, size) = if count == 1 { (0, bytes.len()) } else { (1, count) };
        let header = u32::try_from(size << 3 | kind << 1 | is_last).expect("128 KiB at most");
        out.extend(&header.to_le_bytes()[..3]);
        out.extend_from_slice(bytes);
    }
    out
}

/// Packed blocks, each preceded by its size, then padding with zeros.
pub fn content(packed: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    for packed in packed {
        out.extend(word(packed.len()));
        out.extend_from_slice(packed);
    }
    padded(out)
}

/// FORMAT 12.4: at least 4096 bytes, and a size with no bits set below its highest seven.
pub fn padded(mut content: Vec<u8>) -> Vec<u8> {
    let size = content.len().max(4096);
    let step = 1 << (size.ilog2() - 6);
    content.resize(size.next_multiple_of(step), 0);
    content
}

pub fn salt_of(object: &[u8]) -> [u8; 16] {
    object[40..56].try_into().expect("16 bytes")
}

/// Seals a part. With the origin key the salt is the origin MAC, and `salt` is used in the part of an index only.
pub fn sealed(key: &ArchiveKey, kind: PartKind, number: u32, salt: [u8; 16], content: &[u8]) -> Vec<u8> {
    let mut out = b"selenite part 1\n".to_vec();
    out.extend([kind as u8, 0, 0, 0]);
    out.extend(number.to_be_bytes());
    out.extend(key.archive_id().0);
    let bound: &[u8] = if kind == PartKind::Index { &salt } else { &[] };
    let own = key.origin_mac([out.as_slice(), bound, content]);
    let salt = own.map_or(salt, |mac| mac[..16].try_into().expect("16 bytes"));
    out.extend(salt);
    let part_key = key.part_key(kind, number, &salt);
    let count = content.len().div_ceil(PIECE_SIZE);
    for (index, piece) in (0..).zip(content.chunks(PIECE_SIZE)) {
        let mut piece = piece.to_vec();
        let is_last = usize::try_from(index).is_ok_and(|index| index + 1 == count);
        let tag = part_key.seal_piece(index, is_last, &mut piece);
        out.extend(piece);
        out.extend(tag);
    }
    out
}

pub const PIECE_SIZE: usize = 1 << 20;
