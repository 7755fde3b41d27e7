//! Random texts: no text causes a panic, and every tree prints as a text that parses to the same tree.
//!
//! proptest prints the smallest failing text and its seed.

use crate::round_trip::{round_trip, without_positions};
use proptest::prelude::*;
use selenite_tsql::{Options, parse, split_batches};

/// The words, operators and constants of random texts.
const TOKENS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "AND",
    "OR",
    "NOT",
    "IN",
    "EXISTS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "BEGIN",
    "IF",
    "WHILE",
    "SET",
    "DECLARE",
    "INSERT",
    "INTO",
    "VALUES",
    "UPDATE",
    "DELETE",
    "JOIN",
    "ON",
    "AS",
    "WITH",
    "UNION",
    "ALL",
    "TOP",
    "ORDER",
    "BY",
    "GROUP",
    "EXEC",
    "CREATE",
    "TABLE",
    "DROP",
    "ALTER",
    "PROCEDURE",
    "NULL",
    "LIKE",
    "BETWEEN",
    "IS",
    "TRY",
    "CATCH",
    "CURSOR",
    "FOR",
    "MERGE",
    "OUTPUT",
    "OVER",
    "DEFAULT",
    "RETURN",
    "a",
    "b",
    "dbo",
    "[x y]",
    "\"q\"",
    "#t",
    "@a",
    "@@b",
    "1",
    "1.5",
    "1e5",
    "$2",
    "0xff",
    "'s'",
    "N'n'",
    "(",
    ")",
    "(",
    ")",
    ",",
    ",",
    ".",
    ";",
    "=",
    "<",
    ">",
    "!",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "~",
    ":",
    "{",
    "}",
    "--\n",
    "/*c*/",
    "int",
    "varchar",
    "max",
    "fn",
    "GO",
    "\n",
    "'",
    "[",
    "\u{2019}",
    "\u{e9}",
    "TRAN",
    "COMMIT",
    "USE",
];

/// If the text parses, its tree prints as a text with the same tree; every position is within the text.
fn check(text: &str) {
    for quoted_identifier in [true, false] {
        match parse(text, Options { quoted_identifier }) {
            Ok(tree) => {
                let printed = tree.to_string();
                let again = parse(&printed, Options::default());
                // A printed name can exceed the maximum if its brackets are doubled; these names are shorter.
                let again = again.unwrap_or_else(|e| panic!("{e}\n{text}\nprinted:\n{printed}"));
                assert_eq!(
                    without_positions(&again),
                    without_positions(&tree),
                    "\n{text}\nprinted:\n{printed}"
                );
                let inside = |s: &selenite_tsql::ast::Statement| text.get(s.position.range()).is_some();
                assert!(tree.statements.iter().all(inside), "{text}");
            }
            Err(error) => {
                assert!(text.get(error.position.range()).is_some(), "{text}: {error:?}");
                let lines = text.matches('\n').count() + 1;
                assert!(
                    error.line >= 1 && usize::try_from(error.line).is_ok_and(|line| line <= lines),
                    "{text}: {error:?}"
                );
                assert!(error.message.chars().count() <= 2_047);
            }
        }
    }
}

/// The texts of the other tests, extracted from their string literals.
fn statements() -> Vec<&'static str> {
    let sources = [
        include_str!("statements.rs"),
        include_str!("definitions.rs"),
        include_str!("unsupported.rs"),
    ];
    sources.iter().flat_map(|source| source.split('"')).collect()
}

#[test]
fn a_truncated_or_corrupted_statement_never_panics() {
    for text in statements() {
        for end in 0..text.len() {
            if let Some(text) = text.get(..end) {
                drop(parse(text, Options::default()));
            }
            for flip in [0x01, 0x07, 0x20, 0x80] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[end] ^= flip;
                drop(parse(&String::from_utf8_lossy(&bytes), Options::default()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in any::<String>()) {
        check(&text);
        drop(split_batches(&text));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        check(&text);
        drop(split_batches(&text));
    }

    #[test]
    fn no_words_in_any_order_panic(words in prop::collection::vec(prop::sample::select(TOKENS), 0..40)) {
        check(&words.join(" "));
        check(&words.concat());
    }

    #[test]
    fn batches_and_the_lines_between_them_are_the_complete_script(
        lines in prop::collection::vec(prop::sample::select(&["GO", " go 5 ", "a", "'", "/*", "*/", "--'", "[", "", "]"][..]), 0..20)
    ) {
        let script = lines.join("\n");
        let batches = split_batches(&script);
        for batch in &batches {
            let line = usize::try_from(batch.first_line).unwrap() - 1;
            let start: usize = script.split_inclusive('\n').take(line).map(str::len).sum();
            prop_assert!(script[start..].starts_with(batch.text));
            prop_assert!(batch.count == 1 || batch.count == 5);
        }
        let kept: usize = batches.iter().map(|batch| batch.text.matches('a').count()).sum();
        prop_assert_eq!(kept, script.matches('a').count());
    }

    #[test]
    fn a_randomly_truncated_or_altered_statement_never_panics(
        index in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), by in any::<char>()
    ) {
        let statements = statements();
        let text = index.get(&statements);
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        if !places.is_empty() {
            let at = *at.get(&places);
            check(&text[..at]);
            check(&text[at..]);
            check(&format!("{}{by}{}", &text[..at], &text[at..]));
        }
    }

    #[test]
    fn every_tree_prints_as_itself(text in batch()) {
        round_trip(&text);
    }
}

/// Names, some of which require delimiters.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z_#][a-z0-9_$@#]{0,8}".prop_filter("not reserved", |word| !selenite_tsql::is_reserved(word)),
        1 => "[a-zA-Z \\]'\"\u{e9}\u{4e2d}.-]{1,8}".prop_map(|text| format!("[{}]", text.replace(']', "]]"))),
    ]
}

