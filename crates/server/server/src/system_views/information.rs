//! INFORMATION_SCHEMA: tables, columns and routines of the database in use.

use std::sync::Arc;

use selenite_compiler::{ObjectKind, SqlError};
use selenite_tsql::ast::TableType;
use selenite_types::{DataType, Family};

use super::columns::type_name;
use super::view_column::{self, ViewColumn};
use super::{
    Cell, ColumnSpec, INFORMATION, INT, LONG_TEXT, NAME, Row, SMALL, TIME, TINY, ViewContext, ViewSpec, narrow,
    routine, row, text,
};
use crate::catalog::schema::Schema;
use crate::catalog::schema::user_type::SchemaType;
use crate::catalog::schema_names::{SchemaNames, SchemaRecord};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: INFORMATION,
        name: "SCHEMATA",
        is_of_server: false,
        columns: &[SCHEMATA],
        rows: schemata,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "TABLES",
        is_of_server: false,
        columns: &[TABLE, &[("TABLE_TYPE", narrow(10), true)]],
        rows: tables,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "VIEWS",
        is_of_server: false,
        columns: &[TABLE, VIEW],
        rows: views,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "COLUMNS",
        is_of_server: false,
        columns: &[COLUMN, TYPE],
        rows: columns,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "DOMAINS",
        is_of_server: false,
        columns: &[DOMAIN, TYPED, &[("DOMAIN_DEFAULT", LONG_TEXT, true)]],
        rows: domains,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "ROUTINES",
        is_of_server: false,
        columns: &[ROUTINE, TYPED, ROUTINE_REST],
        rows: routines,
    },
    ViewSpec {
        schema: INFORMATION,
        name: "PARAMETERS",
        is_of_server: false,
        columns: &[PARAMETER, TYPED, PARAMETER_REST],
        rows: parameters,
    },
];

const SCHEMATA: &[ColumnSpec] = &[
    ("CATALOG_NAME", NAME, true),
    ("SCHEMA_NAME", NAME, false),
    ("SCHEMA_OWNER", NAME, true),
    ("DEFAULT_CHARACTER_SET_CATALOG", narrow(6), true),
    ("DEFAULT_CHARACTER_SET_SCHEMA", narrow(3), true),
    ("DEFAULT_CHARACTER_SET_NAME", NAME, true),
];

fn schemata(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let schema = &context.objects.catalog.schema;
    let row = |record: &SchemaRecord| {
        row![
            &*context.objects.catalog.database,
            &record.name,
            owner_name(schema, record),
            Cell::Null,
            Cell::Null,
            "iso_1"
        ]
    };
    Ok(schema.names().all().iter().map(row).collect())
}

/// The name of a schema's owner.
fn owner_name(schema: &Schema, record: &SchemaRecord) -> Option<String> {
    let fixed = SchemaNames::default();
    let user = || schema.principals().name_of_id(record.owner).map(str::to_owned);
    // The principals that every database has own the schemas of their names.
    fixed.of_id(record.owner).map(|known| known.name.clone()).or_else(user)
}

const TABLE: &[ColumnSpec] = &[
    ("TABLE_CATALOG", NAME, true),
    ("TABLE_SCHEMA", NAME, true),
    ("TABLE_NAME", NAME, false),
];

fn tables(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let catalog = &context.objects.catalog;
    let mut rows: Vec<Row> = Vec::new();
    for table in catalog.schema.sorted_tables() {
        let definition = &table.definition;
        rows.push(row![
            &*catalog.database,
            &definition.schema,
            &definition.name,
            "BASE TABLE"
        ]);
    }
    let mut views: Vec<_> = catalog.schema.views().collect();
    views.sort_by_key(|view| view.row.object_id);
    for view in views {
        rows.push(row![&*catalog.database, &view.row.schema, &view.row.name, "VIEW"]);
    }
    Ok(rows)
}

const VIEW: &[ColumnSpec] = &[
    ("VIEW_DEFINITION", text(4000), true),
    ("CHECK_OPTION", narrow(7), true),
    ("IS_UPDATABLE", narrow(2), false),
];

fn views(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let catalog = &context.objects.catalog;
    let mut views: Vec<_> = catalog.schema.views().collect();
    views.sort_by_key(|view| view.row.object_id);
    let permissions = context.objects.permissions();
    let row = |view: &std::sync::Arc<crate::catalog::schema::SchemaView>| {
        let shows = permissions.sees_text((&view.row.schema, &view.row.name));
        row![
            &*catalog.database,
            &view.row.schema,
            &view.row.name,
            if shows {
                limited(&view.row.definition)
            } else {
                Cell::Null
            },
            if view.view.check_option { "CASCADE" } else { "NONE" },
            "NO"
        ]
    };
    Ok(views.into_iter().map(row).collect())
}

