//! Logins, users, roles, schemas and permissions.
//!
//! Passwords are in the tree as plain text: code that logs a statement must leave these out.

use super::{Literal, Name, ObjectName, Setting};

/// CREATE LOGIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateLogin {
    /// Its name.
    pub name: Name,
    /// How it proves itself.
    pub source: LoginSource,
}

/// How a login proves itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginSource {
    /// `WITH PASSWORD = '..', ..`
    Password {
        /// The password.
        password: Password,
        /// DEFAULT_DATABASE, CHECK_POLICY and so on; empty without.
        options: Vec<Setting>,
    },
    /// `FROM WINDOWS [WITH ..]`
    Windows(Vec<Setting>),
    /// `FROM CERTIFICATE name`
    Certificate(Name),
}

/// `'..' [MUST_CHANGE]` or `0x.. HASHED [MUST_CHANGE]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Password {
    /// A string, or its hash in binary.
    pub value: Literal,
    /// `HASHED`
    pub hashed: bool,
    /// `MUST_CHANGE`
    pub must_change: bool,
    /// `UNLOCK`, of ALTER LOGIN.
    pub unlock: bool,
}

/// ALTER LOGIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterLogin {
    /// Its name.
    pub name: Name,
    /// What is done.
    pub action: AlterLoginAction,
}

/// What ALTER LOGIN does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterLoginAction {
    /// `ENABLE`
    Enable,
    /// `DISABLE`
    Disable,
    /// `WITH PASSWORD = '..' OLD_PASSWORD = '..', NAME = ..`
    With {
        /// The new password.
        password: Option<Password>,
        /// The old one.
        old_password: Option<String>,
        /// NAME, DEFAULT_DATABASE and so on; empty without.
        options: Vec<Setting>,
    },
}

/// CREATE USER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateUser {
    /// Its name.
    pub name: Name,
    /// Whose user it is.
    pub source: UserSource,
    /// `WITH DEFAULT_SCHEMA = ..`; empty without.
    pub options: Vec<Setting>,
}

/// Whose user it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserSource {
    /// The login of the user's own name.
    SameName,
    /// `FOR LOGIN name` or `FROM LOGIN name`
    Login(Name),
    /// `WITHOUT LOGIN`
    WithoutLogin,
}

/// `ALTER USER name WITH ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterUser {
    /// Its name.
    pub name: Name,
    /// NAME, DEFAULT_SCHEMA, LOGIN; at least one.
    pub options: Vec<Setting>,
}

/// CREATE ROLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateRole {
    /// Its name.
    pub name: Name,
    /// `AUTHORIZATION owner`.
    pub authorization: Option<Name>,
}

/// ALTER ROLE, ALTER SERVER ROLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterRole {
    /// Whether it is a role of the server.
    pub server: bool,
    /// Its name.
    pub name: Name,
    /// What is done.
    pub action: AlterRoleAction,
}

/// What ALTER ROLE does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterRoleAction {
    /// `ADD MEMBER name`
    AddMember(Name),
    /// `DROP MEMBER name`
    DropMember(Name),
    /// `WITH NAME = name`
    Rename(Name),
}

/// CREATE SCHEMA.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateSchema {
    /// Its name; `None` if it is the owner's.
    pub name: Option<Name>,
    /// `AUTHORIZATION owner`.
    pub authorization: Option<Name>,
}

/// GRANT, DENY or REVOKE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionChange {
    /// Which.
    pub action: PermissionAction,
    /// What; empty for ALL.
    pub permissions: Vec<Permission>,
    /// `ON ..`; the database or server without.
    pub securable: Option<Securable>,
    /// Whom; at least one.
    pub principals: Vec<Name>,
    /// `WITH GRANT OPTION`, or `GRANT OPTION FOR` of REVOKE.
    pub grant_option: bool,
    /// `CASCADE`
    pub cascade: bool,
    /// `AS principal`
    pub grantor: Option<Name>,
}

/// What is done with permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionAction {
    /// `GRANT`
    Grant,
    /// `DENY`
    Deny,
    /// `REVOKE`
    Revoke,
}

/// One permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// Its words as written, divided by one blank: `SELECT`, `VIEW SERVER STATE`.
    pub name: String,
    /// Its columns; empty for the whole.
    pub columns: Vec<Name>,
}

/// What a permission is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Securable {
    /// `OBJECT ::`, `SCHEMA ::` and so on: the words as written, divided by one blank.
    pub class: Option<String>,
    /// Its name.
    pub name: ObjectName,
}
