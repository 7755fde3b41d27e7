//! Logins of the server, and users of a database.

use selenite_plan::PlanError;
use selenite_types::DataType;

use super::super::hall::of_master;
use super::{BIT, Cell, ColumnSpec, INT, NAME, Row, SYS, Sight, TIME, ViewSpec, bytes, row, text};

pub(super) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "server_principals",
        is_of_server: true,
        columns: (SERVER, &[]),
        rows: server_principals,
    },
    ViewSpec {
        schema: SYS,
        name: "database_principals",
        is_of_server: false,
        columns: (DATABASE, &[]),
        rows: database_principals,
    },
];

const SERVER: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("principal_id", INT, false),
    ("sid", bytes(85), true),
    ("type", DataType::Char(1), false),
    ("type_desc", text(60), true),
    ("is_disabled", BIT, true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("default_database_name", NAME, true),
    ("default_language_name", NAME, true),
    ("credential_id", INT, true),
    ("owning_principal_id", INT, true),
    ("is_fixed_role", BIT, false),
];

fn server_principals(sight: &Sight<'_>) -> Result<Vec<Row>, PlanError> {
    let offset = sight.state.now.offset_minutes;
    let logins = sight
        .objects
        .instance
        .master()
        .logins()
        .map_err(|error| of_master(&error))?;
    let mut rows = Vec::new();
    for login in logins {
        rows.push(row![
            &login.name,
            login.id,
            login.sid.as_slice(),
            "S",
            "SQL_LOGIN",
            login.is_disabled,
            Cell::of_seconds(login.created, offset),
            Cell::of_seconds(login.modified, offset),
            &login.default_database,
            "us_english",
            Cell::Null,
            Cell::Null,
            false,
        ]);
    }
    let started = Cell::of_time(Some(sight.objects.instance.started()), offset);
    for (name, id, is_fixed) in [("public", 2, false), ("sysadmin", 3, true)] {
        let sid: Vec<u8> = vec![u8::try_from(id).unwrap_or(0)];
        rows.push(row![
            name,
            id,
            sid,
            "R",
            "SERVER_ROLE",
            false,
            started.clone(),
            started.clone(),
            Cell::Null,
            Cell::Null,
            Cell::Null,
            1,
            is_fixed,
        ]);
    }
    Ok(rows)
}

const DATABASE: &[ColumnSpec] = &[
    ("name", NAME, false),
    ("principal_id", INT, false),
    ("type", DataType::Char(1), false),
    ("type_desc", text(60), true),
    ("default_schema_name", NAME, true),
    ("create_date", TIME, false),
    ("modify_date", TIME, false),
    ("owning_principal_id", INT, true),
    ("sid", bytes(85), true),
    ("is_fixed_role", BIT, false),
    ("authentication_type", INT, false),
    ("authentication_type_desc", text(60), true),
    ("default_language_name", NAME, true),
    ("default_language_lcid", INT, true),
    ("allow_encrypted_value_modifications", BIT, false),
];

/// Those of SQL Server's that mean something here: every login is dbo in every database.
fn database_principals(sight: &Sight<'_>) -> Result<Vec<Row>, PlanError> {
    let offset = sight.state.now.offset_minutes;
    let record = sight
        .objects
        .directory
        .databases
        .iter()
        .find(|record| record.id == sight.objects.database_id);
    let made = Cell::of_seconds(record.map_or(0, |record| record.created), offset);
    let user = |name: &str, id: i32, (kind, word): (&str, &str), is_fixed: bool| {
        let is_role = kind == "R";
        let schema = (!is_role && id < 3).then(|| if id == 1 { "dbo" } else { "guest" });
        let sid = (id == 1).then(|| vec![1_u8]);
        let (authentication, how) = if id == 1 { (1, "INSTANCE") } else { (0, "NONE") };
        row![
            name,
            id,
            kind,
            word,
            schema,
            made.clone(),
            made.clone(),
            is_role.then_some(1),
            sid,
            is_fixed,
            authentication,
            how,
            Cell::Null,
            Cell::Null,
            false,
        ]
    };
    let (role, somebody) = (("R", "DATABASE_ROLE"), ("S", "SQL_USER"));
    Ok(vec![
        user("public", 0, role, false),
        user("dbo", 1, somebody, false),
        user("guest", 2, somebody, false),
        user("INFORMATION_SCHEMA", 3, somebody, false),
        user("sys", 4, somebody, false),
        user("db_owner", 16_384, role, true),
    ])
}
