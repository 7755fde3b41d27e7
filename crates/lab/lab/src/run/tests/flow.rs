use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use selenite_worker::protocol::{Control, PLAIN, Workload};

use super::*;

#[test]
fn a_study_runs_all_its_blocks_and_cleans_up() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    assert_eq!(place.run(&sim, TEXT).unwrap(), complete());
    assert_eq!(place.blocks().len(), 2 * PER_SESSION);
    assert_eq!(place.whole_pairs(3), BTreeMap::from([(1, 4), (2, 4), (3, 4)]));
    assert_eq!(place.left_over(), ["s.lab.db"]);
    let store = Store::read(&place.path).unwrap();
    assert_eq!(store.study().unwrap().state, StudyState::Complete);
    let arms = store.arms().unwrap();
    assert_eq!(
        arms.iter().map(|arm| arm.facts.name.as_str()).collect::<Vec<_>>(),
        ["plain", "plain2", "AES_256"]
    );
    assert!(arms[0].facts.proof.is_empty());
    assert_eq!(arms[2].facts.proof.len(), 2, "one for each dataset");
    assert_eq!(store.instances().unwrap().len(), 2 * 2 * 3);
    assert_eq!(store.histograms().unwrap().len(), 2 * PER_SESSION);
    assert!(
        store
            .sessions()
            .unwrap()
            .iter()
            .all(|session| session.ended_s.is_some() && session.void.is_none())
    );
    // SQLite's cache holds the whole database in cells of that cache state, and only there.
    for (.., work, kib) in &sim.0.borrow().log {
        assert_eq!(*work == Workload::IntegrityCheck, *kib > 2048, "{work:?} {kib}");
    }
    assert!(matches!(place.resume(&sim), Err(RunError::Over(StudyState::Complete))));
}

#[test]
fn sessions_have_new_processes_and_copies() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    place.run(&sim, TEXT).unwrap();
    let instances = Store::read(&place.path).unwrap().instances().unwrap();
    let pids = |session| -> Vec<u32> {
        instances
            .iter()
            .filter(|row| row.session == session)
            .flat_map(|row| row.pids.clone())
            .collect()
    };
    assert!(!pids(1).is_empty());
    assert!(pids(1).iter().all(|pid| !pids(2).contains(pid)));
    assert!(
        instances
            .iter()
            .all(|row| row.path.contains(&format!("session-{}", row.session)))
    );
}

#[test]
fn a_study_that_is_dropped_at_any_block_is_resumed_whole() {
    for at in 0..2 * PER_SESSION {
        let (place, sim) = (StudyFolder::new(), Sim::with(&[(at, SimFault::Cut)]));
        assert!(catch_unwind(AssertUnwindSafe(|| place.run(&sim, TEXT))).is_err());
        let before = place.blocks().len();
        assert_eq!(before, at);
        assert_eq!(place.resume(&sim).unwrap(), complete(), "dropped at {at}");
        assert_eq!(
            place.whole_pairs(3),
            BTreeMap::from([(1, 4), (2, 4), (3, 4)]),
            "dropped at {at}"
        );
        assert_eq!(place.left_over(), ["s.lab.db"]);
        let sessions = Store::read(&place.path).unwrap().sessions().unwrap();
        assert_eq!(sessions.len(), 3);
    }
}

#[test]
fn a_study_that_is_dropped_twice_is_resumed_whole() {
    let (place, sim) = (
        StudyFolder::new(),
        Sim::with(&[(10, SimFault::Cut), (25, SimFault::Cut)]),
    );
    assert!(catch_unwind(AssertUnwindSafe(|| place.run(&sim, TEXT))).is_err());
    assert!(catch_unwind(AssertUnwindSafe(|| place.resume(&sim))).is_err());
    assert_eq!(place.resume(&sim).unwrap(), complete());
    assert_eq!(place.whole_pairs(3), BTreeMap::from([(1, 4), (2, 4), (3, 4)]));
}

