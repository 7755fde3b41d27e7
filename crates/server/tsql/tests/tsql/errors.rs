//! Texts with syntax errors, with SQL Server's number, line and message for each.

use selenite_tsql::{Options, SyntaxError, parse};

fn error(text: &str) -> SyntaxError {
    match parse(text, Options::default()) {
        Ok(tree) => panic!("{text}\nis taken as\n{tree}"),
        Err(error) => error,
    }
}

/// The number, line and message of each text's error; the severity is always 15.
fn check(expected: &[(&str, u32, u32, &str)]) {
    for (text, number, line, message) in expected {
        let error = error(text);
        let found = (error.number, error.line, error.message.as_str());
        assert_eq!(found, (*number, *line, *message), "{text}");
        assert_eq!((error.severity, error.to_string()), (15, error.message.clone()));
    }
}

/// Like [`check`], for error 102 near the token.
fn near(expected: &[(&str, &str)]) {
    for (text, token) in expected {
        let error = error(text);
        let message = format!("Incorrect syntax near '{token}'.");
        assert_eq!((error.number, error.state, error.message), (102, 1, message), "{text}");
    }
}

/// Like [`check`], for error 156 near the keyword.
fn near_keyword(expected: &[(&str, &str)]) {
    for (text, keyword) in expected {
        let error = error(text);
        let message = format!("Incorrect syntax near the keyword '{keyword}'.");
        assert_eq!((error.number, error.state, error.message), (156, 1, message), "{text}");
    }
}

#[test]
fn a_misplaced_token_is_quoted_as_written() {
    near(&[
        ("SELECT ID FROM T OFFSET 20 ROWS FETCH NEXT 3 ROWS ONLY", "20"),
        ("INSERT INTO dbo.t1 VALUE(1,2,N'abc');", "VALUE"),
        ("SELECT a FROM t ORDER BY a LIMIT 1", "LIMIT"),
        ("SELECT * FROM dbo.@t", "@t"),
        ("DECLARE @t table (id int); ALTER TABLE @t ADD v int", "@t"),
        ("SELECT 1 = 1", "="),
        ("SELECT (a = 1) FROM t", "="),
        ("SELECT a b c FROM t", "c"),
        ("SELECT a FROM t WHERE a = 1 b", "b"),
        ("SELECT a FROM t WHERE a = 'x' 'y'", "y"),
        ("SELECT 1 [a] [b]", "b"),
        ("SELECT 1, ,", ","),
        ("SELECT f(1, ) FROM t", ")"),
        ("SELECT a..b FROM t WHERE a. = 1", "="),
        ("SELECT 1 ?", "?"),
        ("SELECT \u{2018}a\u{2019}", "\u{2018}"),
        ("SELECT 1 a SELEC", "SELEC"),
        ("USE a GO 5", "GO"),
        ("SELECT TOP @n a FROM t", "@n"),
        ("DELETE TOP 2 FROM t", "2"),
        ("UPDATE TOP 2 t SET a = 1", "2"),
        ("INSERT TOP 2 t SELECT 1", "2"),
        ("SELECT 1 < < 2", "<"),
        ("SELECT * FROM ::f", "f"),
        ("SELECT * FROM ::s.f()", "."),
        ("SELECT .a FROM t", "."),
        ("SELECT a FROM t WHERE a = b = c", "="),
        ("SELECT a FROM t WHERE a *= 1", "="),
        ("CREATE TABLE t (a int b int)", "b"),
        ("SET @a", "@a"),
        ("SELECT 1 }", "}"),
        ("SELECT {x 'a'}", "x"),
        ("SET NOCOUNT 1 2", "2"),
    ]);
}

#[test]
fn a_misplaced_keyword_is_quoted_as_written() {
    near_keyword(&[
        ("select  from orders", "from"),
        ("SELECT a FROM t AS select", "select"),
        ("SELECT * FROM a CROSS JOIN b ON a.x = b.x", "ON"),
        ("insert into t (a, By) values (1, 2)", "By"),
        ("SELECT * FROM (VALUES (DEFAULT)) v(x)", "DEFAULT"),
        ("drop login if exists app", "if"),
        ("CREATE TABLE t (a int REFERENCES u ON DELETE RESTRICT)", "RESTRICT"),
        ("EXEC p @d = LEFT(N'x', 500)", "LEFT"),
        ("CREATE PROCEDURE p AS begin return 1 + end", "end"),
        ("SELECT t.user FROM t", "user"),
        ("SELECT a FROM t WHERE a BETWEEN 1 OR 2", "OR"),
        ("CREATE TABLE t (a int NOT IDENTITY)", "NOT"),
        ("SELECT * FROM (SELECT 1 INTO x) t", "INTO"),
        ("IF 1 = 1 CREATE VIEW v AS SELECT 1", "VIEW"),
        ("BEGIN CREATE PROC p AS SELECT 1 END", "PROC"),
        ("CREATE OR ALTER TABLE t (a int)", "TABLE"),
        ("CREATE VIEW v AS SELECT 1 AS a SELECT 2", "SELECT"),
        ("SELECT 1 UNION (SELECT 2 ORDER BY 1)", "ORDER"),
        (
            "select * from (with c as (select id from dbo.b) select id from c) d",
            "with",
        ),
        ("SELECT 1 ELSE SELECT 2", "ELSE"),
        ("SELECT 1 END", "END"),
    ]);
}

