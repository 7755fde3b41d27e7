//! CHECKDB and CHECKTABLE.
//!
//! - `every-page-is-authenticated`: CHECKDB itself reads every page of the file and of its log and
//!   authenticates it, whatever caches hold. Then SQLite checks the contents of the pages, unless
//!   PHYSICAL_ONLY is specified or a page is bad, on which SQLite would only fail.
//! - `values-fit-their-columns`: then every value is compared with its column's type, as SQL
//!   Server's DATA_PURITY does: a program that writes to the file with SQLite alone may store any
//!   value.
//! - `findings-do-not-end-the-batch`: findings are reported as errors and do not end the batch: the
//!   DBCC command itself has succeeded.

use std::sync::Arc;

use selenite::storage::Disk;
use selenite::verify::{self, ServedReport};
use selenite::{Class, Observer, Progress, Watch};
use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{Ends, SqlError, same_name};
use selenite_runtime::machine::{Affected, Failure};
use selenite_runtime::sqlite::tsql_error;
use selenite_types::{DataType, Value, Width};

use super::argument::Argument;
use super::finding::{Finding, Findings};
use super::integrity::{self, Depth};
use super::{Request, purity, send_rows};
use crate::Interrupts;
use crate::administration::Administration;
use crate::database::database_connection::DatabaseConnection;
use crate::database::expectation::access_to;
use crate::database_error::of_master;
use crate::execution_context::ExecutionContext;
use crate::master::DatabaseRecord;

impl Administration<'_, '_> {
    pub(super) fn checkdb(
        &mut self,
        request: &Request,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        if request.arguments.len() > 2 {
            return Err(request.incorrect());
        }
        let record = self.database_of(request.arguments.first())?;
        let depth = request.depth()?;
        let mut findings = Findings::default();
        let name = &record.name;
        findings.info(2536, format!("DBCC results for '{name}'."));
        let done = self.look_at(&record, depth.filter(|_| !request.options.physical_only), &mut findings);
        // An interrupted statement of SQLite's is no error of its own.
        execution.reply.poll()?;
        done?;
        let (allocation, consistency) = (findings.allocation_errors, findings.consistency_errors);
        let summary = format!(
            "CHECKDB found {allocation} allocation errors and {consistency} consistency errors in database '{name}'."
        );
        findings.info(8989, summary);
        request.send_findings(&findings, record.id, execution)
    }

    fn look_at(&mut self, record: &DatabaseRecord, depth: Option<Depth>, found: &mut Findings) -> Result<(), SqlError> {
        let access = access_to(self.session.instance, record.id)?;
        let watch = Watch::new(Arc::new(InterruptObserver(self.session.interrupts.clone())));
        self.with_connection(record, |database| {
            let connection = &database.connection;
            if let Some(path) = &database.shared.path
                && has_our_layout(connection)
            {
                let looked = verify::served(&Disk, path, &access, &watch);
                match looked {
                    Ok(report) => note_bad_pages(&report, record, found),
                    Err(error) if error.class() == Class::Interrupted => return Ok(()),
                    Err(error) => {
                        let text = format!("The pages of database '{}' could not be checked: {error}.", record.name);
                        return Err(SqlError::new(50823, Ends::Statement, text));
                    }
                }
            }
            let Some(depth) = depth.filter(|_| found.is_good()) else {
                return Ok(());
            };
            // Values and the types that they should have are those of one moment.
            database.in_snapshot(|| {
                let checked = integrity::check(connection, (depth, None), &record.name, found);
                checked.map_err(|error| tsql_error(&error))?;
                let (_, schema) = database.definitions()?;
                purity::check(connection, &schema, None, found).map_err(|error| tsql_error(&error))?;
                if found.is_good() {
                    for table in integrity::extents(connection, None).map_err(|error| tsql_error(&error))? {
                        let name = match schema.names().of_file_name(&table.name) {
                            (schema, name) if same_name(&schema, SCHEMA) => name,
                            (schema, name) => format!("{schema}.{name}"),
                        };
                        found.info(2536, format!("DBCC results for '{name}'."));
                        found.info(2593, extent_text(&table, &name));
                    }
                }
                Ok(())
            })
        })
    }

