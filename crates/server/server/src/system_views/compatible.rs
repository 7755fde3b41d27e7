//! The old names: sysobjects and related ones, which are found without a schema, too.

use selenite_compiler::{ObjectKind, SqlError};
use selenite_types::DataType;

use super::columns::{SYSNAME, TYPES};
use super::files::path;
use super::objects::moments;
use super::principals::{Principal, all_principals};
use super::{
    BIT, Cell, ColumnSpec, INT, NAME, Row, SMALL, SYS, TIME, TINY, ViewContext, ViewSpec, bytes, listed, narrow, row,
    text, view_column,
};
use crate::catalog::object_list::ListedObject;
use crate::names::session_objects::letters;

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "sysobjects",
        is_of_server: false,
        columns: &[OBJECT],
        rows: objects,
    },
    ViewSpec {
        schema: SYS,
        name: "syscolumns",
        is_of_server: false,
        columns: &[COLUMN],
        rows: columns,
    },
    ViewSpec {
        schema: SYS,
        name: "sysdatabases",
        is_of_server: true,
        columns: &[DATABASE],
        rows: databases,
    },
    ViewSpec {
        schema: SYS,
        name: "systypes",
        is_of_server: true,
        columns: &[TYPE],
        rows: types,
    },
    ViewSpec {
        schema: SYS,
        name: "sysusers",
        is_of_server: false,
        columns: &[USER],
        rows: users,
    },
];

const OBJECT: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("id", INT, false),
    ("xtype", DataType::Char(2), false),
    ("uid", SMALL, true),
    ("info", SMALL, true),
    ("status", INT, true),
    ("base_schema_ver", INT, true),
    ("replinfo", INT, true),
    ("parent_obj", INT, false),
    ("crdate", TIME, true),
    ("ftcatid", SMALL, true),
    ("schema_ver", INT, true),
    ("stats_schema_ver", INT, true),
    ("type", DataType::Char(2), true),
    ("userstat", SMALL, true),
    ("sysstat", SMALL, true),
    ("indexdel", SMALL, true),
    ("refdate", TIME, true),
    ("version", INT, true),
    ("deltrig", INT, true),
    ("instrig", INT, true),
    ("updtrig", INT, true),
    ("seltrig", INT, true),
    ("category", INT, true),
    ("cache", SMALL, true),
];

fn objects(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let own = context.objects.catalog.schema.objects();
    let of_own = |object: &ListedObject| {
        let (made, _) = moments(object, context);
        let schema = context.objects.catalog.schema.names().id_of(&object.schema);
        object_row((&object.name, object.id), (object.kind, schema, object.parent), made, 0)
    };
    let mut rows: Vec<Row> = own.iter().map(of_own).collect();
    let started = Cell::of_time(
        Some(context.objects.instance.started()),
        context.state.now.offset_minutes,
    );
    rows.extend(listed().map(|view| {
        let kind = (ObjectKind::View, view.schema_id(), 0);
        object_row((view.name, view.id), kind, started.clone(), SHIPPED)
    }));
    Ok(rows)
}

fn object_row(
    (name, id): (&str, i32),
    (kind, schema, parent): (ObjectKind, i32, i32),
    made: Cell,
    category: i32,
) -> Row {
    // The letters of old: a key is K.
    let (old, old_number) = match kind {
        ObjectKind::PrimaryKey | ObjectKind::Unique => ("K", Some(9)),
        ObjectKind::UserTable => ("U", Some(3)),
        ObjectKind::View => ("V", Some(2)),
        ObjectKind::Procedure => ("P", Some(4)),
        ObjectKind::SystemTable
        | ObjectKind::ExtendedProcedure
        | ObjectKind::ScalarFunction
        | ObjectKind::InlineFunction
        | ObjectKind::TableFunction
        | ObjectKind::Trigger
        | ObjectKind::ForeignKey
        | ObjectKind::Check
        | ObjectKind::Default
        | ObjectKind::Sequence
        | ObjectKind::Synonym => (letters(kind), None),
    };
    row![
        name,
        id,
        letters(kind),
        schema,
        0,
        0,
        0,
        0,
        parent,
        made.clone(),
        0,
        0,
        0,
        old,
        Cell::Null,
        old_number,
        0,
        made,
        0,
        0,
        0,
        0,
        0,
        category,
        0,
    ]
}

const COLUMN: &[ColumnSpec] = &[
    ("name", NAME, true),
    ("id", INT, false),
    ("xtype", TINY, false),
    ("typestat", TINY, true),
    ("xusertype", SMALL, true),
    ("length", SMALL, false),
    ("xprec", TINY, false),
    ("xscale", TINY, false),
    ("colid", SMALL, true),
    ("xoffset", SMALL, true),
    ("bitpos", TINY, true),
    ("reserved", TINY, true),
    ("colstat", SMALL, true),
    ("cdefault", INT, false),
    ("domain", INT, false),
    ("number", SMALL, true),
    ("colorder", SMALL, true),
    ("autoval", bytes(8000), true),
    ("offset", SMALL, true),
    ("collationid", INT, true),
    ("language", INT, true),
    ("status", TINY, true),
    ("type", TINY, true),
    ("usertype", SMALL, true),
    ("printfmt", narrow(255), true),
    ("prec", SMALL, true),
    ("scale", INT, true),
    ("iscomputed", INT, true),
    ("isoutparam", INT, true),
    ("isnullable", INT, true),
    ("collation", NAME, true),
];

