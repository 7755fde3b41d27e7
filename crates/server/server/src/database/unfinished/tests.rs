use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::*;
use crate::NewDatabases;
use crate::database::dropped_database::{NotDropped, drop_database};
use crate::database::new_database::{NewDatabase, NotMade};
use crate::master::DatabaseName;
use crate::password::{PasswordCost, PasswordHash};

/// A data folder with a master.db, without a server.
struct ServerFolder {
    folder: TempDir,
    access: Access,
    master: Master,
    key: TempDir,
    new_databases: NewDatabases,
}

impl ServerFolder {
    fn new() -> Self {
        selenite::install().unwrap();
        let (folder, key) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(key.path().join("key"), [7; 32]).unwrap();
        let access = Access {
            identity: Some(format!("raw:{}", key.path().join("key").display()).parse().unwrap()),
            ..Access::default()
        };
        let hash = PasswordHash::new("first", PasswordCost::LEAST).unwrap();
        let master = Master::create(folder.path(), &access, &hash, || Ok(())).unwrap();
        Self {
            folder,
            access,
            master,
            key,
            new_databases: NewDatabases::Clear,
        }
    }

    fn begin(&self, name: &str) -> Result<NewDatabase<'_>, NotMade> {
        let name = DatabaseName::new(name).unwrap();
        let how = (&self.access, self.new_databases);
        NewDatabase::begin(&self.master, self.folder.path(), how, (&name, None))
    }

    /// CREATE DATABASE, without a kill.
    fn make(&self, name: &str) -> DatabaseFile {
        let new = self.begin(name).unwrap();
        new.publish(new.make().unwrap()).unwrap();
        let id = new.finish().unwrap().id;
        self.master.file(id).unwrap().unwrap()
    }

    /// The next start. Returns what it reports.
    fn settle(&self) -> Vec<String> {
        let told = Arc::new(Mutex::new(Vec::new()));
        let lines = told.clone();
        let log = Log::new(move |line| lines.lock().unwrap().push(line.to_owned()));
        let settlement = Settlement {
            master: &self.master,
            folder: self.folder.path(),
            access: &self.access,
            log: &log,
        };
        settlement.all();
        let told = told.lock().unwrap();
        told.clone()
    }

    /// All files but those of master.db.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| !name.starts_with("master.db")).collect();
        names.sort();
        names
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }
}

#[test]
fn a_database_whose_making_was_cut_off_is_whole_or_its_name_is_free() {
    let modes = [NewDatabases::Clear, NewDatabases::Encrypted];
    for (step, new_databases) in (0..=4).flat_map(|step| modes.map(|mode| (step, mode))) {
        let place = ServerFolder {
            new_databases,
            ..ServerFolder::new()
        };
        let new = place.begin("d").unwrap();
        assert_eq!(place.master.database("d").unwrap(), None);
        let draft = draft_of(&place.path("d.db"), new.id()).unwrap();
        match step {
            0 => {}
            1 => std::fs::write(beside_name(&draft, "-journal"), "x").unwrap(),
            2 => std::mem::forget(new.make().unwrap()),
            3 => new.publish(new.make().unwrap()).unwrap(),
            _ => {
                new.publish(new.make().unwrap()).unwrap();
                new.finish().unwrap();
            }
        }
        assert_eq!(place.settle(), [""; 0], "{step}");
        let is_there = place.master.database("d").unwrap().is_some();
        assert_eq!(is_there, step >= 3);
        let expected: &[&str] = if is_there { &["d.db"] } else { &[] };
        assert_eq!(place.names(), expected, "{step}");
        if !is_there {
            place.make("d");
        }
        let known = place.master.files().unwrap();
        let state = FileState::load(&place.path("d.db"), &plain_access(&place.access)).unwrap();
        assert_eq!((known.len(), known[0].unfinished), (1, None));
        assert_eq!(known[0].file_id, state.database_id);
        assert!(state.database_id.is_some());
        let is_encrypted = new_databases == NewDatabases::Encrypted;
        assert_eq!(known[0].must_be_encrypted, is_encrypted, "{step}");
        assert_eq!(state.pages == Phase::Encrypted, is_encrypted);
        assert!(place.key.path().exists());
    }
}

fn beside_name(path: &Path, tail: &str) -> std::path::PathBuf {
    crate::database::new_database::beside(path, tail)
}

#[test]
fn a_database_whose_removal_was_cut_off_is_gone() {
    for step in 0..=3 {
        let place = ServerFolder::new();
        let file = place.make("d");
        std::fs::write(place.path("d.db-wal"), "").unwrap();
        if step < 3 {
            place.master.begin_removal(file.database_id).unwrap();
            assert_eq!(place.master.database("d").unwrap(), None);
        }
        match step {
            0 => {}
            1 => std::fs::remove_file(place.path("d.db")).unwrap(),
            2 => remove_files(place.folder.path(), &place.path("d.db")).unwrap(),
            _ => assert_eq!(drop_database(&place.master, place.folder.path(), &file).unwrap(), None),
        }
        assert_eq!(place.settle(), [""; 0]);
        assert_eq!(
            (place.names(), place.master.files().unwrap()),
            (vec![], vec![]),
            "{step}"
        );
        place.make("D");
    }
}

