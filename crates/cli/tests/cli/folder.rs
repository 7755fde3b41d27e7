//! `selenite status` of a folder.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use selenite::State;
use selenite_keyring::{Cache, Config, Trust, Unlocked};
use serde_json::Value;

use crate::exposition::{Sample, parse};
use crate::fixture::{Fixture, NOTES, Ran, flip_page, run};

/// An encrypted database in `srv`, an unencrypted one, an unencrypted copy, a damaged one and
/// another product's.
fn scene() -> Fixture {
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("srv")).unwrap();
    for name in ["srv/app.db", "srv/torn.db"] {
        fixture.plain(name, NOTES);
        fixture.run(&["-i", "key.txt", "encrypt", name]).done();
    }
    let mut bytes = fs::read(fixture.path("srv/torn.db")).unwrap();
    (bytes[100], bytes[32868]) = (bytes[100] ^ 1, bytes[32868] ^ 1);
    fs::write(fixture.path("srv/torn.db"), bytes).unwrap();
    // As if they had been encrypted on another machine: this one has no record of a verification.
    fs::remove_dir_all(fixture.path(".local/state/selenite")).unwrap();
    fixture.plain("srv/app.db.bak", NOTES);
    fixture.plain("srv/clear.db", NOTES);
    fs::write(fixture.path("srv/other.db"), [0xaa; 9000]).unwrap();
    fixture
}

fn line<'a>(ran: &'a Ran, start: &str) -> &'a str {
    let found = ran.out.lines().find(|line| line.starts_with(&format!("{start} ")));
    found.unwrap_or_else(|| panic!("{start} in {}", ran.out))
}

fn entry<'a>(object: &'a Value, path: &str) -> &'a Value {
    let databases = object["databases"].as_array().unwrap();
    let found = databases.iter().find(|one| one["path"] == path);
    found.unwrap_or_else(|| panic!("{path} in {object:#}"))
}

fn codes(entry: &Value) -> Vec<&str> {
    let warnings = entry["warnings"].as_array().unwrap();
    warnings.iter().map(|one| one["code"].as_str().unwrap()).collect()
}

fn find<'a>(samples: &'a [Sample], name: &str, path: &str) -> Option<&'a Sample> {
    let mut found = samples
        .iter()
        .filter(|one| one.name == name && one.labels.get("path").is_none_or(|of| of == path));
    let first = found.next();
    assert!(found.next().is_none(), "more than one {name} of {path}");
    first
}

fn value(samples: &[Sample], name: &str, path: &str) -> f64 {
    find(samples, name, path)
        .unwrap_or_else(|| panic!("{name} of {path} in {samples:#?}"))
        .value
}

fn unlocked(fixture: &Fixture, path: &Path) -> Unlocked {
    let spec = format!("age:{}", fixture.path("key.txt").display());
    let identities = selenite_keyring::load_identity(&spec, &Config::default()).unwrap();
    let bytes = fs::read(path).unwrap();
    selenite_keyring::unlock(&bytes[..32768], &identities, &Trust::default(), &Cache::new()).unwrap()
}

/// Changes a superblock in both positions, as only a holder of its keys can.
fn rewrite(fixture: &Fixture, name: &str, change: impl FnOnce(&mut Unlocked)) {
    let path = fixture.path(name);
    let mut next = unlocked(fixture, &path);
    next.superblock.generation += 1;
    change(&mut next);
    let bytes = next.encode().unwrap();
    let mut file = fs::read(&path).unwrap();
    for place in [0, 32768] {
        file[place..place + bytes.len()].copy_from_slice(&bytes);
    }
    fs::write(&path, file).unwrap();
}

