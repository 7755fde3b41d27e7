//! DECLARE, SET and SELECT of variables.

use super::*;

#[test]
fn a_variable_is_null_until_it_is_set() {
    assert_eq!(rows("DECLARE @a int SELECT @a SET @a = 1 SELECT @a"), ["NULL", "1"]);
}

/// A value is assigned where the DECLARE is, at each iteration; a DECLARE without a value does nothing.
#[test]
fn a_declaration_in_a_loop_assigns_its_value_in_each_iteration() {
    assert_eq!(
        printed("DECLARE @i int = 0 WHILE @i < 3 BEGIN DECLARE @a int = 5 PRINT @a SET @a += 1 SET @i += 1 END"),
        ["print 5", "print 5", "print 5"]
    );
    assert_eq!(
        printed(
            "DECLARE @i int = 0 WHILE @i < 3 BEGIN DECLARE @a int SET @a = ISNULL(@a, 0) + 1 PRINT @a SET @i += 1 END"
        ),
        ["print 1", "print 2", "print 3"]
    );
}

/// A declaration is in scope in the rest of the batch, even if it was not executed.
#[test]
fn a_declaration_that_does_not_run_still_declares() {
    assert_eq!(rows("IF 1 = 0 DECLARE @a int = 5 SELECT @a"), ["NULL"]);
}

#[test]
fn a_declaration_sees_those_before_it() {
    assert_eq!(rows("DECLARE @a int = 2, @b int = @a * 3 SELECT @b"), ["6"]);
}

#[test]
fn names_of_variables_are_case_insensitive() {
    assert_eq!(rows("DECLARE @Abc int = 1 SET @aBC += 1 SELECT @ABC"), ["2"]);
}

#[test]
fn compound_assignments_compute() {
    let text = "DECLARE @a int = 7 SET @a += 3 SELECT @a SET @a -= 4 SELECT @a SET @a *= 5 SELECT @a
                SET @a /= 4 SELECT @a SET @a %= 4 SELECT @a SET @a |= 4 SELECT @a SET @a &= 6 SELECT @a
                SET @a ^= 1 SELECT @a";
    assert_eq!(rows(text), ["10", "6", "30", "7", "3", "7", "6", "7"]);
    assert_eq!(rows("DECLARE @a varchar(9) = 'a' SET @a += 'b' SELECT @a"), ["ab"]);
    assert_eq!(rows("DECLARE @a int = 2 SET @a *= 1 + 2 SELECT @a"), ["6"]);
}

/// A value is converted to the variable's type, and text truncated to its length.
#[test]
fn a_value_becomes_one_of_the_variables_type() {
    assert_eq!(rows("DECLARE @a int = '12' SELECT @a"), ["12"]);
    assert_eq!(rows("DECLARE @a varchar(2) = 'abc' SELECT @a"), ["ab"]);
    assert_eq!(rows("DECLARE @a varchar(9) SET @a = 12 SELECT @a"), ["12"]);
}

#[test]
fn a_select_of_assignments_is_evaluated_from_left_to_right() {
    assert_eq!(
        rows("DECLARE @a int = 1, @b int SELECT @a = @a + 1, @b = @a * 10 SELECT @a, @b"),
        ["2,20"]
    );
}

/// 8115 ends the statement: the variable keeps its value, and the batch continues.
#[test]
fn an_int_that_overflows_is_error_8115() {
    assert_eq!(
        run("DECLARE @a int = 2147483647 SET @a = @a + 1 SELECT @a"),
        [
            "done c1 n=1 more",
            "msg 8115 level 16 line 1",
            "done c1 error more",
            "columns ",
            "row 2147483647",
            "done c1 n=1"
        ]
    );
    assert_eq!(
        printed("DECLARE @a int = -2147483647 SET @a = @a - 2"),
        ["msg 8115 level 16 line 1"]
    );
}

#[test]
fn null_plus_one_is_null() {
    assert_eq!(rows("DECLARE @a int SET @a = @a + 1 SELECT @a"), ["NULL"]);
    assert_eq!(rows("DECLARE @a int = 1, @b int SET @a = @a + @b SELECT @a"), ["NULL"]);
    assert_eq!(rows("DECLARE @a int = 1, @b int = 5 SET @a = @b - @a SELECT @a"), ["4"]);
}

#[test]
fn columns_have_names_types_and_nullability() {
    let mut fixture = Fixture::new();
    fixture.run("DECLARE @a smallint SELECT 1 AS one, two = 'x', @a");
    let HostCall::Columns(columns) = &fixture.host.calls[1] else {
        panic!("{:?}", fixture.host.calls);
    };
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["one", "two", ""]);
    assert_eq!(columns[0].data_type, selenite_types::DataType::Int);
    assert_eq!(columns[2].data_type, selenite_types::DataType::SmallInt);
    assert!(!columns[0].nullable && columns[2].nullable);
}

/// The host executes a subquery: `SET @a = (SELECT ..)` is `SELECT @a = (SELECT ..)`.
#[test]
fn a_set_with_a_subquery_is_executed_by_the_host() {
    let mut fixture = Fixture::new();
    fixture.host.answers.push_back(Box::new(|statement, slots| {
        let ast::StatementKind::Select(select) = &statement.statement.kind else {
            panic!("{statement:?}");
        };
        let ast::QueryBody::Select(select) = &select.query.body else {
            panic!("{select:?}");
        };
        assert!(matches!(&select.items[..], [ast::SelectItem::Assign { variable, .. }] if variable == "@a"));
        slots[statement.program.variables().find("@a").unwrap().slot.index()] = Value::Int(8);
        Ok(Affected::Rows(1))
    }));
    assert_eq!(
        fixture.run("DECLARE @a int SET @a = (SELECT COUNT(*) FROM t) SELECT @a"),
        [
            "stmt SET @a = (SELECT COUNT(*) FROM t)",
            "done c1 n=1 more",
            "columns ",
            "row 8",
            "done c1 n=1"
        ]
    );
}

#[test]
fn the_host_reads_and_sets_variables() {
    let mut fixture = Fixture::new();
    fixture.host.answers.push_back(Box::new(|statement, slots| {
        let slot = statement.program.variables().find("@a").unwrap().slot.index();
        assert_eq!(slots[slot], Value::Int(3));
        slots[slot] = Value::Int(4);
        Ok(Affected::Rows(2))
    }));
    assert!(
        fixture
            .run("DECLARE @a int = 3 SELECT @a = b FROM t WHERE c = @a SELECT @a")
            .contains(&"row 4".to_owned())
    );
}

#[test]
fn a_table_variable_is_declared_by_the_host_without_a_done() {
    assert_eq!(
        run("DECLARE @t TABLE (a int) INSERT @t VALUES (1)"),
        ["stmt @t TABLE (a int)", "stmt INSERT @t VALUES (1)", "done c3 n=1"]
    );
}
