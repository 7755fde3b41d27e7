//! `selenite reencrypt --offline`.

use selenite::offline::{Offline, offline};
use selenite::storage::Disk;
use selenite::{Access, EngineError, Suite};

use crate::arguments::Reencrypt;
use crate::cli_error::CliError;
use crate::lines::{Lines, bytes, counted, elapsed};
use crate::meter::Meter;
use crate::output::print;
use crate::printable;

pub fn run(arguments: &Reencrypt, access: &Access) -> Result<(), CliError> {
    if arguments.cipher == Some(Suite::None) {
        return Err(EngineError::Usage {
            what: "the suite NONE encrypts nothing".to_owned(),
            next: "choose another suite, or use --off".to_owned(),
        }
        .into());
    }
    let suite = match (arguments.cipher, arguments.on, arguments.off) {
        (Some(suite), _, _) => Some(suite),
        (None, true, _) => Some(Suite::DEFAULT),
        (None, false, true) => Some(Suite::None),
        (None, false, false) => None,
    };
    let how = Offline {
        suite,
        ..Offline::default()
    };
    let meter = Meter::start();
    let done = offline(&Disk, &arguments.database, access, &how, &meter.watch());
    meter.finish();
    if matches!(done, Err(EngineError::Interrupted)) {
        say!("The partial copy is kept: the same command continues from there.");
    }
    let done = done?;
    let mut lines = Lines::default();
    lines.add("database", printable::path(&arguments.database));
    lines.add(
        "suite",
        format!("{}, key epoch {}; the old key was destroyed", done.suite, done.epoch),
    );
    lines.add(
        "pages",
        format!("{}: every page verified", counted(done.page_count.into(), "page")),
    );
    lines.add("size", bytes(done.size));
    if done.taken_over > 0 {
        lines.add(
            "taken over",
            format!("{}, from an interrupted run", bytes(done.taken_over)),
        );
    }
    lines.add("took", elapsed(done.elapsed));
    lines.add_all("removed", done.removed.iter().map(|path| printable::path(path)));
    lines.add_all("not notified", done.not_retired.clone());
    lines.add_all("not kept", done.not_kept.clone());
    print(&lines.text())?;
    if done.suite == Suite::None {
        say!(
            "\nThe file still needs the extension: selenite decrypt makes a plain SQLite database.\n\
             Applications need plain=allow in the URI, or SELENITE_PLAIN=allow, from now on."
        );
    }
    Ok(())
}
