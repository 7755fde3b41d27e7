//! The keys of one database over its lifetime, through the public API only.

use std::fs;
use std::path::Path;

use selenite_cipher::{SessionId, Suite};
use selenite_format::{PageSize, Superblock};
use selenite_keyring::change::{add_slot, remove_slot, renew_master};
use selenite_keyring::{
    Cache, Config, Identity, KeyError, Keyring, Pin, Recipient, Trust, Unlocked, create, find_slot, keygen,
    load_identity, os_random, parse_recipient, unlock, write_key_file,
};

const NOW: u64 = 1_785_000_000;

/// The files of a user: two key files and a configuration.
struct Home {
    folder: tempfile::TempDir,
    config: Config,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_key_file(&folder.path().join("age"), keygen(NOW).text.as_bytes()).unwrap();
        write_key_file(&folder.path().join("raw"), &[0x80; 32]).unwrap();
        let path = folder.path().join("config.toml");
        fs::write(&path, "identity = 'age'\nkeyring = 'pins/keyring.toml'").unwrap();
        let env = |name: &str| (name == "SELENITE_CONFIG").then(|| path.clone().into_os_string());
        let config = Config::load(&env).unwrap();
        Keyring::update(config.keyring_path().unwrap(), |_| Ok(())).unwrap();
        Self { folder, config }
    }

    fn spec(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn identities(&self, name: &str) -> Vec<Box<dyn Identity>> {
        load_identity(&self.spec(name), &self.config).unwrap()
    }

    fn recipient(&self, name: &str) -> Box<dyn Recipient> {
        parse_recipient(&self.spec(name), &self.config).unwrap()
    }

    fn keyring_path(&self) -> &Path {
        self.config.keyring_path().unwrap()
    }

    fn unlock(&self, bytes: &[u8], name: &str) -> Result<Unlocked, KeyError> {
        let trust = Trust::load(&self.config, None, None).unwrap();
        unlock(bytes, &self.identities(name), &trust, &Cache::new())
    }
}

#[test]
fn a_database_is_created_pinned_shared_and_renewed() {
    let home = Home::new();
    let recipients = [home.recipient("age")];
    let made = create(PageSize::DEFAULT, Suite::Aes256, &recipients, NOW, &mut os_random).unwrap();
    let id = made.superblock.database_id;
    Keyring::update(home.keyring_path(), |keyring| keyring.add(id, made.master.commitment())).unwrap();

    let unlocked = home.unlock(&made.encode().unwrap(), "age").unwrap();
    assert_eq!(unlocked.pin, Pin::Pinned);
    assert_eq!(unlocked.data_keys().unwrap().len(), 1);

    let shared = add_slot(&unlocked, home.recipient("raw").as_ref(), "backup", NOW, &mut os_random).unwrap();
    let bytes = shared.unlocked.encode().unwrap();
    let by_raw = home.unlock(&bytes, "raw").unwrap();
    assert_eq!(by_raw.superblock.generation, 2);

    let identities = home.identities("age");
    let own: Vec<&dyn Recipient> = identities.iter().map(|identity| identity.as_ref() as _).collect();
    let renewed = renew_master(&by_raw, &own, NOW + 1, &mut os_random).unwrap();
    assert_eq!((renewed.report.rewrapped.len(), renewed.report.dropped.len()), (1, 1));
    let bytes = renewed.unlocked.encode().unwrap();
    assert!(matches!(
        home.unlock(&bytes, "age"),
        Err(KeyError::DatabaseReplaced { .. })
    ));
    Keyring::update(home.keyring_path(), |keyring| {
        keyring.replace(id, renewed.unlocked.master.commitment());
        Ok(())
    })
    .unwrap();
    assert!(matches!(home.unlock(&bytes, "raw"), Err(KeyError::WrongKey)));
    let unlocked = home.unlock(&bytes, "age").unwrap();
    assert!(matches!(remove_slot(&unlocked, unlocked.slot), Err(KeyError::LastSlot)));
}

#[test]
fn a_slot_is_found_by_the_start_of_its_id_and_removed() {
    let home = Home::new();
    let recipients = [home.recipient("age"), home.recipient("raw")];
    let made = create(PageSize::DEFAULT, Suite::ChaCha20, &recipients, NOW, &mut os_random).unwrap();
    let superblock = Superblock::parse(&made.encode().unwrap()).unwrap();
    let prefix = superblock.slots[1].id.to_string();
    let slot = find_slot(&superblock, &prefix[..12]).unwrap();
    let change = remove_slot(&made, slot.id).unwrap();
    assert!(change.revokes_access);
    let bytes = change.unlocked.encode().unwrap();
    assert!(home.unlock(&bytes, "age").is_ok());
    assert!(matches!(home.unlock(&bytes, "raw"), Err(KeyError::WrongKey)));
}

#[test]
fn the_unlocked_keys_are_the_created_ones() {
    let home = Home::new();
    let recipients = [home.recipient("age")];
    let made = create(PageSize::DEFAULT, Suite::Aes128, &recipients, NOW, &mut os_random).unwrap();
    let unlocked = home.unlock(&made.encode().unwrap(), "age").unwrap();
    let trailer = [7; 48];
    let mask = |of: &Unlocked| of.log_key().unwrap().journal_mask(&trailer);
    assert_eq!(mask(&made), mask(&unlocked));

    let page_key = |of: &Unlocked| of.data_keys().unwrap().remove(0).page_key(SessionId([9; 16]));
    let nonce = selenite_cipher::PageNonce {
        session: SessionId([9; 16]),
        salt: [1; 8],
        counter: 1,
    };
    let (page_no, plain) = (selenite_cipher::PageNo(1), [5; 4048]);
    let (mut sealed, mut trailer, mut opened) = ([0; 4048], [0; 48], [0; 4048]);
    page_key(&made).seal(page_no, &nonce, &plain, &mut sealed, &mut trailer);
    page_key(&unlocked)
        .open(page_no, &sealed, &trailer, &mut opened)
        .unwrap();
    assert_eq!(opened, plain);
}
