//! Code other than tests does not call `unwrap()`: an `expect` states why it holds.

use std::collections::BTreeSet;

use crate::{
    finding::Finding,
    tree::{SourceFile, Tree},
};

/// Finds `.unwrap()` in code that is not compiled for tests only.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let test_modules = test_modules(tree);
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files() {
        if is_test_path(&file.path) || is_below(&file.path, &test_modules) {
            continue;
        }
        let test_parts = rust.test_parts();
        for (at, word) in rust.words() {
            let is_method = rust.code()[..at].trim_end().ends_with('.');
            let takes_nothing = rust.code()[at + word.len()..].starts_with("()");
            let is_in_test = test_parts.iter().any(|part| part.contains(&at));
            if word == "unwrap" && is_method && takes_nothing && !is_in_test {
                findings.push(Finding::error(
                    &file.path,
                    rust.line(at),
                    "`unwrap()` outside a test",
                    "return the error, or `expect(\"why it holds\")`",
                ));
            }
        }
    }
    findings
}

/// The paths, without `.rs`, of modules declared for tests only.
fn test_modules(tree: &Tree) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (file, rust) in tree.rust_files() {
        let folder = module_folder(file);
        let names = rust.test_module_names().into_iter();
        found.extend(names.map(|name| format!("{folder}/{name}")));
    }
    found
}

/// The folder of the modules that a file declares.
fn module_folder(file: &SourceFile) -> &str {
    let stem = file.path.trim_end_matches(".rs");
    match stem.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod")) => folder,
        _ => stem,
    }
}

fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| TEST_FOLDERS.contains(&part))
}

fn is_below(path: &str, modules: &BTreeSet<String>) -> bool {
    modules.iter().any(|module| {
        path.strip_prefix(module.as_str())
            .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    })
}

const TEST_FOLDERS: &[&str] = &["benches", "examples", "fuzz_targets", "tests"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let findings = check(&fixture(files)).into_iter();
        findings.map(|f| format!("{}:{}", f.path, f.line)).collect()
    }

    #[test]
    fn unwrap_is_refused_in_code_and_allowed_in_tests() {
        let text = "fn a() {\n    b()\n        .unwrap();\n}\n#[cfg(test)]\nmod tests { fn c() { d().unwrap(); } }\n";
        assert_eq!(found(&[("crates/x/src/a.rs", text)]), ["crates/x/src/a.rs:3"]);
        assert!(found(&[("crates/x/tests/a.rs", text)]).is_empty());
        assert!(found(&[("crates/x/benches/a.rs", text)]).is_empty());
    }

    #[test]
    fn a_test_module_in_its_own_file_may_unwrap() {
        let declares = "#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod fake_file;\n";
        let unwraps = "fn a() { b().unwrap(); }";
        let files = [
            ("crates/x/src/page.rs", declares),
            ("crates/x/src/page/tests.rs", unwraps),
            ("crates/x/src/page/fake_file.rs", unwraps),
            ("crates/x/src/page/fake_file/inner.rs", unwraps),
            ("crates/x/src/page/fake_files.rs", unwraps),
        ];
        assert_eq!(found(&files), ["crates/x/src/page/fake_files.rs:1"]);
    }

    #[test]
    fn a_crate_root_declares_modules_beside_itself() {
        let files = [
            ("crates/x/src/lib.rs", "#[cfg(test)]\nmod crash;\n"),
            ("crates/x/src/crash.rs", "fn a() { b().unwrap(); }"),
        ];
        assert!(found(&files).is_empty());
    }

    #[test]
    fn unwrapping_a_key_is_another_verb() {
        let text = "fn a() { identity.unwrap(id, slot); unwrap(); b.unwrap_or(c) }";
        assert!(found(&[("a.rs", text)]).is_empty());
    }
}
