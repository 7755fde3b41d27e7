//! Bad input: each kind has its own error, nothing is lost, other pages remain readable.

use selenite_testing::own_process;
use std::fs;

use super::fixture::{Fixture, check, code, edit, fill};

const NOT_A_DATABASE: i32 = 26;
const CORRUPT: i32 = 11;
const UNAUTHENTIC: i32 = 10 | (32 << 8);
const MISMATCH: i32 = 10 | (36 << 8);
const CANT_OPEN: i32 = 14;

fn open_and_read(fixture: &Fixture, name: &str) -> rusqlite::Result<()> {
    fixture
        .open(name, "")
        .and_then(|connection| connection.query_row("SELECT sum(length(body)) FROM t", [], |_| Ok(())))
}

#[test]
fn a_flipped_bit_in_a_page_is_an_error_of_that_page_alone() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    let whole = fs::read(&path).unwrap();
    let pages = (whole.len() - 65536) / 4096;
    for page in 1..=pages {
        for bit in [0, 2000 * 8 + 3, 4047 * 8, 4048 * 8 + 7, 4060 * 8, 4095 * 8 + 7] {
            edit(&path, |bytes| {
                bytes[65536 + (page - 1) * 4096 + bit / 8] ^= 1 << (bit % 8)
            });
            let connection = fixture.open("a.db", "").unwrap();
            let verdict = connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
            assert_ne!(verdict.as_deref(), Ok("ok"), "page {page}, bit {bit}");
            assert!(
                Fixture::last_error().contains(&format!("page {page} of the database")),
                "{}",
                Fixture::last_error()
            );
            if page > 2 {
                // Other pages: the schema, and the root of the table.
                connection
                    .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
                    .unwrap();
            }
            drop(connection);
            fs::write(&path, &whole).unwrap();
        }
    }
    check(&fixture.open("a.db", "").unwrap());
}

#[test]
fn one_bad_page_leaves_the_others_readable_on_the_same_connection() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    let connection = fixture.open("a.db", "").unwrap();
    let last = (fs::metadata(&path).unwrap().len() - 65536) / 4096;
    edit(&path, |bytes| {
        bytes[usize::try_from(65536 + (last - 1) * 4096 + 9).unwrap()] ^= 1
    });
    let mut good = 0;
    let mut bad = 0;
    for id in 1..=300 {
        match connection.query_row("SELECT name FROM t WHERE id = ?", [id], |row| row.get::<_, String>(0)) {
            Ok(_) => good += 1,
            error => {
                assert_eq!(code(error), UNAUTHENTIC);
                bad += 1;
            }
        }
    }
    assert!(good > 200, "{good} rows could be read");
    assert!(bad + good == 300);
}

#[test]
fn a_page_that_was_swapped_zeroed_or_taken_from_elsewhere_does_not_open() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    let other = fs::read(fixture.filled("b.db", "")).unwrap();
    let whole = fs::read(&path).unwrap();
    let place = |page: usize| 65536 + (page - 1) * 4096..65536 + page * 4096;
    let changes: [(&str, Vec<u8>); 3] = [
        ("another page", whole[place(3)].to_vec()),
        ("another database", other[place(2)].to_vec()),
        ("zeros", vec![0; 4096]),
    ];
    for (what, image) in changes {
        edit(&path, |bytes| bytes[place(2)].copy_from_slice(&image));
        assert_eq!(code(open_and_read(&fixture, "a.db")), UNAUTHENTIC, "{what}");
        assert!(
            Fixture::last_error().contains("page 2 of the database"),
            "{what}: {}",
            Fixture::last_error()
        );
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn a_torn_superblock_falls_back_and_a_tampered_one_does_not() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    let whole = fs::read(&path).unwrap();
    for place in [0, 32768] {
        // Torn: the checksum is wrong.
        edit(&path, |bytes| bytes[place + 300] ^= 1);
        check(&fixture.open("a.db", "").unwrap());
        fs::write(&path, &whole).unwrap();
    }
    // Both copies.
    edit(&path, |bytes| {
        bytes[300] ^= 1;
        bytes[32768 + 300] ^= 1;
    });
    assert_eq!(code(open_and_read(&fixture, "a.db")), CORRUPT);
    assert!(Fixture::last_error().contains("both superblocks"));
    fs::write(&path, &whole).unwrap();
    // Tampered: the checksum is right, and the generation newer, but the MAC is wrong.
    edit(&path, |bytes| {
        let mut forged = bytes[..32768].to_vec();
        let size = usize::from_be_bytes([0, 0, 0, 0, forged[24], forged[25], forged[26], forged[27]]);
        forged[32..40].copy_from_slice(&99_u64.to_be_bytes());
        let sum = selenite_cipher::sha256(&forged[..size - 32]);
        forged[size - 32..size].copy_from_slice(&sum);
        bytes[..32768].copy_from_slice(&forged);
    });
    assert_eq!(code(open_and_read(&fixture, "a.db")), CORRUPT);
    assert!(Fixture::last_error().contains("tampered"), "{}", Fixture::last_error());
}

