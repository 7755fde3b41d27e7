//! `selenite status` and `selenite verify`.

use std::sync::atomic::{AtomicBool, Ordering};

use selenite::Database;
use selenite::storage::Disk;

use crate::fixture::{Fixture, Ignored, NOTES, flip_page};

#[test]
fn status_needs_no_key_and_says_so() {
    let (fixture, _) = Fixture::encrypted();
    let without = fixture.run(&["status", "app.db"]).done().out;
    for word in [
        "encrypted    yes",
        "not checked: no key",
        "AES_256",
        "steady",
        &fixture.recipient("key.txt"),
    ] {
        assert!(without.contains(word), "{word}: {without}");
    }
    let with = fixture.run(&["-i", "key.txt", "status", "app.db"]).done().out;
    assert!(with.contains("authentic    yes, opened by key slot "), "{with}");
    fixture.plain("clear.db", NOTES);
    let clear = fixture.run(&["status", "clear.db"]).done().out;
    assert!(clear.contains("encrypted  no"), "{clear}");
    std::fs::write(fixture.path("noise.db"), [b'x'; 9000]).unwrap();
    fixture.run(&["status", "noise.db"]).failed(3, "not an SQLite database");
    fixture.run(&["status", "missing.db"]).failed(6, "missing.db");
}

#[test]
fn status_in_json_has_everything() {
    let (fixture, path) = Fixture::encrypted();
    let json = fixture
        .run(&["-i", "key.txt", "status", "app.db", "--json"])
        .done()
        .json();
    assert_eq!(json["encrypted"], true);
    assert_eq!(json["files"][0]["size"], std::fs::metadata(path).unwrap().len());
    let superblock = &json["superblock"];
    assert_eq!(
        (&superblock["authentic"], &superblock["pinned"]),
        (&true.into(), &false.into())
    );
    assert_eq!(
        (&superblock["suite"], &superblock["page_size"]),
        (&"AES_256".into(), &4096.into())
    );
    assert_eq!(superblock["slots"][0]["who"], fixture.recipient("key.txt"));
    assert_eq!(superblock["opened_by"], superblock["slots"][0]["id"]);
    assert_eq!(superblock["epochs"][0]["epoch"], 1);
    fixture.plain("clear.db", NOTES);
    let json = fixture.run(&["status", "clear.db", "--json"]).done().json();
    assert_eq!(
        (&json["encrypted"], &json["superblock"]),
        (&false.into(), &serde_json::Value::Null)
    );
}

#[test]
fn verify_finds_all_well() {
    let (fixture, _) = Fixture::encrypted();
    let text = fixture.run(&["-i", "key.txt", "verify", "app.db"]).done().out;
    assert!(text.contains("all of it") && text.contains("integrity    ok"), "{text}");
    let json = fixture
        .run(&["-i", "key.txt", "verify", "app.db", "--json"])
        .done()
        .json();
    assert_eq!((&json["authentic"], &json["bad_count"]), (&true.into(), &0.into()));
    assert_eq!(json["integrity_check"], serde_json::json!([]));
    assert!(json["page_count"].as_u64().unwrap() > 3);
    let physical = ["-i", "key.txt", "verify", "app.db", "--physical-only", "--json"];
    assert_eq!(
        fixture.run(&physical).done().json()["integrity_check"],
        serde_json::Value::Null
    );
    fixture.run(&["verify", "app.db"]).failed(4, "no key");
    fixture
        .run(&["-i", "other.txt", "verify", "app.db"])
        .failed(4, "none of the keys given");
}

#[test]
fn verify_lists_bad_pages_on_standard_error() {
    let (fixture, path) = Fixture::encrypted();
    flip_page(&path, 2);
    flip_page(&path, 5);
    for words in [
        vec!["-i", "key.txt", "verify", "app.db"],
        vec!["-i", "key.txt", "verify", "app.db", "--physical-only"],
    ] {
        let ran = fixture.run(&words).failed(5, "2 places not authentic");
        assert!(
            ran.err.starts_with("page 2: ") && ran.err.contains("\npage 5: "),
            "{ran:?}"
        );
        assert!(ran.out.contains("no: 2 bad places"), "{ran:?}");
    }
    let json = fixture
        .run(&["-i", "key.txt", "verify", "app.db", "--json"])
        .failed(5, "2 places")
        .json();
    assert_eq!(json["bad"][1]["page"], 5);
    assert_eq!(json["bad"][1]["file"], "database");
}

