//! The procedures and triggers of a database that execute as a principal.

use selenite_compiler::program::{Body, Program};

use crate::catalog::module_context::StoredContext;
use crate::catalog::schema::Schema;

/// As whom the procedure or trigger of a program executes.
#[must_use]
pub fn context_of(program: &Program, schema: &Schema) -> Option<StoredContext> {
    let Body::Procedure { object_id, .. } = program.body() else {
        return None;
    };
    let mut known = all(schema).into_iter();
    known.find(|(id, _)| id == object_id).map(|(_, context)| context)
}

/// All of them, by their numbers.
#[must_use]
pub fn all(schema: &Schema) -> Vec<(i32, StoredContext)> {
    let procedures = schema.procedures().map(|row| &**row);
    let rows = procedures.chain(schema.triggers().map(|trigger| &*trigger.row));
    rows.filter_map(|row| Some((row.object_id, StoredContext::in_state(row.state.as_deref())?)))
        .collect()
}
