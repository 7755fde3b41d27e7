//! Lines of prose in documents have at most 100 columns: `git diff` and an editor beside another window show them whole.

use crate::{finding::Finding, tree::Tree};

/// Finds longer lines of `.md` files outside tables, code and generated documents. A line with a link may be longer.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_checked = |path: &str| !GENERATED.iter().any(|folder| path.starts_with(folder));
    let documents = tree.files().iter().filter(|file| file.extension() == "md");
    for file in documents.filter(|file| is_checked(&file.path)) {
        let mut is_fenced = false;
        for (index, line) in file.text.lines().enumerate() {
            let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
            is_fenced ^= is_fence;
            let is_prose = !is_fenced && !is_fence && !line.starts_with('|') && !line.starts_with("    ");
            let width = line.chars().count();
            if is_prose && width > WIDTH_MAX && !line.contains("](") && !line.contains("://") {
                findings.push(Finding::error(
                    &file.path,
                    index + 1,
                    format!("{width} columns"),
                    "a line of prose has at most 100",
                ));
            }
        }
    }
    findings
}

const WIDTH_MAX: usize = 100;
/// Written by the lab, with names and hashes in their lines.
const GENERATED: [&str; 4] = [
    "docs/studies/",
    "docs/FORECASTS.md",
    "docs/OBSERVATORY.md",
    "testdata/lab/",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    #[test]
    fn only_lines_of_prose_are_measured() {
        let (fits, long) = ("x".repeat(100), "x".repeat(101));
        let text =
            format!("{fits}\n{long}\n| {long}\n    {long}\n```\n{long}\n```\n[{long}](a.md)\nhttps://a/{long}\n");
        let tree = fixture(&[("a.md", &text), ("a.rs", &long), ("docs/studies/a.md", &long)]);
        let found: Vec<_> = check(&tree).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["a.md:2: 101 columns, a line of prose has at most 100"]);
    }
}
