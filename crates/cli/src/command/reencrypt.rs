//! `selenite reencrypt`.

use std::time::Duration;

use selenite::reencrypt::{self, Goal, Reencrypt, Reencrypted, Report};
use selenite::storage::Disk;
use selenite::{Access, EngineError, Suite, utc};
use selenite_keyring::shell_word;
use serde_json::json;

use crate::arguments;
use crate::cli_error::CliError;
use crate::lines::{Lines, bytes, counted, elapsed};
use crate::meter::Meter;
use crate::output::{print, print_json};
use crate::printable;

pub fn run(arguments: &arguments::Reencrypt, access: &Access) -> Result<(), CliError> {
    let path = &arguments.database;
    if arguments.offline {
        return super::reencrypt_offline::run(arguments, access);
    }
    if arguments.status {
        return status(arguments, access);
    }
    if arguments.pause {
        let status = selenite::status(&Disk, path, access)?;
        let is_steady = status.sealed.is_none_or(|sealed| sealed.state_word() == "steady");
        let other = reencrypt::report(&Disk, path)?;
        if other.as_ref().is_some_and(|other| other.is_offline) {
            return Err(EngineError::Usage {
                what: format!("{}: an offline re-encryption is running", path.display()),
                next: "stop that process; the same command continues from there".to_owned(),
            }
            .into());
        }
        if is_steady && other.is_none() {
            return Err(EngineError::Usage {
                what: format!("{}: no re-encryption is in progress", path.display()),
                next: "nothing to pause".to_owned(),
            }
            .into());
        }
        reencrypt::pause(&Disk, path)?;
        return Ok(print("paused: continue with --resume\n")?);
    }
    if arguments.resume {
        let was_paused = reencrypt::resume(&Disk, path)?;
        if let Some(other) = reencrypt::report(&Disk, path)?.filter(|_| was_paused) {
            return Ok(print(&format!("process {} continues\n", other.pid))?);
        }
    }
    let how = Reencrypt {
        goal: goal(arguments),
        rate_max: arguments.max_rate,
        lock_max: arguments.max_lock,
        ..Reencrypt::default()
    };
    if how.goal == Goal::Off {
        say!(
            "The file still needs the extension afterwards: selenite decrypt makes a plain SQLite \
                database.\nApplications need plain=allow in the URI, or SELENITE_PLAIN=allow, when it is \
                done."
        );
    }
    if reencrypt::is_paused(&Disk, path) {
        say!(
            "Paused until selenite reencrypt {} --resume.",
            printable::line(&shell_word(path))
        );
    }
    let meter = Meter::start();
    let done = reencrypt::reencrypt(&Disk, path, access, &how, &meter.watch());
    meter.finish();
    Ok(print(&text(&done?))?)
}

fn goal(arguments: &arguments::Reencrypt) -> Goal {
    match (arguments.cipher, arguments.on) {
        (Some(suite), _) => Goal::Suite(suite),
        (None, true) => Goal::Suite(Suite::DEFAULT),
        (None, false) if arguments.off => Goal::Off,
        (None, false) if arguments.new_key => Goal::NewKey,
        (None, false) => Goal::GoOn,
    }
}

pub fn text(done: &Reencrypted) -> String {
    let mut lines = Lines::default();
    lines.add("database", printable::path(&done.path));
    lines.add(
        "suite",
        format!("{}, key epoch {}; the old key was destroyed", done.suite, done.epoch),
    );
    if let Some(since) = done.begun {
        lines.add(
            "continued",
            format!("an earlier re-encryption; its data key was made {}", utc(since)),
        );
    }
    let pages = counted(done.page_count, "page");
    let batches = counted(done.batch_count, "transaction");
    lines.add("re-encrypted", format!("{pages}, {}, in {batches}", bytes(done.size)));
    lines.add(
        "write lock",
        format!(
            "held for {} at most by 99 % of batches, without syncs (limit {})",
            elapsed(done.lock_p99),
            elapsed(done.lock_max)
        ),
    );
    lines.add(
        "final check",
        format!("held the write lock for {}", elapsed(done.last_look)),
    );
    lines.add("took", elapsed(done.elapsed));
    lines.text()
}

