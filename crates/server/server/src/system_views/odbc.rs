//! Columns, parameters and types as ODBC has them: what the catalog procedures select from. No client may name these.
//!
//! - `is-100-and-version-first`: the first arguments of every function are `is_100`, whether the
//!   client knows the types that were introduced with SQL Server 2008, and the version of ODBC:
//!   version 3 has other numbers for dates than version 2.

use selenite_compiler::SqlError;
use selenite_compiler::program::Program;
use selenite_tsql::ast::TableType;
use selenite_types::storage::StoredRef;
use selenite_types::{DataType, Family, Width};

use super::columns::type_name;
use super::routine::procedure_of;
use super::{
    BIT, Cell, ColumnSpec, FunctionSpec, INT, NAME, Row, SMALL, SYS, TINY, ViewContext, narrow, row, text, view_column,
};

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[
    FunctionSpec {
        schema: SYS,
        name: "selenite_odbc_columns",
        columns: COLUMN,
        arguments: &[BIT, INT],
        required: 2,
        rows: columns,
    },
    FunctionSpec {
        schema: SYS,
        name: "selenite_odbc_parameters",
        columns: PARAMETER,
        arguments: &[BIT, INT],
        required: 2,
        rows: parameters,
    },
    FunctionSpec {
        schema: SYS,
        name: "selenite_odbc_types",
        columns: TYPE,
        arguments: &[BIT, INT],
        required: 2,
        rows: types,
    },
];

const COLUMN: &[ColumnSpec] = &[
    ("object_id", INT, false),
    ("schema_name", NAME, false),
    ("object_name", NAME, false),
    ("column_id", INT, false),
    ("column_name", NAME, false),
    ("data_type", SMALL, false),
    ("type_name", NAME, false),
    ("precision", INT, true),
    ("length", INT, true),
    ("scale", SMALL, true),
    ("radix", SMALL, true),
    ("nullable", SMALL, false),
    ("column_def", text(4000), true),
    ("sql_data_type", SMALL, false),
    ("sql_datetime_sub", SMALL, true),
    ("char_octet_length", INT, true),
    ("is_nullable", narrow(254), false),
    ("is_computed", SMALL, false),
    ("is_identity", SMALL, false),
    ("ss_data_type", TINY, false),
];

const PARAMETER: &[ColumnSpec] = &[
    ("schema_name", NAME, false),
    ("procedure_name", NAME, false),
    ("parameter_id", INT, false),
    ("parameter_name", NAME, false),
    ("parameter_type", SMALL, false),
    ("data_type", SMALL, false),
    ("type_name", NAME, false),
    ("precision", INT, true),
    ("length", INT, true),
    ("scale", SMALL, true),
    ("radix", SMALL, true),
    ("sql_data_type", SMALL, false),
    ("sql_datetime_sub", SMALL, true),
    ("char_octet_length", INT, true),
    ("ss_data_type", TINY, false),
];

/// A type as ODBC has it.
struct OdbcType {
    data_type: i32,
    precision: Option<i32>,
    length: Option<i32>,
    scale: Option<i32>,
    radix: Option<i32>,
    sql_data_type: i32,
    sub: Option<i32>,
    octets: Option<i32>,
    /// The byte of the type on the wire: where it can't be NULL, and where it can.
    wire: (u8, u8),
}

