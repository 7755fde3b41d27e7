//! The scope that an error ends, and the CATCH that handles it.

use super::*;

/// Sommarskog, part 2: a division by zero ends the statement, and the batch continues.
#[test]
fn the_batch_continues_after_an_error_of_a_statement() {
    assert_eq!(
        printed("SELECT 1/0\nPRINT 'a'"),
        ["msg 8134 level 16 line 1", "print a"]
    );
}

/// Sommarskog, part 2: a conversion error ends the batch and rolls back.
#[test]
fn a_conversion_error_ends_the_batch_and_the_transaction() {
    let mut fixture = Fixture::new();
    assert_eq!(
        fixture.run("BEGIN TRAN SELECT CAST('x' AS int) PRINT 'a'"),
        [
            "Begin { name: \"\" }",
            "done d4 more",
            "columns ",
            "msg 245 level 16 line 1",
            "Rollback",
            "done 00 error"
        ]
    );
    assert_eq!(fixture.host.session.transaction_count, 0);
}

/// The whole IF or WHILE ends: neither of its branches is taken.
#[test]
fn an_error_in_a_condition_ends_the_whole_if() {
    for text in [
        "IF 1/0 = 1 PRINT 'a' ELSE PRINT 'b' PRINT 'c'",
        "DECLARE @a int = 0 IF 1 / @a = 1 PRINT 'a' ELSE IF 1 = 1 PRINT 'b' PRINT 'c'",
        "IF 1 = 0 PRINT 'a' ELSE IF 1/0 = 1 PRINT 'b' ELSE PRINT 'b' PRINT 'c'",
        "WHILE 1/0 = 1 PRINT 'a' PRINT 'c'",
    ] {
        assert_eq!(printed(text), ["msg 8134 level 16 line 1", "print c"], "{text}");
    }
    let mut fixture = Fixture::new();
    fixture.answer(Err(SqlError::divide_by_zero()));
    let recorded = fixture.run("IF EXISTS (SELECT 1/a FROM t) PRINT 'a' ELSE PRINT 'b' PRINT 'c'");
    assert_eq!(
        recorded[1..],
        ["msg 8134 level 16 line 1", "done c0 error more", "print c", "done f7"]
    );
}

/// SET XACT_ABORT ON: an error of a statement ends the batch and rolls back.
#[test]
fn xact_abort_makes_an_error_end_batch_and_transaction() {
    let mut fixture = Fixture::new();
    assert_eq!(
        fixture.run("SET XACT_ABORT ON BEGIN TRAN SELECT 1/0 PRINT 'a'")[4..],
        ["msg 8134 level 16 line 1", "Rollback", "done 00 error"]
    );
    assert_eq!(fixture.host.session.transaction_count, 0);
    assert_eq!(
        fixture.run("SELECT 1/0 PRINT 'a'").last().unwrap(),
        "done 00 error",
        "without a transaction too"
    );
}

/// RAISERROR does not honour XACT_ABORT; THROW does.
#[test]
fn xact_abort_applies_to_throw_but_not_to_raiserror() {
    assert_eq!(
        printed("SET XACT_ABORT ON BEGIN TRAN RAISERROR('x', 16, 1) PRINT 'a'"),
        ["msg 50000 level 16 line 1", "print a"]
    );
    let mut fixture = Fixture::new();
    let recorded = fixture.run("SET XACT_ABORT ON BEGIN TRAN; THROW 50000, 'x', 1");
    assert!(recorded.contains(&"Rollback".to_owned()));
}

/// THROW without a TRY ends the batch; the transaction stays open.
#[test]
fn a_throw_ends_the_batch_but_not_the_transaction() {
    let mut fixture = Fixture::new();
    let recorded = fixture.run("BEGIN TRAN; THROW 50000, 'x', 1; PRINT 'a'");
    assert_eq!(recorded[2..], ["msg 50000 level 16 line 1", "done 00 error"]);
    assert_eq!(fixture.host.session.transaction_count, 1);
}

#[test]
fn a_catch_handles_the_error_and_the_batch_continues_after_it() {
    assert_eq!(
        printed("BEGIN TRY PRINT 'a' SELECT 1/0 PRINT 'b' END TRY BEGIN CATCH PRINT 'c' END CATCH PRINT 'd'"),
        ["print a", "print c", "print d"]
    );
}

#[test]
fn an_empty_catch_swallows_the_error() {
    assert_eq!(
        printed("BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH END CATCH PRINT 'd'"),
        ["print d"]
    );
}

/// A SELECT that fails in a TRY has columns and a DONE without rows.
#[test]
fn a_caught_select_ends_in_no_rows() {
    assert_eq!(
        run("BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH END CATCH"),
        ["done 00 more", "columns ", "done c1 n=0 more", "done 00"]
    );
}

