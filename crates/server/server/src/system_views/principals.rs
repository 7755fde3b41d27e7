//! Logins of the server, users of a database, and the roles that they are in.

use std::collections::{HashMap, HashSet};

use selenite_compiler::{NameKey, SqlError};
use selenite_types::DataType;
use selenite_types::storage::StoredRef;

use super::{
    BIT, Cell, ColumnSpec, FunctionSpec, INT, NAME, Row, SYS, TIME, TINY, ViewContext, ViewSpec, bytes, row, text,
};
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::grants::{Grant, GrantState, GrantedOn};
use crate::catalog::permission::sees_server_role;
use crate::catalog::permission_kind::{Class, PermissionKind};
use crate::catalog::principals::{DBO, GUEST};
use crate::catalog::schema::Schema;
use crate::catalog::stored_keys::stored_kind;
use crate::master::LoginRecord;
use crate::master::{PUBLIC_SID, SA, ServerPermission, ServerRole, UserServerRole};

pub(crate) const VIEWS: &[ViewSpec] = &[
    ViewSpec {
        schema: SYS,
        name: "server_principals",
        is_of_server: true,
        columns: &[SERVER],
        rows: server_principals,
    },
    ViewSpec {
        schema: SYS,
        name: "sql_logins",
        is_of_server: true,
        columns: &[LOGIN],
        rows: sql_logins,
    },
    ViewSpec {
        schema: SYS,
        name: "server_role_members",
        is_of_server: true,
        columns: &[MEMBERS],
        rows: server_role_members,
    },
    ViewSpec {
        schema: SYS,
        name: "server_permissions",
        is_of_server: true,
        columns: &[PERMISSION],
        rows: server_permissions,
    },
    ViewSpec {
        schema: SYS,
        name: "database_principals",
        is_of_server: false,
        columns: &[DATABASE],
        rows: database_principals,
    },
    ViewSpec {
        schema: SYS,
        name: "database_role_members",
        is_of_server: false,
        columns: &[MEMBERS],
        rows: database_role_members,
    },
    ViewSpec {
        schema: SYS,
        name: "database_permissions",
        is_of_server: false,
        columns: &[PERMISSION],
        rows: database_permissions,
    },
];

pub(crate) const FUNCTIONS: &[FunctionSpec] = &[own_permissions(SYS), own_permissions("")];

const fn own_permissions(schema: &'static str) -> FunctionSpec {
    FunctionSpec {
        schema,
        name: "fn_my_permissions",
        columns: &[
            ("entity_name", NAME, true),
            ("subentity_name", NAME, true),
            ("permission_name", NAME, true),
        ],
        arguments: &[NAME, NAME],
        required: 2,
        rows: my_permissions,
    }
}

/// fn_my_permissions.
fn my_permissions(context: &ViewContext<'_>, arguments: &[StoredRef<'_>]) -> Result<Vec<Row>, SqlError> {
    let text = |at: usize| match arguments.get(at) {
        Some(StoredRef::Text(text)) => std::str::from_utf8(text).ok(),
        Some(_) | None => None,
    };
    let (securable, class) = (text(0), text(1));
    let found = context.objects.effective(securable, class)?;
    let (held, of_columns) = found.map(|found| (found.held, found.of_columns)).unwrap_or_default();
    let is_server = class.is_none_or(|class| class.eq_ignore_ascii_case("server"));
    let name = securable.unwrap_or(if is_server { "server" } else { "database" });
    let own = held.iter().map(|permission| row![name, "", *permission]);
    let of_columns = of_columns.iter().flat_map(|of| {
        let held = of.held.iter();
        held.map(|permission| row![name, of.column.as_str(), *permission])
    });
    Ok(own.chain(of_columns).collect())
}

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

const LOGIN: &[ColumnSpec] = &[
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
    ("is_policy_checked", BIT, true),
    ("is_expiration_checked", BIT, true),
    ("password_hash", bytes(256), true),
];

const MEMBERS: &[ColumnSpec] = &[("role_principal_id", INT, false), ("member_principal_id", INT, false)];

/// The logins that are visible to the session: a login without ALTER ANY LOGIN and VIEW ANY DEFINITION sees itself and
/// sa.
fn seen<'a>(context: &'a ViewContext<'_>) -> impl Iterator<Item = &'a LoginRecord> {
    let server = context.objects.permissions().server;
    let sees_all = [ServerPermission::AlterAnyLogin, ServerPermission::ViewAnyDefinition]
        .into_iter()
        .any(|kind| server.may(kind));
    let own = &context.objects.identity.sid;
    let logins = context.objects.directory.records.iter();
    logins.filter(move |login| sees_all || login.sid[..] == own[..] || login.id == SA)
}