/// A text that fits nvarchar(4000); NULL if it is longer, as SQL Server has it.
pub(crate) fn limited(text: &str) -> Cell {
    match text.encode_utf16().count() {
        0..=4000 => Cell::from(text),
        _ => Cell::Null,
    }
}

const COLUMN: &[ColumnSpec] = &[
    ("TABLE_CATALOG", NAME, true),
    ("TABLE_SCHEMA", NAME, true),
    ("TABLE_NAME", NAME, false),
    ("COLUMN_NAME", NAME, true),
    ("ORDINAL_POSITION", INT, true),
    ("COLUMN_DEFAULT", text(4000), true),
    ("IS_NULLABLE", narrow(3), true),
];
const TYPE: &[ColumnSpec] = &[
    ("DATA_TYPE", NAME, true),
    ("CHARACTER_MAXIMUM_LENGTH", INT, true),
    ("CHARACTER_OCTET_LENGTH", INT, true),
    ("NUMERIC_PRECISION", TINY, true),
    ("NUMERIC_PRECISION_RADIX", SMALL, true),
    ("NUMERIC_SCALE", INT, true),
    ("DATETIME_PRECISION", SMALL, true),
    ("CHARACTER_SET_CATALOG", NAME, true),
    ("CHARACTER_SET_SCHEMA", NAME, true),
    ("CHARACTER_SET_NAME", NAME, true),
    ("COLLATION_CATALOG", NAME, true),
    ("COLLATION_SCHEMA", NAME, true),
    ("COLLATION_NAME", NAME, true),
    ("DOMAIN_CATALOG", NAME, true),
    ("DOMAIN_SCHEMA", NAME, true),
    ("DOMAIN_NAME", NAME, true),
];

fn columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let permissions = context.objects.permissions();
    let row = |column: ViewColumn| {
        let shows = permissions.sees_text((&column.schema, &column.object));
        let mut row = row![
            &*context.objects.catalog.database,
            &column.schema,
            &column.object,
            &column.name,
            column.number,
            column
                .default
                .as_ref()
                .filter(|_| shows)
                .map_or(Cell::Null, |(_, value)| limited(value)),
            if column.nullable { "YES" } else { "NO" },
        ];
        let facts = Facts::of(&column.data_type);
        row.extend(row![
            column.old_type.unwrap_or_else(|| type_name(&column.data_type)),
            column.old_type.map_or(facts.length, |old| Some(old_length(old).0)),
            column.old_type.map_or(facts.octets, |old| Some(old_length(old).1)),
            facts.precision,
            facts.radix,
            facts.scale,
            facts.fraction,
            Cell::Null,
            Cell::Null,
            facts.characters,
            Cell::Null,
            Cell::Null,
            column.collation_name(),
        ]);
        let database = &context.objects.catalog.database;
        row.extend(match &column.user_type {
            Some((_, schema, name)) => row![&**database, schema, name],
            None => row![Cell::Null, Cell::Null, Cell::Null],
        });
        row
    };
    Ok(view_column::users(context).into_iter().map(row).collect())
}

const DOMAIN: &[ColumnSpec] = &[
    ("DOMAIN_CATALOG", NAME, true),
    ("DOMAIN_SCHEMA", NAME, true),
    ("DOMAIN_NAME", NAME, false),
];

/// Alias types, and table types, as SQL Server lists both.
fn domains(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let catalog = &context.objects.catalog;
    let row = |one: &Arc<SchemaType>| {
        let mut row = row![&*catalog.database, &one.row.schema, &one.row.name];
        row.extend(typed(one.base().as_ref(), TABLE_TYPE));
        row.extend(row![Cell::Null]);
        row
    };
    Ok(context.objects.seen_types().into_iter().map(row).collect())
}

/// What the standard requires of a type.
#[derive(Default)]
struct Facts {
    length: Option<i32>,
    octets: Option<i32>,
    precision: Option<u8>,
    radix: Option<i32>,
    scale: Option<i32>,
    fraction: Option<i32>,
    characters: Option<&'static str>,
}

