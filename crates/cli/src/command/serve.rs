//! `selenite serve`: encrypted databases for SQL Server's clients.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::Mode;
use rustix::process::umask;
use selenite::Access;
use selenite_server::DatabaseRegistry;
use selenite_server::{Announcement, Log, Server, Settings, SqlFront, process};

use crate::arguments::serve::Serve;
use crate::cli_error::CliError;
use crate::output::{note, print};
use crate::{printable, signal};

pub fn run(arguments: &Serve, access: &Access) -> Result<(), CliError> {
    // Before the first use of SQLite: otherwise the memory limit of a session would not apply to its memory.
    selenite::count_memory()?;
    // Before a key is read. Whatever the caller's umask, files of the server are accessible only to its user.
    process::forbid_core_dumps()?;
    umask(Mode::RWXG | Mode::RWXO);
    let file = match &arguments.config {
        Some(path) => Settings::read(path)?,
        None => Settings::default(),
    };
    let mut settings = arguments.settings().or(file);
    if access.identity.is_some() {
        settings.identity = None;
    }
    if settings.lock_memory == Some(true) {
        process::lock_memory()?;
    }
    let mut config = settings.config(access.clone())?;
    config.log = Log::new(note);
    let verb = if config.data.exists() { "" } else { " (new)" };
    note(&format!("data folder: {}{verb}", printable::path(&config.data)));
    // A start may take long, for example to read an identity from a pipe. A signal ends it like a
    // kill; the next start repairs what it leaves.
    let signal = signal::signal()?;
    let mut announce = |announcement: Announcement<'_>| match (announcement, &settings.password_file) {
        (Announcement::Password(password), Some(path)) => store_password(password, path),
        (announcement, _) => announce(announcement),
    };
    let running = Server::start(config, &mut announce, |_| {
        Ok(Arc::new(SqlFront::new(Arc::new(DatabaseRegistry::default()))))
    })?;
    signal.started();
    print(&format!("listening on {}", running.address()))?;
    signal.wait();
    running.stop();
    Ok(())
}

/// For a service: its standard output is a log, which is kept and which others may read.
fn store_password(password: &str, path: &Path) -> io::Result<()> {
    selenite_keyring::write_key_file(path, format!("{password}\n").as_bytes()).map_err(io::Error::other)?;
    note(&format!("password of login sa: in {}", printable::path(path)));
    Ok(())
}

fn announce(announcement: Announcement<'_>) -> io::Result<()> {
    match announcement {
        Announcement::Password(password) => return print(&format!("password of login sa: {password}")),
        Announcement::Identity { path, is_new } => {
            note(&format!("identity: {}", printable::path(path)));
            if is_new {
                note("keep a copy of the identity elsewhere: without it, the server's databases cannot be opened");
            }
        }
        Announcement::Certificate { path, fingerprint, .. } => {
            let digits: String = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
            note(&format!("certificate: {} (SHA-256 {digits})", printable::path(path)));
        }
        Announcement::NotLoopback(address) => {
            note(&format!("warning: other machines can reach {address}"));
        }
        Announcement::FewerSessions {
            promised,
            allowed,
            descriptors,
        } => note(&format!(
            "warning: {allowed} sessions instead of {promised}: the process is limited to {descriptors} file descriptors (ulimit -n)"
        )),
        Announcement::InClear(_) => {
            note("warning: clients may send passwords and data unencrypted: see --encryption");
        }
    }
    Ok(())
}
