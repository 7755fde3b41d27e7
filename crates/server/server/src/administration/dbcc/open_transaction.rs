//! OPENTRAN: the oldest transaction that writes to a database.
//!
//! One session writes to a database at a time, so it is the only one. What SQL Server reports besides, a place in its
//! log and a user's number, does not exist here.

use std::time::{SystemTime, UNIX_EPOCH};

use selenite_runtime::machine::{Affected, Failure};
use selenite_types::{DataType, DateFormat, Moment, Value, Width, convert};

use super::{Request, send_rows};
use crate::SessionEntry;
use crate::administration::Administration;
use crate::execution_context::ExecutionContext;

impl Administration<'_, '_> {
    pub(super) fn open_transactions(
        &mut self,
        request: &Request,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        if request.arguments.len() > 1 {
            return Err(request.incorrect());
        }
        let record = self.database_of(request.arguments.first())?;
        let sessions = self.session.instance.registry().sessions();
        let writer = sessions.iter().find_map(|session| {
            let locks = session.activity().locks();
            let lock = locks
                .iter()
                .find(|lock| lock.database_id == record.id && lock.is_granted)?;
            Some((session, lock.since))
        });
        let Some((session, since)) = writer else {
            if !request.options.table_results {
                request.info(7974, "No active open transactions.", execution)?;
            }
            return Ok(Affected::Nothing);
        };
        let offset = execution.state.now.offset_minutes;
        let lines = lines(session, since, offset);
        if request.options.table_results {
            let rows: Vec<_> = lines
                .iter()
                .map(|(name, value)| vec![Value::Text((*name).into()), Value::Text(value.as_str().into())])
                .collect();
            return send_rows(COLUMNS, &rows, execution);
        }
        let mut text = format!(
            "Transaction information for database '{}'.\n\nOldest active transaction:",
            record.name
        );
        for ((_, value), label) in lines.iter().zip(LABELS) {
            text.push_str(&format!("\n    {label}: {value}"));
        }
        request.info(7969, &text, execution)?;
        Ok(Affected::Nothing)
    }
}

fn lines(session: &SessionEntry, since: SystemTime, offset_minutes: i16) -> Vec<(&'static str, String)> {
    let transaction = session.activity().transaction();
    let name = transaction.map(|transaction| transaction.name).unwrap_or_default();
    // SQL Server's own name for an unnamed transaction.
    let name = if name.is_empty() {
        "user_transaction".to_owned()
    } else {
        name
    };
    let sid: String = session.facts().sid.iter().map(|byte| format!("{byte:02x}")).collect();
    vec![
        ("OLDACT_SPID", session.spid().to_string()),
        ("OLDACT_NAME", name),
        ("OLDACT_STARTTIME", written(since, offset_minutes)),
        ("OLDACT_SID", format!("0x{sid}")),
    ]
}

/// As CONVERT with style 109 writes it: `Nov 22 2026 12:05:03:123PM`.
fn written(time: SystemTime, offset_minutes: i16) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let moment = Moment {
        unix_ns: u64::try_from(since.as_nanos()).unwrap_or(0),
        offset_minutes,
    };
    let value = Value::DateTime(moment.datetime_local());
    let narrow = DataType::VarChar(Width::Limited(40));
    match convert(&value, &DataType::DateTime, &narrow, Some(109), DateFormat::Mdy) {
        Ok(Value::Text(text)) => text.to_string(),
        // Every datetime has a text.
        _ => String::new(),
    }
}

const COLUMNS: &[(&str, DataType)] = &[
    ("REPTYPE", DataType::VarChar(Width::Limited(30))),
    ("VALUE", DataType::NVarChar(Width::Limited(256))),
];
const LABELS: [&str; 4] = [
    "SPID (server process ID)",
    "Name          ",
    "Start time    ",
    "SID           ",
];
