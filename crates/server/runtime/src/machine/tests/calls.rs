//! EXEC of procedures and dynamic SQL.

use super::*;

fn fixture(procedure: &str) -> Fixture {
    let mut fixture = Fixture::new();
    fixture.create(procedure);
    fixture
}

fn row(fixture: &mut Fixture, text: &str) -> String {
    let recorded = fixture.run(text);
    recorded
        .iter()
        .find_map(|call| call.strip_prefix("row "))
        .unwrap_or(&recorded[0])
        .to_owned()
}

const ADD: &str = "CREATE PROCEDURE p @a int, @b int = 10, @c int = NULL OUTPUT AS SET @c = @a + @b RETURN @a";

#[test]
fn arguments_are_positional_or_named_and_may_have_defaults() {
    let mut fixture = fixture(ADD);
    let call = |arguments: &str| format!("DECLARE @x int EXEC p {arguments} SELECT @x");
    assert_eq!(row(&mut fixture, &call("1, 2, @x OUTPUT")), "3");
    assert_eq!(row(&mut fixture, &call("@c = @x OUTPUT, @a = 5")), "15");
    assert_eq!(row(&mut fixture, &call("1, DEFAULT, @x OUTPUT")), "11");
    assert_eq!(row(&mut fixture, &call("1, @C = @x OUTPUT")), "11");
    assert_eq!(
        row(&mut fixture, &call("1, 2, @x")),
        "NULL",
        "without OUTPUT nothing comes back"
    );
}

#[test]
fn a_return_status_is_assigned() {
    let mut fixture = fixture(ADD);
    assert_eq!(row(&mut fixture, "DECLARE @r int EXEC @r = p 7 SELECT @r"), "7");
    assert_eq!(row(&mut fixture, "DECLARE @r varchar(9) EXEC @r = p 7 SELECT @r"), "7");
}

/// The status of a procedure without RETURN: 0, or 10 less the severity of its error.
#[test]
fn a_status_without_return_depends_on_errors() {
    let mut fixture = fixture("CREATE PROCEDURE p AS PRINT 'a'");
    fixture.create("CREATE PROCEDURE q AS RAISERROR('x', 14, 1)");
    let text = |name: &str| format!("DECLARE @r int EXEC @r = {name} SELECT @r");
    assert_eq!(row(&mut fixture, &text("p")), "0");
    assert!(fixture.run(&text("q")).contains(&"row -4".to_owned()));
}

/// RETURN of NULL is 0, with warning 282.
#[test]
fn a_status_of_null_is_0_with_a_warning() {
    let mut fixture = fixture("CREATE PROCEDURE p AS RETURN NULL");
    assert_eq!(fixture.run("EXEC p")[..2], ["msg 282 level 10 line 1 of p", "status 0"]);
}

#[test]
fn invalid_arguments_are_an_error_of_the_callee() {
    let mut fixture = fixture(ADD);
    for (arguments, number, text) in [
        (
            "",
            201,
            "Procedure or function 'p' expects parameter '@a', which was not supplied.",
        ),
        (
            "1, 2, 3, 4",
            8144,
            "Procedure or function p has too many arguments specified.",
        ),
        ("@z = 1", 8145, "@z is not a parameter for procedure p."),
        ("1, @a = 2", 8143, "Parameter '@a' was supplied multiple times."),
        ("'x'", 8114, "Error converting data type varchar to int."),
        (
            "DEFAULT",
            201,
            "Procedure or function 'p' expects parameter '@a', which was not supplied.",
        ),
    ] {
        let recorded = fixture.run(&format!("EXEC p {arguments} PRINT 'on'"));
        assert_eq!(recorded[0], format!("msg {number} level 16 line 0 of p"), "{arguments}");
        assert!(recorded.contains(&"print on".to_owned()), "{arguments}");
        let call = fixture
            .host
            .calls
            .iter()
            .any(|call| matches!(call, HostCall::Message { text: call, .. } if call == text));
        assert!(call, "{arguments}: {:?}", fixture.host.calls);
    }
    let recorded = fixture.run("DECLARE @x int = 1 EXEC p @x OUTPUT");
    assert_eq!(recorded[1], "msg 8162 level 16 line 0 of p");
}

#[test]
fn an_unknown_procedure_is_error_2812() {
    let mut fixture = Fixture::new();
    assert_eq!(
        fixture.run("EXEC nobody PRINT 'a'"),
        ["msg 2812 level 16 line 1", "done e0 error more", "print a", "done f7"]
    );
    assert_eq!(
        printed("BEGIN TRY EXEC nobody END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH"),
        ["print 2812"]
    );
}

#[test]
fn a_compilation_error_of_the_callee_does_not_end_the_caller() {
    assert_eq!(
        printed("EXEC sp_broken PRINT 'a'"),
        ["msg 208 level 16 line 1", "print a"]
    );
    assert_eq!(
        printed("BEGIN TRY EXEC sp_broken END TRY BEGIN CATCH PRINT ERROR_NUMBER() END CATCH"),
        ["print 208"]
    );
}

#[test]
fn a_variable_names_the_procedure() {
    let mut fixture = fixture(ADD);
    assert_eq!(
        row(
            &mut fixture,
            "DECLARE @n sysname = 'dbo.[p]', @r int EXEC @r = @n 4 SELECT @r"
        ),
        "4"
    );
}

