//! The export and import of the master key.

use std::path::{Path, PathBuf};

use selenite::storage::Disk;
use selenite::{Access, Class, Database, EngineError, Layout, key_export, keys};

use crate::support::{Collected, Fixture, query};

/// A database with a slot for `key`, and an age identity in `escrow-key`.
fn made(fixture: &Fixture) -> (PathBuf, String) {
    let path = fixture.path("app.db");
    let database = Database::create(&Disk, &path, &fixture.access(), &Layout::default()).unwrap();
    let sql = "CREATE TABLE note (a); INSERT INTO note VALUES ('x'), ('y');";
    database.run(sql, &mut Collected::default()).unwrap();
    let escrow = selenite_keyring::keygen(0);
    std::fs::write(fixture.path("escrow-key"), escrow.text.as_bytes()).unwrap();
    (path, escrow.recipient)
}

fn escrow(fixture: &Fixture) -> Access {
    Access {
        identity: Some(format!("age:{}", fixture.path("escrow-key").display()).parse().unwrap()),
        ..fixture.access()
    }
}

fn export(fixture: &Fixture, path: &Path, recipient: &str, name: &str) -> PathBuf {
    let to = fixture.path(name);
    key_export::export(&Disk, path, &fixture.access(), recipient, (&to, false)).unwrap();
    to
}

fn import(fixture: &Fixture, path: &Path, access: &Access, from: &Path) -> Result<keys::Changed, EngineError> {
    let imported = key_export::import(&Disk, path, access, from, (&[fixture.spec("other-key")], "found again"))?;
    Ok(imported.changed)
}

fn count(fixture: &Fixture, path: &Path, key: &str) -> usize {
    query(path, &fixture.access_by(key), "SELECT * FROM note")
        .unwrap()
        .len()
}

#[test]
fn a_database_whose_identities_are_all_lost_opens_again() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let (path, recipient) = made(&fixture);
        query(&path, &fixture.access(), &format!("PRAGMA journal_mode = {mode}")).unwrap();
        let from = export(&fixture, &path, &recipient, "exported-key");
        std::fs::remove_file(fixture.path("key")).unwrap();
        let changed = import(&fixture, &path, &escrow(&fixture), &from).unwrap();
        assert_eq!(changed.report.added.len(), 1);
        assert_eq!(changed.report.added[0].label, "found again");
        assert_eq!(count(&fixture, &path, "other-key"), 2, "{mode}");
        // The escrow key itself does not open it: it has no slot.
        let refused = query(&path, &escrow(&fixture), "SELECT 1").unwrap_err();
        assert_eq!(refused.class(), Class::Key);
        let again = import(&fixture, &path, &escrow(&fixture), &from).unwrap_err();
        assert!(matches!(again, EngineError::Usage { .. }), "{again}");
        assert!(again.to_string().contains("already has a key slot"), "{again}");
    }
}

#[test]
fn import_works_while_others_read_and_waits_for_a_writer() {
    let fixture = Fixture::new();
    let (path, recipient) = made(&fixture);
    let from = export(&fixture, &path, &recipient, "exported-key");
    let child = fixture.path("other.db");
    std::fs::copy(&path, &child).unwrap();
    // This process has it open, so its locks would be lost.
    let holder = Database::open(&Disk, &path, &fixture.access()).unwrap();
    holder.run("BEGIN IMMEDIATE", &mut Collected::default()).unwrap();
    let busy = import(&fixture, &path, &escrow(&fixture), &from).unwrap_err();
    assert!(matches!(busy, EngineError::Busy { .. }), "{busy}");
    drop(holder);
    import(&fixture, &child, &escrow(&fixture), &from).unwrap();
    assert_eq!(count(&fixture, &child, "other-key"), 2);
}

#[test]
fn the_key_of_another_database_and_a_renewed_one_are_refused() {
    let fixture = Fixture::new();
    let (path, recipient) = made(&fixture);
    let from = export(&fixture, &path, &recipient, "exported-key");
    let other = fixture.path("else.db");
    drop(Database::create(&Disk, &other, &fixture.access(), &Layout::default()).unwrap());
    let error = import(&fixture, &other, &escrow(&fixture), &from).unwrap_err();
    assert_eq!(error.class(), Class::Key);
    assert!(error.to_string().contains("the exported key is of database"), "{error}");
    assert!(!error.advice().is_empty());

    let before = std::fs::read(&path).unwrap();
    crate::support::rewrite_superblock(&fixture, &path, |unlocked| unlocked.superblock.master_created += 5);
    // The time is part of the superblock, and its MAC is valid: the key is the same.
    import(&fixture, &path, &escrow(&fixture), &from).unwrap();
    std::fs::write(&path, before).unwrap();
    keys::renew(&Disk, &path, &fixture.access(), &[], false).unwrap();
    crate::support::rewrite_superblock(&fixture, &path, |unlocked| unlocked.superblock.master_created += 5);
    let error = import(&fixture, &path, &escrow(&fixture), &from).unwrap_err();
    assert_eq!(error.class(), Class::Key);
    assert!(error.to_string().contains("it was renewed in between"), "{error}");
    assert_eq!(keys::list(&Disk, &path).unwrap().slots.len(), 1, "nothing was written");
}

