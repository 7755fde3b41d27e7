//! Databases and backups of foreign origin (FORMAT 4.7).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selenite::backup::{Backup, backup};
use selenite::compromised::{Compromised, compromised};
use selenite::offline::{Offline, offline};
use selenite::reencrypt::{Reencrypt, reencrypt};
use selenite::restore::{Restore, Restored, restore};
use selenite::storage::Disk;
use selenite::verify::physical;
use selenite::{
    Access, Class, Database, Encrypt, EngineError, Expected, Layout, Target, Watch, accept, decrypt, encrypt,
    key_export, keys, status,
};
use selenite_backup::{Destination, Folder};
use selenite_keyring::{Origin, OriginPolicy, keygen};

use crate::support::{Collected, Fixture, query};

/// Creates an age identity in a file of the fixture; returns its recipient.
fn person(fixture: &Fixture, name: &str) -> String {
    let made = keygen(0);
    std::fs::write(fixture.path(name), made.text.as_bytes()).unwrap();
    made.recipient
}

fn by(fixture: &Fixture, name: &str) -> Access {
    Access {
        identity: Some(format!("age:{}", fixture.path(name).display()).parse().unwrap()),
        ..fixture.access()
    }
}

fn any(access: &Access) -> Access {
    Access {
        origin: Some(OriginPolicy::Any),
        ..access.clone()
    }
}

fn made(path: &Path, access: &Access, mode: &str) {
    let database = Database::create(&Disk, path, access, &Layout::default()).unwrap();
    let sql = format!("PRAGMA journal_mode = {mode}; CREATE TABLE t (a); INSERT INTO t VALUES ('x'), ('y')");
    database.run(&sql, &mut Collected::default()).unwrap();
}

fn opens(path: &Path, access: &Access) -> bool {
    query(path, access, "SELECT * FROM t").is_ok()
}

fn origin_of(path: &Path, access: &Access) -> Origin {
    status(&Disk, path, access).unwrap().sealed.unwrap().origin.unwrap()
}

fn commitment_of(path: &Path, access: &Access) -> [u8; 32] {
    let sealed = status(&Disk, path, &any(access)).unwrap().sealed.unwrap();
    sealed.commitment.unwrap()
}

fn is_foreign<T: std::fmt::Debug>(result: Result<T, EngineError>) -> bool {
    let error = result.unwrap_err();
    assert_eq!(error.class(), Class::Key, "{error}");
    assert!(error.advice().contains("selenite keys accept"), "{}", error.advice());
    error.to_string().contains("foreign origin")
}

/// A database that `mallory-key` made, with a slot for the public recipient of `victim-key`.
fn forged(fixture: &Fixture, mode: &str) -> (PathBuf, Access) {
    let recipient = person(fixture, "victim-key");
    person(fixture, "mallory-key");
    let path = fixture.path("app.db");
    made(&path, &by(fixture, "mallory-key"), mode);
    keys::add(&Disk, &path, &by(fixture, "mallory-key"), &recipient, "").unwrap();
    (path, by(fixture, "victim-key"))
}

#[test]
fn a_database_of_foreign_origin_is_refused_by_every_operation() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let (path, victim) = forged(&fixture, mode);
        let watch = Watch::none();
        let before = std::fs::read(&path).unwrap();
        assert!(is_foreign(query(&path, &victim, "INSERT INTO t VALUES ('secret')")));
        assert!(is_foreign(physical(&Disk, &path, &victim, &watch)));
        assert!(is_foreign(keys::renew(&Disk, &path, &victim, &[], false)));
        assert!(is_foreign(keys::add(
            &Disk,
            &path,
            &victim,
            &fixture.spec("other-key"),
            ""
        )));
        let to = fixture.path("exported-key");
        let recipient = person(&fixture, "escrow-key");
        assert!(is_foreign(key_export::export(
            &Disk,
            &path,
            &victim,
            &recipient,
            (&to, false)
        )));
        assert!(is_foreign(decrypt(&Disk, &path, &victim, &Target::InPlace, &watch)));
        assert!(is_foreign(offline(&Disk, &path, &victim, &Offline::default(), &watch)));
        let target = fixture.path("saved.db");
        assert!(is_foreign(selenite::salvage::salvage(
            &Disk,
            &path,
            &victim,
            (&target, &[]),
            &watch
        )));
        assert_eq!(std::fs::read(&path).unwrap(), before, "{mode}");
        // The status shows its origin.
        assert_eq!(origin_of(&path, &victim), Origin::Foreign);
        assert!(opens(&path, &any(&victim)));
        assert!(opens(&path, &by(&fixture, "mallory-key")));
    }
}