/// A bare word is a string.
#[test]
fn a_word_is_a_string() {
    let mut fixture = fixture("CREATE PROCEDURE p @a varchar(20), @b varchar(20) = dflt AS SELECT @a, @b");
    assert_eq!(row(&mut fixture, "EXEC p hello"), "hello,dflt");
}

#[test]
fn the_host_may_execute_a_procedure() {
    assert_eq!(
        run("DECLARE @r int, @x int EXEC @r = sp_host 1, @x OUTPUT SELECT @r, @x"),
        ["status 5", "doneproc e0 more", "columns ,", "row 5,77", "done c1 n=1"]
    );
}

#[test]
fn a_nested_call_is_a_statement_of_its_caller() {
    let mut fixture = fixture("CREATE PROCEDURE p AS PRINT 'p'");
    fixture.create("CREATE PROCEDURE q AS EXEC p PRINT 'q'");
    assert_eq!(
        fixture.run("EXEC q"),
        [
            "print p",
            "doneinproc f7 more",
            "doneinproc e0 more",
            "print q",
            "doneinproc f7 more",
            "status 0",
            "doneproc e0"
        ]
    );
}

#[test]
fn variables_are_the_procedures_own() {
    let mut fixture = fixture("CREATE PROCEDURE p @a int AS SET @a = 99 DECLARE @x int SELECT @x");
    assert_eq!(
        row(&mut fixture, "DECLARE @a int = 1, @x int = 2 EXEC p @a SELECT @a, @x"),
        "NULL"
    );
    assert!(
        fixture
            .run("DECLARE @a int = 1 EXEC p @a SELECT @a")
            .contains(&"row 1".to_owned())
    );
}

/// 217: calls nest 32 deep; the error ends the batch.
#[test]
fn calls_nest_32_deep() {
    let mut fixture = fixture("CREATE PROCEDURE p AS PRINT @@NESTLEVEL EXEC p");
    let recorded = fixture.run("EXEC p PRINT 'on'");
    let prints = recorded.iter().filter(|call| call.starts_with("print ")).count();
    assert_eq!(prints, 32);
    assert!(recorded.contains(&"print 32".to_owned()));
    assert_eq!(
        recorded[recorded.len() - 2..],
        ["msg 217 level 16 line 1 of p", "done 00 error"]
    );
}

#[test]
fn nest_level_and_procedure_id_are_restored() {
    let mut fixture = fixture("CREATE PROCEDURE p AS SELECT @@NESTLEVEL, @@PROCID");
    assert_eq!(row(&mut fixture, "EXEC p"), "1,100");
    assert_eq!(row(&mut fixture, "SELECT @@NESTLEVEL, @@PROCID"), "0,0");
}

#[test]
fn the_identity_of_the_scope_is_the_procedures_own() {
    let mut fixture = fixture("CREATE PROCEDURE p AS PRINT 'a'");
    let identity = selenite_types::Decimal { unscaled: 7, scale: 0 };
    fixture.host.session.scope_identity = Some(identity);
    fixture.run("EXEC p");
    assert_eq!(fixture.host.session.scope_identity, Some(identity));
}

#[test]
fn a_text_runs_with_variables_of_its_own() {
    assert_eq!(
        run("DECLARE @t varchar(99) = 'SELECT ' EXEC (@t + '7')"),
        [
            "done c1 n=1 more",
            "columns ",
            "row 7",
            "doneinproc c1 n=1 more",
            "status 0",
            "doneproc e0"
        ]
    );
    let recorded = run("DECLARE @a int EXEC ('SELECT @a') PRINT 'on'");
    assert_eq!(recorded[0], "msg 137 level 15 line 1");
    assert!(recorded.contains(&"print on".to_owned()));
}

/// A text with a syntax error is an error of its EXEC, which a TRY around it catches.
#[test]
fn a_syntax_error_in_a_text_is_caught_around_it() {
    assert_eq!(
        printed("BEGIN TRY EXEC ('SELEC 1 FROM') END TRY BEGIN CATCH PRINT 'caught' END CATCH"),
        ["print caught"]
    );
    assert_eq!(printed("EXEC ('SELECT @a SELECT @b')").len(), 2, "all faults are call");
}

#[test]
fn a_text_of_null_is_nothing() {
    assert_eq!(run("DECLARE @t varchar(9) EXEC (@t)"), ["status 0", "doneproc e0"]);
}

/// 8178: a missing argument of sp_executesql.
#[test]
fn a_text_with_parameters_takes_arguments() {
    let text = "SELECT @a";
    let tree = || parse(text, ParseOptions::default()).unwrap();
    let declared = parse("CREATE PROCEDURE p @a int AS SELECT 1", ParseOptions::default()).unwrap();
    let ast::StatementKind::Procedure(declared) = &declared.statements[0].kind else {
        panic!();
    };
    let program = Program::of_text(text, tree(), &declared.parameters).unwrap();
    let mut fixture = Fixture::new();
    fixture.host.procedures.push(("t".to_owned(), Arc::new(program)));
    let entry = Entry::Call {
        first_ordinal: 2,
        more: false,
    };
    let argument = CallArgument {
        name: Some("@A".to_owned()),
        value: Some((
            Value::Text("5".into()),
            selenite_types::DataType::NVarChar(selenite_types::Width::Limited(1)),
        )),
        is_output: false,
        table: None,
        cursor: None,
    };
    assert_eq!(fixture.call("t", vec![argument], entry)[1], "row 5");
    assert_eq!(
        fixture.call("t", Vec::new(), entry),
        ["msg 8178 level 16 line 0", "doneproc e0 error"]
    );
}