#[test]
fn files_that_are_no_exported_key_and_missing_recipients_are_refused() {
    let fixture = Fixture::new();
    let (path, recipient) = made(&fixture);
    let from = export(&fixture, &path, &recipient, "exported-key");
    let why = |access: &Access, from: &Path| import(&fixture, &path, access, from).unwrap_err();
    let error = why(&fixture.access(), &from);
    assert!(
        error.class() == Class::Key && error.to_string().contains("exported-key"),
        "{error}"
    );
    let error = why(&escrow(&fixture), &path);
    assert_eq!(error.class(), Class::Key);
    let error = why(&escrow(&fixture), &fixture.path("key"));
    assert!(error.to_string().contains("not an exported key"), "{error}");
    let error = why(&escrow(&fixture), &fixture.path("nothing"));
    assert_eq!(error.class(), Class::Io);
    let no_slot = key_export::import(&Disk, &path, &escrow(&fixture), &from, (&[], "")).unwrap_err();
    assert_eq!(no_slot.class(), Class::Usage);

    let to = fixture.path("exported-key");
    let again = key_export::export(&Disk, &path, &fixture.access(), &recipient, (&to, false)).unwrap_err();
    assert!(matches!(again, EngineError::Exists { .. }), "{again}");
    key_export::export(&Disk, &path, &fixture.access(), &recipient, (&to, true)).unwrap();
    import(&fixture, &path, &escrow(&fixture), &to).unwrap();
    let error = key_export::export(
        &Disk,
        &path,
        &fixture.access(),
        &fixture.spec("key"),
        (&fixture.path("x-key"), false),
    );
    assert_eq!(error.unwrap_err().class(), Class::Usage);
    let error = key_export::export(
        &Disk,
        &path,
        &escrow(&fixture),
        &recipient,
        (&fixture.path("x-key"), false),
    );
    assert_eq!(error.unwrap_err().class(), Class::Key);
    assert_eq!(fixture.names(), ["app.db"], "a draft is left");
}

#[test]
fn import_into_a_database_with_thirty_two_slots_is_refused() {
    let fixture = Fixture::new();
    let (path, recipient) = made(&fixture);
    for _ in 0..31 {
        let more = selenite_keyring::keygen(0).recipient;
        keys::add(&Disk, &path, &fixture.access(), &more, "").unwrap();
    }
    let from = export(&fixture, &path, &recipient, "exported-key");
    let error = import(&fixture, &path, &escrow(&fixture), &from).unwrap_err();
    assert!(error.to_string().contains("at most 32 key slots"), "{error}");
    let first = keys::list(&Disk, &path).unwrap().slots[1].id.to_string();
    keys::remove(&Disk, &path, &fixture.access(), &first, true).unwrap();
    import(&fixture, &path, &escrow(&fixture), &from).unwrap();
}

#[test]
fn several_recipients_get_their_slots_in_one_change() {
    let fixture = Fixture::new();
    let (path, recipient) = made(&fixture);
    let from = export(&fixture, &path, &recipient, "exported-key");
    let before = crate::support::superblock_of(&fixture, &path).superblock.generation;
    let people = [selenite_keyring::keygen(0).recipient, fixture.spec("other-key")];
    key_export::import(&Disk, &path, &escrow(&fixture), &from, (&people, "")).unwrap();
    let superblock = crate::support::superblock_of(&fixture, &path).superblock;
    assert_eq!((superblock.generation, superblock.slots.len()), (before + 1, 3));
    assert_eq!(count(&fixture, &path, "other-key"), 2);
}

/// Checks `databases-are-not-replaced`.
#[test]
fn no_database_is_replaced_by_an_exported_key() {
    let fixture = Fixture::new();
    let (path, recipient) = made(&fixture);
    let forced = |to: &Path| key_export::export(&Disk, &path, &fixture.access(), &recipient, (to, true));
    let plain = fixture.plain("plain.db", "CREATE TABLE t (a)");
    let sealed = fixture.path("else.db");
    drop(Database::create(&Disk, &sealed, &fixture.access(), &Layout::default()).unwrap());
    let damaged = fixture.path("damaged.db");
    let mut bytes = std::fs::read(&sealed).unwrap();
    bytes[100..200].fill(0xee);
    bytes[32868..32968].fill(0xee);
    std::fs::write(&damaged, bytes).unwrap();
    let link = fixture.path("to-itself");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for to in [&path, &plain, &sealed, &damaged, &link] {
        let before = std::fs::read(to).unwrap();
        let error = forced(to).unwrap_err();
        assert!(matches!(error, EngineError::Usage { .. }), "{}: {error}", to.display());
        assert_eq!(std::fs::read(to).unwrap(), before);
    }
    assert!(link.symlink_metadata().unwrap().is_symlink());

    // A link to another file is replaced itself, as is a file that is not a database.
    let planted = fixture.path("planted-key");
    std::os::unix::fs::symlink(&plain, &planted).unwrap();
    let before = std::fs::read(&plain).unwrap();
    forced(&planted).unwrap();
    assert_eq!(std::fs::read(&plain).unwrap(), before);
    assert!(!planted.symlink_metadata().unwrap().is_symlink());
    forced(&planted).unwrap();
    import(&fixture, &path, &escrow(&fixture), &planted).unwrap();
}
