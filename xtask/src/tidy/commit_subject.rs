//! The subject of a commit is `area: what it does`, and its body states the reason.

use std::{path::Path, process::Command};

use crate::{error::XtaskError, finding::Finding};

/// Checks the commits after `base`, without merges.
///
/// Errors: `NoGit` if there is no git, `Git` if git returns an error, usually for an unknown base.
pub fn check(root: &Path, base: &str) -> Result<Vec<Finding>, XtaskError> {
    // -z terminates each commit with a NUL, which no message can contain.
    let output = Command::new("git")
        .current_dir(root)
        .args(["log", "--no-merges", "-z", "--format=%h%n%B"])
        .arg(format!("{base}..HEAD"))
        .output()
        .map_err(XtaskError::NoGit)?;
    if !output.status.success() {
        let answer = String::from_utf8_lossy(&output.stderr);
        return Err(XtaskError::Git(answer.trim().to_owned()));
    }
    let log = String::from_utf8_lossy(&output.stdout);
    let commits = log.split('\0').filter_map(|commit| commit.split_once('\n'));
    Ok(commits.flat_map(|(id, message)| faults(id, message)).collect())
}

fn faults(id: &str, message: &str) -> Vec<Finding> {
    let mut lines = message.trim_end().lines();
    let subject = lines.next().unwrap_or("");
    let mut findings = Vec::new();
    let mut find = |line: usize, what: String, why: &str| {
        findings.push(Finding::error(&format!("commit {id}"), line, what, why));
    };
    if !has_area(subject) {
        find(1, format!("`{subject}` names no area"), "write `crate: what it does`");
    }
    let column_count = subject.chars().count();
    if column_count > COLUMN_COUNT_MAX {
        let why = format!("more than {COLUMN_COUNT_MAX} are cut off by git's own lists");
        find(1, format!("the subject has {column_count} columns"), &why);
    }
    if subject.ends_with('.') {
        find(1, "the subject ends in a full stop".to_owned(), "it is a title");
    }
    match (lines.next(), lines.next()) {
        (Some(""), Some(_)) => {}
        (Some(_), _) => find(2, "line 2 is not blank".to_owned(), "git splits the message there"),
        (None, _) => find(1, "there is no body".to_owned(), "it says why, and what was rejected"),
    }
    findings
}

/// Whether a subject starts with `area: w..`: a lower-case area, or several with commas.
fn has_area(subject: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_, /.".contains(c);
    subject.split_once(": ").is_some_and(|(area, rest)| {
        !area.is_empty() && area.chars().all(is_word) && !rest.starts_with(char::is_uppercase)
    })
}

/// The width that `git log --oneline` shows beside an id on a terminal of 80 columns.
const COLUMN_COUNT_MAX: usize = 72;

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(message: &str) -> Vec<String> {
        faults("abc1234", message).into_iter().map(|f| f.what).collect()
    }

    #[test]
    fn a_good_commit_has_no_fault() {
        assert!(whats("page: bind the page number into the tag\n\nElse a page can move.\n").is_empty());
        assert!(whats("vfs, ext: load once\n\nWhy.\n").is_empty());
    }

    #[test]
    fn a_subject_names_its_area_in_72_columns() {
        assert_eq!(whats("Fix it\n\nWhy.")[0], "`Fix it` names no area");
        assert_eq!(whats("page: Fix it\n\nWhy.").len(), 1);
        let long = format!("page: {}", "x".repeat(67));
        assert_eq!(whats(&format!("{long}\n\nWhy.")), ["the subject has 73 columns"]);
        assert_eq!(whats("page: fix it.\n\nWhy."), ["the subject ends in a full stop"]);
    }

    #[test]
    fn a_body_says_why_behind_a_blank_line() {
        assert_eq!(whats("page: fix it\n"), ["there is no body"]);
        assert_eq!(whats("page: fix it\nwhy\n"), ["line 2 is not blank"]);
    }
}
