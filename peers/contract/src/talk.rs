//! A conversation with a worker.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use selenite_worker::protocol::{
    DatabaseSpec, Dataset, Hello, Loaded, OpenedDatabase, PLAIN, PROTOCOL, Request, Response, Sample,
};
use selenite_worker::protocol::{Share, Workload};
use serde::de::DeserializeOwned;

use crate::Fault;

/// A worker that runs; it ends with this value.
pub struct Talk {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Talk {
    /// Starts a worker.
    ///
    /// # Errors
    /// What the system says.
    pub fn start(executable: &Path) -> Result<Self, Fault> {
        let mut child = Command::new(executable)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| Fault::new("no standard output"))?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Says a line and waits for the answer.
    ///
    /// # Errors
    /// What the worker says it can't do; a worker that ended.
    pub fn ask<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, Fault> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        let input = self.input.as_mut().ok_or_else(|| Fault::new("no standard input"))?;
        input.write_all(line.as_bytes())?;
        input.flush()?;
        line.clear();
        if self.output.read_line(&mut line)? == 0 {
            return Err(Fault::new("the worker ended"));
        }
        match serde_json::from_str(&line)? {
            Response::Ok(answer) => Ok(answer),
            Response::Error(what) => Err(Fault::new(what)),
        }
    }

    /// Who it is.
    ///
    /// # Errors
    /// As [`Talk::ask`], and so for all below.
    pub fn hello(&mut self) -> Result<Hello, Fault> {
        self.ask(&Request::Hello { protocol: PROTOCOL })
    }

    /// `plain` and all that it can seal in.
    ///
    /// # Errors
    /// A worker that names none.
    pub fn ciphers(&mut self) -> Result<Vec<String>, Fault> {
        let named = self.hello()?.ciphers;
        Fault::unless(!named.is_empty(), || "the worker names no cipher".to_owned())?;
        Ok([PLAIN.to_owned()].into_iter().chain(named).collect())
    }

    /// Makes and fills a database.
    ///
    /// # Errors
    /// See above.
    pub fn load(&mut self, database: &DatabaseSpec, dataset: &Dataset) -> Result<Loaded, Fault> {
        self.ask(&Request::Load {
            database: database.clone(),
            dataset: dataset.clone(),
            seed: SEED,
            rows: None,
        })
    }

    /// Opens a database.
    ///
    /// # Errors
    /// See above.
    pub fn open(&mut self, database: &DatabaseSpec) -> Result<OpenedDatabase, Fault> {
        self.ask(&Request::Open {
            database: database.clone(),
        })
    }

    /// Does a block of work, alone.
    ///
    /// # Errors
    /// See above.
    pub fn run(&mut self, work: &Workload) -> Result<Sample, Fault> {
        self.ask(&Request::Run {
            work: work.clone(),
            seed: SEED,
            process: Share { index: 0, count: 1 },
            start_at_ns: 0,
        })
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // The end of its input ends it.
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Everything random comes from it.
const SEED: u64 = 20_261_121;
