use std::io;

use selenite::Access;
use tempfile::TempDir;

use super::*;
use crate::password::PasswordCost;

fn access(place: &TempDir) -> Access {
    selenite::install().unwrap();
    let key = place.path().join("key");
    std::fs::write(&key, [7; 32]).unwrap();
    Access {
        identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
        ..Access::default()
    }
}

fn hash(password: &str) -> PasswordHash {
    PasswordHash::new(password, PasswordCost::LEAST).unwrap()
}

pub(super) fn create(place: &TempDir) -> Master {
    Master::create(place.path(), &access(place), &hash("first"), || Ok(())).unwrap()
}

fn new<'a>(name: &'a str, password: &'a PasswordHash) -> NewLogin<'a> {
    NewLogin {
        name,
        sid: None,
        password,
        must_change: false,
        default_database: "master",
    }
}

#[test]
fn a_new_one_has_sa_and_the_databases_of_the_server() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    let names: Vec<(i32, String)> = master
        .databases()
        .unwrap()
        .into_iter()
        .map(|one| (one.id, one.name))
        .collect();
    let expected = [(1, "master"), (2, "tempdb"), (3, "model"), (4, "msdb")];
    assert_eq!(names, expected.map(|(id, name)| (id, name.to_owned())));
    let [sa] = master.logins().unwrap().try_into().unwrap();
    assert_eq!((sa.id, sa.name.as_str(), sa.is_administrator), (1, "sa", true));
    assert_eq!(
        (sa.is_disabled, sa.must_change, sa.default_database.as_str()),
        (false, false, "master")
    );
    assert!(master.login_and_hash("SA").unwrap().unwrap().1.is_of("first").unwrap());
}

/// Who may write to the folder has no key: another database of the server's identity must not become its logins.
#[test]
fn another_database_of_the_identity_is_not_taken_for_one_that_was_not_finished() {
    let place = tempfile::tempdir().unwrap();
    let access = access(&place);
    let path = place.path().join(FILE);
    drop(Database::create(&Disk, &path, &access, &Layout::default()).unwrap());
    let other = Connection::open(access.uri(&path).as_str()).unwrap();
    other.execute_batch("CREATE TABLE salary (eur INTEGER)").unwrap();
    drop(other);
    let refused = Master::open(place.path(), &access).map(|_| ()).unwrap_err();
    assert!(
        matches!(&refused, MasterError::NotMaster(table) if table == "salary"),
        "{refused}"
    );
}

#[test]
fn one_that_was_not_finished_is_made_anew() {
    let place = tempfile::tempdir().unwrap();
    let access = access(&place);
    let untold = Master::create(place.path(), &access, &hash("lost"), || {
        Err(io::ErrorKind::BrokenPipe.into())
    });
    assert!(matches!(untold, Err(MasterError::NotTold(_))));
    assert!(Master::is_there(place.path()));
    assert!(Master::open(place.path(), &access).unwrap().is_none());
    drop(create(&place));
    let master = Master::open(place.path(), &access).unwrap().unwrap();
    assert!(master.login_and_hash("sa").unwrap().unwrap().1.is_of("first").unwrap());
}

#[test]
fn one_of_a_newer_server_is_not_touched() {
    let place = tempfile::tempdir().unwrap();
    let access = access(&place);
    let master = create(&place);
    let newer = "UPDATE selenite_setting SET value = 2 WHERE name = 'version'";
    master.with(|connection| Ok(connection.execute_batch(newer)?)).unwrap();
    drop(master);
    assert!(matches!(
        Master::open(place.path(), &access),
        Err(MasterError::Version(2))
    ));
}

#[test]
fn logins_are_made_changed_and_removed_whatever_the_case_of_their_names() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    let (one, two) = (hash("one"), hash("two"));
    let hanna = master.add_login(&new("Hanna", &one)).unwrap();
    assert_eq!(
        (hanna.id, hanna.name.as_str(), hanna.is_administrator),
        (256, "Hanna", false)
    );
    for taken in ["hANNA", "SA"] {
        assert!(matches!(
            master.add_login(&new(taken, &one)),
            Err(MasterError::Taken(_))
        ));
    }
    let same_sid = NewLogin {
        sid: Some(hanna.sid),
        ..new("other", &one)
    };
    assert!(matches!(master.add_login(&same_sid), Err(MasterError::Taken(_))));
    for bad in ["", "DOMAIN\\user", "a\0b", &"x".repeat(129)] {
        assert!(
            matches!(master.add_login(&new(bad, &one)), Err(MasterError::Name(_))),
            "{bad:?}"
        );
    }
    master.set_password(&hanna, &two, true).unwrap();
    master.set_disabled("hanna", true).unwrap();
    master.set_administrator("hanna", true).unwrap();
    master.set_default_database("hanna", "msdb").unwrap();
    master.rename_login("hanna", "HANNA").unwrap();
    let (changed, kept) = master.login_and_hash("Hanna").unwrap().unwrap();
    assert_eq!(kept, two);
    assert_eq!(
        (changed.name.as_str(), changed.default_database.as_str()),
        ("HANNA", "msdb")
    );
    assert!(changed.is_disabled && changed.must_change && changed.is_administrator);
    assert!(matches!(master.rename_login("hanna", "Sa"), Err(MasterError::Taken(_))));
    master.remove_login("hanna").unwrap();
    assert_eq!(master.login("hanna").unwrap(), None);
    for refused in [master.remove_login("sa"), master.set_administrator("sa", false)] {
        assert!(matches!(refused, Err(MasterError::Reserved(_))));
    }
    let unknown = [
        master.remove_login("x"),
        master.set_disabled("x", true),
        master.set_password(&hanna, &one, false),
        master.rename_login("x", "y"),
    ];
    assert!(
        unknown
            .into_iter()
            .all(|outcome| matches!(outcome, Err(MasterError::Unknown(_))))
    );
}