#[test]
fn a_folder_is_a_table_with_a_summary() {
    let fixture = scene();
    let without = fixture.run(&["status", "srv"]).done();
    assert!(without.out.starts_with("PATH "), "{}", without.out);
    assert!(
        line(&without, "srv/app.db").contains("  says yes   AES_256  today"),
        "{}",
        without.out
    );
    assert!(without.out.contains("the file's own claim") && without.out.contains("another product"));
    let ran = fixture.run(&["-i", "key.txt", "status", "srv"]).done();
    let app = line(&ran, "srv/app.db");
    assert!(
        app.contains("  yes  ") && app.ends_with("never verified, unencrypted copy: app.db.bak"),
        "{app}"
    );
    assert!(line(&ran, "srv/clear.db").ends_with("unencrypted among encrypted databases"));
    assert!(line(&ran, "srv/torn.db").contains("  damaged  "), "{}", ran.out);
    assert!(line(&ran, "srv/other.db").contains("  unknown  "), "{}", ran.out);
    assert!(
        ran.out
            .contains("\n5 databases, 1 encrypted, 2 unencrypted, 1 damaged, 4 with warnings\n"),
        "{}",
        ran.out
    );
    let paths: Vec<&str> = ran
        .out
        .lines()
        .skip(1)
        .take(5)
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        paths,
        [
            "srv/app.db",
            "srv/app.db.bak",
            "srv/clear.db",
            "srv/other.db",
            "srv/torn.db"
        ]
    );
    fs::create_dir(fixture.path("nothing")).unwrap();
    assert_eq!(fixture.run(&["status", "nothing"]).done().out, "0 databases\n");
    fixture.run(&["status", "srv", "--pages"]).failed(2, "a folder");
}

#[test]
fn warnings_are_an_exit_status_if_that_is_asked_for() {
    let fixture = scene();
    for words in [
        ["srv", "--json"],
        ["srv", "--prometheus"],
        ["srv/app.db", "--json"],
        ["srv/torn.db", "--prometheus"],
    ] {
        let [path, format] = words;
        fixture.run(&["status", path, format]).done();
        let ran = fixture.run(&["status", path, format, "--fail-on-warning"]);
        assert!(ran.status == 1 && !ran.err.contains("error"), "{ran:?}");
    }
    fs::remove_file(fixture.path("srv/app.db.bak")).unwrap();
    fixture
        .run(&["status", "srv/app.db", "--verify-days", "0", "--fail-on-warning"])
        .done();
    fixture.run(&["-i", "key.txt", "verify", "srv/app.db"]).done();
    fixture.run(&["status", "srv/app.db", "--fail-on-warning"]).done();
    // For a single database, a damaged one is an error.
    fixture.run(&["status", "srv/torn.db"]).failed(5, "superblock");
}

#[test]
fn limits_are_options() {
    let fixture = scene();
    let long_ago = 1_600_000_000;
    rewrite(&fixture, "srv/app.db", |unlocked| {
        unlocked.superblock.master_created = long_ago;
        unlocked.superblock.epochs[0].created = long_ago;
    });
    let codes_with = |words: &[&str]| {
        let object = fixture
            .run(&[&["status", "srv", "--json"], words].concat())
            .done()
            .json();
        let codes = codes(entry(&object, "srv/app.db")).join(" ");
        (codes, object["limits"]["data_key_days"].as_u64().unwrap())
    };
    let verified = "never_verified plain_copy";
    assert_eq!(
        codes_with(&[]),
        (format!("data_key_old master_key_old {verified}"), 730)
    );
    let never = ["--data-key-days", "0", "--master-key-days", "36500"];
    assert_eq!(codes_with(&never), (verified.to_owned(), 0));
    assert_eq!(
        codes_with(&["--verify-days", "0"]).0,
        "data_key_old master_key_old plain_copy"
    );
}

