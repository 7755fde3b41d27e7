//! IF, WHILE, BREAK, CONTINUE, GOTO, RETURN, WAITFOR.

use super::*;

#[test]
fn an_if_takes_one_of_two_branches() {
    assert_eq!(printed("IF 1 = 1 PRINT 'a' ELSE PRINT 'b'"), ["print a"]);
    assert_eq!(
        printed("IF 1 = 2 PRINT 'a' ELSE IF 2 = 2 PRINT 'b' ELSE PRINT 'c'"),
        ["print b"]
    );
}

/// A condition that is unknown is not true.
#[test]
fn an_unknown_condition_takes_the_else_branch() {
    assert_eq!(
        printed("DECLARE @a int IF @a = 1 PRINT 'a' ELSE PRINT 'b'"),
        ["print b"]
    );
    assert_eq!(
        printed("DECLARE @a int IF NOT @a = 1 PRINT 'a' ELSE PRINT 'b'"),
        ["print b"]
    );
    assert_eq!(printed("DECLARE @a int WHILE @a < 5 PRINT 'a'"), [""; 0]);
}

#[test]
fn break_leaves_the_innermost_loop() {
    assert_eq!(
        printed(
            "DECLARE @i int = 0, @j int
             WHILE @i < 2
             BEGIN
               SET @i += 1
               SET @j = 0
               WHILE @j < 9 BEGIN SET @j += 1 IF @j = 2 BREAK PRINT @j END
               PRINT 'i'
             END"
        ),
        ["print 1", "print i", "print 1", "print i"]
    );
}

#[test]
fn continue_evaluates_the_condition_again() {
    assert_eq!(
        printed("DECLARE @i int = 0 WHILE @i < 4 BEGIN SET @i += 1 IF @i % 2 = 0 CONTINUE PRINT @i END"),
        ["print 1", "print 3"]
    );
}

#[test]
fn goto_jumps_backward_and_forward() {
    assert_eq!(
        printed(
            "DECLARE @i int = 0 Again: SET @i += 1 PRINT @i IF @i < 3 GOTO AGAIN GOTO past PRINT 'x' past: PRINT 'y'"
        ),
        ["print 1", "print 2", "print 3", "print y"]
    );
}

/// GOTO may leave a TRY or CATCH block.
#[test]
fn goto_leaves_a_catch_and_its_error() {
    assert_eq!(
        rows(
            "BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH GOTO past END CATCH
             past: SELECT ERROR_NUMBER()"
        ),
        ["NULL"]
    );
    assert_eq!(
        printed("BEGIN TRY GOTO past END TRY BEGIN CATCH PRINT 'c' END CATCH PRINT 'x' past: SELECT 1/0"),
        ["msg 8134 level 16 line 1"]
    );
}

#[test]
fn break_leaves_a_catch_inside_its_loop() {
    assert_eq!(
        rows(
            "WHILE 1 = 1 BEGIN
               BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH BREAK END CATCH
             END
             SELECT ERROR_NUMBER()"
        ),
        ["NULL"]
    );
}

#[test]
fn return_ends_a_batch() {
    assert_eq!(printed("PRINT 'a' RETURN PRINT 'b'"), ["print a"]);
    assert_eq!(printed("WHILE 1 = 1 BEGIN PRINT 'a' RETURN END PRINT 'b'"), ["print a"]);
}

#[test]
fn waitfor_hands_the_host_a_time() {
    assert_eq!(
        run("WAITFOR DELAY '00:00:01.5'"),
        ["Delay { milliseconds: 1500 }", "done 00"]
    );
    assert_eq!(
        run("DECLARE @t char(8) = '22:20' WAITFOR TIME @t")[1],
        "Time { milliseconds: 80400000 }"
    );
    assert_eq!(run("WAITFOR DELAY 'x'"), ["msg 148 level 15 line 1", "done 00 error"]);
}

/// A condition with a subquery reads tables: the host evaluates it, and the IF has one DONE.
#[test]
fn a_condition_with_a_subquery_is_evaluated_by_the_host() {
    for (found, way) in [(1, "print yes"), (0, "print no")] {
        let mut fixture = Fixture::new();
        fixture.host.answers.push_back(Box::new(move |statement, slots| {
            let hidden = statement.program.variables().find("@ 0").unwrap();
            slots[hidden.slot.index()] = Value::Int(found);
            Ok(Affected::Rows(1))
        }));
        assert_eq!(
            fixture.run("IF EXISTS (SELECT * FROM t) PRINT 'yes' ELSE PRINT 'no'"),
            ["stmt EXISTS (SELECT * FROM t)", "done c0 more", way, "done f7"]
        );
    }
}

/// The deepest text of a kind that parses: the parser limits the depth of a tree.
fn deepest(text: impl Fn(usize) -> String) -> String {
    let is_parsed = |depth: &usize| parse(&text(*depth), ParseOptions::default()).is_ok();
    let depth = (1..=1000).rev().find(is_parsed).unwrap();
    assert!(depth > 50, "{depth}");
    text(depth)
}

#[test]
fn the_deepest_nesting_that_the_parser_accepts_runs_on_a_threads_stack() {
    let texts = [
        deepest(|depth| format!("{}PRINT 'a'{}", "BEGIN ".repeat(depth), " END".repeat(depth))),
        deepest(|depth| format!("{}PRINT 'a'", "IF 1 = 0 PRINT 'b' ELSE ".repeat(depth))),
        deepest(|depth| {
            let end = " END TRY BEGIN CATCH END CATCH";
            format!("{}PRINT 'a'{}", "BEGIN TRY ".repeat(depth), end.repeat(depth))
        }),
        deepest(|depth| format!("IF {}1 = 1{} PRINT 'a'", "NOT (NOT (".repeat(depth), "))".repeat(depth))),
    ];
    for text in texts {
        let run = move || printed(&text);
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap();
        assert_eq!(thread.join().unwrap(), ["print a"]);
    }
}

/// The machine polls for attention between steps: an infinite loop stops.
#[test]
fn attention_ends_a_loop() {
    let mut fixture = Fixture::new();
    fixture.host.stop_at = Some((50, Stop::Attention));
    let (ended, recorded) = fixture.end("WHILE 1 = 1 PRINT 'a'");
    assert_eq!(ended, Ended::Attention);
    assert!(recorded.iter().all(|call| call == "print a" || call.ends_with(" more")));
}

#[test]
fn attention_in_a_silent_loop_is_seen_by_polling() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS SET NOCOUNT ON DECLARE @i int = 0 WHILE 1 = 1 SET @i = 1");
    fixture.host.stop_at = Some((5, Stop::Attention));
    assert_eq!(fixture.end("EXEC p").0, Ended::Attention);
}

#[test]
fn a_disconnected_client_ends_the_batch() {
    let mut fixture = Fixture::new();
    fixture.host.stop_at = Some((3, Stop::Gone));
    assert_eq!(fixture.end("SELECT 1 SELECT 2 SELECT 3").0, Ended::Gone);
}