    pub(super) fn check_table(
        &mut self,
        request: &Request,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let (Some(Argument::Text(written)), true) = (request.arguments.first(), request.arguments.len() <= 2) else {
            return Err(request.incorrect());
        };
        let depth = request.depth()?;
        let used = self.transactions.connect()?;
        let record = used.database.shared.record.clone();
        let mut parts = written.rsplit('.').map(|part| part.trim_matches(['[', ']', '"']));
        let own = parts.next().unwrap_or_default();
        let in_schema = parts.next().filter(|schema| !schema.is_empty());
        let default_schema = self.permissions.default_schema.clone();
        let depth = depth.filter(|_| !request.options.physical_only);
        let mut findings = Findings::default();
        // As CHECKDB: in one snapshot.
        let done = used.database.in_snapshot(|| {
            let (connection, (_, schema)) = (&used.database.connection, used.database.definitions()?);
            let found = match in_schema {
                Some(in_schema) => schema.table(in_schema, own),
                None => schema.table(&default_schema, own).or_else(|| schema.table(SCHEMA, own)),
            };
            let Some(table) = found.cloned() else {
                let text =
                    format!("Cannot find a table or object with the name \"{written}\". Check the system catalog.");
                // 2501: DBCC of an unknown table.
                return Err(SqlError::new(2501, Ends::Statement, text).with_state(45));
            };
            let name = &table.table.sqlite.name;
            findings.info(2536, format!("DBCC results for '{}'.", table.table.name));
            let check = |findings: &mut Findings| {
                let checked_depth = depth.unwrap_or(Depth::WithoutIndexes);
                integrity::check(connection, (checked_depth, Some(name)), &record.name, findings)?;
                if depth.is_some() {
                    purity::check(connection, &schema, Some(name), findings)?;
                }
                if findings.is_good() {
                    for extent in integrity::extents(connection, Some(name))? {
                        findings.info(2593, extent_text(&extent, &table.table.name));
                    }
                }
                Ok(())
            };
            check(&mut findings).map_err(|error| tsql_error(&error))?;
            Ok(table)
        });
        execution.reply.poll()?;
        let table = &done?.table;
        if !findings.is_good() {
            let (allocation, consistency) = (findings.allocation_errors, findings.consistency_errors);
            let text = format!(
                "CHECKTABLE found {allocation} allocation errors and {consistency} consistency errors in table '{}' (object ID {}).",
                table.name, table.object_id,
            );
            findings.info(8990, text);
        }
        request.send_findings(&findings, record.id, execution)
    }

    /// The database that an argument names: the one in use where it is missing, NULL or 0.
    ///
    /// # Errors
    /// 911.
    pub(super) fn database_of(&mut self, argument: Option<&Argument>) -> Result<DatabaseRecord, Failure> {
        let current = self.transactions.current;
        let directory = self.registry.directory(self.session.instance)?;
        let found = directory.databases.iter().find(|record| match argument {
            None | Some(Argument::Null | Argument::Number(0)) => record.id == current,
            Some(Argument::Number(id)) => i64::from(record.id) == *id,
            Some(Argument::Text(name)) => same_name(&record.name, name),
        });
        let name = match argument {
            Some(Argument::Text(name)) => name.clone(),
            Some(Argument::Number(id)) => id.to_string(),
            None | Some(Argument::Null) => current.to_string(),
        };
        found.cloned().ok_or_else(|| {
            let text = format!("Database '{name}' does not exist. Make sure that the name is entered correctly.");
            SqlError::new(911, Ends::Statement, text).into()
        })
    }

    /// Lends the session's connection to a database, or one for this time.
    ///
    /// # Errors
    /// What keeps it from being opened; those of `body`.
    pub(super) fn with_connection<R>(
        &mut self,
        record: &DatabaseRecord,
        body: impl FnOnce(&DatabaseConnection) -> Result<R, SqlError>,
    ) -> Result<R, SqlError> {
        if let Some(used) = self.transactions.get(record.id) {
            return body(&used.database);
        }
        let instance = self.session.instance;
        let known = instance
            .master()
            .database_of(record.id)
            .map_err(|error| of_master(&error))?;
        let shared = self
            .registry
            .database(instance, &known.unwrap_or_else(|| record.clone()))?;
        let database = DatabaseConnection::connect(shared, instance, self.session.interrupts.clone())?;
        database.keep_log_on_close()?;
        body(&database)
    }
}

