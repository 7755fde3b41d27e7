//! Every outcome of a gate, and the boundaries between them.

use selenite_lab::gate::{GateDecision, GateResult, Question, judge, judge_recorded};
use selenite_lab::summary::{Effect, Metric, StudyState, Summary};

use super::fixture::Fixture;

fn ask(summary: &Summary, cells: Option<&str>, arm: Option<&str>) -> GateResult {
    let question = Question {
        limit: 0.03,
        metric: Metric::Cpu,
        cells: cells.map(str::to_owned),
        arm: arm.map(str::to_owned),
    };
    judge(summary, &question)
}

/// A study of one arm and one cell whose sessions have exactly these ratios.
fn of_sessions(ratios: &[f64]) -> Summary {
    let mut summary = Fixture {
        arms: vec!["AES_256"],
        cells: 1,
        ..Fixture::whole()
    }
    .summary();
    let effects = &mut summary.cells[0].effects;
    for effect in effects
        .iter_mut()
        .filter(|effect| effect.arm == "AES_256" && effect.metric == Metric::Cpu)
    {
        set(effect, ratios);
    }
    summary.study.sessions = u32::try_from(ratios.len()).expect("few sessions");
    summary
}

fn set(effect: &mut Effect, ratios: &[f64]) {
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln_1p()).collect();
    let interval = selenite_stats::t_interval(&logs, 0.95).expect("two sessions or more");
    effect.by_session = (1..).zip(ratios.iter().copied()).collect();
    effect.ratio = f64::midpoint(interval.low, interval.high).exp_m1();
    effect.interval = Some((interval.low.exp_m1(), interval.high.exp_m1()));
    effect.sessions = u32::try_from(ratios.len()).expect("few sessions");
}

#[test]
fn below_above_and_across_the_limit() {
    let below = ask(&of_sessions(&[0.010, 0.011, 0.012, 0.010, 0.011]), None, None);
    assert_eq!(
        (below.outcome.clone(), below.outcome.exit_code()),
        (GateDecision::Within, 0)
    );
    let above = ask(&of_sessions(&[0.050, 0.051, 0.052, 0.050, 0.051]), None, None);
    assert_eq!(
        (above.outcome.clone(), above.outcome.exit_code()),
        (GateDecision::Above, 10)
    );
    let across = ask(&of_sessions(&[0.010, 0.060, 0.012, 0.050, 0.040]), None, None);
    assert_eq!(across.outcome.exit_code(), 11);
    let GateDecision::NotResolved {
        minutes_more: Some(minutes),
    } = across.outcome
    else {
        panic!("{across:?}")
    };
    assert!(
        minutes > 5.0 && across.to_string().contains("min more of measurement") || across.to_string().contains(" h "),
        "{across}"
    );
}

#[test]
fn an_interval_that_touches_the_limit_is_not_resolved() {
    for end in [0.029_999, 0.03, 0.030_001] {
        let mut summary = of_sessions(&[0.010, 0.011, 0.012, 0.010, 0.011]);
        let effect = summary.cells[0]
            .effects
            .iter_mut()
            .find(|effect| effect.arm == "AES_256")
            .unwrap();
        effect.interval = Some((0.0, end));
        let outcome = ask(&summary, None, None).outcome.exit_code();
        assert_eq!(outcome, if end < 0.03 { 0 } else { 11 }, "{end}");
    }
    for end in [0.029_999, 0.03, 0.030_001] {
        let mut summary = of_sessions(&[0.050, 0.051, 0.052, 0.050, 0.051]);
        let effect = summary.cells[0]
            .effects
            .iter_mut()
            .find(|effect| effect.arm == "AES_256")
            .unwrap();
        effect.interval = Some((end, 0.06));
        let outcome = ask(&summary, None, None).outcome.exit_code();
        assert_eq!(outcome, if end > 0.03 { 10 } else { 11 }, "{end}");
    }
}

#[test]
fn four_sessions_resolve_nothing() {
    let four = ask(&of_sessions(&[0.050, 0.051, 0.052, 0.050]), None, None);
    assert_eq!(four.outcome.exit_code(), 11);
    let five = ask(&of_sessions(&[0.050, 0.051, 0.052, 0.050, 0.051]), None, None);
    assert_eq!(five.outcome.exit_code(), 10);
}

#[test]
fn one_cell_above_among_many_has_to_be_so_after_holm() {
    let mut summary = Fixture {
        arms: vec!["AES_256"],
        ..Fixture::whole()
    }
    .summary();
    let barely = [0.0330, 0.0345, 0.0315, 0.0302, 0.0350];
    for (index, cell) in summary.cells.iter_mut().enumerate() {
        let cpu = |effect: &&mut Effect| effect.arm == "AES_256" && effect.metric == Metric::Cpu;
        let effect = cell.effects.iter_mut().find(cpu).unwrap();
        set(
            effect,
            if index == 0 {
                &barely
            } else {
                &[0.029, 0.031, 0.030, 0.028, 0.032]
            },
        );
    }
    assert!(
        summary.cells[0].effects[1].interval.unwrap().0 > 0.03,
        "{:?}",
        summary.cells[0].effects[1].interval
    );
    assert_eq!(ask(&summary, Some("like-cold"), None).outcome, GateDecision::Above);
    assert_eq!(ask(&summary, Some("*"), None).outcome.exit_code(), 11);
}

