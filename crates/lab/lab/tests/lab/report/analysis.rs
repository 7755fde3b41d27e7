//! The analysis of blocks with known costs.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use selenite_lab::analysis::{self, AnalysisError, Material, summarise};
use selenite_lab::compare::compare;
use selenite_lab::disqualification::{Disqualification, disqualifications};
use selenite_lab::export::{ExportError, export};
use selenite_lab::report::terminal::{self, Look};
use selenite_lab::report::{csv, json, markdown};
use selenite_lab::schedule::Draw;
use selenite_lab::store::{HistogramRow, InstanceRow, NewBlock, Store};
use selenite_lab::summary::{Effect, Extension, Metric, StudyState, Summary, Verdict};

use super::material::material;

fn effect<'a>(summary: &'a Summary, cell: &str, arm: &str, metric: Metric) -> Option<&'a Effect> {
    let cell = summary.cells.iter().find(|facts| facts.name == cell)?;
    cell.effects
        .iter()
        .find(|effect| effect.arm == arm && effect.metric == metric)
}

fn cpu<'a>(summary: &'a Summary, cell: &str) -> &'a Effect {
    effect(summary, cell, "AES_256", Metric::Cpu).expect("it was measured")
}

#[test]
fn a_cost_that_is_known_is_found() {
    let summary = summarise(&material(8, 8, 1)).unwrap();
    assert_eq!(disqualifications(&summary), []);
    for cell in ["like-cold", "like-os"] {
        let found = cpu(&summary, cell);
        let (low, high) = found.interval.unwrap();
        assert!(
            (found.ratio - 0.06).abs() < 0.005 && low < 0.062 && high > 0.058,
            "{found:?}"
        );
        let (boot_low, boot_high) = found.bootstrap.unwrap();
        assert!(
            (boot_low - low).abs() < 0.004 && (boot_high - high).abs() < 0.004,
            "{found:?}"
        );
        assert_eq!((found.sessions, found.verdict), (8, Verdict::Above));
        assert!(found.p_limit.unwrap() < 0.001);
        let (page, page_low, page_high) = found.per_page_ns.unwrap();
        assert!(
            (page - 615.0).abs() < 40.0 && page_low < page && page < page_high,
            "{page}"
        );
        let (operation, ..) = found.per_operation_ns.unwrap();
        assert!((operation / page - 2500.0).abs() < 1.0, "10,000 pages are 4 operations");
        let floor = effect(&summary, cell, "plain2", Metric::Cpu).unwrap();
        assert_eq!(found.floor, floor.interval);
        assert_eq!(floor.floor, None);
        assert!(floor.ratio.abs() < 0.005);
    }
    let overall = &summary.overall[0];
    assert_eq!((overall.verdict, overall.cells.len()), (Verdict::Above, 2));
    assert!((overall.pooled.as_ref().unwrap().ratio - 0.06).abs() < 0.005);
    assert_eq!(summary.cells[0].levels["plain"].blocks, 64);
}

#[test]
fn an_extended_study_has_wider_intervals() {
    let plain = material(8, 8, 1);
    let mut extended = plain.clone();
    extended.extensions = vec![Extension {
        at_s: 1_700_009_000,
        from: 5,
        sessions: 3,
    }];
    let (once, often) = (summarise(&plain).unwrap(), summarise(&extended).unwrap());
    let width = |(low, high): (f64, f64)| high - low;
    let widths = |summary: &Summary| {
        let found = cpu(summary, "like-cold");
        let pooled = summary.overall[0].pooled.as_ref().unwrap().interval.unwrap();
        [found.interval.unwrap(), found.floor.unwrap(), pooled].map(width)
    };
    for (once, often) in widths(&once).into_iter().zip(widths(&often)) {
        assert!(often > 1.3 * once && often < 2.5 * once, "{once} {often}");
    }
    let [once_cpu, often_cpu] = [&once, &often].map(|summary| cpu(summary, "like-cold"));
    assert_eq!(once_cpu.ratio, often_cpu.ratio);
    assert!(once_cpu.p_limit < often_cpu.p_limit && often_cpu.p_limit < Some(0.05));
    assert_eq!(often_cpu.verdict, Verdict::Above);
    let look = Look {
        width: 400,
        unicode: false,
        color: false,
    };
    let sentence = "This study was extended once after its end, when its effects could be seen: from 5 sessions by 3 \
                    sessions.";
    assert!(terminal::render(&often, look).contains(sentence));
    assert!(!terminal::render(&once, look).contains("extended"));
    let text = markdown::render(&[&often]);
    assert!(
        text.contains("interval is a 95 % confidence sequence across them"),
        "{text}"
    );
    assert!(markdown::render(&[&once]).contains("interval is a 95 % t interval across them"));
    let read: Summary = json::parse(&json::render(&often).unwrap()).unwrap();
    assert_eq!(read.study.extensions, often.study.extensions);
    let comparison = compare(&once, &often, &[Metric::Cpu]).unwrap();
    assert!(
        comparison
            .warnings
            .iter()
            .any(|warning| warning.starts_with("the second study was extended"))
    );
}

