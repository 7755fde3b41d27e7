//! A study that repeats a publication: the comparison, and every view of it.

use selenite_lab::analysis::{Material, summarise};
use selenite_lab::config::Config;
use selenite_lab::report::terminal::{self, Look};
use selenite_lab::report::{html, json, markdown};
use selenite_lab::summary::{FigureComparison, LoadState, Metric};

use super::material::{CONFIG, material};

const PUBLISHED: &str = r#"
[published]
author = "A. Author"
year = 2018
title = "Costs of <encryption>"
in = "a weblog"
engine = "Engine 1"
scale = "1 GB"
machine = "a server"
method = { words = "one run of each", runs = 1, restarted = true }
differs = ["the engine"]

[[published.figures]]
what = "LIKE, cold"
cells = "like-cold"
arm = "AES_256"
of = "cpu"
change = "10%"

[[published.figures]]
what = "both"
cells = "like-*"
arm = "AES_256"
of = "cpu"
plain = 100
encrypted = 100.2
unit = "s"
remark = "called nothing"

[[published.figures]]
what = "in memory"
cells = "like-os"
arm = "AES_256"
of = "elapsed"
change = "0%"
"#;

fn repeated(sessions: u32, pairs: u32, seed: u64) -> Material {
    let mut found = material(sessions, pairs, seed);
    found.config = Config::parse(&format!("{CONFIG}{PUBLISHED}")).unwrap_or_else(|error| panic!("{error}"));
    found
}

fn figures(material: &Material) -> Vec<FigureComparison> {
    summarise(material).unwrap().published.unwrap().figures
}

#[test]
fn a_published_figure_stands_beside_ours() {
    let found = figures(&repeated(8, 8, 61));
    let [like, both, memory] = found.as_slice() else {
        panic!("{found:?}");
    };
    let ours = like.ours.unwrap();
    assert!(
        (ours.ratio - 0.06).abs() < 0.005 && ours.interval.unwrap().0 > 0.05,
        "{ours:?}"
    );
    assert_eq!((like.published, like.metric, ours.sessions), (0.1, Metric::Cpu, 8));
    let pooled = both.ours.unwrap();
    assert!((pooled.ratio - 0.06).abs() < 0.005, "{pooled:?}");
    assert_eq!(both.cells, ["like-cold", "like-os"]);
    assert_eq!(memory.metric, Metric::Elapsed);
}

#[test]
fn the_published_method_errs_as_much_as_the_noise_makes_it() {
    // Blocks spread by up to 5 % by a drift that both arms of a pair share. The published method
    // measures them at different times; this study in pairs.
    let found = figures(&repeated(8, 8, 62));
    let errors = found[0].errors.unwrap();
    let (low, high) = errors.spread;
    assert!(
        (-0.06..-0.015).contains(&low) && (0.015..0.06).contains(&high),
        "{errors:?}"
    );
    // Ten percent are out of its reach, and so is a wrong sign of six.
    assert_eq!((errors.false_alarms, errors.wrong_sign_published), (0.0, Some(0.0)));
    // A cost of 0.2 % is reported by nearly every second measurement, and as a saving by the other.
    let errors = found[1].errors.unwrap();
    assert!((0.35..0.52).contains(&errors.false_alarms), "{errors:?}");
    assert!(
        (0.35..0.52).contains(&errors.wrong_sign_published.unwrap()),
        "{errors:?}"
    );
    assert!(errors.wrong_sign_ours.unwrap() < 0.01, "{errors:?}");
    // No effect has no sign.
    assert_eq!(found[2].errors.unwrap().wrong_sign_published, None);
}

#[test]
fn one_session_says_nothing_of_a_method() {
    let found = figures(&repeated(1, 8, 63));
    assert!(found.iter().all(|figure| figure.errors.is_none()), "{found:?}");
    assert_eq!(found[0].ours.unwrap().interval, None);
}

#[test]
fn every_view_shows_the_source_both_figures_and_the_errors() {
    let summary = summarise(&repeated(8, 8, 64)).unwrap();
    let look = Look {
        width: 100,
        unicode: false,
        color: false,
    };
    let terminal = terminal::render(&summary, look);
    let terminal = terminal.split_whitespace().collect::<Vec<_>>().join(" ");
    let markdown = markdown::render(&[&summary]);
    // A page ties a number to its unit.
    let page = html::render(&summary).replace('\u{a0}', " ");
    for (name, text) in [("terminal", &terminal), ("markdown", &markdown), ("html", &page)] {
        for wanted in [
            "A. Author",
            "2018",
            "Engine 1",
            "10 %",
            "100 to 100.2 s",
            "called nothing",
            "in 100",
        ] {
            assert!(text.contains(wanted), "{name}: {wanted}");
        }
        assert!(!text.contains("126500") && !text.contains("inf "), "{name}");
    }
    assert!(markdown.contains("What differs") && page.contains("id=\"published\""));
    assert!(!page.contains("<encryption>"), "input is escaped");
    assert_eq!(json::parse(&json::render(&summary).unwrap()).unwrap(), summary);
}

#[test]
fn sessions_are_quiet_or_busy_and_every_view_says_so() {
    let mut found = repeated(5, 4, 65);
    for block in &mut found.blocks {
        block.host.others = Some(if block.session == 3 { 0.4 } else { 0.01 });
    }
    let summary = summarise(&found).unwrap();
    let states: Vec<LoadState> = summary.evidence.sessions.iter().map(|session| session.state).collect();
    let mut expected = [LoadState::Quiet; 5];
    expected[2] = LoadState::Busy;
    assert_eq!(states, expected);
    let look = Look {
        width: 100,
        unicode: false,
        color: false,
    };
    let words = "4 of 5 sessions quiet, 1 busy";
    assert!(terminal::render(&summary, look).contains(words));
    assert!(markdown::render(&[&summary]).contains(words));
    assert!(html::render(&summary).contains(words));

    // A summary that was written before sessions were judged: the samples' times tell the session.
    let mut older = summary.clone();
    older.evidence.sessions.clear();
    let derived: Vec<LoadState> = selenite_lab::load::sessions(&older)
        .iter()
        .map(|session| session.state)
        .collect();
    assert_eq!(derived, expected);
}
