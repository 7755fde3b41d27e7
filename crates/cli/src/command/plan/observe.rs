//! `selenite plan observe`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selenite::Access;
use selenite::trace::TraceEnd;
use selenite_plan::Observation;
use selenite_plan::observe::trace::TraceObserver;
use selenite_plan::observe::{self, SnapshotText, Supplement, by_hand, sql_server};

use super::{USAGE, check_output, read, read_trace};
use crate::arguments::plan::{Numbers, ObserveSnapshots, ObservedSource, PlanObserve};
use crate::cli_error::CliError;
use crate::output::{print, write_file};
use crate::printable;

pub fn run(arguments: &PlanObserve, access: &Access) -> Result<(), CliError> {
    if let Some(name) = &arguments.print_query {
        let Some(query) = observe::query(name) else {
            let known = observe::QUERIES.map(|(known, _)| known);
            return Err(usage(
                format!("no query is called {name}"),
                &format!("known: {}", known.join(", ")),
            ));
        };
        return Ok(print(query)?);
    }
    let Some(source) = &arguments.source else {
        return Err(usage(
            "nothing to observe".to_owned(),
            "name a source, or --print-query NAME",
        ));
    };
    let (observation, output) = match source {
        ObservedSource::SqlServer(server) => {
            let selection = sql_server::Selection {
                databases: server.database_id.clone(),
                log_files: server.log_file.clone(),
            };
            let files = texts(&server.snapshots.files)?;
            let connections = texts(&server.connections)?;
            let performance = server.performance.as_deref().map(text).transpose()?;
            let given = sql_server::Texts {
                files: &snapshots(&files),
                performance: performance.as_ref().map(snapshot),
                connections: &snapshots(&connections),
            };
            let observation = sql_server::observe(&given, &selection, &supplement(&server.snapshots))?;
            (observation, &server.snapshots.output)
        }
        ObservedSource::Mariadb(given) => {
            let files = texts(&given.files)?;
            let observation = observe::mariadb::observe(&snapshots(&files), &supplement(given))?;
            (observation, &given.output)
        }
        ObservedSource::Postgresql(given) => {
            let files = texts(&given.files)?;
            let observation = observe::postgresql::observe(&snapshots(&files), &supplement(given))?;
            (observation, &given.output)
        }
        ObservedSource::Sqlite(given) => {
            let files = texts(&given.files)?;
            let observation = observe::sqlite::observe(&snapshots(&files), &supplement(given))?;
            (observation, &given.output)
        }
        ObservedSource::Trace(given) => {
            let (mut observer, mut known) = (TraceObserver::default(), BTreeSet::new());
            for path in &given.files {
                observer.begin_trace();
                let end = read_trace(path, access, &mut known, &mut |records| observer.add(records))?;
                if end == TraceEnd::Cut {
                    observer.cut();
                }
            }
            (observer.finish(&supplement(given))?, &given.output)
        }
        ObservedSource::Numbers(given) => (by_numbers(&given.numbers)?, &given.output),
    };
    check_output(output, &source.files())?;
    write_file(output, &observation.text()?)?;
    Ok(print(&printable::lines(&summary_text(&observation, output)))?)
}

/// Numbers by hand.
pub fn by_numbers(numbers: &Numbers) -> Result<Observation, CliError> {
    let by_hand = by_hand::ByHand {
        reads: numbers
            .reads
            .clone()
            .or_else(|| numbers.reads_mb.map(|mb| format!("{mb}MB/s"))),
        sequential_reads: numbers.sequential_reads.clone(),
        writes: numbers.writes.clone(),
        log: numbers.log.clone(),
        log_writes: numbers.log_writes.clone(),
        commits: numbers.commits.clone(),
        backup: numbers.backup.clone(),
        packets: numbers.packets.clone(),
        packet_size: numbers.packet_size.clone(),
        handshakes: numbers.handshakes.clone(),
        requests: numbers.requests.clone(),
        cores: numbers.cores.clone(),
        busy_cores: numbers.busy_cores.clone(),
        page_size: numbers.page_size.clone(),
        database_size: numbers.database_size.clone(),
    };
    Ok(by_hand::observe(&by_hand)?)
}

/// What was found, a line for each operation.
fn summary_text(observation: &Observation, output: &Path) -> String {
    let intervals = match observation.intervals.len() {
        1 => "one interval".to_owned(),
        count => format!("{count} intervals"),
    };
    let mut text = format!(
        "{}, {intervals} over {:.0} s\n",
        observation.engine.name(),
        observation.seconds()
    );
    for (operation, amount) in &observation.load_per_second().0 {
        let size = match operation.has_size() {
            true => format!(", {:.1} KiB each", amount.mean_kib()),
            false => String::new(),
        };
        text.push_str(&format!(
            "  {:24} {:>12.2} a second{size}\n",
            operation.name(),
            amount.count
        ));
    }
    for note in &observation.notes {
        text.push_str(&format!("note: {}\n", printable::line(note)));
    }
    text.push_str(&format!("next: selenite plan predict {}", printable::path(output)));
    text
}

fn supplement(given: &ObserveSnapshots) -> Supplement {
    Supplement {
        cores: given.cores,
        busy_cores: given.busy_cores,
        ..Supplement::default()
    }
}

fn texts(paths: &[PathBuf]) -> Result<Vec<(String, String)>, CliError> {
    paths.iter().map(|path| text(path)).collect()
}

fn text(path: &Path) -> Result<(String, String), CliError> {
    Ok((path.display().to_string(), read(path)?))
}

fn snapshots(texts: &[(String, String)]) -> Vec<SnapshotText<'_>> {
    texts.iter().map(snapshot).collect()
}

fn snapshot((name, text): &(String, String)) -> SnapshotText<'_> {
    SnapshotText { name, text }
}

fn usage(what: String, next: &str) -> CliError {
    CliError::Lab {
        what,
        next: next.to_owned(),
        status: USAGE,
    }
}
