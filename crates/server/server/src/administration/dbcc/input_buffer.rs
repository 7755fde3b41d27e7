//! INPUTBUFFER: the last request of a session's client.

use selenite_compiler::{Ends, SqlError};
use selenite_runtime::machine::{Affected, Failure};
use selenite_types::{DataType, Value, Width, utf16_prefix};

use super::argument::Argument;
use super::{Request, send_rows};
use crate::administration::Administration;
use crate::execution_context::ExecutionContext;

impl Administration<'_, '_> {
    pub(super) fn input_buffer(
        &mut self,
        request: &Request,
        execution: &mut ExecutionContext<'_>,
    ) -> Result<Affected, Failure> {
        let Some(&Argument::Number(number)) = request.arguments.first() else {
            return Err(request.incorrect());
        };
        let registry = self.session.instance.registry();
        let session = u16::try_from(number).ok().and_then(|spid| registry.session(spid));
        let Some(session) = session else {
            let text = format!("Invalid SPID {number} specified.");
            // 7955: DBCC INPUTBUFFER of an unknown session.
            return Err(SqlError::new(7955, Ends::Statement, text).into());
        };
        let row = match session.activity().request() {
            Some(asked) => {
                let kind = if asked.is_call { "RPC Event" } else { "Language Event" };
                let text = utf16_prefix(asked.source(), TEXT_LENGTH);
                vec![Value::Text(kind.into()), Value::SmallInt(0), Value::Text(text.into())]
            }
            None => vec![Value::Text("No Event".into()), Value::Null, Value::Null],
        };
        send_rows(COLUMNS, &[row], execution)
    }
}

/// As documented: nvarchar(4000).
const TEXT_LENGTH: usize = 4000;
const COLUMNS: &[(&str, DataType)] = &[
    ("EventType", DataType::NVarChar(Width::Limited(30))),
    ("Parameters", DataType::SmallInt),
    ("EventInfo", DataType::NVarChar(Width::Limited(4000))),
];