fn server_principals(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let mut rows = Vec::new();
    for login in seen(context) {
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
    let started = Cell::of_time(Some(context.objects.instance.started()), offset);
    let fixed = ServerRole::ALL.into_iter().map(|role| (role.name(), role.id(), true));
    for (name, id, is_fixed) in [("public", PUBLIC_ID, false)].into_iter().chain(fixed) {
        let sid = vec![u8::try_from(id).unwrap_or(0)];
        let times = (started.clone(), started.clone());
        rows.push(role_row((name, i64::from(id), sid), times, (SA, is_fixed)));
    }
    for role in seen_roles(context) {
        let times = (
            Cell::of_seconds(role.created, offset),
            Cell::of_seconds(role.modified, offset),
        );
        let owner = id_of_principal(&role.owner, context).unwrap_or(SA);
        let named = (role.name.as_str(), i64::from(role.id), role.sid.clone());
        rows.push(role_row(named, times, (owner, false)));
    }
    Ok(rows)
}

fn role_row(
    (name, id, sid): (&str, i64, Vec<u8>),
    (made, changed): (Cell, Cell),
    (owner, is_fixed): (i64, bool),
) -> Row {
    row![
        name,
        id,
        sid,
        "R",
        "SERVER_ROLE",
        false,
        made,
        changed,
        Cell::Null,
        Cell::Null,
        Cell::Null,
        owner,
        is_fixed,
    ]
}

/// The roles of CREATE SERVER ROLE that are visible to the session.
fn seen_roles<'a>(context: &'a ViewContext<'_>) -> impl Iterator<Item = &'a UserServerRole> {
    let permissions = context.objects.permissions();
    let roles = context.objects.directory.security.roles.iter();
    roles.filter(move |role| sees_server_role(role, &permissions))
}

/// The number of the login or role of a security id.
fn id_of_principal(sid: &[u8], context: &ViewContext<'_>) -> Option<i64> {
    let directory = &context.objects.directory;
    let login = directory.records.iter().find(|login| login.sid == sid);
    let own = || directory.security.roles.iter().find(|role| role.sid == sid);
    let fixed = || ServerRole::ALL.into_iter().find(|role| role.sid() == sid);
    let login = login.map(|login| login.id);
    let role = || own().map(|role| i64::from(role.id));
    login.or_else(role).or_else(|| fixed().map(|role| i64::from(role.id())))
}

fn sql_logins(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let row = |login: &LoginRecord| {
        row![
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
            login.checks_policy,
            login.checks_expiration,
            // No one is shown it.
            Cell::Null,
        ]
    };
    Ok(seen(context).map(row).collect())
}

fn server_role_members(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = Vec::new();
    let logins: Vec<&LoginRecord> = seen(context).collect();
    let administrators = logins.iter().filter(|login| login.is_administrator);
    rows.extend(administrators.map(|login| row![ServerRole::SysAdmin.id(), login.id]));
    let roles: Vec<&UserServerRole> = seen_roles(context).collect();
    let is_seen = |id: i32| ServerRole::of_id(id).is_some() || roles.iter().any(|role| role.id == id);
    let member_id = |sid: &[u8]| {
        let login = logins.iter().find(|login| login.sid == sid).map(|login| login.id);
        let role = || roles.iter().find(|role| role.sid == sid);
        login.or_else(|| role().map(|role| i64::from(role.id)))
    };
    let members = context.objects.directory.security.members.iter();
    let members = members.filter(|(role, _)| is_seen(*role));
    rows.extend(members.filter_map(|(role, member)| Some(row![*role, member_id(member)?])));
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

/// A user or role of a database.
pub(super) struct Principal<'a> {
    pub(super) id: i32,
    pub(super) name: &'a str,
    owner: i32,
    pub(super) is_role: bool,
    is_fixed: bool,
    schema: Option<&'a str>,
    pub(super) sid: Option<Vec<u8>>,
    times: (i64, i64),
}

impl Principal<'_> {
    /// When it was made, and changed last.
    pub(super) fn moments(&self, offset: i16) -> (Cell, Cell) {
        (
            Cell::of_seconds(self.times.0, offset),
            Cell::of_seconds(self.times.1, offset),
        )
    }

    fn row(self, offset: i16) -> Row {
        let (kind, word) = if self.is_role {
            ("R", "DATABASE_ROLE")
        } else {
            ("S", "SQL_USER")
        };
        let is_of_login = !self.is_role && self.sid.is_some();
        let (made, changed) = self.moments(offset);
        row![
            self.name,
            self.id,
            kind,
            word,
            self.schema,
            made,
            changed,
            self.is_role.then_some(self.owner),
            self.sid,
            self.is_fixed,
            i32::from(is_of_login),
            if is_of_login { "INSTANCE" } else { "NONE" },
            Cell::Null,
            Cell::Null,
            false,
        ]
    }
}

