//! Who made a temporary procedure, which is in its row in the catalog.
//!
//! - `changed-by-its-maker`: a procedure runs with the rights of who calls it. One that is temporary has no owner but who
//!   made it: another login, or a user whom the session executes as meanwhile, would otherwise run what it likes as its
//!   next caller.

use super::DefinitionContext;
use crate::catalog::catalog_rows::CatalogRow;

impl DefinitionContext<'_> {
    /// The state of the row of a temporary procedure that is defined now: as whom.
    pub(super) fn maker(&self) -> String {
        let identity = &self.objects.identity;
        let sid: String = identity.sid.iter().map(|byte| format!("{byte:02x}")).collect();
        match identity.user {
            None => format!("{MAKER}{sid}"),
            Some((database, user)) => format!("{MAKER}{sid}:{database}:{user}"),
        }
    }

    /// `changed-by-its-maker`: whether a procedure that is there may be changed or dropped, if it is temporary.
    pub(super) fn made(&self, row: &CatalogRow) -> bool {
        !row.name.starts_with('#')
            || self.objects.permissions().is_administrator
            || row.state.as_deref() == Some(self.maker().as_str())
    }
}

const MAKER: &str = "maker:";
