//! SET IDENTITY_INSERT.

use selenite_plan::machine::Failure;
use selenite_plan::{Ends, NameKey, PlanError};
use selenite_tsql::ast::ObjectName;

use super::data_bench::DataBench;
use super::permission::no_object;

impl DataBench<'_> {
    /// Lets numbers be given for one table of the session's, or for none.
    ///
    /// # Errors
    /// 1088, 8106, 8107.
    pub(super) fn set_identity_insert(&mut self, table: &ObjectName, on: bool) -> Result<(), Failure> {
        self.used()?;
        let name = &table.name.text;
        self.stand()?;
        if !name.starts_with('#') && !self.standing.defines() {
            return Err(no_object(name, 11).into());
        }
        let found = match name.strip_prefix('#') {
            Some(_) => self.objects.catalog.temporary.table(name).cloned(),
            None => self.objects.catalog.schema.table(name).cloned(),
        };
        let Some(found) = found else {
            let text =
                format!("Cannot find the object \"{name}\" because it does not exist or you do not have permissions.");
            return Err(PlanError::new(1088, Ends::Batch, text).with_state(11).into());
        };
        if found.table.identity().is_none() {
            let text = format!("Table '{name}' does not have the identity property. Cannot perform SET operation.");
            return Err(PlanError::new(8106, Ends::Statement, text).into());
        }
        let key = NameKey::new(name);
        match (&self.identity_insert, on) {
            (Some(other), true) if *other != key => {
                let text = format!(
                    "IDENTITY_INSERT is already ON for table '{}'. Cannot perform SET operation for table '{name}'.",
                    other.as_str()
                );
                return Err(PlanError::new(8107, Ends::Statement, text).into());
            }
            (_, true) => self.identity_insert = Some(key),
            (Some(other), false) if *other == key => self.identity_insert = None,
            (_, false) => {}
        }
        Ok(())
    }
}