#[test]
fn accepting_marks_the_slot_also_while_others_use_the_database() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let (path, victim) = forged(&fixture, mode);
        let mallory = Database::open(&Disk, &path, &by(&fixture, "mallory-key")).unwrap();
        mallory.run("SELECT * FROM t", &mut Collected::default()).unwrap();
        let accepted = accept(&Disk, &path, &victim).unwrap();
        assert_eq!(
            (accepted.origin, accepted.marked.len(), accepted.others.len()),
            (Origin::Foreign, 1, 1)
        );
        assert_eq!(accepted.pinned_in, None);
        assert!(opens(&path, &victim), "{mode}");
        mallory
            .run("INSERT INTO t VALUES ('z')", &mut Collected::default())
            .unwrap();
        drop(mallory);
        assert_eq!(accepted.commitment, commitment_of(&path, &victim));
        assert_eq!(origin_of(&path, &victim), Origin::Own);
        let again = accept(&Disk, &path, &victim).unwrap();
        assert_eq!((again.origin, again.marked.len()), (Origin::Own, 0));
        // An identity without a slot can't accept it.
        assert!(accept(&Disk, &path, &fixture.access()).is_err());
    }
}

#[test]
fn origin_marks_survive_every_change_of_keys_by_others() {
    for mode in ["DELETE", "WAL"] {
        let fixture = Fixture::new();
        let recipient = person(&fixture, "receiver-key");
        person(&fixture, "own-key");
        let (path, own) = (fixture.path("app.db"), by(&fixture, "own-key"));
        made(&path, &own, mode);
        keys::add(&Disk, &path, &own, &fixture.spec("key"), "").unwrap();
        keys::add(&Disk, &path, &own, &fixture.spec("other-key"), "").unwrap();
        keys::add(&Disk, &path, &own, &recipient, "").unwrap();
        // The administrator has a raw key, and no age identity.
        let (admin, watch) = (fixture.access(), Watch::none());
        let check = |step: &str| {
            assert!(opens(&path, &own), "{step}");
            assert!(
                is_foreign(query(&path, &by(&fixture, "receiver-key"), "SELECT 1")),
                "{step}"
            );
        };
        keys::renew(&Disk, &path, &admin, &[fixture.spec("other-key")], false).unwrap();
        check("renew");
        reencrypt(&Disk, &path, &admin, &Reencrypt::default(), &watch).unwrap();
        check("reencrypt");
        offline(&Disk, &path, &admin, &Offline::default(), &watch).unwrap();
        check("reencrypt --offline");
        let slots = keys::list(&Disk, &path).unwrap().slots;
        let gone = slots
            .iter()
            .find(|slot| slot.who.contains("raw key") && slot.id != slots[1].id);
        let what = Compromised {
            slot: gone.unwrap().id.to_string(),
            recipients: Vec::new(),
            resume: false,
            drop_others: false,
            how: Reencrypt::default(),
        };
        compromised(&Disk, &path, &admin, &what, &watch, &mut |_| ()).unwrap();
        check("compromised");
        keys::repair(&Disk, &path, &admin).unwrap();
        check("repair");
    }
}