#[test]
fn at_the_end_the_last_token_is_quoted() {
    near(&[
        ("SELECT * FROM", "FROM"),
        ("SELECT", "SELECT"),
        ("update statistics", "statistics"),
        ("BEGIN", "BEGIN"),
        ("BEGIN SELECT 1", "1"),
        ("SELECT 'a' +", "+"),
        ("SELECT a FROM [b].", "."),
        ("BEGIN TRY SELECT 1 END TRY", "TRY"),
        ("IF 1 = 1", "1"),
        ("SELECT (1", "1"),
        ("DECLARE @a -- no type", "@a"),
    ]);
}

#[test]
fn a_block_must_not_be_empty() {
    near(&[
        ("begin end", "end"),
        ("begin ; end", "end"),
        ("BEGIN TRY END TRY BEGIN CATCH END CATCH", "END"),
    ]);
}

#[test]
fn dynamic_sql_of_exec_allows_only_strings_and_variables() {
    near(&[
        ("exec (('select 1'))", "("),
        ("exec ('select ' + upper('1'))", "upper"),
        ("exec (0x73656c6563742036)", "0x73656c6563742036"),
    ]);
    near_keyword(&[
        ("exec (null)", "null"),
        ("exec ('select 1' + null)", "null"),
        ("exec (N'select 3' collate Latin1_General_BIN)", "collate"),
    ]);
}

#[test]
fn throw_allows_only_constants_and_variables() {
    near(&[
        ("throw 50000, 'a' + 'b', 1", "+"),
        ("throw +50000, 'x', 1", "+"),
        ("throw 50000, 'x', (1)", "("),
        ("throw 50000, 1, 1", "1"),
        ("SELECT 1 THROW 50000, 'x', 1", "50000"),
        ("SET @a = 1 THROW 50000, 'x', 1", "THROW"),
    ]);
    near_keyword(&[("throw null, 'x', 1", "null"), ("throw 50000, 'x', null", "null")]);
    check(&[
        (
            "throw 3000000000, 'x', 1",
            1080,
            1,
            "The integer value 3000000000 is out of range.",
        ),
        (
            "throw 50000.5, 'x', 1",
            1080,
            1,
            "The integer value 50000.5 is out of range.",
        ),
        (
            "THROW",
            10704,
            1,
            "To rethrow an error, a THROW statement must be used inside a CATCH block. Insert the THROW statement \
             inside a CATCH block, or add error parameters to the THROW statement.",
        ),
    ]);
}

#[test]
fn quotes_and_comments_must_end() {
    check(&[
        (
            "SELECT 'open",
            105,
            1,
            "Unclosed quotation mark after the character string 'open'.",
        ),
        (
            "\nINSERT INTO USERS (NOME) VALUES (O'Brien)\n",
            105,
            2,
            "Unclosed quotation mark after the character string 'Brien)\n'.",
        ),
        (
            "SELECT N'a\nb",
            105,
            1,
            "Unclosed quotation mark after the character string 'a\nb'.",
        ),
        (
            "SELECT [a",
            105,
            1,
            "Unclosed quotation mark after the character string 'a'.",
        ),
        (
            "SELECT \"a",
            105,
            1,
            "Unclosed quotation mark after the character string 'a'.",
        ),
        ("SELECT 1\n/* /* */ x", 113, 2, "Missing end comment mark '*/'."),
        // The first error in the text is reported, although the lexer finds the quotation mark first.
        (
            "SELECT FROM t WHERE a = 'x",
            156,
            1,
            "Incorrect syntax near the keyword 'FROM'.",
        ),
    ]);
    let also = error("SELECT\n'open").also().unwrap();
    assert_eq!(
        (also.number, also.line, also.message.as_str()),
        (102, 2, "Incorrect syntax near 'open'.")
    );
    assert_eq!(error("SELECT").also(), None);
    let long = format!("SELECT '{}", "x".repeat(10_000));
    assert!(error(&long).message.chars().count() < 2_047);
}

