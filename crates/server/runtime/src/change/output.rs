//! Runs OUTPUT: changed rows, sent to the client or written to a table.

use std::ops::ControlFlow;

use selenite_compiler::SqlError;
use selenite_compiler::catalog::ChangeVerb;
use selenite_compiler::change::Outputs;
use selenite_types::Value;

use super::row_writer;
use crate::statement::Run;

/// Sends or writes one changed row.
///
/// Errors: any error of its columns, or of writing them.
pub(super) fn send(output: &Outputs, run: &mut Run<'_>, row: &[Value]) -> Result<ControlFlow<()>, SqlError> {
    let values: Result<Vec<Value>, SqlError> = output
        .values
        .iter()
        .map(|value| value.evaluate(&run.frame(row)))
        .collect();
    match &output.into {
        Some(into) => {
            row_writer::write(into, run, values?, ChangeVerb::Insert)?;
            Ok(ControlFlow::Continue(()))
        }
        None => (run.rows)(&values?),
    }
}
