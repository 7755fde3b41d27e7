//! A function is short enough to be read without scrolling.

use crate::{finding::Finding, tree::Tree};

/// Finds functions with more lines of code than fit on a screen; blank and comment lines do not count.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, rust) in tree.rust_files() {
        for function in rust.functions() {
            let body = &rust.code()[function.body.clone()];
            let line_count = body.lines().filter(|line| !line.trim().is_empty()).count();
            if line_count > LINE_COUNT_MAX {
                findings.push(Finding::error(
                    &file.path,
                    rust.line(function.start),
                    format!("`{}` has {line_count} lines of code", function.name),
                    format!("more than {LINE_COUNT_MAX} do not fit on a screen"),
                ));
            }
        }
    }
    findings
}

/// A screen of code, leaving room for the comments between.
const LINE_COUNT_MAX: usize = 70;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::fixture;

    fn count(body: &str) -> usize {
        let text = format!("impl A {{\n    fn long(&self) -> u8 {{\n{body}    }}\n}}\n");
        check(&fixture(&[("a.rs", &text)])).len()
    }

    #[test]
    fn seventy_lines_are_allowed_and_one_more_is_not() {
        assert_eq!(count(&"        a();\n".repeat(70)), 0);
        assert_eq!(count(&"        a();\n".repeat(71)), 1);
    }

    #[test]
    fn comments_and_blank_lines_are_free() {
        let body = "        a();\n\n        // why\n        /* and\n why */\n".repeat(70);
        assert_eq!(count(&body), 0);
    }

    #[test]
    fn braces_in_strings_do_not_count() {
        let body = format!("        f(\"}}\");\n{}", "        a();\n".repeat(70));
        assert_eq!(count(&body), 1);
    }
}
