//! Versions of one engine with a planted change.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use selenite_lab::analysis::Material;
use selenite_lab::bisect::{BisectQuestion, Compared, StepState, bisect};
use selenite_lab::gate::GateDecision;
use selenite_lab::store::ArmRow;
use selenite_lab::summary::{ArmFacts, ArmRole, HostSample, Metric, StudyState};

use super::material::{block, facts, material, noise};

/// A version: its name, what its unencrypted arm takes, and what encryption costs in it.
type Version = (&'static str, f64, f64);

/// A study whose versions have controls of their own, in one cell.
fn versions(all: &[Version], sessions: u32, pairs: u32, seed: u64) -> Material {
    let mut found = material(sessions, pairs, seed);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    found.cells.truncate(1);
    found.arms.truncate(2);
    for (name, _, _) in all {
        let control = format!("{name}-plain");
        for (name, role) in [(control.as_str(), ArmRole::Plain), (*name, ArmRole::Encrypted)] {
            let number = found.arms.len();
            found.arms.push(ArmRow {
                id: i64::try_from(number).expect("few arms"),
                facts: ArmFacts {
                    control: (role == ArmRole::Encrypted).then(|| control.clone()),
                    library: format!("MariaDB 10.{number}"),
                    program_sha256: Some(number.to_string()),
                    ..facts(name, role)
                },
                masters: BTreeMap::new(),
            });
        }
    }
    let cell = found.cells[0].id;
    found.blocks.clear();
    for session in 1..=sessions {
        let bias: Vec<f64> = found.arms.iter().map(|_| noise(&mut random) * 0.004).collect();
        for pair in 0..pairs {
            let drift = 1.0 + 0.05 * random.random::<f64>();
            for (arm, bias) in found.arms.iter().zip(&bias) {
                let version = all
                    .iter()
                    .find(|(name, ..)| arm.facts.name.trim_end_matches("-plain") == *name);
                let level = match (version, arm.facts.role) {
                    (Some((_, plain, cost)), ArmRole::Encrypted) => plain * cost,
                    (Some((_, plain, _)), ArmRole::Plain | ArmRole::Floor) => *plain,
                    (None, _) => 1.0,
                };
                let cpu = 100e6 * level * drift * (1.0 + bias + noise(&mut random) * 0.01);
                let id = i64::try_from(found.blocks.len()).expect("few blocks");
                let mut block = block(id, (session, cell, pair, arm.id), cpu);
                block.host = HostSample {
                    others: Some(0.0),
                    steal: Some(0.0),
                    ..block.host
                };
                found.blocks.push(block);
            }
        }
    }
    found
}

fn question() -> BisectQuestion {
    BisectQuestion {
        arms: Vec::new(),
        cell: None,
        metric: Metric::Cpu,
        limit: 0.03,
        of: None,
    }
}

#[test]
fn a_planted_slowdown_is_found_between_its_neighbours() {
    // Encryption becomes dearer from v3 to v4; the engine itself slower from v1 to v2, which is no
    // change of the cost of encryption.
    let all = [
        ("v1", 1.0, 1.08),
        ("v2", 1.2, 1.08),
        ("v3", 1.2, 1.08),
        ("v4", 1.2, 1.35),
    ];
    let found = versions(&all, 6, 6, 11);
    let answer = bisect(&found, &question()).unwrap();
    assert_eq!(answer.of, Compared::Cost);
    let states: Vec<StepState> = answer.steps.iter().map(|step| step.state).collect();
    assert_eq!(
        states,
        [StepState::Same, StepState::Same, StepState::Dearer],
        "{answer}"
    );
    let last = &answer.steps[2];
    assert!((last.ratio - 0.25).abs() < 0.02 && last.p.unwrap() < 0.01, "{last:?}");
    assert_eq!(answer.outcome(), GateDecision::Above);
    assert_eq!(answer.whole.as_ref().unwrap().state, StepState::Dearer);
    let text = answer.to_string();
    assert!(text.contains("the change lies between v3 and v4"), "{text}");
    assert!(
        text.contains("v1 to v2") && text.contains("the same within 3 %"),
        "{text}"
    );
    assert!(answer.warnings.is_empty(), "{text}");

    let plain = BisectQuestion {
        of: Some(Compared::Plain),
        ..question()
    };
    let answer = bisect(&found, &plain).unwrap();
    assert!(
        answer.to_string().contains("the change lies between v1 and v2"),
        "{answer}"
    );
    let both = BisectQuestion {
        of: Some(Compared::Arm),
        arms: vec!["v4".into(), "v1".into()],
        ..question()
    };
    let answer = bisect(&found, &both).unwrap();
    assert_eq!(
        (answer.steps.len(), answer.steps[0].state),
        (1, StepState::Cheaper),
        "{answer}"
    );
    assert_eq!(answer.outcome(), GateDecision::Within);
}

#[test]
fn versions_that_are_alike_are_seldom_called_different() {
    // Four versions, three steps: Holm's correction has to hold for all of them together.
    let seed = 400;
    let all = [("v1", 1.0, 1.1), ("v2", 1.0, 1.1), ("v3", 1.0, 1.1), ("v4", 1.0, 1.1)];
    let (mut alarms, mut any) = (0, 0);
    for study in 0..STUDIES {
        let found = versions(&all, 5, 4, seed + u64::from(study));
        // A limit next to zero: any difference is one too many.
        let strict = BisectQuestion {
            limit: 1e-9,
            ..question()
        };
        let answer = bisect(&found, &strict).unwrap();
        let changed = |state: StepState| matches!(state, StepState::Dearer | StepState::Cheaper);
        alarms += u32::from(answer.steps.iter().any(|step| changed(step.state)));
        any += u32::from(answer.steps.iter().any(|step| step.p.is_some_and(|p| p <= 0.05)));
    }
    println!("seeds from {seed}: {alarms} and {any} of {STUDIES} studies with a false change");
    assert!(alarms <= STUDIES / 10 && any <= STUDIES / 10, "{alarms} {any}");
}

#[test]
fn a_small_difference_is_not_resolved_and_asks_for_more_time() {
    let found = versions(&[("v1", 1.0, 1.1), ("v2", 1.0, 1.13)], 5, 2, 21);
    let tight = BisectQuestion {
        limit: 0.027,
        ..question()
    };
    let answer = bisect(&found, &tight).unwrap();
    assert_eq!(answer.steps[0].state, StepState::NotResolved, "{answer}");
    assert!(matches!(answer.outcome(), GateDecision::NotResolved { .. }), "{answer}");
    assert!(answer.to_string().contains("not resolved"), "{answer}");
}

#[test]
fn four_sessions_decide_nothing() {
    let found = versions(&[("v1", 1.0, 1.0), ("v2", 1.0, 2.0)], 4, 4, 31);
    let answer = bisect(&found, &question()).unwrap();
    assert_eq!(answer.steps[0].state, StepState::NotResolved);
}

#[test]
fn what_a_study_cannot_answer_is_said() {
    let good = || versions(&[("v1", 1.0, 1.1), ("v2", 1.0, 1.1)], 5, 2, 41);
    let invalid = |material: &Material, question: &BisectQuestion| match bisect(material, question).unwrap().outcome() {
        GateDecision::Invalid(reasons) => reasons.join("; "),
        other => panic!("{other:?}"),
    };
    let with = |arms: &[&str]| BisectQuestion {
        arms: arms.iter().map(|arm| (*arm).to_owned()).collect(),
        ..question()
    };
    assert!(invalid(&good(), &with(&["v1"])).contains("two arms or more"));
    assert!(invalid(&good(), &with(&["v1", "v9"])).contains("no encrypted arm `v9`"));
    assert!(invalid(&good(), &with(&["v1", "v1"])).contains("named twice"));
    let cell = BisectQuestion {
        cell: Some("insert".into()),
        ..question()
    };
    assert!(invalid(&good(), &cell).contains("its cells are like-cold"));
    let limit = BisectQuestion {
        limit: 0.0,
        ..question()
    };
    assert!(invalid(&good(), &limit).contains("positive"));
    let memory = BisectQuestion {
        metric: Metric::PeakMemory,
        ..question()
    };
    assert!(invalid(&good(), &memory).contains("no figure of peak memory"));
    let mut unfinished = good();
    unfinished.study.state = StudyState::Unfinished;
    assert!(invalid(&unfinished, &question()).contains("has not ended"));
    let mut unproved = good();
    unproved.arms[3].facts.proof.clear();
    assert!(invalid(&unproved, &question()).contains("encryption of v1 was not proved"));
}

#[test]
fn doubtful_comparisons_are_warned_of() {
    let mut found = versions(&[("v1", 1.0, 1.1), ("v2", 1.0, 1.1)], 5, 2, 51);
    found.arms[5].facts.library = "PostgreSQL 17".into();
    found.blocks[3].host.others = Some(0.9);
    let answer = bisect(&found, &question()).unwrap();
    let all = answer.warnings.join("; ");
    assert!(all.contains("different engines") && all.contains("busy"), "{all}");
    found.arms[5].facts = ArmFacts {
        name: "v2".into(),
        control: Some("v2-plain".into()),
        ..found.arms[3].facts.clone()
    };
    let all = bisect(&found, &question()).unwrap().warnings.join("; ");
    assert!(all.contains("same program with the same settings"), "{all}");
}

const STUDIES: u32 = 200;