impl OdbcType {
    fn of(data_type: &DataType, client: Client) -> Self {
        let described = data_type.describe();
        let (precision, scale) = (i32::from(described.precision), i32::from(described.scale));
        let bytes = i32::from(described.max_length);
        match data_type.family() {
            Family::Bit => Self::number(-7, 1, 1, None, (50, 50)).with_radix(None),
            Family::Integer => {
                let (number, wire) = match bytes {
                    1 => (-6, (48, 38)),
                    2 => (5, (52, 38)),
                    8 => (-5, (63, 108)),
                    _ => (4, (56, 38)),
                };
                Self::number(number, precision, bytes, Some(0), wire)
            }
            Family::Decimal => {
                let is_numeric = matches!(data_type, DataType::Numeric { .. });
                let (number, wire) = if is_numeric { (2, (63, 108)) } else { (3, (55, 106)) };
                Self::number(number, precision, precision + 2, Some(scale), wire)
            }
            Family::Money => {
                let wire = if bytes == 4 { (122, 110) } else { (60, 110) };
                Self::number(3, precision, precision + 2, Some(4), wire)
            }
            Family::Approximate => {
                let (number, wire) = if bytes == 4 { (7, (59, 109)) } else { (6, (62, 109)) };
                // ODBC 2 counts digits, ODBC 3 bits.
                let (precision, radix) = match (client.odbc_version >= 3, bytes) {
                    (true, _) => (precision, 2),
                    (false, 4) => (7, 10),
                    (false, _) => (15, 10),
                };
                Self::number(number, precision, bytes, None, wire).with_radix(Some(radix))
            }
            Family::Text => Self::of_text(data_type, bytes, client),
            Family::Binary => {
                let is_fixed = matches!(data_type, DataType::Binary(_) | DataType::RowVersion);
                let (number, wire) = if is_fixed { (-2, (45, 37)) } else { (-3, (37, 37)) };
                match (bytes < 0, client.is_100) {
                    (true, false) => Self::text(-4, 2_147_483_647, 2_147_483_647, (34, 34)),
                    (true, true) => Self::text(number, 0, 0, wire),
                    (false, _) => Self::text(number, bytes, bytes, wire),
                }
            }
            Family::Guid => Self {
                octets: None,
                ..Self::text(-11, 36, 16, (36, 36))
            },
            Family::OldDate => {
                let wire = if bytes == 4 { (58, 111) } else { (61, 111) };
                Self::moment(client, precision, 16, Some(scale), wire)
            }
            Family::NewDate | Family::Time => Self::of_new_date(data_type, client),
            Family::Variant => Self::number(-150, 8000, 8000, Some(0), (98, 98)),
            Family::Xml => Self::text(-152, 0, 0, (0, 0)),
        }
    }

    fn of_text(data_type: &DataType, bytes: i32, client: Client) -> Self {
        let (is_wide, is_fixed) = (data_type.is_national(), data_type.is_padded());
        let (number, old) = match (is_wide, is_fixed) {
            (false, true) => (1, -1),
            (false, false) => (12, -1),
            (true, true) => (-8, -10),
            (true, false) => (-9, -10),
        };
        let wire = if is_fixed { (47, 39) } else { (39, 39) };
        let count = if is_wide { bytes / 2 } else { bytes };
        match (bytes < 0, client.is_100) {
            (true, false) if is_wide => Self::text(old, 1_073_741_823, 2_147_483_646, (35, 35)),
            (true, false) => Self::text(old, 2_147_483_647, 2_147_483_647, (35, 35)),
            (true, true) => Self::text(number, 0, 0, wire),
            (false, _) => Self::text(number, count, bytes, wire),
        }
    }

    /// Types that came with SQL Server 2008: text to clients before it.
    fn of_new_date(data_type: &DataType, client: Client) -> Self {
        let described = data_type.describe();
        let (precision, scale) = (i32::from(described.precision), i32::from(described.scale));
        if !client.is_100 {
            return Self {
                octets: None,
                ..Self::text(-9, precision, precision * 2, (0, 0))
            };
        }
        let own = |number, length| Self {
            sub: None,
            ..Self::number(number, precision, length, Some(scale), (0, 0)).with_radix(None)
        };
        if *data_type == DataType::Date {
            return Self {
                data_type: if client.odbc_version >= 3 { 91 } else { 9 },
                sub: Some(1),
                ..Self::moment(client, precision, 6, None, (0, 0))
            };
        }
        if matches!(data_type, DataType::Time(_)) {
            return own(-154, 10);
        }
        if matches!(data_type, DataType::DateTimeOffset(_)) {
            return own(-155, 20);
        }
        Self::moment(client, precision, 16, Some(scale), (0, 0))
    }

    fn number(number: i32, precision: i32, length: i32, scale: Option<i32>, wire: (u8, u8)) -> Self {
        Self {
            data_type: number,
            precision: Some(precision),
            length: Some(length),
            scale,
            radix: Some(10),
            sql_data_type: number,
            sub: None,
            octets: None,
            wire,
        }
    }

    fn with_radix(self, radix: Option<i32>) -> Self {
        Self { radix, ..self }
    }

    fn text(number: i32, count: i32, bytes: i32, wire: (u8, u8)) -> Self {
        Self {
            octets: Some(bytes),
            ..Self::number(number, count, bytes, None, wire).with_radix(None)
        }
    }

    fn moment(client: Client, precision: i32, length: i32, scale: Option<i32>, wire: (u8, u8)) -> Self {
        Self {
            data_type: if client.odbc_version >= 3 { 93 } else { 11 },
            sql_data_type: 9,
            sub: Some(3),
            ..Self::number(0, precision, length, scale, wire).with_radix(None)
        }
    }
}

/// For whom it is.
#[derive(Clone, Copy)]
struct Client {
    is_100: bool,
    odbc_version: i64,
}

