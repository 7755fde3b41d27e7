//! A summary for a terminal: sentences, and the forest plot in characters.

use std::fmt::Write;

use super::scale::Scale;
use super::{control, number, published, sentence, transit};
use crate::disqualification::disqualifications;
use crate::load;
use crate::summary::{CellSummary, Effect, Metric, Summary, Verdict};

/// The capabilities of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Columns; at least 60.
    pub width: usize,
    /// Whether it can display more than ASCII.
    pub unicode: bool,
    /// Whether it can display colours. The caller checks NO_COLOR.
    pub color: bool,
}

/// The summary in lines of at most `look.width` columns.
pub fn render(summary: &Summary, look: Look) -> String {
    let look = Look {
        width: look.width.max(60),
        ..look
    };
    let mut out = String::new();
    let title = format!("{} ({})", summary.study.title, summary.study.name);
    push(&mut out, &title, "", look);
    let study = &summary.study;
    let facts = format!(
        "{} sessions, {}; {}; seed {}",
        study.sessions,
        sentence::ending(study.state),
        load::words(&load::sessions(summary)),
        study.seed
    );
    push(&mut out, &facts, "", look);
    out.push('\n');
    let disqualifications = disqualifications(summary);
    if !disqualifications.is_empty() {
        push(&mut out, &sentence::no_verdict(&disqualifications), "! ", look);
        out.push('\n');
    }
    out.push_str(&overall(summary, disqualifications.is_empty(), look));
    if let Some(corrected) = sentence::corrected(summary).filter(|_| disqualifications.is_empty()) {
        push(&mut out, &corrected, "  ", look);
    }
    if let Some(extended) = sentence::extended(summary) {
        push(&mut out, &extended, "  ", look);
    }
    out.push_str(&phases(summary, look));
    for metric in summary.foremost() {
        out.push_str(&forest(summary, metric, disqualifications.is_empty(), look));
    }
    out.push_str(&published(summary, look));
    let controls = control::all(summary);
    if !controls.is_empty() {
        out.push_str("\nWhat arms are compared with:\n");
    }
    for words in controls {
        let text = wrapped(&words, "    ", look.width);
        let _ = writeln!(out, "  - {}", text.trim_start());
    }
    out.push_str("\nNot covered:\n");
    for limit in summary.host.warnings.iter().chain(&summary.limits) {
        let text = wrapped(&sentence::statement(limit), "    ", look.width);
        let _ = writeln!(out, "  - {}", text.trim_start());
    }
    out
}

/// The cost of each arm: a verdict if there is one, elapsed time and CPU per page.
fn overall(summary: &Summary, has_verdict: bool, look: Look) -> String {
    let mut out = String::new();
    for overall in &summary.overall {
        if has_verdict {
            let sign = signed(overall.verdict, look);
            let words = format!("{}.", sentence::overall(summary, overall));
            let text = wrapped(&words, "  ", look.width - 2);
            let _ = writeln!(out, "{sign} {}", text.trim_start());
        } else {
            push(
                &mut out,
                &format!("So far {}.", sentence::figures(summary, overall)),
                "  ",
                look,
            );
        }
        let elapsed = sentence::range(summary, &overall.arm, summary.foremost()[1]).unwrap_or_default();
        let page = sentence::per_page(summary, &overall.arm);
        let noun = transit::page(summary);
        let page = page.map(|(low, high)| {
            let [low, high] = [low, high].map(number::microseconds);
            if low == high {
                format!(" {low} us of CPU for each {noun}.")
            } else {
                format!(" {low} to {high} us of CPU for each {noun}.")
            }
        });
        push(&mut out, &format!("{elapsed}{}", page.unwrap_or_default()), "  ", look);
    }
    out
}

/// The publication that the study repeats: a sentence for each figure.
fn published(summary: &Summary, look: Look) -> String {
    let Some(rerun) = &summary.published else {
        return String::new();
    };
    let mut out = String::from("\nPublished:\n");
    push(&mut out, &published::source(rerun), "  ", look);
    push(&mut out, &published::method(rerun), "  ", look);
    for text in published::sentences(rerun) {
        let text = wrapped(&text, "    ", look.width);
        let _ = writeln!(out, "  - {}", text.trim_start());
    }
    out
}

/// Before, during and after a re-encryption: a sentence for each arm and cell.
fn phases(summary: &Summary, look: Look) -> String {
    let mut out = String::new();
    for cell in summary.cells.iter().filter(|cell| !cell.phases.is_empty()) {
        out.push('\n');
        push(&mut out, &format!("{}: before, during, after", cell.label), "", look);
        for text in super::phases::sentences(summary, cell) {
            let text = wrapped(&text, "    ", look.width);
            let _ = writeln!(out, "  {}", text.trim_start());
        }
    }
    out
}

