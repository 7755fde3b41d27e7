//! The speed of the loop in the context switches article, and its DONEs.

use std::time::Instant;

use self::mock::Counter;
use super::*;

fn counted(turns: u32) -> (Counter, f64) {
    counted_of(&format!(
        "DECLARE @cnt int = 0; WHILE @cnt < {turns} BEGIN SET @cnt = @cnt + 1; END"
    ))
}

fn counted_of(text: &str) -> (Counter, f64) {
    let program = Arc::new(compile(text).unwrap());
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
fn a_loop_iteration_sends_two_dones() {
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
fn each_step_with_a_large_value_polls() {
    for step in [
        "SET @s = UPPER(@s)",
        "SELECT @s = LOWER(@s)",
        "SET @n = LEN(REVERSE(@s))",
    ] {
        let text = format!(
            "DECLARE @s varchar(max) = REPLICATE(CAST('x' AS varchar(max)), 100000), @n bigint, @i int = 0
             WHILE @i < 50 BEGIN {step} SET @i = @i + 1 END"
        );
        let (host, _) = counted_of(&text);
        assert!(host.polls >= 49, "{step}: {}", host.polls);
    }
    let (host, _) = counted_of(
        "DECLARE @s varchar(max) = 'x', @i int = 0 WHILE @i < 50 BEGIN SET @s = UPPER(@s) SET @i = @i + 1 END",
    );
    assert_eq!(host.polls, 0);
}

#[test]
#[ignore = "make soak: prints what a turn costs, and needs a release build"]
fn the_cost_of_a_loop_iteration_is_printed() {
    let turns = 100_000_000;
    let (host, seconds) = counted(turns);
    let ns = seconds * 1e9 / f64::from(turns);
    println!("{ns:.2} ns for each turn with {} DONEs", host.done_count);
    assert!(cfg!(debug_assertions) || ns < 100.0, "{ns} ns");
}
