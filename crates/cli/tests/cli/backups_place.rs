//! Destinations of backups that are missing, are empty, or contain backups that are incomplete or
//! encrypted for other keys.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;

use crate::fixture::{Fixture, run};

fn by_key(fixture: &Fixture, words: &[&str]) -> crate::fixture::Ran {
    fixture.run(&[&["-i", "key.txt"], words].concat())
}

fn back_up(fixture: &Fixture, words: &[&str]) -> String {
    let ran = by_key(fixture, &[&["backup", "app.db", "backups", "--json"], words].concat());
    ran.done().json()["backup"].as_str().unwrap().to_owned()
}

fn change(fixture: &Fixture) {
    by_key(fixture, &["exec", "app.db", "INSERT INTO note (text) VALUES ('more')"]).done();
}

fn object(fixture: &Fixture, backup: &str, name: &str) -> PathBuf {
    let mut databases = std::fs::read_dir(fixture.path("backups")).unwrap();
    databases.next().unwrap().unwrap().path().join(backup).join(name)
}

const RESTORE: [&str; 4] = ["restore", "backups", "--to", "new.db"];

#[test]
fn a_place_that_is_not_there_is_an_error_and_an_empty_one_says_so() {
    let (fixture, _) = Fixture::encrypted();
    let commands: [&[&str]; 5] = [
        &["backups", "list", "backups"],
        &["backups", "verify", "backups"],
        &["backups", "prune", "backups", "--keep-last", "1"],
        &["drill", "backups"],
        &RESTORE,
    ];
    for words in commands {
        by_key(&fixture, words).failed(6, "can't open backups: ");
    }
    std::fs::write(fixture.path("backups"), "a file").unwrap();
    for words in commands {
        by_key(&fixture, words).failed(6, "can't open backups: ");
    }
    std::fs::remove_file(fixture.path("backups")).unwrap();
    std::fs::create_dir(fixture.path("backups")).unwrap();
    let listed = by_key(&fixture, commands[0]).done();
    assert_eq!(
        (listed.out.as_str(), listed.err.as_str()),
        ("no backups in backups\n", "")
    );
    for index in [1, 3, 4] {
        by_key(&fixture, commands[index]).failed(2, "no backups");
    }
    by_key(&fixture, commands[2]).done();
    // A backup that was begun and has no parts.
    let name = back_up(&fixture, &[]);
    std::fs::remove_file(object(&fixture, &name, "manifest")).unwrap();
    for index in [1, 3, 4] {
        by_key(&fixture, commands[index]).failed(2, "no finished backup");
    }
}

#[test]
fn a_created_folder_is_reported() {
    let (fixture, _) = Fixture::encrypted();
    let backup = |to: &str| by_key(&fixture, &["backup", "app.db", to]).done().err;
    assert_eq!(backup("slips/bakups"), "created the folder slips/bakups\n");
    assert_eq!(backup("slips/bakups"), "");
    std::fs::create_dir(fixture.path("there")).unwrap();
    assert_eq!(backup("there"), "");
}

