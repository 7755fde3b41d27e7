//! The example database of the vectors: its keys, slots, superblock and pages.

use selenite_cipher::{
    DataKey, DatabaseId, Epoch, LogKey, MasterKey, PageKey, PageNo, PageNonce, Secret, SessionId, SlotId, SlotKey,
    Suite, TRAILER_SIZE, sha256,
};
use selenite_format::{EpochRecord, Geometry, PageSize, Slot, SlotKind, State, Superblock};

use crate::vector::Sparse;

/// A database of SQLite, with 48 reserved bytes in every page.
pub const SAMPLE: &[u8] = include_bytes!("../../../../../testdata/sqlite/sample.db");
pub const PAGE_SIZE: usize = 1024;
pub const CREATED: u64 = 1_700_000_000;

/// Pseudorandom bytes derived from a name.
pub fn named<const N: usize>(name: &str) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&sha256(format!("selenite vector {name}").as_bytes())[..N]);
    out
}

pub fn secret(name: &str) -> Secret<32> {
    Secret::new(named(name))
}

pub fn database_id() -> DatabaseId {
    DatabaseId(named("database id"))
}

pub fn master_key() -> MasterKey {
    MasterKey::new(secret("master key"), database_id())
}

pub fn log_key() -> LogKey {
    LogKey::new(secret("log key"), database_id())
}

pub fn data_secret(epoch: u32) -> Secret<32> {
    secret(&format!("data key {epoch}"))
}

pub fn epoch_record(epoch: u32, suite: Suite) -> EpochRecord {
    let nonce = named(&format!("nonce of data key {epoch}"));
    let wrapped = master_key().wrap_data_key(nonce, Epoch(epoch), suite, &data_secret(epoch));
    EpochRecord {
        epoch: Epoch(epoch),
        suite,
        created: CREATED,
        wrapped,
    }
}

pub fn raw_slot() -> Slot {
    let id = SlotId(named("raw slot id"));
    let raw = secret("raw key");
    let key = SlotKey::from_raw(&raw, id);
    Slot {
        kind: SlotKind::Raw,
        id,
        created: CREATED,
        label: "desk".to_owned(),
        identifier: SlotKey::raw_key_id(&raw).to_vec(),
        parameters: Vec::new(),
        wrapped: key
            .wrap(
                named("nonce of raw slot"),
                database_id(),
                id,
                SlotKind::Raw.id(),
                &secret("master key"),
            )
            .to_vec(),
    }
}

/// A steady superblock, generation 1, with epoch 1 in `suite` and the raw slot.
pub fn superblock(suite: Suite) -> Superblock {
    Superblock {
        generation: 1,
        database_id: database_id(),
        page_size: PageSize::MIN,
        state: State::Steady,
        pages_exist: true,
        epoch_max: Epoch(1),
        sealing_epoch: Epoch(1),
        cursor: 0,
        master_created: CREATED,
        log_key: master_key().wrap_log_key(named("nonce of log key"), &secret("log key")),
        epochs: vec![epoch_record(1, suite)],
        slots: vec![raw_slot()],
    }
}

pub fn encode(superblock: &Superblock) -> Vec<u8> {
    let bytes = superblock.encode(|maced| master_key().mac(maced));
    bytes.expect("a vector that breaks a rule is made of Parts")
}

/// Corrects MAC and checksum, which requires the master key.
pub fn signed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 64;
    let mac = master_key().mac(&bytes[..end]);
    bytes[end..end + 32].copy_from_slice(&mac);
    checksummed(bytes)
}

/// Corrects the checksum, which requires no key.
pub fn checksummed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 32;
    let checksum = sha256(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum);
    bytes
}

/// A session of an epoch that seals one page after the other.
pub struct Sealer {
    key: PageKey,
    counter: u32,
}

impl Sealer {
    pub fn new(epoch: u32, suite: Suite) -> Self {
        Self::of_database(database_id(), epoch, suite)
    }

    pub fn of_database(id: DatabaseId, epoch: u32, suite: Suite) -> Self {
        let key = DataKey::new(data_secret(epoch), id, Epoch(epoch), suite);
        Self {
            key: key.page_key(SessionId(named("session"))),
            counter: 0,
        }
    }

    /// Skips `count` counters, which another file of the same vector uses.
    pub fn after(mut self, count: u32) -> Self {
        self.counter += count;
        self
    }

    /// The sealed image of a page of any size.
    pub fn seal(&mut self, number: u32, page: &[u8]) -> Vec<u8> {
        self.counter += 1;
        let nonce = PageNonce {
            session: SessionId(named("session")),
            salt: named("salt"),
            counter: self.counter,
        };
        let (plain, reserved) = page.split_at(page.len() - TRAILER_SIZE);
        assert_eq!(reserved, [0; TRAILER_SIZE]);
        let mut image = vec![0; plain.len()];
        let mut trailer = [0; TRAILER_SIZE];
        self.key.seal(PageNo(number), &nonce, plain, &mut image, &mut trailer);
        image.extend_from_slice(&trailer);
        image
    }

    /// The sealed images of pages 1, 2, ...
    pub fn seal_all(&mut self, pages: &[Vec<u8>]) -> Vec<Vec<u8>> {
        pages
            .iter()
            .zip(1..)
            .map(|(page, number)| self.seal(number, page))
            .collect()
    }
}

/// The pages of a database of SQLite.
pub fn pages_of(database: &[u8]) -> Vec<Vec<u8>> {
    database.chunks(PAGE_SIZE).map(<[u8]>::to_vec).collect()
}

/// The database file with these superblocks and images.
pub fn main_file(a: Vec<u8>, b: Vec<u8>, images: &[Vec<u8>]) -> Sparse {
    let geometry = Geometry::new(PageSize::MIN);
    let file = Sparse::new("main").put(0, a).put(32768, b).resize(65536);
    images.iter().zip(1..).fold(file, |file, (image, number)| {
        file.put(geometry.offset(PageNo(number)).0, image.clone())
    })
}

/// The database file with one superblock in both places, as after creation.
pub fn main_file_of(superblock: &Superblock, images: &[Vec<u8>]) -> Sparse {
    let bytes = encode(superblock);
    main_file(bytes.clone(), bytes, images)
}