#[test]
fn an_unknown_file_is_kept_and_reported() {
    let place = ServerFolder::new();
    for name in ["d.db", "d.db-wal"] {
        std::fs::write(place.path(name), "rows").unwrap();
        match place.begin("d").err() {
            Some(NotMade::FileIsThere(path)) => assert_eq!(path, place.path(name)),
            other => panic!("{other:?}"),
        }
        assert_eq!(place.master.files().unwrap(), []);
        assert_eq!(place.settle().len(), usize::from(name == "d.db"));
        assert_eq!(std::fs::read(place.path(name)).unwrap(), b"rows");
        std::fs::remove_file(place.path(name)).unwrap();
    }
    // What came there while a database was being made, or removed.
    for is_removal in [false, true] {
        if is_removal {
            let file = place.make("d");
            place.master.begin_removal(file.database_id).unwrap();
        } else {
            let new = place.begin("d").unwrap();
            std::mem::forget(new.make().unwrap());
        }
        std::fs::write(place.path("d.db"), "other rows").unwrap();
        assert_eq!(place.settle().len(), if is_removal { 2 } else { 3 });
        assert_eq!(place.names(), ["d.db"]);
        assert_eq!(std::fs::read(place.path("d.db")).unwrap(), b"other rows");
        assert_eq!(place.master.files().unwrap(), []);
        std::fs::remove_file(place.path("d.db")).unwrap();
    }
}

#[test]
fn another_databases_file_that_is_open_or_linked_stays() {
    let place = ServerFolder::new();
    let (one, other) = (place.make("one"), place.make("other"));
    std::fs::rename(place.path("one.db"), place.path("other.db")).unwrap();
    let held = std::fs::File::open(place.path("other.db")).unwrap();
    // As a session that had `one` open before it was renamed.
    assert!(matches!(
        drop_database(&place.master, place.folder.path(), &other),
        Err(NotDropped::InUse)
    ));
    drop(held);
    std::os::unix::fs::symlink(place.path("other.db"), place.path("one.db")).unwrap();
    let kept = drop_database(&place.master, place.folder.path(), &one).unwrap();
    assert_eq!(kept, Some(place.path("one.db")));
    let kept = drop_database(&place.master, place.folder.path(), &other).unwrap();
    assert_eq!(kept, Some(place.path("other.db")));
    assert!(place.path("other.db").exists() && place.path("one.db").is_symlink());
}

#[test]
fn a_file_that_is_not_the_databases_own_stays_when_the_database_goes() {
    let place = ServerFolder::new();
    let (one, other) = (place.make("one"), place.make("other"));
    std::fs::copy(place.path("other.db"), place.path("one.db")).unwrap();
    let kept = drop_database(&place.master, place.folder.path(), &one).unwrap();
    assert_eq!(kept, Some(place.path("one.db")));
    let kept = drop_database(&place.master, place.folder.path(), &other).unwrap();
    assert_eq!(kept, None);
    assert_eq!(
        (place.names(), place.master.files().unwrap()),
        (vec!["one.db".to_owned()], vec![])
    );
}

#[test]
fn a_restore_that_was_cut_off_leaves_the_file_before_or_the_file_behind() {
    let place = ServerFolder::new();
    let (one, next, third) = (place.make("one"), place.make("next"), place.make("third"));
    let (one_id, next_id) = (one.file_id.unwrap(), next.file_id.unwrap());
    let known = || place.master.file(one.database_id).unwrap().unwrap();
    let own = std::fs::read(place.path("one.db")).unwrap();
    place.master.require_encryption(one.database_id, true).unwrap();
    for (put, expected) in [(Some("third.db"), one_id), (None, one_id), (Some("next.db"), next_id)] {
        place.master.begin_restore(one.database_id, next_id).unwrap();
        let draft = place.path(".one.db.selenite-tmp-restore");
        std::fs::write(&draft, "half").unwrap();
        match put {
            Some(other) => drop(std::fs::copy(place.path(other), place.path("one.db")).unwrap()),
            None => std::fs::write(place.path("one.db"), &own).unwrap(),
        }
        assert_eq!(place.settle(), [""; 0]);
        let known = known();
        assert_eq!((known.unfinished, known.next_file_id), (None, None));
        assert_eq!(known.file_id, Some(expected), "{put:?}");
        // The third is not known to master.db: it changes nothing.
        assert_eq!(known.must_be_encrypted, put == Some("third.db"));
        assert!(!draft.exists());
    }
    assert!(third.file_id.is_some());
    // A log that was put aside may be all that is left of commits.
    place.master.begin_restore(one.database_id, one_id).unwrap();
    let (draft, log) = (
        place.path(".one.db.selenite-tmp-restore"),
        place.path(".one.db.selenite-tmp-restore-wal"),
    );
    std::fs::write(&draft, "half").unwrap();
    std::fs::write(&log, "commits").unwrap();
    place.settle();
    assert!(log.exists());
}

#[test]
fn a_server_of_before_has_its_files_known_from_the_first_start_on() {
    let place = ServerFolder::new();
    let file = place.make("d");
    let forget = "UPDATE selenite_database SET file_id = NULL";
    place
        .master
        .with(|connection| Ok(connection.execute_batch(forget)?))
        .unwrap();
    assert_eq!(place.master.file(file.database_id).unwrap().unwrap().file_id, None);
    assert_eq!(place.settle(), [""; 0]);
    assert_eq!(place.master.file(file.database_id).unwrap().unwrap(), file);
}
