//! DONE tokens: which statements have one, and its contents.

use super::*;

/// MS-TDS 2.2.7.6: a DONE for each statement of a batch except declarations of variables; all but the last with MORE.
#[test]
fn each_statement_has_a_done_and_only_the_last_is_without_more() {
    let recorded = run("SELECT 1; PRINT 'a'; SELECT 2");
    assert_eq!(
        recorded,
        [
            "columns ",
            "row 1",
            "done c1 n=1 more",
            "print a",
            "done f7 more",
            "columns ",
            "row 2",
            "done c1 n=1"
        ]
    );
}

#[test]
fn a_declaration_without_a_value_has_none() {
    assert_eq!(run("DECLARE @a int, @b int"), ["done 00"]);
    assert_eq!(run("SELECT 1 DECLARE @a int"), ["columns ", "row 1", "done c1 n=1"]);
}

/// Captured from SQL Server 2022 (github.com/microsoft/mssql-rs, pull request 372): DECLARE with a value, SET and
/// SELECT of a variable are DONEs of SELECT with a count of 1.
#[test]
fn an_assignment_has_the_done_of_a_select_of_one_row() {
    assert_eq!(run("DECLARE @a int = 1"), ["done c1 n=1"]);
    assert_eq!(run("DECLARE @a int SET @a = 1"), ["done c1 n=1"]);
    assert_eq!(run("DECLARE @a int SELECT @a = 1"), ["done c1 n=1"]);
    assert_eq!(
        run("DECLARE @a int = 1, @b int, @c int = 2"),
        ["done c1 n=1 more", "done c1 n=1"]
    );
}

#[test]
fn an_empty_batch_has_one_done() {
    assert_eq!(run(""), ["done 00"]);
    assert_eq!(run("-- nothing"), ["done 00"]);
}

/// E. Meazzo, "The impact of DONE tokens in SQL Server loops" (2019): 5 million iterations with two SETs are 15
/// million DONEs. BEGIN and END are not statements.
#[test]
fn the_condition_of_a_loop_has_a_done_in_each_iteration() {
    let recorded = run("DECLARE @i int = 0 WHILE @i < 2 BEGIN SET @i = @i + 1 END");
    let set = "done c1 n=1 more";
    assert_eq!(recorded, [set, "done c0 more", set, "done c0 more", set, "done c0"]);
}

#[test]
fn an_if_has_a_done_without_a_count() {
    assert_eq!(
        run("IF 1 = 1 PRINT 'a' ELSE PRINT 'b'"),
        ["done c0 more", "print a", "done f7"]
    );
    assert_eq!(run("IF 1 = 0 PRINT 'a'"), ["done c0"]);
}

/// FreeTDS issue 100: TRY .. CATCH has DONEs before and after its contents.
#[test]
fn a_try_has_a_done_at_its_beginning_and_at_its_end() {
    assert_eq!(
        run("BEGIN TRY PRINT 'a' END TRY BEGIN CATCH PRINT 'b' END CATCH"),
        ["done 00 more", "print a", "done f7 more", "done 00"]
    );
    assert_eq!(
        run("BEGIN TRY RAISERROR('x', 16, 1) END TRY BEGIN CATCH PRINT 'b' END CATCH"),
        ["done 00 more", "done f7 more", "print b", "done f7 more", "done 00"]
    );
}

/// Babelfish's tdsresponse.c: no DONE is expected of GOTO and RETURN.
#[test]
fn jumps_and_labels_have_none() {
    assert_eq!(run("GOTO a; PRINT 'x'; a: RETURN; PRINT 'y'"), ["done 00"]);
    assert_eq!(run("WHILE 1 = 1 BREAK"), ["done c0"]);
    let recorded = run("DECLARE @i int = 0 WHILE @i < 1 BEGIN SET @i += 1 CONTINUE PRINT 'x' END");
    assert_eq!(
        recorded,
        ["done c1 n=1 more", "done c0 more", "done c1 n=1 more", "done c0"]
    );
}

#[test]
fn statements_of_the_host_have_their_counts_and_commands() {
    let mut fixture = Fixture::new();
    for count in [3, 4, 5, 6] {
        fixture.answer(Ok(Affected::Rows(count)));
    }
    let recorded = fixture.run("SELECT a FROM t INSERT t VALUES (1) UPDATE t SET a = 1 DELETE t");
    assert_eq!(
        recorded,
        [
            "stmt SELECT a FROM t",
            "done c1 n=3 more",
            "stmt INSERT t VALUES (1)",
            "done c3 n=4 more",
            "stmt UPDATE t SET a = 1",
            "done c5 n=5 more",
            "stmt DELETE t",
            "done c4 n=6"
        ]
    );
}

/// mssql-jdbc, `StreamDone`: the driver recognizes definitions by these numbers, whose update count is 0.
#[test]
fn definitions_have_their_own_commands_and_no_count() {
    let recorded = run("CREATE TABLE t (a int); DROP TABLE t; SELECT 1 AS a INTO u");
    assert_eq!(
        recorded,
        [
            "stmt CREATE TABLE t (a int)",
            "done c6 more",
            "stmt DROP TABLE t",
            "done c7 more",
            "stmt SELECT 1 AS a INTO u",
            "done c2 n=1"
        ]
    );
}