#[test]
fn json_has_everything() {
    let fixture = scene();
    fixture
        .run(&["-i", "key.txt", "verify", "srv/app.db", "--physical-only"])
        .done();
    rewrite(&fixture, "srv/app.db", |unlocked| {
        unlocked.set_state(changing(), 3);
    });
    let object = fixture.run(&["-i", "key.txt", "status", "srv", "--json"]).done().json();
    assert_eq!(
        (&object["warned"], &object["unreadable"]),
        (&true.into(), &serde_json::json!([]))
    );
    assert!(object["time"].as_str().unwrap().ends_with('Z'));
    let app = entry(&object, "srv/app.db");
    assert_eq!((&app["kind"], &app["encrypted"]), (&"selenite".into(), &true.into()));
    assert_eq!(codes(app), ["unfinished", "plain_copy"]);
    assert_eq!(app["warnings"][1]["file"], "srv/app.db.bak");
    assert_eq!(app["size"], fs::metadata(fixture.path("srv/app.db")).unwrap().len());
    let verify = &app["last_verify"];
    assert_eq!(verify["kind"], "physical");
    assert!(verify["age_seconds"].as_u64().unwrap() < 600, "{verify}");
    let superblock = &app["superblock"];
    let page_count = superblock["page_count"].as_u64().unwrap();
    assert_eq!(superblock["percent"], 300 / page_count);
    assert_eq!(
        (&superblock["authentic"], &superblock["suite"]),
        (&true.into(), &"AES_256".into())
    );
    assert_eq!(superblock["superblocks"], serde_json::json!({ "a": "ok", "b": "ok" }));
    assert!(superblock["data_key_age_seconds"].as_u64().unwrap() < 600);
    assert!(superblock["master_key_created"].as_str().unwrap().ends_with('Z'));
    let torn = entry(&object, "srv/torn.db");
    assert_eq!((&torn["kind"], codes(torn)), (&"damaged".into(), vec!["damaged"]));
    assert!(torn["problem"].as_str().unwrap().contains("superblock") && torn["superblock"].is_null());
    for (path, kind) in [("srv/clear.db", "clear"), ("srv/other.db", "unknown")] {
        assert_eq!(entry(&object, path)["kind"], kind);
    }
}

fn changing() -> State {
    State::Changing
}

#[test]
fn prometheus_gets_metrics_of_all_databases() {
    let fixture = scene();
    fixture.run(&["-i", "key.txt", "verify", "srv/app.db"]).done();
    rewrite(&fixture, "srv/app.db", |unlocked| {
        unlocked.set_state(changing(), 1);
    });
    let samples = parse(
        &fixture
            .run(&["-i", "key.txt", "status", "srv", "--prometheus"])
            .done()
            .out,
    );
    let of = |name: &str, path: &str| value(&samples, &format!("selenite_database_{name}"), path);
    let app = "srv/app.db";
    let info = find(&samples, "selenite_database_info", app).unwrap();
    let label = |name: &str| info.labels[name].as_str();
    assert_eq!(
        [label("kind"), label("suite"), label("state"), label("authentic")],
        ["selenite", "AES_256", "changing key or suite", "yes"]
    );
    assert_eq!(label("database_id").len(), 32);
    assert_eq!((of("encrypted", app), of("encrypted", "srv/clear.db")), (1.0, 0.0));
    assert_eq!((of("damaged", app), of("damaged", "srv/torn.db")), (0.0, 1.0));
    assert_eq!((of("superblocks_whole", app), of("authentic", app)), (2.0, 1.0));
    for age in [
        "data_key_age_seconds",
        "master_key_age_seconds",
        "last_verify_age_seconds",
    ] {
        assert!((0.0..600.0).contains(&of(age, app)), "{age}");
        assert!(find(&samples, &format!("selenite_database_{age}"), "srv/clear.db").is_none());
    }
    let ratio = 1.0 / of("pages", app);
    assert!((of("reencryption_ratio", app) - ratio).abs() < 1e-3 && ratio < 0.5);
    assert_eq!((of("reencryption_active", app), of("warnings", app)), (1.0, 2.0));
    let warnings = samples
        .iter()
        .filter(|sample| sample.name == "selenite_database_warning" && sample.labels["path"] == app);
    let warnings: Vec<&str> = warnings.map(|sample| sample.labels["warning"].as_str()).collect();
    assert_eq!(warnings, ["plain_copy", "unfinished"]);
    assert!(find(&samples, "selenite_database_encrypted", "srv/other.db").is_none());
    assert_eq!((of("listed", ""), of("unreadable", "")), (5.0, 0.0));
    assert!(of("listed_timestamp_seconds", "") > 1_700_000_000.0);

    let one = parse(&fixture.run(&["status", app, "--prometheus"]).done().out);
    assert_eq!(value(&one, "selenite_database_listed", ""), 1.0);
    assert_eq!(value(&one, "selenite_database_authentic", app), 0.0);
    let torn = parse(&fixture.run(&["status", "srv/torn.db", "--prometheus"]).done().out);
    assert_eq!(value(&torn, "selenite_database_damaged", "srv/torn.db"), 1.0);
    fixture
        .run(&["status", "key.txt", "--prometheus"])
        .failed(3, "not an SQLite database");
}

