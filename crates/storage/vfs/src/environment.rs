//! The environment variables that this process uses.
//!
//! - nothing-when-elevated: in a process with elevated rights, the variables were chosen by the
//!   user that started it and not by the owner of the program: all of them are ignored, as in
//!   secure_getenv(3). The folders named by HOME and XDG_CONFIG_HOME are not searched either.

use std::ffi::OsString;

use selenite_keyring::{Config, KeyError};

use crate::ffi::is_elevated;

/// A variable, unless the process has elevated rights.
pub fn variable(name: &str) -> Option<OsString> {
    believed(is_elevated(), name)
}

/// The configuration, read again: a program may set its environment after it loaded the extension.
///
/// # Errors
/// Those of the keyring.
pub fn load_config() -> Result<Config, KeyError> {
    config_of(is_elevated())
}

fn believed(is_elevated: bool, name: &str) -> Option<OsString> {
    if is_elevated { None } else { std::env::var_os(name) }
}

fn config_of(is_elevated: bool) -> Result<Config, KeyError> {
    if is_elevated {
        return Ok(Config::elevated());
    }
    Config::load(&variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_elevated_rights_has_no_variables_and_no_configuration() {
        // PATH is set wherever tests run.
        assert!(believed(false, "PATH").is_some());
        assert_eq!(believed(true, "PATH"), None);
        let config = config_of(true).unwrap();
        assert!(config.is_elevated());
        assert_eq!(
            (config.identity(), config.keyring_path(), config.state_folder()),
            (None, None, None)
        );
        assert!(!is_elevated(), "the tests run with the rights of who started them");
    }
}