#[test]
fn an_unresolved_verdict_names_the_sessions_of_an_extension() {
    let mut open = material(8, 8, 1);
    open.config.study.limit = 0.062;
    let text = markdown::render(&[&summarise(&open).unwrap()]);
    let verdict = text.lines().find(|line| line.contains("not yet clear")).unwrap();
    assert!(
        verdict.contains("not yet clear whether this exceeds the 6.2 % limit: about "),
        "{verdict}"
    );
    assert!(verdict.ends_with(" sessions)."), "{verdict}");
}

#[test]
fn a_void_block_takes_its_pairs_with_it() {
    let clean = material(6, 8, 2);
    let mut spoilt = clean.clone();
    let mut without = clean.clone();
    let is_chosen = |session: u32, pair: u32| (session, pair) == (3, 2);
    for block in spoilt
        .blocks
        .iter_mut()
        .filter(|block| is_chosen(block.session, block.pair) && block.arm == 0)
    {
        block.sample.cpu_ns *= 50;
        block.void = Some("swapped in".into());
    }
    without.blocks.retain(|block| !is_chosen(block.session, block.pair));
    let (spoilt, without) = (summarise(&spoilt).unwrap(), summarise(&without).unwrap());
    for cell in ["like-cold", "like-os"] {
        assert_eq!(
            cpu(&spoilt, cell),
            cpu(&without, cell),
            "the control was void, so no pair of it counts"
        );
    }
    assert_eq!(cpu(&spoilt, "like-cold").pairs, 47);
    assert_eq!(spoilt.evidence.void["swapped in"], 2);
    assert!(
        spoilt.cells[0]
            .pairs
            .iter()
            .all(|pair| !is_chosen(pair.session, pair.pair - 1))
    );
}

#[test]
fn an_arm_is_compared_with_suite_none_by_the_same_blocks() {
    let mut material = material(8, 8, 4);
    let summary = summarise(&material).unwrap();
    assert!(cpu(&summary, "like-cold").against_none.is_none());
    let mut none = material.arms[2].clone();
    none.id = 3;
    none.facts.name = "NONE".to_owned();
    none.facts.cipher = "NONE".to_owned();
    material.arms[2].facts.none = Some("NONE".to_owned());
    material.arms.push(none);
    // Two hundredths more expensive than the unencrypted arm, with the same session and drift.
    let blocks = material.blocks.iter().filter(|block| block.arm == 0);
    let blocks: Vec<_> = blocks
        .map(|block| {
            let mut block = block.clone();
            (block.id, block.arm) = (block.id + 10_000, 3);
            block.sample.cpu_ns = block.sample.cpu_ns / 100 * 102;
            block
        })
        .collect();
    material.blocks.extend(blocks);
    let summary = summarise(&material).unwrap();
    let effect = cpu(&summary, "like-cold");
    let against = effect.against_none.clone().unwrap();
    assert_eq!(
        (against.control.as_str(), against.sessions, against.pairs),
        ("NONE", 8, 64)
    );
    assert!(
        (against.ratio - (1.0 + effect.ratio) / 1.02 + 1.0).abs() < 1e-6,
        "{against:?}"
    );
    let (low, high) = against.interval.unwrap();
    assert!(
        low < against.ratio && against.ratio < high && high < effect.interval.unwrap().1,
        "{against:?}"
    );
    let found = self::effect(&summary, "like-cold", "NONE", Metric::Cpu).unwrap();
    assert!((found.ratio - 0.02).abs() < 1e-6 && found.against_none.is_none());
    let row = csv::effects(&summary);
    let row = row
        .lines()
        .find(|line| line.starts_with("like-cold,AES_256,plain,cpu"))
        .unwrap();
    assert!(row.contains(",NONE,0.03"), "{row}");
}

#[test]
fn half_a_pair_counts_for_nothing() {
    let mut half = material(6, 8, 3);
    half.blocks
        .retain(|block| (block.session, block.pair, block.arm) != (6, 7, 2));
    let summary = summarise(&half).unwrap();
    assert_eq!(cpu(&summary, "like-cold").pairs, 47);
    assert_eq!(effect(&summary, "like-cold", "plain2", Metric::Cpu).unwrap().pairs, 48);
}