#[test]
fn a_newer_version_is_named_before_any_key_is_used() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    edit(&path, |bytes| {
        for place in [0, 32768] {
            let size = usize::from_be_bytes([
                0,
                0,
                0,
                0,
                bytes[place + 24],
                bytes[place + 25],
                bytes[place + 26],
                bytes[place + 27],
            ]);
            bytes[place + 19] = 2;
            let sum = selenite_cipher::sha256(&bytes[place..place + size - 32]);
            bytes[place + size - 32..place + size].copy_from_slice(&sum);
        }
    });
    assert_eq!(code(open_and_read(&fixture, "a.db")), CANT_OPEN);
    assert!(Fixture::last_error().contains("version 2"), "{}", Fixture::last_error());
}

#[test]
fn a_wrong_key_and_a_key_of_the_wrong_size_differ() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    fixture.write_key("other.key", 8);
    assert_eq!(code(fixture.open_as("a.db", "other.key", "")), NOT_A_DATABASE);
    assert!(Fixture::last_error().contains("none of the keys"));
    fs::write(fixture.path("short.key"), [7; 31]).unwrap();
    assert_ne!(code(fixture.open_as("a.db", "short.key", "")), 0);
    assert!(Fixture::last_error().contains("31"), "{}", Fixture::last_error());
}

#[test]
fn no_key_is_an_error_for_a_new_database_and_an_old_one() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    for uri in [
        format!("file:{}?vfs=selenite", path.display()),
        format!("file:{}?vfs=selenite", fixture.path("new.db").display()),
    ] {
        let opened = rusqlite::Connection::open_with_flags(&uri, super::fixture::flags());
        let expected = if uri.contains("new.db") {
            CANT_OPEN
        } else {
            NOT_A_DATABASE
        };
        assert_eq!(code(opened), expected);
        assert!(
            Fixture::last_error().contains("no key given"),
            "{}",
            Fixture::last_error()
        );
    }
    assert_eq!(code(fixture.open_as("new.db", "missing.key", "")), CANT_OPEN);
    assert_ne!(code(fixture.open("new.db", "&cipher=TRIPLE_DES_3KEY")), 0);
    assert_ne!(code(fixture.open("new.db", "&cipher=NONE")), 0);
    assert!(!fixture.path("new.db").exists());
}

#[test]
fn an_older_reason_is_not_given_for_a_file_that_the_vfs_below_cannot_open() {
    own_process!();
    let fixture = Fixture::new();
    assert_eq!(code(fixture.open_as("a.db", "missing.key", "")), CANT_OPEN);
    assert!(
        Fixture::last_error().contains("missing.key"),
        "{}",
        Fixture::last_error()
    );
    fs::create_dir(fixture.path("a.db")).unwrap();
    assert_ne!(code(fixture.open("a.db", "")), 0, "a folder is not opened");
    assert_eq!(Fixture::last_error(), "");
}

#[test]
fn a_plain_or_emptied_or_foreign_file_is_refused_where_an_identity_is_in_force() {
    own_process!();
    let fixture = Fixture::new();
    let plain = rusqlite::Connection::open(fixture.path("plain.db")).unwrap();
    fill(&plain);
    plain.close().unwrap();
    assert_eq!(code(open_and_read(&fixture, "plain.db")), NOT_A_DATABASE);
    assert!(Fixture::last_error().contains("not encrypted"));
    check(&fixture.open("plain.db", "&plain=allow").unwrap());

    let path = fixture.filled("a.db", "");
    edit(&path, |bytes| bytes.truncate(65536));
    assert_eq!(code(open_and_read(&fixture, "a.db")), NOT_A_DATABASE);
    assert!(Fixture::last_error().contains("truncated"), "{}", Fixture::last_error());

    fs::write(fixture.path("text.db"), "no database at all".repeat(300)).unwrap();
    let before = fs::read(fixture.path("text.db")).unwrap();
    assert_eq!(code(open_and_read(&fixture, "text.db")), NOT_A_DATABASE);
    assert_eq!(fs::read(fixture.path("text.db")).unwrap(), before);
}

#[test]
fn a_file_that_shrinks_while_it_is_open_is_an_error_and_no_empty_answer() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    for size in [65536 + 3 * 4096, 65536 + 3 * 4096 + 100, 65536, 40000, 0] {
        let whole = fs::read(&path).unwrap();
        let connection = fixture.open("a.db", "").unwrap();
        connection.execute_batch("PRAGMA cache_size = 1").unwrap();
        check(&connection);
        edit(&path, |bytes| bytes.truncate(size));
        let read = connection.query_row("SELECT sum(length(body)) FROM t", [], |row| row.get::<_, i64>(0));
        assert_ne!(code(read), 0, "cut to {size}");
        drop(connection);
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn a_superblock_put_back_while_the_database_is_open_is_refused() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    let other = fs::read(fixture.filled("b.db", "")).unwrap();
    let connection = fixture.open("a.db", "").unwrap();
    check(&connection);
    edit(&path, |bytes| bytes[..65536].copy_from_slice(&other[..65536]));
    assert_eq!(
        code(connection.query_row("SELECT count(*) FROM t", [], |_| Ok(()))),
        CORRUPT
    );
    assert!(
        Fixture::last_error().contains("another database"),
        "{}",
        Fixture::last_error()
    );
}

