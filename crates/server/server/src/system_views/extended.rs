//! What SQL Server has and this server does not: views without rows, for clients that query them before they
//! continue.
//!
//! - `empty-because-impossible`: only what can't be created here is listed: its statements are
//!   refused by name, so that no row is missing.

use selenite_types::DataType;

use super::columns::TYPE;
use super::objects::OBJECT;
use super::{BIG, BIT, ColumnSpec, FunctionSpec, INT, NAME, SYS, TIME, TINY, ViewSpec, text};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "synonyms",
        is_of_server: false,
        columns: (OBJECT, SYNONYM),
        rows: |_| Ok(Vec::new()),
    },
    ViewSpec {
        schema: SYS,
        name: "sequences",
        is_of_server: false,
        columns: (OBJECT, SEQUENCE),
        rows: |_| Ok(Vec::new()),
    },
    ViewSpec {
        schema: SYS,
        name: "table_types",
        is_of_server: false,
        columns: (TYPE, TABLE_TYPE),
        rows: |_| Ok(Vec::new()),
    },
    ViewSpec {
        schema: SYS,
        name: "triggers",
        is_of_server: false,
        columns: (TRIGGER, &[]),
        rows: |_| Ok(Vec::new()),
    },
];

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

const SYNONYM: &[ColumnSpec] = &[("base_object_name", text(1035), true)];
const SEQUENCE: &[ColumnSpec] = &[
    ("start_value", BIG, false),
    ("increment", BIG, false),
    ("minimum_value", BIG, false),
    ("maximum_value", BIG, false),
    ("is_cycling", BIT, true),
    ("is_cached", BIT, true),
    ("cache_size", INT, true),
    ("system_type_id", TINY, false),
    ("user_type_id", INT, false),
    ("precision", TINY, false),
    ("scale", TINY, false),
    ("current_value", BIG, false),
    ("is_exhausted", BIT, false),
    ("last_used_value", BIG, true),
];
const TABLE_TYPE: &[ColumnSpec] = &[("type_table_object_id", INT, false), ("is_memory_optimized", BIT, true)];
const TRIGGER: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("object_id", INT, false),
    ("parent_class", TINY, false),
    ("parent_class_desc", text(60), true),
    ("parent_id", INT, false),
    ("type", DataType::Char(2), false),
    ("type_desc", text(60), true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("is_ms_shipped", BIT, false),
    ("is_disabled", BIT, false),
    ("is_not_for_replication", BIT, false),
    ("is_instead_of_trigger", BIT, false),
];