/// SET NOCOUNT: the count is omitted, whereas the DONE of a batch's statement stays.
#[test]
fn nocount_removes_counts_in_a_batch() {
    assert_eq!(
        run("SET NOCOUNT ON; DECLARE @a int = 1; SELECT @a; SET NOCOUNT OFF; SET @a = 2"),
        [
            "done be more",
            "done c1 more",
            "columns ",
            "row 1",
            "done c1 more",
            "done be more",
            "done c1 n=1"
        ]
    );
}

/// MS-TDS 2.2.7.7 and 2.2.7.8: DONEINPROC for each statement of a procedure, then DONEPROC.
#[test]
fn a_procedures_statements_are_doneinproc_and_its_end_is_doneproc() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS DECLARE @a int = 1 SELECT @a IF @a = 1 PRINT 'a'");
    assert_eq!(
        fixture.run("EXEC p PRINT 'b'"),
        [
            "doneinproc c1 n=1 more",
            "columns ",
            "row 1",
            "doneinproc c1 n=1 more",
            "doneinproc c0 more",
            "print a",
            "doneinproc f7 more",
            "status 0",
            "doneproc e0 more",
            "print b",
            "done f7"
        ]
    );
}

/// SET NOCOUNT: "prevents the sending of DONEINPROC messages" for statements that return no rows.
#[test]
fn nocount_silences_a_procedure_but_for_its_rows_and_errors() {
    let mut fixture = Fixture::new();
    fixture.create(
        "CREATE PROCEDURE p AS SET NOCOUNT ON DECLARE @a int = 1 IF @a = 1 SET @a = 2 UPDATE t SET a = 1 \
         SELECT @a SELECT b FROM t RAISERROR('x', 16, 1)",
    );
    assert_eq!(
        fixture.run("EXEC p"),
        [
            "stmt UPDATE t SET a = 1",
            "columns ",
            "row 2",
            "doneinproc c1 more",
            "stmt SELECT b FROM t",
            "doneinproc c1 more",
            "msg 50000 level 16 line 1 of p",
            "doneinproc f7 error more",
            "status -6",
            "doneproc e0"
        ]
    );
}

/// SET options of a procedure are restored when it ends.
#[test]
fn nocount_of_a_procedure_ends_with_it() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS SET NOCOUNT ON");
    assert_eq!(
        fixture.run("EXEC p SELECT 1"),
        ["status 0", "doneproc e0 more", "columns ", "row 1", "done c1 n=1"]
    );
    assert_eq!(fixture.run("SET NOCOUNT ON"), ["done be"]);
    assert!(fixture.machine.options().no_count, "what a batch sets stays");
    assert_eq!(fixture.host.session.options & Options::MASK, 512);
}

#[test]
fn a_failed_statement_has_the_error_bit_and_no_count() {
    assert_eq!(
        run("SELECT 1/0; PRINT 'a'"),
        [
            "columns ",
            "msg 8134 level 16 line 1",
            "done c1 error more",
            "print a",
            "done f7"
        ]
    );
    let mut fixture = Fixture::new();
    fixture.answer(Err(SqlError::new(
        2627,
        selenite_compiler::Ends::Statement,
        "Violation.",
    )
    .with_severity(14)));
    // mssql-jdbc issue 2850 shows status 3, command INSERT and count 0.
    assert_eq!(
        fixture.run("INSERT t VALUES (1) PRINT 'a'"),
        [
            "stmt INSERT t VALUES (1)",
            "msg 2627 level 14 line 1",
            "msg 3621 level 0 line 1",
            "done c3 error more",
            "print a",
            "done f7"
        ]
    );
}

#[test]
fn a_call_of_the_clients_ends_in_status_outputs_and_doneproc() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p @a int, @b int OUTPUT AS SET @b = @a + @b SELECT @a RETURN 3");
    let argument = |value, is_output| CallArgument {
        name: None,
        value: Some((Value::Int(value), selenite_types::DataType::Int)),
        is_output,
        table: None,
        cursor: None,
    };
    let arguments = vec![argument(4, false), argument(5, true)];
    let entry = Entry::Call {
        first_ordinal: 2,
        more: true,
    };
    assert_eq!(
        fixture.call("p", arguments, entry),
        [
            "doneinproc c1 n=1 more",
            "columns ",
            "row 4",
            "doneinproc c1 n=1 more",
            "status 3",
            "output 3 @b=9",
            "doneproc e0 more"
        ]
    );
}

/// MS-TDS 2.2.7.8: only the last DONEPROC of the answer has no MORE.
#[test]
fn a_call_that_fails_ends_in_doneproc_with_the_error_bit() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS THROW 50001, 'x', 1");
    let entry = Entry::Call {
        first_ordinal: 0,
        more: false,
    };
    assert_eq!(
        fixture.call("p", Vec::new(), entry),
        ["msg 50001 level 16 line 1 of p", "doneproc e0 error"]
    );
}

#[test]
fn a_batch_that_does_not_compile_has_its_errors_and_one_done() {
    assert_eq!(
        run("PRINT 'a'\nSELECT @a\nSET @b = 1"),
        ["msg 137 level 15 line 2", "msg 137 level 15 line 3", "done 00 error"]
    );
}
