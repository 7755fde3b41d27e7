//! Limits of depth and size: nesting is counted, and time is linear.

use std::{
    thread,
    time::{Duration, Instant},
};

use selenite_tsql::{Options, ast::StatementKind, parse};

/// Runs on a stack of 2 MiB, as large as that of SQL Server's threads.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(2 << 20).spawn(run);
    thread.expect("a thread starts").join().expect("no test fails");
}

/// Parses, then prints, compares, copies and drops the tree, which is recursive. Returns the error's number, 0 if none.
fn number(text: &str) -> u32 {
    match parse(text, Options::default()) {
        Ok(tree) => {
            assert_eq!(tree.clone(), tree);
            assert!(!format!("{tree}{tree:?}").is_empty());
            0
        }
        Err(error) => error.number,
    }
}

/// The shapes: prefix, repeated left part, middle, repeated right part, suffix.
const SHAPES: &[[&str; 5]] = &[
    ["SELECT ", "(", "1", ")", ""],
    ["SELECT ", "- ", "1", "", ""],
    ["SELECT ", "~", "1", "", ""],
    ["SELECT ", "1 + (", "1", ")", ""],
    ["SELECT ", "f(", "1", ")", ""],
    ["SELECT ", "{fn f(", "1", ")}", ""],
    ["SELECT ", "CAST(", "1", " AS int)", ""],
    ["SELECT ", "(SELECT ", "1", ")", ""],
    ["SELECT ", "", "1", " + 1", ""],
    ["SELECT ", "", "a", " COLLATE b", ""],
    ["SELECT 1 WHERE ", "(", "a = 1", ")", ""],
    ["SELECT 1 WHERE ", "NOT ", "a = 1", "", ""],
    ["SELECT 1 WHERE ", "NOT (", "a = 1", " AND b = 1)", ""],
    ["SELECT 1 WHERE ", "EXISTS (SELECT 1 WHERE ", "a = 1", ")", ""],
    ["SELECT 1 WHERE ", "a IN (SELECT 1 WHERE ", "a = 1", ")", ""],
    ["SELECT 1 WHERE a IN (", "(", "1", ")", ")"],
    ["SELECT 1 WHERE a = ", "((SELECT 1) + ", "1", ")", ""],
    ["", "(", "SELECT 1", ")", ""],
    ["", "(SELECT 1 UNION ", "SELECT 1", ")", ""],
    ["SELECT * FROM ", "(", "a", ")", ""],
    ["SELECT * FROM ", "(SELECT * FROM ", "a", ") x", ""],
    ["SELECT * FROM ", "((SELECT 1 AS a) x CROSS JOIN ", "a", ")", ""],
    ["SELECT * FROM ", "a JOIN ", "a", " ON 1 = 1", ""],
    ["SELECT * FROM ", "", "a", " JOIN a ON 1 = 1", ""],
    ["", "BEGIN ", "SELECT 1", " END", ""],
    ["", "IF 1 = 1 ", "SELECT 1", "", ""],
    ["", "IF 1 = 1 SELECT 1 ELSE ", "SELECT 1", "", ""],
    ["", "WHILE 1 = 1 ", "SELECT 1", "", ""],
    ["", "BEGIN TRY ", "SELECT 1", " END TRY BEGIN CATCH END CATCH", ""],
    [
        "",
        "BEGIN TRY SELECT 1 END TRY BEGIN CATCH ",
        "SELECT 1",
        " END CATCH",
        "",
    ],
    ["CREATE TABLE t (a int CHECK (", "(", "a = 1", ")", "))"],
    ["CREATE INDEX i ON t (a) WITH (a = 1, b ", "(c ", "= 1", ")", ")"],
];

fn text(shape: &[&str; 5], depth: usize) -> String {
    let [before, left, middle, right, after] = shape;
    format!("{before}{}{middle}{}{after}", left.repeat(depth), right.repeat(depth))
}

#[test]
fn nesting_of_thirty_levels_is_parsed() {
    on_small_stack(|| {
        for shape in SHAPES {
            assert_eq!(number(&text(shape, 30)), 0, "{shape:?}");
        }
    });
}

#[test]
fn nesting_of_eight_thousand_levels_is_refused_on_a_small_stack() {
    on_small_stack(|| {
        for shape in SHAPES {
            for depth in [400, 900, 8_000, 100_000] {
                let number = number(&text(shape, depth));
                assert!(
                    number == 191 || depth < 1_000 && number == 0,
                    "{shape:?} {depth} {number}"
                );
            }
        }
    });
}