#[test]
fn every_operation_marks_a_slot_for_ones_own_recipient() {
    let fixture = Fixture::new();
    let (own, other) = (person(&fixture, "own-key"), person(&fixture, "third-key"));
    let path = fixture.plain("app.db", "CREATE TABLE t (a); INSERT INTO t VALUES ('x')");
    let how = Encrypt {
        recipients: vec![own, other.clone()],
        target: Target::New(fixture.path("sealed.db")),
        ..Encrypt::default()
    };
    encrypt(&Disk, &path, &by(&fixture, "own-key"), &how, &Watch::none()).unwrap();
    let sealed = fixture.path("sealed.db");
    assert!(opens(&sealed, &by(&fixture, "own-key")));
    assert!(is_foreign(query(&sealed, &by(&fixture, "third-key"), "SELECT 1")));
    let slots = keys::list(&Disk, &sealed).unwrap().slots;
    assert_eq!(slots.len(), 2);
    // The file of an identity is an identity, and so is the text of one in force.
    let id = slots.iter().find(|slot| slot.who == other).unwrap().id.to_string();
    let spec = format!("age:{}", fixture.path("third-key").display());
    keys::replace(&Disk, &sealed, &by(&fixture, "own-key"), &id, &spec, "").unwrap();
    assert!(opens(&sealed, &by(&fixture, "third-key")));
}

#[test]
fn an_expected_commitment_admits_that_database_and_no_other() {
    let fixture = Fixture::new();
    let (path, victim) = forged(&fixture, "DELETE");
    let expecting = |commitment| Access {
        expected: Expected {
            commitment: Some(commitment),
            ..Expected::default()
        },
        ..victim.clone()
    };
    let commitment = commitment_of(&path, &victim);
    assert!(opens(&path, &expecting(commitment)));
    let refused = query(&path, &any(&expecting([7; 32])), "SELECT 1").unwrap_err();
    assert_eq!(refused.class(), Class::Data, "{refused}");
    assert!(refused.to_string().contains("another master key"), "{refused}");
    let listed = keys::list_with_origin(&Disk, &path, &victim).unwrap();
    assert_eq!(
        (listed.origin, listed.commitment),
        (Some(Origin::Foreign), Some(commitment))
    );
    assert_eq!(keys::list(&Disk, &path).unwrap().commitment, None);
}

fn back_up(fixture: &Fixture, path: &Path, access: &Access, recipients: &[String]) {
    let destination: Arc<dyn Destination> = Arc::new(Folder::new(&fixture.path("backups")));
    let how = Backup {
        recipients: recipients.iter().map(|text| text.parse().unwrap()).collect(),
        ..Backup::default()
    };
    backup(&Disk, path, access, how, &destination, &Watch::none()).unwrap();
}

fn bring(fixture: &Fixture, access: &Access, how: &Restore) -> Result<Restored, EngineError> {
    restore(
        &Disk,
        &Folder::new(&fixture.path("backups")),
        access,
        how,
        &Watch::none(),
    )
}

#[test]
fn a_backup_of_foreign_origin_is_refused_and_ones_own_keeps_its_mark() {
    let fixture = Fixture::new();
    let (path, victim) = forged(&fixture, "WAL");
    back_up(&fixture, &path, &by(&fixture, "mallory-key"), &[]);
    let how = Restore::new(&fixture.path("restored.db"));
    assert!(is_foreign(bring(&fixture, &victim, &how)));
    assert!(!fixture.path("restored.db").exists());
    bring(&fixture, &any(&victim), &how).unwrap();
    assert!(is_foreign(query(&fixture.path("restored.db"), &victim, "SELECT 1")));

    accept(&Disk, &path, &victim).unwrap();
    std::fs::remove_dir_all(fixture.path("backups")).unwrap();
    back_up(&fixture, &path, &by(&fixture, "mallory-key"), &[]);
    let again = Restore::new(&fixture.path("again.db"));
    bring(&fixture, &victim, &again).unwrap();
    assert!(opens(&fixture.path("again.db"), &victim));
    let over = Restore { force: true, ..how };
    bring(&fixture, &victim, &over).unwrap();
    assert!(opens(&fixture.path("restored.db"), &victim));
}

