//! The collations, as `fn_helpcollations` lists them.

use selenite_types::Collation;

use super::{FunctionSpec, NAME, SYS, text};

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[COLLATIONS];

/// `fn_helpcollations`: those that there are, as SQL Server describes them.
const COLLATIONS: FunctionSpec = FunctionSpec {
    schema: SYS,
    name: "fn_helpcollations",
    columns: &[("name", NAME, true), ("description", text(1000), true)],
    arguments: &[],
    required: 0,
    rows: |_, _| {
        let mut all: Vec<Collation> = Collation::all().collect();
        all.sort_by_key(|collation| collation.name());
        let row = |collation: Collation| vec![collation.name().into(), collation.description().into()];
        Ok(all.into_iter().map(row).collect())
    },
};
