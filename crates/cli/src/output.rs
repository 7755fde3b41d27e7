//! Standard output.

use std::io::{self, BufWriter, StdoutLock, Write};

use selenite_engine::EngineError;

/// Standard output, with room for a few lines before they are written.
pub struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    /// Takes it, for as long as the value lives.
    pub fn take() -> Self {
        Self(BufWriter::new(io::stdout().lock()))
    }

    /// Writes a text and a line's end.
    pub fn line(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())?;
        self.0.write_all(b"\n")
    }

    /// Has everything written.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }

    /// An error of writing to it.
    pub fn error(source: io::Error) -> EngineError {
        EngineError::Io {
            verb: "write",
            path: "standard output".into(),
            source,
        }
    }
}

/// Writes one text to standard output.
pub fn print(text: &str) -> io::Result<()> {
    let mut output = Output::take();
    output.line(text.trim_end_matches('\n'))?;
    output.finish()
}