#[test]
fn one_session_has_no_interval_and_no_verdict() {
    let summary = summarise(&material(1, 8, 4)).unwrap();
    let found = cpu(&summary, "like-cold");
    assert_eq!(
        (found.interval, found.bootstrap, found.floor, found.p_limit),
        (None, None, None, None)
    );
    assert!(matches!(found.verdict, Verdict::NotResolved { .. }));
    assert!((found.ratio - 0.06).abs() < 0.02);
    assert!(disqualifications(&summary).contains(&Disqualification::FewSessions(1)));
    assert!(selenite_lab::report::html::render(&summary).contains("it has one session; a verdict needs 5"));
}

#[test]
fn a_study_without_sessions_has_a_summary() {
    let summary = summarise(&material(0, 8, 4)).unwrap();
    assert!(disqualifications(&summary).contains(&Disqualification::Empty));
    assert!(summary.cells.iter().all(|cell| cell.effects.is_empty()) && summary.overall.is_empty());
}

#[test]
fn a_counter_that_was_zero_once_gives_no_ratio() {
    let mut zero = material(6, 8, 5);
    let block = zero
        .blocks
        .iter_mut()
        .find(|block| block.arm == 0 && block.cell == 0)
        .unwrap();
    block.sample.faults_minor = 0;
    let summary = summarise(&zero).unwrap();
    assert!(effect(&summary, "like-cold", "AES_256", Metric::Faults).is_none());
    assert!(effect(&summary, "like-os", "AES_256", Metric::Faults).is_some());
    assert!(
        effect(&summary, "like-cold", "AES_256", Metric::Switches).is_none(),
        "never counted"
    );
    assert!(effect(&summary, "like-cold", "AES_256", Metric::Instructions).is_none());
    assert!(
        !summary.cells[0].levels["plain"]
            .metrics
            .contains_key(&Metric::Instructions)
    );
    assert!(summary.limits.iter().any(|limit| limit.starts_with("Instructions")));
}

#[test]
fn a_few_pages_have_no_cost_each() {
    let mut few = material(6, 8, 6);
    few.blocks.iter_mut().for_each(|block| block.sample.pages_read = 1);
    assert_eq!(cpu(&summarise(&few).unwrap(), "like-cold").per_page_ns, None);
}

#[test]
fn a_warm_up_is_left_out_where_caches_are_warm() {
    let mut slow = material(6, 8, 7);
    for block in slow.blocks.iter_mut().filter(|block| block.pair < 2) {
        // The encrypted arm warms up more slowly: with the warm-up included, its cost would be too high.
        block.sample.cpu_ns *= if block.arm == 2 { 3 } else { 2 };
    }
    let summary = summarise(&slow).unwrap();
    let warm = summary.cells[1].warm_up;
    assert!(warm.pairs >= 20 && warm.unsteady == 0, "{warm:?}");
    assert!((cpu(&summary, "like-os").ratio - 0.06).abs() < 0.006);
    assert_eq!(summary.cells[0].warm_up.pairs, 0, "a cold cell is its own first touch");
    assert_eq!(cpu(&summary, "like-cold").pairs, 48);
}

#[test]
fn an_open_question_says_how_long_it_would_take() {
    let mut near = material(6, 8, 8);
    for block in near.blocks.iter_mut().filter(|block| block.arm == 2) {
        block.sample.cpu_ns = block.sample.cpu_ns * 1031 / 1060 + u64::from(block.session % 2) * 1_500_000;
    }
    let summary = summarise(&near).unwrap();
    let Verdict::NotResolved {
        minutes_more: Some(minutes),
    } = cpu(&summary, "like-cold").verdict
    else {
        panic!("{:?}", cpu(&summary, "like-cold"));
    };
    assert!(
        (minutes / 5.0).fract().abs() < 1e-9 && minutes >= 5.0,
        "whole sessions of 5 minutes: {minutes}"
    );
}

#[test]
fn percentiles_come_from_merged_histograms() {
    let mut material = material(2, 2, 9);
    // A mean of both 99th percentiles would be far off: one block has all slow operations.
    for (values, ns) in [(9_900, 1_000), (100, 1_000_000)] {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        histogram.record_n(ns, values).unwrap();
        let mut v2 = Vec::new();
        V2DeflateSerializer::new().serialize(&histogram, &mut v2).unwrap();
        material.histograms.push(HistogramRow {
            cell: 0,
            arm: 0,
            operation: "read".into(),
            v2,
        });
    }
    let summary = summarise(&material).unwrap();
    let curve = &summary.cells[0].latencies[0];
    let at = |percentile: f64| curve.points.iter().find(|(at, _)| *at == percentile).unwrap().1;
    assert_eq!((curve.count, curve.arm.as_str()), (10_000, "plain"));
    assert!(at(98.0) < 1_100 && at(99.5) > 990_000, "{:?}", curve.points);
    material.histograms[0].v2.truncate(9);
    assert!(matches!(summarise(&material), Err(AnalysisError::Histogram(operation)) if operation == "read"));
}

