//! Lints are silenced by `expect`, not `allow`: it states a reason, and fails when it is no longer needed.

use crate::{finding::Finding, tree::Tree};

/// Finds `#[allow(..)]`, `#![allow(..)]` and an `allow` inside `cfg_attr`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files() {
        for attribute in rust.attributes() {
            let content = &attribute.content;
            let is_conditional = content.starts_with("cfg_attr(") && content.contains(",allow(");
            if content.starts_with("allow(") || is_conditional {
                findings.push(Finding::error(
                    &file.path,
                    rust.line(attribute.span.start),
                    "a lint is silenced by `allow`",
                    "write `#[expect(lint, reason = \"...\")]`",
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

    fn lines(text: &str) -> Vec<usize> {
        let findings = check(&fixture(&[("a.rs", text)]));
        findings.iter().map(|f| f.line).collect()
    }

    #[test]
    fn every_form_of_allow_is_refused() {
        let text = "#![allow(dead_code)]\n#[ allow (unused)]\nfn a() {}\n#[cfg_attr(test, allow(unused))]\nfn b() {}";
        assert_eq!(lines(text), [1, 2, 4]);
    }

    #[test]
    fn expect_and_comments_are_allowed() {
        let text = "// #[allow(x)]\n#[expect(dead_code, reason = \"#[allow(y)]\")]\nfn a() {}\n#![warn(clippy::allow_attributes)]";
        assert!(lines(text).is_empty());
    }
}
