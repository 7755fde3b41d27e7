//! `selenite backups` and `selenite drill`.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::Value;

use crate::fixture::Fixture;

/// A full backup, and an incremental one based on it.
fn backed_up() -> (Fixture, String, String) {
    let (fixture, _) = Fixture::encrypted();
    let made = |arguments: &[&str]| {
        let all = [&["-i", "key.txt", "backup", "app.db", "backups", "--json"], arguments].concat();
        fixture.run(&all).done().json()["backup"].as_str().unwrap().to_owned()
    };
    let full = made(&[]);
    fixture
        .run(&[
            "-i",
            "key.txt",
            "exec",
            "app.db",
            "INSERT INTO note (text) VALUES ('more')",
        ])
        .done();
    let above = made(&["--incremental"]);
    (fixture, full, above)
}

fn folder_of(fixture: &Fixture, name: &str) -> PathBuf {
    let mut databases = std::fs::read_dir(fixture.path("backups")).unwrap();
    databases.next().unwrap().unwrap().path().join(name)
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let all = list["backups"].as_array().unwrap();
    all.iter().find(|one| one["name"] == name).unwrap()
}

#[test]
fn backups_are_listed_with_a_key_and_without() {
    let (fixture, full, above) = backed_up();
    std::fs::write(fixture.path("backups/readme"), "mine").unwrap();
    let without = fixture.run(&["backups", "list", "backups"]).done();
    assert!(
        without.out.contains(&full) && without.out.contains("without a key"),
        "{without:?}"
    );
    assert!(
        without.out.contains("ignored 1 object of other programs"),
        "{without:?}"
    );
    let json = fixture.run(&["backups", "list", "backups", "--json"]).done().json();
    assert_eq!(
        (&json["by_key"], &named(&json, &full)["kind"]),
        (&Value::Bool(false), &Value::Null)
    );
    let json = fixture
        .run(&["-i", "key.txt", "backups", "list", "backups", "--json"])
        .done()
        .json();
    assert_eq!(named(&json, &full)["kind"], "full");
    assert_eq!(named(&json, &above)["base"], full);
    assert_eq!(named(&json, &above)["complete"], true);
    let text = fixture.run(&["-i", "key.txt", "backups", "list", "backups"]).done().out;
    assert!(
        text.contains(&format!("on {full}")) && text.contains("2 backups, "),
        "{text}"
    );
    let other = fixture.run(&["-i", "other.txt", "backups", "list", "backups"]).done();
    assert!(
        other.err.contains("none of the keys given") && other.out.contains("not read"),
        "{other:?}"
    );
    fixture
        .run(&["backups", "list", "backups", "--database", "xyz"])
        .failed(2, "not a database id");
}

#[test]
fn a_bad_backup_is_named_and_those_based_on_it_too() {
    let (fixture, full, above) = backed_up();
    let verify = ["-i", "key.txt", "backups", "verify", "backups"];
    let ran = fixture.run(&verify).done();
    assert!(
        ran.out.contains("2 good, 0 bad") && ran.out.contains("on 1 other"),
        "{ran:?}"
    );
    fixture.run(&["backups", "verify", "backups"]).failed(4, "no key given");
    fixture
        .run(&["-i", "other.txt", "backups", "verify", "backups"])
        .failed(4, "none of the keys given");
    let part = folder_of(&fixture, &full).join("part-00000000");
    let mut bytes = std::fs::read(&part).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&part, bytes).unwrap();
    let ran = fixture.run(&verify);
    assert_eq!(ran.status, 5, "{ran:?}");
    assert!(
        ran.err.contains(&format!("{full}/part-00000000: ")) && ran.err.contains("base is bad"),
        "{ran:?}"
    );
    let json = fixture
        .run(&[&verify[..], &["--json", "--backup", &above]].concat())
        .json();
    assert_eq!(
        (&json["bad"], &named(&json, &full)["verdict"]),
        (&Value::from(2), &Value::from("bad"))
    );
    fixture
        .run(&[&verify[..], &["--backup", "nonsense"]].concat())
        .failed(2, "not the name of a backup");
    fixture
        .run(&["-i", "key.txt", "drill", "backups"])
        .failed(5, "part-00000000");
}

