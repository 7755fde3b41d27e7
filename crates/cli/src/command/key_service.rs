//! `selenite key-service`: key commands (CONFIGURATION, "Key commands") for keys that stay in hardware or in a service.
//!
//! - process-of-its-own: the module or the connection lives in this process, which ends after one key: what crashes,
//!   hangs or forks here does not reach the application, whose key provider limits its time.
//! - unwrapped-is-output-only: an unwrapped key goes to standard output and nowhere else; a message has no byte of it,
//!   and what a module crashes dumps no core.

#[cfg(feature = "s3")]
mod aws_kms;
#[cfg(feature = "s3")]
mod http;
mod pin_guard;
mod pkcs11;
mod pkcs11_uri;
#[cfg(feature = "s3")]
mod vault;

use std::io::{Read, Write};
use std::path::Path;

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use selenite::EngineError;
use selenite_keyring::{Config, Spec, read_trusted, readable_by_others};
use zeroize::Zeroizing;

use crate::arguments::key_service::{KeyService, Service};
use crate::cli_error::CliError;
use crate::output::note;

pub fn run(service: &KeyService) -> Result<(), CliError> {
    // An application that is killed leaves no process that holds its PIN's note. It waits in the thread that started this.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    forbid_core_dumps().map_err(|error| unavailable(format!("core dumps can't be forbidden: {error}"), ""))?;
    let config = Config::load(&|name| std::env::var_os(name)).map_err(EngineError::Key)?;
    match &service.service {
        Service::Pkcs11(arguments) => pkcs11::run(arguments, &config),
        #[cfg(feature = "s3")]
        Service::Vault(arguments) => vault::run(arguments),
        #[cfg(feature = "s3")]
        Service::AwsKms(arguments) => aws_kms::run(arguments),
    }
}

fn forbid_core_dumps() -> rustix::io::Result<()> {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Both: what /proc/sys/kernel/core_pattern pipes dumps to is not bound by the limit.
    setrlimit(Resource::Core, none).and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable))
}

/// The service does not do what was asked for, and will not when it is asked again.
fn refused(what: impl Into<String>, next: &'static str) -> CliError {
    CliError::KeyService {
        what: what.into(),
        next,
        status: 4,
    }
}

/// The service can't be reached, or failed.
fn unavailable(what: impl Into<String>, next: &'static str) -> CliError {
    CliError::KeyService {
        what: what.into(),
        next,
        status: 6,
    }
}

/// The contents of a file that has a secret, which others can't change. Others who can read it are a warning.
pub(super) fn read_secret(path: &Path, size_max: usize) -> Result<Zeroizing<Vec<u8>>, CliError> {
    if readable_by_others(&Spec::Raw(path.to_owned())).is_some() {
        note(&format!(
            "warning: other users can read {}: chmod go= it",
            path.display()
        ));
    }
    read_trusted(path, size_max).map_err(|error| CliError::Engine(EngineError::Key(error)))
}

/// Standard input, up to what a key slot holds.
fn input() -> Result<Zeroizing<Vec<u8>>, CliError> {
    // With its final size, so that no smaller copy is left behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(INPUT_SIZE_MAX + 1));
    std::io::stdin()
        .take(INPUT_SIZE_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unavailable(format!("can't read standard input: {error}"), ""))?;
    if bytes.is_empty() || bytes.len() > INPUT_SIZE_MAX {
        return Err(refused(
            format!("standard input has to be 1 to {INPUT_SIZE_MAX} bytes"),
            "this command is for the configuration file: to try it, use check",
        ));
    }
    Ok(bytes)
}

/// What `wrap` is given: as long as the keys that are put under it.
fn input_to_wrap() -> Result<Zeroizing<Vec<u8>>, CliError> {
    let bytes = input()?;
    if bytes.len() == PLAIN_SIZE {
        return Ok(bytes);
    }
    Err(refused(
        format!("{} bytes to wrap instead of {PLAIN_SIZE}", bytes.len()),
        "this command is for the configuration file: to try it, use check",
    ))
}

fn output(bytes: &[u8]) -> Result<(), CliError> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| unavailable(format!("can't write standard output: {error}"), ""))
}

/// Ids of database and slot, master key.
const PLAIN_SIZE: usize = 64;
/// What a key slot may hold.
const INPUT_SIZE_MAX: usize = 8192;
