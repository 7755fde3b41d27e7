//! USEROPTIONS: the session's options that are on, or have a value.

use selenite_runtime::machine::{Affected, Failure};
use selenite_tsql::ast::IsolationLevel;
use selenite_types::{DataType, Value, Width};

use super::{Request, send_rows};
use crate::execution_context::ExecutionContext;

pub(crate) fn send(request: &Request, execution: &mut ExecutionContext<'_>) -> Result<Affected, Failure> {
    if !request.arguments.is_empty() {
        return Err(request.incorrect());
    }
    let session = &execution.state.session;
    let mut options = vec![
        ("textsize", session.text_size.to_string()),
        ("language", session.language.to_string()),
        (
            "dateformat",
            crate::system_views::date_format(session.date_format).to_owned(),
        ),
        ("datefirst", session.date_first.number().to_string()),
        ("lock_timeout", session.lock_timeout_ms.to_string()),
    ];
    for (bit, name) in SWITCHES {
        if session.options & bit != 0 {
            options.push((name, "SET".to_owned()));
        }
    }
    options.push(("isolation level", isolation(execution.state.isolation).to_owned()));
    let row = |(name, value): &(&str, String)| vec![Value::Text((*name).into()), Value::Text(value.as_str().into())];
    let rows: Vec<_> = options.iter().map(row).collect();
    send_rows(COLUMNS, &rows, execution)
}

fn isolation(level: IsolationLevel) -> &'static str {
    match level {
        IsolationLevel::ReadUncommitted => "read uncommitted",
        IsolationLevel::ReadCommitted => "read committed",
        IsolationLevel::RepeatableRead => "repeatable read",
        IsolationLevel::Snapshot => "snapshot",
        IsolationLevel::Serializable => "serializable",
    }
}

const COLUMNS: &[(&str, DataType)] = &[
    ("Set Option", DataType::NVarChar(Width::Limited(128))),
    ("Value", DataType::NVarChar(Width::Limited(128))),
];
/// Bits of `@@OPTIONS`, in SQL Server's order.
const SWITCHES: [(i32, &str); 14] = [
    (256, "quoted_identifier"),
    (64, "arithabort"),
    (128, "arithignore"),
    (1024, "ansi_null_dflt_on"),
    (2048, "ansi_null_dflt_off"),
    (8, "ansi_warnings"),
    (16, "ansi_padding"),
    (32, "ansi_nulls"),
    (4096, "concat_null_yields_null"),
    (8192, "numeric_roundabort"),
    (2, "implicit_transactions"),
    (4, "cursor_close_on_commit"),
    (512, "nocount"),
    (16384, "xact_abort"),
];
