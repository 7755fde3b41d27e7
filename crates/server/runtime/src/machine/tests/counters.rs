//! `@@ROWCOUNT` and `@@ERROR` after each kind of statement.

use super::*;

fn row_count_after(statement: &str) -> String {
    rows(&format!(
        "DECLARE @a int; SELECT 1 UNION SELECT 2;\n{statement}\nSELECT @@ROWCOUNT"
    ))
    .pop()
    .unwrap()
}

/// `@@ROWCOUNT`: statements that make a simple assignment set it to 1, SELECT without a query too.
#[test]
fn an_assignment_and_a_select_of_values_set_the_row_count_to_1() {
    for statement in ["SET @a = 5", "SELECT @a = 5", "DECLARE @b int = 5", "SELECT 7"] {
        assert_eq!(row_count_after(statement), "1", "{statement}");
    }
}

/// `@@ROWCOUNT`: USE, SET of an option, BEGIN TRANSACTION and COMMIT set it to 0; that IF and PRINT do too is well
/// known (codecorner.galanter.net, 2012).
#[test]
fn other_statements_set_the_row_count_to_0() {
    for statement in [
        "USE master",
        "SET NOCOUNT ON",
        "BEGIN TRANSACTION",
        "BEGIN TRANSACTION COMMIT",
        "IF 1 = 0 SELECT 1",
        "WHILE 1 = 0 SELECT 1",
        "PRINT 'a'",
        "WAITFOR DELAY '00:00:00'",
    ] {
        let mut fixture = Fixture::new();
        fixture.answer(Ok(Affected::Rows(5)));
        let recorded = fixture.run(&format!("SELECT a FROM t; {statement}; SELECT @@ROWCOUNT"));
        assert!(recorded.contains(&"row 0".to_owned()), "{statement}: {recorded:?}");
    }
}

#[test]
fn declarations_and_jumps_leave_the_row_count_alone() {
    for statement in ["DECLARE @b int", "GOTO x; x:", "BEGIN DECLARE @c int END"] {
        let mut fixture = Fixture::new();
        fixture.answer(Ok(Affected::Rows(5)));
        let recorded = fixture.run(&format!("SELECT a FROM t; {statement}; SELECT @@ROWCOUNT"));
        assert!(recorded.contains(&"row 5".to_owned()), "{statement}: {recorded:?}");
    }
}

#[test]
fn a_statement_on_tables_sets_the_row_count_to_its_rows() {
    let mut fixture = Fixture::new();
    fixture.answer(Ok(Affected::Rows(42)));
    assert_eq!(fixture.run("UPDATE t SET a = 1 SELECT @@ROWCOUNT")[3], "row 42");
    fixture.answer(Ok(Affected::Nothing));
    assert_eq!(fixture.run("CREATE TABLE t (a int) SELECT @@ROWCOUNT")[3], "row 0");
}

/// `@@ROWCOUNT`: EXECUTE preserves the row count of its last statement.
#[test]
fn a_call_keeps_the_row_count_of_its_last_statement() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS DELETE t");
    fixture.answer(Ok(Affected::Rows(9)));
    assert!(fixture.run("EXEC p SELECT @@ROWCOUNT").contains(&"row 9".to_owned()));
}

/// `@@ERROR` is the number of the previous statement's error, and 0 after one that succeeded: IF sets it to 0 as well.
#[test]
fn the_error_is_that_of_the_statement_before() {
    assert_eq!(
        rows("DECLARE @a int\nSET @a = 1/0\nSELECT @@ERROR\nSELECT @@ERROR"),
        ["8134", "0"]
    );
    assert_eq!(
        printed("DECLARE @a int SET @a = 1/0 IF @@ERROR <> 0 PRINT @@ERROR"),
        ["msg 8134 level 16 line 1", "print 0"]
    );
}

/// johnnycoder.com: a SELECT that fails leaves the row count of the previous statement.
#[test]
fn both_counters_can_be_read_at_once() {
    assert_eq!(rows("SELECT 1/0 SELECT @@ERROR, @@ROWCOUNT"), ["8134,0"]);
}

#[test]
fn a_failed_change_sets_the_row_count_to_0() {
    let mut fixture = Fixture::new();
    fixture.answer(Err(SqlError::new(547, selenite_compiler::Ends::Statement, "x")));
    assert!(
        fixture
            .run("INSERT t VALUES (1) SELECT @@ERROR, @@ROWCOUNT")
            .contains(&"row 547,0".to_owned())
    );
}

/// RAISERROR: severity 10 and less leave `@@ERROR` at 0, except WITH SETERROR.
#[test]
fn an_informational_message_is_an_error_only_with_seterror() {
    assert_eq!(rows("RAISERROR('a', 10, 1) SELECT @@ERROR"), ["0"]);
    assert_eq!(rows("RAISERROR('a', 10, 1) WITH SETERROR SELECT @@ERROR"), ["50000"]);
    assert_eq!(rows("RAISERROR('a', 16, 1) SELECT @@ERROR"), ["50000"]);
}

/// TRY .. CATCH: the first statement of a CATCH sees the error's number in `@@ERROR`.
#[test]
fn a_catch_sees_the_error() {
    assert_eq!(
        rows("BEGIN TRY SELECT 1/0 END TRY BEGIN CATCH SELECT @@ERROR, ERROR_NUMBER() SELECT @@ERROR END CATCH"),
        ["8134,8134", "0"]
    );
}

#[test]
fn both_counters_outlive_the_batch() {
    let mut fixture = Fixture::new();
    fixture.run("SELECT 1/0");
    assert_eq!(fixture.host.session.error, 8134);
    assert!(fixture.run("SELECT @@ERROR").contains(&"row 8134".to_owned()));
    assert!(
        fixture
            .run("SELECT @@ERROR, @@ROWCOUNT")
            .contains(&"row 0,1".to_owned())
    );
}

/// RETURN is a simple assignment (`@@ROWCOUNT`).
#[test]
fn a_return_of_a_value_is_an_assignment() {
    let mut fixture = Fixture::new();
    fixture.create("CREATE PROCEDURE p AS DELETE t RETURN 4");
    fixture.answer(Ok(Affected::Rows(9)));
    assert!(fixture.run("EXEC p SELECT @@ROWCOUNT").contains(&"row 1".to_owned()));
}
