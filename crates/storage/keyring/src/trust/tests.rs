//! Tests of pinning on first use, for identities that cannot determine an origin.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;
use crate::change::renew_master;
use crate::fixture::{ROTATE, command, database};
use crate::{Cache, Identity, os_random, unlock};

struct Home {
    folder: tempfile::TempDir,
    config: Config,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::parse(
            "keyring = 'pins/keyring.toml'",
            &folder.path().join("config.toml"),
            None,
        )
        .unwrap();
        let home = Self { folder, config };
        Keyring::update(home.keyring(), |_| Ok(())).unwrap();
        home
    }

    fn keyring(&self) -> &Path {
        self.config.keyring_path().unwrap()
    }

    fn at(&self, name: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, "").unwrap();
        path
    }

    fn open(&self, path: &Path, made: &Unlocked) -> Result<Unlocked, KeyError> {
        let trust = Trust::load(&self.config, None, Some(path)).unwrap();
        let identities: Vec<Box<dyn Identity>> = vec![command(ROTATE)];
        unlock(&made.encode().unwrap(), &identities, &trust, &Cache::new())
    }
}

fn made() -> Unlocked {
    database(vec![command(ROTATE)])
}

fn is_replaced(opened: Result<Unlocked, KeyError>) -> bool {
    matches!(opened, Err(KeyError::PathReplaced { .. }))
}

#[test]
fn a_database_is_pinned_on_first_use_and_another_at_its_path_is_refused() {
    let home = Home::new();
    let (path, first, second) = (home.at("a\"b'\\ \u{e9}\n.db"), made(), made());
    for is_pinned in [false, true] {
        let trust = Trust::load(&home.config, None, Some(&path)).unwrap();
        assert_eq!(trust.pins(&first), is_pinned);
        assert_eq!(home.open(&path, &first).unwrap().origin, Origin::Unknown);
    }
    assert!(is_replaced(home.open(&path, &second)));
    assert!(home.open(&home.at("other.db"), &second).is_ok());
    // By another name of the same file.
    let link = home.folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    assert!(is_replaced(home.open(&link, &second)));
}

/// Anyone who can replace the file can replace it by a link to a file that is not listed.
#[test]
fn a_database_behind_a_link_is_not_pinned() {
    let home = Home::new();
    let (path, first, second) = (home.at("app.db"), made(), made());
    assert!(home.open(&path, &first).is_ok());
    let forged = home.at("forged.db");
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&forged, &path).unwrap();
    let refused = home.open(&path, &second).unwrap_err();
    assert!(matches!(refused, KeyError::OriginUnknown { .. }), "{refused}");
    assert!(!Keyring::load(home.keyring()).unwrap().lists_path(&absolute(&forged)));
    // A link in the folder counts, too; a database pinned under its own path is recognised through links.
    let folder = home.folder.path().join("folder");
    std::os::unix::fs::symlink(home.folder.path(), &folder).unwrap();
    assert!(home.open(&folder.join("forged.db"), &second).is_err());
    assert!(home.open(&forged, &second).is_ok());
    assert!(home.open(&folder.join("forged.db"), &second).is_ok());
}

#[test]
fn an_unexpected_master_key_is_not_pinned() {
    let home = Home::new();
    let (path, first, second) = (home.at("app.db"), made(), made());
    let mut trust = Trust::load(&home.config, None, Some(&path)).unwrap();
    trust.commitment = Some(first.master.commitment());
    let identities: Vec<Box<dyn Identity>> = vec![command(ROTATE)];
    let open = |made: &Unlocked| unlock(&made.encode().unwrap(), &identities, &trust, &Cache::new());
    assert!(open(&first).is_ok());
    assert!(matches!(open(&second), Err(KeyError::OriginUnknown { .. })));
}

#[test]
fn an_id_with_another_master_key_is_refused_at_every_path() {
    let home = Home::new();
    let first = made();
    let path = home.at("app.db");
    home.open(&path, &first).unwrap();
    let own = command(ROTATE);
    let renewed = renew_master(&first, &[own.as_ref()], 1, &mut os_random)
        .unwrap()
        .unlocked;
    assert!(is_replaced(home.open(&path, &renewed)));
    assert!(is_replaced(home.open(&home.at("copy.db"), &renewed)));
    assert!(home.open(&home.at("old-copy.db"), &first).is_ok());
    // While the master key is renewed here both are accepted, and afterwards the new one only.
    let (id, before, after) = (
        first.superblock.database_id,
        first.master.commitment(),
        renewed.master.commitment(),
    );
    let path = absolute(&path);
    Keyring::update(home.keyring(), |pins| {
        assert!(pins.lists(&path, id));
        pins.expect(&path, id, before, after);
        Ok(())
    })
    .unwrap();
    assert!(home.open(&path, &renewed).is_ok() && home.open(&path, &first).is_ok());
    Keyring::update(home.keyring(), |pins| {
        pins.renewed(&path, id, after);
        Ok(())
    })
    .unwrap();
    assert!(home.open(&path, &renewed).is_ok());
    assert!(is_replaced(home.open(&path, &first)));
}

#[test]
fn a_new_database_replaces_the_pin_of_its_path() {
    let home = Home::new();
    let (path, first, second) = (home.at("app.db"), made(), made());
    let trust = Trust::load(&home.config, None, Some(&path)).unwrap();
    trust.note_created(&first).unwrap();
    assert!(!Keyring::load(home.keyring()).unwrap().lists_path(&absolute(&path)));
    home.open(&path, &first).unwrap();
    trust.note_created(&second).unwrap();
    assert!(home.open(&path, &second).is_ok());
    assert!(is_replaced(home.open(&path, &first)));
}

#[test]
fn a_database_that_can_not_be_pinned_is_refused() {
    let home = Home::new();
    let path = home.at("app.db");
    let first = made();
    let text = fs::read_to_string(home.keyring()).unwrap();
    // A folder in place of the lock file: permissions do not restrict root.
    let lock = home.keyring().with_file_name("keyring.toml.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir(&lock).unwrap();
    let error = home.open(&path, &first).unwrap_err();
    assert!(matches!(error, KeyError::NotPinned { .. }), "{error}");
    assert_eq!(fs::read_to_string(home.keyring()).unwrap(), text);
    // A path that cannot be listed in the file is refused, too; with any origin both are opened.
    fs::remove_dir(&lock).unwrap();
    let odd = home
        .folder
        .path()
        .join(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(
            b"\xff.db",
        ));
    fs::write(&odd, "").unwrap();
    let error = home.open(&odd, &first).unwrap_err();
    assert!(matches!(error, KeyError::NotPinned { .. }), "{error}");
    let trust = Trust::load(&home.config, Some(OriginPolicy::Any), Some(&odd)).unwrap();
    let identities: Vec<Box<dyn Identity>> = vec![command(ROTATE)];
    assert!(unlock(&first.encode().unwrap(), &identities, &trust, &Cache::new()).is_ok());
    let mode = fs::metadata(home.keyring()).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0);
}
