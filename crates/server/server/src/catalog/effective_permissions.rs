//! What a login may do in a database: what its user, and the roles that it is in, own and were granted.

use std::sync::Arc;

use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{ObjectKind, same_name};

use crate::catalog::directory::Directory;
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::grants::{Grant, GrantState};
use crate::catalog::permission_kind::{Class, PermissionKind};
use crate::catalog::principals::{DBO, GUEST, PUBLIC, has_guests};
use crate::catalog::schema::{Schema, is_global};
use crate::catalog::schema_names;
use crate::master::{ServerPermission, ServerRights};

/// The permissions of a login in a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Permissions {
    /// Whether it is in `sysadmin`.
    pub is_administrator: bool,
    /// Its user's id and name; `None` if it may not use the database.
    pub user: Option<(i32, Arc<str>)>,
    /// What its login may do on the server; nothing for a user of EXECUTE AS.
    pub server: ServerRights,
    /// The schema of names without one.
    pub default_schema: Arc<str>,
    /// Its user, the roles that it is in, and `public`.
    principals: Vec<i32>,
    fixed: Vec<FixedRole>,
    /// The schemas that the user, or a role that it is in, owns.
    schemas: Vec<String>,
    /// What the user, or a role that it is in, was granted or denied.
    given: Arc<[Given]>,
    /// The principals that own the database, or may: CONTROL of the database is not IMPERSONATE on them.
    owners: Arc<[i32]>,
}

/// What was granted or denied, by names.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Given {
    kind: PermissionKind,
    on: GivenOn,
    grantee: i32,
    state: GrantState,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum GivenOn {
    Database,
    Schema(String),
    Object(String, String),
    Column(String, String, String),
    User(i32),
    Type(String, String),
    Key(Class, i32),
}

/// What a permission is wanted on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Securable<'a> {
    /// The database.
    Database,
    /// A schema.
    Schema(&'a str),
    /// An object, by its schema and name: not what is granted or denied on columns alone.
    Object(&'a str, &'a str),
    /// A column of a table or view, by the schema and name of that.
    Column(&'a str, &'a str, &'a str),
    /// A user, by its number.
    User(i32),
    /// A type of a user, by its schema and name.
    Type(&'a str, &'a str),
    /// A key that encrypts values, by its class and number, and its owner.
    Key(Class, i32, i32),
}

impl Given {
    fn of(grant: &Grant, schema: &Schema) -> Option<Self> {
        let major_id = grant.on.major_id;
        let on = match grant.on.class {
            Class::Database => GivenOn::Database,
            Class::Schema => GivenOn::Schema(schema.names().of_id(major_id)?.name.clone()),
            Class::Object => {
                let (schema, name) = schema.name_of_id(major_id)?;
                match &grant.on.column {
                    Some(column) => GivenOn::Column(schema, name, column.clone()),
                    None => GivenOn::Object(schema, name),
                }
            }
            Class::User => GivenOn::User(major_id),
            Class::SymmetricKey | Class::Certificate | Class::AsymmetricKey => GivenOn::Key(grant.on.class, major_id),
            Class::Type => {
                let found = schema.type_of_id(major_id)?;
                GivenOn::Type(found.row.schema.clone(), found.row.name.clone())
            }
        };
        Some(Self {
            kind: grant.kind,
            on,
            grantee: grant.grantee,
            state: grant.state,
        })
    }

    /// Whether it is about a permission on something, or on what that is in.
    fn covers(&self, wanted: PermissionKind, on: Securable<'_>) -> bool {
        let class = match (&self.on, on) {
            (GivenOn::Database, _) => Some(Class::Database),
            (GivenOn::Schema(own), _) => {
                let is_it = schema_of(on).is_some_and(|schema| same_name(own, schema));
                is_it.then_some(Class::Schema)
            }
            (
                GivenOn::Object(own_schema, own),
                Securable::Object(schema, name) | Securable::Column(schema, name, _),
            ) => (same_name(own_schema, schema) && same_name(own, name)).then_some(Class::Object),
            (GivenOn::Type(own_schema, own), Securable::Type(schema, name)) => {
                (same_name(own_schema, schema) && same_name(own, name)).then_some(Class::Type)
            }
            (GivenOn::User(own), Securable::User(user)) => (*own == user).then_some(Class::User),
            (GivenOn::Key(class, own), Securable::Key(wanted, id, _)) => {
                ((*class, *own) == (wanted, id)).then_some(*class)
            }
            (
                GivenOn::Object(..) | GivenOn::Type(..) | GivenOn::Column(..) | GivenOn::User(_) | GivenOn::Key(..),
                _,
            ) => None,
        };
        class.is_some_and(|class| self.kind.covers(class, wanted))
    }

    /// Whether it is on columns of an object, and about this permission.
    fn is_on_columns_of(&self, wanted: PermissionKind, (schema, name): (&str, &str)) -> bool {
        let GivenOn::Column(own_schema, own, _) = &self.on else {
            return false;
        };
        self.kind == wanted && same_name(own_schema, schema) && same_name(own, name)
    }

    fn is_on_column(&self, column: &str) -> bool {
        matches!(&self.on, GivenOn::Column(_, _, own) if same_name(own, column))
    }
}

/// The schema that something is or is in.
fn schema_of<'a>(on: Securable<'a>) -> Option<&'a str> {
    match on {
        Securable::Schema(schema)
        | Securable::Object(schema, _)
        | Securable::Column(schema, _, _)
        | Securable::Type(schema, _) => Some(schema),
        Securable::Database | Securable::User(_) | Securable::Key(..) => None,
    }
}

