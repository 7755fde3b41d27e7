//! The smallest worker: stock SQLite.
//!
//! `echo '{"do":"hello","protocol":5}' | cargo run -p selenite-worker --example stock`

use std::process::ExitCode;

fn main() -> ExitCode {
    selenite_worker::serve(&selenite_worker::stock::Stock)
}
