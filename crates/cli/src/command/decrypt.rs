//! `selenite decrypt`.

use std::ffi::OsStr;

use selenite::storage::Disk;
use selenite::{Access, EngineError, OnlineLimits, decrypt_online};

use super::encrypt::{add_online, json, name, show, show_online, target};
use crate::arguments::Decrypt;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::meter::Meter;
use crate::output::{print, print_json};

pub fn run(arguments: &Decrypt, access: &Access) -> Result<(), CliError> {
    let database = &arguments.database;
    let confirmed = arguments.confirm.as_deref().map(OsStr::new);
    if arguments.online && (confirmed.is_none() || confirmed != database.file_name()) {
        return Err(CliError::Engine(EngineError::Usage {
            what: "--confirm is not the name of the database's file".to_owned(),
            next: "name it once more: others go on unencrypted".to_owned(),
        }));
    }
    let meter = Meter::start();
    let watch = meter.watch();
    let limits = OnlineLimits {
        lock_max: arguments.max_lock,
        ignores_unseen: arguments.ignore_unseen,
    };
    let done = if arguments.online {
        decrypt_online(&Disk, database, access, limits, &watch).map(|done| (done.outcome, Some(done.online)))
    } else {
        let target = target(arguments.to.as_deref());
        selenite::decrypt(&Disk, database, access, &target, &watch).map(|outcome| (outcome, None))
    };
    meter.finish();
    let (outcome, online) = done?;
    if arguments.json {
        let mut json = json(database, &outcome, None);
        add_online(&mut json, online.as_ref());
        return Ok(print_json(&json)?);
    }
    let mut lines = Lines::default();
    lines.add("decrypted", name(&arguments.database, arguments.to.as_deref()));
    show(&mut lines, &outcome, "every value compared, every page read again");
    show_online(&mut lines, online.as_ref());
    Ok(print(&lines.text())?)
}
