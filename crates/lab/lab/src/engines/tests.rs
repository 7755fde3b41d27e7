use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

const LIMIT: Duration = Duration::from_secs(60);

/// A worker in sh that reports `$NS` nanoseconds for its cipher; `environment` may change the variable.
fn fake(folder: &Path, engine: &str, masking: &str) -> PathBuf {
    let hello = format!(
        r#"{{"ok":{{"protocol":5,"engine":"{engine}","library":"sh","sqlite_version":"3","sqlite_source_id":"x","ciphers":["aes"],"without_aes":{{{masking}}}}}}}"#
    );
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do case \"$line\" in *hello*) echo '{hello}';; \
         *cipher*) echo \"{{\\\"ok\\\":{{\\\"seal_ns\\\":${{NS:-100}},\\\"open_ns\\\":${{NS:-100}}}}}}\";; *) exit;; esac; done\n"
    );
    let path = folder.join(format!("selenite-worker-{engine}"));
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Through sh, because execve of a script that was just written can fail as busy.
fn through_sh(path: &Path) -> WorkerCommand {
    WorkerCommand {
        args: vec![path.display().to_string()],
        ..WorkerCommand::new("/bin/sh")
    }
}

#[test]
fn engines_are_found_in_order_of_the_folders() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fake(second.path(), "sqlcipher", "");
    let own = WorkerCommand::new("/bin/selenite");
    let engines = Engines::new(own, vec![first.path().to_owned(), second.path().to_owned()]);
    let found = engines.find("sqlcipher", None).unwrap();
    assert_eq!(found.program, second.path().join("selenite-worker-sqlcipher"));
    let path = fake(first.path(), "sqlcipher", "");
    assert_eq!(engines.find("sqlcipher", None).unwrap().program, path);
    assert_eq!(
        engines.find("selenite", None).unwrap(),
        WorkerCommand::new("/bin/selenite")
    );
    assert_eq!(engines.find("x", Some(&path)).unwrap().program, path);
    assert_eq!(engines.names(), ["sqlite", "selenite", "sqlcipher"]);
}

#[test]
fn a_missing_engine_is_named_with_how_to_get_it() {
    let engines = Engines::new(WorkerCommand::new("/bin/selenite"), vec![PathBuf::from("/nowhere")]);
    let error = engines.find("sqlite3mc", None).unwrap_err();
    assert!(
        error.to_string().contains("\"sqlite3mc\"; searched /nowhere"),
        "{error}"
    );
    assert!(error.advice().contains("make peers"));
    assert!(
        !engines
            .find("oracle", None)
            .unwrap_err()
            .advice()
            .contains("make peers")
    );
    assert!(matches!(engines.find("../x", None), Err(EnginesError::Missing { .. })));
    let error = engines.find("x", Some(Path::new("/nowhere/x"))).unwrap_err();
    assert!(matches!(error, EnginesError::NoFile { .. }), "{error}");
}

#[test]
fn folders_are_in_order_and_none_is_empty() {
    let folders = folders(
        OsStr::new("/a::/b"),
        Some(Path::new("/p/target/release")),
        OsStr::new("/bin"),
    );
    let expected = [
        "/a",
        "/b",
        "/p/target/release",
        "/p/target/release/peers",
        "/p/target/release/../peers",
    ];
    assert_eq!(folders[..5], expected.map(PathBuf::from));
    assert_eq!(folders.last(), Some(&PathBuf::from("/bin")));
}

#[test]
fn a_mask_is_proved_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let slow = through_sh(&fake(folder.path(), "slow", r#""NS":"301""#));
    let (masked, with, without) = without_aes(&slow, "aes", LIMIT).unwrap();
    assert_eq!(masked.environment["NS"], "301");
    assert_eq!((with.open_ns, without.open_ns), (100.0, 301.0));

    let same = through_sh(&fake(folder.path(), "same", r#""NS":"300""#));
    let error = without_aes(&same, "aes", LIMIT).unwrap_err().to_string();
    assert!(
        error.contains("cannot mask") && error.contains("100 ns") && error.contains("300 ns"),
        "{error}"
    );

    let none = through_sh(&fake(folder.path(), "none", ""));
    let error = without_aes(&none, "aes", LIMIT).unwrap_err();
    assert!(matches!(error, EnginesError::NotMasked { times: None, .. }), "{error}");
}

#[test]
fn a_time_of_zero_proves_no_mask() {
    let time = |ns| CipherTime {
        seal_ns: ns,
        open_ns: ns,
    };
    assert!(!is_masked(time(0.0), time(100.0)));
    assert!(!is_masked(time(f64::NAN), time(100.0)));
    assert!(is_masked(time(100.0), time(300.1)));
}
