//! Destinations of backups that are missing, are empty, or contain backups that are incomplete or
//! encrypted for other keys.

use std::path::PathBuf;
use std::process::Command;

use crate::bench::{Bench, run};

fn by_key(bench: &Bench, words: &[&str]) -> crate::bench::Ran {
    bench.run(&[&["-i", "key.txt"], words].concat())
}

fn back_up(bench: &Bench, words: &[&str]) -> String {
    let ran = by_key(bench, &[&["backup", "app.db", "backups", "--json"], words].concat());
    ran.done().json()["backup"].as_str().unwrap().to_owned()
}

fn change(bench: &Bench) {
    by_key(bench, &["exec", "app.db", "INSERT INTO note (text) VALUES ('more')"]).done();
}

fn object(bench: &Bench, backup: &str, name: &str) -> PathBuf {
    let mut databases = std::fs::read_dir(bench.path("backups")).unwrap();
    databases.next().unwrap().unwrap().path().join(backup).join(name)
}

const RESTORE: [&str; 4] = ["restore", "backups", "--to", "new.db"];

#[test]
fn a_place_that_is_not_there_is_an_error_and_an_empty_one_says_so() {
    let (bench, _) = Bench::encrypted();
    let commands: [&[&str]; 5] = [
        &["backups", "list", "backups"],
        &["backups", "verify", "backups"],
        &["backups", "prune", "backups", "--keep-last", "1"],
        &["drill", "backups"],
        &RESTORE,
    ];
    for words in commands {
        by_key(&bench, words).failed(6, "can't open backups: ");
    }
    std::fs::write(bench.path("backups"), "a file").unwrap();
    for words in commands {
        by_key(&bench, words).failed(6, "can't open backups: ");
    }
    std::fs::remove_file(bench.path("backups")).unwrap();
    std::fs::create_dir(bench.path("backups")).unwrap();
    let listed = by_key(&bench, commands[0]).done();
    assert_eq!(
        (listed.out.as_str(), listed.err.as_str()),
        ("no backups in backups\n", "")
    );
    for index in [1, 3, 4] {
        by_key(&bench, commands[index]).failed(2, "no backups");
    }
    by_key(&bench, commands[2]).done();
    // A backup that was begun and has no parts.
    let name = back_up(&bench, &[]);
    std::fs::remove_file(object(&bench, &name, "manifest")).unwrap();
    for index in [1, 3, 4] {
        by_key(&bench, commands[index]).failed(2, "no finished backup");
    }
}

#[test]
fn a_created_folder_is_reported() {
    let (bench, _) = Bench::encrypted();
    let backup = |to: &str| by_key(&bench, &["backup", "app.db", to]).done().err;
    assert_eq!(backup("slips/bakups"), "created the folder slips/bakups\n");
    assert_eq!(backup("slips/bakups"), "");
    std::fs::create_dir(bench.path("there")).unwrap();
    assert_eq!(backup("there"), "");
}

#[test]
fn a_backup_that_lacks_a_part_is_not_called_complete_and_restore_names_the_part() {
    let (bench, _) = Bench::encrypted();
    let full = back_up(&bench, &[]);
    change(&bench);
    let above = back_up(&bench, &["--incremental"]);
    let part = object(&bench, &full, "part-00000000");
    let bytes = std::fs::read(&part).unwrap();
    std::fs::remove_file(&part).unwrap();
    let listed = by_key(&bench, &["backups", "list", "backups"]).done();
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
    let json = by_key(&bench, &["backups", "list", "backups", "--json"]).done().json();
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
        let ran = by_key(&bench, &[&RESTORE[..], &["--backup", name]].concat());
        ran.failed(5, &format!("{full}/part-00000000 is missing"));
    }
    let ran = by_key(&bench, &["backup", "app.db", "backups", "--incremental"]);
    ran.failed(5, "selenite backup app.db backups;");
    std::fs::write(&part, &bytes[..bytes.len() - 7]).unwrap();
    let listed = by_key(&bench, &["backups", "list", "backups"]).done();
    assert!(
        listed
            .out
            .contains("NOT complete: part-00000000: its size is not that of a part"),
        "{listed:?}"
    );
    assert_eq!(bench.names(), ["app.db", "backups"]);
}