impl Permissions {
    /// The permissions of an administrator.
    #[must_use]
    pub fn administrator() -> Self {
        Self {
            is_administrator: true,
            server: ServerRights::all(),
            user: Some((DBO, Arc::from("dbo"))),
            default_schema: Arc::from(SCHEMA),
            principals: vec![DBO, FixedRole::Owner.id(), PUBLIC],
            fixed: vec![FixedRole::Owner],
            schemas: Vec::new(),
            given: Arc::default(),
            owners: Arc::default(),
        }
    }

    /// The permissions of the login of `sid` in a database.
    #[must_use]
    pub fn of(sid: &[u8], directory: &Directory, database_id: i32, schema: &Schema) -> Self {
        let principals = schema.principals();
        if directory.is_administrator(sid) {
            return Self::administrator();
        }
        // A user of another database, who has no login here, has no rights on the server.
        let server = match sid {
            [] => ServerRights::default(),
            sid => directory.security.of(sid),
        };
        let has_control = server.may(ServerPermission::ControlServer);
        let user = principals.of_login(sid);
        let is_guest = has_guests(database_id) || principals.lets_in(sid, has_control);
        let found = match user {
            Some(user) => {
                let named = (user.id, Arc::from(user.name.as_str()));
                let own = principals.with_roles(user.id);
                let named = principals.lets_in(sid, has_control).then_some(named);
                Self::of_principals(own, named, &user.default_schema, schema)
            }
            None if is_guest => {
                let guest = Some((GUEST, Arc::from("guest")));
                Self::of_principals(vec![GUEST, PUBLIC], guest, schema_names::GUEST, schema)
            }
            None => Self::of_principals(Vec::new(), None, SCHEMA, schema),
        };
        found.with_server(server)
    }

    /// The same with what its login may do on the server, and what that is in each database.
    fn with_server(mut self, server: ServerRights) -> Self {
        let of_server = [
            (ServerPermission::ViewAnyDefinition, PermissionKind::ViewDefinition),
            (ServerPermission::ControlServer, PermissionKind::Control),
        ];
        let more = of_server.into_iter().filter_map(|(of, kind)| {
            let state = match (server.is_denied(of), server.may(of)) {
                (true, _) => GrantState::Denied,
                (false, true) => GrantState::Granted,
                (false, false) => return None,
            };
            Some(Given {
                kind,
                on: GivenOn::Database,
                grantee: PUBLIC,
                state,
            })
        });
        let more: Vec<Given> = more.collect();
        if !more.is_empty() {
            self.given = self.given.iter().cloned().chain(more).collect();
        }
        self.server = server;
        self
    }

    /// The number of the principal who owns what it makes: `dbo` for a guest, as whom many logins are.
    #[must_use]
    pub fn new_owner(&self) -> i32 {
        let own = self.user.as_ref().map(|(id, _)| *id);
        own.filter(|id| *id != GUEST).unwrap_or(DBO)
    }

    /// The permissions of a user or role of a database.
    #[must_use]
    pub fn of_principal(id: i32, schema: &Schema) -> Self {
        let principals = schema.principals();
        let own = match id {
            DBO => vec![DBO, FixedRole::Owner.id(), PUBLIC],
            id => principals.with_roles(id),
        };
        let users = principals.users().iter();
        let user = users.into_iter().find(|user| user.id == id);
        let default_schema = user.map_or(SCHEMA, |user| user.default_schema.as_str());
        let name = match id {
            DBO => Some("dbo"),
            id => principals.name_of_id(id),
        };
        Self::of_principals(own, name.map(|name| (id, Arc::from(name))), default_schema, schema)
    }