#[test]
fn mixed_shapes_are_refused_on_a_small_stack() {
    on_small_stack(|| {
        for first in SHAPES.iter().filter(|shape| shape[0] == "SELECT 1 WHERE ") {
            for second in SHAPES
                .iter()
                .filter(|shape| shape[0] == "SELECT " && shape[3].contains(')'))
            {
                let inner = text(&["", second[1], second[2], second[3], ""], 400);
                let middle = format!("{inner} = 1");
                number(&text(&[first[0], first[1], &middle, first[3], first[4]], 400));
            }
        }
    });
}

/// The time of a parse: the minimum of three, because other processes run concurrently.
fn time(text: &str) -> Duration {
    let once = || {
        let start = Instant::now();
        parse(text, Options::default()).unwrap_or_else(|e| panic!("{e}"));
        start.elapsed()
    };
    (0..3).map(|_| once()).min().unwrap_or_default()
}

/// Lists and chains with the given number of links.
const FORMS: &[fn(usize) -> String] = &[
    |n| format!("SELECT 1 WHERE a IN ({})", vec!["1"; n].join(", ")),
    |n| format!("SELECT 1 WHERE {}", vec!["a = 1"; n].join(" OR ")),
    |n| format!("SELECT 1 WHERE {}", vec!["a = 1 AND b = 2"; n].join(" OR ")),
    |n| format!("SELECT 1 WHERE {}", vec!["(a = 1 AND b = -2)"; n].join(" OR ")),
    |n| format!("SELECT {}", vec!["a + 1 AS b"; n].join(", ")),
    |n| vec!["SELECT 1"; n].join(" UNION ALL "),
    |n| vec!["SELECT 1"; n].join("\n"),
    |n| "SET @a = @a + 1;".repeat(n),
    |n| format!("SELECT '{}'", "''".repeat(n)),
    |n| format!("SELECT 1 {}", "/* */".repeat(n)),
    |n| format!("SELECT 1 {}{}", "/* ".repeat(n), " */".repeat(n)),
    |n| format!("EXEC p {}", vec!["@a = 1"; n].join(", ")),
    |n| format!("SELECT f({})", vec!["CASE WHEN a = 1 THEN 2 END"; n].join(", ")),
    |n| format!("DECLARE {}", vec!["@a int = -1"; n].join(", ")),
    |n| format!("SELECT * FROM {}", vec!["t WITH (NOLOCK)"; n].join(", ")),
    |n| format!("{} GOTO a1", (0..n).map(|i| format!("a{i}: ")).collect::<String>()),
    |n| ";".repeat(n),
];

/// The text of a form with `count` links. Nested comments are replaced at large counts, because their depth is limited.
fn form_text(index: usize, count: usize) -> String {
    if index == NESTED_COMMENTS && count > 10_000 {
        return "SELECT 1".to_owned();
    }
    FORMS[index](count).replace("/*/*", "/* /*")
}

const NESTED_COMMENTS: usize = 10;

#[test]
fn lists_and_chains_do_not_nest() {
    for index in 0..FORMS.len() {
        parse(&form_text(index, 100_000), Options::default()).unwrap_or_else(|error| panic!("{index}: {error}"));
    }
}

#[test]
#[ignore = "make soak: it compares times"]
fn lists_and_chains_take_linear_time() {
    for index in 0..FORMS.len() {
        let (small, large) = (time(&form_text(index, 10_000)), time(&form_text(index, 100_000)));
        assert!(
            large < small * 40 + Duration::from_millis(200),
            "{index}: {small:?}, {large:?}"
        );
    }
}

#[test]
fn a_batch_of_a_hundred_thousand_statements_is_complete() {
    let text = "SELECT 1\n".repeat(100_000);
    let tree = parse(&text, Options::default()).unwrap();
    assert_eq!(tree.statements.len(), 100_000);
    assert_eq!(tree.statements[99_999].position.line, 100_000);
    assert!(
        tree.statements
            .iter()
            .all(|s| matches!(s.kind, StatementKind::Select(_)))
    );
}

#[test]
#[ignore = "make soak: measures the parser's speed, which is no test"]
fn the_speed_of_the_parser_is_printed() {
    let script = include_str!("sources/000-main.sql").repeat(1_000);
    let inserts =
        "INSERT INTO dbo.orders (id, name, price) VALUES (1, N'one', 12.50), (2, N'two', 3.99);\n".repeat(10_000);
    let list = format!("SELECT a FROM t WHERE a IN ({})", vec!["12345"; 150_000].join(", "));
    for (name, text) in [("context switches", script), ("inserts", inserts), ("IN list", list)] {
        let megabytes = f64::from(u32::try_from(text.len()).unwrap()) / 1e6;
        let speed = megabytes / time(&text).as_secs_f64();
        println!("{name}: {megabytes:.2} MB, {speed:.0} MB/s");
    }
}