fn database_principals(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let offset = context.state.now.offset_minutes;
    let principals = all_principals(context).into_iter();
    Ok(principals.map(|principal| principal.row(offset)).collect())
}

/// All users and roles of the database in use.
pub(super) fn all_principals<'a>(context: &'a ViewContext<'_>) -> Vec<Principal<'a>> {
    let mut databases = context.objects.directory.databases.iter();
    let record = databases.find(|record| record.id == context.objects.database_id);
    let made = record.map_or(0, |record| record.created);
    let own = |id: i32, name: &'static str, (is_role, is_fixed): (bool, bool)| Principal {
        id,
        name,
        owner: DBO,
        is_role,
        is_fixed,
        schema: match id {
            DBO => Some("dbo"),
            GUEST => Some("guest"),
            _ => None,
        },
        sid: (id == DBO).then(|| vec![1]),
        times: (made, made),
    };
    let not_a_role = (false, false);
    let mut all = vec![
        own(0, "public", (true, false)),
        own(DBO, "dbo", not_a_role),
        own(GUEST, "guest", not_a_role),
        own(3, "INFORMATION_SCHEMA", not_a_role),
        own(4, "sys", not_a_role),
    ];
    let users = context.objects.catalog.schema.principals().users();
    all.extend(users.iter().map(|user| Principal {
        id: user.id,
        name: &user.name,
        owner: DBO,
        is_role: false,
        is_fixed: false,
        schema: Some(&user.default_schema),
        sid: Some(user.sid.clone()),
        times: (user.created, user.modified),
    }));
    let roles = context.objects.catalog.schema.principals().roles();
    all.extend(roles.iter().map(|role| Principal {
        id: role.id,
        name: &role.name,
        owner: role.owner,
        is_role: true,
        is_fixed: false,
        schema: None,
        sid: None,
        times: (role.created, role.modified),
    }));
    let roles = FixedRole::ALL.into_iter();
    all.extend(roles.map(|role| own(role.id(), role.name(), (true, true))));
    all
}

fn database_role_members(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let mut rows = vec![row![FixedRole::Owner.id(), DBO]];
    let members = context.objects.catalog.schema.principals().members();
    rows.extend(members.iter().map(|(role, member)| row![*role, *member]));
    Ok(rows)
}

const PERMISSION: &[ColumnSpec] = &[
    ("class", TINY, false),
    ("class_desc", text(60), true),
    ("major_id", INT, false),
    ("minor_id", INT, false),
    ("grantee_principal_id", INT, false),
    ("grantor_principal_id", INT, false),
    ("type", DataType::Char(4), false),
    ("permission_name", NAME, true),
    ("state", DataType::Char(1), false),
    ("state_desc", text(60), true),
];

/// What was granted and denied on what the session sees. Users have CONNECT unless it is denied.
fn database_permissions(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let schema = &context.objects.catalog.schema;
    let principals = schema.principals();
    let objects = schema.objects().into_iter().map(|object| (object.id, object.schema));
    let schema_of: HashMap<i32, String> = objects.collect();
    let types = context.objects.seen_types().into_iter().map(|one| one.row.object_id);
    let types: HashSet<i32> = types.collect();
    let is_shown = |grant: &&Grant| match grant.on.class {
        Class::Object => schema_of.contains_key(&grant.on.major_id),
        Class::Type => types.contains(&grant.on.major_id),
        Class::SymmetricKey | Class::Certificate | Class::AsymmetricKey => sees_key(context, &grant.on),
        Class::Database | Class::Schema | Class::User => true,
    };
    // Of a type, its number among the types.
    let major_id = |grant: &Grant| match grant.on.class {
        Class::Type => schema.type_of_id(grant.on.major_id).map_or(0, |found| found.id()),
        Class::Database
        | Class::Object
        | Class::Schema
        | Class::User
        | Class::SymmetricKey
        | Class::Certificate
        | Class::AsymmetricKey => grant.on.major_id,
    };
    let mut numbers: HashMap<i32, HashMap<NameKey, i32>> = HashMap::new();
    let mut minor_id = |grant: &Grant| {
        let Some(name) = &grant.on.column else { return 0 };
        let of_table = numbers.entry(grant.on.major_id).or_insert_with(|| {
            let columns = context.objects.columns_of(grant.on.major_id).into_iter();
            columns
                .map(|column| (NameKey::new(&column.name), column.number))
                .collect()
        });
        of_table.get(&NameKey::new(name)).copied().unwrap_or_default()
    };
    let mut grants: Vec<Grant> = principals.grants().iter().filter(is_shown).cloned().collect();
    let of_connect = grants.iter().filter(|grant| grant.kind == PermissionKind::Connect);
    let known: HashSet<i32> = of_connect.map(|grant| grant.grantee).collect();
    for user in principals.users().iter().map(|user| user.id).chain([DBO]) {
        if !known.contains(&user) {
            grants.push(Grant {
                on: GrantedOn {
                    class: Class::Database,
                    major_id: 0,
                    column: None,
                },
                kind: PermissionKind::Connect,
                grantee: user,
                grantor: None,
                state: GrantState::Granted,
            });
        }
    }
    let mut row = |grant: &Grant| {
        let ((name, letters), state) = (grant.kind.words(), grant.state.words());
        row![
            grant.on.class.number(),
            grant.on.class.description(),
            major_id(grant),
            minor_id(grant),
            grant.grantee,
            grant
                .grantor
                .unwrap_or_else(|| owner_of(&grant.on, (schema, &schema_of))),
            format!("{letters:<4}"),
            name,
            state.0,
            state.1,
        ]
    };
    Ok(grants.iter().map(&mut row).collect())
}

