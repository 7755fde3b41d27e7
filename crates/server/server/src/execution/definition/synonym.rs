//! CREATE and DROP SYNONYM.

use selenite_compiler::{SqlError, written_object};
use selenite_tsql::ast::{CreateSynonym, ObjectName};

use super::{DefinitionContext, Written, refusal};
use crate::catalog::catalog_rows::ObjectKind;

impl DefinitionContext<'_> {
    /// The object need not exist; where its name has no schema, it is in the one that the session's names are in.
    pub(crate) fn create_synonym(&self, create: &CreateSynonym) -> Result<(), SqlError> {
        if create.name.name.text.starts_with('#') || create.object.name.text.starts_with('#') {
            return Err(SqlError::unsupported("A synonym of a temporary object"));
        }
        let schema = self.check_free(&create.name)?;
        let definition = CreateSynonym {
            name: create.name.clone(),
            object: create.object.clone(),
        };
        let written = Written {
            object_id: self.new_id("main")?,
            kind: ObjectKind::Synonym,
            schema: &schema,
            name: &create.name.name.text,
            parent: None,
            definition: definition.to_string(),
        };
        self.store("main", written)
    }

    pub(crate) fn drop_synonym(&self, name: &ObjectName, if_exists: bool) -> Result<(), SqlError> {
        self.catalog.check_place(name)?;
        let written = written_object(name);
        match (self.catalog.synonym(name), self.kind_of(name)) {
            (Some(found), _) => self.forget("main", found.row.object_id),
            (None, Some(kind)) => Err(refusal::wrong_kind("SYNONYM", &written, kind)),
            (None, None) if if_exists => Ok(()),
            (None, None) => Err(refusal::not_there("synonym", &written)),
        }
    }
}