/// Pages that are each authentic but of different times.
#[test]
fn verify_finds_an_old_page_by_the_integrity_check() {
    let (fixture, path) = Fixture::encrypted();
    let old = std::fs::read(&path).unwrap();
    let sql =
        "DELETE FROM note WHERE id > 10; CREATE TABLE more (a); INSERT INTO more SELECT randomblob(900) FROM note";
    fixture.run(&["-i", "key.txt", "exec", "app.db", sql]).done();
    let mut new = std::fs::read(&path).unwrap();
    new[65536 + 4096..65536 + 2 * 4096].copy_from_slice(&old[65536 + 4096..65536 + 2 * 4096]);
    std::fs::write(&path, new).unwrap();
    fixture
        .run(&["-i", "key.txt", "verify", "app.db", "--physical-only"])
        .done();
    let ran = fixture
        .run(&["-i", "key.txt", "verify", "app.db"])
        .failed(5, "not consistent");
    assert!(ran.out.contains("all of it"), "{ran:?}");
}

/// A page that is read while it is written is read again, and not reported as bad.
#[test]
fn verify_finds_nothing_bad_while_others_write() {
    for mode in ["WAL", "DELETE"] {
        let (fixture, path) = Fixture::encrypted();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let database = Database::open(&Disk, &path, &fixture.access()).unwrap();
                let setup =
                    format!("PRAGMA journal_mode = {mode}; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 20");
                database.run(&setup, &mut Ignored).unwrap();
                while !done.load(Ordering::Relaxed) {
                    let sql = "INSERT INTO note (text) VALUES (hex(randomblob(2000)));
                               UPDATE note SET text = hex(randomblob(100)) WHERE id % 10 = abs(random()) % 10;
                               DELETE FROM note WHERE id > 500 AND (SELECT count(*) FROM note) > 800";
                    database.run(sql, &mut Ignored).unwrap();
                }
            });
            for _ in 0..15 {
                let ran = fixture.run(&["-i", "key.txt", "verify", "app.db", "--physical-only"]);
                if ran.status != 0 {
                    done.store(true, Ordering::Relaxed);
                }
                ran.done();
            }
            done.store(true, Ordering::Relaxed);
        });
    }
}

/// The other superblock still opens the database, so the damage would go unnoticed.
#[test]
fn a_damaged_superblock_is_reported_and_repaired() {
    let (fixture, path) = Fixture::encrypted();
    for (place, words) in [(100, "A damaged, B ok"), (32768 + 100, "A ok, B damaged")] {
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[place] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        for command in ["status", "verify"] {
            let ran = fixture.run(&["-i", "key.txt", command, "app.db"]).done();
            assert!(
                ran.out.contains(words) && ran.err.contains("keys repair app.db"),
                "{ran:?}"
            );
        }
        fixture.run(&["-i", "key.txt", "keys", "repair", "app.db"]).done();
        let ran = fixture.run(&["-i", "key.txt", "verify", "app.db", "--json"]).done();
        assert_eq!(ran.json()["superblocks"], serde_json::json!({ "a": "ok", "b": "ok" }));
        assert_eq!(ran.err, "");
    }
}

#[test]
fn salvage_says_what_was_lost_and_exits_by_it() {
    let (fixture, path) = Fixture::encrypted();
    let other = fixture.recipient("other.txt");
    fixture
        .run(&[
            "-i",
            "key.txt",
            "keys",
            "add",
            "app.db",
            &other,
            "--label",
            "backup host",
        ])
        .done();
    std::fs::write(fixture.path("key.raw.txt"), [7; 32]).unwrap();
    fixture
        .run(&["-i", "key.txt", "keys", "add", "app.db", "raw:key.raw.txt"])
        .done();
    let ran = fixture
        .run(&["-i", "key.txt", "salvage", "app.db", "--to", "saved.db"])
        .done();
    for word in [
        "salvaged   saved.db",
        "note: 500 rows",
        "lost       nothing",
        "backup host",
    ] {
        assert!(ran.out.contains(word), "{word}: {ran:?}");
    }
    assert!(ran.err.contains("raw key") && ran.err.contains("keys add"), "{ran:?}");
    let sum = "SELECT count(*), min(text) FROM note";
    fixture.run(&["-i", "other.txt", "keys", "accept", "saved.db"]).done();
    let rows = fixture.run(&["-i", "other.txt", "exec", "saved.db", sum]).done().out;
    assert!(rows.contains("500"), "{rows}");

    // The leaf in the middle of the table; the message names the page and its rows.
    flip_page(&path, 4);
    fixture
        .run(&["-i", "key.txt", "salvage", "app.db", "--to", "saved.db"])
        .failed(2, "already exists");
    let ran = fixture
        .run(&["-i", "key.txt", "salvage", "app.db", "--to", "part.db"])
        .failed(5, "not everything");
    assert!(ran.err.contains("page 4: not authentic\n"), "{ran:?}");
    assert!(
        ran.err.contains("table note: page 4: not authentic: rows above "),
        "{ran:?}"
    );
    assert!(ran.out.contains("1 page lost"), "{ran:?}");
    let ran = fixture.run(&["-i", "key.txt", "salvage", "app.db", "--to", "json.db", "--json"]);
    let json = ran.json();
    assert_eq!(
        (ran.status, &json["complete"], &json["bad_pages"]),
        (5, &false.into(), &serde_json::json!([4]))
    );
    let table = &json["tables"][0];
    assert_eq!((&table["name"], &table["lost_count"]), (&"note".into(), &1.into()));
    let (above, up_to) = (&table["lost"][0]["rows_above"], &table["lost"][0]["rows_up_to"]);
    let lost = up_to.as_u64().unwrap() - above.as_u64().unwrap();
    assert_eq!(table["rows"], 500 - lost);
    assert_eq!(json["dropped_slots"].as_array().unwrap().len(), 1);
    fixture.run(&["salvage", "app.db", "--to", "x.db"]).failed(4, "no key");
    fixture.run(&["-i", "key.txt", "verify", "part.db"]).done();
}

