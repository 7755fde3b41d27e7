//! `selenite follow`.

use std::ffi::OsStr;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use selenite::backup::{self, Backup, CompressionLevel};
use selenite::follow::{Anchoring, Follow, Status, follow, write_anchors};
use selenite::storage::Disk;
use selenite::{Access, AnchorPlace, EngineError, KeyError};
use selenite_keyring::check_trusted;

use crate::cli_error::CliError;
use crate::lines::{bytes, counted, elapsed};
use crate::meter::Meter;
use crate::output::{note, print};
use crate::{arguments, destination, printable};

pub fn run(arguments: &arguments::follow::Follow, access: &Access) -> Result<(), CliError> {
    let place = arguments.anchor_to.clone().map(AnchorPlace::parse).transpose();
    let place = place.map_err(|error| EngineError::Usage {
        what: format!("--anchor-to: {error}"),
        next: "see selenite follow --help".to_owned(),
    })?;
    let anchoring = place.map(|place| Anchoring {
        place,
        every: arguments.anchor_interval,
        accept_older: arguments.accept_older,
        is_first: arguments.first_anchor,
    });
    if let Some(AnchorPlace::File(file)) = anchoring.as_ref().map(|how| &how.place)
        && file.is_file()
        && let Err(error @ KeyError::Untrusted { .. }) = check_trusted(file)
    {
        note(&format!(
            "warning: {error}; one who can write there can put back an old anchor with an old database"
        ));
    }
    match (&arguments.destination, anchoring) {
        (Some(destination), anchoring) => follow_to(arguments, access, destination, anchoring),
        (None, Some(anchoring)) => only_anchors(arguments, access, anchoring),
        // The command line has either.
        (None, None) => Ok(()),
    }
}

fn only_anchors(arguments: &arguments::follow::Follow, access: &Access, how: Anchoring) -> Result<(), CliError> {
    let meter = Meter::start();
    let mut said = None;
    let mut tell = |_, waits_for: Option<&str>| {
        let waits_for = waits_for.map(ToOwned::to_owned);
        if said != waits_for {
            note(
                &waits_for
                    .as_ref()
                    .map_or_else(|| "writing anchors again".to_owned(), |why| format!("waiting: {why}")),
            );
            said = waits_for;
        }
    };
    let written = write_anchors(
        &Disk,
        &arguments.database,
        access,
        (how, arguments.once),
        &meter.watch(),
        &mut tell,
    );
    meter.finish();
    print(&format!("{} written", counted(written?, "anchor")))?;
    Ok(())
}

fn follow_to(
    arguments: &arguments::follow::Follow,
    access: &Access,
    destination: &OsStr,
    anchoring: Option<Anchoring>,
) -> Result<(), CliError> {
    let destination = destination::open(destination)?;
    let how = Follow {
        lag: arguments.lag,
        renew_every: Duration::from_secs(3600 * u64::from(arguments.renew_hours)),
        log_size_max: u64::from(arguments.max_log_mib) << 20,
        once: arguments.once,
        backup: Backup {
            level: if arguments.no_compress {
                CompressionLevel::None
            } else {
                CompressionLevel::default()
            },
            recipients: backup::recipients(&arguments.recipient)?,
            frugal: true,
            ..Backup::default()
        },
        anchoring,
    };
    let meter = Meter::start();
    let mut reporter = StatusReporter::new(arguments.lag);
    let followed = follow(
        &Disk,
        &arguments.database,
        access,
        how,
        &destination,
        &meter.watch(),
        &mut |status| reporter.report(status),
    );
    meter.finish();
    reporter.end();
    let status = followed?;
    print(&format!("{}\n", last_words(&status)))?;
    Ok(())
}

/// Reports the progress: on a terminal always, otherwise when the state changes, and at intervals.
struct StatusReporter {
    lag: Duration,
    on_terminal: bool,
    is_line_open: bool,
    said: Option<(String, Instant)>,
}

impl StatusReporter {
    fn new(lag: Duration) -> Self {
        Self {
            lag,
            on_terminal: std::io::stderr().is_terminal(),
            is_line_open: false,
            said: None,
        }
    }

    fn report(&mut self, status: &Status) {
        let state = state(status, self.lag);
        let is_new = self
            .said
            .as_ref()
            .is_none_or(|(said, when)| *said != state || when.elapsed() > SAY_AGAIN);
        if self.on_terminal {
            // The escape sequence clears the rest of a longer previous line.
            let mut out = std::io::stderr();
            let _ = write!(out, "\r{}\x1b[K", line(status, &state)).and_then(|()| out.flush());
            self.is_line_open = true;
        } else if is_new {
            note(&line(status, &state));
        }
        if is_new {
            self.said = Some((state, Instant::now()));
        }
    }

    fn end(&mut self) {
        if self.is_line_open {
            say!();
            self.is_line_open = false;
        }
    }
}

/// The current activity, without figures.
fn state(status: &Status, lag: Duration) -> String {
    if let Some(why) = &status.anchors_wait_for {
        return format!("anchors wait: {}", printable::line(why));
    }
    match (&status.waits_for, &status.archive) {
        (Some(why), _) => format!("waiting: {}", printable::line(why)),
        (None, None) => match status.left {
            None => "making a backup".to_owned(),
            Some(why) => format!("making a new backup: {why}"),
        },
        (None, Some(name)) if status.renewal_waits_for.is_some() => {
            let why = status.renewal_waits_for.as_deref().unwrap_or_default();
            format!("following {name}; a new backup is delayed: {}", printable::line(why))
        }
        (None, Some(name)) if status.is_renewing => format!("following {name}, and making a new backup"),
        (None, Some(name)) if status.behind > lag * 2 => format!("following {name}, late"),
        (None, Some(name)) => format!("following {name}"),
    }
}

fn line(status: &Status, state: &str) -> String {
    let (count, size) = status.objects;
    format!(
        "{} behind, {} added ({}), {state}",
        elapsed(status.behind),
        counted(u64::from(count), "object"),
        bytes(size)
    )
}

fn last_words(status: &Status) -> String {
    let Some(name) = &status.archive else {
        let why = status.waits_for.as_deref().map(printable::line);
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        return match status.left {
            None => format!("ended before the first backup was finished{why}"),
            Some(left) => format!("the latest commits were not sent: {left}, and the new backup was not made{why}"),
        };
    };
    let (count, size) = status.objects;
    let added = format!("{} ({})", counted(u64::from(count), "object"), bytes(size));
    let behind = elapsed(status.behind);
    match &status.waits_for {
        None => format!("backup {name}, {added} added: complete up to {behind} ago"),
        Some(why) => format!(
            "backup {name}, {added} added; commits of the last {behind} were not sent: {}",
            printable::line(why)
        ),
    }
}

const SAY_AGAIN: Duration = Duration::from_secs(600);