impl Client {
    fn of(arguments: &[StoredRef<'_>]) -> Self {
        let whole = |at: usize| match arguments.get(at) {
            Some(StoredRef::Integer(number)) => *number,
            Some(StoredRef::Null | StoredRef::Real(_) | StoredRef::Text(_) | StoredRef::Blob(_)) | None => 0,
        };
        Self {
            is_100: whole(0) != 0,
            odbc_version: whole(1),
        }
    }
}

fn columns(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let client = Client::of(arguments);
    let mut tolds = view_column::users(context);
    tolds.extend(view_column::systems());
    let permissions = context.objects.permissions();
    let row = |column: view_column::ViewColumn| {
        let shows = permissions.sees_text((&column.schema, &column.object));
        let odbc = OdbcType::of(&column.data_type, client);
        let kind = type_name(&column.data_type);
        let name = if column.is_identity {
            format!("{kind} identity")
        } else {
            kind.to_owned()
        };
        row![
            column.object_id,
            &column.schema,
            &column.object,
            column.number,
            &column.name,
            odbc.data_type,
            name,
            odbc.precision,
            odbc.length,
            odbc.scale,
            odbc.radix,
            i32::from(column.nullable),
            column.default.as_ref().map(|(_, value)| value).filter(|_| shows),
            odbc.sql_data_type,
            odbc.sub,
            odbc.octets,
            if column.nullable { "YES" } else { "NO" },
            i32::from(column.is_computed),
            i32::from(column.is_identity),
            if column.nullable { odbc.wire.1 } else { odbc.wire.0 },
        ]
    };
    Ok(tolds.into_iter().map(row).collect())
}

fn parameters(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let client = Client::of(arguments);
    let mut rows = Vec::new();
    for procedure in context.objects.catalog.schema.procedures() {
        let Some(tree) = procedure_of(procedure, &context.objects.catalog.schema)? else {
            continue;
        };
        let program = Program::of_procedure(&procedure.definition, &tree, &procedure.name, procedure.object_id);
        let Ok(program) = program else {
            continue;
        };
        let mut add = |number: i32, (name, kind): (&str, i32), data_type: &DataType, table: Option<&TableType>| {
            let odbc = OdbcType::of(data_type, client);
            if let Some(user_type) = table {
                let (code, of_type) = (SS_TABLE, &user_type.name);
                let mut row = row![&procedure.schema, &procedure.name, number, name, kind, code, of_type];
                row.extend(row![
                    0,
                    i32::MAX,
                    Cell::Null,
                    Cell::Null,
                    code,
                    Cell::Null,
                    Cell::Null,
                    0
                ]);
                rows.push(row);
                return;
            }
            rows.push(row![
                &procedure.schema,
                &procedure.name,
                number,
                name,
                kind,
                odbc.data_type,
                type_name(data_type),
                odbc.precision,
                odbc.length,
                odbc.scale,
                odbc.radix,
                odbc.sql_data_type,
                odbc.sub,
                odbc.octets,
                if kind == RETURNED { odbc.wire.0 } else { odbc.wire.1 },
            ]);
        };
        add(0, ("@RETURN_VALUE", RETURNED), &DataType::Int, None);
        for (number, parameter) in (1..).zip(program.parameters()) {
            let kind = if parameter.is_output { 2 } else { 1 };
            let table = parameter.table.as_deref();
            add(number, (&parameter.name, kind), &parameter.data_type, table);
        }
    }
    Ok(rows)
}

/// SQL_SS_TABLE.
const SS_TABLE: i32 = -153;
/// SQL_RETURN_VALUE.
const RETURNED: i32 = 5;

const TYPE: &[ColumnSpec] = &[
    ("type_name", NAME, false),
    ("data_type", SMALL, false),
    ("precision", INT, true),
    ("literal_prefix", narrow(32), true),
    ("literal_suffix", narrow(32), true),
    ("create_params", narrow(32), true),
    ("nullable", SMALL, false),
    ("case_sensitive", SMALL, false),
    ("searchable", SMALL, false),
    ("unsigned_attribute", SMALL, true),
    ("money", SMALL, false),
    ("auto_increment", SMALL, true),
    ("minimum_scale", SMALL, true),
    ("maximum_scale", SMALL, true),
    ("sql_data_type", SMALL, false),
    ("sql_datetime_sub", SMALL, true),
    ("num_prec_radix", INT, true),
    ("usertype", SMALL, true),
];

/// A type that can be written: its largest size, what surrounds a literal and is in parentheses, how it can be
/// searched for (2 all but LIKE, 3 all), and sysusertype's number.
type Written = (DataType, (&'static str, &'static str), &'static str, i32, i32);

const fn wide(length: u16) -> Width {
    Width::Limited(length)
}

const WRITTEN: &[Written] = &[
    (DataType::DateTimeOffset(7), ("'", "'"), "scale", 3, 0),
    (DataType::Time(7), ("'", "'"), "scale", 3, 0),
    (DataType::Xml, ("N'", "'"), "", 0, 0),
    (DataType::SqlVariant, ("", ""), "", 2, 0),
    (DataType::UniqueIdentifier, ("'", "'"), "", 2, 0),
    (DataType::NVarChar(wide(4000)), ("N'", "'"), "max length", 3, 0),
    (DataType::NChar(4000), ("N'", "'"), "length", 3, 0),
    (DataType::Bit, ("", ""), "", 2, 16),
    (DataType::TinyInt, ("", ""), "", 2, 5),
    (DataType::BigInt, ("", ""), "", 2, 0),
    (DataType::VarBinary(wide(8000)), ("0x", ""), "max length", 2, 4),
    (DataType::Binary(8000), ("0x", ""), "length", 2, 3),
    (DataType::RowVersion, ("0x", ""), "", 2, 80),
    (DataType::Char(8000), ("'", "'"), "length", 3, 1),
    (
        DataType::Numeric {
            precision: 38,
            scale: 0,
        },
        ("", ""),
        "precision,scale",
        2,
        10,
    ),
    (
        DataType::Decimal {
            precision: 38,
            scale: 0,
        },
        ("", ""),
        "precision,scale",
        2,
        24,
    ),
    (DataType::Money, ("$", ""), "", 2, 11),
    (DataType::SmallMoney, ("$", ""), "", 2, 21),
    (DataType::Int, ("", ""), "", 2, 7),
    (DataType::SmallInt, ("", ""), "", 2, 6),
    (DataType::Float, ("", ""), "", 2, 8),
    (DataType::Real, ("", ""), "", 2, 23),
    (DataType::VarChar(wide(8000)), ("'", "'"), "max length", 3, 2),
    (DataType::Date, ("'", "'"), "", 3, 0),
    (DataType::DateTime2(7), ("'", "'"), "scale", 3, 0),
    (DataType::DateTime, ("'", "'"), "", 3, 12),
    (DataType::SmallDateTime, ("'", "'"), "", 3, 22),
];

fn types(_: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let client = Client::of(arguments);
    let mut rows = Vec::new();
    for written in WRITTEN {
        rows.push(type_row(written, client, false));
        let is_number = matches!(written.0.family(), Family::Integer | Family::Decimal);
        if is_number {
            rows.push(type_row(written, client, true));
        }
    }
    Ok(rows)
}

fn type_row(
    (data_type, (prefix, suffix), parameters, searchable, user): &Written,
    client: Client,
    counts: bool,
) -> Row {
    let odbc = OdbcType::of(data_type, client);
    let family = data_type.family();
    let name = type_name(data_type);
    let name = match (counts, family == Family::Decimal) {
        (false, _) => name.to_owned(),
        (true, false) => format!("{name} identity"),
        (true, true) => format!("{name}() identity"),
    };
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let parameters = if counts && !parameters.is_empty() {
        "precision"
    } else {
        parameters
    };
    let is_number = matches!(
        family,
        Family::Integer | Family::Decimal | Family::Money | Family::Approximate
    );
    let described = data_type.describe();
    let (least, most) = match family {
        Family::Bit | Family::Integer => (Some(0), Some(0)),
        Family::Decimal if counts => (Some(0), Some(0)),
        Family::Decimal => (Some(0), Some(38)),
        Family::Money => (Some(4), Some(4)),
        Family::OldDate => (Some(described.scale), Some(described.scale)),
        Family::NewDate | Family::Time if described.scale > 0 => (Some(0), Some(described.scale)),
        Family::Variant => (Some(0), Some(0)),
        Family::NewDate
        | Family::Time
        | Family::Approximate
        | Family::Text
        | Family::Binary
        | Family::Guid
        | Family::Xml => (None, None),
    };
    row![
        name,
        odbc.data_type,
        odbc.precision,
        some(prefix),
        some(suffix),
        some(parameters),
        i32::from(!counts && *data_type != DataType::RowVersion),
        i32::from(family == Family::Text),
        *searchable,
        is_number.then_some(i32::from(*data_type == DataType::TinyInt)),
        i32::from(family == Family::Money),
        is_number.then_some(i32::from(counts)),
        least,
        most,
        odbc.sql_data_type,
        odbc.sub,
        odbc.radix,
        *user,
    ]
}