#[test]
fn no_number_of_a_login_or_role_is_given_again() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    let one = hash("one");
    let ann = master.add_login(&new("ann", &one)).unwrap();
    master.remove_login("ann").unwrap();
    master.add_server_role("clerks", &[1]).unwrap();
    let roles = || master.server_security().unwrap().roles;
    let [clerks] = roles().try_into().unwrap();
    assert_eq!(i64::from(clerks.id), ann.id + 1);
    master.remove_server_role(&clerks).unwrap();
    let again = master.add_login(&new("ann", &one)).unwrap();
    assert_eq!(again.id, ann.id + 2);
    // A membership that was decided before the role was dropped is not one of a later role.
    let late = master.set_server_member((clerks.id, &clerks.sid), &again.sid, true);
    assert!(matches!(late, Err(MasterError::Unknown(_))), "{late:?}");
    master.add_server_role("clerks", &[1]).unwrap();
    let [new_clerks] = roles().try_into().unwrap();
    let late = master.set_server_member((new_clerks.id, &clerks.sid), &again.sid, true);
    assert!(matches!(late, Err(MasterError::Unknown(_))), "{late:?}");
    assert_eq!(master.server_security().unwrap().members, []);
    let now = master.set_server_member((new_clerks.id, &new_clerks.sid), &again.sid, true);
    assert!(now.is_ok(), "{now:?}");
}

#[test]
fn names_are_folded_as_they_are_compared_and_those_of_earlier_servers_again() {
    let place = tempfile::tempdir().unwrap();
    let one = hash("one");
    let (capitals, small) = ("\u{39f}\u{394}\u{39f}\u{3a3}", "\u{3bf}\u{3b4}\u{3bf}\u{3c3}");
    let master = create(&place);
    let login = master.add_login(&new(capitals, &one)).unwrap();
    assert!(selenite_compiler::same_name(capitals, small));
    assert_eq!(master.login(small).unwrap(), Some(login.clone()));
    let role = master.add_server_role(small, &[1]);
    assert!(matches!(role, Err(MasterError::Taken(_))), "{role:?}");
    let as_before = "UPDATE selenite_login SET folded = ?1 WHERE name = ?2";
    let final_sigma = capitals.to_lowercase();
    let changed = master.with(|connection| Ok(connection.execute(as_before, (&final_sigma, capitals))?));
    assert_eq!(changed.unwrap(), 1);
    assert_eq!(master.login(capitals).unwrap(), None);
    drop(master);
    let master = Master::open(place.path(), &access(&place)).unwrap().unwrap();
    assert_eq!(master.login(capitals).unwrap(), Some(login));
}

#[test]
fn failed_logins_are_kept() {
    let place = tempfile::tempdir().unwrap();
    let access = access(&place);
    let master = create(&place);
    let attempts = Attempts {
        failure_count: 7,
        failure_last: 1_800_000_000,
        locked_until: 1_800_000_060,
    };
    master.store_attempts(1, attempts).unwrap();
    drop(master);
    let master = Master::open(place.path(), &access).unwrap().unwrap();
    assert_eq!(master.login("sa").unwrap().unwrap().attempts, attempts);
}

#[test]
fn databases_get_the_lowest_id_that_is_free() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    let add = |name| {
        let added = master.add_database(&DatabaseName::new(name).unwrap())?;
        // No one sees it before.
        assert_eq!(master.database(name).unwrap(), None);
        assert_eq!(master.database_of(added.id).unwrap(), None);
        master.finish_file(added.id).unwrap();
        Ok::<_, MasterError>(added)
    };
    assert_eq!(
        (add("A").unwrap().id, add("B").unwrap().id, add("C").unwrap().id),
        (5, 6, 7)
    );
    for taken in ["a", "MASTER"] {
        assert!(matches!(add(taken), Err(MasterError::Taken(_))));
    }
    master.remove_database("b").unwrap();
    assert_eq!(master.database("b").unwrap(), None);
    assert_eq!(add("D").unwrap().id, 6);
    master.remove_database("a").unwrap();
    assert_eq!(add("E").unwrap().id, 5);
    assert_eq!(master.database_of(7).unwrap().unwrap().name, "C");
    assert!(!master.database_of(7).unwrap().unwrap().is_reserved());
    assert!(matches!(master.remove_database("x"), Err(MasterError::Unknown(_))));
    assert!(matches!(
        master.remove_database("Tempdb"),
        Err(MasterError::Reserved(_))
    ));
}

#[test]
fn a_change_that_fails_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    let outcome: Result<(), _> = master.change(|connection| {
        connection.execute("DELETE FROM selenite_login", [])?;
        Err(MasterError::Unknown("x".to_owned()))
    });
    assert!(outcome.is_err());
    assert_eq!(master.logins().unwrap().len(), 1);
}

#[test]
fn a_certificate_is_kept_until_there_is_another() {
    let place = tempfile::tempdir().unwrap();
    let master = create(&place);
    assert!(master.certificate().unwrap().is_none());
    for number in [1, 2] {
        let new = StoredCertificate {
            certificate: vec![number; 3],
            key: zeroize::Zeroizing::new(vec![number; 5]),
            not_after: number.into(),
        };
        master.store_certificate(&new).unwrap();
        let kept = master.certificate().unwrap().unwrap();
        assert_eq!(
            (kept.certificate, kept.key, kept.not_after),
            (new.certificate, new.key, new.not_after)
        );
    }
}