/// ERROR_NUMBER and related functions return the error that the CATCH handles, and are NULL outside.
#[test]
fn error_functions_return_the_error_of_their_catch() {
    assert_eq!(
        rows(
            "BEGIN TRY\nRAISERROR('oops %d', 14, 7, 5)\nEND TRY BEGIN CATCH
             SELECT ERROR_NUMBER(), ERROR_SEVERITY(), ERROR_STATE(), ERROR_LINE(), ERROR_MESSAGE(), ERROR_PROCEDURE()
             END CATCH SELECT ERROR_NUMBER()"
        ),
        ["50000,14,7,2,oops 5,NULL", "NULL"]
    );
}

#[test]
fn an_error_in_a_catch_is_handled_by_the_enclosing_try() {
    assert_eq!(
        rows(
            "BEGIN TRY
               BEGIN TRY SELECT 1/0 END TRY
               BEGIN CATCH SELECT ERROR_NUMBER(); THROW 50005, 'x', 1 END CATCH
             END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH"
        ),
        ["8134", "50005"]
    );
}

/// ERROR_NUMBER in a nested CATCH returns that CATCH's own error, and after it the outer one's again.
#[test]
fn nested_catches_each_have_their_error() {
    assert_eq!(
        rows(
            "BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH
               BEGIN TRY RAISERROR('x', 16, 1) END TRY BEGIN CATCH SELECT ERROR_NUMBER() END CATCH
               SELECT ERROR_NUMBER()
             END CATCH SELECT ERROR_NUMBER()"
        ),
        ["50000", "8134", "NULL"]
    );
}

/// THROW without arguments: number, message, state and line are those of the error that was caught.
#[test]
fn a_rethrow_sends_the_error_unchanged() {
    let mut fixture = Fixture::new();
    assert_eq!(
        fixture.run("BEGIN TRY\nRAISERROR('x', 13, 9)\nEND TRY BEGIN CATCH PRINT 'c';\nTHROW END CATCH PRINT 'd'")[2..],
        ["print c", "done f7 more", "msg 50000 level 13 line 2", "done 00 error"]
    );
    let Some(HostCall::Message { state, text, .. }) = fixture
        .host
        .calls
        .iter()
        .rfind(|call| matches!(call, HostCall::Message { .. }))
    else {
        panic!();
    };
    assert_eq!((*state, text.as_str()), (9, "x"));
}

/// A procedure that is called in a CATCH sees its error.
#[test]
fn a_procedure_called_in_a_catch_sees_the_error() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS SELECT ERROR_NUMBER()");
    let recorded = fixture.run("BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH EXEC p END CATCH EXEC p");
    let rows: Vec<&String> = recorded.iter().filter(|call| call.starts_with("row")).collect();
    assert_eq!(rows, ["row 8134", "row NULL"]);
}

/// An error in a procedure is handled by the TRY around its call, with the procedure's name and line.
#[test]
fn an_error_in_a_procedure_is_handled_by_the_callers_catch() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS\nPRINT 'p'\nSELECT 1/0\nPRINT 'q'");
    let recorded = fixture.run("BEGIN TRY EXEC p END TRY BEGIN CATCH SELECT ERROR_PROCEDURE(), ERROR_LINE() END CATCH");
    assert!(recorded.contains(&"row p,3".to_owned()), "{recorded:?}");
    assert!(!recorded.contains(&"print q".to_owned()));
}

#[test]
fn a_procedure_continues_after_an_error_outside_try() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS\nSELECT 1/0\nPRINT 'q'");
    let recorded = fixture.run("EXEC p PRINT 'r'");
    let call: Vec<&String> = recorded
        .iter()
        .filter(|call| call.starts_with("msg") || call.starts_with("print"))
        .collect();
    assert_eq!(call, ["msg 8134 level 16 line 2 of p", "print q", "print r"]);
}

/// TRY .. CATCH: a compilation error is not caught in its own frame, but by the TRY around the call.
#[test]
fn a_name_that_is_not_found_ends_the_scope_and_is_caught_around_it() {
    let missing = || Err(SqlError::unknown_object("t"));
    let mut fixture = Fixture::new();
    fixture.answer(missing());
    assert_eq!(
        fixture.run("BEGIN TRY SELECT a FROM t END TRY BEGIN CATCH PRINT 'c' END CATCH PRINT 'd'")[2..],
        ["msg 208 level 16 line 1", "done 00 error"]
    );
    fixture.create("CREATE PROCEDURE p AS BEGIN TRY SELECT a FROM t END TRY BEGIN CATCH PRINT 'c' END CATCH PRINT 'd'");
    fixture.answer(missing());
    let recorded = fixture.run("BEGIN TRY EXEC p END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH");
    assert!(
        recorded.contains(&"print 208".to_owned()) && !recorded.contains(&"print d".to_owned()),
        "{recorded:?}"
    );
    fixture.answer(missing());
    let recorded = fixture.run("EXEC p PRINT 'e'");
    assert!(
        recorded.contains(&"print e".to_owned()) && !recorded.contains(&"print d".to_owned()),
        "{recorded:?}"
    );
}