fn columns(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let row = |column: view_column::ViewColumn| {
        let described = column.data_type.describe();
        let precision = match column.data_type.describe().precision {
            0 => i64::from(described.max_length),
            precision => i64::from(precision),
        };
        row![
            &column.name,
            column.object_id,
            described.system_type_id,
            Cell::Null,
            i64::from(described.user_type_id),
            described.max_length,
            described.precision,
            described.scale,
            column.number,
            Cell::Null,
            Cell::Null,
            0,
            i32::from(column.is_identity),
            column.default.as_ref().map_or(0, |(id, _)| *id),
            0,
            0,
            column.number,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            Cell::Null,
            if column.is_identity { 128 } else { 0 } | if column.nullable { 8 } else { 0 },
            Cell::Null,
            Cell::Null,
            Cell::Null,
            precision,
            described.scale,
            i32::from(column.is_computed),
            0,
            i32::from(column.nullable),
            column.collation_name(),
        ]
    };
    Ok(view_column::users(context).into_iter().map(row).collect())
}

const DATABASE: &[ColumnSpec] = &[
    ("name", NAME, true),
    ("dbid", SMALL, true),
    ("sid", bytes(85), true),
    ("mode", SMALL, true),
    ("status", INT, true),
    ("status2", INT, true),
    ("crdate", TIME, true),
    ("reserved", TIME, true),
    ("category", INT, true),
    ("cmptlevel", TINY, false),
    ("filename", text(260), true),
    ("version", SMALL, true),
];

fn databases(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let row = |record: &crate::master::DatabaseRecord| {
        let file = path(context, record).map(|path| path.to_string_lossy().into_owned());
        row![
            &record.name,
            record.id,
            vec![1_u8],
            0,
            Cell::Null,
            Cell::Null,
            Cell::of_seconds(record.created, context.state.now.offset_minutes),
            Cell::Null,
            0,
            i32::from(context.objects.directory.options(record.id).compatibility_level()),
            file,
            Cell::Null,
        ]
    };
    Ok(context.objects.directory.databases.iter().map(row).collect())
}

const TYPE: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("xtype", TINY, false),
    ("status", TINY, true),
    ("xusertype", SMALL, true),
    ("length", SMALL, false),
    ("xprec", TINY, false),
    ("xscale", TINY, false),
    ("tdefault", INT, false),
    ("domain", INT, false),
    ("uid", SMALL, true),
    ("reserved", SMALL, true),
    ("collationid", INT, true),
    ("usertype", SMALL, true),
    ("variable", BIT, true),
    ("allownulls", BIT, true),
];

fn types(_: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let row = |(name, id, length, precision, scale): &(&str, i32, i32, i32, i32)| {
        let is_variable = matches!(*id, 165 | 167 | 231 | SYSNAME);
        row![
            *name,
            if *id == SYSNAME { 231 } else { *id },
            0,
            *id,
            *length,
            *precision,
            *scale,
            0,
            0,
            4,
            0,
            Cell::Null,
            Cell::Null,
            is_variable,
            *id != SYSNAME,
        ]
    };
    Ok(TYPES.iter().map(row).collect())
}

/// sysobjects.category of what comes with the server.
const SHIPPED: i32 = 2;

const USER: &[ColumnSpec] = &[
    ("uid", SMALL, true),
    ("status", SMALL, true),
    ("name", NAME, true),
    ("sid", bytes(85), true),
    ("roles", bytes(2048), true),
    ("createdate", TIME, false),
    ("updatedate", TIME, false),
    ("altuid", SMALL, true),
    ("password", bytes(256), true),
    ("gid", SMALL, true),
    ("environ", narrow(255), true),
    ("hasdbaccess", INT, true),
    ("islogin", INT, true),
    ("isntname", INT, true),
    ("isntgroup", INT, true),
    ("isntuser", INT, true),
    ("issqluser", INT, true),
    ("isaliased", INT, true),
    ("issqlrole", INT, true),
    ("isapprole", INT, true),
];

/// Users and roles; the numbers of a role's members are no more what they were.
fn users(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let row = |principal: Principal<'_>| {
        let (is_user, is_role) = (i32::from(!principal.is_role), i32::from(principal.is_role));
        let has_access = i32::from(!principal.is_role && principal.sid.is_some());
        let (made, changed) = principal.moments(context.state.now.offset_minutes);
        let group = if principal.is_role { principal.id } else { 0 };
        row![
            principal.id,
            0,
            principal.name,
            principal.sid,
            Cell::Null,
            made,
            changed,
            Cell::Null,
            Cell::Null,
            group,
            Cell::Null,
            has_access,
            is_user,
            0,
            0,
            0,
            is_user,
            0,
            is_role,
            0,
        ]
    };
    Ok(all_principals(context).into_iter().map(row).collect())
}
