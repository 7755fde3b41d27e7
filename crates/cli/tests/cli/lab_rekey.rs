//! `selenite lab`: work on a whole database, end to end.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn lab(folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selenite"));
    // As in `lab.rs`.
    command.env_remove("LD_PRELOAD");
    command.arg("lab").args(arguments).current_dir(folder);
    let output = command.env("SELENITE_CONFIG", "/dev/null").output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap()),
        false => Err(String::from_utf8(output.stderr).unwrap()),
    }
}

#[test]
fn a_key_is_changed_beside_a_copy_of_the_bytes_and_twins_keep_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("whole.toml"), WHOLE).unwrap();
    // If the database lost its key, the next cell and the comparison after the session would fail.
    lab(folder, &["run", "whole.toml", "--progress", "none"]).unwrap();
    let shown = lab(folder, &["report", "whole.lab.db", "--ascii"]).unwrap();
    lab(folder, &["report", "whole.lab.db", "--json", "w.json"]).unwrap();
    for part in ["an ordinary copy of the file's bytes", "VACUUM INTO"] {
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let found = std::fs::read_to_string(folder.join("w.json")).unwrap();
    let found: Value = serde_json::from_str(&found).unwrap();
    let cells = found["cells"].as_array().unwrap();
    let rekey = cells.iter().find(|cell| cell["name"] == "rekey").unwrap();
    assert_eq!(
        (&rekey["work"], &rekey["unit"]),
        (&"rekey".into(), &"change of key".into())
    );
    for (arm, level) in rekey["levels"].as_object().unwrap() {
        let metric = |name: &str| level["metrics"][name].as_f64().unwrap();
        // Everything is rewritten once, also by arms without a key, together with auxiliary data.
        let moved = metric("write-chars") / metric("database-bytes");
        assert!((0.9..1.5).contains(&moved), "{arm}: {moved} {level}");
        assert_eq!(level["blocks"], 4, "{arm}: {level}");
    }
}

#[test]
fn a_rekey_of_an_arm_without_a_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("none.toml"), WHOLE.replace("AEGIS_256X4", "NONE")).unwrap();
    let error = lab(folder, &["run", "none.toml"]).unwrap_err();
    assert!(error.contains("has no key, which cell `rekey` changes"), "{error}");
}

const WHOLE: &str = r#"
[study]
name = "whole"
seed = 7
sessions = 2
pairs = 2
budget = "10m"
block_timeout = "60s"

[data]
kind = "scan"
size = "1MiB"

[arms.AEGIS]
engine = "selenite"
cipher = "AEGIS_256X4"

[arms.age]
engine = "selenite"
cipher = "AES_256"
settings = { key = "age" }

[[cells]]
name = "rekey"
work = { kind = "rekey" }
cache = "os"
gating = true

[[cells]]
name = "decrypt"
work = { kind = "convert", to = "plain" }
cache = "os"
"#;