#[test]
fn names_are_neither_empty_nor_longer_than_128() {
    let long = "a".repeat(129);
    let message = format!(
        "The identifier that starts with '{}' is too long. Maximum length is 128.",
        "a".repeat(128)
    );
    for text in [
        format!("SELECT {long}"),
        format!("SELECT [{long}]"),
        format!("SELECT \"{long}\""),
        format!("SELECT 1 AS '{long}'"),
    ] {
        let error = error(&text);
        assert_eq!(
            (error.number, error.state, &error.message),
            (103, 4, &message),
            "{text}"
        );
    }
    assert!(parse(&format!("SELECT {}", "a".repeat(128)), Options::default()).is_ok());
    assert!(parse(&format!("SELECT '{long}'"), Options::default()).is_ok());
    for text in ["SELECT 1 AS []", "SELECT 1 AS ''", "SELECT * FROM \"\""] {
        assert_eq!((error(text).number, error(text).state), (1038, 4), "{text}");
    }
    check(&[(
        "SELECT * FROM a.b.c.d.e",
        117,
        1,
        "The object name 'a.b.c.d.e' contains more than the maximum number of prefixes. The maximum is 3.",
    )]);
}

#[test]
fn with_after_a_statement_requires_a_semicolon() {
    let text = "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an \
        xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated with a \
        semicolon.";
    check(&[
        ("SELECT 1\nWITH c AS (SELECT 1 AS a) SELECT * FROM c", 319, 2, text),
        ("DECLARE @a int WITH c AS (SELECT 1 AS a) SELECT * FROM c", 319, 1, text),
        (
            "SELECT * FROM t\nWITH\nc AS (SELECT 1 AS a) SELECT * FROM c",
            336,
            3,
            "Incorrect syntax near 'c'. If this is intended to be a common table expression, you need to explicitly \
             terminate the previous statement with a semi-colon.",
        ),
    ]);
    for text in [
        "SELECT 1; WITH c AS (SELECT 1 AS a) SELECT * FROM c",
        "BEGIN WITH c AS (SELECT 1 AS a) SELECT * FROM c END",
        "IF 1 = 1 WITH c AS (SELECT 1 AS a) SELECT * FROM c",
        "CREATE PROC p AS WITH c AS (SELECT 1 AS a) SELECT * FROM c",
    ] {
        assert!(parse(text, Options::default()).is_ok(), "{text}");
    }
}

#[test]
fn a_value_is_not_a_condition() {
    let message = |token: &str| {
        format!(
            "An expression of non-boolean type specified in a context where a condition is expected, near '{token}'."
        )
    };
    for (text, token) in [
        ("IF 1 SELECT 1", "SELECT"),
        ("IF (cast(null as bit)) SELECT 1", "SELECT"),
        ("SELECT 1 WHERE 'abc'", "abc"),
        ("SELECT 1 WHERE a AND b = 1", "AND"),
        ("SELECT 1 WHERE a = 1 AND b", "b"),
        ("SELECT 1 WHERE (a) OR b = 1", "OR"),
        ("SELECT CASE WHEN 1 THEN 2 END", "THEN"),
        ("SELECT IIF(1, 2, 3)", ","),
        ("WHILE @a BREAK", "BREAK"),
    ] {
        let error = error(text);
        assert_eq!((error.number, error.message), (4145, message(token)), "{text}");
    }
}

