//! The structure of trees: cases that other T-SQL parsers get wrong, precedence, and positions.

use crate::round_trip::{round_trip, round_trip_with, without_positions};
use selenite_tsql::{
    Options,
    ast::{
        Arguments, BinaryOperator, ConditionKind, Expr, ExprKind, JoinKind, Literal, Query, QueryBody, Select,
        SelectItem, SetOption, SetValue, StatementKind, TableElement, TableSourceKind, Tree, UnaryOperator,
    },
    parse,
};

fn tree(text: &str) -> Tree {
    parse(text, Options::default()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The names of the statements' kinds, including those in blocks.
fn kinds(text: &str) -> Vec<String> {
    let name = |kind: &StatementKind| {
        let debug = format!("{kind:?}");
        let end = debug.find(|c: char| !c.is_alphanumeric()).unwrap_or(debug.len());
        debug[..end].to_owned()
    };
    round_trip(text).statements.iter().map(|s| name(&s.kind)).collect()
}

fn select_of(query: &Query) -> &Select {
    match &query.body {
        QueryBody::Select(select) => select,
        QueryBody::Combined(_) | QueryBody::Nested(_) => panic!("{query:?}"),
    }
}

/// The only SELECT of the only statement.
fn select(tree: &Tree) -> &Select {
    let StatementKind::Select(statement) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    select_of(&statement.query)
}

fn first_value(tree: &Tree) -> &Expr {
    let SelectItem::Value { value, .. } = &select(tree).items[0] else {
        panic!("{tree:?}");
    };
    value
}

#[test]
fn a_reserved_word_ends_a_select_and_is_not_an_alias() {
    assert_eq!(kinds("SELECT 1 CHECKPOINT"), ["Select", "Checkpoint"]);
    assert_eq!(kinds("select @@spid\n\nDBCC SQLPERF('x', CLEAR);"), ["Select", "Dbcc"]);
    assert_eq!(kinds("DBCC DROPCLEANBUFFERS SHUTDOWN"), ["Dbcc", "Shutdown"]);
    assert_eq!(kinds("SELECT 1 SELECT 2"), ["Select", "Select"]);
    let text = "select a from r where b = @c\n waitfor delay '00:00:01'\n set @i = @i + 1";
    assert_eq!(kinds(text), ["Select", "WaitFor", "SetVariable"]);
    assert_eq!(
        kinds("SELECT a FROM t PRINT 'x' USE d KILL 5"),
        ["Select", "Print", "Use", "Kill"]
    );
    assert_eq!(kinds("SELECT a FROM t RETURN RETURN"), ["Select", "Return", "Return"]);
    assert_eq!(
        kinds("DECLARE @a int SET @a = 1 EXEC p BEGIN TRAN COMMIT"),
        ["Declare", "SetVariable", "Execute", "Transaction", "Transaction",]
    );
}

#[test]
fn consecutive_sets_without_semicolons_are_separate_statements() {
    let text = "set ansi_nulls on set ansi_padding on set arithabort on set datefirst 7 set dateformat mdy \
        set language us_english set textsize 2147483647 set transaction isolation level read committed set xact_abort off";
    let tree = round_trip(text);
    assert_eq!(tree.statements.len(), 9);
    let StatementKind::SetOption(SetOption::Value { name, value }) = &tree.statements[5].kind else {
        panic!("{tree:?}");
    };
    assert_eq!(name.text, "language");
    assert!(matches!(value, SetValue::Word(word) if word.text == "us_english"));
}

#[test]
fn try_and_catch_are_one_statement() {
    let tree = round_trip("BEGIN TRY SELECT 1; END TRY BEGIN CATCH SELECT 2 SELECT 3 END CATCH SELECT 4");
    assert_eq!(tree.statements.len(), 2);
    let StatementKind::Try(block) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    assert_eq!((block.body.len(), block.handler.len()), (1, 2));
}

#[test]
fn a_variable_before_an_equals_sign_is_assigned() {
    let tree = round_trip("SELECT @a = SUM(x), @b += 1 FROM t");
    let [
        SelectItem::Assign { variable, .. },
        SelectItem::Assign { variable: second, .. },
    ] = select(&tree).items.as_slice()
    else {
        panic!("{tree:?}");
    };
    assert_eq!((variable.as_str(), second.as_str()), ("@a", "@b"));
    let tree = round_trip("SELECT a = SUM(x)");
    assert!(matches!(&select(&tree).items[0], SelectItem::Value { alias: Some(name), .. } if name.text == "a"));
}

#[test]
fn the_three_forms_of_a_column_alias_are_equivalent() {
    let expected = without_positions(&tree("SELECT a + 1 AS x FROM t"));
    assert_eq!(without_positions(&tree("SELECT a + 1 x FROM t")), expected);
    assert_eq!(without_positions(&tree("SELECT x = a + 1 FROM t")), expected);
    let expected = without_positions(&tree("SELECT a AS [x y]"));
    assert_eq!(without_positions(&tree("SELECT a AS 'x y'")), expected);
    assert_eq!(without_positions(&tree("SELECT a 'x y'")), expected);
    assert_eq!(without_positions(&tree("SELECT 'x y' = a")), expected);
}

#[test]
fn a_unary_sign_applies_to_a_whole_product() {
    // SQL Server returns 0 for -100 / -100 * 10, because it is -(100 / -(100 * 10)).
    let tree = round_trip("SELECT -100 / -100 * 10");
    let ExprKind::Unary { operator, operand } = &first_value(&tree).kind else {
        panic!("{tree:?}");
    };
    assert_eq!(*operator, UnaryOperator::Minus);
    let ExprKind::Binary { operator, right, .. } = &operand.kind else {
        panic!("{tree:?}");
    };
    assert_eq!(*operator, BinaryOperator::Divide);
    assert!(matches!(right.kind, ExprKind::Unary { .. }));
    for (text, same) in [
        ("-1 + 2", "(-1) + 2"),
        ("-1 * 2 + 3", "(-(1 * 2)) + 3"),
        ("1 - -2 + 3", "(1 - (-2)) + 3"),
        ("~1 * 2", "(~1) * 2"),
        ("~-1 * 2", "~(-(1 * 2))"),
        ("1 + 2 & 3 | 4 ^ 5 - 6", "((((1 + 2) & 3) | 4) ^ 5) - 6"),
        ("1 + 2 * 3 % 4 / 5", "1 + (((2 * 3) % 4) / 5)"),
        ("a + b COLLATE c", "a + (b COLLATE c)"),
    ] {
        assert_eq!(
            without_positions(&round_trip(&format!("SELECT {text}"))),
            without_positions(&round_trip(&format!("SELECT {same}"))),
            "{text}"
        );
    }
    assert_ne!(
        without_positions(&round_trip("SELECT (-1) * 2")),
        without_positions(&round_trip("SELECT -1 * 2"))
    );
}

#[test]
fn not_precedes_and_which_precedes_or() {
    for (text, same) in [
        ("NOT a = 1 AND b = 2 OR c = 3", "((NOT (a = 1)) AND b = 2) OR c = 3"),
        ("a = 1 OR b = 2 AND NOT c = 3", "a = 1 OR (b = 2 AND (NOT c = 3))"),
        ("a BETWEEN 1 AND 2 AND b = 3", "(a BETWEEN 1 AND 2) AND (b = 3)"),
        ("a !< 1", "a >= 1"),
        ("a > = 1", "a >= 1"),
        ("a ! = 1", "a <> 1"),
    ] {
        let statement = |condition: &str| round_trip(&format!("SELECT 1 WHERE {condition}"));
        assert_eq!(
            without_positions(&statement(text)),
            without_positions(&statement(same)),
            "{text}"
        );
    }
    let tree = round_trip("SELECT 1 WHERE a = 1 AND b = 2 AND c = 3 AND d = 4");
    let Some(ConditionKind::And(list)) = select(&tree).filter.as_ref().map(|c| &c.kind) else {
        panic!("{tree:?}");
    };
    assert_eq!(list.len(), 4);
}

#[test]
fn intersect_precedes_union() {
    let same = |text: &str, other: &str| {
        assert_eq!(
            without_positions(&round_trip(text)),
            without_positions(&round_trip(other)),
            "{text}"
        )
    };
    same(
        "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT SELECT 4",
        "SELECT 1 UNION (SELECT 2 INTERSECT SELECT 3) EXCEPT SELECT 4",
    );
    let tree = round_trip("SELECT 1 UNION SELECT 2 UNION ALL SELECT 3");
    let StatementKind::Select(statement) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    let QueryBody::Combined(combination) = &statement.query.body else {
        panic!("{tree:?}");
    };
    assert_eq!(combination.rest.len(), 2);
}

#[test]
fn joins_belong_to_the_next_on() {
    let same = |text: &str, other: &str| {
        let from = |text: &str| without_positions(&round_trip(&format!("SELECT * FROM {text}")));
        assert_eq!(from(text), from(other), "{text}");
    };
    same(
        "a JOIN b JOIN c ON 1 = 1 ON 2 = 2",
        "a JOIN (b JOIN c ON 1 = 1) ON 2 = 2",
    );
    same(
        "a JOIN b ON 1 = 1 JOIN c ON 2 = 2",
        "(a JOIN b ON 1 = 1) JOIN c ON 2 = 2",
    );
    same("a CROSS JOIN b JOIN c ON 1 = 1", "(a CROSS JOIN b) JOIN c ON 1 = 1");
    let tree = round_trip("SELECT * FROM a x LEFT JOIN b ON 1 = 1");
    let TableSourceKind::Join(join) = &select(&tree).from[0].kind else {
        panic!("{tree:?}");
    };
    assert_eq!(join.kind, JoinKind::Left);
}

#[test]
fn a_name_in_quotation_marks_is_a_string_when_the_option_is_off() {
    let off = Options {
        quoted_identifier: false,
    };
    let tree = round_trip_with("SELECT \"it's \"\"x\"\"\" AS \"a b\", [c]", off);
    let ExprKind::Literal(Literal::String(text)) = &first_value(&tree).kind else {
        panic!("{tree:?}");
    };
    assert_eq!(text, "it's \"x\"");
    let tree = round_trip("SELECT \"a\"\"b\"");
    let ExprKind::Column(column) = &first_value(&tree).kind else {
        panic!("{tree:?}");
    };
    assert_eq!((column.name.text.as_str(), column.name.quoted), ("a\"b", true));
}

#[test]
fn set_quoted_identifier_applies_to_the_rest_of_the_batch() {
    let tree = round_trip("SELECT \"a\" SET QUOTED_IDENTIFIER OFF SELECT \"a\" SET ANSI_DEFAULTS ON SELECT \"a\"");
    let is_string: Vec<_> = tree
        .statements
        .iter()
        .filter(|s| matches!(s.kind, StatementKind::Select(_)))
        .map(|s| {
            without_positions(&Tree {
                statements: vec![s.clone()],
                ..Tree::default()
            })
            .contains("String(")
        })
        .collect();
    assert_eq!(is_string, [false, true, false]);
    let tree = round_trip("CREATE PROC p AS SET QUOTED_IDENTIFIER OFF SELECT \"a\"");
    assert!(without_positions(&tree).contains("Column("));
}

#[test]
fn datepart_words_are_columns_without_a_table() {
    let tree = round_trip("SELECT DATEDIFF(s, @a, @b)");
    let ExprKind::Function(call) = &first_value(&tree).kind else {
        panic!("{tree:?}");
    };
    let Arguments::List(arguments) = &call.arguments else {
        panic!("{tree:?}");
    };
    assert!(matches!(&arguments[0].kind, ExprKind::Column(c) if c.table.is_none() && c.name.is_word("S")));
}

#[test]
fn omitted_parts_of_a_name_are_none() {
    let tree = round_trip("SELECT a..b.c FROM d..e, f...g, h.i.j.k");
    let ExprKind::Column(column) = &first_value(&tree).kind else {
        panic!("{tree:?}");
    };
    let table = column.table.as_ref().unwrap();
    assert_eq!((table.name.text.as_str(), column.name.text.as_str()), ("b", "c"));
    assert!(table.schema.is_none() && table.database.as_ref().is_some_and(|d| d.text == "a"));
    let names: Vec<_> = select(&tree).from.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["d..e", "f...g", "h.i.j.k"]);
}

#[test]
fn positions_cover_complete_nodes() {
    let text = "SELECT 1;\n  SELECT (a + 1) * 2 AS b,\n  c FROM dbo.[t] WHERE (d = 1) ; EXEC p";
    let tree = tree(text);
    let of = |index: usize| tree.statements[index].position;
    assert_eq!(of(0).text(text), "SELECT 1");
    assert_eq!(
        of(1).text(text),
        "SELECT (a + 1) * 2 AS b,\n  c FROM dbo.[t] WHERE (d = 1)"
    );
    assert_eq!((of(0).line, of(1).line, of(2).line), (1, 2, 3));
    let StatementKind::Select(statement) = &tree.statements[1].kind else {
        panic!("{tree:?}");
    };
    let select = select_of(&statement.query);
    let [
        SelectItem::Value { value: first, .. },
        SelectItem::Value { value: second, .. },
    ] = select.items.as_slice()
    else {
        panic!("{tree:?}");
    };
    assert_eq!(first.position.text(text), "(a + 1) * 2");
    assert_eq!((second.position.text(text), second.position.line), ("c", 3));
    let ExprKind::Binary { left, .. } = &first.kind else {
        panic!("{tree:?}");
    };
    assert_eq!(left.position.text(text), "(a + 1)");
    assert_eq!(select.filter.as_ref().unwrap().position.text(text), "(d = 1)");
    let TableSourceKind::Table { name, .. } = &select.from[0].kind else {
        panic!("{tree:?}");
    };
    assert_eq!(
        (name.position.text(text), name.name.position.text(text)),
        ("dbo.[t]", "[t]")
    );
}

#[test]
fn the_text_of_a_default_or_check_is_complete() {
    let text = "CREATE TABLE t (a int DEFAULT (1 + 2) * 3, CHECK ((a > 0) AND a < 9))";
    let StatementKind::CreateTable(table) = &tree(text).statements[0].kind else {
        panic!("{text}");
    };
    let [TableElement::Column(column), TableElement::Constraint(check)] = table.elements.as_slice() else {
        panic!("{table:?}");
    };
    let selenite_tsql::ast::ConstraintKind::Default { value, .. } = &column.constraints[0].kind else {
        panic!("{table:?}");
    };
    assert_eq!(value.position.text(text), "(1 + 2) * 3");
    let selenite_tsql::ast::ConstraintKind::Check { condition, .. } = &check.kind else {
        panic!("{table:?}");
    };
    assert_eq!(condition.position.text(text), "((a > 0) AND a < 9)");
}

#[test]
fn a_procedure_extends_to_the_end_of_its_batch() {
    let text = "-- before\nCREATE PROC p @a int = 5 OUTPUT AS\nSELECT 1\nBEGIN SELECT 2 END\nRETURN @a; -- after\n";
    let tree = tree(text);
    let StatementKind::Procedure(procedure) = &tree.statements[0].kind else {
        panic!("{tree:?}");
    };
    assert_eq!((tree.statements.len(), procedure.body.len()), (1, 3));
    assert_eq!(procedure.body[2].position.line, 5);
    let parameter = &procedure.parameters[0];
    assert!(parameter.output && parameter.position.text(text) == "@a int = 5 OUTPUT");
}

#[test]
fn a_text_of_whitespace_and_comments_has_no_statements() {
    for text in ["", " \r\n\t", "-- x", "/* /* */ */", ";;", "\u{feff}\u{a0}"] {
        assert!(tree(text).statements.is_empty(), "{text}");
    }
}

#[test]
fn the_first_name_of_a_batch_calls_a_procedure() {
    assert_eq!(kinds("sp_who"), ["Execute"]);
    assert_eq!(kinds("sp_who 'sa' SELECT 1"), ["Execute", "Select"]);
    assert_eq!(kinds("p 1; SELECT 1"), ["Execute", "Select"]);
    assert_eq!(kinds("SELEC"), ["Execute"]);
    assert_eq!(kinds("l: SELECT 1"), ["Label", "Select"]);
    assert!(parse("SELECT 1; sp_who", Options::default()).is_err());
}

#[test]
fn a_label_is_not_an_alias() {
    assert_eq!(kinds("SELECT 1\ndone:\nSELECT 2"), ["Select", "Label", "Select"]);
    assert_eq!(kinds("SELECT a FROM t done: SELECT 2"), ["Select", "Label", "Select"]);
    assert_eq!(
        kinds("SELECT a FROM (SELECT 1 AS a) x done: RETURN"),
        ["Select", "Label", "Return"]
    );
    assert_eq!(
        kinds("DELETE t OUTPUT deleted.a done: RETURN"),
        ["Delete", "Label", "Return"]
    );
}

#[test]
fn shifts_are_functions_with_the_precedence_of_addition() {
    let text = "SELECT 1 + 2 << 3 * 4 >> 5";
    let tree = round_trip(text);
    assert_eq!(
        first_value(&tree).to_string(),
        "RIGHT_SHIFT(LEFT_SHIFT(1 + 2, 3 * 4), 5)"
    );
    // A comparison next to a shift.
    round_trip("SELECT 1 WHERE 1 << 2 <> 3 AND 1 >> 2 >= 0");
}

#[test]
fn leading_parts_of_a_name_may_be_omitted() {
    for text in [
        "SELECT a FROM ..t",
        "SELECT a FROM .t",
        "EXEC ..p",
        "EXEC ...p",
        "DROP TABLE ..t",
        "SELECT a FROM .dbo.t",
    ] {
        round_trip(text);
    }
    assert!(parse("SELECT a FROM ....t", Options::default()).is_err());
}

#[test]
fn queries_in_queries_are_ordered_in_their_own_parentheses() {
    for text in [
        "SELECT * FROM ((SELECT TOP 1 a FROM t ORDER BY a) UNION (SELECT 8)) x",
        "SELECT * FROM (SELECT 8 AS a UNION (SELECT TOP 1 a FROM t ORDER BY a)) x",
        "SELECT 1 WHERE 1 IN ((SELECT TOP 1 a FROM t ORDER BY a) UNION SELECT 8)",
        "SELECT * FROM (SELECT 8 AS a UNION (SELECT a FROM t ORDER BY a OFFSET 1 ROWS)) x",
        "SELECT TOP (SELECT 2) a FROM t",
        "SELECT COUNT(*) FROM ::fn_helpcollations()",
    ] {
        round_trip(text);
    }
}

#[test]
fn trim_of_characters_is_ltrim_and_rtrim() {
    for (text, same) in [
        ("SELECT TRIM('x' FROM a)", "SELECT RTRIM(LTRIM(a, 'x'), 'x')"),
        ("SELECT TRIM(BOTH @c FROM a)", "SELECT RTRIM(LTRIM(a, @c), @c)"),
        ("SELECT TRIM(LEADING 'x' FROM a)", "SELECT LTRIM(a, 'x')"),
        ("SELECT TRIM(TRAILING [x] FROM a)", "SELECT RTRIM(a, [x])"),
        ("SELECT TRIM(LEADING a)", "SELECT LTRIM(a)"),
    ] {
        assert_eq!(round_trip(text).to_string(), round_trip(same).to_string(), "{text}");
    }
    // Column names.
    for text in [
        "SELECT TRIM(leading)",
        "SELECT TRIM(both.a)",
        "SELECT TRIM(trailing + 'x')",
        "SELECT TRIM(a, b)",
    ] {
        round_trip(text);
    }
}

#[test]
fn each_function_is_listed_once() {
    let tree = round_trip(
        "SELECT len(a), LEN(b), dbo.f(1), {fn now()}, @@SPID FROM t WHERE EXISTS (SELECT MAX(c) OVER () FROM g(1))",
    );
    let names: Vec<&str> = tree.functions.iter().map(|name| name.text.as_str()).collect();
    assert_eq!(names, ["len", "@@SPID", "MAX"]);
}

#[test]
fn each_type_is_listed_once() {
    let tree = round_trip("DECLARE @a phone, @b PHONE, @c s.phone, @d S.Phone, @e decimal(9, 2) SELECT CAST(1 AS int)");
    let named = |named: &selenite_tsql::ast::TypeReference| (named.schema.clone(), named.name.clone());
    let types: Vec<(Option<String>, String)> = tree.types.iter().map(named).collect();
    let expected = [(None, "phone"), (Some("s"), "phone"), (None, "int")];
    assert_eq!(
        types,
        expected.map(|(schema, name)| (schema.map(str::to_owned), name.to_owned()))
    );
}