#[test]
fn an_export_holds_every_block_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let material: Material = material(2, 2, 10);
    let files = export(&material, &folder.path().join("out")).unwrap();
    let blocks = std::fs::read_to_string(&files[0]).unwrap();
    assert_eq!(blocks.lines().count(), 1 + material.blocks.len());
    let fields = |line: &str| line.split(',').count();
    let mut lines = blocks.lines();
    let head = fields(lines.next().unwrap());
    assert!(lines.all(|line| fields(line) == head));
    assert!(files.iter().all(|file| file.exists()));
    assert!(matches!(
        export(&material, &folder.path().join("out")),
        Err(ExportError::Exists(_))
    ));
}

#[test]
fn a_store_gives_the_same_summary_as_its_material() {
    let folder = tempfile::tempdir().unwrap();
    let material = material(5, 2, 11);
    let path = folder.path().join("s.lab.db");
    let mut store = Store::create(&path, &material.study).unwrap();
    let arms: Vec<_> = material
        .arms
        .iter()
        .map(|arm| (arm.facts.clone(), arm.masters.clone()))
        .collect();
    let cells: Vec<_> = material.cells.iter().map(|row| row.cell.clone()).collect();
    let index = |id: i64| usize::try_from(id).unwrap();
    let draws: Vec<Draw> = material
        .blocks
        .iter()
        .map(|block| Draw {
            session: block.session,
            cell: index(block.cell),
            pair: block.pair,
            arm: index(block.arm),
            seed: 1,
        })
        .collect();
    store.plan(&arms, &cells, &draws).unwrap();
    let plan = store.schedule().unwrap();
    for session in &material.sessions {
        store.begin_session(session.id, session.created_s).unwrap();
        for (arm, row) in plan.iter().take(3).zip(&store.arms().unwrap()) {
            let (data, path) = (cells[0].data.clone(), "x".to_owned());
            let made = u32::try_from(arm.seq).unwrap();
            let twin = InstanceRow {
                session: session.id,
                arm: row.id,
                data,
                made,
                pids: vec![1],
                path,
            };
            let instance = store.add_instance(&twin).unwrap();
            let blocks = plan
                .iter()
                .zip(&material.blocks)
                .filter(|(plan, _)| plan.session == session.id && plan.arm == row.id);
            for (plan, block) in blocks {
                let new = NewBlock {
                    seq: plan.seq,
                    instance,
                    began_s: block.began_s,
                    sample: Some(&block.sample),
                    phases: None,
                    histograms: &BTreeMap::new(),
                    host: &block.host,
                    void: None,
                };
                store.add_block(&new).unwrap();
            }
        }
        store.end_session(session.id, session.ended_s.unwrap(), None).unwrap();
    }
    store.set_state(StudyState::Complete).unwrap();
    let mut read = analysis::read(&Store::read(&path).unwrap()).unwrap();
    let expected = summarise(&material).unwrap();
    // Samples are in the order in which blocks were written.
    read.evidence.samples.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
    assert_eq!(read, expected);
}

/// The others' clients must not hide it.
#[test]
fn a_client_that_is_slower_than_its_server_is_found_in_one_arm() {
    let mut material = material(5, 4, 3);
    let arm = material.arms.iter().find(|arm| arm.facts.name == "AES_256").unwrap().id;
    for block in &mut material.blocks {
        let share = if block.arm == arm && block.cell == 1 { 8 } else { 2 };
        block.sample.client_cpu_ns = Some(block.sample.elapsed_ns / 10 * share);
    }
    let limits = summarise(&material).unwrap().limits;
    let found: Vec<&String> = limits
        .iter()
        .filter(|limit| limit.contains("generator-bound"))
        .collect();
    assert_eq!(found.len(), 1, "{limits:?}");
    let label = &material.cells[1].cell.label;
    assert!(
        found[0].contains(label) && found[0].contains("AES_256") && found[0].contains("80 %"),
        "{found:?}"
    );
}

#[test]
fn what_an_engine_leaves_in_clear_is_in_the_report() {
    let mut material = material(5, 4, 3);
    let file = |name: &str, what: &str| (format!("in clear: {name}"), what.to_owned());
    for arm in &mut material.arms {
        arm.facts.proof.push(file("general_log", "rows: the marker at byte 7"));
    }
    let summary = summarise(&material).unwrap();
    let page = markdown::render(&[&summary]);
    assert!(page.contains("| general_log | rows: the marker | AES_256 |"), "{page}");
}
