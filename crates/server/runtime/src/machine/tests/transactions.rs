//! BEGIN, COMMIT, ROLLBACK, SAVE.

use super::*;

/// `@@TRANCOUNT`: BEGIN adds 1, COMMIT subtracts 1, ROLLBACK sets 0. Only the outermost COMMIT commits.
#[test]
fn transactions_nest_by_counting() {
    let mut fixture = Fixture::new();
    let recorded = fixture.run(
        "BEGIN TRAN SELECT @@TRANCOUNT BEGIN TRAN SELECT @@TRANCOUNT COMMIT SELECT @@TRANCOUNT COMMIT SELECT @@TRANCOUNT",
    );
    let steps: Vec<&str> = recorded
        .iter()
        .map(String::as_str)
        .filter(|call| !call.starts_with("done") && !call.starts_with("columns"))
        .collect();
    assert_eq!(
        steps,
        [
            "Begin { name: \"\" }",
            "row 1",
            "row 2",
            "row 1",
            "Commit { delayed_durability: None }",
            "row 0"
        ]
    );
}

#[test]
fn a_rollback_ends_all_levels() {
    assert_eq!(rows("BEGIN TRAN BEGIN TRAN ROLLBACK SELECT @@TRANCOUNT"), ["0"]);
    assert_eq!(
        run("BEGIN TRAN ROLLBACK"),
        ["Begin { name: \"\" }", "done d4 more", "Rollback", "done d2"]
    );
    assert_eq!(run("BEGIN TRAN COMMIT")[3], "done d5");
}

#[test]
fn commit_rollback_and_save_require_a_transaction() {
    assert_eq!(printed("COMMIT"), ["msg 3902 level 16 line 1"]);
    assert_eq!(printed("ROLLBACK"), ["msg 3903 level 16 line 1"]);
    assert_eq!(printed("SAVE TRAN a"), ["msg 628 level 16 line 1"]);
    assert_eq!(printed("COMMIT PRINT 'a'"), ["msg 3902 level 16 line 1", "print a"]);
}

/// ROLLBACK to a savepoint leaves the transaction open; later savepoints are removed.
#[test]
fn a_rollback_to_a_savepoint_keeps_the_transaction() {
    let mut fixture = Fixture::new();
    let recorded = fixture
        .run("BEGIN TRAN SAVE TRAN a SAVE TRAN b ROLLBACK TRAN a SELECT @@TRANCOUNT ROLLBACK TRAN b ROLLBACK TRAN a");
    let steps: Vec<&str> = recorded
        .iter()
        .map(String::as_str)
        .filter(|call| !call.starts_with("done") && !call.starts_with("col"))
        .collect();
    assert_eq!(
        steps,
        [
            "Begin { name: \"\" }",
            "Save { name: \"a\" }",
            "Save { name: \"b\" }",
            "RollbackTo { name: \"a\" }",
            "row 1",
            "msg 6401 level 16 line 1",
            "RollbackTo { name: \"a\" }"
        ]
    );
}

/// ROLLBACK with a transaction's name: only the outermost name. Names of transactions are case-sensitive.
#[test]
fn a_rollback_by_name_requires_the_outermost_name() {
    assert_eq!(
        rows("BEGIN TRAN a BEGIN TRAN b ROLLBACK TRAN a SELECT @@TRANCOUNT"),
        ["0"]
    );
    assert_eq!(
        printed("BEGIN TRAN a BEGIN TRAN b ROLLBACK TRAN b"),
        ["msg 6401 level 16 line 1"]
    );
    assert_eq!(printed("BEGIN TRAN a ROLLBACK TRAN A"), ["msg 6401 level 16 line 1"]);
    let mut fixture = Fixture::new();
    fixture.run("BEGIN TRAN a ROLLBACK TRAN x");
    assert!(
        fixture
            .host
            .calls
            .iter()
            .any(|call| matches!(call, HostCall::Message { text, .. }
        if text == "Cannot roll back x. No transaction or savepoint of that name was found."))
    );
}

/// Only the first 32 characters of a name in a variable count.
#[test]
fn a_variable_names_a_transaction() {
    let name = "n".repeat(40);
    let text = format!("DECLARE @n varchar(50) = '{name}' BEGIN TRAN @n ROLLBACK TRAN @n SELECT @@TRANCOUNT");
    assert_eq!(rows(&text), ["0"]);
}

#[test]
fn a_transaction_outlives_its_batch() {
    let mut fixture = Fixture::new();
    fixture.run("BEGIN TRAN");
    assert_eq!(fixture.host.session.transaction_count, 1);
    assert_eq!(
        fixture.run("COMMIT"),
        ["Commit { delayed_durability: None }", "done d5"]
    );
}

#[test]
fn a_commit_that_fails_leaves_no_transaction() {
    let mut fixture = Fixture::new();
    fixture.host.commit_fails = true;
    let recorded = fixture.run("BEGIN TRAN COMMIT SELECT @@TRANCOUNT");
    assert_eq!(recorded[3], "msg 9002 level 16 line 1");
    assert!(recorded.contains(&"row 0".to_owned()));
}

/// 3998: a transaction that can only be rolled back does not outlive its batch.
#[test]
fn a_doomed_transaction_is_rolled_back_at_the_batchs_end() {
    let mut fixture = Fixture::new();
    let recorded = fixture.run("SET XACT_ABORT ON BEGIN TRAN BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH END CATCH");
    assert_eq!(
        recorded[recorded.len() - 3..],
        ["msg 3998 level 16 line 1", "Rollback", "done 00 error"]
    );
    assert_eq!(fixture.host.session.transaction_state, 0);
}

