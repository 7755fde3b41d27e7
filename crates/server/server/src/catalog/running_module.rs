//! The procedure or trigger that a frame runs.
//!
//! - `module-of-its-frame`: its schema, its owner and whom it executes as are those of the module that was compiled, as
//!   they are when its frame begins. Meanwhile it may be moved or dropped, and its number be another object's.

use std::sync::Arc;

use selenite_compiler::program::{Body, Program};

use crate::catalog::catalog_rows::CatalogRow;
use crate::catalog::schema::Schema;

/// What a procedure or trigger was when its frame began; nothing for a batch, a text, and the server's own and temporary
/// procedures.
#[derive(Clone, Default)]
pub struct RunningModule {
    /// Its schema: names without one are looked up there, whatever the default schema of the user is.
    pub schema: Option<Arc<str>>,
    /// The owner of that.
    pub owner: Option<i32>,
}

/// The procedure or trigger of a program, if it is still there.
#[must_use]
pub fn row_of<'s>(program: &Program, schema: &'s Schema) -> Option<&'s CatalogRow> {
    let Body::Procedure { object_id, .. } = program.body() else {
        return None;
    };
    let triggers = schema.triggers().map(|trigger| &*trigger.row);
    let mut known = schema.procedures().map(|row| &**row).chain(triggers);
    let found = known.find(|row| row.object_id == *object_id)?;
    (found.definition == program.source()).then_some(found)
}

impl RunningModule {
    /// That of a program whose frame begins.
    #[must_use]
    pub fn of(program: &Program, schema: &Schema) -> Self {
        let Some(row) = row_of(program, schema) else {
            return Self::default();
        };
        Self {
            schema: Some(Arc::from(row.schema.as_str())),
            owner: schema.names().named(&row.schema).map(|schema| schema.owner),
        }
    }
}
