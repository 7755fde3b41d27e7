//! Archives of a database without a file, whose pages contain words.

use std::collections::BTreeMap;
use std::path::Path;

use selenite_backup::{
    ArchiveName, BackupError, Catalog, Chain, Destination, Folder, KeySource, Object, Part, StoreError, StoreErrorKind,
    Traffic,
};
use selenite_cipher::{DatabaseId, Secret, Suite};
use selenite_format::PageSize;
use selenite_format::anchor::Mark;
use selenite_keyring::{Cache, Identity, RawIdentity, Recipient, Trust, Unlocked, create, os_random};
use selenite_testing::HandMade;

pub const PAGE_SIZE: u32 = 1024;

/// A database, and the identities that open it.
pub struct Fixture {
    folder: tempfile::TempDir,
    pub unlocked: Unlocked,
    pub identities: Vec<Box<dyn Identity>>,
    pub trust: Trust,
    pub cache: Cache,
}

impl Fixture {
    pub fn new() -> Self {
        let unlocked = database();
        Self {
            folder: tempfile::tempdir().unwrap(),
            unlocked,
            identities: vec![raw(1)],
            trust: Trust::default(),
            cache: Cache::new(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn destination(&self) -> Folder {
        Folder::new(self.path())
    }

    pub fn id(&self) -> DatabaseId {
        self.unlocked.superblock.database_id
    }

    pub fn keys(&self) -> KeySource<'_> {
        KeySource::Identities {
            identities: &self.identities,
            trust: &self.trust,
            cache: &self.cache,
        }
    }

    pub fn names(&self) -> Vec<ArchiveName> {
        let catalog = Catalog::list(&self.destination(), Some(self.id())).unwrap();
        catalog.of(self.id()).map(|entry| entry.name.clone()).collect()
    }

    pub fn chain(&self, name: &ArchiveName) -> Result<Chain, BackupError> {
        Chain::open(&self.destination(), self.id(), name, &self.names(), &self.keys())
    }

    /// The pages of a backup, with the word on each.
    pub fn read(&self, name: &ArchiveName) -> Result<BTreeMap<u32, String>, BackupError> {
        let mut found = BTreeMap::new();
        let chain = self.chain(name)?;
        let count = chain.pages(&self.destination(), &mut |page_no, bytes: &[u8]| {
            assert_eq!(found.insert(page_no, word_of(bytes)), None, "page {page_no} came twice");
            Ok::<(), BackupError>(())
        })?;
        assert_eq!(usize::try_from(count).unwrap(), found.len());
        Ok(found)
    }

    /// An archive of this database, begun at this time, with blocks of pages with these words.
    pub fn made(&self, made: u64, page_count: u32, parts: &[&[&[(u32, &str)]]]) -> HandMade {
        let mut archive = HandMade::begin(&self.unlocked, made, &[]);
        archive.facts.page_count = page_count;
        add(&mut archive, parts);
        archive.finish();
        archive
    }

    /// An archive based on another.
    pub fn above(&self, base: &HandMade, page_count: u32, parts: &[&[&[(u32, &str)]]]) -> HandMade {
        let mut archive = HandMade::begin(&self.unlocked, base.begun.made + 60, &[]);
        archive.facts.page_count = page_count;
        archive.facts.base = Some(base.as_base());
        add(&mut archive, parts);
        archive.finish();
        archive
    }
}

/// A database that [`raw`] 1 opens.
pub fn database() -> Unlocked {
    let recipients: Vec<Box<dyn Recipient>> = vec![raw(1)];
    let page_size = PageSize::try_from(PAGE_SIZE).unwrap();
    create(page_size, Suite::Aes256, &recipients, 0, &mut os_random).unwrap()
}

pub fn raw(byte: u8) -> Box<RawIdentity> {
    Box::new(RawIdentity::new(Secret::new([byte; 32])))
}

pub fn add(archive: &mut HandMade, parts: &[&[&[(u32, &str)]]]) {
    for blocks in parts {
        let pages: Vec<Vec<(u32, Mark, Vec<u8>)>> = blocks
            .iter()
            .map(|block| {
                let page = |&(page_no, word): &(u32, &str)| (page_no, mark_of(word), page_of(word));
                block.iter().map(page).collect()
            })
            .collect();
        let pages: Vec<Vec<(u32, Mark, &[u8])>> = pages
            .iter()
            .map(|block| {
                block
                    .iter()
                    .map(|(no, mark, bytes)| (*no, *mark, bytes.as_slice()))
                    .collect()
            })
            .collect();
        let slices: Vec<&[(u32, Mark, &[u8])]> = pages.iter().map(Vec::as_slice).collect();
        archive.part(&slices);
    }
}

pub fn mark_of(word: &str) -> Mark {
    let mut mark = [0; 8];
    mark[..word.len()].copy_from_slice(word.as_bytes());
    Mark(mark)
}

fn page_of(word: &str) -> Vec<u8> {
    let mut page = word.as_bytes().to_vec();
    page.resize(usize::try_from(PAGE_SIZE).unwrap(), 0);
    page
}

fn word_of(page: &[u8]) -> String {
    assert_eq!(page.len(), usize::try_from(PAGE_SIZE).unwrap());
    String::from_utf8(page.to_vec())
        .unwrap()
        .trim_end_matches('\0')
        .to_owned()
}

pub fn words(pages: &[(u32, &str)]) -> BTreeMap<u32, String> {
    pages
        .iter()
        .map(|&(page_no, word)| (page_no, word.to_owned()))
        .collect()
}

/// A destination that returns other bytes for one object.
pub struct Lying<'a> {
    pub below: &'a dyn Destination,
    pub name: String,
    pub answer: Vec<u8>,
}

impl Destination for Lying<'_> {
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.below.put_new(name, bytes)
    }

    fn get(&self, name: &str, size_max: usize) -> Result<Vec<u8>, StoreError> {
        if name == self.name {
            return Ok(self.answer.clone());
        }
        self.below.get(name, size_max)
    }

    fn list(&self, prefix: &str) -> Result<Vec<Object>, StoreError> {
        self.below.list(prefix)
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.below.remove(name)
    }

    fn traffic(&self) -> Traffic {
        self.below.traffic()
    }

    fn place(&self) -> String {
        self.below.place()
    }
}

/// Replaces an object.
pub fn replace(destination: &dyn Destination, name: &str, bytes: &[u8]) {
    destination.remove(name).unwrap();
    destination.put_new(name, bytes).unwrap();
}

/// Whether an error reports data that is not authentic or missing, as required after an attack.
pub fn is_refused(error: &BackupError) -> bool {
    let is_missing = matches!(error, BackupError::Store(error) if error.kind == StoreErrorKind::Missing);
    let is_data = matches!(
        error,
        BackupError::Unauthentic { .. }
            | BackupError::Form { .. }
            | BackupError::Chain { .. }
            | BackupError::MissingLink { .. }
            | BackupError::Missing { .. }
            | BackupError::Incomplete { .. }
    );
    is_data || is_missing
}

/// All objects of an archive except its manifest.
pub fn objects_below(archive: &HandMade) -> Vec<Part> {
    archive
        .objects
        .keys()
        .copied()
        .filter(|part| *part != Part::Manifest)
        .collect()
}
