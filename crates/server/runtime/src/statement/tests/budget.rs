//! The cost of nested operands is that of their SQL, and statements that are too large are refused.

use selenite_compiler::{Binder, Expr, NoQuery, Variables};

use crate::testing::{Session, expr_of};

fn table() -> Session {
    Session::new(
        "CREATE TABLE t (x int NOT NULL, y int NULL, s varchar(20) NULL) INSERT INTO t VALUES (1, 2, 'a'), (3, NULL, 'b')",
    )
}

/// A text with `levels` levels of nesting.
fn nested(levels: usize, inner: &str, level: impl Fn(usize, &str) -> String) -> String {
    (0..levels).fold(inner.to_owned(), |text, at| level(at, &text))
}

fn node_count(expr: &Expr) -> usize {
    let mut count = 0;
    expr.visit(&mut |_| count += 1);
    count
}

type Level = fn(usize, &str) -> String;

const DEEP: [usize; 3] = [10, 20, 40];

/// CASE and IIF may be nested 10 deep (125).
const CASES: [usize; 3] = [2, 4, 8];

/// Forms that use an operand more than once.
const LEVELS: [(&str, Level, [usize; 3]); 10] = [
    ("NULLIF", |at, x| format!("NULLIF({x}, {})", at + 100), DEEP),
    (
        "NULLIF of another type",
        |at, x| format!("NULLIF({x}, '{}')", at + 100),
        DEEP,
    ),
    (
        "NULLIF on the right",
        |at, x| format!("NULLIF({}, {x})", at + 100),
        DEEP,
    ),
    ("COALESCE", |at, x| format!("COALESCE({x}, {at})"), DEEP),
    ("CHOOSE", |at, x| format!("CHOOSE({x}, 1, {at})"), DEEP),
    (
        "CASE",
        |at, x| format!("CASE {x} WHEN {at} THEN 1 WHEN 7 THEN 8 WHEN 9 THEN 6 ELSE 3 END"),
        CASES,
    ),
    ("IIF BETWEEN", |_, x| format!("IIF({x} BETWEEN 1 AND 2, 1, 0)"), CASES),
    (
        "IIF BETWEEN of two types",
        |_, x| format!("IIF({x} BETWEEN 1 AND 2.5, 1, 0)"),
        CASES,
    ),
    ("IIF IN", |_, x| format!("IIF({x} IN (1, 2, 3, 4, 5), 1, 0)"), CASES),
    (
        "IIF IN of several types",
        |_, x| format!("IIF({x} IN (1, 2.5, '3', 4e0), 1, 0)"),
        CASES,
    ),
];

#[test]
fn a_nested_operand_is_bound_once() {
    let mut variables = Variables::new();
    variables.declare("@x", selenite_types::DataType::Int).unwrap();
    let bind = |text: &str| Binder::new(&variables, &mut NoQuery).expr(&expr_of(text)).unwrap();
    for (name, level, levels) in LEVELS {
        let counts = levels.map(|levels| node_count(&bind(&nested(levels, "@x + 1", level))));
        // Each level adds as much as the previous one.
        assert_eq!(counts[2] - counts[1], 2 * (counts[1] - counts[0]), "{name}: {counts:?}");
    }
}

#[test]
fn a_nested_operand_is_written_once() {
    let session = table();
    for (name, level, levels) in LEVELS {
        let sizes = levels.map(|levels| {
            let batch = format!("SELECT {} FROM t", nested(levels, "x", level));
            session.answer(&batch).sql.concat().len()
        });
        assert!(sizes[2] < 3 * sizes[1], "{name}: {sizes:?}");
    }
}

#[test]
fn a_simple_case_within_a_case_is_bound_once() {
    let branches: Vec<String> = (0..60).map(|at| format!("WHEN {at} THEN {at}")).collect();
    let text = nested(10, "x", |_, x| format!("(CASE {x} {} END)", branches.join(" ")));
    let session = table();
    let answer = session.answer(&format!("SELECT {text} FROM t"));
    assert_eq!(answer.rows, ["1", "3"]);
    assert!(answer.sql.concat().len() < 1000, "{}", answer.sql.concat());
}

#[test]
fn an_operand_is_evaluated_once() {
    let session = table();
    // Two evaluations of NEWID would differ: then the first WHEN would be false for its own operand.
    for batch in [
        "SELECT COUNT(*) FROM t WHERE NULLIF(CAST(NEWID() AS varchar(36)), 'x') IS NULL",
        "SELECT COUNT(*) FROM t WHERE CASE LEN(CAST(NEWID() AS varchar(36))) WHEN 36 THEN 0 ELSE 1 END = 1",
    ] {
        assert_eq!(session.rows(batch), "0", "{batch}");
    }
    let drawn = "SELECT COUNT(*) FROM (SELECT CASE ABS(CHECKSUM(NEWID())) % 3 WHEN 0 THEN 0 WHEN 1 THEN 1 WHEN 2 THEN 2 END \
                 AS v FROM t a, t b, t c, t d, t e, t f) d WHERE v IS NULL";
    assert_eq!(session.rows(drawn), "0");
}