    /// The permissions of these principals: a user and the roles that it is in.
    fn of_principals(own: Vec<i32>, user: Option<(i32, Arc<str>)>, default_schema: &str, schema: &Schema) -> Self {
        let schemas = schema.names().all().iter();
        let schemas = schemas.filter(|schema| schema.owner != PUBLIC && own.contains(&schema.owner));
        let grants = schema.principals().grants().iter();
        let grants = grants.filter(|grant| own.contains(&grant.grantee));
        Self {
            is_administrator: false,
            server: ServerRights::default(),
            default_schema: Arc::from(default_schema),
            schemas: schemas.map(|schema| schema.name.clone()).collect(),
            fixed: own.iter().filter_map(|id| FixedRole::of_id(*id)).collect(),
            given: grants.filter_map(|grant| Given::of(grant, schema)).collect(),
            owners: schema.principals().owners().into(),
            principals: own,
            user,
        }
    }

    /// Whether nothing is denied to it in the database: an administrator, and `dbo`.
    fn is_exempt(&self) -> bool {
        self.is_administrator || self.user.as_ref().is_some_and(|(id, _)| *id == DBO)
    }

    /// Whether it is in a role that every database has.
    #[must_use]
    pub fn is_in(&self, role: FixedRole) -> bool {
        self.fixed.contains(&role)
    }

    /// Whether it is a user, or in a role, of a number.
    #[must_use]
    pub fn is_or_is_in(&self, principal: i32) -> bool {
        self.principals.contains(&principal)
    }

    /// Whether it has all permissions in the database.
    #[must_use]
    pub fn owns(&self) -> bool {
        self.is_administrator || self.is_in(FixedRole::Owner)
    }

    /// Whether it may create, change and drop objects in all schemas.
    #[must_use]
    pub fn defines(&self) -> bool {
        self.may(PermissionKind::Alter, Securable::Database)
    }

    /// Whether its user, or a role that it is in, owns a schema.
    fn has_schema(&self, schema: &str) -> bool {
        self.schemas.iter().any(|known| same_name(known, schema))
    }

    /// Whether its user, or a role that it is in, owns something: the schema that it is in, or the key.
    #[must_use]
    pub fn is_owner_of(&self, on: Securable<'_>) -> bool {
        let owns_key = matches!(on, Securable::Key(_, _, owner) if self.is_or_is_in(owner));
        owns_key || schema_of(on).is_some_and(|schema| self.has_schema(schema))
    }

    /// Whether it has a permission (`deny-wins`). The owner of a schema has all permissions on what is in it.
    #[must_use]
    pub fn may(&self, wanted: PermissionKind, on: Securable<'_>) -> bool {
        if self.is_exempt() {
            return true;
        }
        if wanted == PermissionKind::Connect {
            return self.user.is_some();
        }
        let is_owner = self.is_owner_of(on);
        if self.is_denied_by_role(wanted) {
            return false;
        }
        if is_owner {
            return true;
        }
        if let Securable::Column(schema, name, column) = on
            && let Some(decided) = self.decided_on_column(wanted, (schema, name, column))
        {
            return decided;
        }
        !self.is_denied(wanted, on) && (self.has_by_role(wanted) || self.is_granted(wanted, on))
    }

    fn has_by_role(&self, wanted: PermissionKind) -> bool {
        self.fixed.iter().any(|role| role.has(wanted))
    }

    /// What was done on a column alone is stronger than what was done on its table: a denial and a grant decide, and a
    /// grant is stronger than a denial of the same permission on the table, as SQL Server has it.
    fn decided_on_column(&self, wanted: PermissionKind, (schema, name, column): (&str, &str, &str)) -> Option<bool> {
        let own = || {
            let of_object = self
                .given
                .iter()
                .filter(|given| given.is_on_columns_of(wanted, (schema, name)));
            of_object.filter(|given| given.is_on_column(column))
        };
        if own().any(|given| given.state == GrantState::Denied) {
            return Some(false);
        }
        if !own().any(|given| given.state.is_granted()) {
            return None;
        }
        let is_above = |given: &&Given| !(matches!(given.on, GivenOn::Object(..)) && given.kind == wanted);
        let above = self.given.iter().filter(is_above);
        Some(!denies(above, wanted, Securable::Object(schema, name)))
    }