#[test]
fn arms_and_cells_are_chosen() {
    let summary = Fixture::whole().summary();
    assert_eq!(
        ask(&summary, Some("eq-page"), Some("AES_256")).outcome,
        GateDecision::Within
    );
    assert_eq!(
        ask(&summary, Some("*-cold"), Some("AES_256")).outcome,
        GateDecision::Above
    );
    assert_eq!(
        ask(&summary, None, Some("AES_256")).findings.len(),
        4,
        "the gating cells"
    );
    assert_eq!(ask(&summary, None, None).findings.len(), 12);
}

#[test]
fn a_study_that_can_not_answer_says_why() {
    let check = |change: &dyn Fn(&mut Summary), cells, arm, words: &str| {
        let mut summary = Fixture::whole().summary();
        change(&mut summary);
        let answer = ask(&summary, cells, arm);
        assert_eq!(answer.outcome.exit_code(), 12, "{words}");
        assert!(answer.findings.is_empty());
        assert!(answer.to_string().contains(words), "{answer}");
    };
    check(&|_| {}, Some("none-*"), None, "no cell `none-*`");
    check(&|_| {}, None, Some("AES_128"), "no encrypted arm `AES_128`");
    check(&|_| {}, None, Some("plain2"), "no encrypted arm `plain2`");
    check(
        &|summary| summary.study.state = StudyState::Unfinished,
        None,
        None,
        "has not ended",
    );
    check(
        &|summary| summary.arms.iter_mut().for_each(|arm| arm.proof.clear()),
        None,
        None,
        "AES_256 was not proved",
    );
    let no_floor = |summary: &mut Summary| {
        for cell in &mut summary.cells {
            cell.effects.retain(|effect| effect.arm != "plain2");
        }
    };
    check(&no_floor, None, None, "second copy");
    let no_figure = |summary: &mut Summary| summary.cells[1].effects.retain(|effect| effect.arm != "AES_256");
    check(&no_figure, None, None, "AES_256 has no figure of it in eq-cold");
    check(
        &|summary| summary.cells.iter_mut().for_each(|cell| cell.gating = false),
        None,
        None,
        "no gating cell",
    );
    check(
        &|summary| summary.cells.iter_mut().for_each(|cell| cell.pairs.clear()),
        None,
        None,
        "no pair",
    );
}

#[test]
fn the_proof_of_an_arm_outside_the_question_is_not_required() {
    let mut summary = Fixture::whole().summary();
    summary
        .arms
        .iter_mut()
        .filter(|arm| arm.name == "sqlcipher")
        .for_each(|arm| arm.proof.clear());
    assert_eq!(
        ask(&summary, Some("eq-page"), Some("AES_256")).outcome,
        GateDecision::Within
    );
    assert_eq!(
        ask(&summary, Some("eq-page"), Some("sqlcipher")).outcome.exit_code(),
        12
    );
}

#[test]
fn a_cost_above_the_recorded_one_beyond_both_intervals_is_worse() {
    let recorded = of_sessions(&[0.100, 0.110, 0.120, 0.100, 0.110]);
    let asked = |now: &Summary, recorded: &Summary| {
        let question = Question {
            limit: 0.0,
            metric: Metric::Cpu,
            cells: None,
            arm: None,
        };
        judge_recorded(now, recorded, &question)
    };
    let same = asked(&of_sessions(&[0.105, 0.115, 0.118, 0.100, 0.112]), &recorded);
    assert_eq!(same.outcome, GateDecision::Within);
    assert!(same.to_string().ends_with("no worse than recorded"), "{same}");
    let cheaper = asked(&of_sessions(&[0.01, 0.011, 0.012, 0.01, 0.011]), &recorded);
    assert_eq!(cheaper.outcome, GateDecision::Within);
    let worse = asked(&of_sessions(&[0.150, 0.151, 0.152, 0.150, 0.151]), &recorded);
    assert_eq!(
        (worse.outcome.clone(), worse.outcome.exit_code()),
        (GateDecision::Above, 10)
    );
    assert!(
        worse.to_string().contains("recorded +10.8 %") && worse.to_string().contains(": worse"),
        "{worse}"
    );
    // More expensive on average, but not beyond the uncertainty of both.
    let loud = asked(&of_sessions(&[0.100, 0.300, 0.200, 0.150, 0.110]), &recorded);
    assert_eq!(loud.outcome, GateDecision::Within);
    let few = asked(&of_sessions(&[0.150, 0.151, 0.152]), &recorded);
    assert_eq!(few.outcome.exit_code(), 11);
    let mut other = recorded.clone();
    other.cells[0].name = "other".to_owned();
    assert_eq!(
        asked(&of_sessions(&[0.1, 0.1, 0.1, 0.1, 0.1]), &other)
            .outcome
            .exit_code(),
        12
    );
}
