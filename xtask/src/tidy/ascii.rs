//! `.rs` and `.toml` files are ASCII, so that no character can be confused with a similar one.

use crate::{finding::Finding, tree::Tree};

/// Finds the first character outside ASCII of every line.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        if !matches!(file.extension(), "rs" | "toml") {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            if let Some(character) = line.chars().find(|c| !c.is_ascii()) {
                findings.push(Finding::error(
                    &file.path,
                    index + 1,
                    format!("U+{:04X} is outside ASCII", u32::from(character)),
                    "look-alikes hide in code: use ASCII or an escape",
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    #[test]
    fn a_character_outside_ascii_is_refused_in_code_alone() {
        let tree = fixture(&[
            ("a.rs", "fn a() {}\n// caf\u{e9}"),
            ("b.toml", "x = \"\u{2192}\""),
            ("c.md", "caf\u{e9}"),
        ]);
        let found: Vec<_> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("a.rs:2: U+00E9"));
        assert!(found[1].starts_with("b.toml:1: U+2192"));
    }
}
