//! `selenite keygen`: a new identity.

use std::io::IsTerminal;

use selenite::EngineError;
use zeroize::Zeroizing;

use crate::arguments::Keygen;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &Keygen) -> Result<(), CliError> {
    if selenite::IS_FIPS {
        return raw_key(arguments);
    }
    let new = selenite_keyring::keygen(selenite::now());
    let Some(path) = &arguments.output else {
        // As age-keygen: the key on standard output, and the recipient on standard error if
        // standard output is redirected.
        if !std::io::stdout().is_terminal() {
            say!("public key: {}", new.recipient);
        }
        return Ok(print(&new.text)?);
    };
    selenite_keyring::write_key_file(path, new.text.as_bytes()).map_err(EngineError::from)?;
    let mut lines = Lines::default();
    lines.add("identity", printable::path(path));
    lines.add("recipient", new.recipient.clone());
    print(&lines.text())?;
    say!("\nKeep a copy of the identity elsewhere: without it, what is encrypted for it cannot be opened.");
    Ok(())
}

/// The identity that the FIPS build makes: a raw key from the module's generator.
fn raw_key(arguments: &Keygen) -> Result<(), CliError> {
    let path = arguments.output.as_ref().ok_or_else(|| EngineError::Usage {
        what: "the FIPS build makes a raw key, which is no text".to_owned(),
        next: "name its file: selenite keygen -o key.raw".to_owned(),
    })?;
    let mut key = Zeroizing::new([0; 32]);
    selenite_keyring::os_random(key.as_mut_slice());
    selenite_keyring::write_key_file(path, key.as_slice()).map_err(EngineError::from)?;
    let mut lines = Lines::default();
    lines.add("identity", format!("raw:{}", printable::path(path)));
    print(&lines.text())?;
    say!("\nKeep a copy of the identity elsewhere: without it, what is encrypted for it cannot be opened.");
    Ok(())
}
