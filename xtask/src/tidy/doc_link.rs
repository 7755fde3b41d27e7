//! A relative link in a document refers to an existing file.

use crate::{finding::Finding, tree::Tree};

/// Finds relative links in `.md` files whose target does not exist.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files().iter().filter(|file| file.extension() == "md") {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut is_fenced = false;
        for (index, line) in file.text.lines().enumerate() {
            let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
            is_fenced ^= is_fence;
            if is_fenced || is_fence {
                continue;
            }
            for target in targets(line) {
                if !leads_somewhere(tree, folder, &target) {
                    let what = format!("the link to `{target}` leads nowhere");
                    let why = "no such file or folder is in the repository";
                    findings.push(Finding::error(&file.path, index + 1, what, why));
                }
            }
        }
    }
    findings
}

/// The relative link targets of a line.
fn targets(line: &str) -> Vec<String> {
    // Every second piece is between backquotes, and is code.
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    let inline = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let reference = prose
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
        .map(|(_, target)| target);
    inline
        .chain(reference)
        .filter_map(|target| target.split_whitespace().next())
        .map(|target| target.trim_matches(['<', '>']))
        .filter(|target| !is_elsewhere(target))
        .map(str::to_owned)
        .collect()
}

fn is_elsewhere(target: &str) -> bool {
    target.starts_with('#') || target.starts_with("mailto:") || target.contains("://")
}

fn leads_somewhere(tree: &Tree, folder: &str, target: &str) -> bool {
    let path = target.split(['#', '?']).next().unwrap_or(target);
    let mut parts: Vec<&str> = match path.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => folder.split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.pop().is_none() => return false,
            ".." => {}
            name => parts.push(name),
        }
    }
    tree.has(&parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    fn broken(text: &str) -> Vec<usize> {
        let tree = fixture(&[
            ("docs/a.md", text),
            ("docs/FORMAT.md", ""),
            ("LICENSE-MIT", ""),
            ("crates/storage/cipher/src/lib.rs", ""),
        ]);
        check(&tree).iter().map(|f| f.line).collect()
    }

    #[test]
    fn links_to_files_and_folders_are_followed() {
        let text = "[f](FORMAT.md#4.2) [l](../LICENSE-MIT \"title\")\n[p](../crates/storage/cipher/)\n[r](/docs/FORMAT.md)\n[x]: FORMAT.md\n";
        assert!(broken(text).is_empty());
    }

    #[test]
    fn a_broken_link_is_found() {
        let text = "[f](FORMATS.md)\n[l](../../LICENSE-MIT)\n\n[x]: none.md\n";
        assert_eq!(broken(text), [1, 2, 4]);
    }

    #[test]
    fn code_and_other_links_are_ignored() {
        let text = "`[a](b)` [c](https://sqlite.org) [d](#e)\n```\n[f](g)\n```\n";
        assert!(broken(text).is_empty());
    }
}
