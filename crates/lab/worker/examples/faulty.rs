//! A worker with a fault, named by its argument, for the tests of the contract: it corrupts
//! SQLite's results.

use std::io::{self, BufReader, Write};
use std::process::ExitCode;

use selenite_worker::conversation::converse;
use selenite_worker::stock::Stock;

fn main() -> ExitCode {
    let fault = std::env::args().nth(1).unwrap_or_default();
    let mut output = Spoiled { fault };
    match converse(&Stock, BufReader::new(io::stdin()), &mut output) {
        Ok(()) => ExitCode::from(u8::from(output.fault == "exit")),
        Err(_) => ExitCode::FAILURE,
    }
}

struct Spoiled {
    fault: String,
}

impl Write for Spoiled {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes).into_owned();
        let spoiled = match self.fault.as_str() {
            "digest" => line.replace("\"digest\":\"", "\"digest\":\"0"),
            "answer" => line.replace("\"answer\":\"", "\"answer\":\"0"),
            "encrypted" => line.replace("\"encrypted\":false", "\"encrypted\":true"),
            "protocol" => line.replace("\"protocol\":5", "\"protocol\":9"),
            "rubbish" => format!("here comes an answer\n{line}"),
            "no-error" if line.starts_with("{\"error\"") => "{\"ok\":{}}\n".to_owned(),
            _ => line,
        };
        io::stdout().write_all(spoiled.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}
