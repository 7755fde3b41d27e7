//! One violation of a rule.

use std::fmt;

/// One violation of a rule, printed as `path:line: what, why`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The path of the file relative to the root of the repository, with `/`.
    pub path: String,
    /// The line, counted from 1 as editors do.
    pub line: usize,
    /// Whether it fails the run.
    pub severity: Severity,
    /// The violation.
    pub what: String,
    /// The reason for the rule, or the remedy.
    pub why: String,
}

/// Whether a finding fails the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The run fails.
    Error,
    /// The finding is listed only.
    Warning,
}

impl Finding {
    /// A finding that fails the run.
    pub fn error(path: &str, line: usize, what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            severity: Severity::Error,
            what: what.into(),
            why: why.into(),
        }
    }

    /// A finding that is listed only.
    pub fn warning(path: &str, line: usize, what: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(path, line, what, why)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.severity {
            Severity::Error => "",
            Severity::Warning => "warning: ",
        };
        let Self {
            path, line, what, why, ..
        } = self;
        write!(f, "{path}:{line}: {mark}{what}, {why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_that_editors_can_follow() {
        let finding = Finding::error("crates/storage/cipher/src/lib.rs", 7, "`unsafe` is here", "no room");
        assert_eq!(
            finding.to_string(),
            "crates/storage/cipher/src/lib.rs:7: `unsafe` is here, no room"
        );
    }
}
