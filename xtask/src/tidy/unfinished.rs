//! There are no marks of unfinished work on main: missing work is an issue.

use crate::{finding::Finding, tree::Tree};

/// Finds marks of unfinished work in comments, strings and code.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        if !EXTENSIONS.contains(&file.extension()) && file.name() != "Makefile" {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            if let Some(word) = words.find(|word| MARKS.contains(word)) {
                let what = format!("`{word}` is left here");
                findings.push(Finding::error(&file.path, index + 1, what, WHY));
            }
        }
        let Some(rust) = &file.rust else {
            continue;
        };
        for (at, word) in rust.words() {
            if MACROS.contains(&word) && rust.code()[at + word.len()..].starts_with('!') {
                let what = format!("`{word}!` is left here");
                findings.push(Finding::error(&file.path, rust.line(at), what, WHY));
            }
        }
    }
    findings
}

const WHY: &str = "finish it or file it: main has no loose ends";
/// Concatenated, so that this file does not find itself.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const MACROS: &[&str] = &["todo", "unimplemented"];
const EXTENSIONS: &[&str] = &["c", "h", "js", "py", "rs", "sh", "sql", "toml", "ts", "yml"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    #[test]
    fn marks_and_macros_are_refused() {
        let rust = format!("// {}: later\nfn a() {{ todo!() }}\n", MARKS[0]);
        let script = format!("# {} this\n", MARKS[1]);
        let tree = fixture(&[("a.rs", &rust), ("b.sh", &script)]);
        let lines: Vec<_> = check(&tree).iter().map(|f| f.line).collect();
        assert_eq!(lines, [1, 2, 1]);
    }

    #[test]
    fn longer_words_and_documents_are_fine() {
        let document = format!("no {} here", MARKS[0]);
        let template = format!("mktemp /tmp/{}{}", MARKS[2], MARKS[2]);
        let tree = fixture(&[("a.md", &document), ("b.sh", &template), ("c.rs", "let todo = 1;")]);
        assert!(check(&tree).is_empty());
    }
}
