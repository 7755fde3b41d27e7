//! What SQL Server has and this server does not: views without rows, for clients that query them before they
//! continue.
//!
//! - `empty-because-impossible`: only what can't be created here is listed: its statements are
//!   refused by name, so that no row is missing.

use super::columns::TYPE;
use super::{BIT, ColumnSpec, FunctionSpec, INT, NAME, SYS, ViewSpec, text};

pub(crate) const VIEWS: &[ViewSpec] = &[ViewSpec {
    schema: SYS,
    name: "table_types",
    is_of_server: false,
    columns: (TYPE, TABLE_TYPE),
    rows: |_| Ok(Vec::new()),
}];

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

const TABLE_TYPE: &[ColumnSpec] = &[("type_table_object_id", INT, false), ("is_memory_optimized", BIT, true)];
