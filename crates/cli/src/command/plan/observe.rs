//! `selenite plan observe`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use selenite::Access;
use selenite_plan::Observation;
use selenite_plan::observe::trace::TraceObserver;
use selenite_plan::observe::{self, SnapshotText, Supplement, by_hand, sql_server};

use super::{USAGE, read, read_trace};
use crate::arguments::plan::{Numbers, ObserveSnapshots, ObservedSource, PlanObserve};
use crate::cli_error::CliError;
use crate::output::print;
use crate::output_files::{OutputFiles, write_file};
use crate::printable;

pub fn run(arguments: &PlanObserve, access: &Access) -> Result<(), CliError> {
    let Some(source) = &arguments.source else {
        return match &arguments.print_query {
            Some(name) => print_query(name),
            None => Err(usage(
                "nothing to observe".to_owned(),
                "name a source, or --print-query NAME",
            )),
        };
    };
    if arguments.print_query.is_some() {
        return Err(usage(
            "--print-query prints a query, and observes nothing".to_owned(),
            "leave out --print-query, or the source",
        ));
    }
    let output = source.output();
    let outputs = OutputFiles::checked([("--output", Some(output))], &source.files(), access)?;
    let observation = observed(source, access)?;
    observation.check_load()?;
    write_file(output, &observation.text()?)?;
    Ok(outputs.show(&printable::lines(&summary_text(&observation, output)))?)
}

fn print_query(name: &str) -> Result<(), CliError> {
    let Some(query) = observe::query(name) else {
        let known = observe::QUERIES.map(|(known, _)| known);
        return Err(usage(
            format!("no query is called {name}"),
            &format!("known: {}", known.join(", ")),
        ));
    };
    Ok(print(query)?)
}

fn observed(source: &ObservedSource, access: &Access) -> Result<Observation, CliError> {
    Ok(match source {
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
            sql_server::observe(&given, &selection, &supplement(&server.snapshots))?
        }
        ObservedSource::Mariadb(given) => {
            observe::mariadb::observe(&snapshots(&texts(&given.files)?), &supplement(given))?
        }
        ObservedSource::Postgresql(given) => {
            observe::postgresql::observe(&snapshots(&texts(&given.files)?), &supplement(given))?
        }
        ObservedSource::Sqlite(given) => {
            observe::sqlite::observe(&snapshots(&texts(&given.files)?), &supplement(given))?
        }
        ObservedSource::Trace(given) => {
            let (mut observer, mut known) = (TraceObserver::default(), BTreeSet::new());
            for path in &given.files {
                observer.begin_trace(&printable::path(path));
                let end = read_trace(path, access, &mut known, &mut |records| observer.add(records))?;
                observer.end_trace(end.left_over());
            }
            observer.finish(&supplement(given))?
        }
        ObservedSource::Numbers(given) => by_numbers(&given.numbers)?,
    })
}

/// Numbers by hand.
pub fn by_numbers(numbers: &Numbers) -> Result<Observation, CliError> {
    let by_hand = by_hand::ByHand {
        reads: numbers.reads.clone(),
        reads_mb: numbers.reads_mb.clone(),
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
    if output.is_file() {
        text.push_str(&format!("next: selenite plan predict {}", printable::path(output)));
    }
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
