//! Logins, users, roles, schemas and permissions.
//!
//! The tree contains passwords in plaintext: code that logs a statement must omit them.

use super::{Expr, Literal, Name, ObjectName, Setting};

/// CREATE LOGIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateLogin {
    /// The login's name.
    pub name: Name,
    /// The authentication method.
    pub source: LoginSource,
}

/// The authentication method of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginSource {
    /// `WITH PASSWORD = '..', ..`
    Password {
        /// The password.
        password: Password,
        /// DEFAULT_DATABASE, CHECK_POLICY and others; empty if absent.
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
    /// A string, or a password hash as binary.
    pub value: Literal,
    /// `HASHED`
    pub hashed: bool,
    /// `MUST_CHANGE`
    pub must_change: bool,
    /// `UNLOCK`, only in ALTER LOGIN.
    pub unlock: bool,
}

/// ALTER LOGIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterLogin {
    /// The login's name.
    pub name: Name,
    /// The action.
    pub action: AlterLoginAction,
}

/// The action of ALTER LOGIN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterLoginAction {
    /// `ENABLE`
    Enable,
    /// `DISABLE`
    Disable,
    /// `ADD CREDENTIAL name`
    AddCredential(Name),
    /// `DROP CREDENTIAL name`
    DropCredential(Name),
    /// `WITH PASSWORD = '..' OLD_PASSWORD = '..', NAME = ..`
    With {
        /// The new password.
        password: Option<Password>,
        /// The old password.
        old_password: Option<String>,
        /// NAME, DEFAULT_DATABASE and others; empty if absent.
        options: Vec<Setting>,
    },
}

/// CREATE USER.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateUser {
    /// The user's name.
    pub name: Name,
    /// The login of the user.
    pub source: UserSource,
    /// `WITH DEFAULT_SCHEMA = ..`; empty if absent.
    pub options: Vec<Setting>,
}

/// The login of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserSource {
    /// The login with the same name as the user.
    SameName,
    /// `FOR LOGIN name` or `FROM LOGIN name`
    Login(Name),
    /// `WITHOUT LOGIN`
    WithoutLogin,
}

/// `ALTER USER name WITH ..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterUser {
    /// The user's name.
    pub name: Name,
    /// NAME, DEFAULT_SCHEMA, LOGIN; at least one.
    pub options: Vec<Setting>,
}

/// CREATE ROLE, CREATE SERVER ROLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CreateRole {
    /// Whether it is a server role.
    pub server: bool,
    /// The role's name.
    pub name: Name,
    /// `AUTHORIZATION owner`.
    pub authorization: Option<Name>,
}

/// ALTER ROLE, ALTER SERVER ROLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterRole {
    /// Whether it is a server role.
    pub server: bool,
    /// The role's name.
    pub name: Name,
    /// The action.
    pub action: AlterRoleAction,
}

/// The action of ALTER ROLE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlterRoleAction {
    /// `ADD MEMBER name`
    AddMember(Name),
    /// `DROP MEMBER name`
    DropMember(Name),
    /// `WITH NAME = name`
    Rename(Name),
}

/// `ALTER AUTHORIZATION ON ..`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlterAuthorization {
    /// What gets another owner.
    pub securable: Securable,
    /// `TO principal`; absent for `TO SCHEMA OWNER`.
    pub owner: Option<Name>,
}

/// GRANT, DENY or REVOKE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionChange {
    /// The action.
    pub action: PermissionAction,
    /// The permissions; empty for ALL.
    pub permissions: Vec<Permission>,
    /// `ON ..`; without it the permission applies to the database or server.
    pub securable: Option<Securable>,
    /// The grantees; at least one.
    pub principals: Vec<Name>,
    /// `WITH GRANT OPTION`, or `GRANT OPTION FOR` in REVOKE.
    pub grant_option: bool,
    /// `CASCADE`
    pub cascade: bool,
    /// `AS principal`
    pub grantor: Option<Name>,
}

/// The action on permissions.
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
    /// The words as written, separated by one space: `SELECT`, `VIEW SERVER STATE`.
    pub name: String,
    /// The columns; empty for the whole object.
    pub columns: Vec<Name>,
}

/// The securable of a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Securable {
    /// `OBJECT ::`, `SCHEMA ::` and others: the words as written, separated by one space.
    pub class: Option<String>,
    /// The securable's name.
    pub name: ObjectName,
}

/// EXECUTE AS as a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecuteAs {
    /// As whom.
    pub principal: ImpersonatedPrincipal,
    /// `WITH NO REVERT`
    pub no_revert: bool,
    /// `WITH COOKIE INTO @cookie`: the variable, with its `@`.
    pub cookie: Option<String>,
}

/// Whom EXECUTE AS names: constants or variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImpersonatedPrincipal {
    /// `CALLER`
    Caller,
    /// `USER = ..`
    User(Expr),
    /// `LOGIN = ..`
    Login(Expr),
}

/// `WITH EXECUTE AS` of a procedure, function or trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleContext {
    /// `CALLER`, as without the clause.
    Caller,
    /// `SELF`: who created it, or altered it last.
    Creator,
    /// `OWNER`
    Owner,
    /// `'user'`
    User(String),
}
