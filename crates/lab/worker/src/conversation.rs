//! The loop over standard input and output: a request a line, an answer a line.
//!
//! - answers-only: nothing but answers goes to the output.
//! - every-line-is-answered: whatever a line holds, it is answered, and the conversation goes on: a
//!   request that can't be done is an error in the answer, and so is a panic, after which the
//!   database is closed.
//! - controls-arrive: lines are read while work is under way, so that a `control` reaches it.

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

/// Talks on standard input and output until the other side ends it.
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

/// Who carries requests out.
pub trait RequestHandler {
    /// Does what is asked.
    ///
    /// # Errors
    /// Why it can't be done; the conversation goes on.
    fn answer(&mut self, request: &crate::protocol::Request, controls: &Controls) -> Result<Answered, WorkerError>;

    /// Closes what is open.
    ///
    /// # Errors
    /// Why it could not be closed in peace.
    fn close(&mut self) -> Result<(), WorkerError>;

    /// Lets go of what is open, in whatever state it is.
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

/// Sends on what it reads; a `control` goes to the `run` that was read last.
fn read(mut input: impl BufRead, sender: &mpsc::Sender<Line>) {
    // Kept to the end of the input, which is what a run takes the loss of its sender for.
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
                // No one may be listening any more: the run is over.
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
