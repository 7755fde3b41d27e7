//! Work during a re-encryption, with known changes.

use selenite_lab::analysis::{Material, summarise};
use selenite_lab::config::Config;
use selenite_lab::disqualification::disqualifications;
use selenite_lab::gate::{GateDecision, Question, judge};
use selenite_lab::phase::{Phase, Phases, Sealing};
use selenite_lab::report::terminal::Look;
use selenite_lab::report::{csv, html, markdown, terminal};
use selenite_lab::store::CellRow;
use selenite_lab::summary::{Metric, StudyState, Summary, Verdict};

use super::html::write;
use super::material::material;

/// A study in which every arm drifts by up to 5 %, and a loop of the encrypted one additionally
/// takes 6 % longer.
pub fn material_online(seed: u64) -> Material {
    let mut material = material(8, 8, seed);
    material.config = Config::parse(CONFIG).expect("the configuration makes sense");
    material.study.config = CONFIG.into();
    material.cells = material
        .config
        .cells
        .iter()
        .cloned()
        .zip(0..)
        .map(|(cell, id)| CellRow { id, cell })
        .collect();
    for block in &mut material.blocks {
        let slower = f64::from(u32::try_from(block.sample.cpu_ns).expect("a tenth of a second")) / 100e6;
        let ns = |value: f64| format!("{value:.0}").parse::<u64>().expect("a time is a number");
        let phase = |slower: f64| Phase {
            elapsed_ns: ns(5e9 * slower),
            cpu_ns: 4_000_000_000,
            operations: 50_000,
            retries: 0,
            p99_ns: ns(1e6 * slower * slower),
        };
        block.sample.operations = 50_000;
        block.phases = Some(Phases {
            before: phase(1.0),
            during: phase(slower),
            after: phase(0.99),
            sealing: (block.arm == 2).then(|| Sealing {
                took_ns: 5_000_000_000,
                pages: 20_000,
                bytes: 20_000 * 4096,
                said: "re-encrypted   20,000 pages\nwriters waited   3 ms <b>".into(),
            }),
        });
    }
    material
}

pub fn summary() -> Summary {
    summarise(&material_online(5)).expect("it has no histograms")
}

#[test]
fn a_slowdown_that_is_known_is_found_beside_the_drift_of_the_twin_in_clear() {
    let summary = summary();
    assert_eq!(disqualifications(&summary), []);
    assert_eq!((summary.judged(), summary.mixes.len()), (Metric::Slowdown, 0));
    for cell in &summary.cells {
        let effect = |arm: &str, metric: Metric| {
            let mut effects = cell.effects.iter();
            effects
                .find(|effect| effect.arm == arm && effect.metric == metric)
                .unwrap()
        };
        let found = effect("AES_256", Metric::Slowdown);
        assert!((found.ratio - 0.06).abs() < 0.005, "{found:?}");
        assert_eq!(found.verdict, Verdict::Within { inside_floor: false });
        assert_eq!(found.floor, effect("plain2", Metric::Slowdown).interval);
        assert_eq!(
            (found.per_page_ns, effect("AES_256", Metric::Cpu).per_page_ns),
            (None, None)
        );
        let tail = effect("AES_256", Metric::TailSlowdown);
        assert!((tail.ratio - 0.1236).abs() < 0.01, "{tail:?}");
        assert!(effect("AES_256", Metric::Aftermath).ratio.abs() < 1e-6);
        // 100 ms for 50,000 loops, plus a sixteenth.
        let cpu = effect("AES_256", Metric::Cpu).per_operation_ns.unwrap().0;
        assert!((cpu - 123.0).abs() < 10.0, "{cpu}");
        let (plain, aes) = (&cell.phases["plain"], &cell.phases["AES_256"]);
        assert_eq!(plain.loops_per_s[0], 10_000.0);
        assert!((plain.throughput_during.ratio + 0.0245).abs() < 0.005, "{plain:?}");
        assert!((aes.throughput_during.ratio + 0.08).abs() < 0.006, "{aes:?}");
        assert!((aes.throughput_after.ratio - 1.0 / 0.99 + 1.0).abs() < 1e-6, "{aes:?}");
        assert!(aes.p99_during.ratio > 0.1 && aes.p99_during.interval.unwrap().0 > 0.05);
        let sealing = aes.sealing.as_ref().unwrap();
        assert_eq!((sealing.seconds, sealing.pages_per_s), (5.0, 4000.0));
        assert_eq!(plain.sealing, None);
    }
    let question = |limit| Question {
        limit,
        metric: summary.judged(),
        cells: None,
        arm: None,
    };
    assert_eq!(judge(&summary, &question(0.11)).outcome, GateDecision::Within);
    assert_eq!(judge(&summary, &question(0.03)).outcome, GateDecision::Above);
}

#[test]
fn all_reports_show_the_phases_before_during_and_after() {
    let summary = summary();
    let page = html::render(&summary);
    for text in [
        "id=\"phases\"",
        "Throughput, beside before, %",
        "Time of a loop, %",
        "Throughput lost, dearest gating cell",
        "What a loop took while pages were re-encrypted",
        "writers waited   3 ms &lt;b&gt;",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("id=\"cost\"") && !page.contains("id=\"mixes\""));
    write("online.html", &page);
    let text = terminal::render(
        &summary,
        Look {
            width: 100,
            unicode: false,
            color: false,
        },
    );
    // Lines may be broken at any space.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "within the limit of 11 %",
        "time of a loop while pages are re-encrypted",
        "all pages re-encrypted in 5.00 s, 4,000 a second",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = markdown::render(&[&summary]);
    assert!(
        page.contains("### Before, while and after") && page.contains("| loops a second |"),
        "{page}"
    );
    assert_eq!(csv::phases(&summary).lines().count(), 1 + 2 * 3);
    let effects = csv::effects(&summary);
    assert!(effects.contains(",slowdown,") && effects.contains(",tail-slowdown,"));
}

#[test]
fn a_study_that_has_just_begun_is_reported_too() {
    let mut material = material_online(6);
    material.study.state = StudyState::Unfinished;
    material.sessions.truncate(1);
    material.blocks.truncate(2);
    for block in &mut material.blocks {
        block.phases = block.phases.take().map(|phases| Phases {
            after: Phase::default(),
            ..phases
        });
    }
    let summary = summarise(&material).unwrap();
    let levels = &summary.cells[0].phases["plain"];
    assert_eq!((levels.loops_per_s[2], levels.throughput_after.interval), (0.0, None));
    assert!(html::render(&summary).contains("Not conclusive"));
}

const CONFIG: &str = r#"
[study]
name = "online"
title = "A workload while pages are re-encrypted"
seed = 3
sessions = 8
pairs = 8
limit = "11%"

[data]
kind = "cards"
rows = 1000

[arms.AES_256]
engine = "selenite"
cipher = "AES_256"

[[cells]]
name = "online-1"
work = { kind = "online", mix = "4/3/3", phase = "5s" }
cache = "os"
gating = true

[[cells]]
name = "online-4"
processes = 4
work = { kind = "online", mix = "4/3/3", phase = "5s" }
cache = "os"
gating = true
"#;
