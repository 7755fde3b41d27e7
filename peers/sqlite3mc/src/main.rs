//! The worker with SQLite3 Multiple Ciphers in it.
#![forbid(unsafe_code)]

mod multiple_ciphers;

use std::process::ExitCode;

fn main() -> ExitCode {
    selenite_worker::serve(&multiple_ciphers::MultipleCiphers)
}