#[test]
fn a_database_whose_first_64_kib_are_gone_is_damaged_and_not_in_clear() {
    use std::io::{Seek, SeekFrom, Write};
    for filler in [0, b'x', 0xff] {
        let (fixture, path) = Fixture::encrypted();
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(&[filler; 65_536]).unwrap();
        drop(file);
        for words in [
            &["-i", "key.txt", "verify", "app.db"][..],
            &["status", "app.db"],
            &["-i", "key.txt", "salvage", "app.db", "--to", "saved.db"],
        ] {
            let ran = fixture.run(words).failed(5, "superblock");
            assert!(
                ran.err.contains("damaged") && !ran.err.contains("not encrypted"),
                "{ran:?}"
            );
        }
        let listed = fixture.run(&["status", ".", "--json"]).done().json();
        let codes = listed["databases"][0]["warnings"].to_string();
        assert!(codes.contains("damaged"), "{codes}");
    }
}

#[test]
fn what_only_looks_like_a_file_of_ours_is_no_database() {
    let fixture = Fixture::new();
    // Another product's file: random bytes at any page size.
    let noise: Vec<u8> = (0..200_000_u64)
        .flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23).to_le_bytes())
        .collect();
    std::fs::write(fixture.path("noise.db"), noise).unwrap();
    fixture.run(&["status", "noise.db"]).failed(3, "not an SQLite database");
    // Small numbers in the position of an epoch, without random bytes after them.
    let counts: Vec<u8> = (0..100_000_u32).flat_map(|_| 1_u32.to_be_bytes()).collect();
    std::fs::write(fixture.path("counts.db"), counts).unwrap();
    fixture
        .run(&["verify", "counts.db"])
        .failed(3, "not an SQLite database");
}

#[test]
fn a_key_file_that_others_can_read_is_a_warning_and_one_that_they_can_write_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let (fixture, _) = Fixture::encrypted();
    let set = |mode| std::fs::set_permissions(fixture.path("key.txt"), std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o644);
    let text = fixture.run(&["-i", "key.txt", "status", "app.db"]).done().out;
    assert!(
        text.contains("key file can be read by others: chmod go-r key.txt"),
        "{text}"
    );
    let json = fixture.run(&["-i", "key.txt", "status", ".", "--json"]).done().json();
    assert!(
        json["databases"][0]["warnings"].to_string().contains("key_readable"),
        "{json}"
    );
    let without = fixture.run(&["status", "app.db"]).done().out;
    assert!(!without.contains("can be read by others"), "{without}");
    set(0o666);
    fixture
        .run(&["-i", "key.txt", "status", "app.db"])
        .failed(4, "key.txt is not trusted: users other than its owner can write there");
    set(0o600);
    let text = fixture.run(&["-i", "key.txt", "status", "app.db"]).done().out;
    assert!(!text.contains("can be read by others"), "{text}");
}

#[test]
fn what_exists_already_and_a_wrong_configuration_are_errors_of_usage() {
    let fixture = Fixture::new();
    fixture.run(&["keygen", "-o", "key.txt"]).failed(2, "key.txt");
    std::fs::write(fixture.path("quick.toml"), "").unwrap();
    fixture
        .run(&["lab", "init", "quick", "--output", "quick.toml"])
        .failed(2, "already exists");
    std::fs::write(fixture.path("config.toml"), "identiy = 'key.txt'\n").unwrap();
    fixture.plain("store.lab.db", NOTES);
    let mut command = fixture.command(&["encrypt", "store.lab.db"]);
    let ran = crate::fixture::run(command.env("SELENITE_CONFIG", fixture.path("config.toml")));
    ran.failed(2, "did you mean \"identity\"?");
    fixture
        .run(&["lab", "aa", "store.lab.db"])
        .failed(2, "store.lab.db is a store (an SQLite database), not a configuration");
}
