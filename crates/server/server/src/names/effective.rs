//! What the session's user may do: HAS_PERMS_BY_NAME and fn_my_permissions.

use selenite_compiler::{Key, ObjectFacts, ObjectKey, ObjectKind, SqlError, same_name};
use selenite_tsql::ast::TypeReference;

use crate::catalog::effective_permissions::Securable;
use crate::catalog::permission_kind::{Class, PermissionKind};
use crate::catalog::stored_keys::StoredKeyKind;
use crate::master::ServerPermission;
use crate::names::session_keys::securable;
use crate::names::session_objects::SessionObjects;

impl SessionObjects {
    /// The permissions of the session's user on something of a class, as `selenite_compiler::Environment::has_permission`
    /// takes them; `None` for what is unknown.
    ///
    /// # Errors
    /// As [`SessionObjects::database`]; 40510 for a class whose permissions are not known here, and for another database.
    pub fn effective(&self, named: Option<&str>, class: Option<&str>) -> Result<Option<Effective>, SqlError> {
        let class = class.unwrap_or("SERVER").to_ascii_uppercase();
        match (class.as_str(), named) {
            ("SERVER", None) => Ok(Some(self.effective_on_server())),
            ("SERVER", Some(_)) => Ok(None),
            ("DATABASE", Some(name)) if !same_name(&unquoted(name), &self.catalog.database) => {
                match self.database(Key::Name(&unquoted(name)))? {
                    Some(_) => Err(SqlError::unsupported("A permission on another database")),
                    None => Ok(None),
                }
            }
            ("DATABASE", _) => Ok(Some(self.effective_on(Class::Database, Securable::Database, None))),
            (_, None) => Ok(None),
            ("SCHEMA", Some(name)) => {
                let found = self.schema(Key::Name(&unquoted(name)))?;
                Ok(found.map(|schema| self.effective_on(Class::Schema, Securable::Schema(&schema.name), None)))
            }
            ("OBJECT", Some(name)) => {
                let mut parts = name.rsplitn(3, '.').map(unquoted);
                let own = parts.next().unwrap_or_default();
                let schema = parts.next().filter(|schema| !schema.is_empty());
                let database = parts.next().filter(|database| !database.is_empty());
                let found = self.object(ObjectKey::Name {
                    database: database.as_deref(),
                    schema: schema.as_deref(),
                    name: &own,
                    object_type: None,
                })?;
                Ok(found.map(|object| self.effective_on_object(&object)))
            }
            ("TYPE", Some(name)) => Ok(self.type_of_name(name).map(|(schema, name)| {
                let on = Securable::Type(&schema, &name);
                self.effective_on(Class::Type, on, None)
            })),
            ("SYMMETRIC KEY", Some(name)) => Ok(self.effective_on_key(StoredKeyKind::Symmetric, name)),
            ("CERTIFICATE", Some(name)) => Ok(self.effective_on_key(StoredKeyKind::Certificate, name)),
            ("ASYMMETRIC KEY", Some(name)) => Ok(self.effective_on_key(StoredKeyKind::Asymmetric, name)),
            (other, Some(_)) => Err(SqlError::unsupported(&format!("A permission on {other}"))),
        }
    }

    fn effective_on_key(&self, kind: StoredKeyKind, name: &str) -> Option<Effective> {
        let found = self.catalog.schema.keys().named(kind, &unquoted(name));
        let key = found.filter(|key| self.sees_key(key))?;
        Some(self.effective_on(kind.class(), securable(key), None))
    }

    /// The schema and name of a type of a user.
    fn type_of_name(&self, name: &str) -> Option<(String, String)> {
        let mut parts = name.rsplitn(2, '.').map(unquoted);
        let own = parts.next().unwrap_or_default();
        let reference = TypeReference {
            schema: parts.next().filter(|schema| !schema.is_empty()),
            name: own,
        };
        let found = self.catalog.schema.type_of(&reference, &self.catalog.default_schema)?;
        let (schema, name) = found.full_name();
        Some((schema.to_owned(), name.to_owned()))
    }

    fn effective_on(&self, class: Class, on: Securable<'_>, kind: Option<ObjectKind>) -> Effective {
        let permissions = self.permissions();
        let fits = |permission: &PermissionKind| {
            permission.is_on(class) && kind.is_none_or(|kind| is_of_object(*permission, kind))
        };
        let possible = || PermissionKind::ALL.into_iter().filter(fits);
        let name = PermissionKind::name;
        Effective {
            held: possible()
                .filter(|kind| permissions.may_on_key(*kind, on))
                .map(name)
                .collect(),
            possible: possible().map(name).collect(),
            of_columns: Vec::new(),
        }
    }

    /// The permissions on an object, and on each of its columns.
    fn effective_on_object(&self, object: &ObjectFacts) -> Effective {
        let (schema, name) = (&*object.schema.name, &*object.name);
        let of_object = self.effective_on(Class::Object, Securable::Object(schema, name), Some(object.kind));
        let permissions = self.permissions();
        let fits = |kind: &PermissionKind| kind.is_on_columns() && is_of_object(*kind, object.kind);
        let has_columns = matches!(object.kind, ObjectKind::UserTable | ObjectKind::View);
        let columns = match has_columns {
            true => self.columns_of(object.id),
            false => Vec::new(),
        };
        let of_columns = columns.into_iter().map(|column| {
            let on = Securable::Column(schema, name, &column.name);
            let kinds = || PermissionKind::ALL.into_iter().filter(fits);
            EffectiveOnColumn {
                held: kinds()
                    .filter(|kind| permissions.may(*kind, on))
                    .map(PermissionKind::name)
                    .collect(),
                possible: kinds().map(PermissionKind::name).collect(),
                column: column.name.to_string(),
            }
        });
        Effective {
            of_columns: of_columns.collect(),
            ..of_object
        }
    }

