//! Reports as Markdown, for documents.

use std::fmt::Write;

use selenite::utc;

use super::{control, number, resources, sentence, transit};
use crate::disqualification::disqualifications;
use crate::load;
use crate::proof::IN_CLEAR;
use crate::summary::{ArmRole, CellSummary, Effect, Metric, Summary};

/// One or several studies under headings of the second level.
pub fn render(summaries: &[&Summary]) -> String {
    let parts: Vec<String> = summaries.iter().map(|summary| study(summary)).collect();
    parts.join("\n")
}

fn study(summary: &Summary) -> String {
    let mut out = format!("## {}\n\n", plain(&summary.study.title));
    out.push_str(&facts(summary));
    let disqualifications = disqualifications(summary);
    if !disqualifications.is_empty() {
        let _ = write!(
            out,
            "**Not conclusive.** {}\n\n",
            plain(&sentence::no_verdict(&disqualifications))
        );
    }
    for overall in &summary.overall {
        let words = if disqualifications.is_empty() {
            sentence::overall(summary, overall)
        } else {
            format!("So far {}", sentence::figures(summary, overall))
        };
        let _ = writeln!(out, "- {}.", plain(&words));
    }
    if let Some(corrected) = sentence::corrected(summary).filter(|_| disqualifications.is_empty()) {
        let _ = writeln!(out, "- {}", plain(&corrected));
    }
    if let Some(extended) = sentence::extended(summary) {
        let _ = writeln!(out, "- {}", plain(&extended));
    }
    out.push('\n');
    for cell in &summary.cells {
        out.push_str(&cell_table(summary, cell));
    }
    out.push_str(&phases(summary));
    out.push_str(&beside_source(summary));
    out.push_str(&published(summary));
    out.push_str(&page_costs(summary));
    out.push_str(&operation_costs(summary));
    out.push_str(&taken(summary));
    out.push_str(&in_clear(summary));
    out.push_str("What this does not cover:\n\n");
    for limit in summary.host.warnings.iter().chain(&summary.limits) {
        let _ = writeln!(out, "- {}", plain(&sentence::statement(limit)));
    }
    let _ = write!(out, "\n{} {}\n", sentence::method(summary), sentence::HOLM);
    out
}

fn facts(summary: &Summary) -> String {
    let study = &summary.study;
    let machine = summary.host.facts.iter().enumerate();
    let machine: Vec<String> = machine
        .map(|(index, (name, value))| match index {
            0 => value.clone(),
            _ => format!("{name}: {value}"),
        })
        .collect();
    let commit = if study.commit.is_empty() {
        "unknown"
    } else {
        &study.commit
    };
    let arms = summary.arms.iter().map(|arm| format!("{}: {}", arm.name, arm.label));
    let arms = plain(&arms.collect::<Vec<_>>().join("; "));
    let began = utc(study.created_s);
    let ended = sentence::ending(study.state);
    let facts = [
        ("Machine", plain(&machine.join("; "))),
        ("Arms", arms),
        ("Began", format!("{began}; {} sessions; {ended}", study.sessions)),
        ("Load", load::words(&load::sessions(summary))),
        (
            "Commit",
            format!("{}, version {}", plain(commit), plain(&study.lab_version)),
        ),
        ("Command", code(&study.command)),
        ("Seed", study.seed.to_string()),
        ("Configuration", format!("SHA-256 {}", plain(&study.config_sha256))),
    ];
    let lines: Vec<String> = facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    format!("{}\n\n", lines.join("  \n"))
}