#[test]
fn a_backup_that_lacks_a_part_is_not_called_complete_and_restore_names_the_part() {
    let (fixture, _) = Fixture::encrypted();
    let full = back_up(&fixture, &[]);
    change(&fixture);
    let above = back_up(&fixture, &["--incremental"]);
    let part = object(&fixture, &full, "part-00000000");
    let bytes = std::fs::read(&part).unwrap();
    std::fs::remove_file(&part).unwrap();
    let listed = by_key(&fixture, &["backups", "list", "backups"]).done();
    assert!(
        listed.out.contains("NOT complete: part-00000000: it is missing"),
        "{listed:?}"
    );
    assert!(
        listed.out.contains("complete, based on one that is NOT complete"),
        "{listed:?}"
    );
    assert!(
        listed.err.contains(&format!("{full}/part-00000000: it is missing\n")),
        "{listed:?}"
    );
    let json = by_key(&fixture, &["backups", "list", "backups", "--json"])
        .done()
        .json();
    let of = |name: &str| {
        json["backups"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (&of(&full)["complete"], &of(&above)["rests_on_whole"]),
        (&false.into(), &false.into())
    );
    for name in [&full, &above] {
        let ran = by_key(&fixture, &[&RESTORE[..], &["--backup", name]].concat());
        ran.failed(5, &format!("{full}/part-00000000 is missing"));
    }
    let ran = by_key(&fixture, &["backup", "app.db", "backups", "--incremental"]);
    ran.failed(5, "selenite backup app.db backups;");
    std::fs::write(&part, &bytes[..bytes.len() - 7]).unwrap();
    let listed = by_key(&fixture, &["backups", "list", "backups"]).done();
    assert!(
        listed
            .out
            .contains("NOT complete: part-00000000: its size is not that of a part"),
        "{listed:?}"
    );
    assert_eq!(fixture.names(), ["app.db", "backups"]);
}

/// The escrow identity is a recipient of the last backup, and of none before.
#[test]
fn what_the_keys_given_do_not_open_is_not_called_bad_or_missing() {
    let (fixture, _) = Fixture::encrypted();
    let full = back_up(&fixture, &[]);
    change(&fixture);
    let above = back_up(&fixture, &["--incremental"]);
    change(&fixture);
    let escrow = fixture.recipient("other.txt");
    let for_both = back_up(&fixture, &["--recipient", &escrow]);
    // An identity that is only a recipient cannot verify the origin.
    let doubted = fixture.run(&["-i", "other.txt", "backups", "verify", "backups"]);
    assert!(
        doubted.out.contains("0 good, 0 bad, 3 that the given keys do not open"),
        "{doubted:?}"
    );
    let verified = fixture.run(&["-i", "other.txt", "--origin", "any", "backups", "verify", "backups"]);
    assert!(
        verified
            .out
            .contains("1 good, 0 bad, 2 that the given keys do not open"),
        "{verified:?}"
    );
    for name in [&full, &above] {
        assert!(
            verified.err.contains(&format!("backup {name}: none of the keys")),
            "{verified:?}"
        );
    }
    verified.failed(4, "none of the keys given");
    let one = [
        "-i",
        "other.txt",
        "--origin",
        "any",
        "backups",
        "verify",
        "backups",
        "--backup",
        &for_both,
    ];
    fixture.run(&one).done();
    let listed = fixture
        .run(&["-i", "other.txt", "--origin", "any", "backups", "list", "backups"])
        .done();
    assert!(
        !listed.out.contains("missing") && listed.out.contains("not read"),
        "{listed:?}"
    );
    assert_eq!(listed.err.matches(full.as_str()).count(), 1, "{listed:?}");
    by_key(&fixture, &["backups", "verify", "backups"]).done();
}

#[test]
fn the_columns_of_a_list_stand_below_their_heads_and_help_says_what_they_are() {
    let (fixture, _) = Fixture::encrypted();
    back_up(&fixture, &[]);
    let listed = by_key(&fixture, &["backups", "list", "backups"]).done().out;
    let lines: Vec<&str> = listed.lines().collect();
    let end = |line: &str, word: &str| line.find(word).unwrap() + word.len();
    let size = lines[2].split("  ").find(|cell| cell.contains("KiB")).unwrap().trim();
    assert_eq!(end(lines[1], "SIZE"), end(lines[2], size), "{listed}");
    let help = fixture.run(&["backups", "list", "--help"]).done().out;
    assert!(
        help.contains("MADE is the time") && help.contains("PAGES its number"),
        "{help}"
    );
}

/// Pages that were bad when the backup was made with --skip-bad.
#[test]
fn a_drill_of_a_backup_that_lacks_pages_goes_on_if_that_is_meant() {
    let (fixture, path) = Fixture::encrypted();
    crate::fixture::flip_page(&path, 3);
    assert_eq!(
        by_key(&fixture, &["backup", "app.db", "backups", "--skip-bad"]).status,
        5
    );
    let ran = by_key(&fixture, &["drill", "backups"]);
    ran.failed(5, "it lacks pages that were not authentic: 3");
    let ran = by_key(&fixture, &["drill", "backups", "--allow-missing", "--json"]);
    assert_eq!(ran.json()["pages_missing"], serde_json::json!([3]));
    assert_eq!(ran.json()["good"], false);
    ran.failed(5, "without 1 page");
}

/// With a limit of the process, as a service manager may set it.
#[test]
fn exceeding_the_file_size_limit_is_an_error_and_leaves_nothing() {
    let (fixture, _) = Fixture::encrypted();
    back_up(&fixture, &[]);
    let mut command = Command::new("sh");
    // In blocks of 512 or 1024 bytes: enough for both superblocks, and hardly for a page.
    command.args(["-c", "ulimit -f 70; exec \"$@\"", "sh"]);
    let selenite = fixture.command(&[&["-i", "key.txt"], &RESTORE[..]].concat());
    command.arg(selenite.get_program()).args(selenite.get_args());
    command
        .current_dir(fixture.path(""))
        .env_clear()
        .env("HOME", fixture.path(""));
    run(&mut command).failed(6, "file size limit");
    assert_eq!(fixture.names(), ["app.db", "backups"]);
}

#[test]
fn a_folder_whose_name_is_not_utf_8_takes_backups() {
    let (fixture, _) = Fixture::encrypted();
    let place = std::ffi::OsStr::from_bytes(b"back\xffups");
    let run = |words: &[&str], more: &[&str]| run(fixture.command(words).arg(place).args(more)).done();
    let made = run(&["-i", "key.txt", "backup", "--json", "app.db"], &[]).json();
    let listed = run(&["backups", "list"], &[]).out;
    assert!(listed.contains(made["backup"].as_str().unwrap()), "{listed}");
    run(&["-i", "key.txt", "restore"], &["--to", "new.db"]);
    fixture.run(&["-i", "key.txt", "exec", "new.db", "SELECT 1"]).done();
    assert!(fixture.path("").join(place).is_dir());
}
