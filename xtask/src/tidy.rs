//! `cargo xtask tidy`: all checks of the tree, and of commits on request.

use std::{io::Write, path::Path};

use crate::{
    error::XtaskError,
    finding::{Finding, Severity},
    tree::Tree,
};

mod allow_attribute;
mod ascii;
mod commit_subject;
mod doc_link;
mod file_name;
mod file_size;
mod format_width;
mod function_size;
mod ignored_test;
mod module_cycle;
mod prose_width;
mod ranks;
mod retired_word;
mod test_executable;
mod unfinished;
mod unsafe_code;
mod unwrap_call;

/// Checks the tree at `root`, and every commit after `commits_since`; returns true if there are no errors.
///
/// Errors: `Read` and `Print` for I/O; `NoGit` and `Git` only if commits are checked.
pub fn run(root: &Path, commits_since: Option<&str>, out: &mut dyn Write) -> Result<bool, XtaskError> {
    let tree = Tree::load(root)?;
    let mut findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(&tree)).collect();
    if let Some(base) = commits_since {
        findings.extend(commit_subject::check(root, base)?);
    }
    findings.sort();
    report(&findings, tree.files().len(), out).map_err(XtaskError::Print)
}

fn report(findings: &[Finding], file_count: usize, out: &mut dyn Write) -> std::io::Result<bool> {
    for finding in findings {
        writeln!(out, "{finding}")?;
    }
    let errors = findings.iter().filter(|f| f.severity == Severity::Error);
    let error_count = errors.count();
    let warning_count = findings.len() - error_count;
    writeln!(
        out,
        "tidy: {file_count} files, {error_count} broken rules, {warning_count} warnings"
    )?;
    Ok(error_count == 0)
}

const CHECKS: &[fn(&Tree) -> Vec<Finding>] = &[
    allow_attribute::check,
    ascii::check,
    doc_link::check,
    file_name::check,
    file_size::check,
    format_width::check,
    function_size::check,
    ignored_test::check,
    module_cycle::check,
    prose_width::check,
    ranks::check,
    retired_word::check,
    test_executable::check,
    unfinished::check,
    unsafe_code::check,
    unwrap_call::check,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_alone_do_not_fail() {
        let warning = Finding::warning("a.rs", 1, "x", "y");
        let mut out = Vec::new();
        assert!(report(std::slice::from_ref(&warning), 1, &mut out).unwrap());
        let printed = String::from_utf8(out).unwrap();
        assert_eq!(
            printed,
            "a.rs:1: warning: x, y\ntidy: 1 files, 0 broken rules, 1 warnings\n"
        );

        let error = Finding::error("a.rs", 1, "x", "y");
        assert!(!report(&[warning, error], 1, &mut Vec::new()).unwrap());
    }
}