fn object() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => name(),
        2 => (name(), name()).prop_map(|(a, b)| format!("{a}.{b}")),
        1 => (name(), name()).prop_map(|(a, b)| format!("{a}..{b}")),
        1 => (name(), name(), name()).prop_map(|(a, b, c)| format!("{a} . {b}.{c}")),
    ]
}

fn variable() -> impl Strategy<Value = String> {
    "@[a-z0-9_]{0,6}"
}

fn constant() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]{1,12}",
        "[0-9]{1,5}\\.[0-9]{0,5}",
        "\\.[0-9]{1,5}",
        "[0-9]{1,3}(\\.[0-9])?[eE][+-]?[0-9]{0,2}",
        "\\$([0-9]{1,4}(\\.[0-9]{1,4})?)?",
        "0x[0-9a-fA-F]{0,8}",
        "N?'([a-z \\\\\n\u{4e2d}]|''){0,10}'",
        Just("NULL".to_owned()),
    ]
}

fn type_name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("int".to_owned()),
        Just("nvarchar(max)".to_owned()),
        Just("double precision".to_owned()),
        Just("national char varying(5)".to_owned()),
        (1..38_u8, 0..10_u8).prop_map(|(p, s)| format!("decimal({p}, {s})")),
    ]
}

fn value() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        constant(),
        variable(),
        object(),
        Just("@@ROWCOUNT".to_owned()),
        Just("CURRENT_TIMESTAMP".to_owned()),
        Just("COUNT(*)".to_owned()),
        Just("{ts '2020-01-01 00:00:00'}".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let operator = prop::sample::select(&["+", "-", "*", "/", "%", "&", "|", "^"][..]);
        let pair = (inner.clone(), operator, inner.clone());
        let truth = condition_of(inner.clone());
        prop_oneof![
            4 => pair.prop_map(|(a, o, b)| format!("{a} {o} {b}")),
            2 => inner.clone().prop_map(|a| format!("({a})")),
            2 => (prop::sample::select(&["-", "+", "~"][..]), inner.clone()).prop_map(|(o, a)| format!("{o} {a}")),
            1 => (inner.clone(), name()).prop_map(|(a, c)| format!("{a} COLLATE {c}")),
            2 => (object(), prop::collection::vec(inner.clone(), 0..3))
                .prop_map(|(f, a)| format!("{f}({})", a.join(", "))),
            1 => inner.clone().prop_map(|a| format!("SUM(DISTINCT {a}) OVER (PARTITION BY {a} ORDER BY {a} DESC)")),
            1 => (inner.clone(), type_name()).prop_map(|(a, t)| format!("CAST({a} AS {t})")),
            1 => (inner.clone(), type_name()).prop_map(|(a, t)| format!("TRY_CONVERT({t}, {a}, 121)")),
            1 => (truth.clone(), inner.clone()).prop_map(|(c, a)| format!("CASE WHEN {c} THEN {a} ELSE {a} END")),
            1 => (truth, inner.clone()).prop_map(|(c, a)| format!("IIF({c}, {a}, 1)")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("CASE {a} WHEN {b} THEN 1 END")),
            1 => inner.prop_map(|a| format!("(SELECT TOP (1) {a} FROM t ORDER BY {a})")),
        ]
    })
    .prop_filter("SQL Server's own limit", |text| {
        text.matches("CASE").count() + text.matches("IIF").count() <= 10
    })
    .boxed()
}

fn condition_of(value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let operator = prop::sample::select(&["=", "<>", "!=", "<", "< =", ">", ">=", "!<", "! >"][..]);
    let leaf = prop_oneof![
        4 => (value.clone(), operator, value.clone()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
        1 => value.clone().prop_map(|a| format!("{a} IS NOT NULL")),
        1 => (value.clone(), value.clone()).prop_map(|(a, b)| format!("{a} NOT BETWEEN {b} AND {a}")),
        1 => (value.clone(), value.clone()).prop_map(|(a, b)| format!("{a} IN ({b}, {a})")),
        1 => (value.clone(), value.clone()).prop_map(|(a, b)| format!("{a} NOT IN (SELECT {b})")),
        1 => (value.clone(), value.clone()).prop_map(|(a, b)| format!("{a} LIKE {b} ESCAPE '!'")),
        1 => (value.clone(), value.clone()).prop_map(|(a, b)| format!("{a} >= ALL (SELECT {b} UNION SELECT 1)")),
        1 => value.prop_map(|a| format!("EXISTS (SELECT * FROM t WHERE {a} = 1)")),
    ];
    let junction = prop::sample::select(&["AND", "OR"][..]);
    leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            3 => (inner.clone(), junction.clone(), inner.clone()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
            1 => inner.clone().prop_map(|a| format!("({a})")),
            1 => inner.prop_map(|a| format!("NOT {a}")),
        ]
    })
    .boxed()
}