#[test]
fn one_evaluation_chooses_the_same_branch_as_several() {
    let session = table();
    for (batch, rows) in [
        ("SELECT NULLIF(x + 1, 2), NULLIF(y + 0, 9) FROM t", "NULL|2\n4|NULL"),
        (
            "SELECT CASE x + 1 WHEN 2 THEN 'two' WHEN y THEN 'y' ELSE 'none' END FROM t",
            "two\nnone",
        ),
        (
            "SELECT CASE x + y WHEN 3 THEN (SELECT MAX(s) FROM t) ELSE s END FROM t",
            "b\nb",
        ),
        (
            "SELECT CASE (SELECT MAX(x) FROM t) WHEN 3 THEN (SELECT 1) ELSE (SELECT 1 UNION ALL SELECT 2) END FROM t",
            "1\n1",
        ),
        ("SELECT NULLIF(SUM(x), 4), NULLIF(COUNT(*), 5) FROM t", "NULL|2"),
        ("SELECT NULLIF(x + 1, 2) FROM t GROUP BY x + 1", "NULL\n4"),
        (
            "SELECT CASE x + 1 WHEN 2 THEN 'a' ELSE 'b' END FROM t GROUP BY CASE x + 1 WHEN 2 THEN 'a' ELSE 'b' END",
            "a\nb",
        ),
        ("SELECT x FROM t WHERE UPPER(s) IN ('A', N'C')", "1"),
        ("SELECT x FROM t WHERE x + 0 IN (1, '3')", "1\n3"),
        ("SELECT x FROM t WHERE x + 0 BETWEEN 0.5 AND '2'", "1"),
        ("SELECT x FROM t WHERE NOT (x + y BETWEEN 0.5 AND '2')", "1"),
        ("SELECT NULLIF(GETDATE(), GETDATE()) FROM t", "NULL\nNULL"),
        (
            "SELECT COUNT(*) FROM t WHERE NULLIF(DATEADD(day, x, GETDATE()), GETDATE()) IS NOT NULL",
            "2",
        ),
        ("DECLARE @a int = 4 SELECT x FROM t WHERE x = NULLIF(@a - 1, 9)", "3"),
        ("DECLARE @a int = 4 SELECT CASE @a - 1 WHEN 3 THEN x END FROM t", "1\n3"),
        (
            "SELECT CASE NULLIF(x + 1, 2) WHEN NULLIF(x + 1, 5) THEN 'same' ELSE 'null' END FROM t",
            "null\nsame",
        ),
        ("UPDATE t SET y = NULLIF(x + 1, 2) SELECT y FROM t", "NULL\n4"),
    ] {
        assert_eq!(session.rows(batch), rows, "{batch}");
    }
}

/// A statement whose columns SQLite would substitute into one another.
fn derived(levels: usize) -> String {
    let rows = nested(levels, "SELECT x AS a, x AS b FROM t", |_, rows| {
        format!("SELECT a + b AS a, a - b AS b FROM ({rows}) d")
    });
    format!("SELECT MAX(a) FROM ({rows}) d")
}

#[test]
fn substitution_of_columns_in_sqlite_is_limited() {
    let session = table();
    assert_eq!(session.rows(&derived(4)), "12");
    // 2 to the 30th without a limit.
    assert_eq!(session.rows(&derived(30)), (3_u32 << 15).to_string());
    let commons = nested(30, "WITH q AS (SELECT x AS a, x AS b FROM t)", |at, text| {
        let before = if at == 0 {
            "q".to_owned()
        } else {
            format!("q{}", at - 1)
        };
        format!("{text}, q{at} AS (SELECT a + b AS a, a - b AS b FROM {before})")
    });
    assert_eq!(
        session.rows(&format!("{commons} SELECT MAX(a) FROM q29")),
        (3_u32 << 15).to_string()
    );
}

#[test]
fn sources_that_double_are_refused() {
    let session = table();
    let doubling = |levels: usize| {
        let commons = nested(levels, "WITH q AS (SELECT x FROM t)", |at, text| {
            let before = if at == 0 {
                "q".to_owned()
            } else {
                format!("q{}", at - 1)
            };
            format!("{text}, q{at} AS (SELECT l.x FROM {before} l JOIN {before} r ON l.x = r.x)")
        });
        format!("{commons} SELECT COUNT(*) FROM q{}", levels - 1)
    };
    assert_eq!(session.rows(&doubling(6)), "2");
    assert_eq!(session.number(&doubling(40)), 8623);
    let applied = nested(30, "SELECT MAX(z29.a) FROM t", |at, text| {
        let before = if at == 0 {
            "t.x".to_owned()
        } else {
            format!("z{}.a", at - 1)
        };
        format!("{text} CROSS APPLY (SELECT {before} + {before} * 2 AS a, {before} AS b) z{at}")
    });
    assert_eq!(session.number(&applied), 8115);
    let applied = nested(30, "SELECT MAX(z29.a) FROM t", |at, text| {
        let before = if at == 0 {
            "t.x".to_owned()
        } else {
            format!("z{}.a", at - 1)
        };
        format!("{text} CROSS APPLY (SELECT IIF({before} > 1, {before}, -{before}) AS a) z{at}")
    });
    assert_eq!(session.number(&applied), 8623);
}

