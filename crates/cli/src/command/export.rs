//! `selenite export`.

use selenite::Access;
use selenite::export::{Export, export};
use selenite::storage::Disk;

use super::encrypt::{json, show};
use super::other_format::parse_or;
use crate::arguments;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::meter::Meter;
use crate::output::{print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::import::Export, access: &Access) -> Result<(), CliError> {
    let (format, key) = parse_or(&arguments.other, "sqlcipher4")?;
    let how = Export { format, key };
    let meter = Meter::start();
    let paths = (arguments.database.as_path(), arguments.to.as_path());
    let done = export(&Disk, paths, access, &how, &meter.watch());
    meter.finish();
    let (outcome, format) = done?;
    if arguments.json {
        let mut value = json(&arguments.database, &outcome, None);
        value["format"] = format.to_string().into();
        return Ok(print_json(&value)?);
    }
    let mut lines = Lines::default();
    lines.add("exported", printable::path(&arguments.to));
    lines.add("format", format.to_string());
    show(&mut lines, &outcome, "every value compared, every page authenticated");
    Ok(print(&lines.text())?)
}
