//! Databases that others created for a public recipient (FORMAT 4.7), opened with SQL.

use selenite_testing::own_process;
use std::fs;
use std::path::Path;

use rusqlite::Connection;
use selenite_cipher::Suite;
use selenite_format::{PageSize, Superblock};
use selenite_keyring::{AgeRecipient, RawIdentity, Recipient, Unlocked, create, keygen, os_random};

use super::fixture::{Fixture, check, code, edit, fill, flags};

/// SQLITE_AUTH_USER: SQLITE_AUTH with an extended code that no other refusal has.
const FOREIGN: i32 = 23 | (1 << 8);
const VNODE: i32 = 10 | (27 << 8);
const CANTOPEN: i32 = 14;

/// Creates an age identity in a file of the fixture; returns its recipient.
fn person(fixture: &Fixture, name: &str) -> String {
    let made = keygen(0);
    fs::write(fixture.path(name), made.text.as_bytes()).unwrap();
    made.recipient
}

fn open(fixture: &Fixture, name: &str, key: &str, parameters: &str) -> rusqlite::Result<Connection> {
    let uri = format!(
        "file:{}?vfs=selenite&selenite_identity=age:{}{parameters}",
        fixture.path(name).display(),
        fixture.path(key).display()
    );
    Connection::open_with_flags(uri, flags())
}

/// The result of opening and reading.
fn opened(fixture: &Fixture, name: &str, parameters: &str) -> i32 {
    let opened = open(fixture, name, "own.txt", parameters).and_then(|connection| {
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    });
    code(opened)
}

/// A superblock of this id, made by another party for the recipient, of a later generation.
fn forged(of: &Superblock, recipient: &str) -> Unlocked {
    let mut is_first = true;
    let mut same_id = |bytes: &mut [u8]| {
        os_random(bytes);
        if std::mem::take(&mut is_first) {
            bytes.copy_from_slice(&of.database_id.0);
        }
    };
    let recipients: Vec<Box<dyn Recipient>> = vec![
        Box::new(recipient.parse::<AgeRecipient>().unwrap()),
        Box::new(RawIdentity::new(selenite_cipher::Secret::new([9; 32]))),
    ];
    let mut made = create(PageSize::DEFAULT, Suite::Aes256, &recipients, 0, &mut same_id).unwrap();
    made.superblock.generation = of.generation + 7;
    made.superblock.pages_exist = true;
    // The forger can also copy the real slot's parameters.
    made.superblock.slots[0].parameters = of.slots[0].parameters.clone();
    made
}

fn superblock_of(path: &Path) -> Superblock {
    let bytes = fs::read(path).unwrap();
    Superblock::parse(&bytes[..32768]).unwrap()
}

fn plant(path: &Path, forged: &Unlocked) {
    let bytes = forged.encode().unwrap();
    edit(path, |file| {
        for place in [0, 32768] {
            file[place..place + bytes.len()].copy_from_slice(&bytes);
        }
    });
}

#[test]
fn a_database_of_foreign_origin_has_a_result_code_of_its_own() {
    own_process!();
    let fixture = Fixture::new();
    let recipient = person(&fixture, "own.txt");
    let own = open(&fixture, "own.db", "own.txt", "").unwrap();
    fill(&own);
    check(&own);
    drop(own);
    assert_eq!(opened(&fixture, "own.db", ""), 0);

    let path = fixture.path("own.db");
    let there = superblock_of(&path);
    plant(&path, &forged(&there, &recipient));
    let id = format!("&database_id={}", there.database_id);
    for parameters in ["", "&origin=own", &id] {
        assert_eq!(opened(&fixture, "own.db", parameters), FOREIGN, "{parameters}");
    }
    let told = Fixture::last_error();
    assert!(
        told.contains("foreign origin") && told.contains("selenite keys accept"),
        "{told}"
    );
    // Its pages are the real ones, and cannot be opened with its keys.
    assert_ne!(opened(&fixture, "own.db", "&origin=any"), FOREIGN);
    for wrong in ["&origin=all", "&origin=", "&commitment=00"] {
        assert_eq!(opened(&fixture, "own.db", wrong), CANTOPEN, "{wrong}");
    }
    assert!(Fixture::last_error().contains("commitment 00 is not 64 hexadecimal digits"));
}