/// 3930: a transaction that can only be rolled back refuses changes and COMMIT; reading continues.
#[test]
fn a_doomed_transaction_refuses_changes() {
    let doomed = "SET XACT_ABORT ON BEGIN TRAN BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH ";
    for statement in ["INSERT t VALUES (1)", "COMMIT", "SAVE TRAN a", "CREATE TABLE t (a int)"] {
        let recorded = printed(&format!("{doomed}{statement} PRINT 'a' END CATCH"));
        assert_eq!(
            recorded,
            ["msg 3930 level 16 line 1", "msg 3998 level 16 line 1"],
            "{statement}"
        );
    }
    assert!(run(&format!("{doomed} SELECT a FROM t END CATCH")).contains(&"stmt SELECT a FROM t".to_owned()));
}

/// SET IMPLICIT_TRANSACTIONS ON: a statement on tables begins a transaction, one on values does not; BEGIN makes two.
#[test]
fn implicit_transactions_begin_by_themselves() {
    let on = "SET IMPLICIT_TRANSACTIONS ON ";
    assert_eq!(rows(&format!("{on} DECLARE @a int = 1 SELECT @@TRANCOUNT")), ["0"]);
    assert_eq!(rows(&format!("{on} DELETE t SELECT @@TRANCOUNT")), ["1"]);
    assert_eq!(
        rows(&format!("{on} SELECT a FROM t DELETE t SELECT @@TRANCOUNT")),
        ["1"]
    );
    assert_eq!(rows(&format!("{on} BEGIN TRAN SELECT @@TRANCOUNT")), ["2"]);
}

/// Error 266: a procedure that ends with another count than it began with. It ends nothing.
#[test]
fn a_procedure_that_changes_the_transaction_count_is_error_266() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS BEGIN TRAN");
    let recorded = fixture.run("EXEC p SELECT @@ERROR PRINT 'a'");
    assert_eq!(recorded[2], "msg 266 level 16 line 0 of p");
    assert!(recorded.contains(&"row 266".to_owned()) && recorded.contains(&"print a".to_owned()));
    assert!(
        fixture
            .host
            .calls
            .iter()
            .any(|call| matches!(call, HostCall::Message { text, state: 2, .. }
        if text.ends_with("Previous count = 0, current count = 1.")))
    );
    fixture.run("ROLLBACK");
    fixture.create("CREATE PROCEDURE q AS ROLLBACK");
    assert!(
        fixture
            .run("BEGIN TRAN EXEC q")
            .contains(&"msg 266 level 16 line 0 of q".to_owned())
    );
}

/// Drivers receive it when they call a text that begins a transaction (github.com/rbatis/rbatis, issue 473: line 0).
#[test]
fn a_client_call_that_changes_the_transaction_count_is_error_266() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS BEGIN TRAN");
    let entry = Entry::Call {
        first_ordinal: 0,
        more: false,
    };
    assert_eq!(
        fixture.call("p", Vec::new(), entry),
        [
            "Begin { name: \"\" }",
            "doneinproc d4 more",
            "msg 266 level 16 line 0 of p",
            "status 0",
            "doneproc e0"
        ]
    );
}

#[test]
fn an_implicit_transaction_of_a_call_is_no_mismatch() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS DELETE t");
    let recorded = fixture.run("SET IMPLICIT_TRANSACTIONS ON EXEC p");
    assert!(!recorded.iter().any(|call| call.contains("266")), "{recorded:?}");
    assert_eq!(fixture.host.session.transaction_count, 1);
}

#[test]
fn transaction_requests_count_as_the_statements_do() {
    let mut fixture = Fixture::new();
    let begin = TransactionStep::Begin { name: "" };
    assert_eq!(fixture.machine.transact(begin, &mut fixture.host), Ended::Finished);
    assert_eq!(fixture.machine.transact(begin, &mut fixture.host), Ended::Finished);
    assert_eq!(fixture.host.session.transaction_count, 2);
    let rollback = TransactionStep::Rollback;
    fixture.machine.transact(rollback, &mut fixture.host);
    fixture.machine.transact(rollback, &mut fixture.host);
    assert_eq!(
        fixture.recorded(),
        [
            "Begin { name: \"\" }",
            "done d4",
            "done d4",
            "Rollback",
            "done d2",
            "msg 3903 level 16 line 0",
            "done d2 error"
        ]
    );
}

/// SET XACT_ABORT ON: ATTENTION rolls back.
#[test]
fn attention_rolls_back_with_xact_abort() {
    for (option, count) in [("ON", 0), ("OFF", 1)] {
        let mut fixture = Fixture::new();
        fixture.run(&format!("SET XACT_ABORT {option} BEGIN TRAN"));
        fixture.host.stop_at = Some((9, Stop::Attention));
        let (ended, _) = fixture.end("WHILE 1 = 1 PRINT 'a'");
        assert_eq!(ended, Ended::Attention);
        assert_eq!(fixture.host.session.transaction_count, count, "{option}");
    }
}

#[test]
fn a_reset_session_has_no_transaction_and_no_options() {
    let mut fixture = Fixture::new();
    fixture.run("SET NOCOUNT ON SET XACT_ABORT ON BEGIN TRAN");
    fixture.host.calls.clear();
    fixture.machine.reset(&mut fixture.host).unwrap();
    assert_eq!(fixture.recorded(), ["Rollback"]);
    assert_eq!(*fixture.machine.options(), Options::default());
    assert_eq!(fixture.host.session.options & Options::MASK, 0);
    assert_eq!(fixture.host.session.transaction_count, 0);
}