impl Request {
    /// How deep to look, by the second argument.
    fn depth(&self) -> Result<Option<Depth>, Failure> {
        match self.arguments.get(1) {
            None | Some(Argument::Null) => Ok(Some(Depth::Full)),
            Some(word) if word.is("NOINDEX") => Ok(Some(Depth::WithoutIndexes)),
            Some(word) => {
                let repairs = ["REPAIR_ALLOW_DATA_LOSS", "REPAIR_FAST", "REPAIR_REBUILD"];
                match repairs.into_iter().find(|repair| word.is(repair)) {
                    Some(repair) => Err(self.unsupported(&format!("with {repair}"))),
                    None => Err(self.incorrect()),
                }
            }
        }
    }

    fn send_findings(
        &self,
        findings: &Findings,
        database_id: i32,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let told = findings.told.iter();
        // If there are errors, the summary is reported in any case.
        let is_told = |finding: &&Finding| {
            !self.options.no_messages || finding.severity > 10 || !findings.is_good() && finding.number >= 8000
        };
        let told: Vec<&Finding> = told.filter(is_told).collect();
        if self.options.table_results {
            let rows: Vec<_> = told.iter().map(|finding| row(finding, database_id)).collect();
            return send_rows(COLUMNS, &rows, execution);
        }
        for finding in told {
            self.send((finding.number, finding.severity, 1), &finding.text, execution)?;
        }
        Ok(Affected::Nothing)
    }
}

/// Whether its pages are encrypted, or have the layout of encrypted pages.
fn has_our_layout(connection: &rusqlite::Connection) -> bool {
    let sql = "SELECT value FROM selenite_status WHERE section = 'database' AND name = 'encrypted'";
    let said = connection.query_row(sql, [], |row| row.get::<_, String>(0));
    said.is_ok_and(|said| said != "no" && said != "no database yet")
}

/// 824, as reading the page would be, but for its severity: the session continues.
fn note_bad_pages(report: &ServedReport, record: &DatabaseRecord, found: &mut Findings) {
    for bad in &report.bad {
        let place = match bad.page_no {
            0 => String::new(),
            page_no => format!(" during a read of page (1:{page_no})"),
        };
        let finding = Finding {
            number: 824,
            severity: 16,
            text: format!(
                "SQL Server detected a logical consistency-based I/O error: {bad}. It occurred{place} in database '{}' (database ID {}).",
                record.name, record.id
            ),
            page_no: (bad.page_no > 0).then_some(bad.page_no),
        };
        found.error(false, finding);
    }
    let listed = u64::try_from(report.bad.len()).unwrap_or(u64::MAX);
    found.consistency_errors += report.bad_count.saturating_sub(listed);
}

fn extent_text(table: &integrity::Extent, name: &str) -> String {
    format!(
        "There are {} rows in {} pages for object \"{name}\".",
        table.rows, table.pages
    )
}

fn row(finding: &Finding, database_id: i32) -> Vec<Value> {
    // A page's number is below 2^31 in every database of less than 8 TB.
    let page = finding.page_no.and_then(|page_no| i32::try_from(page_no).ok());
    vec![
        Value::Int(finding.number),
        Value::Int(finding.severity.into()),
        Value::Int(1),
        Value::Text(finding.text.as_str().into()),
        Value::Null,
        Value::Int(database_id),
        page.map_or(Value::Null, |_| Value::Int(1)),
        page.map_or(Value::Null, Value::Int),
    ]
}

/// Stops a check when the session is to stop.
struct InterruptObserver(Interrupts);

impl Observer for InterruptObserver {
    fn progress(&self, _: Progress) {}

    fn is_interrupted(&self) -> bool {
        self.0.poll().is_some()
    }
}

/// Of SQL Server's those that mean something here, in its order.
const COLUMNS: &[(&str, DataType)] = &[
    ("Error", DataType::Int),
    ("Level", DataType::Int),
    ("State", DataType::Int),
    ("MessageText", DataType::NVarChar(Width::Max)),
    ("RepairLevel", DataType::NVarChar(Width::Limited(22))),
    ("DbId", DataType::Int),
    ("File", DataType::Int),
    ("Page", DataType::Int),
];
