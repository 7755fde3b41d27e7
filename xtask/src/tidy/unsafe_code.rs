//! Unsafe code is confined to two places; every other crate forbids it, so that a reviewer of
//! memory safety knows where to look.

use crate::{
    finding::Finding,
    rust_source::RustSource,
    tree::{SourceFile, Tree},
};

/// Finds `unsafe` elsewhere, and crate roots that do not forbid it.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files() {
        if !UNSAFE_PATHS.iter().any(|path| file.path.starts_with(path)) {
            for (at, _) in rust.words().filter(|(_, word)| *word == "unsafe") {
                findings.push(Finding::error(
                    &file.path,
                    rust.line(at),
                    "`unsafe` is used here",
                    "it lives in crates/storage/vfs/src/ffi and crates/storage/extension alone",
                ));
            }
        }
        findings.extend(root_fault(file, rust));
    }
    findings
}

/// A finding for a crate root that lacks its required attribute.
fn root_fault(file: &SourceFile, rust: &RustSource) -> Option<Finding> {
    let owed = owed_attribute(&file.path)?;
    let has_it = rust.attributes().iter().any(|a| a.is_inner && a.content == owed);
    (!has_it).then(|| {
        let why = "rustc then refuses what this scan might misread";
        Finding::error(&file.path, 1, format!("`#![{owed}]` is missing"), why)
    })
}

/// The required attribute of a crate root; `None` for other files, and for crates where all code may be unsafe.
fn owed_attribute(path: &str) -> Option<&'static str> {
    let (folder, file) = path.split_once("/src/")?;
    let is_root =
        matches!(file, "lib.rs" | "main.rs") || file.strip_prefix("bin/").is_some_and(|rest| !rest.contains('/'));
    match folder {
        _ if !is_root => None,
        "crates/storage/extension" => None,
        // `forbid` could not be lifted for the module inside.
        "crates/storage/vfs" => Some("deny(unsafe_code)"),
        _ => Some("forbid(unsafe_code)"),
    }
}

const UNSAFE_PATHS: &[&str] = &[
    "crates/storage/vfs/src/ffi/",
    "crates/storage/vfs/src/ffi.rs",
    "crates/storage/extension/",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    fn found(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&fixture(&[(path, text)]));
        findings.iter().map(|f| f.line).collect()
    }

    #[test]
    fn unsafe_is_refused_outside_its_modules() {
        let text = "// unsafe\nfn a() {\n    unsafe { b() }\n}\n";
        assert_eq!(found("crates/storage/vfs/src/main_file.rs", text), [3]);
        assert_eq!(found("crates/storage/vfs/tests/crash.rs", text), [3]);
        assert!(found("crates/storage/vfs/src/ffi/vtable.rs", text).is_empty());
        assert!(found("crates/storage/vfs/src/ffi.rs", text).is_empty());
        assert!(found("crates/storage/extension/src/entry.rs", text).is_empty());
    }

    #[test]
    fn a_crate_root_forbids_unsafe() {
        assert_eq!(found("crates/storage/cipher/src/lib.rs", "//! Pages.\n"), [1]);
        assert_eq!(found("xtask/src/main.rs", "#![deny(unsafe_code)]\n"), [1]);
        assert_eq!(found("crates/cli/src/bin/other.rs", ""), [1]);
        assert!(found("crates/storage/cipher/src/lib.rs", "#![forbid(unsafe_code)]\n").is_empty());
        assert!(found("crates/storage/cipher/src/bin/other/part.rs", "").is_empty());
        assert!(found("fuzz/fuzz_targets/superblock.rs", "").is_empty());
    }

    #[test]
    fn the_crate_with_an_unsafe_module_denies_unsafe() {
        assert_eq!(found("crates/storage/vfs/src/lib.rs", ""), [1]);
        assert!(found("crates/storage/vfs/src/lib.rs", "#![deny(unsafe_code)]\n").is_empty());
        assert!(found("crates/storage/extension/src/lib.rs", "").is_empty());
    }
}
