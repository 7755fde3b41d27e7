//! `selenite serve`: SQL Server's clients on encrypted databases.

use std::io;
use std::sync::Arc;

use selenite_engine::Access;
use selenite_server::data::Hall;
use selenite_server::{Announcement, Log, Server, Settings, SqlFront};

use crate::arguments::serve::Serve;
use crate::complaint::Complaint;
use crate::output::{note, print};
use crate::{interrupt, printable};

pub fn run(arguments: &Serve, access: &Access) -> Result<(), Complaint> {
    let file = match &arguments.config {
        Some(path) => Settings::read(path)?,
        None => Settings::default(),
    };
    let mut settings = arguments.settings().or(file);
    if access.identity.is_some() {
        settings.identity = None;
    }
    let mut config = settings.config(access.clone())?;
    config.log = Log::new(note);
    // Before anything runs: a signal that comes meanwhile is not lost.
    let signal = interrupt::signal()?;
    let front = Arc::new(SqlFront::new(Arc::new(Hall::default())));
    let running = Server::start(config, &mut announce, |_| Ok(front))?;
    print(&format!("listening on {}", running.address()))?;
    signal.wait();
    running.stop();
    Ok(())
}

fn announce(announcement: Announcement<'_>) -> io::Result<()> {
    match announcement {
        Announcement::Password(password) => return print(&format!("password: {password}")),
        Announcement::Identity { path, is_new } => {
            note(&format!("identity: {}", printable::path(path)));
            if is_new {
                note("keep a copy of the identity elsewhere: without it nobody opens what the server stores");
            }
        }
        Announcement::Certificate { path, fingerprint, .. } => {
            let digits: String = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
            note(&format!("certificate: {} (SHA-256 {digits})", printable::path(path)));
        }
        Announcement::NotLoopback(address) => {
            note(&format!("warning: other machines can reach {address}"));
        }
        Announcement::InClear(_) => {
            note("warning: clients may send passwords and data in clear: see --encryption");
        }
    }
    Ok(())
}