fn forest(summary: &Summary, metric: Metric, judged: bool, look: Look) -> String {
    let arms = sentence::shown(summary);
    let shown = |cell: &CellSummary| -> Vec<Effect> {
        arms.iter()
            .filter_map(|arm| sentence::effect_in(cell, arm, metric).cloned())
            .collect()
    };
    let all: Vec<Effect> = summary.cells.iter().flat_map(shown).collect();
    if all.is_empty() {
        return String::new();
    }
    let ends = all
        .iter()
        .flat_map(|effect| [effect.interval, effect.floor])
        .flatten()
        .flat_map(|(low, high)| [low, high]);
    let limit = summary.study.limit;
    let scale = Scale::ratios(ends.chain(all.iter().map(|effect| effect.ratio)), limit);
    let name_width = all
        .iter()
        .map(|effect| effect.arm.chars().count())
        .max()
        .unwrap_or(0)
        .min(16);
    let plot_width = look.width - name_width - FIGURES - 4;
    let bent = if scale.is_bent() {
        "; linear around 0, logarithmic farther out"
    } else {
        ""
    };
    let mut out = String::from("\n");
    let head = format!("{}, (encrypted - plain) / plain{bent}", sentence::metric(metric));
    push(&mut out, &head, "", look);
    let axis = axis(&scale, plot_width, limit);
    let _ = writeln!(out, "  {:name_width$} {axis}", "");
    for cell in &summary.cells {
        let effects = shown(cell);
        if effects.is_empty() {
            continue;
        }
        let note = if cell.gating { "" } else { " (exploratory)" };
        push(&mut out, &format!("{}{note}", cell.label), "", look);
        for effect in effects {
            let plot = plot(&scale, plot_width, &effect, limit, look);
            let name: String = clean(&effect.arm).chars().take(name_width).collect();
            let figures = number::estimate(effect.ratio, effect.interval);
            let sign = if judged && metric == summary.judged() {
                signed(effect.verdict, look)
            } else {
                " ".to_owned()
            };
            let _ = writeln!(out, "  {name:name_width$} {plot} {sign} {figures}");
        }
    }
    push(&mut out, &key(limit, look), "  ", look);
    out
}

/// The legend of the forest plot.
fn key(limit: f64, look: Look) -> String {
    let marks = if look.unicode {
        ["\u{2591}", "\u{250a}"]
    } else {
        [".", ":"]
    };
    let above = [
        Verdict::Above,
        Verdict::Within { inside_floor: false },
        Verdict::NotResolved { minutes_more: None },
    ];
    let [above, within, open] = above.map(|verdict| sign(verdict, look));
    format!(
        "{} second unencrypted copy; {} limit of {}; {above} above, {within} within, {open} not resolved",
        marks[0],
        marks[1],
        number::share(limit)
    )
}

fn axis(scale: &Scale, width: usize, limit: f64) -> String {
    let mut line = vec![' '; width + 6];
    let mut free = 0;
    for tick in scale.ticks(0.12, &[0.0, limit]) {
        let text = if tick == 0.0 {
            "0".to_owned()
        } else {
            number::share(tick).replace(' ', "")
        };
        let at = column(scale, tick, width).saturating_sub(text.len() / 2);
        if at < free || at + text.len() > line.len() {
            continue;
        }
        for (index, letter) in text.chars().enumerate() {
            if let Some(place) = line.get_mut(at + index) {
                *place = letter;
            }
        }
        free = at + text.len() + 1;
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

fn plot(scale: &Scale, width: usize, effect: &Effect, limit: f64, look: Look) -> String {
    let [floor, zero, bound, range, center] = if look.unicode {
        ['\u{2591}', '\u{2502}', '\u{250a}', '\u{2500}', '\u{25cf}']
    } else {
        ['.', '|', ':', '-', 'o']
    };
    let mut line = vec![' '; width];
    let mut draw = |from: f64, to: f64, letter: char| {
        let (from, to) = (column(scale, from, width), column(scale, to, width));
        line.iter_mut()
            .take(to + 1)
            .skip(from)
            .for_each(|place| *place = letter);
    };
    if let Some((low, high)) = effect.floor {
        draw(low, high, floor);
    }
    draw(0.0, 0.0, zero);
    draw(limit, limit, bound);
    if let Some((low, high)) = effect.interval {
        draw(low, high, range);
    }
    draw(effect.ratio, effect.ratio, center);
    line.into_iter().collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "from 0 to the width of a terminal"
)]
fn column(scale: &Scale, value: f64, width: usize) -> usize {
    let last = width.saturating_sub(1);
    ((scale.at(value) * last as f64).round() as usize).min(last)
}

fn sign(verdict: Verdict, look: Look) -> &'static str {
    match (verdict, look.unicode) {
        (Verdict::Above, true) => "\u{25b2}",
        (Verdict::Within { .. }, true) => "\u{25cf}",
        (Verdict::NotResolved { .. }, true) => "\u{25cb}",
        (Verdict::Above, false) => "!",
        (Verdict::Within { .. }, false) => "=",
        (Verdict::NotResolved { .. }, false) => "?",
    }
}

fn signed(verdict: Verdict, look: Look) -> String {
    let sign = sign(verdict, look);
    let color = match verdict {
        Verdict::Above => "31",
        Verdict::Within { .. } => "32",
        Verdict::NotResolved { .. } => "33",
    };
    if look.color {
        format!("\u{1b}[{color}m{sign}\u{1b}[0m")
    } else {
        sign.to_owned()
    }
}

fn push(out: &mut String, text: &str, indent: &str, look: Look) {
    out.push_str(&wrapped(text, indent, look.width));
    out.push('\n');
}

/// Indented lines of at most `width` columns; text from a study cannot send escape sequences to the terminal.
fn wrapped(text: &str, indent: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let clean = clean(text);
    for word in clean.split(' ').filter(|word| !word.is_empty()) {
        let long = indent.len() + line.chars().count() + 1 + word.chars().count() > width;
        if long && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
        .iter()
        .map(|line| format!("{indent}{line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Removes escape sequences and other control characters.
fn clean(text: &str) -> String {
    let letters = text.chars();
    letters
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect()
}

/// The width of a sign, a ratio and its interval.
const FIGURES: usize = 25;