fn condition() -> BoxedStrategy<String> {
    condition_of(value())
}

fn source() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        4 => (object(), prop::option::of(name())).prop_map(|(t, a)| match a {
            Some(alias) => format!("{t} AS {alias} WITH (NOLOCK)"),
            None => t,
        }),
        1 => variable(),
        1 => (value(), name()).prop_map(|(v, a)| format!("(SELECT {v} AS x) {a}")),
        1 => (value(), name()).prop_map(|(v, a)| format!("(VALUES ({v}, 1), (2, 3)) {a} (x, y)")),
        1 => (value(), name()).prop_map(|(v, a)| format!("f({v}) {a}")),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} LEFT OUTER JOIN {b} ON x = y")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} CROSS APPLY {b}")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a} FULL HASH JOIN {b} ON x = y)")),
        ]
    })
    .boxed()
}

fn query() -> BoxedStrategy<String> {
    let item = (value(), prop::option::of(name())).prop_map(|(value, alias)| match alias {
        Some(alias) => format!("{alias} = {value}"),
        None => value,
    });
    let select = (
        prop::collection::vec(item, 1..3),
        prop::option::of(source()),
        prop::option::of(condition()),
        prop::bool::ANY,
    )
        .prop_map(|(items, source, filter, distinct)| {
            let from = source.map_or(String::new(), |s| format!(" FROM {s}"));
            let filter = filter.map_or(String::new(), |c| format!(" WHERE {c}"));
            let distinct = if distinct { " DISTINCT" } else { "" };
            format!("SELECT{distinct} {}{from}{filter}", items.join(", "))
        });
    let operator = prop::sample::select(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT"][..]);
    select
        .prop_recursive(2, 4, 2, move |inner| {
            prop_oneof![
                (inner.clone(), operator.clone(), inner.clone()).prop_map(|(a, o, b)| format!("{a} {o} {b}")),
                (inner.clone(), operator.clone(), inner).prop_map(|(a, o, b)| format!("({a}) {o} ({b})")),
            ]
        })
        .boxed()
}

fn statement() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        4 => query(),
        1 => (query(), name()).prop_map(|(q, n)| format!(";WITH {n} AS ({q}) SELECT * FROM {n}")),
        2 => (variable(), value()).prop_map(|(a, v)| format!("SET {a} += {v}")),
        1 => (variable(), type_name(), value()).prop_map(|(a, t, v)| format!("DECLARE {a} {t} = {v}")),
        1 => (object(), value(), value()).prop_map(|(t, a, b)| format!("INSERT INTO {t} (x, y) VALUES ({a}, {b}), (DEFAULT, 1)")),
        1 => (object(), query()).prop_map(|(t, q)| format!("INSERT {t} {q}")),
        1 => (object(), value(), condition()).prop_map(|(t, v, c)| format!("UPDATE {t} SET x = {v}, @v = y *= {v} WHERE {c}")),
        1 => (object(), condition()).prop_map(|(t, c)| format!("DELETE {t} WHERE {c}")),
        1 => (object(), value()).prop_map(|(t, v)| format!("CREATE TABLE {t} (a int DEFAULT {v}, b AS {v}, UNIQUE (a))")),
        1 => (object(), constant(), variable()).prop_map(|(p, c, v)| format!("EXEC {p} {c}, @x = {v} OUTPUT")),
        1 => value().prop_map(|v| format!("PRINT {v}")),
        1 => Just("RAISERROR ('x', 16, 1, @a) WITH NOWAIT".to_owned()),
        1 => Just("SELECT a FROM t FOR XML AUTO".to_owned()),
        1 => Just("SET STATISTICS TIME, IO ON".to_owned()),
        1 => Just("BEGIN TRAN COMMIT TRAN".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (condition(), inner.clone()).prop_map(|(c, s)| format!("IF ({c}) {}", block(&s))),
            (condition(), inner.clone(), inner.clone()).prop_map(|(c, a, b)| format!(
                "IF ({c}) {} ELSE {}",
                block(&a),
                block(&b)
            )),
            (condition(), inner.clone()).prop_map(|(c, s)| format!("WHILE ({c}) BEGIN {s}; BREAK END")),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| format!("BEGIN TRY {a} END TRY BEGIN CATCH {b}; THROW END CATCH")),
            prop::collection::vec(inner, 1..3).prop_map(|list| block(&list.join(";\n"))),
        ]
    })
    .boxed()
}

fn block(text: &str) -> String {
    format!("BEGIN {text} END")
}

fn batch() -> impl Strategy<Value = String> {
    prop::collection::vec(statement(), 1..4).prop_map(|list| list.join("\n;"))
}
