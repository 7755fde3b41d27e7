//! The progress of a study, without its results.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle as BarStyle};
use selenite_lab::run::{Observer, Progress, Quiet};
use serde_json::json;

use crate::arguments::lab::ProgressStyle;

/// The observer for a style of progress.
pub fn observer(style: ProgressStyle) -> Box<dyn Observer> {
    let is_terminal = std::io::stderr().is_terminal();
    match style {
        ProgressStyle::None => Box::new(Quiet),
        ProgressStyle::Json => Box::new(JsonLines),
        ProgressStyle::Auto if is_terminal => Box::new(Bar::new()),
        ProgressStyle::Auto | ProgressStyle::Plain => Box::new(PlainLines { cell: String::new() }),
    }
}

/// A progress bar for the current session.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
        let template = "{prefix} [{bar:30}] {pos:>3} of {len} blocks  {msg}";
        let style = BarStyle::with_template(template).unwrap_or_else(|_| BarStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        Self(bar)
    }
}

impl Observer for Bar {
    fn progress(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Block {
                done,
                total,
                cell,
                left,
                ..
            } => {
                self.0.set_length(u64::try_from(*total).unwrap_or(u64::MAX));
                self.0.set_position(u64::try_from(*done).unwrap_or(u64::MAX));
                self.0.set_message(format!("{cell}{}", left_words(*left)));
            }
            Progress::Session { session, sessions } => {
                self.0.set_prefix(format!("session {session} of {sessions} at most"));
                self.0.set_position(0);
            }
            Progress::Blocks { total, .. } => {
                self.0.set_position(u64::try_from(*total).unwrap_or(u64::MAX));
                self.0.set_message(CHECKING);
            }
            Progress::Loading { .. } | Progress::Void { .. } | Progress::Precision { .. } => {
                self.0.println(words(progress));
            }
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// A line for each message that differs from the last one.
struct PlainLines {
    cell: String,
}

impl Observer for PlainLines {
    fn progress(&mut self, progress: &Progress<'_>) {
        if let Progress::Block { done, total, .. } = progress {
            // Four lines for the blocks of each session.
            let quarter = (total / 4).max(1);
            if !done.is_multiple_of(quarter) {
                return;
            }
        }
        let line = words(progress);
        if line != self.cell {
            say!("{line}");
            self.cell = line;
        }
    }
}

/// A JSON object per line.
struct JsonLines;

impl Observer for JsonLines {
    fn progress(&mut self, progress: &Progress<'_>) {
        let value = match progress {
            Progress::Loading { arm, data } => json!({ "loading": { "arm": arm, "data": data } }),
            Progress::Session { session, sessions } => {
                json!({ "session": { "number": session, "at_most": sessions } })
            }
            Progress::Block {
                session,
                done,
                total,
                cell,
                left,
            } => json!({ "block": {
                "session": session, "done": done, "total": total, "cell": cell,
                "left_s": left.map(|left| left.as_secs()),
            } }),
            Progress::Blocks { session, total } => json!({ "blocks_done": { "session": session, "total": total } }),
            Progress::Void { cell, arm, why } => json!({ "void": { "cell": cell, "arm": arm, "why": why } }),
            Progress::Precision {
                sessions,
                widest,
                target,
                needed,
            } => json!({ "precision": {
                "sessions": sessions, "widest": widest, "target": target, "sessions_needed": needed,
            } }),
        };
        // If standard error cannot be written, it has no reader.
        let _ = writeln!(std::io::stderr(), "{value}");
    }
}

fn words(progress: &Progress<'_>) -> String {
    match progress {
        Progress::Loading { arm, data } => format!("loading {data} for {arm}"),
        Progress::Session { session, sessions } => {
            format!("session {session} of {sessions} at most: copying databases")
        }
        Progress::Block {
            session,
            done,
            total,
            left,
            ..
        } => format!("session {session}: {done} of {total} blocks{}", left_words(*left)),
        Progress::Blocks { session, total } => {
            format!("session {session}: {total} of {total} blocks, {CHECKING}")
        }
        Progress::Void { cell, arm, why } => format!("void: {cell} of {arm}: {why}"),
        Progress::Precision {
            sessions,
            widest: Some(widest),
            target,
            needed,
        } if sessions > &1 => format!(
            "after {sessions} sessions the widest interval is {}; the goal is {:.1}{}",
            half_width(*widest),
            target * 100.0,
            needed.map_or_else(String::new, |needed| format!(
                ", and would take about {needed} sessions"
            ))
        ),
        Progress::Precision { .. } => String::new(),
    }
}

/// With two sessions an interval can extend over many powers of ten, which means only that it is wide.
fn half_width(ratio: f64) -> String {
    match ratio < 1.0 {
        true => format!("+-{:.1} points", ratio * 100.0),
        false => "more than +-100 points".to_owned(),
    }
}

fn left_words(left: Option<Duration>) -> String {
    match left.map(|left| left.as_secs()) {
        None => String::new(),
        Some(seconds) if seconds < 90 => format!(", {seconds} s left at most"),
        Some(seconds) => format!(", {} min left at most", seconds.div_ceil(60)),
    }
}

/// The step after the blocks of a session.
const CHECKING: &str = "checking the copies";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_with_all_of_its_blocks() {
        let done = Progress::Blocks { session: 2, total: 12 };
        assert_eq!(words(&done), "session 2: 12 of 12 blocks, checking the copies");
    }

    #[test]
    fn a_half_width_without_meaning_is_not_shown() {
        let after = |widest| Progress::Precision {
            sessions: 2,
            widest: Some(widest),
            target: 0.01,
            needed: None,
        };
        assert_eq!(
            words(&after(1265.005)),
            "after 2 sessions the widest interval is more than +-100 points; the goal is 1.0"
        );
        assert!(words(&after(0.123)).contains("is +-12.3 points; the goal"));
    }
}