fn cell_table(summary: &Summary, cell: &CellSummary) -> String {
    let mut rows = Vec::new();
    let has_none = cell.effects.iter().any(|effect| effect.against_none.is_some());
    for metric in SHOWN {
        for arm in summary.arms.iter().filter(|arm| arm.role != ArmRole::Plain) {
            let Some(effect) = sentence::effect_in(cell, &arm.name, metric) else {
                continue;
            };
            let level = |arm: &str| {
                cell.levels
                    .get(arm)
                    .and_then(|level| level.metrics.get(&metric))
                    .copied()
            };
            let text = |arm: &str| {
                level(arm)
                    .map(|value| sentence::value(metric, value))
                    .unwrap_or_default()
            };
            let judged = arm.role == ArmRole::Encrypted && disqualifications(summary).is_empty();
            let verdict = if judged { sentence::state(effect.verdict) } else { "" };
            rows.push(vec![
                sentence::metric(metric).to_owned(),
                effect.arm.clone(),
                text(&effect.arm),
                text(&effect.control),
                number::percent(effect.ratio),
                effect.interval.map(number::interval).unwrap_or_default(),
                effect.floor.map(number::interval).unwrap_or_default(),
                verdict.to_owned(),
            ]);
            if let Some(row) = rows.last_mut().filter(|_| has_none) {
                row.push(sentence::against_none(effect));
            }
        }
    }
    let note = if cell.gating { "" } else { " (exploratory)" };
    let mut head = vec![
        "",
        "arm",
        "it took",
        "its control",
        "ratio",
        "95 %",
        "second copy",
        "verdict",
    ];
    head.extend(has_none.then_some("against NONE"));
    let control = control::of(cell)
        .map(|words| format!("{words}\n\n"))
        .unwrap_or_default();
    format!("### {}{note}\n\n{control}{}\n", plain(&cell.label), table(&head, &rows))
}

fn phases(summary: &Summary) -> String {
    let rows = super::phases::rows(summary);
    if rows.is_empty() {
        return String::new();
    }
    let sealing = super::phases::sealing_rows(summary);
    format!(
        "### Before, while and after pages are re-encrypted\n\n{}\n{}\n{}\n\n",
        table(&super::phases::HEAD, &rows),
        table(&super::phases::SEALING_HEAD, &sealing),
        super::phases::ABOUT
    )
}

