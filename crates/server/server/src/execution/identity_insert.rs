//! SET IDENTITY_INSERT.

use selenite_compiler::{Ends, SqlError, written_object};
use selenite_runtime::machine::Failure;
use selenite_tsql::ast::ObjectName;

use crate::catalog::permission::no_object;
use crate::catalog::permission_kind::PermissionKind;
use crate::catalog::schema::{is_global, is_temporary};
use crate::database::frames::IdentityInsert;
use crate::execution::session_executor::SessionExecutor;
use crate::master::TEMPDB;

impl SessionExecutor<'_> {
    /// Sets the one table of the session for which numbers may be given explicitly, or none.
    ///
    /// # Errors
    /// 1088, 8106, 8107.
    pub(crate) fn set_identity_insert(&mut self, table: &ObjectName, on: bool) -> Result<(), Failure> {
        if is_global(&table.name.text) && self.transactions.current != TEMPDB {
            return self.in_tempdb(|executor| executor.set_identity_insert(table, on))?;
        }
        self.refresh()?;
        self.scope.objects.catalog.check_place(table)?;
        let name = &written_object(table);
        self.refresh_permissions()?;
        let Some(found) = self.scope.objects.catalog.table(table).cloned() else {
            return Err(match self.permissions.defines() || table.name.text.starts_with('#') {
                true => no_object(name, 11).with_ends(Ends::Batch).into(),
                false => no_object(name, 11).into(),
            });
        };
        let may = self.permissions.may_on(
            PermissionKind::Alter,
            (&found.definition.schema, &found.definition.name),
        );
        if !table.name.text.starts_with('#') && !may {
            return Err(no_object(name, 11).into());
        }
        if found.table.identity().is_none() {
            let text = format!("Table '{name}' does not have the identity property. Cannot perform SET operation.");
            // 8106: IDENTITY_INSERT of a table without an identity column.
            return Err(SqlError::new(8106, Ends::Statement, text).into());
        }
        let known = IdentityInsert {
            database_id: (!is_temporary(&table.name.text)).then_some(self.transactions.current),
            object_id: found.table.object_id,
            name: found.table.full_name(),
        };
        match (&self.identity_insert, on) {
            (Some(other), true) if *other != known => {
                let text = format!(
                    "IDENTITY_INSERT is already ON for table '{}'. Cannot perform SET operation for table '{name}'.",
                    other.name
                );
                // 8107: IDENTITY_INSERT of a second table.
                return Err(SqlError::new(8107, Ends::Statement, text).into());
            }
            (_, true) => self.identity_insert = Some(known),
            (Some(other), false) if *other == known => self.identity_insert = None,
            (_, false) => {}
        }
        Ok(())
    }

    /// The number of the table in the database in use for which numbers may be given explicitly.
    pub(crate) fn numbered_by_hand(&self) -> Option<i32> {
        let on = self.identity_insert.as_ref()?;
        let is_here = on
            .database_id
            .is_none_or(|database| database == self.transactions.current);
        is_here.then_some(on.object_id)
    }

    /// A definition was carried out: IDENTITY_INSERT is off for a table that was dropped, whatever gets its number
    /// next.
    pub(crate) fn note_dropped(&mut self) {
        let Some(object_id) = self.numbered_by_hand() else {
            return;
        };
        let catalog = &self.scope.objects.catalog;
        let mut tables = catalog.schema.tables().chain(catalog.temporary.tables());
        if !tables.any(|table| table.table.object_id == object_id) {
            self.identity_insert = None;
        }
    }
}
