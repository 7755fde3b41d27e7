//! One page over all studies: engines by experiments, for readers with five minutes.
//!
//! - one-study-a-figure: a figure is that of one study, chosen by a rule that does not look at it.
//! - no-silent-gap: what was not measured, not resolved or measured on a busy machine says so.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::markdown::plain;
use super::number;
use crate::config::Config;
use crate::disqualification::disqualifications;
use crate::load;
use crate::pattern::matches;
use crate::summary::{ArmFacts, ArmRole, CellSummary, LoadState, MESSAGES, Metric, Summary};

/// The page as Markdown. `folder` is the path of the studies' pages, relative to it.
#[must_use]
pub fn render(summaries: &[Summary], folder: &str) -> String {
    let page = Page::new(summaries);
    let mut out = INTRODUCTION.to_owned();
    out.push_str(&page.matrix("What reading costs", &EXPERIMENTS[..READING]));
    out.push_str(&page.matrix("What writing costs", &EXPERIMENTS[READING..]));
    out.push_str(&page.page_costs());
    out.push_str(&page.charts());
    out.push_str(&page.messages());
    out.push_str(&page.reruns(folder));
    out.push_str(&page.unseen());
    out.push_str(&page.sources(folder));
    out
}

/// Work in one cache state that every engine can do.
struct Experiment {
    title: &'static str,
    work: &'static str,
    cache: Option<&'static str>,
    /// A pattern of the cell's name, where work and cache state are not enough.
    cell: &'static str,
    /// Over all mixes of a study instead of one cell.
    pooled: bool,
}

impl Experiment {
    const fn new(title: &'static str, work: &'static str, cache: Option<&'static str>, cell: &'static str) -> Self {
        Self {
            title,
            work,
            cache,
            cell,
            pooled: false,
        }
    }

    fn is_in(&self, cell: &CellSummary) -> bool {
        let is_cache = self.cache.is_none_or(|cache| cache == cell.cache);
        cell.work == self.work && is_cache && matches(self.cell, &cell.name)
    }
}

/// A figure of the page.
struct Figure {
    study: String,
    ratio: f64,
    interval: Option<(f64, f64)>,
    per_page_ns: Option<(f64, f64, f64)>,
    /// Bytes of a page of its study.
    page_size: u32,
    limit: f64,
    /// Quiet sessions, and all of them.
    quiet: (usize, usize),
    /// What decides between studies: more of it is better.
    size: f64,
}

impl Figure {
    fn is_quiet(&self) -> bool {
        self.quiet.0 == self.quiet.1
    }

    /// Whether the interval tells on which side of the limit the cost is.
    fn is_resolved(&self) -> bool {
        self.interval
            .is_some_and(|(low, high)| high < self.limit || low > self.limit)
    }

    fn text(&self) -> String {
        let mark = if self.is_quiet() { "" } else { " ~" };
        let open = if self.is_resolved() { "" } else { " ?" };
        format!("{}{open}{mark}", number::estimate(self.ratio, self.interval))
    }
}

/// Whether a figure is taken rather than another one of the same engine and experiment: that with
/// more quiet sessions, then that with more work, then that of the first study by name.
fn is_better(one: &Figure, other: &Figure) -> bool {
    let by_size = || one.size.total_cmp(&other.size);
    let order = one.quiet.0.cmp(&other.quiet.0).then_with(by_size);
    order.then_with(|| other.study.cmp(&one.study)).is_gt()
}

struct Page<'a> {
    summaries: Vec<&'a Summary>,
    /// Those that bear no verdict, with the reason.
    refused: Vec<(String, String)>,
    /// The engines with several experiments, in the order of the studies.
    engines: Vec<String>,
    /// Engines that are in fewer experiments.
    minor: BTreeSet<String>,
}

