//! Standard output, and notes on standard error.

use std::io::{self, BufWriter, StdoutLock, Write};

use selenite::EngineError;
use serde_json::Value;

use crate::printable;

/// Writes a line to standard error. If it has no reader any more, the command goes on, where `eprintln!` panics.
macro_rules! say {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

/// Standard output, buffered.
pub struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    /// Locks standard output for the lifetime of the value.
    pub fn take() -> Self {
        Self(BufWriter::new(io::stdout().lock()))
    }

    /// Writes a text and a line feed.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())?;
        self.0.write_all(b"\n")
    }

    /// Writes out what was buffered.
    pub fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    /// Flushes the buffer.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()
    }

    /// Converts an error of writing to it.
    pub fn error(source: io::Error) -> EngineError {
        EngineError::Io {
            verb: "write",
            path: "standard output".into(),
            source,
        }
    }
}

/// Writes JSON to standard output, in one line.
pub fn print_json(value: &Value) -> io::Result<()> {
    print(&printable::json(value))
}

/// Writes one line to standard error; control characters in names are escaped.
pub fn note(text: &str) {
    say!("{}", printable::line(text));
}

/// Writes a text to standard output. The caller has made it printable.
pub fn print(text: &str) -> io::Result<()> {
    let mut output = Output::take();
    output.line(text.trim_end_matches('\n'))?;
    output.finish()
}