/// TRY .. CATCH, example of DDL: a definition that fails is caught in its own frame, and its transaction can't be committed.
#[test]
fn a_definition_that_fails_is_caught_in_its_own_frame_and_dooms_its_transaction() {
    let taken = || Err(SqlError::new(2714, selenite_compiler::Ends::Batch, "taken"));
    let mut fixture = Fixture::new();
    fixture.answer(taken());
    let recorded = fixture.run(
        "BEGIN TRAN
         BEGIN TRY CREATE TABLE t (a INT) PRINT 'b' END TRY
         BEGIN CATCH PRINT ERROR_NUMBER() PRINT XACT_STATE() ROLLBACK END CATCH
         PRINT 'd'",
    );
    let printed: Vec<&String> = recorded.iter().filter(|call| call.starts_with("print")).collect();
    assert_eq!(printed, ["print 2714", "print -1", "print d"]);
    fixture.answer(taken());
    let recorded = fixture.run("CREATE TABLE t (a INT) PRINT 'd'");
    assert!(!recorded.contains(&"print d".to_owned()), "{recorded:?}");
}

/// RAISERROR: severity 20 and above end the connection, and no CATCH handles them.
#[test]
fn a_fatal_error_ends_the_connection() {
    let mut fixture = Fixture::new();
    let (ended, recorded) =
        fixture.end("BEGIN TRY RAISERROR('x', 20, 1) WITH LOG END TRY BEGIN CATCH PRINT 'c' END CATCH PRINT 'd'");
    assert_eq!(ended, Ended::Connection);
    assert_eq!(
        recorded[1..],
        [
            "msg 2745 level 16 line 1",
            "msg 50000 level 20 line 1",
            "msg 596 level 21 line 0",
            "done 00 server error"
        ]
    );
}

/// RAISERROR in a TRY: severity 11 to 19 are handled by the CATCH, 10 and less are informational.
#[test]
fn an_informational_message_in_a_try_is_sent_and_not_caught() {
    assert_eq!(
        printed("BEGIN TRY RAISERROR('x', 10, 1) PRINT 'a' END TRY BEGIN CATCH PRINT 'c' END CATCH"),
        ["msg 50000 level 10 line 1", "print a"]
    );
    assert_eq!(
        printed("BEGIN TRY RAISERROR('x', 11, 1) PRINT 'a' END TRY BEGIN CATCH PRINT 'c' END CATCH"),
        ["print c"]
    );
}

/// An error that ends the batch is caught as well; the transaction can then only be rolled back.
#[test]
fn an_error_that_would_roll_back_dooms_the_transaction_in_a_try() {
    let mut fixture = Fixture::new();
    let recorded = fixture.run(
        "BEGIN TRAN BEGIN TRY SELECT CAST('x' AS int) END TRY BEGIN CATCH SELECT XACT_STATE(), @@TRANCOUNT ROLLBACK END CATCH
         SELECT XACT_STATE()",
    );
    let rows: Vec<&String> = recorded.iter().filter(|call| call.starts_with("row")).collect();
    assert_eq!(rows, ["row -1,1", "row 0"]);
}

#[test]
fn an_error_of_a_statement_leaves_the_transaction_committable() {
    assert_eq!(
        rows("BEGIN TRAN BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH SELECT XACT_STATE() COMMIT END CATCH"),
        ["1"]
    );
    assert_eq!(
        rows(
            "SET XACT_ABORT ON BEGIN TRAN BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH SELECT XACT_STATE() ROLLBACK END CATCH"
        ),
        ["-1"]
    );
}

/// 3621 follows the error of a statement that changes rows, if it ends only the statement.
#[test]
fn the_statement_has_been_terminated() {
    let failed = || {
        Err(SqlError::new(
            515,
            selenite_compiler::Ends::Statement,
            "Cannot insert the value NULL.",
        ))
    };
    let mut fixture = Fixture::new();
    fixture.answer(failed());
    assert_eq!(
        fixture.run("INSERT t VALUES (NULL)")[1..3],
        ["msg 515 level 16 line 1", "msg 3621 level 0 line 1"]
    );
    fixture.answer(failed());
    assert!(
        !fixture
            .run("SET XACT_ABORT ON INSERT t VALUES (NULL)")
            .iter()
            .any(|call| call.contains("3621"))
    );
}

/// An unsupported statement refuses its whole batch by name.
#[test]
fn an_unsupported_statement_refuses_its_batch_by_name() {
    let mut fixture = Fixture::new();
    let recorded = fixture.run("PRINT 'a' IF 1 = 0 EXEC p WITH RESULT SETS NONE");
    assert_eq!(recorded, ["msg 40510 level 16 line 1", "done 00 error"]);
    assert!(
        fixture
            .host
            .calls
            .iter()
            .any(|call| matches!(call, HostCall::Message { text, .. } if text == "WITH RESULT SETS is not supported."))
    );
}