/// Whether the session sees a key, or the class of keys.
fn sees_key(context: &ViewContext<'_>, on: &GrantedOn) -> bool {
    let keys = context.objects.catalog.schema.keys();
    let key = stored_kind(on.class).and_then(|kind| keys.of_id(kind, on.major_id));
    on.major_id == 0 || key.is_some_and(|key| context.objects.sees_key(key))
}

/// What was granted and denied on the server, to the logins and roles that the session sees and to `public`. A login has CONNECT
/// SQL unless that is denied.
fn server_permissions(context: &ViewContext<'_>) -> Result<Vec<Row>, SqlError> {
    let logins: Vec<&LoginRecord> = seen(context).collect();
    let roles: Vec<&UserServerRole> = seen_roles(context).collect();
    let id_of = |sid: &[u8]| {
        let found = logins.iter().find(|login| login.sid == sid).map(|login| login.id);
        let role = || roles.iter().find(|role| role.sid == sid).map(|role| i64::from(role.id));
        let public = || (sid == PUBLIC_SID).then_some(i64::from(PUBLIC_ID));
        found.or_else(role).or_else(public)
    };
    let row = |on: i64, grantee: i64, (name, letters): (&str, &str), is_denied: bool| {
        let (class, description) = if on == 0 {
            (100, "SERVER")
        } else {
            (101, "SERVER_PRINCIPAL")
        };
        let state = if is_denied {
            GrantState::Denied
        } else {
            GrantState::Granted
        };
        row![
            class,
            description,
            on,
            0,
            grantee,
            1,
            format!("{letters:<4}"),
            name,
            state.words().0,
            state.words().1,
        ]
    };
    let grants = &context.objects.directory.security.grants;
    let mut rows = vec![row(0, i64::from(PUBLIC_ID), ("VIEW ANY DATABASE", "VWDB"), false)];
    let connect = ServerPermission::ConnectSql;
    for login in &logins {
        if !grants
            .iter()
            .any(|grant| grant.kind == connect && grant.grantee == login.sid)
        {
            rows.push(row(0, login.id, connect.words(), false));
        }
    }
    for grant in grants {
        let on = if grant.on.is_empty() { Some(0) } else { id_of(&grant.on) };
        if let (Some(on), Some(grantee)) = (on, id_of(&grant.grantee)) {
            rows.push(row(on, grantee, grant.kind.words(), grant.is_denied));
        }
    }
    Ok(rows)
}

/// The owner of what something was granted on: who, or in whose name, it was granted. `schema_of` has the schemas of
/// objects.
fn owner_of(on: &GrantedOn, (schema, schema_of): (&Schema, &HashMap<i32, String>)) -> i32 {
    let of = match on.class {
        Class::Database | Class::User => None,
        Class::SymmetricKey | Class::Certificate | Class::AsymmetricKey => {
            let key = stored_kind(on.class).and_then(|kind| schema.keys().of_id(kind, on.major_id));
            return key.map_or(DBO, |key| key.owner);
        }
        Class::Schema => schema.names().of_id(on.major_id),
        Class::Object => schema_of.get(&on.major_id).and_then(|of| schema.names().named(of)),
        Class::Type => schema
            .type_of_id(on.major_id)
            .and_then(|found| schema.names().named(&found.row.schema)),
    };
    of.map_or(DBO, |schema| schema.owner)
}

/// SQL Server's numbers.
const PUBLIC_ID: i32 = 2;
