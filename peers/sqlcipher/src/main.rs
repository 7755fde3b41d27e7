//! The worker with SQLCipher in it.
#![forbid(unsafe_code)]

mod sqlcipher;

use std::process::ExitCode;

fn main() -> ExitCode {
    selenite_worker::serve(&sqlcipher::SqlCipher)
}