    /// Whether something was granted, on it or above; not on a table where the grantee has an exception for the column,
    /// nor on the database for acting as its owner.
    fn is_granted(&self, wanted: PermissionKind, on: Securable<'_>) -> bool {
        let is_excepted = |grant: &Given| match on {
            Securable::Column(schema, name, column) if matches!(grant.on, GivenOn::Object(..)) => {
                self.given.iter().any(|given| {
                    given.state == GrantState::Excepted
                        && (given.grantee, given.kind) == (grant.grantee, grant.kind)
                        && given.is_on_columns_of(wanted, (schema, name))
                        && given.is_on_column(column)
                })
            }
            // What was granted by CONTROL goes with it, which it would not if it were granted as the owner.
            Securable::User(user) => {
                let acts = [PermissionKind::Impersonate, PermissionKind::Control].contains(&wanted);
                acts && grant.on == GivenOn::Database && self.owners.contains(&user)
            }
            Securable::Database
            | Securable::Schema(_)
            | Securable::Object(..)
            | Securable::Column(..)
            | Securable::Type(..)
            | Securable::Key(..) => false,
        };
        let granted = self.given.iter().filter(|given| given.state.is_granted());
        granted
            .filter(|given| given.covers(wanted, on))
            .any(|given| !is_excepted(given))
    }

    /// Whether a permission on a table or view may not be one on each of its columns: on some it was denied, or is not
    /// part of the grant.
    #[must_use]
    pub fn excepts_columns(&self, wanted: PermissionKind, (schema, name): (&str, &str)) -> bool {
        let is_exempt = self.is_exempt() || self.has_schema(schema);
        let mut others = self.given.iter().filter(|given| !given.state.is_granted());
        !is_exempt && others.any(|given| given.is_on_columns_of(wanted, (schema, name)))
    }

    /// Whether a permission was granted on a column of a table or view alone.
    #[must_use]
    pub fn is_granted_on_columns(&self, wanted: PermissionKind, (schema, name): (&str, &str)) -> bool {
        let mut given = self.given.iter().filter(|given| given.state.is_granted());
        given.any(|given| given.is_on_columns_of(wanted, (schema, name)))
    }

    /// Whether a permission was denied on a column.
    #[must_use]
    pub fn is_denied_on_column(&self, wanted: PermissionKind, (schema, name): (&str, &str), column: &str) -> bool {
        let denied = self.given.iter().filter(|given| given.state == GrantState::Denied);
        let mut of_object = denied.filter(|given| given.is_on_columns_of(wanted, (schema, name)));
        of_object.any(|given| given.is_on_column(column)) && !self.is_exempt() && !self.has_schema(schema)
    }

    /// Whether it may do something with an object, given its schema and name.
    #[must_use]
    pub fn may_on(&self, wanted: PermissionKind, (schema, name): (&str, &str)) -> bool {
        self.may(wanted, Securable::Object(schema, name))
    }

    /// Whether it may create objects of a kind in a schema.
    #[must_use]
    pub fn may_create_in(&self, schema: &str) -> bool {
        self.may(PermissionKind::Alter, Securable::Schema(schema))
    }

    /// Whether it may drop an object, given its schema and name.
    #[must_use]
    pub fn may_drop(&self, (schema, name): (&str, &str)) -> bool {
        self.may_create_in(schema) || self.may_on(PermissionKind::Control, (schema, name))
    }

    fn is_denied(&self, wanted: PermissionKind, on: Securable<'_>) -> bool {
        denies(self.given.iter(), wanted, on)
    }

    /// What the fixed roles forbid; `db_owner` is stronger than they are.
    fn is_denied_by_role(&self, wanted: PermissionKind) -> bool {
        let role = if wanted == PermissionKind::Select {
            FixedRole::DenyDataReader
        } else if FixedRole::DataWriter.has(wanted) {
            FixedRole::DenyDataWriter
        } else {
            return false;
        };
        self.is_in(role) && !self.owns()
    }
}

fn denies<'g>(mut given: impl Iterator<Item = &'g Given>, wanted: PermissionKind, on: Securable<'_>) -> bool {
    given.any(|given| given.state == GrantState::Denied && given.covers(wanted, on))
}

/// The definitions in a database that are visible to a login: only those of objects on which it has some permission.
impl Permissions {
    /// What it sees of a database's objects.
    #[must_use]
    pub fn seen(&self, schema: &Schema) -> Schema {
        schema.only(|kind, schema, name| self.sees(kind, (schema, name)))
    }

