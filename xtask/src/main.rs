//! `cargo xtask`: the checks of this repository that no other tool makes.
//!
//! - no-dependencies: it has no dependencies: it is built first, and must not delay the start.
//! - read-only: it never changes a file.
//!
//! `cargo fmt` and `cargo clippy` check formatting and lints.
#![forbid(unsafe_code)]

mod error;
mod finding;
mod manifest;
mod module_graph;
mod rust_source;
mod tidy;
mod tree;

use std::{env, io::Write, path::Path, process::ExitCode};

use error::XtaskError;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments, &mut std::io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(EXIT_FINDINGS),
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::from(EXIT_ERROR)
        }
    }
}

/// Runs one command; returns true if there are no findings.
fn run(arguments: &[String], out: &mut dyn Write) -> Result<bool, XtaskError> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let commits_since = match words.as_slice() {
        ["tidy"] => None,
        ["tidy", "--commits", base] => Some(*base),
        _ => return Err(XtaskError::Usage),
    };
    // CARGO_MANIFEST_DIR is the folder where xtask was built, so the checkout does not depend on the current folder.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask is a folder of the repository");
    tidy::run(root, commits_since, out)
}

/// The tree or a commit breaks a rule.
const EXIT_FINDINGS: u8 = 1;
/// The check itself could not be made.
const EXIT_ERROR: u8 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_is_answered_with_the_usage() {
        let mut out = Vec::new();
        let error = run(&["tidyy".to_owned()], &mut out).unwrap_err();
        assert!(error.to_string().contains("usage: cargo xtask tidy"));
        assert!(out.is_empty());
    }
}
