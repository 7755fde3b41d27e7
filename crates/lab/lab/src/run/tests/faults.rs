use super::*;

#[test]
fn a_worker_that_dies_or_hangs_voids_its_block_and_the_study_goes_on() {
    for at in 0..PER_SESSION {
        for fault in [SimFault::Die, SimFault::Hang] {
            let (place, sim) = (StudyFolder::new(), Sim::with(&[(at, fault)]));
            assert_eq!(place.run(&sim, TEXT).unwrap(), complete(), "{fault:?} at {at}");
            let void = place.void();
            assert!((1..=3).contains(&void.len()), "{fault:?} at {at}: {void:?}");
            let pairs: usize = place.whole_pairs(3).values().sum();
            assert_eq!(pairs, 11, "{fault:?} at {at}");
            let events = Store::read(&place.path).unwrap().events().unwrap();
            assert_eq!(
                events
                    .iter()
                    .filter(|event| event.text.contains("does not count"))
                    .count(),
                void.len()
            );
        }
    }
}

#[test]
fn incompletely_written_copies_are_replaced() {
    let sim = Sim::default();
    let place = StudyFolder::new();
    place.run(&sim, TEXT).unwrap();
    let inserts: Vec<usize> = {
        let state = sim.0.borrow();
        let is_insert = |work: &selenite_worker::protocol::Workload| crate::config::cell::writes(work);
        (0..state.log.len())
            .filter(|run| is_insert(&state.log[*run].3))
            .collect()
    };
    for fault in [SimFault::Die, SimFault::Alter] {
        let at = inserts[0];
        let (place, sim) = (StudyFolder::new(), Sim::with(&[(at, fault)]));
        assert_eq!(place.run(&sim, TEXT).unwrap(), complete());
        assert_eq!(place.void().len(), 3, "{fault:?}");
        assert_eq!(
            place
                .void()
                .iter()
                .filter(|why| why.contains("copies differ now"))
                .count(),
            2
        );
    }
}

/// Blocks that are void because of another one do not count as further failures, however many arms there are.
#[test]
fn one_failure_among_many_arms_does_not_end_a_study() {
    let more: String = (0..6)
        .map(|n| format!("[arms.a{n}]\nengine = \"selenite\"\ncipher = \"AES_256\"\n"))
        .collect();
    let text = TEXT.replace(
        "[[cells]]\nname = \"insert\"",
        &format!("{more}[[cells]]\nname = \"insert\""),
    );
    for at in 0..9 * 6 {
        for fault in [SimFault::Die, SimFault::Alter] {
            let (place, sim) = (StudyFolder::new(), Sim::with(&[(at, fault)]));
            assert_eq!(place.run(&sim, &text).unwrap(), complete(), "{fault:?} at {at}");
            let causes = place.void();
            let differing: Vec<_> = causes.iter().filter(|why| why.contains("copies differ now")).collect();
            assert!(differing.iter().all(|why| why.contains(": ")), "{differing:?}");
        }
    }
}

#[test]
fn a_machine_that_slept_voids_a_block() {
    let (place, sim) = (StudyFolder::new(), Sim::with(&[(3, SimFault::Slept)]));
    assert_eq!(place.run(&sim, TEXT).unwrap(), complete());
    assert_eq!(place.void(), ["the machine slept"]);
}

#[test]
fn workers_that_always_die_end_the_study_and_it_can_be_resumed() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().every = Some(SimFault::Die);
    let error = place.run(&sim, TEXT).unwrap_err();
    assert!(matches!(error, RunError::TooManyVoid { count: 5, .. }), "{error}");
    assert!(error.advice().contains("resume"));
    sim.0.borrow_mut().every = None;
    assert_eq!(place.resume(&sim).unwrap(), complete());
}

#[test]
fn files_that_stay_in_the_cache_end_the_study() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().never_cold = true;
    let text = TEXT
        .replace("cache = \"os\"", "cache = \"cold\"")
        .replace("cache = \"page\"", "cache = \"cold\"");
    let error = place.run(&sim, &text).unwrap_err();
    assert!(
        matches!(&error, RunError::TooManyVoid { last, .. } if last.contains("not cold")),
        "{error}"
    );
}

