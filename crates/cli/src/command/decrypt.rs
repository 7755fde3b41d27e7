//! `selenite decrypt`.

use selenite::Access;
use selenite::storage::Disk;

use super::encrypt::{json, name, show, target};
use crate::arguments::Decrypt;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::meter::Meter;
use crate::output::{print, print_json};

pub fn run(arguments: &Decrypt, access: &Access) -> Result<(), CliError> {
    let meter = Meter::start();
    let target = target(arguments.to.as_deref());
    let done = selenite::decrypt(&Disk, &arguments.database, access, &target, &meter.watch());
    meter.finish();
    let outcome = done?;
    if arguments.json {
        return Ok(print_json(&json(&arguments.database, &outcome, None))?);
    }
    let mut lines = Lines::default();
    lines.add("decrypted", name(&arguments.database, arguments.to.as_deref()));
    show(&mut lines, &outcome, "every value compared, every page read again");
    Ok(print(&lines.text())?)
}
