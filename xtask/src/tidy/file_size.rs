//! A file is short enough to be read at once.

use crate::{finding::Finding, tree::Tree};

/// Finds files that must be split, and lists those that should be split.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        if !SOURCE_EXTENSIONS.contains(&file.extension()) {
            continue;
        }
        let line_count = file.text.lines().count();
        let what = format!("{line_count} lines");
        if line_count > LINE_COUNT_MAX {
            let why = format!("more than {LINE_COUNT_MAX} are too many for one concept");
            findings.push(Finding::error(&file.path, line_count, what, why));
        } else if line_count > LINE_COUNT_ADVISED {
            let why = format!("split at {LINE_COUNT_ADVISED}");
            findings.push(Finding::warning(&file.path, line_count, what, why));
        }
    }
    findings
}

/// The length up to which a file usually has one concept.
const LINE_COUNT_ADVISED: usize = 700;
/// A longer file has more than one concept.
const LINE_COUNT_MAX: usize = 800;
/// Documents may be long: FORMAT is one document on purpose.
const SOURCE_EXTENSIONS: &[&str] = &["c", "h", "js", "py", "rs", "sh", "ts"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{finding::Severity, tree::fixture};

    fn severities(line_count: usize) -> Vec<Severity> {
        let findings = check(&fixture(&[("a.rs", &"x\n".repeat(line_count))]));
        findings.iter().map(|f| f.severity).collect()
    }

    #[test]
    fn the_limits_themselves_are_allowed() {
        assert_eq!(severities(700), []);
        assert_eq!(severities(701), [Severity::Warning]);
        assert_eq!(severities(800), [Severity::Warning]);
        assert_eq!(severities(801), [Severity::Error]);
    }

    #[test]
    fn documents_may_be_long() {
        assert!(check(&fixture(&[("FORMAT.md", &"x\n".repeat(2000))])).is_empty());
    }
}
