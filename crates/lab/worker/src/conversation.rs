//! The loop over standard input and output: one request per line, one answer per line.
//!
//! - answers-only: only answers are written to the output.
//! - every-line-is-answered: every line is answered, and the conversation continues: a request that
//!   cannot be carried out is an error in the answer, and so is a panic, after which the database
//!   is closed.
//! - controls-arrive: lines are read while work is in progress, so that a `control` reaches it.

mod line;
pub(crate) mod session;

use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::mpsc;

use crate::protocol::Response;
use crate::work::Controls;
use crate::{Engine, WorkerError};

use line::Line;
use session::Session;
pub use session::{Answered, check_protocol};

/// Serves requests on standard input and output until `quit` or the end of the input.
pub fn serve(engine: &dyn Engine) -> ExitCode {
    serve_with(Session::new(engine))
}

/// The same with any request handler.
pub fn serve_with(handler: impl RequestHandler) -> ExitCode {
    let input = io::BufReader::new(io::stdin());
    match converse_with(handler, input, &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the conversation broke off: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Carries out requests.
pub trait RequestHandler {
    /// Carries out a request.
    ///
    /// # Errors
    /// Why it cannot be carried out; the conversation continues.
    fn answer(&mut self, request: &crate::protocol::Request, controls: &Controls) -> Result<Answered, WorkerError>;

    /// Closes the open database.
    ///
    /// # Errors
    /// Why it could not be closed cleanly.
    fn close(&mut self) -> Result<(), WorkerError>;

    /// Releases the open database, whatever its state.
    fn abandon(&mut self);
}

/// Reads requests until `quit` or the end of the input, and answers them.
///
/// # Errors
/// Errors of writing an answer.
pub fn converse(engine: &dyn Engine, input: impl BufRead + Send + 'static, output: &mut dyn Write) -> io::Result<()> {
    converse_with(Session::new(engine), input, output)
}

/// The same, with any request handler.
///
/// # Errors
/// Errors of writing an answer.
pub fn converse_with(
    mut session: impl RequestHandler,
    input: impl BufRead + Send + 'static,
    output: &mut dyn Write,
) -> io::Result<()> {
    let (sender, lines) = mpsc::channel();
    std::thread::Builder::new()
        .name("requests".to_owned())
        .spawn(move || read(input, &sender))?;
    for line in lines {
        let answer = match line {
            Line::Request(request, controls) => match guarded(&mut session, &request, &controls) {
                Ok(Answered::Value(value)) => Response::Ok(value),
                Ok(Answered::Quit) => break,
                Err(error) => Response::Error(error.to_string()),
            },
            Line::Bad(error) => Response::Error(error.to_string()),
        };
        let mut text = serde_json::to_string(&answer).map_err(io::Error::other)?;
        text.push('\n');
        output.write_all(text.as_bytes())?;
        output.flush()?;
    }
    session.close().map_err(io::Error::other)
}

/// Sends each request that it reads; a `control` goes to the `run` that was read last.
fn read(mut input: impl BufRead, sender: &mpsc::Sender<Line>) {
    // Kept until the end of the input: a run interprets the loss of its sender as that end.
    let mut to_runs = Vec::new();
    loop {
        let text = match line::next(&mut input) {
            Ok(Some(text)) => text,
            Ok(None) | Err(_) => return,
        };
        let sent = match line::parse(&text) {
            None => continue,
            Some(Err(error)) => sender.send(Line::Bad(error)),
            Some(Ok(crate::protocol::Request::Control(control))) => {
                // The run may be over, and its receiver dropped.
                if let Some(to_run) = to_runs.last() {
                    let _ = mpsc::Sender::send(to_run, control);
                }
                continue;
            }
            Some(Ok(request)) => {
                let (control_sender, controls) = mpsc::channel();
                if matches!(request, crate::protocol::Request::Run { .. }) {
                    to_runs.push(control_sender);
                }
                sender.send(Line::Request(Box::new(request), controls))
            }
        };
        if sent.is_err() {
            return;
        }
    }
}

fn guarded(
    session: &mut impl RequestHandler,
    request: &crate::protocol::Request,
    controls: &Controls,
) -> Result<Answered, WorkerError> {
    match catch_unwind(AssertUnwindSafe(|| session.answer(request, controls))) {
        Ok(answered) => answered,
        Err(panic) => {
            session.abandon();
            let what = panic
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
                .or_else(|| panic.downcast_ref::<String>().cloned())
                .unwrap_or_default();
            Err(WorkerError::Engine(format!(
                "the engine panicked, the database was closed: {what}"
            )))
        }
    }
}

#[cfg(test)]
mod tests;