#[test]
fn a_worker_that_refuses_ends_the_study() {
    let (place, sim) = (StudyFolder::new(), Sim::with(&[(4, SimFault::Refuse)]));
    let error = place.run(&sim, TEXT).unwrap_err();
    assert!(matches!(error, RunError::Worker { .. }), "{error}");
    assert_eq!(place.blocks().len(), 4);
}

#[test]
fn arms_that_answer_differently_end_the_study() {
    for at in 0..PER_SESSION {
        let (place, sim) = (StudyFolder::new(), Sim::with(&[(at, SimFault::AnswerOther)]));
        let error = place.run(&sim, TEXT).unwrap_err();
        assert!(matches!(error, RunError::RowsDiffer { .. }), "at {at}: {error}");
    }
}

#[test]
fn copies_that_differ_after_a_session_void_it() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    place.run(&sim, TEXT).unwrap();
    let last = {
        let state = sim.0.borrow();
        let first = &state.log[..PER_SESSION];
        first
            .iter()
            .rposition(|(_, _, path, work, _)| path.ends_with("main.db") && crate::config::cell::writes(work))
    };
    let at = last.unwrap();
    let (place, sim) = (StudyFolder::new(), Sim::with(&[(at, SimFault::WriteOther)]));
    let error = place.run(&sim, TEXT).unwrap_err();
    assert!(matches!(error, RunError::RowsDiffer { .. }), "{error}");
}

#[test]
fn an_arm_that_is_not_encrypted_gives_no_figure() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().unproved = Some("AES_256".into());
    let error = place.run(&sim, TEXT).unwrap_err();
    assert!(matches!(error, RunError::Proof { .. }), "{error}");
    assert!(place.left_over().is_empty());
    let sim = Sim::default();
    sim.0.borrow_mut().not_encrypted = Some("AES_256".into());
    let error = place.run(&sim, TEXT).unwrap_err();
    assert!(matches!(error, RunError::NotEncrypted { .. }), "{error}");
    assert!(place.blocks().iter().all(|block| block.arm != 3));
}

#[test]
fn rows_that_are_loaded_otherwise_give_no_store() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().load_other = Some("plain2".into());
    let error = place.run(&sim, TEXT).unwrap_err();
    assert!(matches!(error, RunError::RowsDiffer { .. }), "{error}");
    assert!(place.left_over().is_empty());
}

#[test]
fn a_missing_engine_is_an_error_with_advice() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().missing = Some("sqlcipher".into());
    let text = TEXT.replace("engine = \"selenite\"", "engine = \"sqlcipher\"");
    let error = place.run(&sim, &text).unwrap_err();
    assert!(
        matches!(error, RunError::Engine { .. }) && error.advice().contains("make peers"),
        "{error}"
    );
    assert!(place.left_over().is_empty());
}

#[test]
fn an_unknown_cipher_and_too_little_room_give_no_store() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    let error = place
        .run(&sim, &TEXT.replace("cipher = \"AES_256\"", "cipher = \"AES_265\""))
        .unwrap_err();
    assert!(error.to_string().contains("did you mean `AES_256`?"), "{error}");
    sim.0.borrow_mut().free = Some(1000);
    let error = place.run(&sim, TEXT).unwrap_err();
    assert!(matches!(error, RunError::NoSpace { free: 1000, .. }), "{error}");
    assert!(place.left_over().is_empty());
}

#[test]
fn an_existing_store_is_left_alone() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    place.run(&sim, TEXT).unwrap();
    let error = place.run(&sim, TEXT).unwrap_err();
    assert!(error.to_string().contains("already exists"), "{error}");
    assert_eq!(place.blocks().len(), 2 * PER_SESSION);
}

#[test]
fn a_server_that_reads_nothing_in_a_cold_cell_was_not_cold() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().server = true;
    let error = place.run(&sim, TEXT).unwrap_err().to_string();
    let why = "its file was not cold: its server read nothing from storage";
    assert!(error.contains(why), "{error}");
    let (place, sim) = (StudyFolder::new(), Sim::default());
    (sim.0.borrow_mut().server, sim.0.borrow_mut().read_bytes) = (true, 4096);
    assert_eq!(place.run(&sim, TEXT).unwrap(), complete());
    assert_eq!(place.void(), Vec::<String>::new());
}