fn page_costs(summary: &Summary) -> String {
    let mut rows = Vec::new();
    for arm in sentence::encrypted(summary) {
        for cell in &summary.cells {
            let Some(Effect {
                per_page_ns: Some((center, low, high)),
                ..
            }) = sentence::effect_in(cell, arm, Metric::Cpu)
            else {
                continue;
            };
            let [center, low, high] = [*center, *low, *high].map(number::microseconds);
            rows.push(vec![
                arm.to_owned(),
                cell.label.clone(),
                format!("{center} us"),
                format!("[{low}, {high}]"),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let (head, each) = match transit::is_transit(summary) {
        true => ("### CPU time of the server for each packet", "a packet"),
        false => ("### CPU time for each page read or written", "a page"),
    };
    format!("{head}\n\n{}\n", table(&["arm", "cell", each, "95 %"], &rows))
}

/// Costs per operation, where a block has several: a row is a transaction, and so a commit. Not for
/// a server's loop, whose iterations cost next to nothing.
fn operation_costs(summary: &Summary) -> String {
    if transit::is_transit(summary) {
        return String::new();
    }
    let mut rows = Vec::new();
    for arm in sentence::encrypted(summary) {
        for cell in &summary.cells {
            if !cell.levels.values().any(|level| level.operations > 1.0) {
                continue;
            }
            let Some((center, low, high)) =
                sentence::effect_in(cell, arm, Metric::Cpu).and_then(|effect| effect.per_operation_ns)
            else {
                continue;
            };
            let [center, low, high] = [center, low, high].map(number::microseconds);
            rows.push(vec![
                arm.to_owned(),
                cell.label.clone(),
                cell.unit.clone(),
                format!("{center} us"),
                format!("[{low}, {high}]"),
            ]);
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    format!(
        "### CPU time for each operation\n\n{}\n",
        table(&["arm", "cell", "which is a", "an operation", "95 %"], &rows)
    )
}

/// What the files of encrypted arms hold in clear all the same. A file of many arms has one row.
fn in_clear(summary: &Summary) -> String {
    let mut rows: Vec<(Vec<&str>, &str, &str)> = Vec::new();
    for arm in summary.arms.iter().filter(|arm| arm.role == ArmRole::Encrypted) {
        for (name, what) in &arm.proof {
            // With several datasets, the name of one is before it.
            let Some((_, file)) = name.split_once(IN_CLEAR) else {
                continue;
            };
            // Where in a file it is differs between copies.
            let what = what.split(" at byte ").next().unwrap_or(what);
            match rows.iter_mut().find(|row| (row.1, row.2) == (file, what)) {
                Some(row) => row.0.push(&arm.name),
                None => rows.push((vec![&arm.name], file, what)),
            }
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let rows = rows
        .into_iter()
        .map(|(arms, file, what)| vec![file.to_owned(), what.to_owned(), arms.join(", ")]);
    let rows: Vec<Vec<String>> = rows.collect();
    format!(
        "### In clear in an encrypted arm\n\nFiles that the engine does not encrypt, and what was found in them.\n\n{}\n",
        table(&["file", "found", "arms"], &rows)
    )
}

/// For a server's traffic: its percentages, compared with the published ones.
fn beside_source(summary: &Summary) -> String {
    let rows = transit::rows(summary);
    if rows.is_empty() {
        return String::new();
    }
    let head = transit::HEAD;
    format!(
        "### Compared with the published figures\n\n{}\n{}\n\n",
        table(&head, &rows),
        transit::SOURCE
    )
}

/// The publication that the study repeats.
fn published(summary: &Summary) -> String {
    let Some(rerun) = &summary.published else {
        return String::new();
    };
    let mut out = format!(
        "### The published figures\n\n{}\n\n{}\n\n{}\n\n",
        plain(&super::published::source(rerun)),
        plain(&super::published::scale(summary, rerun)),
        plain(&super::published::method(rerun))
    );
    if !rerun.source.differs.is_empty() {
        out.push_str("What differs:\n\n");
        for differs in &rerun.source.differs {
            let _ = writeln!(out, "- {}", plain(differs));
        }
        out.push('\n');
    }
    let rows = table(&super::published::HEAD, &super::published::rows(rerun));
    let _ = write!(out, "{rows}\n{}\n\n", plain(&super::published::about(rerun)));
    out
}

fn taken(summary: &Summary) -> String {
    let rows = resources::rows(summary);
    if rows.is_empty() {
        return String::new();
    }
    let head = resources::head(summary);
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    format!("### Bytes and memory of a block, medians\n\n{}\n", table(&head, &rows))
}

fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut out = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let fields: Vec<String> = row.iter().map(|field| plain(field)).collect();
        let _ = writeln!(out, "| {} |", fields.join(" | "));
    }
    out
}

/// Escapes text for Markdown.
pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let letters: Vec<char> = text.chars().collect();
    for (index, &letter) in letters.iter().enumerate() {
        let inside = |at: Option<&char>| at.is_some_and(|letter| letter.is_alphanumeric());
        let before = index.checked_sub(1).and_then(|index| letters.get(index));
        let within_word = letter == '_' && inside(before) && inside(letters.get(index + 1));
        match letter {
            letter if letter.is_control() => out.push(' '),
            '<' => out.push_str("&lt;"),
            '_' if within_word => out.push('_'),
            '\\' | '`' | '*' | '_' | '|' | '#' => out.extend(['\\', letter]),
            other => out.push(other),
        }
    }
    out
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace(['\n', '\r'], " "))
}

/// The columns of a cell's table, where they were measured.
const SHOWN: [Metric; 7] = [
    Metric::Slowdown,
    Metric::Aftermath,
    Metric::TailSlowdown,
    Metric::Instructions,
    Metric::Cpu,
    Metric::Elapsed,
    Metric::Checkpoint,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_in_markdown() {
        assert_eq!(plain("AES_256 | <b> *x* _y"), "AES_256 \\| &lt;b> \\*x\\* \\_y");
        assert_eq!(code("a`b\nc"), "`a'b c`");
    }
}
