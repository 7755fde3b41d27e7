//! `selenite lab` with `selenite serve`: the cost of encryption in transit, end to end.

use std::collections::BTreeMap;
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
fn what_a_server_sends_is_proved_encrypted_counted_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("wire.toml"), WIRE).unwrap();
    lab(folder, &["run", "wire.toml", "--progress", "none"]).unwrap();
    lab(folder, &["report", "wire.lab.db", "--json", "w.json", "--md", "w.md"]).unwrap();
    let found: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("w.json")).unwrap()).unwrap();
    let arms = found["arms"].as_array().unwrap();
    let proofs: BTreeMap<&str, String> = arms
        .iter()
        .map(|arm| (arm["name"].as_str().unwrap(), arm["proof"].to_string()))
        .collect();
    let names: Vec<&str> = proofs.keys().copied().collect();
    assert_eq!(names, ["offload", "optional", "plain", "plain2", "require", "strict"]);
    assert!(proofs["require"].contains("TLSv1_2"), "{}", proofs["require"]);
    assert!(proofs["strict"].contains("TLSv1_3"), "{}", proofs["strict"]);
    assert!(proofs["optional"].contains("only its login is encrypted"));
    let cell = &found["cells"][0];
    assert_eq!(
        (&cell["work"], &cell["unit"]),
        (&"messages".into(), &"iteration of the loop".into())
    );
    let switches = |arm: &str| cell["levels"][arm]["metrics"]["switches"].as_f64().unwrap();
    for arm in names {
        let level = &cell["levels"][arm];
        // 40,002 DONEs of 13 bytes in packets with 4088 bytes of data.
        assert_eq!(
            (&level["pages"], &level["operations"]),
            (&128.0.into(), &20_000.0.into()),
            "{arm}"
        );
        assert!(
            level["metrics"]["write-chars"].as_f64().unwrap() > 520_026.0,
            "{arm}: {level}"
        );
    }
    // Each packet is passed to another thread, for which the session's thread need not yield its processor.
    assert!(switches("offload") > 0.0, "{cell}");
    let page = std::fs::read_to_string(folder.join("w.md")).unwrap();
    for part in [
        "### CPU time of the server for each packet",
        "| SQL Server 2014 | context switches | +60.5 % | +39.0 % |",
        "| Selenite, offload | 20000 turns, packets of 4096 bytes |",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn servers_and_databases_are_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mixed = WIRE.replacen(
        "engine = \"tds\"\ncipher = \"strict\"",
        "engine = \"selenite\"\ncipher = \"AES_256\"",
        1,
    );
    for (text, what) in [
        (mixed, "put them in a separate study"),
        (WIRE.replace("packet_size = 4096", "packet_size = 100"), "packet_size"),
        (
            WIRE.replace("kind = \"wire\"", "kind = \"cards\"\nrows = 5"),
            "needs data of kind `wire`",
        ),
        (
            WIRE.replace("cipher = \"strict\"", "cipher = \"strick\""),
            "did you mean `strict`?",
        ),
    ] {
        std::fs::write(folder.join("bad.toml"), text).unwrap();
        let error = lab(folder, &["run", "bad.toml", "--progress", "none"]).unwrap_err();
        assert!(error.contains(what), "{what}: {error}");
    }
}

const WIRE: &str = r#"
[study]
name = "wire"
seed = 7
sessions = 2
pairs = 2
budget = "10m"
block_timeout = "60s"

[data]
kind = "wire"

[arms.optional]
engine = "tds"
cipher = "optional"

[arms.require]
engine = "tds"
cipher = "require"

[arms.strict]
engine = "tds"
cipher = "strict"

[arms.offload]
engine = "tds"
cipher = "offload"

[[cells]]
name = "packets"
work = { kind = "messages", turns = 20000, packet_size = 4096 }
cache = "os"
gating = true
"#;