#[test]
fn a_backup_from_a_plain_source_writes_nothing() {
    own_process!();
    let fixture = Fixture::new();
    let plain = rusqlite::Connection::open(fixture.path("plain.db")).unwrap();
    fill(&plain);
    let mut target = fixture.open("a.db", "").unwrap();
    let backup = rusqlite::backup::Backup::new(&plain, &mut target).unwrap();
    let outcome = backup.run_to_completion(1000, std::time::Duration::ZERO, None);
    assert_eq!(code(outcome), MISMATCH);
    drop(backup);
    drop(target);
    assert_eq!(fs::metadata(fixture.path("a.db")).unwrap().len(), 0);
}

#[test]
fn a_backup_between_encrypted_databases_is_whole() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    let source = fixture.open("a.db", "").unwrap();
    let mut target = fixture.open("b.db", "&cipher=AEGIS_256X4").unwrap();
    let backup = rusqlite::backup::Backup::new(&source, &mut target).unwrap();
    backup.run_to_completion(3, std::time::Duration::ZERO, None).unwrap();
    drop(backup);
    check(&target);
}

#[test]
fn another_page_size_is_logged_and_vacuum_leaves_the_database_as_it_is() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    let connection = fixture.open("a.db", "").unwrap();
    connection.execute_batch("PRAGMA page_size = 8192; VACUUM").unwrap();
    check(&connection);
    let found: i64 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
    assert_eq!(found, 4096);
}

#[test]
fn an_encrypted_database_is_not_attached_to_a_main_on_another_vfs() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    let elsewhere = rusqlite::Connection::open_with_flags(fixture.path("plain.db"), super::fixture::flags()).unwrap();
    let uri = |extra: &str| {
        format!(
            "ATTACH 'file:{}?vfs=selenite&selenite_identity=raw:{}{extra}' AS other",
            fixture.path("a.db").display(),
            fixture.path("raw.key").display()
        )
    };
    let read = elsewhere
        .execute_batch(&uri(""))
        .and_then(|()| elsewhere.execute_batch("SELECT * FROM other.t"));
    assert_ne!(code(read), 0);
    assert!(
        Fixture::last_error().contains("another VFS"),
        "{}",
        Fixture::last_error()
    );
    let allowed = rusqlite::Connection::open_with_flags(fixture.path("plain.db"), super::fixture::flags()).unwrap();
    allowed.execute_batch(&uri("&plain=allow")).unwrap();
    allowed.execute_batch("SELECT count(*) FROM other.t").unwrap();
}

#[test]
fn unknown_settings_are_named() {
    own_process!();
    let fixture = Fixture::new();
    for (parameters, word) in [
        ("&page_size=1000", "page_size"),
        ("&cipher=AES_512", "AES_512"),
        ("&plain=yes", "plain"),
        ("&auto_vacuum=maybe", "auto_vacuum"),
    ] {
        assert_eq!(code(fixture.open("a.db", parameters)), CANT_OPEN);
        assert!(Fixture::last_error().contains(word), "{}", Fixture::last_error());
    }
}

/// FORMAT 6.1: an unencrypted log is not treated as an empty one, and not overwritten.
#[test]
fn a_wal_in_clear_beside_an_encrypted_database_is_refused() {
    own_process!();
    let fixture = Fixture::new();
    let path = fixture.filled("a.db", "");
    let connection = fixture.open("a.db", "").unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.close().unwrap();
    let plain = rusqlite::Connection::open(fixture.path("plain.db")).unwrap();
    plain.pragma_update(None, "journal_mode", "wal").unwrap();
    fill(&plain);
    let wal = path.with_extension("db-wal");
    fs::copy(fixture.path("plain.db-wal"), &wal).unwrap();
    let before = fs::read(&wal).unwrap();
    assert_eq!(code(open_and_read(&fixture, "a.db")), NOT_A_DATABASE);
    assert!(
        Fixture::last_error().contains("WAL is unencrypted"),
        "{}",
        Fixture::last_error()
    );
    assert_eq!(fs::read(&wal).unwrap(), before);
}

#[test]
fn a_key_in_sql_is_an_error_that_says_where_keys_come_from() {
    own_process!();
    let fixture = Fixture::new();
    fixture.filled("a.db", "");
    let connection = fixture.open("a.db", "").unwrap();
    for pragma in [
        "key = 'secret'",
        "KEY('secret')",
        "rekey = 'x'",
        "hexkey = '00'",
        "main.textkey = 'x'",
    ] {
        let error = connection.execute_batch(&format!("PRAGMA {pragma}")).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("keys cannot be given in SQL") && text.contains("SELENITE_IDENTITY"),
            "{pragma}: {text}"
        );
        assert!(!text.contains("secret"), "{text}");
    }
    let rows: i64 = connection
        .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
        .unwrap();
    assert!(rows > 0);
    connection.execute_batch("PRAGMA keyword = 1").unwrap();
}
