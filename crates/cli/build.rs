//! Sets the commit that the program is built from: a study records it.

use std::process::Command;

fn main() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    let is_changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|text| !text.is_empty());
    let mark = if is_changed && !commit.is_empty() {
        "+changes"
    } else {
        ""
    };
    println!("cargo::rustc-env=SELENITE_COMMIT={commit}{mark}");
    println!("cargo::rerun-if-changed=build.rs");
    // Every commit and checkout adds a line to this file.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
}

/// The output of git; none without git or a repository, as in a source archive.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