#[test]
fn a_backup_opened_as_a_recipient_needs_origin_any() {
    let fixture = Fixture::new();
    let escrow = person(&fixture, "escrow-key");
    person(&fixture, "own-key");
    let (path, own) = (fixture.path("app.db"), by(&fixture, "own-key"));
    made(&path, &own, "WAL");
    back_up(&fixture, &path, &own, std::slice::from_ref(&escrow));
    let how = Restore {
        recipients: vec![escrow],
        ..Restore::new(&fixture.path("restored.db"))
    };
    let refused = bring(&fixture, &by(&fixture, "escrow-key"), &how).unwrap_err();
    assert_eq!(refused.class(), Class::Key, "{refused}");
    assert!(refused.advice().contains("--origin any"), "{}", refused.advice());
    let restored = bring(&fixture, &any(&by(&fixture, "escrow-key")), &how).unwrap();
    assert!(restored.has_new_master);
    // It is the escrow identity's own: it was made with that identity's secret.
    assert!(opens(&fixture.path("restored.db"), &by(&fixture, "escrow-key")));
}

#[test]
fn an_import_adds_slots_and_marks_that_of_an_identity() {
    let fixture = Fixture::new();
    let escrow = person(&fixture, "escrow-key");
    person(&fixture, "own-key");
    let new = person(&fixture, "new-key");
    let (path, own) = (fixture.path("app.db"), by(&fixture, "own-key"));
    made(&path, &own, "WAL");
    let file = fixture.path("exported-key");
    key_export::export(&Disk, &path, &own, &escrow, (&file, false)).unwrap();
    let spec = format!("age:{}", fixture.path("new-key").display());
    let imported = key_export::import(&Disk, &path, &by(&fixture, "escrow-key"), &file, (&[escrow, spec], "")).unwrap();
    assert_eq!(imported.commitment, commitment_of(&path, &own));
    for name in ["own-key", "escrow-key", "new-key"] {
        assert!(opens(&path, &by(&fixture, name)), "{name}");
    }
    let listed = keys::list(&Disk, &path).unwrap().slots;
    assert!(listed.iter().any(|slot| slot.who == new));
}

#[test]
fn compromised_refuses_ones_own_slot_before_any_step_and_remove_reports_it() {
    let fixture = Fixture::new();
    person(&fixture, "own-key");
    let (path, own) = (fixture.path("app.db"), by(&fixture, "own-key"));
    made(&path, &own, "WAL");
    keys::add(&Disk, &path, &own, &fixture.spec("key"), "").unwrap();
    let slots = keys::list(&Disk, &path).unwrap().slots;
    let before = std::fs::read(&path).unwrap();
    let what = Compromised {
        slot: slots[0].id.to_string(),
        recipients: vec![fixture.spec("key")],
        resume: false,
        drop_others: false,
        how: Reencrypt::default(),
    };
    let mut steps = 0;
    let refused = compromised(&Disk, &path, &own, &what, &Watch::none(), &mut |_| steps += 1).unwrap_err();
    assert!(matches!(refused, EngineError::Usage { .. }), "{refused}");
    assert_eq!((steps, std::fs::read(&path).unwrap() == before), (0, true));
    assert!(opens(&path, &own));
    // With another identity it succeeds.
    compromised(&Disk, &path, &fixture.access(), &what, &Watch::none(), &mut |_| {
        steps += 1
    })
    .unwrap();
    assert!(steps > 0 && !opens(&path, &own));

    keys::add(&Disk, &path, &fixture.access(), &fixture.spec("other-key"), "").unwrap();
    let slots = keys::list(&Disk, &path).unwrap().slots;
    let others = keys::remove(&Disk, &path, &fixture.access(), &slots[1].id.to_string(), true).unwrap();
    assert!(!others.revokes_caller);
    keys::add(&Disk, &path, &fixture.access(), &fixture.spec("other-key"), "").unwrap();
    let own = keys::remove(&Disk, &path, &fixture.access(), &slots[0].id.to_string(), true).unwrap();
    assert!(own.revokes_caller);
}
