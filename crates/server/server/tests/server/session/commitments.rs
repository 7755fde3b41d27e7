//! The master key that a database is known by.

use selenite::keys;
use selenite::storage::Disk;

use super::client::{numbers, succeed};
use super::encryption::{make_table, refused, run};
use super::fixture::Fixture;

const RENEWED: &str = "EXEC sp_accept_database 'd'";

/// A server with a database `d`, whose file was copied and then got another master key.
fn renewed() -> Fixture {
    let fixture = Fixture::new();
    make_table(&mut fixture.client(), "d", 20);
    let (folder, access) = (fixture.data_folder(), fixture.access());
    fixture.restarted_after(|| {
        let path = folder.join("d.db");
        std::fs::copy(&path, folder.join("before")).unwrap();
        keys::renew(&Disk, &path, &access, &[], false).unwrap();
    })
}

#[test]
fn a_database_with_another_master_key_is_opened_only_when_an_administrator_accepts_it() {
    let fixture = renewed();
    let mut client = fixture.client();
    refused(&mut client, &[(945, "USE d")]);
    run(
        &mut client,
        &["CREATE LOGIN one WITH PASSWORD = 'Pass-word-1', CHECK_POLICY = OFF"],
    );
    let mut one = fixture.client_as("one", "Pass-word-1", "");
    assert_eq!(numbers(&one.batch(RENEWED)), [15247]);
    refused(
        &mut client,
        &[
            (945, "USE d"),
            (911, "EXEC sp_accept_database 'nothing'"),
            (911, "EXEC sp_accept_database 'master'"),
            (201, "EXEC sp_accept_database"),
        ],
    );
    run(&mut client, &[RENEWED, "USE d"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 20);
    refused(&mut client, &[(3702, RENEWED)]);
    drop((client, one));
    // From now on the file of before is another.
    let folder = fixture.data_folder();
    let fixture = fixture.restarted_after(|| {
        std::fs::copy(folder.join("before"), folder.join("d.db")).unwrap();
    });
    refused(&mut fixture.client(), &[(945, "USE d")]);
}

#[test]
fn what_a_server_from_before_has_made_is_believed_once() {
    let fixture = Fixture::new();
    make_table(&mut fixture.client(), "d", 20);
    let place = fixture.data_folder().parent().unwrap().to_owned();
    let fixture = fixture.restarted_after(|| {
        let forget =
            "UPDATE selenite_database SET commitment = NULL; DELETE FROM selenite_setting WHERE name = 'commitments'";
        super::fixture::in_sqlite(&place, "master")
            .execute_batch(forget)
            .unwrap();
    });
    let mut client = fixture.client();
    run(&mut client, &["USE d"]);
    assert_eq!(client.int("SELECT COUNT(*) FROM t"), 20);
    drop(client);
    let (path, access) = (fixture.data_folder().join("d.db"), fixture.access());
    let fixture = fixture.restarted_after(|| drop(keys::renew(&Disk, &path, &access, &[], false).unwrap()));
    refused(&mut fixture.client(), &[(945, "USE d")]);
}

#[test]
fn a_restored_database_is_known_by_the_master_key_of_its_backup() {
    let fixture = Fixture::new();
    let mut client = fixture.client();
    make_table(&mut client, "d", 20);
    run(&mut client, &["USE master", "BACKUP DATABASE d TO DISK = 'd.bak'"]);
    drop(client);
    let (path, access) = (fixture.data_folder().join("d.db"), fixture.access());
    let fixture = fixture.restarted_after(|| drop(keys::renew(&Disk, &path, &access, &[], false).unwrap()));
    let mut client = fixture.client();
    refused(&mut client, &[(945, "USE d")]);
    succeed(&mut client, "RESTORE DATABASE d FROM DISK = 'd.bak' WITH REPLACE");
    succeed(&mut client, "RESTORE DATABASE e FROM DISK = 'd.bak'");
    drop(client);
    let fixture = fixture.restarted();
    let mut client = fixture.client();
    for name in ["d", "e"] {
        run(&mut client, &[&format!("USE {name}")]);
        assert_eq!(client.int("SELECT COUNT(*) FROM t"), 20);
    }
}
