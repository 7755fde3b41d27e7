//! The export and import of the master key.

use std::path::{Path, PathBuf};

use selenite::storage::Disk;
use selenite::{Access, Class, Database, EngineError, Layout, key_export, keys};

use crate::support::{Bench, Collected, query};

/// A database with a slot for `key`, and an age identity in `escrow-key`.
fn made(bench: &Bench) -> (PathBuf, String) {
    let path = bench.path("app.db");
    let database = Database::create(&Disk, &path, &bench.access(), &Layout::default()).unwrap();
    let sql = "CREATE TABLE note (a); INSERT INTO note VALUES ('x'), ('y');";
    database.run(sql, &mut Collected::default()).unwrap();
    let escrow = selenite_keyring::keygen(0);
    std::fs::write(bench.path("escrow-key"), escrow.text.as_bytes()).unwrap();
    (path, escrow.recipient)
}

fn escrow(bench: &Bench) -> Access {
    Access {
        identity: Some(format!("age:{}", bench.path("escrow-key").display()).parse().unwrap()),
        ..bench.access()
    }
}

fn export(bench: &Bench, path: &Path, recipient: &str, name: &str) -> PathBuf {
    let to = bench.path(name);
    key_export::export(&Disk, path, &bench.access(), recipient, (&to, false)).unwrap();
    to
}

fn import(bench: &Bench, path: &Path, access: &Access, from: &Path) -> Result<keys::Changed, EngineError> {
    let imported = key_export::import(&Disk, path, access, from, (&[bench.spec("other-key")], "found again"))?;
    Ok(imported.changed)
}

fn count(bench: &Bench, path: &Path, key: &str) -> usize {
    query(path, &bench.access_by(key), "SELECT * FROM note").unwrap().len()
}

#[test]
fn a_database_whose_identities_are_all_lost_opens_again() {
    for mode in ["DELETE", "WAL"] {
        let bench = Bench::new();
        let (path, recipient) = made(&bench);
        query(&path, &bench.access(), &format!("PRAGMA journal_mode = {mode}")).unwrap();
        let from = export(&bench, &path, &recipient, "exported-key");
        std::fs::remove_file(bench.path("key")).unwrap();
        let changed = import(&bench, &path, &escrow(&bench), &from).unwrap();
        assert_eq!(changed.report.added.len(), 1);
        assert_eq!(changed.report.added[0].label, "found again");
        assert_eq!(count(&bench, &path, "other-key"), 2, "{mode}");
        // The escrow key itself does not open it: it has no slot.
        let refused = query(&path, &escrow(&bench), "SELECT 1").unwrap_err();
        assert_eq!(refused.class(), Class::Key);
        let again = import(&bench, &path, &escrow(&bench), &from).unwrap_err();
        assert!(matches!(again, EngineError::Usage { .. }), "{again}");
        assert!(again.to_string().contains("already has a key slot"), "{again}");
    }
}

#[test]
fn import_works_while_others_read_and_waits_for_a_writer() {
    let bench = Bench::new();
    let (path, recipient) = made(&bench);
    let from = export(&bench, &path, &recipient, "exported-key");
    let child = bench.path("other.db");
    std::fs::copy(&path, &child).unwrap();
    // This process has it open, so its locks would be lost.
    let holder = Database::open(&Disk, &path, &bench.access()).unwrap();
    holder.run("BEGIN IMMEDIATE", &mut Collected::default()).unwrap();
    let busy = import(&bench, &path, &escrow(&bench), &from).unwrap_err();
    assert!(matches!(busy, EngineError::Busy { .. }), "{busy}");
    drop(holder);
    import(&bench, &child, &escrow(&bench), &from).unwrap();
    assert_eq!(count(&bench, &child, "other-key"), 2);
}

#[test]
fn the_key_of_another_database_and_a_renewed_one_are_refused() {
    let bench = Bench::new();
    let (path, recipient) = made(&bench);
    let from = export(&bench, &path, &recipient, "exported-key");
    let other = bench.path("else.db");
    drop(Database::create(&Disk, &other, &bench.access(), &Layout::default()).unwrap());
    let error = import(&bench, &other, &escrow(&bench), &from).unwrap_err();
    assert_eq!(error.class(), Class::Key);
    assert!(error.to_string().contains("the exported key is of database"), "{error}");
    assert!(!error.advice().is_empty());

    let before = std::fs::read(&path).unwrap();
    crate::support::rewrite_superblock(&bench, &path, |unlocked| unlocked.superblock.master_created += 5);
    // The time is part of the superblock, and its MAC is valid: the key is the same.
    import(&bench, &path, &escrow(&bench), &from).unwrap();
    std::fs::write(&path, before).unwrap();
    keys::renew(&Disk, &path, &bench.access(), &[], false).unwrap();
    crate::support::rewrite_superblock(&bench, &path, |unlocked| unlocked.superblock.master_created += 5);
    let error = import(&bench, &path, &escrow(&bench), &from).unwrap_err();
    assert_eq!(error.class(), Class::Key);
    assert!(error.to_string().contains("it was renewed in between"), "{error}");
    assert_eq!(keys::list(&Disk, &path).unwrap().slots.len(), 1, "nothing was written");
}