#[test]
fn an_answer_replaces_a_file_in_one_step_for_everybody_to_read() {
    let fixture = scene();
    let path = fixture.path("srv/selenite.prom");
    for _ in 0..2 {
        let ran = fixture
            .run(&["status", "srv", "--prometheus", "--output", "srv/selenite.prom"])
            .done();
        assert_eq!(ran.out, "");
        assert_eq!(
            value(
                &parse(&fs::read_to_string(&path).unwrap()),
                "selenite_database_listed",
                ""
            ),
            5.0
        );
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    fixture.run(&["status", "srv", "-o", "srv/selenite.prom"]).done();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o604);
    assert!(fs::read_to_string(&path).unwrap().starts_with("PATH "));
    let left = fs::read_dir(fixture.path("srv")).unwrap().count();
    assert_eq!(left, 6, "the five databases and the answer");
    fixture
        .run(&["status", "srv", "-o", "/dev/null"])
        .failed(2, "not a file");
    fixture
        .run(&["status", "srv", "-o", "srv/app.db"])
        .failed(2, "a database");
    fixture.run(&["status", "srv/app.db"]).done();
    fixture
        .run(&["status", "srv", "-o", "missing/x"])
        .failed(6, "missing/x");
}

#[test]
fn strange_names_reach_neither_the_terminal_nor_prometheus_as_they_are() {
    let fixture = scene();
    let folder = fixture.path("srv");
    let names: [&[u8]; 4] = [
        b"a\x1b[2J\"\n.db",
        b"b\xff.db",
        b"b\\xff.db",
        "c\u{9b}\u{202e}.db".as_bytes(),
    ];
    for name in names {
        fs::copy(folder.join("clear.db"), folder.join(OsStr::from_bytes(name))).unwrap();
    }
    for format in [&[][..], &["--json"], &["--prometheus"]] {
        let ran = fixture.run(&[&["status", "srv"], format].concat()).done();
        let is_bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!ran.out.contains(is_bad), "{:?}", ran.out);
    }
    let object = fixture.run(&["status", "srv", "--json"]).done().json();
    assert_eq!(entry(&object, "srv/a\u{1b}[2J\"\n.db")["kind"], "clear");
    let samples = parse(&fixture.run(&["status", "srv", "--prometheus"]).done().out);
    for shown in [
        "a\\x1b[2J\"\\x0a.db",
        "b\\xff.db",
        "b\\\\xff.db",
        "c\\xc2\\x9b\\xe2\\x80\\xae.db",
    ] {
        assert_eq!(
            value(&samples, "selenite_database_encrypted", &format!("srv/{shown}")),
            0.0
        );
    }
}

#[test]
fn a_verify_is_kept_in_the_state_folder_and_not_if_it_found_something() {
    let fixture = scene();
    fs::remove_file(fixture.path("srv/app.db.bak")).unwrap();
    let verify = ["-i", "key.txt", "verify", "srv/app.db"];
    flip_page(&fixture.path("srv/app.db"), 2);
    fixture.run(&verify).failed(5, "1 place not authentic");
    flip_page(&fixture.path("srv/app.db"), 2);
    let never = fixture.run(&["status", "srv/app.db"]).done().out;
    assert!(
        never.contains("verified     no verification recorded") && never.contains("warnings     never verified"),
        "{never}"
    );
    fixture.run(&verify).done();
    assert_eq!(
        fs::read_dir(fixture.path(".local/state/selenite/verified"))
            .unwrap()
            .count(),
        1
    );
    let known = fixture.run(&["status", "srv/app.db"]).done().out;
    assert!(
        known.contains(", today, full") && !known.contains("warnings"),
        "{known}"
    );

    let elsewhere = |words: &[&str]| {
        let mut command = fixture.command(words);
        run(command.env("SELENITE_STATE", fixture.path("elsewhere"))).done()
    };
    assert!(
        elsewhere(&["status", "srv/app.db"])
            .out
            .contains("verified     no verification recorded")
    );
    elsewhere(&verify);
    assert!(elsewhere(&["status", "srv/app.db"]).out.contains(", today, full"));
    // If the result cannot be recorded, the verification still succeeds.
    let mut command = fixture.command(&verify);
    let ran = run(command.env("SELENITE_STATE", "/dev/null/x")).done();
    assert!(
        ran.err.contains("could not record this verification") && ran.out.contains("integrity    ok"),
        "{ran:?}"
    );
}