/// The escrow identity is a recipient of the last backup, and of none before.
#[test]
fn what_the_keys_given_do_not_open_is_not_called_bad_or_missing() {
    let (bench, _) = Bench::encrypted();
    let full = back_up(&bench, &[]);
    change(&bench);
    let above = back_up(&bench, &["--incremental"]);
    change(&bench);
    let escrow = bench.recipient("other.txt");
    let for_both = back_up(&bench, &["--recipient", &escrow]);
    // An identity that is only a recipient cannot verify the origin.
    let doubted = bench.run(&["-i", "other.txt", "backups", "verify", "backups"]);
    assert!(
        doubted.out.contains("0 good, 0 bad, 3 that the given keys do not open"),
        "{doubted:?}"
    );
    let verified = bench.run(&["-i", "other.txt", "--origin", "any", "backups", "verify", "backups"]);
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
    bench.run(&one).done();
    let listed = bench
        .run(&["-i", "other.txt", "--origin", "any", "backups", "list", "backups"])
        .done();
    assert!(
        !listed.out.contains("missing") && listed.out.contains("not read"),
        "{listed:?}"
    );
    assert_eq!(listed.err.matches(full.as_str()).count(), 1, "{listed:?}");
    by_key(&bench, &["backups", "verify", "backups"]).done();
}

#[test]
fn the_columns_of_a_list_stand_below_their_heads_and_help_says_what_they_are() {
    let (bench, _) = Bench::encrypted();
    back_up(&bench, &[]);
    let listed = by_key(&bench, &["backups", "list", "backups"]).done().out;
    let lines: Vec<&str> = listed.lines().collect();
    let end = |line: &str, word: &str| line.find(word).unwrap() + word.len();
    let size = lines[2].split("  ").find(|cell| cell.contains("KiB")).unwrap().trim();
    assert_eq!(end(lines[1], "SIZE"), end(lines[2], size), "{listed}");
    let help = bench.run(&["backups", "list", "--help"]).done().out;
    assert!(
        help.contains("MADE is the time") && help.contains("PAGES its number"),
        "{help}"
    );
}

/// Pages that were bad when the backup was made with --skip-bad.
#[test]
fn a_drill_of_a_backup_that_lacks_pages_goes_on_if_that_is_meant() {
    let (bench, path) = Bench::encrypted();
    crate::bench::flip_page(&path, 3);
    assert_eq!(by_key(&bench, &["backup", "app.db", "backups", "--skip-bad"]).status, 5);
    let ran = by_key(&bench, &["drill", "backups"]);
    ran.failed(5, "it lacks pages that were not authentic: 3");
    let ran = by_key(&bench, &["drill", "backups", "--allow-missing", "--json"]);
    assert_eq!(ran.json()["pages_missing"], serde_json::json!([3]));
    assert_eq!(ran.json()["good"], false);
    ran.failed(5, "without 1 page");
}

/// With a limit of the process, as a service manager may set it.
#[test]
fn exceeding_the_file_size_limit_is_an_error_and_leaves_nothing() {
    let (bench, _) = Bench::encrypted();
    back_up(&bench, &[]);
    let mut command = Command::new("sh");
    // In blocks of 512 or 1024 bytes: enough for both superblocks, and hardly for a page.
    command.args(["-c", "ulimit -f 70; exec \"$@\"", "sh"]);
    let selenite = bench.command(&[&["-i", "key.txt"], &RESTORE[..]].concat());
    command.arg(selenite.get_program()).args(selenite.get_args());
    command
        .current_dir(bench.path(""))
        .env_clear()
        .env("HOME", bench.path(""));
    run(&mut command).failed(6, "file size limit");
    assert_eq!(bench.names(), ["app.db", "backups"]);
}
