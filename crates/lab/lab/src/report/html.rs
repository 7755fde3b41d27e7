//! A self-contained page: without scripts, fonts or pictures from elsewhere.
//!
//! - input-is-escaped: text from a study is escaped wherever it is inserted.
//! - charts-have-text: every chart has a name, a sentence and a table; no information is expressed
//!   by colour alone.

use selenite::utc;

use super::sentence;
use super::svg::{self, typeset};
use crate::disqualification;
use crate::load;
use crate::summary::{ArmRole, Summary};
use table::section;

mod cost;
mod course;
mod forest;
mod front;
mod level;
mod machine;
mod phases;
pub mod plan;
mod provenance;
mod published;
mod spectrum;
mod table;

/// The report of a study as an HTML file.
pub fn render(summary: &Summary) -> String {
    let title = if summary.study.title.is_empty() {
        &summary.study.name
    } else {
        &summary.study.title
    };
    let (front, rest) = (front(summary, title), sections(summary));
    let links: String = rest
        .iter()
        .filter(|(_, _, body)| !body.is_empty())
        .map(|(id, name, _)| format!("<a href=\"#{id}\">{name}</a>"))
        .collect();
    let sections: String = rest.iter().map(|(_, _, body)| body.as_str()).collect();
    let (title, name) = (typeset(title), typeset(&summary.study.name));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" content=\"selenite lab\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#verdicts\">To the verdicts</a>{}\n<main>\n{front}\
         <nav aria-label=\"Sections\">{links}</nav>\n{sections}</main>\n\
         <footer><p>{name}, measured with selenite lab {}. One file; nothing is loaded from elsewhere.</p></footer>\n</body>\n</html>\n",
        svg::outlines(),
        typeset(&summary.study.lab_version),
    )
}

fn front(summary: &Summary, title: &str) -> String {
    let disqualifications = disqualification::disqualifications(summary);
    let facts = facts(summary)
        .iter()
        .map(|fact| format!("<li>{}</li>", typeset(fact)))
        .collect::<String>();
    format!(
        "<header><p class=\"brand\">Selenite lab<span> / what encryption costs</span></p><h1>{}</h1><ul class=\"facts\">{facts}</ul></header>\n\
         <section id=\"verdicts\" aria-label=\"Verdicts\">{}</section>\n\
         <section id=\"effects\" aria-label=\"Effects\">{}</section>\n\
         <div class=\"front\">{}{}</div>\n",
        typeset(title),
        front::verdicts(summary, &disqualifications),
        front::effects(summary, &disqualifications),
        front::tiles(summary),
        front::limits(summary)
    )
}

fn facts(summary: &Summary) -> Vec<String> {
    let study = &summary.study;
    let encrypted = summary.arms.iter().filter(|arm| arm.role == ArmRole::Encrypted).count();
    let began = utc(study.created_s);
    let mut facts = vec![
        began.split('T').next().unwrap_or_default().to_owned(),
        counted(encrypted, "encrypted arm"),
        counted(summary.cells.len(), "cell"),
        counted(usize::try_from(study.sessions).unwrap_or(0), "session"),
    ];
    facts.extend(summary.host.facts.first().map(|(_, value)| value.clone()));
    facts.push(load::words(&load::sessions(summary)));
    facts.push(sentence::ending(study.state).to_owned());
    facts
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 {
        format!("1 {what}")
    } else {
        format!("{count} {what}s")
    }
}

fn resources(summary: &Summary) -> (&'static str, &'static str, &'static str, String) {
    (
        "resources",
        "Bytes and memory",
        "What a block wrote, how large its files were afterwards (the log before its checkpoint), and the most memory that was resident.",
        table::folded("All arms, cell by cell", &level::resources(summary)),
    )
}

fn rerun(summary: &Summary) -> (&'static str, &'static str, &'static str, String) {
    (
        "published",
        "The published figures",
        "What the source reported, what was found here, and how often its method would be wrong.",
        published::published(summary),
    )
}

fn machine(summary: &Summary) -> (&'static str, &'static str, &'static str, String) {
    let body = [
        machine::sessions(summary),
        machine::strips(summary),
        machine::exceptions(summary),
    ];
    ("machine", "The machine meanwhile", "", body.concat())
}

type Section = (&'static str, &'static str, String);

fn sections(summary: &Summary) -> Vec<Section> {
    let all: [(&'static str, &'static str, &'static str, String); 13] = [
        rerun(summary),
        ("phases", "Before, during, after", "", phases::phases(summary)),
        (
            "cost",
            "Cost of a page",
            "If pages are what costs, an arm costs the same for each of them whatever the query is.",
            cost::per_page(summary),
        ),
        (
            "levels",
            "Both absolutes",
            "Medians of sessions' medians. A ratio is (encrypted - plain) / plain; against NONE it is (encrypted - NONE) / NONE.",
            level::times(summary),
        ),
        (
            "course",
            "Pairs over time",
            "Each pair's CPU time against its arm's estimate, in points of the logarithm. Bands are sessions: new copies of the data, new processes. Points that drift or jump together are the machine's doing.",
            course::course(summary),
        ),
        (
            "latency",
            "Latency",
            "Percentiles of merged histograms, none averaged. The tail is informational: no verdict rests on it.",
            spectrum::spectrum(summary),
        ),
        (
            "mixes",
            "Mixes",
            "The loop of the hummer measurement: reads, updates and inserts in ten.",
            cost::mixes(summary),
        ),
        (
            "checkpoints",
            "Checkpoints",
            "They are part of the block, and of its figures above.",
            level::checkpoints(summary),
        ),
        (
            "system",
            "Reads, writes, switches and faults",
            "Differences of counters over a block, never totals.",
            table::folded("All counters, cell by cell", &level::system(summary)),
        ),
        resources(summary),
        (
            "proofs",
            "Proof of encryption",
            "No arm is measured before it is proved.",
            provenance::proofs(summary),
        ),
        machine(summary),
        ("provenance", "Provenance", "", provenance::provenance(summary)),
    ];
    let raw = (
        "raw",
        "Raw figures",
        section("raw", "Raw figures", "", &provenance::raw(summary)),
    );
    let all = all
        .into_iter()
        .map(|(id, name, about, body)| (id, name, section(id, name, about, &body)));
    all.chain([raw]).collect()
}

const STYLE: &str = include_str!("html/style.css");
