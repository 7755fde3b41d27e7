//! Errors found before anything runs. Numbers, severities and texts are SQL Server's (sys.messages).

use selenite_tsql::{Options, parse};

use super::*;

/// Compiles a batch; errors of the parser are returned too.
fn compile(text: &str) -> Result<Program, Vec<SqlError>> {
    match parse(text, Options::default()) {
        Ok(tree) => Program::of_batch(text, tree),
        Err(error) => Err(vec![SqlError::from(error)]),
    }
}

/// Number, severity, state and line of each error.
fn refused(text: &str) -> Vec<(i32, u8, u8, u32)> {
    let errors = compile(text).map(|_| ()).unwrap_err();
    errors
        .iter()
        .map(|error| (error.number(), error.severity(), error.state(), error.line()))
        .collect()
}

fn text_of(text: &str) -> String {
    compile(text).map(|_| ()).unwrap_err()[0].text().to_owned()
}

#[test]
fn a_program_is_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&compile("SELECT 1").unwrap());
}

/// DECLARE: a variable is in scope after its declaration in the text.
#[test]
fn a_variable_is_unknown_before_its_declaration() {
    assert_eq!(refused("\nSELECT @a DECLARE @a int"), [(137, 15, 2, 2)]);
    assert_eq!(text_of("SELECT @a"), "Must declare the scalar variable \"@a\".");
    assert_eq!(
        refused("GOTO x\nIF 1 = 0 DECLARE @a int\nx: SET @a = 1 SET @b = 1"),
        [(137, 15, 1, 3)]
    );
}

#[test]
fn a_variable_is_declared_once() {
    assert_eq!(refused("DECLARE @a int\nDECLARE @A int"), [(134, 15, 1, 2)]);
    assert_eq!(refused("DECLARE @a int, @a int"), [(134, 15, 1, 1)]);
    assert_eq!(refused("DECLARE @a int DECLARE @a TABLE (b int)"), [(134, 15, 1, 1)]);
    assert_eq!(refused("DECLARE @a TABLE (b int) DECLARE @a int"), [(134, 15, 1, 1)]);
    assert_eq!(
        text_of("DECLARE @a int, @a int"),
        "The variable name '@a' has already been declared. Variable names must be unique within a query batch or \
         stored procedure."
    );
}

#[test]
fn a_loop_does_not_declare_its_variable_twice() {
    assert!(compile("WHILE 1 = 0 BEGIN DECLARE @a int = 1 END SET @a = 2").is_ok());
}

/// Variables in statements on tables are checked before anything runs, too.
#[test]
fn an_undeclared_variable_in_a_query_is_refused() {
    assert_eq!(
        refused("SELECT a\nFROM t WHERE b = @x AND c = '@y' AND d = @x"),
        [(137, 15, 2, 2)]
    );
    assert_eq!(refused("INSERT @t VALUES (1)"), [(1087, 15, 2, 1)]);
    assert_eq!(
        refused("IF EXISTS (SELECT * FROM t WHERE a = @x) PRINT 'a'"),
        [(137, 15, 2, 1)]
    );
    assert_eq!(text_of("SELECT * FROM @t"), "Must declare the table variable \"@t\".");
    assert!(compile("DECLARE @t TABLE (a int), @x int UPDATE @t SET a = @x FROM @t t").is_ok());
}

#[test]
fn all_errors_are_reported_in_order() {
    assert_eq!(
        refused("SET @a = 1\nPRINT @b\nSELECT c"),
        [(137, 15, 1, 1), (137, 15, 2, 2), (207, 16, 1, 3)]
    );
}

/// An error in a condition does not hide the declarations after it.
#[test]
fn a_wrong_condition_is_one_error() {
    assert_eq!(refused("IF a = 1 DECLARE @a int SET @a = 1"), [(207, 16, 1, 1)]);
    assert_eq!(
        refused("WHILE a = 1 BEGIN DECLARE @a int BREAK END SET @a = 1"),
        [(207, 16, 1, 1)]
    );
}

/// An invalid type does not make uses of its variable undeclared.
#[test]
fn a_wrong_type_is_one_error() {
    let errors = refused("DECLARE @a nosuch\nSET @a = 1");
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].0, 2715);
}