impl Facts {
    fn of(data_type: &DataType) -> Self {
        let described = data_type.describe();
        let bytes = i32::from(described.max_length);
        let (precision, scale) = (Some(described.precision), i32::from(described.scale));
        let is_wide = matches!(data_type, DataType::NChar(_) | DataType::NVarChar(_));
        match data_type.family() {
            Family::Text => Self {
                length: Some(if is_wide && bytes > 0 { bytes / 2 } else { bytes }),
                octets: Some(bytes),
                characters: Some(if is_wide { "UNICODE" } else { "iso_1" }),
                ..Self::default()
            },
            Family::Binary => Self {
                length: Some(bytes),
                octets: Some(bytes),
                ..Self::default()
            },
            Family::Approximate => Self {
                precision,
                radix: Some(2),
                ..Self::default()
            },
            Family::Integer | Family::Decimal | Family::Money => Self {
                precision,
                radix: Some(10),
                scale: Some(scale),
                ..Self::default()
            },
            Family::OldDate | Family::NewDate | Family::Time => Self {
                fraction: Some(scale),
                ..Self::default()
            },
            Family::Xml => Self {
                length: Some(-1),
                octets: Some(-1),
                ..Self::default()
            },
            Family::Variant => Self {
                length: Some(0),
                octets: Some(0),
                ..Self::default()
            },
            Family::Bit | Family::Guid => Self::default(),
        }
    }
}

/// The length of a type of old in characters, and in bytes.
fn old_length(name: &str) -> (i32, i32) {
    match name {
        "ntext" => (0x3fff_ffff, 0x7fff_fffe),
        _ => (i32::MAX, i32::MAX),
    }
}

const ROUTINE: &[ColumnSpec] = &[
    ("SPECIFIC_CATALOG", NAME, true),
    ("SPECIFIC_SCHEMA", NAME, true),
    ("SPECIFIC_NAME", NAME, false),
    ("ROUTINE_CATALOG", NAME, true),
    ("ROUTINE_SCHEMA", NAME, true),
    ("ROUTINE_NAME", NAME, false),
    ("ROUTINE_TYPE", text(20), true),
    ("MODULE_CATALOG", NAME, true),
    ("MODULE_SCHEMA", NAME, true),
    ("MODULE_NAME", NAME, true),
    ("UDT_CATALOG", NAME, true),
    ("UDT_SCHEMA", NAME, true),
    ("UDT_NAME", NAME, true),
];

const ROUTINE_REST: &[ColumnSpec] = &[
    ("INTERVAL_TYPE", text(30), true),
    ("INTERVAL_PRECISION", SMALL, true),
    ("TYPE_UDT_CATALOG", NAME, true),
    ("TYPE_UDT_SCHEMA", NAME, true),
    ("TYPE_UDT_NAME", NAME, true),
    ("SCOPE_CATALOG", NAME, true),
    ("SCOPE_SCHEMA", NAME, true),
    ("SCOPE_NAME", NAME, true),
    ("MAXIMUM_CARDINALITY", super::BIG, true),
    ("DTD_IDENTIFIER", NAME, true),
    ("ROUTINE_BODY", text(30), true),
    ("ROUTINE_DEFINITION", LONG_TEXT, true),
    ("EXTERNAL_NAME", NAME, true),
    ("EXTERNAL_LANGUAGE", text(30), true),
    ("PARAMETER_STYLE", text(30), true),
    ("IS_DETERMINISTIC", text(10), true),
    ("SQL_DATA_ACCESS", text(30), true),
    ("IS_NULL_CALL", text(10), true),
    ("SQL_PATH", NAME, true),
    ("SCHEMA_LEVEL_ROUTINE", text(10), true),
    ("MAX_DYNAMIC_RESULT_SETS", SMALL, true),
    ("IS_USER_DEFINED_CAST", text(10), true),
    ("IS_IMPLICITLY_INVOCABLE", text(10), true),
    ("CREATED", TIME, false),
    ("LAST_ALTERED", TIME, false),
];

fn routines(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let database = &*context.objects.catalog.database;
    let offset = context.state.now.offset_minutes;
    let permissions = context.objects.permissions();
    let mut rows = Vec::new();
    for routine in routine::routines(context)? {
        let (schema, name) = (&routine.row.schema, &routine.row.name);
        let is_procedure = routine.kind == ObjectKind::Procedure;
        let kind = if is_procedure { "PROCEDURE" } else { "FUNCTION" };
        let mut row = row![database, schema, name, database, schema, name, kind];
        row.extend(vec![Cell::Null; 6]);
        row.extend(typed(routine.returns.as_ref(), (!is_procedure).then_some("TABLE")));
        row.extend(vec![Cell::Null; 10]);
        let shows = permissions.sees_text((schema, name));
        let definition = shows.then_some(&routine.row.definition);
        row.extend(row!["SQL", definition, Cell::Null, Cell::Null, Cell::Null]);
        row.extend(match is_procedure {
            true => row!["NO", "MODIFIES", Cell::Null, Cell::Null, "YES", -1, "NO", "NO"],
            false => {
                let is_called = routine.returns.map(|_| if routine.is_strict { "NO" } else { "YES" });
                row!["NO", "READS", is_called, Cell::Null, "YES", 0, "NO", "NO"]
            }
        });
        row.extend(row![
            Cell::of_seconds(routine.row.created, offset),
            Cell::of_seconds(routine.row.modified, offset)
        ]);
        rows.push(row);
    }
    Ok(rows)
}

