//! The database file of a vector.

use std::sync::Arc;

use selenite_cipher::{
    DataKey, LogKey, MasterKey, PageCipher, PageError, PageKeys, PageKeysParts, PageNo, PassphraseCost, Pbkdf2Cost,
    Scan, Secret, SlotKey, Unauthentic,
};
use selenite_format::{Chosen, EpochRecord, FormatError, Geometry, Slot, SlotKind, State, Superblock, choose};

use crate::vector::{Sparse, Vector, from_hex};

/// The name of an error, as in FORMAT 9.
pub type Class = String;

/// An opened database.
pub struct Database<'a> {
    pub superblock: Superblock,
    pub log_key: LogKey,
    pub counts: &'static str,
    pub geometry: Geometry,
    file: &'a Sparse,
    cipher: PageCipher,
}

impl<'a> Database<'a> {
    pub fn open(vector: &'a Vector) -> Result<Self, Class> {
        let file = vector.file("main").unwrap();
        let (a, b) = (file.read(0, 32768), file.read(32768, 32768));
        let (counts, bytes) = match choose(&a, &b, file.size) {
            Chosen::A(bytes) => ("A", bytes),
            Chosen::B(bytes) => ("B", bytes),
            Chosen::Empty => return Err("empty".to_owned()),
            Chosen::Plain | Chosen::Foreign => return Err("not encrypted".to_owned()),
            Chosen::Torn => return Err("damaged superblock".to_owned()),
        };
        let superblock = Superblock::parse(bytes).map_err(class_of_format)?;
        let master = MasterKey::new(unlock(&superblock, vector.one("key"))?, superblock.database_id);
        let (maced, mac) = Superblock::maced(bytes);
        if !master.mac_is_valid(maced, mac) {
            return Err("tampered superblock".to_owned());
        }
        if superblock.state == State::Retired {
            return Err("retired".to_owned());
        }
        let geometry = Geometry::new(superblock.page_size);
        if superblock.pages_exist && geometry.page_count(file.size) == 0 {
            return Err("not encrypted".to_owned());
        }
        let tampered = |_| "tampered superblock".to_owned();
        let log_key = master.unwrap_log_key(&superblock.log_key).map_err(tampered)?;
        let keys = page_keys(&superblock, &master, vector).map_err(tampered)?;
        Ok(Self {
            log_key: LogKey::new(log_key, superblock.database_id),
            superblock,
            counts,
            geometry,
            file,
            cipher: PageCipher::new(Arc::new(keys)),
        })
    }

    pub fn page_count(&self) -> u32 {
        self.geometry.page_count(self.file.size)
    }

    pub fn page_size(&self) -> usize {
        self.superblock.page_size.bytes()
    }

    /// Reads and opens a page of the file.
    pub fn page(&mut self, number: PageNo) -> Result<Vec<u8>, Class> {
        let image = self.file.read(self.geometry.offset(number).0, self.page_size());
        self.open_page(number, &image)
            .map_err(|error| class_of_page(number, error))
    }

    /// Opens an image; checks that a failed opening leaves no plaintext.
    pub fn open_page(&mut self, number: PageNo, image: &[u8]) -> Result<Vec<u8>, PageError> {
        if image.len() != self.page_size() {
            return Err(PageError::Unauthentic);
        }
        let mut page = vec![0xa5; image.len()];
        let result = self.cipher.open(number, image, &mut page);
        assert!(
            result.is_ok() || page.iter().all(|&byte| byte == 0),
            "a refused page was released"
        );
        result.map(|()| page)
    }
}

/// The master key, from the first slot that the key opens.
fn unlock(superblock: &Superblock, key: &str) -> Result<Secret<32>, Class> {
    let (kind, secret) = key.split_once(' ').unwrap();
    for slot in &superblock.slots {
        let slot_key = match (slot.kind, kind) {
            (SlotKind::Raw, "raw") => {
                let raw = Secret::new(from_hex(secret).try_into().unwrap());
                if SlotKey::raw_key_id(&raw).as_slice() != slot.identifier {
                    continue;
                }
                SlotKey::from_raw(&raw, slot.id)
            }
            (SlotKind::Passphrase, "passphrase") => passphrase_key(slot, secret.as_bytes()).ok_or("key refused")?,
            _ => continue,
        };
        if let Ok(master) = slot_key.unwrap(superblock.database_id, slot.id, slot.kind.id(), &slot.wrapped) {
            return Ok(master);
        }
    }
    Err("wrong key".to_owned())
}

fn passphrase_key(slot: &Slot, passphrase: &[u8]) -> Option<SlotKey> {
    if slot.wrapped.len() != 92 {
        return None;
    }
    let (numbers, salt) = slot.parameters.split_last_chunk::<16>()?;
    let salt = *salt;
    let (numbers, rest) = numbers.as_chunks::<4>();
    match (numbers, rest) {
        (&[iterations], []) => {
            let iterations = u32::from_be_bytes(iterations);
            SlotKey::from_passphrase_by_pbkdf2(passphrase, &Pbkdf2Cost { iterations, salt }).ok()
        }
        (&[memory_kib, passes, lanes], []) => {
            let cost = PassphraseCost {
                memory_kib: u32::from_be_bytes(memory_kib),
                passes: u32::from_be_bytes(passes),
                lanes: u32::from_be_bytes(lanes),
                salt,
            };
            SlotKey::from_passphrase(passphrase, &cost).ok()
        }
        _ => None,
    }
}

fn page_keys(superblock: &Superblock, master: &MasterKey, vector: &Vector) -> Result<PageKeys, Unauthentic> {
    let id = superblock.database_id;
    let data_key = |record: &EpochRecord| {
        let secret = master.unwrap_data_key(record.epoch, record.suite, &record.wrapped)?;
        Ok(DataKey::new(secret, id, record.epoch, record.suite))
    };
    let data_keys: Result<_, Unauthentic> = superblock.epochs.iter().map(data_key).collect();
    let parts = PageKeysParts {
        database_id: id,
        page_size: superblock.page_size.bytes(),
        scan: match superblock.state {
            State::Steady | State::Retired => Scan::Steady,
            State::SwitchingOn => Scan::SwitchingOn {
                cursor: PageNo(superblock.cursor),
            },
            State::SwitchingOff => Scan::SwitchingOff,
            State::Changing => Scan::Changing,
            State::Finishing => Scan::Finishing,
        },
        epoch_max: superblock.epoch_max,
        sealing_epoch: superblock.sealing_epoch,
        data_keys: data_keys?,
        allow_plain: vector.allows("plain"),
        allow_deprecated: vector.allows("deprecated"),
    };
    Ok(PageKeys::new(parts).unwrap())
}

fn class_of_format(error: FormatError) -> Class {
    if let FormatError::UnsupportedVersion { .. } = error {
        return "unsupported version".to_owned();
    }
    assert!(matches!(error, FormatError::Tampered { .. }), "{error:?}");
    "tampered superblock".to_owned()
}

pub fn class_of_page(number: PageNo, error: PageError) -> Class {
    if error == PageError::DeprecatedSuite {
        return "deprecated suite".to_owned();
    }
    assert_ne!(error, PageError::SettingsMismatch);
    format!("unauthentic page {}", number.0)
}