/// RETURN: a value is allowed only in procedures.
#[test]
fn a_value_of_return_is_for_procedures() {
    assert_eq!(refused("RETURN 5"), [(178, 15, 1, 1)]);
    assert_eq!(
        text_of("RETURN 5"),
        "A RETURN statement with a return value cannot be used in this context."
    );
}

/// GOTO can't enter a TRY or CATCH block, but may leave it.
#[test]
fn a_goto_into_a_try_is_refused() {
    let into = "GOTO x BEGIN TRY x: PRINT 'a' END TRY BEGIN CATCH END CATCH";
    assert_eq!(refused(into), [(1026, 15, 1, 1)]);
    let between = "BEGIN TRY GOTO x END TRY BEGIN CATCH x: PRINT 'a' END CATCH";
    assert_eq!(refused(between), [(1026, 15, 1, 1)]);
    assert!(compile("BEGIN TRY x: GOTO x END TRY BEGIN CATCH GOTO y END CATCH y:").is_ok());
}

/// THROW without arguments is allowed only in a CATCH.
#[test]
fn a_rethrow_is_for_a_catch() {
    assert_eq!(refused("THROW")[0].0, 10704);
    assert_eq!(refused("BEGIN TRY THROW END TRY BEGIN CATCH END CATCH")[0].0, 10704);
    assert!(compile("BEGIN TRY SELECT 1 END TRY BEGIN CATCH IF 1 = 1 THROW END CATCH").is_ok());
}

/// 141: a SELECT assigns or returns rows, never both.
#[test]
fn assignments_and_values_do_not_mix() {
    assert_eq!(refused("DECLARE @a int SELECT @a = 1, 2"), [(141, 15, 1, 1)]);
    assert_eq!(refused("SELECT *"), [(263, 16, 1, 1)]);
    assert_eq!(text_of("SELECT *"), "Must specify table to select from.");
}

#[test]
fn a_column_without_a_table_is_unknown() {
    assert_eq!(refused("DECLARE @a int SET @a = b"), [(207, 16, 1, 1)]);
    assert_eq!(refused("IF b = 1 PRINT 'a'"), [(207, 16, 1, 1)]);
}

/// 119: arguments after a named argument must be named.
#[test]
fn an_argument_after_a_named_one_must_be_named() {
    assert_eq!(refused("EXEC p @a = 1, 2")[0].0, 119);
}

#[test]
fn an_outputs_variable_is_declared() {
    assert_eq!(refused("EXEC @r = p @x OUTPUT"), [(137, 15, 2, 1)]);
}

#[test]
fn parameters_of_a_procedure_are_its_variables() {
    let text = "CREATE PROCEDURE p @a int = 5, @b varchar(9) = word, @c decimal(9, 2) OUTPUT AS\nSET @c = @a RETURN @d";
    let tree = parse(text, Options::default()).unwrap();
    let ast::StatementKind::Procedure(procedure) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    let errors = Program::of_procedure(text, procedure, "p", 1).map(|_| ()).unwrap_err();
    assert_eq!((errors.len(), errors[0].number(), errors[0].line()), (1, 137, 2));

    let text = text.replace("RETURN @d", "");
    let tree = parse(&text, Options::default()).unwrap();
    let ast::StatementKind::Procedure(procedure) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    let program = Program::of_procedure(&text, procedure, "p", 1).unwrap();
    let names: Vec<&str> = program
        .parameters()
        .iter()
        .map(|parameter| parameter.name.as_str())
        .collect();
    assert_eq!(names, ["@a", "@b", "@c"]);
    assert!(program.parameters()[2].is_output && program.parameters()[2].default.is_none());
    assert_eq!(program.parameters()[0].data_type, DataType::Int);
}

/// The loop of the context switches article takes the fast steps.
#[test]
fn a_loop_over_an_int_is_three_fast_steps() {
    let program = compile("DECLARE @i int = 0 WHILE @i < 10 BEGIN SET @i = @i + 1 END").unwrap();
    assert!(matches!(
        program.steps(),
        [
            Step::Set(_),
            Step::BranchInt(_),
            Step::SetInt(_),
            Step::Jump(1),
            Step::End
        ]
    ));
}