    /// Whether it sees an object of a kind, by its schema and name; of a constraint, those of its table.
    #[must_use]
    pub fn sees(&self, kind: ObjectKind, (schema, name): (&str, &str)) -> bool {
        let has = |kind: PermissionKind| {
            self.may_on(kind, (schema, name))
                || kind.is_on_columns() && self.is_granted_on_columns(kind, (schema, name))
        };
        let has_one_of = |kinds: &[PermissionKind]| kinds.iter().any(|kind| has(*kind));
        match kind {
            _ if is_global(name) => true,
            ObjectKind::SystemTable => true,
            ObjectKind::UserTable
            | ObjectKind::View
            | ObjectKind::PrimaryKey
            | ObjectKind::Unique
            | ObjectKind::ForeignKey
            | ObjectKind::Check
            | ObjectKind::Default
            | ObjectKind::Sequence
            | ObjectKind::Synonym => has_one_of(ON_ROWS),
            ObjectKind::InlineFunction | ObjectKind::TableFunction => has_one_of(ON_TABLE_FUNCTIONS),
            ObjectKind::Procedure
            | ObjectKind::ExtendedProcedure
            | ObjectKind::ScalarFunction
            | ObjectKind::Trigger => has_one_of(ON_CALLS),
        }
    }

    /// Whether it sees a key: it has some permission on it, and VIEW DEFINITION is not denied.
    #[must_use]
    pub fn sees_key(&self, on: Securable<'_>) -> bool {
        self.sees_by(ON_KEYS, on)
    }

    /// Whether it sees a type, by its schema and name, as it sees a key.
    #[must_use]
    pub fn sees_type(&self, (schema, name): (&str, &str)) -> bool {
        self.sees_by(ON_TYPES, Securable::Type(schema, name))
    }

    fn sees_by(&self, kinds: &[PermissionKind], on: Securable<'_>) -> bool {
        let is_denied = !self.is_exempt() && self.is_denied(PermissionKind::ViewDefinition, on);
        !is_denied && kinds.iter().any(|kind| self.may_on_key(*kind, on))
    }

    /// Whether it has a permission on a key, itself or by ALTER ANY of its class.
    #[must_use]
    pub fn may_on_key(&self, wanted: PermissionKind, on: Securable<'_>) -> bool {
        let any = match on {
            Securable::Key(Class::SymmetricKey, ..) => PermissionKind::AlterAnySymmetricKey,
            Securable::Key(Class::Certificate, ..) => PermissionKind::AlterAnyCertificate,
            Securable::Key(..) => PermissionKind::AlterAnyAsymmetricKey,
            Securable::Database
            | Securable::Schema(_)
            | Securable::Object(..)
            | Securable::Column(..)
            | Securable::User(_)
            | Securable::Type(..) => return self.may(wanted, on),
        };
        let is_denied = !self.is_exempt() && self.is_denied(wanted, on);
        let by_any = wanted == PermissionKind::Alter && !is_denied && self.may(any, Securable::Database);
        by_any || self.may(wanted, on)
    }

    /// Whether it sees the text of an object's definition.
    #[must_use]
    pub fn sees_text(&self, object: (&str, &str)) -> bool {
        [PermissionKind::Alter, PermissionKind::ViewDefinition]
            .into_iter()
            .any(|kind| self.may_on(kind, object))
    }
}

/// Each of them makes a table or view visible.
const ON_ROWS: &[PermissionKind] = &[
    PermissionKind::Select,
    PermissionKind::Insert,
    PermissionKind::Update,
    PermissionKind::Delete,
    PermissionKind::References,
    PermissionKind::Alter,
    PermissionKind::ViewDefinition,
];
/// Each of them makes a key visible.
const ON_KEYS: &[PermissionKind] = &[
    PermissionKind::References,
    PermissionKind::Alter,
    PermissionKind::ViewDefinition,
    PermissionKind::Control,
];
/// Each of them makes a type visible.
const ON_TYPES: &[PermissionKind] = &[
    PermissionKind::Execute,
    PermissionKind::References,
    PermissionKind::ViewDefinition,
    PermissionKind::Control,
];
/// Each of them makes a procedure visible, or a function that returns a value.
const ON_CALLS: &[PermissionKind] = &[
    PermissionKind::Execute,
    PermissionKind::Alter,
    PermissionKind::ViewDefinition,
];
/// Each of them makes a function visible that returns rows.
const ON_TABLE_FUNCTIONS: &[PermissionKind] = &[
    PermissionKind::Select,
    PermissionKind::Alter,
    PermissionKind::ViewDefinition,
];
