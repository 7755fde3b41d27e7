//! The procedures and triggers of a database that execute as a principal.

use crate::catalog::module_context::StoredContext;
use crate::catalog::schema::Schema;

/// All of them, by their numbers.
#[must_use]
pub fn all(schema: &Schema) -> Vec<(i32, StoredContext)> {
    let procedures = schema.procedures().map(|row| &**row);
    let rows = procedures.chain(schema.triggers().map(|trigger| &*trigger.row));
    rows.filter_map(|row| Some((row.object_id, StoredContext::in_state(row.state.as_deref())?)))
        .collect()
}