/// The child process of the test below; without its environment variable it does nothing.
#[test]
fn child_that_kills_itself() {
    let Some(folder) = std::env::var_os(CHILD) else { return };
    let at = std::env::var(CHILD_AT).unwrap().parse().unwrap();
    let path = PathBuf::from(folder).join("s.lab.db");
    let new = NewStudy {
        path,
        config: Config::parse(TEXT).unwrap(),
        command: String::new(),
    };
    let outcome = run(new, around(&mut Sim::with(&[(at, SimFault::Kill)]), &mut Quiet));
    panic!("not killed: {outcome:?}");
}

#[test]
fn a_process_that_is_killed_loses_no_block() {
    for at in [0, 1, PER_SESSION - 1, PER_SESSION, PER_SESSION + 7] {
        let place = StudyFolder::new();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "run::tests::flow::child_that_kills_itself"])
            .env(CHILD, place.path.parent().unwrap())
            .env(CHILD_AT, at.to_string())
            .output()
            .unwrap();
        assert!(!child.status.success());
        assert_eq!(place.blocks().len(), at, "{}", String::from_utf8_lossy(&child.stdout));
        assert!(!Store::runs(&place.path));
        assert!(is_there(&place.copies()));
        assert_eq!(place.resume(&Sim::default()).unwrap(), complete());
        assert_eq!(place.whole_pairs(3), BTreeMap::from([(1, 4), (2, 4), (3, 4)]));
        assert_eq!(place.left_over(), ["s.lab.db"]);
    }
}

#[test]
fn an_interrupted_study_keeps_its_masters_and_is_resumed() {
    let (place, sim) = (StudyFolder::new(), Sim::with(&[(5, SimFault::Interrupt)]));
    assert_eq!(place.run(&sim, TEXT).unwrap(), RunOutcome::Interrupted);
    assert!(is_there(&place.copies().join("masters")));
    assert_eq!(std::fs::read_dir(place.copies()).unwrap().count(), 2, "masters and key");
    assert_eq!(place.resume(&sim).unwrap(), complete());
    assert_eq!(place.whole_pairs(3), BTreeMap::from([(1, 4), (2, 4), (3, 4)]));
}

#[test]
fn masters_that_are_gone_are_loaded_again_and_compared() {
    let (place, sim) = (StudyFolder::new(), Sim::with(&[(5, SimFault::Interrupt)]));
    place.run(&sim, TEXT).unwrap();
    std::fs::remove_dir_all(place.copies()).unwrap();
    sim.0.borrow_mut().load_other = Some("plain".into());
    assert!(matches!(place.resume(&sim), Err(RunError::RowsDiffer { .. })));
    sim.0.borrow_mut().load_other = None;
    assert_eq!(place.resume(&sim).unwrap(), complete());
}

#[test]
fn a_user_can_stop_a_study_and_go_on() {
    let place = StudyFolder::new();
    struct Stop(PathBuf, bool);
    impl Observer for Stop {
        fn progress(&mut self, progress: &Progress<'_>) {
            if matches!(progress, Progress::Block { done: 4, .. }) && !std::mem::replace(&mut self.1, true) {
                Store::read(&self.0)
                    .unwrap()
                    .ask(&Control { stop: true, mix: None })
                    .unwrap();
            }
        }
    }
    let (mut sim, mut stop) = (Sim::default(), Stop(place.path.clone(), false));
    let new = NewStudy {
        path: place.path.clone(),
        config: Config::parse(TEXT).unwrap(),
        command: String::new(),
    };
    let outcome = run(new, around(&mut sim, &mut stop)).unwrap();
    assert_eq!(outcome, RunOutcome::Over(StudyState::Stopped));
    assert_eq!(place.blocks().len(), 4);
    assert_eq!(place.resume(&sim).unwrap(), complete());
    assert_eq!(place.whole_pairs(3), BTreeMap::from([(1, 4), (2, 4), (3, 4)]));
}

#[test]
fn a_study_ends_when_it_is_precise() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    let text = TEXT.replace("sessions = 2", "sessions = 9");
    assert_eq!(place.run(&sim, &text).unwrap(), RunOutcome::Over(StudyState::Precise));
    assert_eq!(place.blocks().len(), 5 * PER_SESSION);
}

