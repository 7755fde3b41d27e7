//! `selenite doctor`.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::fixture::{Fixture, NOTES, Ran};

/// The checks of a subject: verdict, finding, advice.
fn of(ran: &Ran, name: &str) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let checks = ran.json();
    let checks = checks.as_array().unwrap().iter().filter(|check| check["name"] == name);
    checks
        .map(|check| (text(&check["verdict"]), text(&check["finding"]), text(&check["advice"])))
        .collect()
}

fn one(ran: &Ran, name: &str) -> (String, String, String) {
    let mut checks = of(ran, name);
    assert_eq!(checks.len(), 1, "{name}: {ran:?}");
    checks.remove(0)
}

#[test]
fn every_finding_is_a_line_with_its_verdict() {
    let (fixture, _) = Fixture::encrypted();
    let ran = fixture.run(&["-i", "key.txt", "doctor", "app.db"]);
    assert!(ran.out.lines().count() > 8, "{ran:?}");
    for line in ran.out.lines() {
        let is_verdict = ["ok ", "advice ", "problem "]
            .iter()
            .any(|verdict| line.starts_with(verdict));
        assert!(is_verdict && line.contains(": "), "{line}");
    }
    for subject in [
        "cipher instructions",
        "system page size",
        "swap",
        "core dumps",
        "app.db: file system",
    ] {
        assert!(ran.out.contains(subject), "{subject}: {}", ran.out);
    }
    assert!(ran.out.contains("app.db: encrypted, AES_256"), "{}", ran.out);
}

#[test]
fn keys_and_databases_are_checked() {
    let (fixture, path) = Fixture::encrypted();
    fixture.plain("clear.db", NOTES);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
    let ran = fixture.run(&["-i", "key.txt", "doctor", "app.db", "clear.db", "--json"]);
    assert_eq!(one(&ran, "identity").0, "ok", "{ran:?}");
    let (verdict, finding, _) = one(&ran, "app.db: permissions");
    assert_eq!(
        (verdict.as_str(), finding.as_str()),
        ("advice", "mode 666: other users can write")
    );
    let clear = of(&ran, "clear.db");
    assert!(
        clear[0].1 == "not encrypted" && clear[0].2 == "selenite encrypt clear.db",
        "{clear:?}"
    );

    std::fs::set_permissions(fixture.path("key.txt"), std::fs::Permissions::from_mode(0o604)).unwrap();
    let ran = fixture.run(&["-i", "key.txt", "doctor", "missing.db", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert_eq!(
        one(&ran, "identity"),
        (
            "problem".to_owned(),
            "key.txt: other users can read the key".to_owned(),
            "chmod go-r key.txt".to_owned()
        )
    );
    assert_eq!(one(&ran, "missing.db").0, "problem");

    let ran = fixture.run(&["doctor", "--json"]);
    assert!(one(&ran, "identity").2.contains("selenite init"), "{ran:?}");
    let ran = fixture.run(&["-i", "absent.txt", "doctor", "--json"]);
    assert!(one(&ran, "identity").1.contains("absent.txt"), "{ran:?}");
    assert_eq!(ran.status, 1);
}

#[test]
fn a_key_command_is_asked_and_the_build_named() {
    let mut fixture = Fixture::new();
    let config = fixture.path("config.toml");
    let module = "pkcs11:token=app;object=k?module-path=/missing/module.so";
    let command = env!("CARGO_BIN_EXE_selenite");
    let text = format!("[commands]\nhsm = [{command:?}, \"key-service\", \"pkcs11\", \"--uri\", {module:?}]\n");
    std::fs::write(&config, text).unwrap();
    fixture
        .variables
        .push(("SELENITE_CONFIG", config.display().to_string()));
    let ran = fixture.run(&["-i", "command:hsm", "doctor", "--json"]);
    let (verdict, finding, _) = one(&ran, "identity");
    assert!(
        verdict == "problem" && finding.contains("key service \"hsm\" ended with"),
        "{finding}"
    );
    assert_eq!(one(&ran, "FIPS build").1, "no, the normal one");
}

#[test]
fn a_program_that_is_found_is_run_and_its_sqlite_judged() {
    let mut fixture = Fixture::new();
    let folder = fixture.path("bin");
    std::fs::create_dir(&folder).unwrap();
    let program = |name: &str, printed: &str| {
        let file = folder.join(name);
        std::fs::write(&file, format!("#!/bin/sh\necho '{printed}'\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file.display().to_string()
    };
    let old = program(
        "python3.7",
        r#"{"program": "3.7.0", "sqlite": "3.31.1", "can_load": true}"#,
    );
    let other = program(
        "python3.12",
        r#"{"program": "3.12.0", "sqlite": "3.45.0", "can_load": true, "loaded": "0.0.9"}"#,
    );
    let node = program("node", r#"{"program": "18.20.0", "error": "Cannot find module"}"#);
    fixture.variables = vec![("PATH", folder.display().to_string())];
    let ran = fixture.run(&["doctor", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let (verdict, finding, _) = one(&ran, &old);
    assert!(
        verdict == "problem" && finding.ends_with("SQLite 3.31.1: older than 3.40"),
        "{finding}"
    );
    let (verdict, finding, _) = one(&ran, &other);
    assert!(
        verdict == "problem" && finding.contains("loads selenite 0.0.9, and this command is "),
        "{finding}"
    );
    assert_eq!(one(&ran, &node).0, "advice");
}

#[test]
fn an_extension_for_another_machine_is_explained() {
    let fixture = Fixture::new();
    let mut bytes = std::fs::read(env!("CARGO_BIN_EXE_selenite")).unwrap();
    // The processor in the header of an ELF file: PowerPC, 64 bits.
    bytes[18] = 21;
    std::fs::write(fixture.path("libselenite.so"), &bytes).unwrap();
    let ran = fixture.run(&["doctor", "--extension", "libselenite.so", "--json"]);
    let (verdict, finding, advice) = one(&ran, "extension");
    assert_eq!((ran.status, verdict.as_str()), (1, "problem"), "{ran:?}");
    assert!(
        finding.contains("it was made for machine 21, and this machine is "),
        "{finding}"
    );
    assert!(advice.contains("install the package for this platform"), "{advice}");
}
