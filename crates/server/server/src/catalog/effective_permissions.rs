//! What a login may do in a database: what its user, and the roles that it is in, own and were granted.

use std::sync::Arc;

use selenite_compiler::definition::SCHEMA;
use selenite_compiler::{ObjectKind, same_name};

use crate::catalog::directory::Directory;
use crate::catalog::fixed_role::FixedRole;
use crate::catalog::grants::{Class, Grant, PermissionKind};
use crate::catalog::principals::{DBO, GUEST, PUBLIC, User, has_guests};
use crate::catalog::schema::{Schema, is_global};
use crate::catalog::schema_names;

/// The permissions of a login in a database.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Permissions {
    /// Whether it is in `sysadmin`.
    pub is_administrator: bool,
    /// Its user's id and name; `None` if it may not use the database.
    pub user: Option<(i32, Arc<str>)>,
    /// The schema of names without one.
    pub default_schema: Arc<str>,
    /// Its user, the roles that it is in, and `public`.
    principals: Vec<i32>,
    fixed: Vec<FixedRole>,
    /// The schemas that the user, or a role that it is in, owns.
    schemas: Vec<String>,
    /// What the user, or a role that it is in, was granted or denied.
    given: Vec<Given>,
}

/// What was granted or denied, by names.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Given {
    kind: PermissionKind,
    on: GivenOn,
    is_denied: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum GivenOn {
    Database,
    Schema(String),
    Object(String, String),
    Type(String, String),
}

/// What a permission is wanted on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Securable<'a> {
    /// The database.
    Database,
    /// A schema.
    Schema(&'a str),
    /// An object, by its schema and name.
    Object(&'a str, &'a str),
    /// A type of a user, by its schema and name.
    Type(&'a str, &'a str),
}

impl Given {
    fn of(grant: &Grant, schema: &Schema) -> Option<Self> {
        let on = match grant.class {
            Class::Database => GivenOn::Database,
            Class::Schema => GivenOn::Schema(schema.names().of_id(grant.major_id)?.name.clone()),
            Class::Object => {
                let (schema, name) = schema.name_of_id(grant.major_id)?;
                GivenOn::Object(schema, name)
            }
            Class::Type => {
                let found = schema.type_of_id(grant.major_id)?;
                GivenOn::Type(found.row.schema.clone(), found.row.name.clone())
            }
        };
        Some(Self {
            kind: grant.kind,
            on,
            is_denied: grant.is_denied,
        })
    }

    /// Whether it is about a permission on something.
    fn covers(&self, wanted: PermissionKind, on: Securable<'_>) -> bool {
        match (&self.on, on) {
            (GivenOn::Database, _) => self.kind.covers(Class::Database, wanted),
            (GivenOn::Schema(own), Securable::Schema(name) | Securable::Object(name, _) | Securable::Type(name, _)) => {
                same_name(own, name) && self.kind.covers(Class::Schema, wanted)
            }
            (GivenOn::Object(own_schema, own), Securable::Object(schema, name)) => {
                same_name(own_schema, schema) && same_name(own, name) && self.kind.covers(Class::Object, wanted)
            }
            (GivenOn::Type(own_schema, own), Securable::Type(schema, name)) => {
                same_name(own_schema, schema) && same_name(own, name) && self.kind.covers(Class::Type, wanted)
            }
            (GivenOn::Schema(_), Securable::Database)
            | (GivenOn::Object(..), Securable::Database | Securable::Schema(_) | Securable::Type(..))
            | (GivenOn::Type(..), Securable::Database | Securable::Schema(_) | Securable::Object(..)) => false,
        }
    }
}

impl Permissions {
    /// The permissions of an administrator.
    #[must_use]
    pub fn administrator() -> Self {
        Self {
            is_administrator: true,
            user: Some((DBO, Arc::from("dbo"))),
            default_schema: Arc::from(SCHEMA),
            principals: vec![DBO, FixedRole::Owner.id(), PUBLIC],
            fixed: vec![FixedRole::Owner],
            schemas: Vec::new(),
            given: Vec::new(),
        }
    }

    /// The permissions of the login of `sid` in a database.
    #[must_use]
    pub fn of(sid: &[u8], directory: &Directory, database_id: i32, schema: &Schema) -> Self {
        let principals = schema.principals();
        if directory
            .records
            .iter()
            .any(|login| login.sid == sid && login.is_administrator)
        {
            return Self::administrator();
        }
        let user = principals.of_login(sid);
        let is_guest = user.is_none() && has_guests(database_id);
        let own = match user {
            Some(user) => principals.with_roles(user.id),
            None if is_guest => vec![GUEST, PUBLIC],
            None => Vec::new(),
        };
        let schemas = schema.names().all().iter();
        let schemas = schemas.filter(|schema| schema.owner != PUBLIC && own.contains(&schema.owner));
        let default_schema = match user {
            Some(user) => user.default_schema.as_str(),
            None if has_guests(database_id) => schema_names::GUEST,
            None => SCHEMA,
        };
        let grants = principals.grants().iter();
        let grants = grants.filter(|grant| own.contains(&grant.grantee));
        let mut found = Self {
            is_administrator: false,
            default_schema: Arc::from(default_schema),
            schemas: schemas.map(|schema| schema.name.clone()).collect(),
            fixed: own.iter().filter_map(|id| FixedRole::of_id(*id)).collect(),
            given: grants.filter_map(|grant| Given::of(grant, schema)).collect(),
            principals: own,
            user: None,
        };
        let named = |user: &User| (user.id, Arc::from(user.name.as_str()));
        let guest = || is_guest.then(|| (GUEST, Arc::from("guest")));
        found.user = user.filter(|_| principals.lets_in(sid)).map(named).or_else(guest);
        found
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

    /// Whether it has a permission (`deny-wins`). The owner of a schema has all permissions on what is in it.
    #[must_use]
    pub fn may(&self, wanted: PermissionKind, on: Securable<'_>) -> bool {
        if self.is_administrator {
            return true;
        }
        if wanted == PermissionKind::Connect {
            return self.user.is_some();
        }
        let is_owner = match on {
            Securable::Schema(schema) | Securable::Object(schema, _) | Securable::Type(schema, _) => {
                self.has_schema(schema)
            }
            Securable::Database => false,
        };
        if self.is_denied_by_role(wanted) || !is_owner && self.is_denied(wanted, on) {
            return false;
        }
        is_owner
            || self.fixed.iter().any(|role| role.has(wanted))
            || self
                .given
                .iter()
                .any(|given| !given.is_denied && given.covers(wanted, on))
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
        self.given
            .iter()
            .any(|given| given.is_denied && given.covers(wanted, on))
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
        let has_one_of = |kinds: &[PermissionKind]| kinds.iter().any(|kind| self.may_on(*kind, (schema, name)));
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
