//! `selenite import`.

use selenite::import::{Import, import, import_readable};
use selenite::storage::Disk;
use selenite::{Access, Class, EngineError};

use super::encrypt::{json, show};
use super::other_format::{names_raw_key, parse};
use super::salvage::report;
use super::verify::remember;
use crate::arguments;
use crate::cli_error::CliError;
use crate::lines::Lines;
use crate::meter::Meter;
use crate::output::{print, print_json};
use crate::printable;

/// What else may help.
fn advise(error: EngineError, arguments: &arguments::import::Import) -> CliError {
    if matches!(error, EngineError::Refused { .. }) {
        return CliError::Found {
            what: error.to_string(),
            next: "import what can be read by --skip-bad, or restore these pages from a backup",
        };
    }
    let is_raw_key = matches!(error, EngineError::Unopened { .. }) && names_raw_key(&arguments.other);
    if is_raw_key {
        return CliError::Engine(EngineError::Usage {
            what: format!(
                "{}: a raw key in the place of a passphrase",
                arguments.database.display()
            ),
            next: "give the file by --raw-key-file".to_owned(),
        });
    }
    error.into()
}

pub fn run(arguments: &arguments::import::Import, access: &Access) -> Result<(), CliError> {
    let (format, key) = parse(&arguments.other)?;
    let how = Import {
        format,
        key,
        suite: arguments.cipher,
        recipients: arguments.recipient.clone(),
    };
    let meter = Meter::start();
    let paths = (arguments.database.as_path(), arguments.to.as_path());
    let done = import(&Disk, paths, access, &how, &meter.watch());
    if let Err(error) = &done
        && arguments.skip_bad
        && error.class() == Class::Data
    {
        let salvaged = import_readable(&Disk, paths, access, &how, &meter.watch());
        meter.finish();
        return report(&salvaged?, arguments.json);
    }
    meter.finish();
    let imported = done.map_err(|error| advise(error, arguments))?;
    let outcome = &imported.outcome;
    if arguments.json {
        let mut value = json(&arguments.database, outcome, Some(how.suite));
        value["format"] = imported.format.to_string().into();
        value["authenticated"] = imported.is_authenticated.into();
        print_json(&value)?;
    } else {
        let mut lines = Lines::default();
        lines.add("imported", printable::path(&arguments.to));
        lines.add("from", imported.format.to_string());
        lines.add("suite", how.suite.name());
        show(&mut lines, outcome, "every value compared, every page verified");
        lines.add_all("key slots", outcome.slots.iter().map(ToString::to_string));
        print(&lines.text())?;
    }
    if let Some(made) = outcome.authenticated {
        remember(|notes| notes.keep_encrypted(&outcome.path, made));
    }
    if !imported.is_authenticated {
        say!(
            "\nThe old format does not authenticate pages: what was altered in the old database before is in the new one, \
             too."
        );
    }
    Ok(())
}
