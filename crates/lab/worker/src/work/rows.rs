//! Single statements of the scans and statements articles.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rusqlite::Connection;

use super::hummer::{Latency, retry_while_busy};
use super::{Block, Checkpoint, Timed, WorkFigures, checkpoint};
use crate::WorkerError;
use crate::answer::AnswerDigest;
use crate::dataset::{date, statements};
use crate::protocol::Sample;

/// The first query of the scans article.
pub const LIKE: &str = "SELECT * FROM SomeData WHERE SomeText LIKE '%Wibble%'";

/// The second query of the scans article.
pub const EQUAL: &str = "SELECT * FROM SomeData WHERE Id = 100000000";

/// The query of the statements article.
pub const SELECT_ALL: &str = "SELECT code, name, date FROM testtable";

/// Runs a query and reads all rows, `rehearsals` times before the clock starts and once after.
pub fn rehearsed(connection: &Connection, sql: &str, rehearsals: u32, timed: Timed<'_>) -> Result<Sample, WorkerError> {
    for _ in 0..rehearsals {
        query(connection, sql)?;
    }
    timed(&mut || {
        Ok(WorkFigures {
            operations: 1,
            answer: query(connection, sql)?,
            ..WorkFigures::default()
        })
    })
}

fn query(connection: &Connection, sql: &str) -> Result<String, WorkerError> {
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut answer = AnswerDigest::new();
    while let Some(row) = rows.next()? {
        answer.row(row, columns)?;
    }
    Ok(answer.text())
}

/// Inserts rows, one transaction each, then makes a checkpoint in process 0.
pub fn insert(connection: &Connection, count: u64, block: &Block<'_>, timed: Timed<'_>) -> Result<Sample, WorkerError> {
    let mut random = ChaCha8Rng::seed_from_u64(block.seed);
    random.set_stream(u64::from(block.process.index));
    let mut statement = connection.prepare(statements::INSERT)?;
    let mut latency = Latency::new()?;
    timed(&mut || {
        let mut retries = 0;
        for _ in 0..count {
            let value = date(&mut random);
            latency.time(|| retry_while_busy(&mut retries, || Ok(statement.execute([&value])?)))?;
        }
        let checkpoint = if block.process.index == 0 {
            checkpoint(connection)?
        } else {
            Checkpoint::default()
        };
        Ok(WorkFigures {
            operations: count,
            retries,
            answer: format!("{count} inserted"),
            checkpoint,
            latencies: [("insert".to_owned(), latency.encode()?)].into(),
            ..WorkFigures::default()
        })
    })
}

/// Changes the name of every row in one statement, then makes a checkpoint.
///
/// SQLite does not write an unchanged row, so the new name differs from that of the first row.
pub fn update_all(connection: &Connection, seed: u64, timed: Timed<'_>) -> Result<Sample, WorkerError> {
    let first = connection.query_row("SELECT name FROM testtable LIMIT 1", [], |row| {
        row.get::<_, Option<String>>(0)
    });
    let first = match first {
        Ok(name) => name.unwrap_or_default(),
        Err(rusqlite::Error::QueryReturnedNoRows) => String::new(),
        Err(error) => return Err(error.into()),
    };
    let name = [seed, seed.wrapping_add(1)]
        .map(|number| format!("{:25}", format!("SQL Server {:08x}", number & 0xffff_ffff)))
        .into_iter()
        .find(|name| *name != first)
        .unwrap_or_default();
    timed(&mut || {
        let count = connection.execute("UPDATE testtable SET name = ?1", [&name])?;
        Ok(WorkFigures {
            operations: 1,
            answer: format!("{count} updated to {}", name.trim_end()),
            checkpoint: checkpoint(connection)?,
            ..WorkFigures::default()
        })
    })
}

/// SQLite's own check, whose result must be ok.
pub fn check(connection: &Connection, pragma: &str, timed: Timed<'_>) -> Result<Sample, WorkerError> {
    timed(&mut || {
        let said: String = connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?;
        if said != "ok" {
            return Err(WorkerError::Wrong(format!("{pragma}: {said}")));
        }
        Ok(WorkFigures {
            operations: 1,
            answer: said,
            ..WorkFigures::default()
        })
    })
}
