//! The text of the page.

use std::path::{Path, PathBuf};

use selenite_lab::report;
use selenite_lab::summary::Verdict;

use super::fixture::Fixture;

/// Writes a page to the folder for test output. Returns its path.
pub fn write(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).expect("tests may write into target");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("tests may write into target");
    path
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let page = report::html::render(&Fixture::whole().summary());
    assert!(!page.contains("<script") && !page.contains("http") && !page.contains("@import"));
    for id in SECTIONS {
        assert!(page.contains(&format!("id=\"{id}\"")), "{id}");
        assert!(page.contains(&format!("href=\"#{id}\"")) || id == "effects", "{id}");
    }
    assert!(page.contains("data:application/json;charset=utf-8;base64,"));
}

#[test]
fn every_chart_has_a_name_and_every_id_is_there_once() {
    let page = report::html::render(&Fixture::whole().summary());
    for chart in page.split("role=\"img\"").skip(1) {
        let body: String = chart.chars().take(600).collect();
        assert!(body.contains("<title"), "{body}");
    }
    let mut ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for label in page
        .split("aria-labelledby=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
    {
        assert!(label.split(' ').all(|id| ids.binary_search(&id).is_ok()), "{label}");
    }
}

#[test]
fn names_of_a_study_are_never_markup() {
    let mut summary = Fixture::whole().summary();
    let evil = "</title></style></svg><script>alert(1)</script>\" onload=\"x'&";
    summary.study.title = evil.into();
    summary.study.name = evil.into();
    summary.study.config = evil.into();
    summary.study.command = evil.into();
    summary.study.lab_version = evil.into();
    summary.limits.push(evil.into());
    summary.host.facts.push((evil.into(), evil.into()));
    summary.events[0].text = evil.into();
    summary.evidence.void.insert(evil.into(), 1);
    for cell in &mut summary.cells {
        cell.label = evil.into();
        cell.unit = evil.into();
        for curve in &mut cell.latencies {
            curve.operation = evil.into();
        }
        for effect in cell.effects.iter_mut().filter(|effect| effect.arm == "AES_256") {
            effect.arm = evil.into();
        }
    }
    for arm in summary.arms.iter_mut().filter(|arm| arm.name == "AES_256") {
        arm.name = evil.into();
        arm.label = evil.into();
        arm.proof.push((evil.into(), evil.into()));
    }
    for overall in summary
        .overall
        .iter_mut()
        .chain(&mut summary.mixes)
        .filter(|overall| overall.arm == "AES_256")
    {
        overall.arm = evil.into();
    }
    let page = report::html::render(&summary);
    assert!(!page.contains("<script") && !page.contains("\" onload"));
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(page.matches("</title></style>").count(), 0);
}

#[test]
fn a_study_that_is_not_done_has_no_verdict() {
    let mut summary = Fixture::tiny().summary();
    for effect in summary.cells.iter_mut().flat_map(|cell| &mut cell.effects) {
        effect.verdict = Verdict::Above;
    }
    let page = report::html::render(&summary);
    let first = page.find("Not conclusive.").expect("it says so");
    assert!(first < page.find("class=\"verdicts\"").expect("there are sentences"));
    assert!(page.contains("it has not ended") && page.contains("it has 2 sessions; a verdict needs 5"));
    assert!(
        page.contains("no verdict") && !page.contains("class=\"state above\"") && !page.contains("above the limit")
    );
}

#[test]
fn figures_that_are_missing_leave_a_page() {
    let mut summary = Fixture::whole().summary();
    for cell in &mut summary.cells {
        cell.effects.clear();
        cell.levels.clear();
        cell.latencies.clear();
        cell.pairs.clear();
    }
    summary.overall.clear();
    summary.mixes.clear();
    summary.evidence.samples.clear();
    assert!(report::html::render(&summary).contains("no pair of blocks counts"));
    summary.cells.clear();
    summary.arms.clear();
    summary.host = Default::default();
    assert!(report::html::render(&summary).ends_with("</html>\n"));
}

/// All sections of a complete study's page.
pub const SECTIONS: [&str; 13] = [
    "verdicts",
    "effects",
    "cost",
    "levels",
    "course",
    "latency",
    "mixes",
    "checkpoints",
    "system",
    "proofs",
    "machine",
    "provenance",
    "raw",
];
