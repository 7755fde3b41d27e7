use super::*;
use crate::Verdict;

fn host(kind: HostKind) -> Host {
    Host {
        kind,
        path: "/usr/bin/x".into(),
    }
}

/// The check of a Python that printed this.
fn python(printed: &str) -> Check {
    let host = host(HostKind::Python);
    host.judge(host.parse(printed), Some(Path::new("/nowhere/libselenite.so")), "0.1.0")
}

fn shell(printed: &str) -> Check {
    let host = host(HostKind::Shell);
    host.judge(host.parse(printed), None, "0.1.0")
}

#[test]
fn a_python_that_loads_the_extension_is_well() {
    let check = python(r#"{"program": "3.11.2", "sqlite": "3.40.1", "can_load": true, "loaded": "0.1.0"}"#);
    assert_eq!(
        check.to_string(),
        "ok: /usr/bin/x: Python 3.11.2, SQLite 3.40.1: loads the extension"
    );
}

#[test]
fn an_old_sqlite_is_a_problem() {
    let check = python(r#"{"program": "3.8.1", "sqlite": "3.39.4", "can_load": true, "error": "too old"}"#);
    assert_eq!(check.verdict, Verdict::Problem);
    assert!(check.finding.ends_with("SQLite 3.39.4: older than 3.40"), "{check}");
    assert!(check.advice.unwrap().contains("apsw"));
    assert_eq!(
        python(r#"{"program": "4", "sqlite": "4.0.0", "can_load": true}"#).verdict,
        Verdict::Ok
    );
}

#[test]
fn another_version_than_the_commands_is_a_problem() {
    let check = python(r#"{"program": "3.12.0", "sqlite": "3.45.0", "can_load": true, "loaded": "0.0.9"}"#);
    assert_eq!(check.verdict, Verdict::Problem);
    assert!(
        check
            .finding
            .ends_with("loads selenite 0.0.9, and this command is 0.1.0"),
        "{check}"
    );
}

#[test]
fn a_python_that_cannot_load_has_another_way() {
    let check = python(r#"{"program": "3.9.18", "sqlite": "3.40.1", "can_load": false}"#);
    assert_eq!(check.verdict, Verdict::Advice);
    assert!(check.finding.ends_with("cannot load extensions"), "{check}");
    assert!(
        check.advice.as_deref().unwrap().starts_with("the Python package"),
        "{check}"
    );
    let old = python(r#"{"program": "3.8.18", "sqlite": "3.40.1", "can_load": false}"#);
    assert!(old.advice.as_deref().unwrap().starts_with("use Python 3.9"), "{old}");
    let none = python(r#"{"program": "3.9.18", "error": "No module named '_sqlite3'"}"#);
    assert!(none.finding.contains("has no SQLite of its own"), "{none}");
    let node = host(HostKind::Node);
    let old = node.judge(
        node.parse(r#"{"program":"18.20.0","error":"Cannot find module"}"#),
        None,
        "0.1.0",
    );
    assert!(old.advice.unwrap().contains("better-sqlite3"));
}

#[test]
fn the_reason_of_a_file_that_does_not_fit_is_read_from_its_header() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libselenite.so");
    let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    bytes[18] = 21;
    std::fs::write(&file, bytes).unwrap();
    let host = host(HostKind::Python);
    let printed =
        r#"{"program": "3.11.2", "sqlite": "3.40.1", "can_load": true, "error": "cannot open shared object"}"#;
    let check = host.judge(host.parse(printed), Some(&file), "0.1.0");
    assert_eq!(check.verdict, Verdict::Problem);
    assert!(
        check.finding.contains("not loaded: it was made for machine 21"),
        "{check}"
    );
    assert!(
        python(printed)
            .finding
            .ends_with("not loaded: cannot open shared object")
    );
}

#[test]
fn the_shell_prints_lines() {
    assert!(shell("3.40.1\n0.1.0").finding.ends_with("loads the extension"));
    assert!(shell("3.40.1").finding.ends_with("can load extensions"));
    assert_eq!(shell("3.31.0\nError: x").verdict, Verdict::Problem);
    assert!(
        shell("3.40.1\nError: no file")
            .finding
            .ends_with("not loaded: Error: no file")
    );
    let omitted = shell("3.40.1\nError: unknown command or invalid arguments:  \"load\"");
    assert!(omitted.finding.ends_with("cannot load extensions"), "{omitted}");
    assert_eq!(load_statement(Path::new("a\"b\\c")), ".load \"a\\\"b\\\\c\"");
}

#[test]
fn an_error_of_the_shell_may_come_before_its_results() {
    let check = shell("Error: no file\n3.40.1");
    assert!(check.finding.ends_with("not loaded: Error: no file"), "{check}");
}

#[test]
fn a_program_that_another_user_could_have_put_there_is_not_run() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("python3");
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    std::fs::write(&file, "#!/bin/sh\necho run >&2\n").unwrap();
    mode(&file, 0o755);
    let own = std::fs::metadata(&file).unwrap().uid();
    assert_eq!(distrust(&file, own), None);
    if own != 0 {
        assert_eq!(distrust(&file, own + 1), Some("belongs to another user"));
    }
    mode(folder.path(), 0o1777);
    assert_eq!(distrust(&file, own), None);
    mode(folder.path(), 0o777);
    assert_eq!(distrust(&file, own), Some("every user can change it"));
    mode(folder.path(), 0o755);
    mode(&file, 0o777);
    let host = Host {
        kind: HostKind::Python,
        path: file,
    };
    let check = host.check(None, "0.1.0");
    assert_eq!(
        (check.verdict, check.finding.as_str()),
        (Verdict::Advice, "every user can change it")
    );
}

#[test]
fn a_program_that_does_not_run_or_prints_without_end_is_not_checked() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    for (script, told) in [
        ("#!/nowhere/python\n", "could not be run: "),
        ("#!/bin/sh\nexec yes\n", "answered more than 65536 bytes"),
        (
            "#!/bin/sh\nexec yes | tr -d '\\n' | head -c 5000\n",
            "does not answer as expected: yyy",
        ),
    ] {
        let path = folder.path().join("node");
        // Written by a process of its own: what this one has open to write, a child of another
        // thread may have, too, and cannot be executed (ETXTBSY).
        let write = ["-c", "printf %s \"$1\" >\"$2\"", "sh", script];
        let written = Command::new("sh").args(write).arg(&path).status().unwrap();
        assert!(written.success());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let host = Host {
            kind: HostKind::Node,
            path,
        };
        let check = host.check(None, "0.1.0");
        assert_eq!(check.verdict, Verdict::Advice, "{check}");
        assert!(check.finding.starts_with(told) && check.finding.len() < 300, "{check}");
    }
}

#[test]
fn a_program_that_answers_nonsense_is_not_checked() {
    for printed in ["", "Segmentation fault", "[1]"] {
        let check = python(printed);
        assert_eq!(check.verdict, Verdict::Advice);
        assert!(check.finding.starts_with("does not answer as expected"), "{check}");
    }
}

/// Debian's Python is there in every environment of the tests.
#[test]
fn a_python_of_this_machine_answers() {
    let python = Host {
        kind: HostKind::Python,
        path: "/usr/bin/python3".into(),
    };
    let check = python.check(None, "0.1.0");
    assert!(
        check.finding.starts_with("Python 3.") && check.finding.contains("SQLite 3."),
        "{check}"
    );
}