#[test]
fn a_statement_of_too_many_nodes_is_refused() {
    let session = table();
    let quantified = nested(31, "x > 1", |_, test| format!("x > ALL (SELECT x FROM t WHERE {test})"));
    assert_eq!(session.number(&format!("SELECT x FROM t WHERE {quantified}")), 8623);
    let item = vec!["x"; 400].join(" + ");
    let items = vec![item.as_str(); 3000].join(", ");
    assert_eq!(session.number(&format!("SELECT {items} FROM t")), 8623);
}

/// A list of `count` items.
fn list(count: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    items.join(separator)
}

/// The number of a batch's error; 0 without one.
fn outcome(session: &Session, batch: &str) -> i32 {
    session.run(batch).map_or_else(|error| error.number(), |_| 0)
}

#[test]
fn more_windows_than_sqlite_prepares_quickly_are_refused() {
    let session = table();
    let frame = |at: usize| format!("SUM(x) OVER (ORDER BY x ROWS BETWEEN {at} PRECEDING AND CURRENT ROW)");
    let numbers = |count: usize| outcome(&session, &format!("SELECT {} FROM t", list(count, ", ", frame)));
    assert_eq!(numbers(256), 0);
    assert_eq!(numbers(257), 8623);
    // Windows in ORDER BY count too; equal windows count once.
    let ordered = |count: usize| {
        format!(
            "SELECT {} FROM t ORDER BY {}",
            list(200, ", ", frame),
            list(count, ", ", frame)
        )
    };
    assert_eq!(outcome(&session, &ordered(200)), 0);
    let more = list(57, ", ", |at| frame(at + 200));
    assert_eq!(
        outcome(
            &session,
            &format!("SELECT {} FROM t ORDER BY {more}", list(200, ", ", frame))
        ),
        8623
    );
    let same = list(2000, ", ", |at| format!("SUM(x + {at}) OVER (ORDER BY x)"));
    assert_eq!(outcome(&session, &format!("SELECT {same} FROM t")), 0);
    // The limit applies to the whole statement.
    let member = format!("SELECT {} FROM t", list(128, ", ", frame));
    let members = |count: usize| outcome(&session, &vec![member.as_str(); count].join(" UNION ALL "));
    assert_eq!(members(6), 0);
    assert_eq!(members(7), 8623);
    // With many columns, and with many keys.
    let columns = list(1000, ", ", |at| format!("x + {at}"));
    let beside = |count: usize| {
        outcome(
            &session,
            &format!("SELECT {columns}, {} FROM t", list(count, ", ", frame)),
        )
    };
    assert_eq!(beside(64), 0);
    assert_eq!(beside(256), 8623);
}

#[test]
fn subqueries_and_their_copies_are_counted() {
    let session = table();
    let whens = |count: usize| {
        let whens = list(count, " ", |at| {
            format!("WHEN EXISTS (SELECT 1 FROM t i WHERE i.x = t.x + {at}) THEN {at}")
        });
        format!("CASE {whens} END")
    };
    assert_eq!(
        outcome(&session, &format!("SELECT x FROM t WHERE {} = 1", whens(4000))),
        0
    );
    assert_eq!(
        outcome(&session, &format!("SELECT x FROM t WHERE {} = 1", whens(4100))),
        8623
    );
    // SQLite would copy a derived table's column for each use: up to 15 subqueries are copied, and counted; more are
    // computed first.
    let used = |subqueries: usize, uses: usize| {
        let uses = list(uses, " OR ", |at| format!("a = {at}"));
        format!(
            "SELECT COUNT(*) FROM (SELECT {} AS a FROM t) d WHERE {uses}",
            whens(subqueries)
        )
    };
    assert_eq!(outcome(&session, &used(15, 600)), 0);
    assert_eq!(outcome(&session, &used(15, 700)), 8623);
    assert_eq!(outcome(&session, &used(300, 700)), 0);
    // Subqueries without a source count, too.
    let bare = |count: usize| list(count, " OR ", |at| format!("EXISTS (SELECT 1 WHERE x = {at})"));
    assert_eq!(outcome(&session, &format!("SELECT x FROM t WHERE {}", bare(9000))), 0);
    assert_eq!(
        outcome(&session, &format!("SELECT x FROM t WHERE {}", bare(11_000))),
        8623
    );
}