#[test]
fn an_open_database_is_not_replaced_by_a_forged_one_of_its_id() {
    own_process!();
    for mode in ["delete", "wal"] {
        let fixture = Fixture::new();
        let recipient = person(&fixture, "own.txt");
        let one = open(&fixture, "a.db", "own.txt", "").unwrap();
        fill(&one);
        one.pragma_update(None, "journal_mode", mode).unwrap();
        check(&one);
        let path = fixture.path("a.db");
        let there = superblock_of(&path);
        // The write lock is free: a tamperer does not take it.
        plant(&path, &forged(&there, &recipient));
        let written = one.execute_batch("INSERT INTO t(name) VALUES ('secret')");
        assert_eq!(code(written), FOREIGN, "{mode}");
        assert_eq!(opened(&fixture, "a.db", ""), FOREIGN, "{mode}");
    }
}

#[test]
fn an_attached_file_is_judged_by_its_own_parameters_and_what_main_admits() {
    own_process!();
    let fixture = Fixture::new();
    let recipient = person(&fixture, "own.txt");
    person(&fixture, "other.txt");
    drop(open(&fixture, "own.db", "own.txt", "").map(|made| fill(&made)));
    drop(open(&fixture, "other.db", "other.txt", "").map(|made| fill(&made)));
    let path = fixture.path("other.db");
    let there = superblock_of(&path);
    let forged = forged(&there, &recipient);
    plant(&path, &forged);
    let commitment: String = forged
        .master
        .commitment()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let main = open(&fixture, "own.db", "own.txt", "&origin=any").unwrap();
    let attach_to = |main: &Connection, parameters: &str| {
        let uri = format!(
            "file:{}?selenite_identity=age:{}{parameters}",
            path.display(),
            fixture.path("own.txt").display()
        );
        let attached = main.execute("ATTACH ?1 AS other", [uri]);
        let read = attached.and_then(|_| main.query_row("SELECT count(*) FROM other.sqlite_schema", [], |_| Ok(())));
        let _ = main.execute("DETACH other", []);
        code(read)
    };
    assert_eq!(attach_to(&main, ""), FOREIGN);
    assert_ne!(attach_to(&main, "&origin=any"), FOREIGN);
    check(&main);
    // The URI in an ATTACH may be injected: what it allows must also be allowed by the program.
    let main = open(&fixture, "own.db", "own.txt", "").unwrap();
    for parameters in [
        "&origin=any".to_owned(),
        format!("&commitment={commitment}"),
        format!("&origin=any&commitment={commitment}"),
    ] {
        assert_eq!(attach_to(&main, &parameters), FOREIGN, "{parameters}");
        assert!(Fixture::last_error().contains("only if the main database's URI has it"));
    }
    check(&main);
    assert_ne!(
        opened(&fixture, "other.db", &format!("&commitment={commitment}")),
        FOREIGN
    );
}

#[test]
fn a_commitment_is_expected_like_an_id() {
    own_process!();
    let fixture = Fixture::new();
    person(&fixture, "own.txt");
    drop(open(&fixture, "own.db", "own.txt", "").map(|made| fill(&made)));
    let digits = "ab".repeat(32);
    assert_eq!(opened(&fixture, "own.db", &format!("&commitment={digits}")), VNODE);
    assert!(Fixture::last_error().contains("another commitment"));
    edit(&fixture.path("own.db"), Vec::clear);
    assert_eq!(opened(&fixture, "own.db", &format!("&commitment={digits}")), VNODE);
}