fn status(arguments: &arguments::Reencrypt, access: &Access) -> Result<(), CliError> {
    let path = &arguments.database;
    let report = reencrypt::report(&Disk, path)?;
    let is_paused = reencrypt::is_paused(&Disk, path);
    let status = selenite::status(&Disk, path, access)?;
    let state = status
        .sealed
        .as_ref()
        .map_or("not encrypted", |sealed| sealed.state_word());
    let (cursor, page_count) = status
        .sealed
        .as_ref()
        .map_or((0, 0), |sealed| (sealed.cursor, sealed.page_count));
    if arguments.json {
        let running = report.as_ref().map(|report| {
            json!({
                "pid": report.pid, "since": report.since, "what": report.what, "waiting": report.waiting,
                "waiting_since": report.waiting_since,
                "done": report.done, "total": report.total, "bytes_per_second": report.rate,
                "lock_p99_us": report.lock_p99,
            })
        });
        let answer = json!({
            "database": path.to_string_lossy(), "state": state, "pages_done": cursor, "pages": page_count, "paused": is_paused,
            "running": running,
        });
        return Ok(print_json(&answer)?);
    }
    let mut lines = Lines::default();
    lines.add("database", printable::path(path));
    lines.add("state", state);
    if cursor > 0 {
        lines.add("on disk", format!("up to page {cursor} of {page_count}"));
    }
    match &report {
        Some(report) => running(&mut lines, report),
        None => lines.add("running", "no process"),
    }
    if is_paused {
        lines.add("paused", "yes: continue with --resume");
    }
    Ok(print(&lines.text())?)
}

fn running(lines: &mut Lines, report: &Report) {
    lines.add(
        "running",
        format!("process {}, since {}", report.pid, utc(report.since)),
    );
    lines.add("what", report.what.clone());
    let done = report.done.min(report.total);
    let percent = u128::from(done) * 100 / u128::from(report.total.max(1));
    lines.add(
        "done",
        format!("{percent} %: {} of {}", bytes(done), bytes(report.total)),
    );
    let left = (report.total - done).checked_div(report.rate);
    let left = left.map_or(String::new(), |left| format!(", about {left} s left"));
    lines.add("rate", format!("{} per second{left}", bytes(report.rate)));
    lines.add(
        "write lock",
        format!(
            "held for {} at most by 99 % of batches, without syncs",
            elapsed(Duration::from_micros(report.lock_p99))
        ),
    );
    if !report.waiting.is_empty() {
        let now = format!("{}, since {}", report.waiting, utc(report.waiting_since));
        lines.add("now", now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(report: &Report) -> String {
        let mut lines = Lines::default();
        running(&mut lines, report);
        lines.text()
    }

    /// Clocks may be wrong, and files may contain any value: arithmetic on them must not overflow.
    #[test]
    fn whatever_a_report_says_can_be_shown() {
        let all = Report {
            pid: u32::MAX,
            since: u64::MAX,
            is_offline: false,
            what: "x".to_owned(),
            waiting: "waiting for writers".to_owned(),
            waiting_since: 1,
            done: u64::MAX,
            total: 10,
            rate: u64::MAX,
            lock_p99: u64::MAX,
        };
        let text = shown(&all);
        assert!(text.contains("100 %"), "{text}");
        assert!(
            text.contains("waiting for writers, since 1970-01-01T00:00:01Z"),
            "{text}"
        );
        let text = shown(&Report {
            done: 0,
            total: u64::MAX,
            rate: 0,
            ..all
        });
        assert!(text.contains("0 %") && !text.contains("left"), "{text}");
    }
}
