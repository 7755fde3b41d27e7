//! `selenite keygen`: a new identity.

use std::io::IsTerminal;

use crate::arguments::Keygen;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &Keygen) -> Result<(), CliError> {
    let new = selenite_keyring::keygen(selenite::now());
    let Some(path) = &arguments.output else {
        // As age-keygen: the key on standard output, and the recipient on standard error if
        // standard output is redirected.
        if !std::io::stdout().is_terminal() {
            eprintln!("public key: {}", new.recipient);
        }
        return Ok(print(&new.text)?);
    };
    selenite_keyring::write_key_file(path, new.text.as_bytes()).map_err(selenite::EngineError::from)?;
    let mut lines = Lines::default();
    lines.add("identity", printable::path(path));
    lines.add("recipient", new.recipient.clone());
    print(&lines.text())?;
    eprintln!("\nKeep a copy of the identity elsewhere: without it, what is encrypted for it cannot be opened.");
    Ok(())
}
