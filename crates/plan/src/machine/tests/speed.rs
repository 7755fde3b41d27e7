//! How fast the loop of source 000 runs, and that it tells each DONE.

use std::time::Instant;

use super::*;

use self::mock::Counter;

fn counted(turns: u32) -> (Counter, f64) {
    let text = format!("DECLARE @cnt int = 0; WHILE @cnt < {turns} BEGIN SET @cnt = @cnt + 1; END");
    let program = Arc::new(compile(&text).unwrap());
    let mut machine = Machine::new();
    let mut host = Counter::new();
    let request = Request {
        program,
        arguments: Vec::new(),
        entry: Entry::Batch,
    };
    let start = Instant::now();
    assert_eq!(machine.run(request, &mut host), Ended::Finished);
    (host, start.elapsed().as_secs_f64())
}

#[test]
fn a_turn_of_the_loop_is_two_dones() {
    let turns = 50_000;
    let (host, _) = counted(turns);
    assert_eq!(host.done_count, 1 + 2 * u64::from(turns) + 1);
    assert!(
        host.polls >= u64::from(turns) * 3 / u64::from(STEPS_BETWEEN_POLLS),
        "{}",
        host.polls
    );
    let last = host.last.unwrap();
    assert_eq!((last.command, last.status), (Command::CONDITION, 0));
}

#[test]
#[ignore = "make soak: prints what a turn costs, and needs a release build"]
fn what_a_turn_of_the_loop_costs_is_printed() {
    let turns = 100_000_000;
    let (host, seconds) = counted(turns);
    let ns = seconds * 1e9 / f64::from(turns);
    println!("{ns:.2} ns for each turn with {} DONEs", host.done_count);
    assert!(cfg!(debug_assertions) || ns < 100.0, "{ns} ns");
}
