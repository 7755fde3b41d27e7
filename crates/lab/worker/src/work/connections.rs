//! Work of several connections: concurrently in one process, or one after the other.

use std::thread;

use rusqlite::Connection;

use super::{Timed, WorkFigures};
use crate::answer::AnswerDigest;
use crate::protocol::{DatabaseSpec, Sample};
use crate::{Engine, WorkerError};

/// Reads every page of SomeData with little work per row.
const READ_ALL: &str = "SELECT count(*), sum(Id) FROM SomeData";

/// The first query of an application that knows nothing about the database yet.
const FIRST: &str = "SELECT type, name, sql FROM sqlite_schema";

/// Reads the whole table in several connections concurrently, each with a page cache and a thread
/// of its own.
///
/// They are opened before the clock starts; [`open`] measures the cost of that.
pub fn readers(
    engine: &dyn Engine,
    database: &DatabaseSpec,
    count: u32,
    timed: Timed<'_>,
) -> Result<Sample, WorkerError> {
    if !(1..=CONNECTIONS_MAX).contains(&count) {
        return Err(WorkerError::Refused(format!(
            "from 1 to {CONNECTIONS_MAX} connections, not {count}"
        )));
    }
    let opened: Vec<Connection> = (0..count).map(|_| engine.open(database)).collect::<Result<_, _>>()?;
    let mut opened = Some(opened);
    timed(&mut || {
        let answers = together(opened.take().unwrap_or_default())?;
        let first = answers.first().cloned().unwrap_or_default();
        if answers.iter().any(|answer| *answer != first) {
            return Err(WorkerError::Wrong(format!(
                "connections that read the same answer differently: {answers:?}"
            )));
        }
        Ok(WorkFigures {
            operations: u64::from(count),
            answer: format!("{count} times {first}"),
            ..WorkFigures::default()
        })
    })
}

fn together(connections: Vec<Connection>) -> Result<Vec<String>, WorkerError> {
    thread::scope(|scope| {
        let threads: Vec<_> = connections
            .into_iter()
            .map(|connection| scope.spawn(move || asked(connection, READ_ALL)))
            .collect();
        let gone = || Err(WorkerError::Engine("a thread that read panicked".to_owned()));
        let answers = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| gone()));
        answers.collect()
    })
}

/// Opens the database, runs a query and closes it, `times` times.
pub fn open(engine: &dyn Engine, database: &DatabaseSpec, times: u64, timed: Timed<'_>) -> Result<Sample, WorkerError> {
    timed(&mut || {
        let mut answer = String::new();
        for _ in 0..times {
            answer = asked(engine.connect(database)?, FIRST)?;
        }
        Ok(WorkFigures {
            operations: times,
            answer,
            ..WorkFigures::default()
        })
    })
}

/// The result of a query on a connection, which is then closed.
fn asked(connection: Connection, sql: &str) -> Result<String, WorkerError> {
    let answer = {
        let mut statement = connection.prepare(sql)?;
        let columns = statement.column_count();
        let mut rows = statement.query([])?;
        let mut answer = AnswerDigest::new();
        while let Some(row) = rows.next()? {
            answer.row(row, columns)?;
        }
        answer.text()
    };
    connection.close().map_err(|(_, error)| error)?;
    Ok(answer)
}

/// With more threads, the measurement would be that of the scheduler.
pub const CONNECTIONS_MAX: u32 = 256;