#[test]
fn pruning_says_what_goes_and_why_the_rest_stays() {
    let (fixture, full, above) = backed_up();
    let prune = ["-i", "key.txt", "backups", "prune", "backups", "--keep-last", "1"];
    let ran = fixture.run(&prune).done();
    assert!(
        ran.out.contains(&format!("kept     {full}  base")) && ran.out.contains("0 backups removed"),
        "{ran:?}"
    );
    let newest = fixture
        .run(&["-i", "key.txt", "backup", "app.db", "backups", "--json"])
        .done()
        .json();
    let newest = newest["backup"].as_str().unwrap();
    // Of two backups of the same second, either is the newest.
    let dry = fixture
        .run(&[&prune[..], &["--dry-run", "--json"]].concat())
        .done()
        .json();
    let text = dry.to_string();
    assert!(
        text.contains(&full) && text.contains(&above) && text.contains(newest),
        "{text}"
    );
    let count = |ran: &Value, what: &str| ran[what].as_array().unwrap().len();
    assert_eq!(count(&dry, "kept") + count(&dry, "removed"), 3);
    let done = fixture.run(&[&prune[..], &["--json"]].concat()).done().json();
    assert_eq!(done["removed"], dry["removed"]);
    fixture.run(&["-i", "key.txt", "backups", "verify", "backups"]).done();
    let ran = fixture.run(&["-i", "other.txt", "backups", "prune", "backups", "--keep-last", "1"]);
    ran.failed(4, "none of the keys given");
    let ran = fixture.run(&["-i", "key.txt", "backups", "prune", "backups", "--keep-within", "3"]);
    assert!(ran.status == 2 && ran.err.contains("36h"), "{ran:?}");
}

#[test]
fn a_drill_restores_checks_and_leaves_nothing() {
    let (fixture, _, above) = backed_up();
    std::fs::create_dir(fixture.path("scratch")).unwrap();
    // By name, because of two backups of the same second either is the newest.
    let drill = [
        "-i",
        "key.txt",
        "drill",
        "backups",
        "--scratch",
        "scratch",
        "--backup",
        &above,
    ];
    let ran = fixture.run(&drill).done();
    assert!(
        ran.out.contains(&above) && ran.out.contains("time to restore"),
        "{ran:?}"
    );
    let json = fixture.run(&[&drill[..], &["--json"]].concat()).done().json();
    assert_eq!(
        (&json["good"], &json["backups_read"], &json["bad_count"]),
        (&Value::Bool(true), &2.into(), &0.into())
    );
    assert_eq!(json["integrity_check"], Value::Array(Vec::new()));
    fixture
        .run(&["-i", "other.txt", "drill", "backups", "--scratch", "scratch"])
        .failed(4, "none of the keys given");
    assert_eq!(std::fs::read_dir(fixture.path("scratch")).unwrap().count(), 0);
    fixture
        .run(&["-i", "key.txt", "drill", "backups", "--scratch", "nowhere"])
        .failed(6, "nowhere");
}

#[test]
fn a_drill_with_an_escrow_key_says_what_a_restore_would_need() {
    let (fixture, _) = Fixture::encrypted();
    let escrow = fixture.recipient("other.txt");
    fixture
        .run(&["-i", "key.txt", "backup", "app.db", "backups", "-r", &escrow])
        .done();
    let refused = fixture.run(&["-i", "other.txt", "drill", "backups"]);
    refused.failed(4, "--origin any");
    let ran = fixture
        .run(&["-i", "other.txt", "--origin", "any", "drill", "backups"])
        .done();
    assert!(ran.err.contains("--for"), "{ran:?}");
}

/// Whether it ends by itself or by a signal.
#[test]
fn a_drill_that_is_stopped_leaves_nothing() {
    let (fixture, _, _) = backed_up();
    let scratch = fixture.path("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let left = scratch.join("selenite-drill-0123456789abcdef");
    std::fs::create_dir(&left).unwrap();
    std::fs::set_permissions(&left, std::fs::Permissions::from_mode(0o700)).unwrap();
    for signal in ["INT", "TERM"] {
        let mut child = fixture
            .command(&["-i", "key.txt", "drill", "backups", "--scratch", "scratch"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Once its folder exists, it handles signals. It may have ended before: in both cases
        // nothing may be left.
        let is_at_work = || {
            std::fs::read_dir(&scratch)
                .unwrap()
                .any(|entry| entry.unwrap().path() != left)
        };
        while !is_at_work() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &child.id().to_string()])
            .status();
        sent.unwrap();
        let status = child.wait().unwrap();
        assert!([Some(0), Some(130)].contains(&status.code()), "{status:?}");
        assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0, "{signal}");
    }
}
