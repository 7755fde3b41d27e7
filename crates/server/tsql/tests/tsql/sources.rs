//! The scripts of the articles as published; the line breaks of the statements article are restored.

use crate::round_trip::round_trip;
use selenite_tsql::{
    Options,
    ast::{StatementKind, Tree},
    parse, split_batches,
};

fn supported(tree: &Tree) {
    let refused = tree
        .statements
        .iter()
        .find(|s| matches!(s.kind, StatementKind::Unsupported(_)));
    assert!(refused.is_none(), "{refused:?}");
}

#[test]
fn the_load_of_the_context_switches_article_is_one_batch_of_fifteen_statements() {
    let text = include_str!("sources/000-main.sql");
    assert_eq!(split_batches(text).len(), 1);
    let tree = round_trip(text);
    supported(&tree);
    assert_eq!(tree.statements.len(), 15);
    let StatementKind::Block(body) = &tree.statements[9].kind else {
        panic!("{tree}");
    };
    assert_eq!((body.len(), body[0].position.line), (1, 19));
    let StatementKind::While(turn) = &body[0].kind else {
        panic!("{tree}");
    };
    assert_eq!(turn.condition.position.text(text), "@cnt < 100000000");
    assert!(matches!(&turn.body.kind, StatementKind::Block(body) if body.len() == 1));
}

#[test]
fn the_sampling_of_the_context_switches_article_waits_after_its_select() {
    let tree = round_trip(include_str!("sources/000-sampling.sql"));
    supported(&tree);
    let StatementKind::Block(body) = &tree.statements[1].kind else {
        panic!("{tree}");
    };
    let StatementKind::While(turn) = &body[0].kind else {
        panic!("{tree}");
    };
    let StatementKind::Block(body) = &turn.body.kind else {
        panic!("{tree}");
    };
    let [select, wait, set] = body.as_slice() else {
        panic!("{tree}");
    };
    assert!(matches!(select.kind, StatementKind::Select(_)));
    assert!(matches!(wait.kind, StatementKind::WaitFor(_)));
    assert!(matches!(set.kind, StatementKind::SetVariable(_)));
}

#[test]
fn every_batch_of_the_statements_article_parses() {
    let script = include_str!("sources/002.sql");
    let batches = split_batches(script);
    assert_eq!(batches.len(), 23);
    let statements: usize = batches
        .iter()
        .map(|batch| {
            let tree = round_trip(batch.text);
            supported(&tree);
            tree.statements.len()
        })
        .sum();
    assert_eq!(statements, 29);
    let inserts: Vec<_> = batches.iter().filter(|batch| batch.count == 10_000).collect();
    assert_eq!(inserts.len(), 1);
    assert_eq!(
        (inserts[0].text, inserts[0].first_line),
        ("INSERT INTO testtable DEFAULT VALUES ;\n", 16)
    );
}

#[test]
fn the_backup_of_the_statements_article_parses_after_its_quotes_are_repaired() {
    let script = include_str!("sources/002-backup.sql");
    let batches = split_batches(script);
    assert_eq!(batches.len(), 3);
    let error = parse(batches[1].text, Options::default()).unwrap_err();
    assert_eq!((error.number, error.severity, error.state, error.line), (102, 15, 1, 2));
    assert_eq!(error.message, "Incorrect syntax near '\u{2019}'.");
    let repaired = batches[1].text.trim_end().replace('\u{2019}', "'") + "'";
    let tree = round_trip(&repaired);
    assert!(matches!(&tree.statements[0].kind, StatementKind::Backup(backup) if backup.devices.len() == 1));
}

#[test]
fn methods_of_xml_stand_behind_variables_columns_and_queries() {
    for text in [
        "SELECT @x.value('(/a)[1]', 'int') AS a",
        "SELECT t.c.query('/a').value('.', 'int') AS a, c.exist('/a') AS b FROM t",
        "SELECT (SELECT 1 AS a FOR XML PATH, TYPE).value('.', 'nvarchar(max)') AS a",
        "SELECT n.c.value('@a', 'int') AS a FROM t CROSS APPLY t.x.nodes('/a') AS n (c)",
        "SELECT n.c.value('@a', 'int') AS a FROM @x.nodes('/a') AS n (c)",
    ] {
        round_trip(text);
    }
    for text in ["SELECT @x.other('a')", "SELECT @x.value", "SELECT (a).b"] {
        assert!(parse(text, Options::default()).is_err(), "{text}");
    }
}
