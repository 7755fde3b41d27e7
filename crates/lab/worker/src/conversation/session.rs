//! Requests on the open database.

use std::collections::BTreeMap;

use rusqlite::Connection;
use serde_json::Value;

use super::RequestHandler;
use crate::protocol::{DatabaseSpec, Done, OpenedDatabase, PROTOCOL, Request};
use crate::work::{Block, Controls};
use crate::{Engine, WorkerError, dataset, digest, layout, work};

/// An engine and the open database.
pub struct Session<'a> {
    engine: &'a dyn Engine,
    open: Option<(DatabaseSpec, Connection)>,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    /// An answer.
    Value(Value),
    /// The conversation ends.
    Quit,
}

impl Answered {
    /// An answer of the protocol.
    ///
    /// # Errors
    /// [`WorkerError::Engine`] for a value that has no JSON form.
    pub fn of(answer: &impl serde::Serialize) -> Result<Self, WorkerError> {
        serde_json::to_value(answer)
            .map(Self::Value)
            .map_err(|error| WorkerError::Engine(error.to_string()))
    }
}

impl<'a> Session<'a> {
    /// A session without an open database.
    pub fn new(engine: &'a dyn Engine) -> Self {
        Self { engine, open: None }
    }
}

impl RequestHandler for Session<'_> {
    fn answer(&mut self, request: &Request, controls: &Controls) -> Result<Answered, WorkerError> {
        match request {
            Request::Hello { protocol } => {
                check_protocol(*protocol)?;
                value(&self.engine.hello()?)
            }
            Request::Load {
                database,
                dataset,
                seed,
                rows: _,
            } => {
                self.close()?;
                value(&dataset::load(self.engine, database, dataset, *seed)?)
            }
            Request::Open { database } => value(&self.open(database)?),
            Request::Close => {
                self.close()?;
                value(&Done {})
            }
            Request::Digest => {
                let (_, connection) = self.open.as_ref().ok_or_else(nothing_open)?;
                value(&digest::of(connection)?)
            }
            Request::Run {
                work,
                seed,
                process,
                start_at_ns,
            } => {
                let block = Block {
                    seed: *seed,
                    process: *process,
                    start_at_ns: *start_at_ns,
                    controls,
                };
                value(&self.run(work, &block)?)
            }
            Request::Cipher { cipher } => self.cipher(cipher),
            Request::Control(_) => Ok(Answered::Value(Value::Null)),
            Request::Quit => Ok(Answered::Quit),
        }
    }

    fn close(&mut self) -> Result<(), WorkerError> {
        if let Some((_, connection)) = self.open.take() {
            connection.close().map_err(|(_, error)| error)?;
        }
        Ok(())
    }

    fn abandon(&mut self) {
        self.open = None;
    }
}

impl Session<'_> {
    fn open(&mut self, database: &DatabaseSpec) -> Result<OpenedDatabase, WorkerError> {
        self.close()?;
        let connection = self.engine.open(database)?;
        let status = self.engine.status(&connection, database)?;
        let opened = OpenedDatabase {
            status: status.values,
            encrypted: status.encrypted,
            pages: layout::page_count(&connection)?,
            layout: layout::in_force(&connection)?,
            encrypted_files: BTreeMap::new(),
        };
        self.open = Some((database.clone(), connection));
        Ok(opened)
    }

    /// Work that reads the file itself gets it closed: closing another descriptor of the file in
    /// the same process would release SQLite's locks.
    fn run(
        &mut self,
        work: &crate::protocol::Workload,
        block: &Block<'_>,
    ) -> Result<crate::protocol::Sample, WorkerError> {
        if !work::wants_closed(work) {
            let (database, connection) = self.open.as_ref().ok_or_else(nothing_open)?;
            return work::run(self.engine, database, connection, work, block);
        }
        let database = self.open.as_ref().ok_or_else(nothing_open)?.0.clone();
        self.close()?;
        let ran = work::run_closed(self.engine, &database, work, block);
        let connection = self.engine.open(&database)?;
        let pages = layout::page_count(&connection);
        self.open = Some((database, connection));
        let mut sample = ran?;
        sample.pages = pages?;
        Ok(sample)
    }

    fn cipher(&self, cipher: &str) -> Result<Answered, WorkerError> {
        match self.engine.cipher_time(cipher)? {
            Some(time) => value(&time),
            None => Err(WorkerError::Refused(format!(
                "this engine can't tell how long {cipher} takes"
            ))),
        }
    }
}

fn value(answer: &impl serde::Serialize) -> Result<Answered, WorkerError> {
    Answered::of(answer)
}

/// Checks that it is this version of the protocol.
///
/// # Errors
/// [`WorkerError::Refused`] for another one.
pub fn check_protocol(protocol: u32) -> Result<(), WorkerError> {
    if protocol == PROTOCOL {
        return Ok(());
    }
    Err(WorkerError::Refused(format!(
        "this worker speaks protocol {PROTOCOL}, not {protocol}"
    )))
}

fn nothing_open() -> WorkerError {
    WorkerError::Refused("no database is open: open one first".to_owned())
}
