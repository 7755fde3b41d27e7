//! Words that were replaced by the field's terms are not used again, in code or documents.

use std::borrow::Cow;

use crate::{finding::Finding, tree::Tree};

/// Finds retired words in `.rs` and `.md` files.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        let is_read = matches!(file.extension(), "rs" | "md") && !EXEMPT.contains(&file.path.as_str());
        if !is_read {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            let prose = match file.extension() {
                "rs" => without_strings(line),
                _ => Cow::Borrowed(line),
            };
            let retired = RETIRED.iter().filter(|(word, _)| has_word(line, word));
            let vague = VAGUE.iter().filter(|(word, _)| has_word(&prose, word));
            for (word, instead) in retired.chain(vague) {
                let what = format!("`{word}` is retired");
                findings.push(Finding::error(&file.path, index + 1, what, format!("write {instead}")));
            }
        }
    }
    findings
}

/// A line of Rust without the contents of its string literals; a comment is returned unchanged.
fn without_strings(line: &str) -> Cow<'_, str> {
    if line.trim_start().starts_with("//") || !line.contains('"') {
        return Cow::Borrowed(line);
    }
    let outside: Vec<&str> = line.split('"').step_by(2).collect();
    Cow::Owned(outside.join("\"\""))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        !is_part(before) && !is_part(after)
    })
}

/// This file, and the change log, which quotes old names.
const EXEMPT: &[&str] = &["xtask/src/tidy/retired_word.rs", "CHANGELOG.md"];

/// Refused whole words, and their replacements.
const RETIRED: &[(&str, &str)] = &[
    ("CrewSample", "`GroupSample`"),
    ("DataBench", "`SessionExecutor`"),
    ("Deduction", "`Inference`"),
    ("Errand", "`ExecutionContext`"),
    ("Gather", "`FrameBuffer`"),
    ("Ground", "the noun of what it is"),
    ("Hall", "`DatabaseRegistry`"),
    ("Leash", "`CancelHandle`"),
    ("Lobby", "`PendingLogins`"),
    ("LockPatience", "`LockTimeout`"),
    ("Mouth", "`OutputReader`"),
    ("Outlook", "`StudyForecast`"),
    ("Passage", "`FramePassthrough`"),
    ("Patience", "`RetryPolicy`"),
    ("Patron", "`SessionInfo`"),
    ("Respondent", "`RequestHandler`"),
    ("Seat", "`PoolHandle`"),
    ("Surroundings", "`InferenceContext`"),
    ("Turnstile", "`WriteQueue`"),
    ("Twins", "`DatabaseCopies`"),
    ("anew", "again, or a verb with re-: re-encrypt, rewrite"),
    ("Whoever", "one who, who, or the noun"),
    ("kin", "related"),
    ("source 000", "the article's short name: context switches (docs/LAB.md)"),
    ("source 001", "the article's short name: scans (docs/LAB.md)"),
    ("source 002", "the article's short name: statements (docs/LAB.md)"),
    ("source 003", "the article's short name: hummer (docs/LAB.md)"),
    ("source 004", "the article's short name: acceleration (docs/LAB.md)"),
    ("whoever", "one who, who, or the noun"),
];

/// As [`RETIRED`], but allowed in string literals, which contain names in SQL and file contents.
const VAGUE: &[(&str, &str)] = &[
    ("Nobody", "the noun: no user, no process, no session"),
    ("Somebody", "the noun: another user, a process, a session"),
    ("nobody", "the noun: no user, no process, no session"),
    ("somebody", "the noun: another user, a process, a session"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    #[test]
    fn a_retired_word_is_refused_everywhere() {
        let tree = fixture(&[
            (
                "crates/lab/lab/src/a.rs",
                "struct Mouth;\n// Mouthful, mouth, A_Mouth\n",
            ),
            ("docs/LAB.md", "a\nthe `Mouth` of a process\n"),
            ("docs/studies/quick.json", "Mouth"),
            ("CHANGELOG.md", "Mouth"),
        ]);
        let found: Vec<_> = check(&tree)
            .into_iter()
            .map(|f| format!("{}:{}", f.path, f.line))
            .collect();
        assert_eq!(found, ["crates/lab/lab/src/a.rs:1", "docs/LAB.md:2"]);
    }

    #[test]
    fn a_vague_word_is_allowed_in_string_literals() {
        let tree = fixture(&[(
            "crates/lab/lab/src/a.rs",
            "run(\"DROP USER nobody\");\n/// \"a\" of nobody\nlet nobody = \"\";\nf(\"a\", 1); // Somebody\n",
        )]);
        let found: Vec<_> = check(&tree).into_iter().map(|f| f.line).collect();
        assert_eq!(found, [2, 3, 4]);
    }
}