#[test]
fn an_encryption_counts_as_a_verification_of_pages() {
    let (fixture, _) = Fixture::encrypted();
    let status = fixture.run(&["status", "app.db"]).done().out;
    assert!(
        status.contains(", today, physical") && !status.contains("never verified"),
        "{status}"
    );
    let json = fixture.run(&["status", "app.db", "--json"]).done().json();
    let size = fs::metadata(fixture.path("app.db")).unwrap().len();
    assert_eq!(json["last_verify"]["page_count"], (size - 65_536) / 4096, "{json}");
    assert_eq!(json["last_verify"]["before_reencryption"], false, "{json}");
    fixture
        .run(&["-i", "key.txt", "reencrypt", "app.db", "--new-key"])
        .done();
    let status = fixture.run(&["status", "app.db"]).done().out;
    assert!(
        status.contains(", today, physical, before the last re-encryption"),
        "{status}"
    );
    let json = fixture.run(&["status", "app.db", "--json"]).done().json();
    assert_eq!(json["last_verify"]["before_reencryption"], true, "{json}");
    fixture.plain("second.db", NOTES);
    let mut command = fixture.command(&["-i", "key.txt", "encrypt", "second.db"]);
    let ran = run(command.env("SELENITE_STATE", "/dev/null/x")).done();
    assert!(ran.err.contains("could not record this verification"), "{ran:?}");
}

#[test]
fn the_plain_status_counts_pages_by_epoch_and_says_how_far_it_is() {
    let fixture = scene();
    let before = fixture.run(&["status", "srv/app.db"]).done().out;
    assert!(
        !before.contains("done up to") && !before.contains("pages of"),
        "{before}"
    );
    rewrite(&fixture, "srv/app.db", |unlocked| {
        unlocked.set_state(changing(), 2);
    });
    let object = fixture
        .run(&["status", "srv/app.db", "--pages", "--json"])
        .done()
        .json();
    let page_count = object["superblock"]["page_count"].as_u64().unwrap();
    let percent = 200 / page_count;
    assert_eq!(object["superblock"]["percent"], percent);
    assert_eq!(
        object["superblock"]["pages_by_epoch"],
        serde_json::json!({ "epochs": [{ "epoch": 1, "pages": page_count }], "blank": 0 })
    );
    let text = fixture.run(&["status", "srv/app.db", "--pages"]).done().out;
    assert!(text.contains(&format!("done up to   page 2, {percent} %\n")), "{text}");
    assert!(
        text.contains(&format!("pages of     epoch 1: {page_count}\n")),
        "{text}"
    );
}

#[test]
fn unreadable_files_are_reported_and_end_nothing() {
    let fixture = scene();
    // Standard input is a database of the folder: opening it again would release this process's locks.
    let input = fs::File::open(fixture.path("srv/clear.db")).unwrap();
    let mut command = fixture.command(&["status", "srv", "--json", "--fail-on-warning"]);
    let ran = run(command.stdin(input));
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.err.contains("cannot read srv/clear.db: this process has it open"),
        "{ran:?}"
    );
    let object = ran.json();
    assert_eq!(object["unreadable"][0]["path"], "srv/clear.db");
    assert_eq!(object["databases"].as_array().unwrap().len(), 4);
}