impl<'a> Page<'a> {
    fn new(all: &'a [Summary]) -> Self {
        let mut page = Self {
            summaries: Vec::new(),
            refused: Vec::new(),
            engines: Vec::new(),
            minor: BTreeSet::new(),
        };
        for summary in all {
            let reasons = disqualifications(summary);
            let reasons: Vec<String> = reasons.iter().map(ToString::to_string).collect();
            match reasons.is_empty() {
                true => page.summaries.push(summary),
                false => page.refused.push((summary.study.name.clone(), reasons.join("; "))),
            }
        }
        let mut names: Vec<String> = Vec::new();
        for summary in &page.summaries {
            for name in summary.arms.iter().filter_map(engine) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        for name in names {
            let count = EXPERIMENTS
                .iter()
                .filter(|experiment| page.figure(&name, experiment).is_some());
            match count.count() {
                0 => {}
                few if few < EXPERIMENTS_MIN => {
                    page.minor.insert(name);
                }
                _ => page.engines.push(name),
            }
        }
        page
    }

    fn figure(&self, engine_name: &str, experiment: &Experiment) -> Option<Figure> {
        let mut best: Option<Figure> = None;
        for summary in &self.summaries {
            let arms = summary
                .arms
                .iter()
                .filter(|arm| engine(arm).as_deref() == Some(engine_name));
            for arm in arms {
                let found = match experiment.pooled {
                    true => pooled(summary, arm, experiment),
                    false => single(summary, arm, experiment),
                };
                let Some(found) = found else { continue };
                if best.as_ref().is_none_or(|best| is_better(&found, best)) {
                    best = Some(found);
                }
            }
        }
        best
    }

    /// All figures that the page shows.
    fn figures(&self) -> Vec<(String, &'static str, Figure)> {
        let each = self.engines.iter().flat_map(|name| {
            EXPERIMENTS
                .iter()
                .filter_map(move |experiment| Some((name.clone(), experiment.title, self.figure(name, experiment)?)))
        });
        each.collect()
    }

    fn matrix(&self, title: &str, experiments: &[Experiment]) -> String {
        let mut out = format!("## {title}\n\n");
        let head: Vec<&str> = experiments.iter().map(|experiment| experiment.title).collect();
        let _ = writeln!(
            out,
            "| engine | {} |\n|{}",
            head.join(" | "),
            "---|".repeat(head.len() + 1)
        );
        for name in &self.engines {
            let fields = experiments.iter().map(|experiment| {
                let figure = self.figure(name, experiment);
                figure.map_or_else(|| "-".to_owned(), |figure| figure.text())
            });
            let fields: Vec<String> = fields.collect();
            let _ = writeln!(out, "| {} | {} |", plain(name), fields.join(" | "));
        }
        for (name, why) in self.not_measured() {
            let _ = writeln!(out, "| {name} | {} |", vec![why; experiments.len()].join(" | "));
        }
        out.push('\n');
        out
    }

    /// The engines of [`SERVERS`] without a study, and why.
    fn not_measured(&self) -> Vec<(&'static str, &'static str)> {
        let at_rest = self
            .summaries
            .iter()
            .filter(|summary| summary.cells.iter().all(|cell| cell.work != MESSAGES));
        let libraries: BTreeSet<String> = at_rest
            .flat_map(|summary| &summary.arms)
            .map(|arm| library(arm).to_lowercase())
            .collect();
        let unseen = SERVERS
            .iter()
            .filter(|(_, prefix, _)| libraries.iter().all(|name| !name.starts_with(prefix)));
        unseen.map(|(name, _, why)| (*name, *why)).collect()
    }

    fn page_costs(&self) -> String {
        let mut out = String::from(
            "## The cost of a page\n\nCPU time in addition for each page that the unencrypted arm read or wrote, in \
             microseconds. A page has 4 KiB, if no other size is beside the figure.\n\n",
        );
        let shown: Vec<&Experiment> = EXPERIMENTS
            .iter()
            .filter(|experiment| {
                let mut figures = self.engines.iter().filter_map(|name| self.figure(name, experiment));
                figures.any(|figure| figure.per_page_ns.is_some())
            })
            .collect();
        let head: Vec<&str> = shown.iter().map(|experiment| experiment.title).collect();
        let _ = writeln!(
            out,
            "| engine | {} |\n|{}",
            head.join(" | "),
            "---|".repeat(head.len() + 1)
        );
        for name in &self.engines {
            let fields = shown.iter().map(|experiment| {
                let figure = self.figure(name, experiment);
                let cost = figure.and_then(|figure| Some((figure.per_page_ns?, figure.page_size)));
                cost.map_or_else(
                    || "-".to_owned(),
                    |((center, low, high), size)| {
                        let [center, low, high] = [center, low, high].map(number::microseconds);
                        let size = match size {
                            PAGE_SIZE => String::new(),
                            other => format!(" ({} KiB)", other >> 10),
                        };
                        format!("{center} [{low}, {high}]{size}")
                    },
                )
            });
            let fields: Vec<String> = fields.collect();
            let _ = writeln!(out, "| {} | {} |", plain(name), fields.join(" | "));
        }
        for (name, why) in self.not_measured() {
            let _ = writeln!(out, "| {name} | {} |", vec![why; shown.len()].join(" | "));
        }
        out.push('\n');
        out
    }

    fn charts(&self) -> String {
        let mut out = String::from(
            "## The same as a chart\n\n`o` is the cost in CPU time, `-` its 95 % interval, `:` no cost. The scale is \
             logarithmic; `<` and `>` lead to what does not fit.\n\n```text\n",
        );
        for experiment in EXPERIMENTS
            .iter()
            .filter(|experiment| CHARTS.contains(&experiment.title))
        {
            let figures = self
                .engines
                .iter()
                .filter_map(|name| Some((name, self.figure(name, experiment)?)));
            let figures: Vec<(&String, Figure)> = figures.collect();
            let _ = writeln!(out, "{}", experiment.title.replace('`', ""));
            for (name, figure) in &figures {
                let _ = writeln!(out, "  {name:width$} {}", bar(figure), width = NAME_WIDTH);
            }
            let _ = writeln!(out, "  {:width$} {}\n", "", axis(), width = NAME_WIDTH);
        }
        format!("{}\n```\n\n", out.trim_end())
    }

    /// A server's traffic.
    fn messages(&self) -> String {
        let mut rows = String::new();
        for summary in &self.summaries {
            let sessions = load::sessions(summary);
            for cell in summary.cells.iter().filter(|cell| cell.work == MESSAGES && cell.gating) {
                let encrypted = summary.arms.iter().filter(|arm| arm.role == ArmRole::Encrypted);
                for arm in encrypted {
                    let mut effects = cell.effects.iter();
                    let Some(effect) = effects.find(|effect| effect.arm == arm.name && effect.metric == Metric::Cpu)
                    else {
                        continue;
                    };
                    let packet = effect.per_page_ns.map_or_else(
                        || "-".to_owned(),
                        |(center, low, high)| {
                            let [center, low, high] = [center, low, high].map(number::microseconds);
                            format!("{center} [{low}, {high}]")
                        },
                    );
                    let _ = writeln!(
                        rows,
                        "| {} | {} | {} | {packet} | {} |",
                        plain(&arm.label),
                        plain(&cell.label),
                        number::estimate(effect.ratio, effect.interval),
                        load::words(&sessions)
                    );
                }
            }
        }
        match rows.is_empty() {
            true => rows,
            false => format!(
                "## What a connection costs\n\nCPU time of a server that does nothing but send; a server with other work to do \
                 has smaller ratios at the same cost of a packet.\n\n| server and mode | packets | CPU | us a packet | machine |\n\
                 |---|---|---|---|---|\n{rows}\n"
            ),
        }
    }

    /// The publications that were repeated.
    fn reruns(&self, folder: &str) -> String {
        let mut rows = String::new();
        for summary in &self.summaries {
            let Some(rerun) = &summary.published else { continue };
            let name = &summary.study.name;
            for row in super::published::rows(rerun) {
                let row: Vec<String> = row.iter().map(|field| plain(field)).collect();
                let _ = writeln!(rows, "| [{name}]({folder}/{name}.md) | {} |", row.join(" | "));
            }
        }
        if rows.is_empty() {
            return "## Published figures, measured again\n\nNot yet measured. Presets repeat them: `selenite lab init` lists \
                    those that are named after an author and a year.\n\n"
                .to_owned();
        }
        format!(
            "## Published figures, measured again\n\n| study | {} |\n|{}\n{rows}\n[LAB](LAB.md) says how the last three columns are \
             simulated.\n\n",
            super::published::HEAD.join(" | "),
            "---|".repeat(super::published::HEAD.len() + 1)
        )
    }

    fn unseen(&self) -> String {
        let figures = self.figures();
        let open = figures.iter().filter(|(_, _, figure)| !figure.is_resolved());
        let count = open.clone().count();
        let by_experiment = EXPERIMENTS.iter().filter_map(|experiment| {
            let names = open.clone().filter(|(_, title, _)| *title == experiment.title);
            let names: Vec<String> = names.map(|(name, ..)| plain(name)).collect();
            (!names.is_empty()).then(|| format!("{} ({})", experiment.title, names.join(", ")))
        });
        let by_experiment: Vec<String> = by_experiment.collect();
        let busy = figures.iter().filter(|(_, _, figure)| !figure.is_quiet()).count();
        let mut out = String::from("## What we could not see\n\n");
        for (name, why) in self.not_measured() {
            let _ = writeln!(out, "- {name}: {why}.");
        }
        let _ = writeln!(
            out,
            "- {count} of {} figures are not resolved: their interval contains the limit. {}",
            figures.len(),
            by_experiment.join("; ")
        );
        let _ = writeln!(
            out,
            "- {busy} of {} figures come from studies with a session that was not quiet. {}",
            figures.len(),
            load::RULE
        );
        for (name, reason) in &self.refused {
            let _ = writeln!(out, "- The study `{name}` is not used: {reason}.");
        }
        if !self.minor.is_empty() {
            let names: Vec<String> = self.minor.iter().map(|name| plain(name)).collect();
            let _ = writeln!(
                out,
                "- Measured in fewer than {EXPERIMENTS_MIN} of these experiments, and only in the studies: {}.",
                names.join("; ")
            );
        }
        let used: BTreeSet<&str> = figures.iter().map(|(_, _, figure)| figure.study.as_str()).collect();
        let limits = self
            .summaries
            .iter()
            .filter(|summary| used.contains(summary.study.name.as_str()));
        let limits: BTreeSet<&String> = limits.flat_map(|summary| &summary.host.warnings).collect();
        // The load at the start of a study is in the judgement of its sessions.
        for limit in limits.into_iter().filter(|limit| !limit.contains("(load ")) {
            let _ = writeln!(out, "- {}", plain(&super::sentence::statement(limit)));
        }
        if self.engines.iter().any(|name| name.starts_with("selenite serve")) {
            out.push_str(SERVE_BASELINE);
        }
        out.push_str("- Another machine, file system or setting: each study says what it ran on.\n\n");
        out
    }

    fn sources(&self, folder: &str) -> String {
        let figures = self.figures();
        let used: BTreeSet<&str> = figures.iter().map(|(_, _, figure)| figure.study.as_str()).collect();
        let mut out = String::from(
            "## Where the figures come from\n\n| study | sessions | machine | commit |\n|---|---|---|---|\n",
        );
        for summary in &self.summaries {
            let study = &summary.study;
            let is_transit = summary.cells.iter().any(|cell| cell.work == MESSAGES);
            if !used.contains(study.name.as_str()) && !is_transit {
                continue;
            }
            let machine = summary
                .host
                .facts
                .first()
                .map_or("unknown", |(_, value)| value.as_str());
            let _ = writeln!(
                out,
                "| [{}]({folder}/{}.md) | {} | {} | {} |",
                study.name,
                study.name,
                load::words(&load::sessions(summary)),
                plain(machine),
                study.commit.get(..12).unwrap_or(&study.commit)
            );
        }
        out
    }
}

fn single(summary: &Summary, arm: &ArmFacts, experiment: &Experiment) -> Option<Figure> {
    let cells = summary.cells.iter().filter(|cell| experiment.is_in(cell));
    let figures = cells.filter_map(|cell| {
        let mut effects = cell.effects.iter();
        let effect = effects.find(|effect| effect.arm == arm.name && effect.metric == Metric::Cpu)?;
        let pages = cell.levels.get(&effect.control).map_or(0.0, |level| level.pages);
        Some(Figure {
            study: summary.study.name.clone(),
            ratio: effect.ratio,
            interval: effect.interval,
            per_page_ns: effect.per_page_ns,
            page_size: page_size(summary),
            limit: summary.study.limit,
            quiet: quiet(summary),
            size: pages,
        })
    });
    figures.reduce(|best, next| match is_better(&next, &best) {
        true => next,
        false => best,
    })
}

fn pooled(summary: &Summary, arm: &ArmFacts, experiment: &Experiment) -> Option<Figure> {
    let mut overall = summary.mixes.iter();
    let overall = overall.find(|overall| overall.arm == arm.name && overall.metric == Metric::Cpu)?;
    let pooled = overall.pooled.as_ref()?;
    let is_ours = |name: &String| {
        summary
            .cells
            .iter()
            .any(|cell| cell.name == *name && experiment.is_in(cell))
    };
    let cells = summary.cells.iter().filter(|cell| overall.cells.contains(&cell.name));
    // One mix by several numbers of processes is another experiment.
    let mixes: BTreeSet<_> = cells.filter_map(|cell| cell.mix).collect();
    (mixes.len() > 1 && overall.cells.iter().all(is_ours)).then(|| Figure {
        study: summary.study.name.clone(),
        ratio: pooled.ratio,
        interval: pooled.interval,
        per_page_ns: None,
        page_size: page_size(summary),
        limit: summary.study.limit,
        quiet: quiet(summary),
        size: f64::from(u32::try_from(overall.cells.len()).unwrap_or(u32::MAX)),
    })
}

/// The page size of a study; that of most if its configuration is of another version.
fn page_size(summary: &Summary) -> u32 {
    Config::parse(&summary.study.config).map_or(PAGE_SIZE, |config| config.layout.page_size)
}

fn quiet(summary: &Summary) -> (usize, usize) {
    let sessions = load::sessions(summary);
    let quiet = sessions
        .iter()
        .filter(|session| session.state == LoadState::Quiet)
        .count();
    (quiet, sessions.len())
}

/// The engine and cipher of an arm: `Selenite AES_256`. None for arms that no user would run: without
/// a cipher, without the processor's instructions, with another kind of key.
fn engine(arm: &ArmFacts) -> Option<String> {
    let is_odd = arm.cipher == "NONE" || arm.label.contains(" without ") || arm.label.ends_with(" key");
    let library = library(arm);
    let beside = ["", " beside suite NONE"][usize::from(library == "selenite serve")];
    (arm.role == ArmRole::Encrypted && !is_odd).then(|| format!("{library} {}{beside}", arm.cipher))
}

/// The library without its version: the words before the first that begins with a digit.
fn library(arm: &ArmFacts) -> String {
    let words = arm.library.split(' ');
    let words = words.take_while(|word| !word.starts_with(|letter: char| letter.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

/// The column of a ratio; columns are equal steps of its logarithm.
fn column(ratio: f64) -> Option<usize> {
    let (low, high) = (CHART_LOW.ln(), CHART_HIGH.ln());
    let share = (ratio.ln_1p() - low) / (high - low);
    (0.0..=1.0).contains(&share).then(|| {
        let last = CHART_WIDTH - 1;
        (0..=last)
            .find(|column| share * as_share(last) <= as_share(*column) + 0.5)
            .unwrap_or(last)
    })
}

fn as_share(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

fn bar(figure: &Figure) -> String {
    let mut line = vec![' '; CHART_WIDTH];
    if let Some((low, high)) = figure.interval {
        let first = column(low).unwrap_or(if low.ln_1p() < CHART_LOW.ln() {
            0
        } else {
            CHART_WIDTH - 1
        });
        let last = column(high).unwrap_or(if high.ln_1p() < CHART_LOW.ln() {
            0
        } else {
            CHART_WIDTH - 1
        });
        for letter in line.iter_mut().take(last + 1).skip(first) {
            *letter = '-';
        }
        if low.ln_1p() < CHART_LOW.ln() {
            line[0] = '<';
        }
        if high.ln_1p() > CHART_HIGH.ln() {
            line[CHART_WIDTH - 1] = '>';
        }
    }
    if let Some(zero) = column(0.0).filter(|zero| line[*zero] == ' ') {
        line[zero] = ':';
    }
    if let Some(center) = column(figure.ratio) {
        line[center] = 'o';
    }
    let line: String = line.into_iter().collect();
    format!("{line} {}", number::percent(figure.ratio))
}

/// Labels below the columns of some costs.
fn axis() -> String {
    let mut line = vec![' '; CHART_WIDTH + 8];
    for (ratio, label) in [(-0.5, "-50%"), (0.0, "0"), (1.0, "+100%"), (3.0, "+300%")] {
        let Some(at) = column(ratio) else { continue };
        for (index, letter) in label.chars().enumerate() {
            if let Some(place) = line.get_mut(at + index) {
                *place = letter;
            }
        }
    }
    line.into_iter().collect::<String>().trim_end().to_owned()
}

const INTRODUCTION: &str = "# The observatory

What encryption costs, engine by engine. `selenite lab observatory docs/studies` generates this
page from the published studies; no figure is typed by hand. [LAB](LAB.md) says how they are
measured, [BENCHMARKS](BENCHMARKS.md) compares them with goals.

A figure is the additional CPU time, (encrypted - unencrypted) / unencrypted, each engine compared
with itself without encryption, with its 95 % interval. `?`: the interval contains the limit of the
study (3 % in most), so neither more nor less is sure. `~`: at least one session of the study was
not quiet. `-`: no study. Of several studies the one with the most quiet sessions is shown, then the
one with the most work; the figure itself plays no part.

";

const NOT_YET: &str = "not yet measured";

/// What the unencrypted arm of the server does.
const SERVE_BASELINE: &str = "- `selenite serve` against stock SQLite: its unencrypted databases have suite NONE, which \
    computes a SHA-256 of each page and can cost more than AES; its ratios are those of the cipher.\n";

/// The first so many only read.
const READING: usize = 5;

static EXPERIMENTS: [Experiment; 10] = [
    Experiment::new("`LIKE`, cold", "like", Some("cold"), "*"),
    Experiment::new("`=`, cold", "equal", Some("cold"), "*"),
    Experiment::new("`=`, system cache", "equal", Some("os"), "equal-os"),
    Experiment::new("`=`, page cache", "equal", Some("page"), "*"),
    Experiment::new("integrity check", "integrity-check", Some("os"), "*"),
    Experiment::new("inserts, a commit each", "insert", None, "insert"),
    Experiment::new("update of all rows", "update-all", None, "*"),
    Experiment::new("copy to a file", "backup", None, "*"),
    Experiment {
        pooled: true,
        ..Experiment::new("mixes", "hummer", None, "*")
    },
    Experiment::new("encrypting a database", "convert", None, "encrypt"),
];

/// Engines, how their libraries' names begin in lower case, and why there may be no study of them at rest.
const SERVERS: [(&str, &str, &str); 4] = [
    ("MariaDB", "mariadb", NOT_YET),
    ("PostgreSQL", "postgresql", "does not encrypt files"),
    ("DuckDB", "duckdb", NOT_YET),
    ("selenite serve (at rest)", "selenite serve", NOT_YET),
];

/// The experiments of the chart.
const CHARTS: [&str; 3] = ["`=`, cold", "inserts, a commit each", "mixes"];

/// An engine with fewer is named, and not shown.
const EXPERIMENTS_MIN: usize = 3;
/// The page size of most studies.
const PAGE_SIZE: u32 = 4096;
const NAME_WIDTH: usize = 40;
const CHART_WIDTH: usize = 48;
/// The ends of the chart, as ratios.
const CHART_LOW: f64 = 0.5;
const CHART_HIGH: f64 = 5.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(ratio: f64, interval: (f64, f64)) -> Figure {
        Figure {
            study: "s".into(),
            ratio,
            interval: Some(interval),
            per_page_ns: None,
            page_size: PAGE_SIZE,
            limit: 0.03,
            quiet: (5, 5),
            size: 1.0,
        }
    }

    #[test]
    fn bars_show_the_interval_and_what_does_not_fit() {
        let bar_of = |ratio, low, high| bar(&figure(ratio, (low, high)));
        assert!(bar_of(0.5, 0.4, 0.6).contains("-o-"), "{}", bar_of(0.5, 0.4, 0.6));
        assert!(bar_of(2.0, 1.0, 9.0).contains('>') && bar_of(-0.4, -0.9, 0.2).starts_with('<'));
        assert!(bar_of(9.0, 8.0, 10.0).contains('>'));
        assert_eq!(column(0.0), axis().replace("-50%", "    ").find('0'));
    }

    #[test]
    fn a_figure_says_what_is_doubtful_about_it() {
        assert_eq!(figure(0.1, (0.08, 0.12)).text(), "+10.0 % [8.0, 12.0]");
        let busy = Figure {
            quiet: (4, 5),
            ..figure(0.1, (0.0, 0.2))
        };
        assert_eq!(busy.text(), "+10.0 % [0.0, 20.0] ? ~");
    }

    #[test]
    fn the_choice_of_a_study_does_not_look_at_its_figure() {
        let quieter = figure(9.0, (8.0, 10.0));
        let busier = Figure {
            quiet: (1, 5),
            size: 100.0,
            ..figure(0.0, (0.0, 0.0))
        };
        assert!(is_better(&quieter, &busier) && !is_better(&busier, &quieter));
        let larger = Figure {
            size: 2.0,
            ..figure(0.5, (0.4, 0.6))
        };
        assert!(is_better(&larger, &quieter));
        let later = Figure {
            study: "t".into(),
            ..figure(0.1, (0.0, 0.2))
        };
        assert!(is_better(&quieter, &later) && !is_better(&later, &quieter));
    }
}