const TYPED: &[ColumnSpec] = &[
    ("DATA_TYPE", NAME, true),
    ("CHARACTER_MAXIMUM_LENGTH", INT, true),
    ("CHARACTER_OCTET_LENGTH", INT, true),
    ("COLLATION_CATALOG", NAME, true),
    ("COLLATION_SCHEMA", NAME, true),
    ("COLLATION_NAME", NAME, true),
    ("CHARACTER_SET_CATALOG", NAME, true),
    ("CHARACTER_SET_SCHEMA", NAME, true),
    ("CHARACTER_SET_NAME", NAME, true),
    ("NUMERIC_PRECISION", TINY, true),
    ("NUMERIC_PRECISION_RADIX", SMALL, true),
    ("NUMERIC_SCALE", INT, true),
    ("DATETIME_PRECISION", SMALL, true),
];

/// [`TYPED`] of a type; if there is none, `otherwise` is its DATA_TYPE, and the rest is NULL.
fn typed(data_type: Option<&DataType>, otherwise: impl Into<Cell>) -> Row {
    let facts = data_type.map(Facts::of).unwrap_or_default();
    let collation = facts.characters.map(|_| selenite_compiler::DEFAULT_COLLATION);
    row![
        data_type.map_or_else(|| otherwise.into(), |data_type| Cell::from(type_name(data_type))),
        facts.length,
        facts.octets,
        Cell::Null,
        Cell::Null,
        collation,
        Cell::Null,
        Cell::Null,
        facts.characters,
        facts.precision,
        facts.radix,
        facts.scale,
        facts.fraction,
    ]
}

/// The DATA_TYPE of a table type.
const TABLE_TYPE: &str = "table type";

const PARAMETER: &[ColumnSpec] = &[
    ("SPECIFIC_CATALOG", NAME, true),
    ("SPECIFIC_SCHEMA", NAME, true),
    ("SPECIFIC_NAME", NAME, false),
    ("ORDINAL_POSITION", INT, false),
    ("PARAMETER_MODE", text(10), true),
    ("IS_RESULT", text(10), true),
    ("AS_LOCATOR", text(10), true),
    ("PARAMETER_NAME", NAME, true),
];

const PARAMETER_REST: &[ColumnSpec] = &[
    ("INTERVAL_TYPE", text(30), true),
    ("INTERVAL_PRECISION", SMALL, true),
    ("USER_DEFINED_TYPE_CATALOG", NAME, true),
    ("USER_DEFINED_TYPE_SCHEMA", NAME, true),
    ("USER_DEFINED_TYPE_NAME", NAME, true),
    ("SCOPE_CATALOG", NAME, true),
    ("SCOPE_SCHEMA", NAME, true),
    ("SCOPE_NAME", NAME, true),
];

/// A type, and the table type of a table-valued parameter.
type Typed<'a> = (&'a DataType, Option<&'a TableType>);

fn parameters(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    for routine in routine::routines(context)? {
        let database = &*context.objects.catalog.database;
        let mut add = |number: i32, (mode, is_result): (&str, &str), name: &str, (data_type, table): Typed<'_>| {
            let mut row = row![
                database,
                &routine.row.schema,
                &routine.row.name,
                number,
                mode,
                is_result,
                "NO",
                name
            ];
            row.extend(typed(table.is_none().then_some(data_type), TABLE_TYPE));
            row.extend(vec![Cell::Null; 2]);
            row.extend(match table {
                Some(table) => row![database, &table.schema, &table.name],
                None => vec![Cell::Null; 3],
            });
            row.extend(vec![Cell::Null; 3]);
            rows.push(row);
        };
        if let Some(data_type) = &routine.returns {
            add(0, ("OUT", "YES"), "", (data_type, None));
        }
        for (number, known) in (1..).zip(&routine.parameters) {
            let mode = if known.is_output { "INOUT" } else { "IN" };
            add(
                number,
                (mode, "NO"),
                &known.name,
                (&known.data_type, known.table.as_deref()),
            );
        }
    }
    Ok(rows)
}
