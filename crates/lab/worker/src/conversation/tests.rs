use rusqlite::Connection;

use super::*;
use crate::engine::Status;
use crate::protocol::{DatabaseSpec, Hello};
use crate::stock::{Stock, spec};

fn answers(engine: &dyn Engine, lines: &[String]) -> Vec<serde_json::Value> {
    let mut out = Vec::new();
    converse(engine, io::Cursor::new(lines.join("\n")), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn database(folder: &tempfile::TempDir) -> String {
    serde_json::to_string(&spec(&folder.path().join("a.db"))).unwrap()
}

const RUN: &str = r#"{"do":"run","seed":1,"process":{"index":0,"count":1},"work":"#;

#[test]
fn every_line_that_wants_an_answer_gets_one_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let lines = [
        r#"{"do":"hello","protocol":5}"#.to_owned(),
        r#"{"do":"hello","protocol":6}"#.to_owned(),
        "{".to_owned(),
        String::new(),
        r#"{"do":"digest","surprise":1}"#.to_owned(),
        r#"{"do":"control","stop":true}"#.to_owned(),
        format!(r#"{{"do":"load","seed":3,"dataset":{{"kind":"statements","rows":9}},"database":{database}}}"#),
        format!(r#"{{"do":"open","database":{database}}}"#),
        r#"{"do":"digest"}"#.to_owned(),
        format!(r#"{RUN}{{"kind":"select-all"}}}}"#),
        r#"{"do":"close"}"#.to_owned(),
        r#"{"do":"digest"}"#.to_owned(),
        r#"{"do":"quit"}"#.to_owned(),
        r#"{"do":"hello","protocol":5}"#.to_owned(),
    ];
    let answers = answers(&Stock, &lines);
    let good: Vec<bool> = answers.iter().map(|answer| answer.get("ok").is_some()).collect();
    assert_eq!(
        good,
        [true, false, false, false, true, true, true, true, true, false],
        "{answers:?}"
    );
    assert_eq!(answers[4]["ok"]["digest"], answers[6]["ok"]["digest"]);
    assert!(answers[7]["ok"]["answer"].as_str().unwrap().starts_with("9 rows "));
}

#[test]
fn the_end_of_the_input_ends_the_hummer_but_no_other_work() {
    let folder = tempfile::tempdir().unwrap();
    let database = database(&folder);
    let load = format!(r#"{{"do":"load","seed":3,"dataset":{{"kind":"cards","rows":9}},"database":{database}}}"#);
    let open = format!(r#"{{"do":"open","database":{database}}}"#);
    let hummer = r#"{"kind":"hummer","hummer":{"mix":[10,0,0],"loops":100,"pause_every":1,"pause_ms":3600000}}"#;
    let answers = answers(&Stock, &[load, open, format!("{RUN}{hummer}}}")]);
    assert_eq!(answers[2]["ok"]["altered"], true);
    assert!(answers[2]["ok"]["operations"].as_u64().unwrap() <= 1);
}

struct Panics;

impl Engine for Panics {
    fn hello(&self) -> Result<Hello, WorkerError> {
        panic!("planted")
    }

    fn open(&self, _: &DatabaseSpec) -> Result<Connection, WorkerError> {
        panic!("planted {}", "too")
    }

    fn create(&self, database: &DatabaseSpec) -> Result<Connection, WorkerError> {
        Stock.create(database)
    }

    fn status(&self, _: &Connection, _: &DatabaseSpec) -> Result<Status, WorkerError> {
        Ok(Status::default())
    }
}

#[test]
fn a_panic_is_an_error_and_the_worker_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [
        r#"{"do":"hello","protocol":5}"#.to_owned(),
        format!(r#"{{"do":"open","database":{}}}"#, database(&folder)),
        r#"{"do":"close"}"#.to_owned(),
    ];
    let answers = answers(&Panics, &lines);
    assert!(answers[0]["error"].as_str().unwrap().ends_with(": planted"));
    assert!(answers[1]["error"].as_str().unwrap().ends_with(": planted too"));
    assert!(answers[2].get("ok").is_some());
}
