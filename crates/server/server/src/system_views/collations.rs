//! The collations, as `fn_helpcollations` lists them.

use super::{FunctionSpec, NAME, SYS, text};

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[COLLATIONS];

/// `fn_helpcollations`: the two that there are, as SQL Server describes them.
const COLLATIONS: FunctionSpec = FunctionSpec {
    schema: SYS,
    name: "fn_helpcollations",
    columns: &[("name", NAME, true), ("description", text(1000), true)],
    arguments: &[],
    required: 0,
    rows: |_, _| {
        let row = |(name, description): (&str, &str)| vec![name.into(), description.into()];
        Ok(COLLATION_NAMES.into_iter().map(row).collect())
    },
};

const COLLATION_NAMES: [(&str, &str); 2] = [
    (
        "Latin1_General_BIN2",
        "Latin1-General, binary code point comparison sort",
    ),
    (
        "SQL_Latin1_General_CP1_CI_AS",
        "Latin1-General, case-insensitive, accent-sensitive, kanatype-insensitive, width-insensitive for Unicode Data, SQL \
         Server Sort Order 52 on Code Page 1252 for non-Unicode Data",
    ),
];
