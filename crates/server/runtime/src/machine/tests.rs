//! The machine with a host that records calls.
//!
//! Where a test names no source, the rule is in the statement's page in Microsoft's Transact-SQL reference
//! (learn.microsoft.com/sql/t-sql). "Sommarskog" is "Error and Transaction Handling in SQL Server"
//! (sommarskog.se/error_handling).

use std::sync::Arc;

use selenite_compiler::SqlError;
use selenite_compiler::program::Program;
use selenite_tsql::{Options as ParseOptions, parse};
use selenite_types::Value;

use self::mock::{HostCall, Mock, short};
use super::*;

mod any;
mod calls;
mod control;
mod counters;
mod dones;
mod errors;
mod messages;
mod mock;
mod source;
mod speed;
mod transactions;
mod variables;

/// A session's machine with its host.
struct Fixture {
    machine: Machine,
    host: Mock,
}

impl Fixture {
    fn new() -> Self {
        Self {
            machine: Machine::new(),
            host: Mock::new(),
        }
    }

    /// Runs a batch and returns the recorded calls in a short form.
    fn run(&mut self, text: &str) -> Vec<String> {
        let (ended, recorded) = self.end(text);
        assert_eq!(ended, Ended::Finished, "{text}");
        recorded
    }

    fn end(&mut self, text: &str) -> (Ended, Vec<String>) {
        self.host.calls.clear();
        let ended = match compile(text) {
            Ok(program) => {
                let request = Request {
                    program: Arc::new(program),
                    arguments: Vec::new(),
                    entry: Entry::Batch,
                };
                self.machine.run(request, &mut self.host)
            }
            Err(errors) => self.machine.refuse(&errors, Entry::Batch, &mut self.host),
        };
        let entered = self
            .host
            .calls
            .iter()
            .filter(|call| matches!(call, HostCall::Enter(_)))
            .count();
        let left = self
            .host
            .calls
            .iter()
            .filter(|call| matches!(call, HostCall::Leave))
            .count();
        assert_eq!(entered, left, "a frame that was entered is left: {text}");
        assert!(self.machine.frames.is_empty());
        (ended, self.recorded())
    }

    /// Runs a procedure as a client's call.
    fn call(&mut self, name: &str, arguments: Vec<CallArgument>, entry: Entry) -> Vec<String> {
        self.host.calls.clear();
        let program = self
            .host
            .procedures
            .iter()
            .find(|(known, _)| known == name)
            .unwrap()
            .1
            .clone();
        let request = Request {
            program,
            arguments,
            entry,
        };
        assert_eq!(self.machine.run(request, &mut self.host), Ended::Finished);
        self.recorded()
    }

    /// Adds the procedure of a CREATE PROCEDURE.
    fn create(&mut self, text: &str) {
        let tree = parse(text, ParseOptions::default()).unwrap();
        let ast::StatementKind::Procedure(procedure) = &tree.statements[0].kind else {
            panic!("no procedure: {text}");
        };
        let name = procedure.name.name.text.clone();
        let id = i32::try_from(self.host.procedures.len()).unwrap() + 100;
        let program = Program::of_procedure(text, procedure, &name, id).unwrap();
        self.host.procedures.push((name, Arc::new(program)));
    }

    /// Sets the result of the host's next statement.
    fn answer(&mut self, answer: Result<Affected, SqlError>) {
        let mut answer = Some(answer.map_err(Failure::Error));
        self.host
            .answers
            .push_back(Box::new(move |_, _| answer.take().unwrap()));
    }

    fn recorded(&self) -> Vec<String> {
        self.host.calls.iter().filter_map(in_short).collect()
    }
}

use selenite_tsql::ast;

/// The short form of a recorded call; `None` for frames.
fn in_short(call: &HostCall) -> Option<String> {
    Some(match call {
        HostCall::Done(done) => short(done),
        HostCall::Message { number: 0, text, .. } => format!("print {text}"),
        HostCall::Message {
            number,
            severity,
            line,
            procedure,
            ..
        } if procedure.is_empty() => {
            format!("msg {number} level {severity} line {line}")
        }
        HostCall::Message {
            number,
            severity,
            line,
            procedure,
            ..
        } => {
            format!("msg {number} level {severity} line {line} of {procedure}")
        }
        HostCall::Columns(columns) => {
            let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
            format!("columns {}", names.join(","))
        }
        HostCall::Row(values) => {
            let values: Vec<String> = values.iter().map(shown).collect();
            format!("row {}", values.join(","))
        }
        HostCall::Status(status) => format!("status {status}"),
        HostCall::Output { ordinal, name, value } => format!("output {ordinal} {name}={}", shown(value)),
        HostCall::Flush => "flush".to_owned(),
        HostCall::Wait(wait) => format!("{wait:?}"),
        HostCall::Statement(text) => format!("stmt {text}"),
        HostCall::Described(text) => format!("described {text}"),
        HostCall::Transaction(step) => step.clone(),
        HostCall::Option(name, value) => format!("set {name} {:?}", value.as_ref().map(shown)),
        HostCall::Use(name) => format!("use {name}"),
        HostCall::Enter(_) | HostCall::Leave => return None,
    })
}

fn shown(value: &Value) -> String {
    let data_type = match value {
        Value::Null => return "NULL".to_owned(),
        Value::Text(text) => return text.to_string(),
        Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::Bit(_)
        | Value::BigInt(_)
        | Value::Decimal(_)
        | Value::Money(_)
        | Value::Real(_)
        | Value::Float(_)
        | Value::Binary(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::DateTimeOffset(_)
        | Value::Guid(_)
        | Value::SqlVariant(_) => selenite_types::DataType::Int,
    };
    selenite_types::text_of(value, &data_type).unwrap_or_default()
}

fn compile(text: &str) -> Result<Program, Vec<SqlError>> {
    match parse(text, ParseOptions::default()) {
        Ok(tree) => Program::of_batch(text, tree),
        Err(error) => Err(vec![SqlError::from(error)]),
    }
}

/// The recorded calls of a batch in a new session.
fn run(text: &str) -> Vec<String> {
    Fixture::new().run(text)
}

/// The texts that a batch of a new session prints, and its errors in short form.
fn printed(text: &str) -> Vec<String> {
    let recorded = run(text);
    recorded
        .into_iter()
        .filter(|call| call.starts_with("print ") || call.starts_with("msg "))
        .collect()
}

/// The rows that a batch of a new session returns.
fn rows(text: &str) -> Vec<String> {
    run(text)
        .into_iter()
        .filter_map(|call| call.strip_prefix("row ").map(str::to_owned))
        .collect()
}