#[test]
fn files_that_are_no_exported_key_and_missing_recipients_are_refused() {
    let bench = Bench::new();
    let (path, recipient) = made(&bench);
    let from = export(&bench, &path, &recipient, "exported-key");
    let why = |access: &Access, from: &Path| import(&bench, &path, access, from).unwrap_err();
    let error = why(&bench.access(), &from);
    assert!(
        error.class() == Class::Key && error.to_string().contains("exported-key"),
        "{error}"
    );
    let error = why(&escrow(&bench), &path);
    assert_eq!(error.class(), Class::Key);
    let error = why(&escrow(&bench), &bench.path("key"));
    assert!(error.to_string().contains("not an exported key"), "{error}");
    let error = why(&escrow(&bench), &bench.path("nothing"));
    assert_eq!(error.class(), Class::Io);
    let no_slot = key_export::import(&Disk, &path, &escrow(&bench), &from, (&[], "")).unwrap_err();
    assert_eq!(no_slot.class(), Class::Usage);

    let to = bench.path("exported-key");
    let again = key_export::export(&Disk, &path, &bench.access(), &recipient, (&to, false)).unwrap_err();
    assert!(matches!(again, EngineError::Exists { .. }), "{again}");
    key_export::export(&Disk, &path, &bench.access(), &recipient, (&to, true)).unwrap();
    import(&bench, &path, &escrow(&bench), &to).unwrap();
    let error = key_export::export(
        &Disk,
        &path,
        &bench.access(),
        &bench.spec("key"),
        (&bench.path("x-key"), false),
    );
    assert_eq!(error.unwrap_err().class(), Class::Usage);
    let error = key_export::export(&Disk, &path, &escrow(&bench), &recipient, (&bench.path("x-key"), false));
    assert_eq!(error.unwrap_err().class(), Class::Key);
    assert_eq!(bench.names(), ["app.db"], "a draft is left");
}

#[test]
fn import_into_a_database_with_thirty_two_slots_is_refused() {
    let bench = Bench::new();
    let (path, recipient) = made(&bench);
    for _ in 0..31 {
        let more = selenite_keyring::keygen(0).recipient;
        keys::add(&Disk, &path, &bench.access(), &more, "").unwrap();
    }
    let from = export(&bench, &path, &recipient, "exported-key");
    let error = import(&bench, &path, &escrow(&bench), &from).unwrap_err();
    assert!(error.to_string().contains("at most 32 key slots"), "{error}");
    let first = keys::list(&Disk, &path).unwrap().slots[1].id.to_string();
    keys::remove(&Disk, &path, &bench.access(), &first, true).unwrap();
    import(&bench, &path, &escrow(&bench), &from).unwrap();
}

#[test]
fn several_recipients_get_their_slots_in_one_change() {
    let bench = Bench::new();
    let (path, recipient) = made(&bench);
    let from = export(&bench, &path, &recipient, "exported-key");
    let before = crate::support::superblock_of(&bench, &path).superblock.generation;
    let people = [selenite_keyring::keygen(0).recipient, bench.spec("other-key")];
    key_export::import(&Disk, &path, &escrow(&bench), &from, (&people, "")).unwrap();
    let superblock = crate::support::superblock_of(&bench, &path).superblock;
    assert_eq!((superblock.generation, superblock.slots.len()), (before + 1, 3));
    assert_eq!(count(&bench, &path, "other-key"), 2);
}

/// Checks `databases-are-not-replaced`.
#[test]
fn no_database_is_replaced_by_an_exported_key() {
    let bench = Bench::new();
    let (path, recipient) = made(&bench);
    let forced = |to: &Path| key_export::export(&Disk, &path, &bench.access(), &recipient, (to, true));
    let plain = bench.plain("plain.db", "CREATE TABLE t (a)");
    let sealed = bench.path("else.db");
    drop(Database::create(&Disk, &sealed, &bench.access(), &Layout::default()).unwrap());
    let damaged = bench.path("damaged.db");
    let mut bytes = std::fs::read(&sealed).unwrap();
    bytes[100..200].fill(0xee);
    bytes[32868..32968].fill(0xee);
    std::fs::write(&damaged, bytes).unwrap();
    let link = bench.path("to-itself");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    for to in [&path, &plain, &sealed, &damaged, &link] {
        let before = std::fs::read(to).unwrap();
        let error = forced(to).unwrap_err();
        assert!(matches!(error, EngineError::Usage { .. }), "{}: {error}", to.display());
        assert_eq!(std::fs::read(to).unwrap(), before);
    }
    assert!(link.symlink_metadata().unwrap().is_symlink());

    // A link to another file is replaced itself, as is a file that is not a database.
    let planted = bench.path("planted-key");
    std::os::unix::fs::symlink(&plain, &planted).unwrap();
    let before = std::fs::read(&plain).unwrap();
    forced(&planted).unwrap();
    assert_eq!(std::fs::read(&plain).unwrap(), before);
    assert!(!planted.symlink_metadata().unwrap().is_symlink());
    forced(&planted).unwrap();
    import(&bench, &path, &escrow(&bench), &planted).unwrap();
}
