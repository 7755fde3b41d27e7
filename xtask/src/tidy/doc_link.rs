//! A relative link in a document leads to an existing file, and its anchor to a heading of that document.

use std::collections::{BTreeMap, BTreeSet};

use crate::{finding::Finding, tree::Tree};

/// Finds relative links in `.md` files whose target does not exist. Anchors are those that GitHub gives headings
/// that begin with `#`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let documents = || tree.files().iter().filter(|file| file.extension() == "md");
    let anchors: BTreeMap<&str, BTreeSet<String>> = documents()
        .map(|file| (file.path.as_str(), anchors(&file.text)))
        .collect();
    let mut findings = Vec::new();
    for file in documents() {
        for (index, line) in prose_lines(&file.text) {
            for target in targets(line) {
                let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
                let found = resolve(&file.path, path).filter(|found| tree.has(found));
                let why = match found {
                    None => "no such file or folder is in the repository",
                    Some(found) if lacks(&anchors, &found, anchor) => "the document has no such heading",
                    Some(_) => continue,
                };
                let what = format!("the link to `{target}` leads nowhere");
                findings.push(Finding::error(&file.path, index + 1, what, why));
            }
        }
    }
    findings
}

/// The lines outside fenced code, with their index.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_fenced = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    })
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
    target.starts_with("mailto:") || target.contains("://")
}

/// The path that a link in `document` means. `None` if it is outside the repository.
fn resolve(document: &str, path: &str) -> Option<String> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = match path {
        "" => return Some(document.to_owned()),
        path if path.starts_with('/') => Vec::new(),
        _ => folder.split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// Whether an anchor is not in a document. Other files have anchors that only a code host knows.
fn lacks(anchors: &BTreeMap<&str, BTreeSet<String>>, document: &str, anchor: &str) -> bool {
    !anchor.is_empty()
        && anchors
            .get(document)
            .is_some_and(|of_document| !of_document.contains(anchor))
}

/// The anchors of a document's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for (_, line) in prose_lines(text) {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if (1..=6).contains(&level) && title.starts_with(' ') {
            let anchor = anchor(title);
            // A repeated heading is numbered.
            let numbered = (1..).map(|number| format!("{anchor}-{number}"));
            let free = std::iter::once(anchor.clone())
                .chain(numbered)
                .find(|name| !anchors.contains(name));
            anchors.extend(free);
        }
    }
    anchors
}

fn anchor(title: &str) -> String {
    // Of a link, the text remains.
    let mut text = String::new();
    for (index, piece) in title.split("](").enumerate() {
        let piece = if index == 0 {
            piece
        } else {
            piece.split_once(')').map_or("", |(_, rest)| rest)
        };
        text.push_str(piece);
    }
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    text.trim()
        .to_lowercase()
        .chars()
        .filter(is_kept)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    const FORMAT: &str = "# Keys\n## 4.2 The [`selenite_status`](a.md) table: its *rows*\n### Keys\n```\n# code\n```\n\
                          ####### seven\n#hash\n";

    fn broken(text: &str) -> Vec<usize> {
        let tree = fixture(&[
            ("docs/a.md", text),
            ("docs/FORMAT.md", FORMAT),
            ("LICENSE-MIT", ""),
            ("crates/storage/cipher/src/lib.rs", ""),
        ]);
        check(&tree).iter().map(|f| f.line).collect()
    }

    #[test]
    fn links_to_files_and_folders_are_followed() {
        let text = "[f](FORMAT.md#keys) [l](../LICENSE-MIT \"title\")\n[p](../crates/storage/cipher/)\n[r](/docs/FORMAT.md)\n[x]: FORMAT.md\n";
        assert!(broken(text).is_empty());
    }

    #[test]
    fn an_anchor_is_a_heading_as_github_writes_it() {
        let text = "# A title\n[a](#a-title) [b](FORMAT.md#42-the-selenite_status-table-its-rows)\n\
                    [c](FORMAT.md#keys) [d](FORMAT.md#keys-1)\n";
        assert!(broken(text).is_empty());
    }

    #[test]
    fn an_anchor_without_a_heading_is_found() {
        let text = "# A title\n[a](#a)\n[b](FORMAT.md#keys-2)\n[c](FORMAT.md#code)\n[d](FORMAT.md#seven)\n\
                    [e](FORMAT.md#hash)\n";
        assert_eq!(broken(text), [2, 3, 4, 5, 6]);
    }

    #[test]
    fn an_anchor_of_another_file_is_left_to_the_code_host() {
        assert!(broken("[a](../crates/storage/cipher/src/lib.rs#L10)\n").is_empty());
    }

    #[test]
    fn a_broken_link_is_found() {
        let text = "[f](FORMATS.md)\n[l](../../LICENSE-MIT)\n\n[x]: none.md\n";
        assert_eq!(broken(text), [1, 2, 4]);
    }

    #[test]
    fn code_and_other_links_are_ignored() {
        let text = "`[a](b)` [c](https://sqlite.org)\n```\n[f](g)\n```\n";
        assert!(broken(text).is_empty());
    }
}
