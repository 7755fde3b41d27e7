//! An ignored test states how it is run: it names a target of the Makefile.

use std::collections::BTreeSet;

use crate::{finding::Finding, tree::Tree};

/// Finds `#[ignore]` without a reason, and reasons that name no make target.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let targets = make_targets(tree);
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files() {
        for attribute in rust.attributes() {
            let is_ignore = attribute.content == "ignore" || attribute.content.starts_with("ignore=");
            // The scanned source masks strings; the text has the reason at the same offset.
            let reason = &file.text[attribute.span.clone()];
            if is_ignore && !named_target(reason).is_some_and(|name| targets.contains(name)) {
                findings.push(Finding::error(
                    &file.path,
                    rust.line(attribute.span.start),
                    "an ignored test names no make target",
                    "write `#[ignore = \"make soak: why it is not run always\"]`",
                ));
            }
        }
    }
    findings
}

/// The word after `make` in a reason.
fn named_target(reason: &str) -> Option<&str> {
    let (_, after) = reason.split_once("make ")?;
    after.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next()
}

fn make_targets(tree: &Tree) -> BTreeSet<&str> {
    let makefile = tree.file("Makefile").map_or("", |file| file.text.as_str());
    let rules = makefile.lines().filter_map(|line| line.split_once(':'));
    rules
        .filter(|(names, _)| !names.starts_with(['\t', '#', '.']))
        .flat_map(|(names, _)| names.split_whitespace())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    #[test]
    fn an_ignored_test_names_a_target_that_exists() {
        let text = "#[test]\n#[ignore]\nfn a() {}\n#[ignore = \"slow\"]\nfn b() {}\n\
            #[ignore = \"make soak: an hour\"]\nfn c() {}\n#[ignore = \"make sock: an hour\"]\nfn d() {}\n";
        let tree = fixture(&[("a.rs", text), ("Makefile", ".PHONY: a\nsoak: need\n\tx: y\n")]);
        let lines: Vec<_> = check(&tree).iter().map(|f| f.line).collect();
        assert_eq!(lines, [2, 4, 8]);
    }
}
