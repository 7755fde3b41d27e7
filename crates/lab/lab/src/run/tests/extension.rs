use super::*;
use crate::store::PlanRow;
use crate::summary::Extension;

fn plan(place: &StudyFolder) -> Vec<PlanRow> {
    let mut plan = Store::read(&place.path).unwrap().schedule().unwrap();
    plan.iter_mut().for_each(|row| row.block = None);
    plan
}

#[test]
fn an_extension_continues_the_schedule_of_the_seed() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    place.run(&sim, TEXT).unwrap();
    assert_eq!(place.extend(&sim, 2).unwrap(), complete());
    assert_eq!(place.extend(&sim, 1).unwrap(), complete());
    assert_eq!(place.blocks().len(), 5 * PER_SESSION);
    assert_eq!(place.whole_pairs(3), BTreeMap::from([(1, 10), (2, 10), (3, 10)]));
    assert_eq!(place.left_over(), ["s.lab.db"]);
    let at_once = StudyFolder::new();
    let text = TEXT.replace("sessions = 2", "sessions = 5");
    at_once.run(&Sim::default(), &text).unwrap();
    assert_eq!(plan(&place), plan(&at_once));
    let store = Store::read(&place.path).unwrap();
    let found: Vec<_> = store.extensions().unwrap();
    assert_eq!(
        found.iter().map(|one| (one.from, one.sessions)).collect::<Vec<_>>(),
        [(2, 2), (4, 1)]
    );
    assert!(matches!(
        found[0],
        Extension {
            at_s: 1_700_000_000..,
            ..
        }
    ));
    assert!(
        store
            .events()
            .unwrap()
            .iter()
            .any(|event| event.text == "extended by 1 session, after 4")
    );
    assert!(matches!(place.resume(&sim), Err(RunError::Over(StudyState::Complete))));
}

#[test]
fn an_extension_is_not_ended_by_precision_or_the_budget() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    let text = TEXT.replace("sessions = 2", "sessions = 7");
    assert_eq!(place.run(&sim, &text).unwrap(), RunOutcome::Over(StudyState::Precise));
    // The first of the two omitted sessions, then the other one and two that are drawn.
    assert_eq!(place.extend(&sim, 1).unwrap(), complete());
    assert_eq!(place.blocks().len(), 6 * PER_SESSION);
    assert_eq!(place.extend(&sim, 3).unwrap(), complete());
    assert_eq!(place.blocks().len(), 9 * PER_SESSION);

    let (place, sim) = (StudyFolder::new(), Sim::default());
    sim.0.borrow_mut().seconds_per_block = 1.0;
    let text = TEXT.replace("sessions = 2", "sessions = 4\nbudget = \"40s\"");
    assert_eq!(
        place.run(&sim, &text).unwrap(),
        RunOutcome::Over(StudyState::OutOfBudget)
    );
    assert_eq!(place.extend(&sim, 4).unwrap(), complete());
    assert_eq!(place.blocks().len(), (2 + 4) * PER_SESSION);
}

#[test]
fn an_extension_that_was_interrupted_is_resumed() {
    let (place, sim) = (
        StudyFolder::new(),
        Sim::with(&[(2 * PER_SESSION + 5, SimFault::Interrupt)]),
    );
    place.run(&sim, TEXT).unwrap();
    assert_eq!(place.extend(&sim, 2).unwrap(), RunOutcome::Interrupted);
    assert!(matches!(place.extend(&sim, 2), Err(RunError::NotOver)));
    sim.0.borrow_mut().program = 1;
    assert!(matches!(place.resume(&sim), Err(RunError::Differs { .. })));
    sim.0.borrow_mut().program = 0;
    assert_eq!(place.resume(&sim).unwrap(), complete());
    assert_eq!(place.whole_pairs(3), BTreeMap::from([(1, 8), (2, 8), (3, 8)]));
    assert_eq!(Store::read(&place.path).unwrap().extensions().unwrap().len(), 1);
}

#[test]
fn another_machine_or_program_does_not_extend_a_study() {
    let (place, sim) = (StudyFolder::new(), Sim::default());
    place.run(&sim, TEXT).unwrap();
    let refused = |sim: &Sim| {
        let error = place.extend(sim, 1).unwrap_err();
        assert!(matches!(error, RunError::Differs { .. }), "{error}");
        error.to_string()
    };
    sim.0.borrow_mut().kernel = 7;
    assert_eq!(
        refused(&sim),
        "the machine (kernel) differs: Linux 0 when the study began, Linux 7 now"
    );
    sim.0.borrow_mut().kernel = 0;
    sim.0.borrow_mut().program = 1;
    assert!(refused(&sim).contains("program of `plain` (SHA-256)"));
    sim.0.borrow_mut().program = 0;
    let mut world = sim.clone();
    let mut observer = Quiet;
    let around = RunContext {
        commit: "other".to_owned(),
        ..around(&mut world, &mut observer)
    };
    let error = extend(&place.path, 1, around).unwrap_err();
    assert!(
        error.to_string().contains("unknown when the study began, other now"),
        "{error}"
    );
    // The refusal has changed nothing.
    let store = Store::read(&place.path).unwrap();
    assert_eq!(store.study().unwrap().state, StudyState::Complete);
    assert!(store.extensions().unwrap().is_empty());
    drop(store);
    assert_eq!(place.left_over(), ["s.lab.db"]);
}
