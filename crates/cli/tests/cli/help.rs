//! The help of the command.

use crate::fixture::{Fixture, run};

#[test]
fn every_command_shows_an_example() {
    let fixture = Fixture::new();
    for command in [
        vec![],
        vec!["keygen"],
        vec!["init"],
        vec!["doctor"],
        vec!["encrypt"],
        vec!["decrypt"],
        vec!["status"],
        vec!["verify"],
        vec!["salvage"],
        vec!["restore"],
        vec!["exec"],
        vec!["serve"],
        vec!["backups"],
        vec!["backups", "list"],
        vec!["backups", "verify"],
        vec!["backups", "prune"],
        vec!["drill"],
        vec!["keys"],
        vec!["keys", "list"],
        vec!["keys", "add"],
        vec!["keys", "remove"],
        vec!["keys", "replace"],
        vec!["keys", "renew"],
        vec!["keys", "repair"],
        vec!["keys", "export"],
        vec!["keys", "import"],
        vec!["keys", "pin"],
        vec!["plan"],
        vec!["plan", "calibrate"],
        vec!["completions"],
    ] {
        let mut words = command.clone();
        words.push("--help");
        let help = fixture.run(&words).done().out;
        assert!(help.contains("Example:\n  selenite "), "{command:?}: {help}");
        assert!(help.lines().all(|line| line.len() <= 100), "{command:?}: {help}");
    }
    assert!(fixture.run(&["--help"]).out.contains("130  interrupted"));
}

/// Configurations of studies have keys too.
#[test]
fn the_help_of_the_lab_omits_identities() {
    let fixture = Fixture::new();
    for words in [
        &["lab", "--help"][..],
        &["lab", "run", "--help"],
        &["lab", "report", "-h"],
        &["lab", "gate", "--help"],
        &["plan", "--help"],
        &["plan", "calibrate", "--help"],
    ] {
        let help = fixture.run(words).done().out;
        assert!(
            !help.contains("--identity") && !help.contains("--allow-deprecated"),
            "{help}"
        );
    }
    for words in [&["--help"][..], &["exec", "--help"], &["keys", "add", "--help"]] {
        assert!(fixture.run(words).done().out.contains("--identity"), "{words:?}");
    }
    // Its position does not matter, as for every global option.
    fixture.run(&["-i", "key.txt", "lab", "init"]).done();
    fixture.run(&["lab", "-i", "key.txt", "init"]).done();
}

/// Global options are omitted from the help of commands to which they do not apply, and accepted
/// there all the same.
#[test]
fn help_leaves_out_options_that_do_not_apply() {
    let fixture = Fixture::new();
    let shown = |words: &[&str]| fixture.run(words).done().out;
    let keygen = shown(&["keygen", "--help"]);
    for option in ["--identity", "--origin", "--allow-deprecated"] {
        assert!(!keygen.contains(option), "{keygen}");
    }
    assert!(!shown(&["serve", "--help"]).contains("--origin"));
    let encrypt = shown(&["encrypt", "--help"]);
    assert!(
        encrypt.contains("--identity") && !encrypt.contains("--origin"),
        "{encrypt}"
    );
    assert!(shown(&["verify", "--help"]).contains("--origin"));
    fixture.run(&["keygen", "-i", "key.txt", "--origin", "any"]).done();
}

#[test]
fn completions_and_man_pages_name_every_command() {
    let fixture = Fixture::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = fixture.run(&["completions", shell]).done().out;
        assert!(!script.contains("man-pages"), "{shell}");
        for word in ["reencrypt", "physical-only", "keep-daily"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let script = fixture.run(&["completions", "bash"]).done().out;
    std::fs::write(fixture.path("selenite.bash"), script).unwrap();
    let mut syntax = std::process::Command::new("bash");
    syntax.arg("-n").arg(fixture.path("selenite.bash"));
    assert!(syntax.status().unwrap().success());
    fixture.run(&["man-pages", "man"]).done();
    for page in [
        "selenite.1",
        "selenite-verify.1",
        "selenite-keys-remove.1",
        "selenite-lab-run.1",
    ] {
        let text = std::fs::read_to_string(fixture.path("man").join(page)).unwrap();
        assert!(text.contains(".SH"), "{page}: {text}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = Fixture::new().run(&["--version"]).done().out;
    assert_eq!(version, format!("selenite {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn wrong_usage_is_exit_status_2() {
    let fixture = Fixture::new();
    for words in [
        vec![],
        vec!["encrpyt", "app.db"],
        vec!["encrypt"],
        vec!["encrypt", "app.db", "--cipher", "ROT13"],
        vec!["exec", "app.db", "SELECT 1", "--page-size", "1000", "--create"],
    ] {
        let ran = fixture.run(&words);
        assert_eq!(ran.status, 2, "{words:?}: {ran:?}");
    }
    fixture.plain("app.db", "CREATE TABLE t (a)");
    fixture
        .run(&["-i", "key.txt", "encrypt", "app.db", "--cipher", "none"])
        .failed(2, "NONE encrypts nothing");
    fixture
        .run(&["-i", "key.txt", "encrypt", "app.db", "--cipher", "triple_des_3key"])
        .failed(2, "deprecated");
}

/// A user may paste the key itself in place of its file's path.
#[test]
fn a_secret_key_in_an_argument_is_not_repeated() {
    let fixture = Fixture::new();
    fixture.plain("app.db", "CREATE TABLE t (a)");
    let ran = run(&mut fixture.command(&["-i", "AGE-SECRET-KEY-1QQQQQQ", "encrypt", "app.db"]));
    assert_eq!(ran.status, 2, "{ran:?}");
    assert!(!format!("{ran:?}").contains("1QQQQQQ"), "{ran:?}");
}

#[test]
fn keygen_writes_a_key_once_and_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    let mode = std::fs::metadata(fixture.path("key.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = std::fs::read(fixture.path("key.txt")).unwrap();
    fixture.run(&["keygen", "-o", "key.txt"]).failed(2, "key.txt");
    assert_eq!(std::fs::read(fixture.path("key.txt")).unwrap(), before);
    let ran = fixture.run(&["keygen"]).done();
    assert!(
        ran.out.contains("AGE-SECRET-KEY-1") && ran.err.starts_with("public key: age1"),
        "{ran:?}"
    );
}
