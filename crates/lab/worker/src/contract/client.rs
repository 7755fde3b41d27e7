//! A worker's process, and the protocol with it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::protocol::{Request, Response};

/// A running worker. It is killed on drop.
pub struct ContractClient {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<String>,
}

/// The conversation cannot continue: the worker broke the protocol, or has ended.
#[derive(Debug)]
pub struct ContractViolation(pub String);

impl ContractClient {
    /// Starts a worker.
    pub fn start(command: &mut Command) -> Result<Self, ContractViolation> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| ContractViolation(format!("it does not start: {error}")))?;
        let input = child.stdin.take();
        let output = child
            .stdout
            .take()
            .ok_or_else(|| ContractViolation("it has no output".to_owned()))?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, input, answers })
    }

    /// Sends a line unchanged.
    pub fn send_line(&mut self, line: &str) -> Result<(), ContractViolation> {
        let gone = |what: &str| ContractViolation(format!("it takes no more requests: {what}"));
        let input = self.input.as_mut().ok_or_else(|| gone("its input is closed"))?;
        writeln!(input, "{line}")
            .and_then(|()| input.flush())
            .map_err(|error| gone(&error.to_string()))
    }

    /// Reads the next answer: the result, or the worker's error.
    pub fn receive(&mut self) -> Result<Result<Value, String>, ContractViolation> {
        let line = match self.answers.recv_timeout(PATIENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                return Err(ContractViolation(format!("no answer within {} s", PATIENCE.as_secs())));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(ContractViolation("it ended without an answer".to_owned()));
            }
        };
        match serde_json::from_str(&line) {
            Ok(Response::Ok(value)) => Ok(Ok(value)),
            Ok(Response::Error(error)) => Ok(Err(error)),
            Err(_) => {
                let start: String = line.chars().take(100).collect();
                Err(ContractViolation(format!("this is no answer: {start}")))
            }
        }
    }

    /// Sends a request and reads the answer.
    pub fn request(&mut self, request: &Request) -> Result<Result<Value, String>, ContractViolation> {
        self.send_line(&serde_json::to_string(request).map_err(|error| ContractViolation(error.to_string()))?)?;
        self.receive()
    }

    /// Closes the worker's input; the worker has to exit with success and without further output.
    pub fn end(mut self) -> Result<(), ContractViolation> {
        self.input = None;
        match self.answers.recv_timeout(PATIENCE) {
            Err(RecvTimeoutError::Disconnected) => {}
            Err(RecvTimeoutError::Timeout) => return Err(ContractViolation("it does not end".to_owned())),
            Ok(line) => {
                let start: String = line.chars().take(100).collect();
                return Err(ContractViolation(format!(
                    "it has something to say at the end: {start}"
                )));
            }
        }
        // The output is closed: only the exit remains.
        let until = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(ContractViolation(format!("it ended with {status}"))),
                Ok(None) if Instant::now() < until => std::thread::yield_now(),
                Ok(None) => return Err(ContractViolation("it does not end".to_owned())),
                Err(error) => return Err(ContractViolation(error.to_string())),
            }
        }
    }
}

impl Drop for ContractClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two minutes: the work of the contract takes far less than a second.
const PATIENCE: Duration = Duration::from_secs(120);
