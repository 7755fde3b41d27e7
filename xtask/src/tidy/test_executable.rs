//! A crate has one executable of integration tests, named as its folder. Each executable links
//! SQLite and AWS-LC again, executables run one after the other while the tests of one run in
//! parallel, and `make test` counts by their names.

use crate::{finding::Finding, tree::Tree};

/// Finds executables of integration tests below `crates/` with other names.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let Some((folder, executable)) = executable(&file.path) else {
            continue;
        };
        let name = folder.rsplit('/').next().unwrap_or(folder);
        if executable != name && tree.has(&format!("{folder}/Cargo.toml")) {
            let what = format!("`{executable}` is an executable of its own");
            let why =
                format!("make it a module of {folder}/tests/{name}/main.rs; `own_process!` gives a test a process");
            findings.push(Finding::error(&file.path, 1, what, why));
        }
    }
    findings
}

/// The crate's folder and the executable's name, if cargo builds an executable from this file.
fn executable(path: &str) -> Option<(&str, &str)> {
    let (folder, test) = path.strip_suffix(".rs")?.split_once("/tests/")?;
    let name = test.strip_suffix("/main").unwrap_or(test);
    (folder.starts_with("crates/") && !name.contains('/')).then_some((folder, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    #[test]
    fn only_the_executable_that_is_named_as_the_crate_is_allowed() {
        let paths = [
            "crates/x/a/tests/a/main.rs",
            "crates/x/a/tests/a/read.rs",
            "crates/x/a/tests/a/read/main.rs",
            "crates/x/a/tests/b.rs",
            "crates/x/a/tests/c/main.rs",
            "crates/x/b/tests/b.rs",
            "crates/x/b/src/parse/tests.rs",
            "crates/x/b/src/parse/tests/cut.rs",
        ];
        let mut files: Vec<_> = paths.map(|path| (path, "")).to_vec();
        files.extend([("crates/x/a/Cargo.toml", ""), ("crates/x/b/Cargo.toml", "")]);
        let found: Vec<_> = check(&fixture(&files))
            .into_iter()
            .map(|finding| finding.path)
            .collect();
        assert_eq!(found, ["crates/x/a/tests/b.rs", "crates/x/a/tests/c/main.rs"]);
    }
}