    /// An administrator has all permissions on the server, every other login those of `public`, and what it was granted.
    fn effective_on_server(&self) -> Effective {
        let permissions = self.permissions();
        let is_held = |name: &&&str| {
            let kind = ServerPermission::of_name(name);
            let of_control = [CONNECT_ANY_DATABASE, SHUTDOWN].contains(*name);
            **name == VIEW_ANY_DATABASE
                || of_control && permissions.server.may(ServerPermission::ControlServer)
                || kind.is_some_and(|kind| permissions.server.may(kind))
        };
        let held: Vec<&str> = match (permissions.is_administrator, self.identity.user) {
            (true, _) => OF_SERVER.to_vec(),
            (false, None) => OF_SERVER.iter().filter(is_held).copied().collect(),
            (false, Some(_)) => OF_PUBLIC.to_vec(),
        };
        Effective {
            possible: OF_SERVER.to_vec(),
            held,
            of_columns: Vec::new(),
        }
    }

    /// Whether the session's user has a permission.
    ///
    /// # Errors
    /// As [`SessionObjects::effective`].
    pub fn has_permission(
        &self,
        (securable, class): (Option<&str>, Option<&str>),
        permission: &str,
        column: Option<&str>,
    ) -> Result<Option<bool>, SqlError> {
        let Some(found) = self.effective(securable, class)? else {
            return Ok(None);
        };
        let (possible, held) = match column {
            None => (&found.possible, &found.held),
            Some(column) => {
                let mut columns = found.of_columns.iter();
                match columns.find(|of| same_name(&of.column, &unquoted(column))) {
                    Some(of) => (&of.possible, &of.held),
                    None => return Ok(None),
                }
            }
        };
        if permission.trim_end().eq_ignore_ascii_case("ANY") {
            return Ok(Some(!held.is_empty()));
        }
        let permission = match PermissionKind::of_name(permission.trim_end()) {
            Some(kind) => kind.name(),
            None => permission.trim_end(),
        };
        let has = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(permission));
        Ok(has(possible).then(|| has(held)))
    }
}

/// Permissions on something, by their names.
pub struct Effective {
    /// Those that there are on it.
    possible: Vec<&'static str>,
    /// Those that the session's user has.
    pub held: Vec<&'static str>,
    /// Those on columns of a table or view.
    pub of_columns: Vec<EffectiveOnColumn>,
}

/// Permissions on a column, by their names.
pub struct EffectiveOnColumn {
    /// The column.
    pub column: String,
    possible: Vec<&'static str>,
    /// Those that the session's user has.
    pub held: Vec<&'static str>,
}

/// Whether a permission on objects is one on objects of a kind.
fn is_of_object(permission: PermissionKind, kind: ObjectKind) -> bool {
    let is_called = matches!(
        kind,
        ObjectKind::Procedure | ObjectKind::ExtendedProcedure | ObjectKind::ScalarFunction
    );
    let returns_rows = matches!(kind, ObjectKind::InlineFunction | ObjectKind::TableFunction);
    let is_of_rows = !is_called && !returns_rows;
    if permission == PermissionKind::Execute {
        return is_called;
    }
    if permission == PermissionKind::Select {
        return !is_called && kind != ObjectKind::Sequence;
    }
    if permission == PermissionKind::Update {
        return is_of_rows;
    }
    let others = [
        PermissionKind::Insert,
        PermissionKind::Delete,
        PermissionKind::References,
    ];
    !others.contains(&permission) || is_of_rows && kind != ObjectKind::Sequence
}

/// Permissions on the server that are asked for somewhere, or that tools ask about: they come with `sysadmin`.
const OF_SERVER: &[&str] = &[
    "ADMINISTER BULK OPERATIONS",
    "ALTER ANY CONNECTION",
    "ALTER ANY CREDENTIAL",
    "ALTER ANY DATABASE",
    "ALTER ANY LINKED SERVER",
    "ALTER ANY LOGIN",
    "ALTER ANY SERVER AUDIT",
    "ALTER ANY SERVER ROLE",
    "ALTER RESOURCES",
    "ALTER SERVER STATE",
    "ALTER SETTINGS",
    "ALTER TRACE",
    CONNECT_ANY_DATABASE,
    CONNECT_SQL,
    "CONTROL SERVER",
    "CREATE ANY DATABASE",
    "CREATE SERVER ROLE",
    SHUTDOWN,
    VIEW_ANY_DATABASE,
    "VIEW ANY DEFINITION",
    "VIEW SERVER STATE",
];
const OF_PUBLIC: &[&str] = &[CONNECT_SQL, VIEW_ANY_DATABASE];
const CONNECT_ANY_DATABASE: &str = "CONNECT ANY DATABASE";
const SHUTDOWN: &str = "SHUTDOWN";
const CONNECT_SQL: &str = "CONNECT SQL";
const VIEW_ANY_DATABASE: &str = "VIEW ANY DATABASE";

fn unquoted(part: &str) -> String {
    part.trim().trim_matches(['[', ']', '"']).to_owned()
}
