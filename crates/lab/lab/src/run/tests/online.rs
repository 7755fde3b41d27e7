use super::sim::ReencryptionFault;
use super::*;
use crate::summary::Metric;

const ONLINE: &str = r#"
[study]
name = "s"
seed = 7
sessions = 1
pairs = 2
[data]
kind = "cards"
rows = 10
[arms.AES_256]
engine = "selenite"
cipher = "AES_256"
[[cells]]
name = "online"
work = { kind = "online", mix = "0/5/5", phase = "100ms" }
cache = "os"
gating = true
"#;

fn with(fault: ReencryptionFault) -> Sim {
    let sim = Sim::default();
    sim.0.borrow_mut().sealer = Some(fault);
    sim
}

#[test]
fn a_block_has_phases_and_only_encrypted_arms_are_reencrypted() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    assert_eq!(place.run(&sim, ONLINE).unwrap(), complete());
    let blocks = place.blocks();
    assert_eq!((blocks.len(), sim.0.borrow().sealed), (6, 2));
    for block in &blocks {
        assert_eq!(block.void, None);
        let phases = block.phases.as_ref().unwrap();
        assert_eq!((phases.before.operations, phases.after.operations), (10, 10));
        assert_eq!(phases.sealing.is_some(), block.arm == 3, "{block:?}");
        assert!(phases.change(Metric::Slowdown).unwrap() > 0.9 && !block.sample.altered);
        assert_eq!(phases.during.elapsed_ns, block.sample.elapsed_ns);
    }
    let sealing = blocks
        .iter()
        .find_map(|block| block.phases.as_ref()?.sealing.clone())
        .unwrap();
    assert_eq!((sealing.took_ns, sealing.said.as_str()), (40_000_000, "done"));
    let store = Store::read(&place.path).unwrap();
    let operations: std::collections::BTreeSet<String> = store
        .histograms()
        .unwrap()
        .into_iter()
        .map(|row| row.operation)
        .collect();
    assert_eq!(
        operations.into_iter().collect::<Vec<_>>(),
        ["insert, after", "insert, before", "insert, during"]
    );
    // All arms of a pair use the same seeds; each of the four phases uses another one.
    let seeds: std::collections::BTreeSet<_> = sim.0.borrow().log.iter().map(|(.., path, _, _)| path.clone()).collect();
    assert!(seeds.iter().all(|path| path.ends_with("main@online.db")), "{seeds:?}");
    assert_eq!(place.left_over(), ["s.lab.db"]);
    let summary = crate::analysis::read(&store).unwrap();
    assert_eq!(
        (summary.cells[0].work.as_str(), summary.judged()),
        ("online", Metric::Slowdown)
    );
    assert_eq!(summary.cells[0].phases.len(), 3);
    assert!(summary.cells[0].phases["AES_256"].sealing.is_some());
    assert!(summary.cells[0].phases["plain"].sealing.is_none());
}

#[test]
fn a_row_that_was_committed_and_is_gone_ends_the_study() {
    for at in [0, 3, 11] {
        let (place, sim) = (StudyFolder::new(), Sim::with(&[(at, SimFault::WriteOther)]));
        let error = place.run(&sim, ONLINE).unwrap_err();
        let RunError::RowsLost { expected, found, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(*found, expected + 1);
    }
}

#[test]
fn an_administrators_program_that_fails_or_leaves_pages_ends_the_study() {
    let failed = StudyFolder::new()
        .run(&with(ReencryptionFault::Fails), ONLINE)
        .unwrap_err();
    assert!(matches!(failed, RunError::Worker { .. }), "{failed}");
    let told = failed.to_string();
    assert!(told.contains("administrator") && told.contains("no room"), "{told}");
    let left = StudyFolder::new()
        .run(&with(ReencryptionFault::LeavesPages), ONLINE)
        .unwrap_err();
    assert!(left.to_string().contains("1 pages are unchanged"), "{left}");
}

#[test]
fn an_administrators_program_that_never_ends_voids_its_block() {
    let (place, sim) = (StudyFolder::new(), with(ReencryptionFault::NeverEnds));
    let text = ONLINE.replace("pairs = 2", "pairs = 2\nblock_timeout = \"200ms\"");
    place.run(&sim, &text).unwrap();
    let void = place.void();
    assert_eq!(void.len(), 2, "{void:?}");
    assert!(
        void.iter().all(|why| why.contains("took longer than 200ms")),
        "{void:?}"
    );
}

#[test]
fn a_worker_that_dies_in_any_phase_voids_its_block() {
    for at in 0..4 {
        let (place, sim) = (StudyFolder::new(), Sim::with(&[(at, SimFault::Die)]));
        assert_eq!(place.run(&sim, ONLINE).unwrap(), complete(), "at {at}");
        assert_eq!(
            place.void().len(),
            1,
            "at {at}: copies are equal, so nothing else is void"
        );
        assert_eq!(place.left_over(), ["s.lab.db"]);
    }
}

#[test]
fn an_interrupted_phase_is_done_again() {
    let (place, sim) = (StudyFolder::new(), Sim::with(&[(6, SimFault::Interrupt)]));
    assert_eq!(place.run(&sim, ONLINE).unwrap(), RunOutcome::Interrupted);
    assert_eq!(place.blocks().len(), 1);
    assert_eq!(place.resume(&sim).unwrap(), complete());
    assert_eq!(place.whole_pairs(3), BTreeMap::from([(1, 2)]));
}
