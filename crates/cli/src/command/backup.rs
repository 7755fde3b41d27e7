//! `selenite backup`.

use std::path::Path;

use selenite::Access;
use selenite::backup::{self, Backup, CompressionLevel, Report};
use selenite::storage::Disk;
use selenite_backup::{Destination, StoreErrorKind};
use serde_json::{Value, json};

use crate::arguments;
use crate::cli_error::CliError;
use crate::destination;
use crate::lines::{Lines, bytes, count, counted, elapsed};
use crate::meter::Meter;
use crate::output::{note, print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::backup::Backup, access: &Access) -> Result<(), CliError> {
    let destination = destination::open(&arguments.destination)?;
    let how = Backup {
        level: if arguments.no_compress {
            CompressionLevel::None
        } else {
            CompressionLevel::Zstd(arguments.level)
        },
        recipients: backup::recipients(&arguments.recipient)?,
        incremental: arguments.incremental,
        resume: arguments.resume,
        skip_bad: arguments.skip_bad,
        digest: arguments.digest,
        verify: arguments.verify,
        frugal: false,
    };
    // A typing error in the destination creates a new folder, so the creation is reported.
    let is_new = is_missing(destination.as_ref());
    let meter = Meter::start();
    let done = backup::backup(&Disk, &arguments.database, access, how, &destination, &meter.watch());
    meter.finish();
    if is_new && destination.check_place().is_ok() {
        note(&format!("created the folder {}", destination.place()));
    }
    let report = done.map_err(|error| CliError::of(error, || STOPPED.to_owned()))?;
    if arguments.json {
        print_json(&json(&arguments.database, &report))?;
    } else {
        print(&text(&arguments.database, destination.as_ref(), &report))?;
    }
    report_missing_pages(&report)
}

fn is_missing(destination: &dyn Destination) -> bool {
    let looked = destination.check_place();
    looked.is_err_and(|error| error.kind == StoreErrorKind::Missing)
}

fn text(database: &Path, destination: &dyn Destination, report: &Report) -> String {
    let page_size = u64::from(report.page_size);
    let mut lines = Lines::default();
    lines.add("backed up", printable::path(database));
    lines.add("to", printable::line(&destination.place()));
    lines.add("backup", report.name.as_str());
    let kind = report
        .base
        .as_ref()
        .map_or_else(|| "full".to_owned(), |base| format!("incremental, based on {base}"));
    let resumed = if report.resumed {
        "; continued an interrupted one"
    } else {
        ""
    };
    lines.add("kind", format!("{kind}{resumed}"));
    let whole = bytes(u64::from(report.page_count) * page_size);
    lines.add(
        "pages",
        format!(
            "{} of {} ({whole})",
            count(report.sent_count),
            count(u64::from(report.page_count))
        ),
    );
    let traffic = report.traffic;
    let retries = if traffic.retries > 0 {
        format!(", {} again", count(traffic.retries))
    } else {
        String::new()
    };
    let requests = counted(traffic.requests, "request");
    lines.add("sent", format!("{} in {requests}{retries}", bytes(traffic.sent)));
    lines.add("took", elapsed(report.elapsed));
    lines.text()
}

fn json(database: &Path, report: &Report) -> Value {
    json!({
        "database": database.display().to_string(),
        "backup": report.name.as_str(),
        "resumed": report.resumed,
        "base": report.base.as_ref().map(ToString::to_string),
        "page_size": report.page_size,
        "pages": report.page_count,
        "pages_sent": report.sent_count,
        "pages_unchanged": report.same_count,
        "pages_missing": report.missing,
        "digest": report.digest.map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        "bytes_sent": report.traffic.sent,
        "bytes_received": report.traffic.received,
        "requests": report.traffic.requests,
        "retries": report.traffic.retries,
        "seconds": report.elapsed.as_secs_f64(),
    })
}

/// Reports missing pages on standard error, one per line.
fn report_missing_pages(report: &Report) -> Result<(), CliError> {
    if report.missing.is_empty() {
        return Ok(());
    }
    for page_no in report.missing.iter().take(LISTED_MAX) {
        note(&format!("page {page_no} is not authentic and was omitted"));
    }
    let count_of = u64::try_from(report.missing.len()).unwrap_or(u64::MAX);
    Err(CliError::Found {
        what: format!("the backup is complete except for {}", counted(count_of, "page")),
        next: "find out who could write to the file; selenite salvage recovers the readable rows",
    })
}

const LISTED_MAX: usize = 100;

const STOPPED: &str = "the backup is incomplete; to continue, repeat the command with --resume";
