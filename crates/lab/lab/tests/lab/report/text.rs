//! Text reports, compared with files that have to be inspected when they change: `SELENITE_BLESS=1`
//! rewrites them.

use std::path::Path;

use selenite_lab::report::terminal::{self, Look};
use selenite_lab::report::{csv, html, json, markdown};
use selenite_lab::summary::{Effect, Metric, SUMMARY_SCHEMA, Summary, Verdict};

use super::fixture::Fixture;

fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../testdata/lab")
        .join(name);
    if std::env::var_os("SELENITE_BLESS").is_some() {
        std::fs::write(&path, text).expect("the folder is there");
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = known.lines().zip(text.lines()).find(|(known, now)| known != now);
    assert!(
        known == text,
        "{name} differs: {differs:?}; SELENITE_BLESS=1 rewrites it"
    );
}

#[test]
fn a_terminal_shows_sentences_and_a_forest() {
    let (whole, tiny) = (Fixture::whole().summary(), Fixture::tiny().summary());
    let look = |width, unicode| Look {
        width,
        unicode,
        color: false,
    };
    golden("whole-100.txt", &terminal::render(&whole, look(100, true)));
    golden("whole-80-ascii.txt", &terminal::render(&whole, look(80, false)));
    golden("tiny-80-ascii.txt", &terminal::render(&tiny, look(80, false)));
}

#[test]
fn a_terminal_is_never_wider_than_it_is() {
    let mut summary = Fixture::whole().summary();
    summary.study.title = "A title that is much longer than any terminal that people use ".repeat(4);
    for (width, unicode) in [(60, true), (80, false), (80, true), (100, true), (200, false)] {
        let text = terminal::render(
            &summary,
            Look {
                width,
                unicode,
                color: false,
            },
        );
        let longest = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= width, "{longest} > {width}");
        assert!(unicode || text.is_ascii());
        assert!(!text.contains('\u{1b}'));
    }
    assert!(
        terminal::render(
            &summary,
            Look {
                width: 80,
                unicode: false,
                color: true
            }
        )
        .contains("\u{1b}[31m")
    );
}

/// Without it a reader would assume that every control does the same work without encryption.
#[test]
fn the_different_work_of_a_control_is_stated() {
    let mut summary = Fixture::whole().summary();
    let look = Look {
        width: 80,
        unicode: false,
        color: false,
    };
    let views = |summary: &Summary| {
        let terminal = terminal::render(summary, look);
        let terminal = terminal.split_whitespace().collect::<Vec<_>>().join(" ");
        [markdown::render(&[summary]), html::render(summary), terminal]
    };
    for (work, part) in [
        ("rekey", "an ordinary copy of the file"),
        ("convert", "VACUUM INTO"),
        ("archive", "zstd (level 3, two threads) and age"),
        ("physical-verify", "reading the file from its first byte to its last"),
    ] {
        assert!(views(&summary).iter().all(|view| !view.contains(part)), "{work}");
        summary.cells[0].work = work.to_owned();
        for view in views(&summary) {
            assert!(view.contains(part), "{work}: {view}");
        }
    }
}

#[test]
fn a_study_sends_no_codes_to_a_terminal() {
    let mut summary = Fixture::whole().summary();
    let evil = "x\u{1b}]0;evil\u{7}\r\u{9b}2J";
    summary.study.title = evil.into();
    summary.limits.push(evil.into());
    for cell in &mut summary.cells {
        cell.label = evil.into();
        for effect in &mut cell.effects {
            effect.arm = format!("{evil}{}", effect.arm);
        }
    }
    for arm in &mut summary.arms {
        arm.name = format!("{evil}{}", arm.name);
    }
    let text = terminal::render(
        &summary,
        Look {
            width: 80,
            unicode: true,
            color: false,
        },
    );
    assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'));
}

#[test]
fn a_cell_that_is_open_after_a_correction_is_explained() {
    let mut summary = Fixture::whole().summary();
    let words = "Holm's correction for several gating cells";
    let pages = |summary: &Summary| {
        let text = terminal::render(
            summary,
            Look {
                width: 200,
                unicode: false,
                color: false,
            },
        );
        [
            text,
            markdown::render(&[summary]),
            html::render(summary).replace("&#39;", "'"),
        ]
    };
    assert!(pages(&summary).iter().all(|page| !page.contains(words)));
    let cpu = |effect: &&mut Effect| effect.metric == Metric::Cpu && effect.arm == "AES_256";
    let effect = summary.cells[0].effects.iter_mut().find(cpu).expect("it was measured");
    effect.verdict = Verdict::NotResolved { minutes_more: None };
    assert!(pages(&summary).iter().all(|page| page.contains(words)));
}

#[test]
fn markdown_holds_several_studies() {
    let (whole, tiny) = (Fixture::whole().summary(), Fixture::tiny().summary());
    let text = markdown::render(&[&whole, &tiny]);
    golden("whole-and-tiny.md", &text);
    assert_eq!(text.lines().filter(|line| line.starts_with("## ")).count(), 2);
}

#[test]
fn json_round_trips() {
    let summary = Fixture::whole().summary();
    assert!(json::parse(&json::render(&summary).unwrap()).unwrap() == summary);
    assert!(json::parse(&json::compact(&summary).unwrap()).unwrap() == summary);
}

#[test]
fn json_of_another_version_is_refused_before_it_is_read() {
    let other = format!("{{\"schema\": {}, \"quite\": \"other\"}}", SUMMARY_SCHEMA + 1);
    assert!(
        matches!(json::parse(&other), Err(json::JsonError::OtherSchema(schema)) if schema == u64::from(SUMMARY_SCHEMA) + 1)
    );
    assert!(matches!(json::parse("{}"), Err(json::JsonError::Malformed(_))));
    assert!(matches!(json::parse("schema"), Err(json::JsonError::Malformed(_))));
}

#[test]
fn tables_have_as_many_fields_as_their_first_line() {
    let summary = Fixture::whole().summary();
    let tables = [
        csv::effects(&summary),
        csv::levels(&summary),
        csv::pairs(&summary),
        csv::latencies(&summary),
        csv::host(&summary),
    ];
    for table in tables {
        let commas = table.lines().next().map_or(0, |line| line.matches(',').count());
        assert!(table.lines().count() > 50);
        assert!(
            table.lines().all(|line| line.matches(',').count() == commas),
            "{}",
            &table[..80]
        );
    }
}
