//! SQLPERF: how large logs are, and clearing what was counted.

use std::path::Path;

use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Affected, Failure};
use selenite_runtime::sqlite::tsql_error;
use selenite_types::{DataType, Value, Width};

use super::{Request, send_rows};
use crate::administration::Administration;
use crate::database::database_connection::DatabaseConnection;
use crate::execution_context::ExecutionContext;
use crate::system_views::real;

impl Administration<'_, '_> {
    pub(super) fn performance(
        &mut self,
        request: &Request,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let (what, clear) = match request.arguments.as_slice() {
            [what] => (what, false),
            [what, clear] if clear.is("CLEAR") => (what, true),
            _ => return Err(request.incorrect()),
        };
        if clear {
            let is_waits = what.is("sys.dm_os_wait_stats") || what.is("dm_os_wait_stats");
            if !is_waits {
                return Err(request.unsupported("of what is not sys.dm_os_wait_stats"));
            }
            self.session.instance.registry().waits().clear();
            return Ok(Affected::Nothing);
        }
        if what.is("LOGSPACE") {
            return self.log_space(execution);
        }
        let known = [
            "IOSTATS",
            "LRUSTATS",
            "NETSTATS",
            "RASTATS",
            "THREADS",
            "UMSSTATS",
            "WAITSTATS",
        ];
        match known.into_iter().find(|known| what.is(known)) {
            Some(known) => Err(request.unsupported(&format!("({known})"))),
            None => Err(request.incorrect()),
        }
    }

    /// One row for each database that has a file. What is used of a log is what the database has not got yet.
    fn log_space(&mut self, execution: &mut ExecutionContext<'_>) -> Result<Affected, Failure> {
        let instance = self.session.instance;
        let directory = self.registry.directory(instance)?;
        let mut rows = Vec::new();
        for record in &directory.databases {
            execution.reply.poll()?;
            let shared = self.registry.database(instance, record)?;
            let Some(path) = shared.path.clone() else { continue };
            if !path.exists() {
                continue;
            }
            let interrupts = self.session.interrupts.clone();
            let Ok(database) = DatabaseConnection::connect(shared, instance, interrupts) else {
                // The log of a database that can't be opened can't be read.
                rows.push(row(&record.name, log_size(&path), None));
                continue;
            };
            database.keep_log_on_close()?;
            let used = used_bytes(&database).map_err(|error| tsql_error(&error))?;
            rows.push(row(&record.name, log_size(&path), Some(used)));
        }
        send_rows(COLUMNS, &rows, execution)
    }
}

impl DatabaseConnection {
    /// Leaves the log as it is if this is the last connection to be closed: it was opened only for this.
    ///
    /// # Errors
    /// SQLite's error.
    pub(super) fn keep_log_on_close(&self) -> Result<(), SqlError> {
        let config = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        match self.connection.set_db_config(config, true) {
            Ok(_) => Ok(()),
            Err(error) => Err(SqlError::new(50823, Ends::Statement, error.to_string())),
        }
    }
}

fn log_size(path: &Path) -> u64 {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    // Without a log there is no file.
    std::fs::metadata(name).map_or(0, |log| log.len())
}

/// Bytes of frames that no checkpoint has copied yet. It copies none itself
/// (sqlite.org/pragma.html#pragma_wal_checkpoint).
fn used_bytes(database: &DatabaseConnection) -> rusqlite::Result<u64> {
    let connection = &database.connection;
    let page_size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
    let (all, copied) = connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| {
        Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
    })?;
    // -1 where there is no log.
    let frames = u64::try_from(all.max(0) - copied.max(0)).unwrap_or(0);
    Ok(frames * (u64::from(page_size) + FRAME_HEADER_SIZE))
}

fn row(name: &str, size: u64, used: Option<u64>) -> Vec<Value> {
    let percent = used.map(|used| if size == 0 { 0.0 } else { 100.0 * part(used, size) });
    vec![
        Value::Text(name.into()),
        Value::Real(real(float(size) / 1_048_576.0)),
        percent.map_or(Value::Null, |percent| Value::Real(real(percent.min(100.0)))),
        Value::Int(0),
    ]
}

fn part(part: u64, whole: u64) -> f64 {
    float(part) / float(whole)
}

/// Sizes of files are below 2^53.
fn float(number: u64) -> f64 {
    let high = u32::try_from(number >> 32).unwrap_or(u32::MAX);
    let low = u32::try_from(number & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    f64::from(high) * 4_294_967_296.0 + f64::from(low)
}

/// sqlite.org/fileformat.html, 4.1.
const FRAME_HEADER_SIZE: u64 = 24;
/// Status is 0 in SQL Server, too.
const COLUMNS: &[(&str, DataType)] = &[
    ("Database Name", DataType::NVarChar(Width::Limited(128))),
    ("Log Size (MB)", DataType::Real),
    ("Log Space Used (%)", DataType::Real),
    ("Status", DataType::Int),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_megabytes_and_percent() {
        let row = row("d", 3 << 20, Some(1 << 20));
        assert_eq!(row[1], Value::Real(3.0));
        assert_eq!(row[2], Value::Real(33.333_332));
        assert_eq!(super::row("d", 0, Some(0))[2], Value::Real(0.0));
        assert_eq!(float(5 << 32), 21_474_836_480.0);
    }
}
