//! Tests of the keyring file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use super::*;

const ID: DatabaseId = DatabaseId([0xab; 16]);
const COMMITMENT: [u8; 32] = [0xcd; 32];

fn complaint(text: &str) -> String {
    Keyring::parse(text, Path::new("k.toml")).unwrap_err().to_string()
}

#[test]
fn check_distinguishes_pinned_unknown_and_mismatch() {
    let mut keyring = Keyring::default();
    assert_eq!(keyring.check(ID, COMMITMENT), Pin::Unknown);
    keyring.add(ID, COMMITMENT).unwrap();
    assert_eq!(keyring.check(ID, COMMITMENT), Pin::Pinned);
    assert_eq!(keyring.check(ID, [0; 32]), Pin::Mismatch);
    assert_eq!(keyring.check(DatabaseId([0; 16]), COMMITMENT), Pin::Unknown);
}

#[test]
fn add_does_not_replace_a_commitment_but_replace_does() {
    let mut keyring = Keyring::default();
    keyring.add(ID, COMMITMENT).unwrap();
    keyring.add(ID, COMMITMENT).unwrap();
    let error = keyring.add(ID, [0; 32]).unwrap_err();
    assert!(
        matches!(error, KeyError::DatabaseReplaced { database_id: ID }),
        "{error}"
    );
    assert_eq!(keyring.check(ID, COMMITMENT), Pin::Pinned);
    keyring.replace(ID, [0; 32]);
    assert_eq!(keyring.check(ID, [0; 32]), Pin::Pinned);
    assert!(keyring.remove(ID));
    assert!(!keyring.remove(ID));
}

#[test]
fn both_commitments_are_listed_while_a_master_key_is_renewed() {
    let next = [0xef; 32];
    let path = Path::new("/app.db");
    let mut keyring = Keyring::default();
    keyring.add(ID, COMMITMENT).unwrap();
    keyring.expect(path, ID, COMMITMENT, next);
    let both = Keyring::parse(&keyring.encode(), Path::new("k")).unwrap();
    assert_eq!(both, keyring);
    for commitment in [COMMITMENT, next] {
        assert_eq!(both.check(ID, commitment), Pin::Pinned);
    }
    assert_eq!(both.check(ID, [0; 32]), Pin::Mismatch);
    // After a crash in between both are listed: the next pin keeps only the one given.
    keyring.add(ID, next).unwrap();
    assert_eq!(keyring.check(ID, COMMITMENT), Pin::Mismatch);
    assert_eq!(keyring.check(ID, next), Pin::Pinned);
}

#[test]
fn parse_reads_what_encode_writes() {
    let mut keyring = Keyring::default();
    for byte in 0..5 {
        keyring.add(DatabaseId([byte; 16]), [byte + 1; 32]).unwrap();
    }
    for only_listed in [false, true] {
        keyring.set_only_listed(only_listed);
        assert_eq!(Keyring::parse(&keyring.encode(), Path::new("k")).unwrap(), keyring);
    }
    assert_eq!(keyring.databases().count(), 5);
}

#[test]
fn parse_refuses_what_it_does_not_know_with_its_line() {
    let (id, commitment) = ("ab".repeat(16), "cd".repeat(32));
    for (text, problem) in [
        (
            "only_listd = true".to_owned(),
            "line 1: unknown key \"only_listd\", did you mean \"only_listed\"?",
        ),
        (
            "only_listed = 1".to_owned(),
            "line 1: only_listed must be true or false",
        ),
        (
            "databases = 1".to_owned(),
            "line 1: databases must be a table: [databases]",
        ),
        (
            format!("[databases]\nab = '{commitment}'"),
            "line 2: a database id has 32 hexadecimal digits",
        ),
        (
            format!("[databases]\n{id} = 'cd'"),
            "line 2: a commitment has 64 hexadecimal digits",
        ),
        (
            format!("[databases]\n{id} = ['{commitment}']"),
            "line 2: a database has one commitment, or two",
        ),
        (
            format!("[databases]\n{id} = ['{commitment}', 'cd']"),
            "line 2: a commitment has 64 hexadecimal digits",
        ),
        (
            format!("[databases]\n{id} = 7"),
            "line 2: a commitment must be a quoted string",
        ),
    ] {
        assert_eq!(complaint(&text), format!("k.toml, {problem}"), "{text}");
    }
    let twice = format!(
        "[databases]\n{id} = '{commitment}'\n{} = '{commitment}'",
        id.to_uppercase()
    );
    assert!(complaint(&twice).ends_with(": this database is listed twice"));
}

#[test]
fn update_makes_the_file_for_its_owner_and_leaves_it_alone_on_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keyring.toml");
    Keyring::update(&path, |keyring| keyring.add(ID, COMMITMENT)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Keyring::load(&path).unwrap().check(ID, COMMITMENT), Pin::Pinned);

    let before = fs::read(&path).unwrap();
    Keyring::update(&path, |keyring| {
        keyring.remove(ID);
        keyring.add(DatabaseId([1; 16]), COMMITMENT)?;
        Err::<(), _>(KeyError::NoKey)
    })
    .unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn concurrent_updates_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keyring.toml");
    thread::scope(|scope| {
        for byte in 0..8 {
            let path = &path;
            scope.spawn(move || Keyring::update(path, |keyring| keyring.add(DatabaseId([byte; 16]), COMMITMENT)));
        }
    });
    assert_eq!(Keyring::load(&path).unwrap().databases().count(), 8);
}

#[test]
fn load_needs_the_file_and_load_if_there_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keyring.toml");
    assert!(matches!(Keyring::load(&path), Err(KeyError::Io { verb: "read", .. })));
    assert_eq!(Keyring::load_if_there(&path).unwrap(), Keyring::default());
}

#[test]
fn a_keyring_that_is_cut_off_or_damaged_is_taken_or_refused() {
    let mut keyring = Keyring::default();
    keyring.add(ID, COMMITMENT).unwrap();
    let whole = keyring.encode();
    for end in 0..whole.len() {
        let _ = Keyring::parse(&whole[..end], Path::new("k"));
        for byte in ['\0', '"', '[', '=', '\u{e9}'] {
            let damaged = format!("{}{byte}{}", &whole[..end], &whole[end + 1..]);
            let _ = Keyring::parse(&damaged, Path::new("k"));
        }
    }
}