#[test]
fn a_study_ends_before_its_budget_is_spent() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().seconds_per_block = 1.0;
    let text = TEXT.replace("sessions = 2", "sessions = 9\nbudget = \"60s\"");
    assert_eq!(
        place.run(&sim, &text).unwrap(),
        RunOutcome::Over(StudyState::OutOfBudget)
    );
    assert_eq!(place.blocks().len(), 3 * PER_SESSION);
}

#[test]
fn another_configuration_is_not_resumed() {
    let (place, sim) = (StudyFolder::new(), Sim::with(&[(5, SimFault::Interrupt)]));
    place.run(&sim, TEXT).unwrap();
    let other = Config::parse(&TEXT.replace("pairs = 2", "pairs = 4")).unwrap();
    let refused = resume(&place.path, Some(&other), around(&mut sim.clone(), &mut Quiet));
    assert!(matches!(refused, Err(RunError::ConfigDiffers)));
}

#[test]
fn encrypting_copies_start_from_the_twin_in_clear() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    let text = TEXT.replace("kind = \"select-all\"", "kind = \"convert\", to = \"arm\"");
    place.run(&sim, &text).unwrap();
    let state = sim.0.borrow();
    let copies = state
        .log
        .iter()
        .filter(|(.., work, _)| matches!(work, Workload::Convert { .. }));
    for (arm, cipher, path, work, _) in copies {
        assert_eq!(cipher, PLAIN);
        let (folder, to) = match arm.as_str() {
            "AES_256" => ("plain", "AES_256"),
            other => (other, PLAIN),
        };
        assert!(path.parent().unwrap().ends_with(folder), "{}", path.display());
        assert_eq!(*work, Workload::Convert { to: to.into() });
    }
}

#[test]
fn a_forecast_states_its_assumptions_and_uses_an_earlier_study() {
    let config = Config::parse(TEXT).unwrap();
    let blind = forecast(&config, None).unwrap();
    assert_eq!(blind.blocks, 2 * PER_SESSION as u64);
    assert!(blind.noise.from.contains("assumed") && blind.smallest_effect > 0.001);
    assert!(blind.notes[0].contains("too few"));
    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().seconds_per_block = 100.0;
    place.run(&sim, TEXT).unwrap();
    let seen = forecast(&config, Some(&Store::read(&place.path).unwrap())).unwrap();
    assert!(seen.noise.from.contains("2 sessions"), "{:?}", seen.noise);
    assert_eq!((seen.noise.sessions, blind.noise.sessions), (2, 0));
    // A coarser precision never costs more.
    for forecast in [&blind, &seen] {
        let costs: Vec<f64> = forecast
            .precisions
            .iter()
            .map(|(_, plan)| plan.map_or(f64::INFINITY, |plan| plan.seconds))
            .collect();
        assert!(costs.len() >= 4 && costs.is_sorted(), "{costs:?}");
        assert!(costs[0].is_finite() && costs[0] > 0.0, "{costs:?}");
    }
    assert!(seen.smallest_effect < blind.smallest_effect);
    assert!(
        seen.duration.as_secs() >= 2 * PER_SESSION as u64 * 99,
        "{:?}",
        seen.duration
    );
    assert!(seen.over_budget && !blind.over_budget);
}

const CHILD: &str = "SELENITE_LAB_TEST_FOLDER";
const CHILD_AT: &str = "SELENITE_LAB_TEST_AT";

#[test]
fn arms_without_a_pool_get_its_memory_where_all_are_to_have_the_same() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    let text = TEXT
        .replacen("cipher = \"AES_256\"", "cipher = \"AES_256\"\npool = \"64MiB\"", 1)
        .replacen("cache = \"cold\"", "cache = \"cold\"\nsame_memory = true", 1);
    place.run(&sim, &text).unwrap();
    let facts = Store::read(&place.path).unwrap().arms().unwrap();
    assert_eq!(facts[2].facts.pool, Some(64 << 20));
    assert!(
        facts[2].facts.label.ends_with("page pool of 64.0 MiB"),
        "{:?}",
        facts[2].facts
    );
    for (arm, .., work, kib) in &sim.0.borrow().log {
        let wanted = if arm == "AES_256" { 2048 } else { 2048 + 65536 };
        assert!(*work != Workload::SelectAll || *kib == wanted, "{arm}: {kib}");
    }
}