#[test]
fn misplaced_statements_are_errors() {
    check(&[
        (
            "SELECT 1\nCREATE VIEW v AS SELECT 1",
            111,
            2,
            "'CREATE VIEW' must be the first statement in a query batch.",
        ),
        (
            "SELECT 1 ALTER VIEW v AS SELECT 1",
            111,
            1,
            "'ALTER VIEW' must be the first statement in a query batch.",
        ),
        (
            "SELECT 1 ALTER PROC p AS SELECT 1",
            111,
            1,
            "'CREATE/ALTER PROCEDURE' must be the first statement in a query batch.",
        ),
        (
            "USE d; CREATE SCHEMA s",
            111,
            1,
            "'CREATE SCHEMA' must be the first statement in a query batch.",
        ),
        (
            "SELECT 1\n\nBREAK",
            135,
            3,
            "Cannot use a BREAK statement outside the scope of a WHILE statement.",
        ),
        (
            "CONTINUE",
            136,
            1,
            "Cannot use a CONTINUE statement outside the scope of a WHILE statement.",
        ),
        (
            "IF 1 = 0\nRETURN 5",
            178,
            2,
            "A RETURN statement with a return value cannot be used in this context.",
        ),
        (
            "a: SELECT 1; A: SELECT 2",
            132,
            1,
            "The label 'A' has already been declared. Label names must be unique within a query batch or stored \
             procedure.",
        ),
        (
            "SELECT 1\nGOTO b a:",
            133,
            2,
            "A GOTO statement references the label 'b' but the label has not been declared.",
        ),
        (
            "MERGE t USING u ON 1 = 1 WHEN MATCHED THEN DELETE",
            10713,
            1,
            "A MERGE statement must be terminated by a semi-colon (;).",
        ),
    ]);
}

#[test]
fn incompatible_clauses_are_errors() {
    check(&[
        (
            "SELECT @a = 1, 2",
            141,
            1,
            "A SELECT statement that assigns a value to a variable must not be combined with data-retrieval \
             operations.",
        ),
        (
            "SELECT *\nFROM (SELECT a FROM t\nORDER BY a) x",
            1033,
            3,
            "The ORDER BY clause is invalid in views, inline functions, derived tables, subqueries, and common table \
             expressions, unless TOP, OFFSET or FOR XML is also specified.",
        ),
        (
            "SELECT TOP (1) a FROM t ORDER BY a OFFSET 1 ROWS",
            10741,
            1,
            "A TOP can not be used in the same query or sub-query as a OFFSET.",
        ),
        (
            "INSERT t VALUES (1, 2), (3)",
            10709,
            1,
            "The number of columns for each row in a table value constructor must be the same.",
        ),
        (
            "EXEC p @a = 1, 2",
            119,
            1,
            "Must pass parameter number 2 and subsequent parameters as '@name = value'. After the form '@name = \
             value' has been used, all subsequent parameters must be passed in the form '@name = value'.",
        ),
        (
            "DECLARE @a varchar(99999999999)",
            1001,
            1,
            "Line 1: Length or precision specification 99999999999 is invalid.",
        ),
    ]);
    let rows = vec!["(1)"; 1_001].join(", ");
    assert_eq!(error(&format!("INSERT t VALUES {rows}")).number, 10738);
    assert!(parse(&format!("INSERT t VALUES {}", &rows[5..]), Options::default()).is_ok());
    assert!(parse(&format!("SELECT * FROM (VALUES {rows}) t (a)"), Options::default()).is_ok());
}

#[test]
fn case_nests_ten_levels() {
    let nested = |depth: usize, open: &str, close: &str| {
        let text = format!("SELECT {}1{}", open.repeat(depth), close.repeat(depth));
        parse(&text, Options::default()).map(drop)
    };
    for (open, close, state) in [("CASE WHEN 1 = 1 THEN ", " END", 4), ("IIF(1 = 1, ", ", 2)", 2)] {
        assert!(nested(10, open, close).is_ok());
        let error = nested(11, open, close).unwrap_err();
        assert_eq!((error.number, error.state), (125, state));
        assert_eq!(error.message, "Case expressions may only be nested to level 10.");
    }
}

#[test]
fn lines_are_counted_through_comments_strings_and_names() {
    let text = "-- one\r\n/* two\n three */ SELECT 'four\nfive', [six\nseven],\n\n  \u{a0}\u{feff} FROM";
    let error = error(text);
    assert_eq!((error.number, error.line), (156, 7));
    assert_eq!(error.position.text(text), "FROM");
}

#[test]
fn a_transactions_name_has_at_most_32_characters() {
    let name = "n".repeat(32);
    for statement in ["BEGIN TRAN", "COMMIT TRAN", "ROLLBACK TRANSACTION", "SAVE TRAN"] {
        assert!(parse(&format!("{statement} {name}"), Options::default()).is_ok());
        let error = error(&format!("{statement} {name}n -- one more"));
        let message = format!("The identifier that starts with '{name}n' is too long. Maximum length is 32.");
        assert_eq!(
            (error.number, error.state, error.message),
            (103, 2, message),
            "{statement}"
        );
    }
}

#[test]
fn use_is_an_error_in_a_procedure() {
    let expected = "a USE database statement is not allowed in a procedure, function or trigger.";
    check(&[("CREATE PROCEDURE p AS\nIF 1 = 1 USE d", 154, 2, expected)]);
}
