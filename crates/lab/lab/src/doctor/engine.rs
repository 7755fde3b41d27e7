//! Checks of the engines.

use std::time::Duration;

use selenite_doctor::Check;
use selenite_worker::protocol::Hello;

use crate::engines::{Engines, OWN_ENGINES, hello};

/// Checks that the worker of every available engine answers. A study cannot run without the
/// program's own engines.
#[must_use]
pub fn engines(engines: &Engines) -> Vec<Check> {
    engines.names().iter().map(|engine| check(engines, engine)).collect()
}

fn check(engines: &Engines, engine: &str) -> Check {
    let name = format!("engine {engine}");
    let command = match engines.find(engine, None) {
        Ok(command) => command,
        Err(error) => return Check::advice(&name, error.to_string(), error.advice()),
    };
    match hello(&command, GREETING) {
        // One worker serves both of the program's own engines.
        Ok(hello) if hello.engine != engine && !OWN_ENGINES.contains(&engine) => Check::advice(
            &name,
            format!("{} says that it is {:?}", command.program.display(), hello.engine),
            "name the worker's executable after its engine",
        ),
        Ok(hello) => Check::ok(&name, describe(&hello)),
        Err(error) if OWN_ENGINES.contains(&engine) => Check::problem(&name, error.to_string(), error.advice()),
        Err(error) => Check::advice(&name, error.to_string(), error.advice()),
    }
}

fn describe(hello: &Hello) -> String {
    let ciphers = match hello.ciphers.as_slice() {
        [] => "no ciphers".to_owned(),
        ciphers => format!("ciphers {}", ciphers.join(" ")),
    };
    let masking = if hello.without_aes.is_empty() {
        "can't mask"
    } else {
        "can mask"
    };
    let sqlite = match hello.sqlite_version.as_str() {
        "" => String::new(),
        version => format!(", SQLite {version}"),
    };
    format!("{}{sqlite}, {ciphers}; {masking} AES instructions", hello.library)
}

/// A worker answers in milliseconds; 10 s allow for a busy machine.
const GREETING: Duration = Duration::from_secs(10);
