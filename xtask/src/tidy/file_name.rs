//! A file is named for the one noun that it contains, never for a mixed content.

use crate::{finding::Finding, tree::Tree};

/// Finds files and folders with names that have no meaning.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        if !SOURCE_EXTENSIONS.contains(&file.extension()) {
            continue;
        }
        for part in file.path.split('/') {
            let stem = part.split('.').next().unwrap_or(part);
            if EMPTY_NAMES.contains(&stem.to_ascii_lowercase().as_str()) {
                findings.push(Finding::error(
                    &file.path,
                    1,
                    format!("`{part}` says nothing of what it holds"),
                    "name it for its one noun",
                ));
            }
        }
    }
    findings
}

const SOURCE_EXTENSIONS: &[&str] = &["c", "h", "js", "py", "rs", "sh", "ts"];
const EMPTY_NAMES: &[&str] = &[
    "common", "helper", "helpers", "manager", "managers", "misc", "util", "utils",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    #[test]
    fn meaningless_names_are_refused() {
        let tree = fixture(&[
            ("crates/storage/cipher/src/util.rs", ""),
            ("crates/storage/vfs/tests/common/mod.rs", ""),
            ("scripts/helpers.sh", ""),
            ("crates/storage/cipher/src/utility_bill.rs", ""),
            ("docs/misc.md", ""),
        ]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| f.path).collect();
        assert_eq!(
            found,
            [
                "crates/storage/cipher/src/util.rs",
                "crates/storage/vfs/tests/common/mod.rs",
                "scripts/helpers.sh"
            ]
        );
    }
}
