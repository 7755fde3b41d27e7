//! A page that does not open, in the log.

use selenite_compiler::SqlError;
use selenite_runtime::sqlite::DAMAGED_PAGE;

use crate::Instance;

/// Tells the log of an 824, as SQL Server does of all that end connections.
pub fn log_damage(instance: &Instance, error: &SqlError) {
    if error.number() == DAMAGED_PAGE {
        let (severity, state) = (error.severity(), error.state());
        let line = format!("Error: {DAMAGED_PAGE}, Severity: {severity}, State: {state}. {error}");
        instance.log().line(&line);
    }
}
