//! The capabilities of a terminal.

use std::ffi::OsString;

/// Whether colours are wanted on a stream: it is a terminal that supports them, and the user has
/// not disabled them (<https://no-color.org>).
pub fn takes_colors(is_terminal: bool) -> bool {
    takes_colors_by(is_terminal, &variable)
}

/// Whether a line can be redrawn.
pub fn redraws(is_terminal: bool) -> bool {
    redraws_by(is_terminal, &variable)
}

fn takes_colors_by(is_terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    redraws_by(is_terminal, variable) && variable("NO_COLOR").is_none()
}

fn redraws_by(is_terminal: bool, variable: &dyn Fn(&str) -> Option<OsString>) -> bool {
    is_terminal && variable("TERM").is_none_or(|term| term != "dumb")
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dumb_terminal_and_no_color_have_no_colors() {
        let with = |name: &'static str, value: &'static str| move |asked: &str| (asked == name).then(|| value.into());
        assert!(takes_colors_by(true, &with("TERM", "xterm")));
        assert!(!takes_colors_by(false, &with("TERM", "xterm")));
        assert!(!takes_colors_by(true, &with("TERM", "dumb")));
        assert!(!takes_colors_by(true, &with("NO_COLOR", "1")));
        assert!(redraws_by(true, &with("NO_COLOR", "1")));
        assert!(!redraws_by(true, &with("TERM", "dumb")));
    }
}
