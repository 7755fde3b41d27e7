//! Logins, users, roles, schemas and permissions.

use core::fmt;

use super::{List, Optional, OptionalList, Text, word};
use crate::ast::{
    AlterAuthorization, AlterLogin, AlterLoginAction, AlterRole, AlterRoleAction, AlterSchema, AlterUser, CreateLogin,
    CreateRole, CreateSchema, CreateUser, ExecuteAs, ImpersonatedPrincipal, LoginSource, ModuleContext, Password,
    Permission, PermissionAction, PermissionChange, SchemaStatement, Securable, UserSource,
};

impl fmt::Display for CreateLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE LOGIN {} ", self.name)?;
        match &self.source {
            LoginSource::Password { password, options } => {
                write!(f, "WITH {password}")?;
                options.iter().try_for_each(|option| write!(f, ", {option}"))
            }
            LoginSource::Windows(options) => write!(f, "FROM WINDOWS{}", OptionalList("WITH ", options, "")),
            LoginSource::Certificate(name) => write!(f, "FROM CERTIFICATE {name}"),
        }
    }
}

impl fmt::Display for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PASSWORD = {}{}", self.value, word(self.hashed, " HASHED"))?;
        f.write_str(word(self.must_change, " MUST_CHANGE"))?;
        f.write_str(word(self.unlock, " UNLOCK"))
    }
}

impl fmt::Display for AlterLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER LOGIN {} ", self.name)?;
        match &self.action {
            AlterLoginAction::Enable => f.write_str("ENABLE"),
            AlterLoginAction::Disable => f.write_str("DISABLE"),
            AlterLoginAction::AddCredential(name) => write!(f, "ADD CREDENTIAL {name}"),
            AlterLoginAction::DropCredential(name) => write!(f, "DROP CREDENTIAL {name}"),
            AlterLoginAction::With {
                password,
                old_password,
                options,
            } => {
                let mut changes = Vec::new();
                if let Some(password) = password {
                    let old = old_password.as_ref().map(|old| format!("OLD_PASSWORD = {}", Text(old)));
                    changes.push(format!("{password}{}", Optional("", old.as_ref(), "")));
                }
                changes.extend(options.iter().map(ToString::to_string));
                write!(f, "WITH {}", List(&changes))
            }
        }
    }
}

impl fmt::Display for CreateUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CREATE USER {}", self.name)?;
        match &self.source {
            UserSource::SameName => {}
            UserSource::Login(login) => write!(f, " FOR LOGIN {login}")?,
            UserSource::WithoutLogin => f.write_str(" WITHOUT LOGIN")?,
        }
        write!(f, "{}", OptionalList("WITH ", &self.options, ""))
    }
}

impl fmt::Display for AlterUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER USER {} WITH {}", self.name, List(&self.options))
    }
}

impl fmt::Display for CreateRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authorization = Optional("AUTHORIZATION ", self.authorization.as_ref(), "");
        write!(
            f,
            "CREATE{} ROLE {}{authorization}",
            word(self.server, " SERVER"),
            self.name
        )
    }
}

impl fmt::Display for AlterRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER{} ROLE {} ", word(self.server, " SERVER"), self.name)?;
        match &self.action {
            AlterRoleAction::AddMember(member) => write!(f, "ADD MEMBER {member}"),
            AlterRoleAction::DropMember(member) => write!(f, "DROP MEMBER {member}"),
            AlterRoleAction::Rename(name) => write!(f, "WITH NAME = {name}"),
        }
    }
}

impl fmt::Display for SchemaStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create(create) => write!(f, "{create}"),
            Self::Alter(alter) => write!(f, "{alter}"),
        }
    }
}

impl fmt::Display for CreateSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Optional("", self.name.as_ref(), "");
        write!(
            f,
            "CREATE SCHEMA{name}{}",
            Optional("AUTHORIZATION ", self.authorization.as_ref(), "")
        )?;
        self.elements.iter().try_for_each(|element| write!(f, "\n{element}"))
    }
}

impl fmt::Display for AlterSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER SCHEMA {} TRANSFER ", self.name)?;
        match &self.class {
            Some(class) => write!(f, "{class}::{}", self.object),
            None => write!(f, "{}", self.object),
        }
    }
}

impl fmt::Display for PermissionChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, to) = match self.action {
            PermissionAction::Grant => ("GRANT", "TO"),
            PermissionAction::Deny => ("DENY", "TO"),
            PermissionAction::Revoke => ("REVOKE", "FROM"),
        };
        let revoke = self.action == PermissionAction::Revoke;
        write!(f, "{verb}{} ", word(self.grant_option && revoke, " GRANT OPTION FOR"))?;
        match self.permissions.as_slice() {
            [] => f.write_str("ALL")?,
            permissions => write!(f, "{}", List(permissions))?,
        }
        write!(f, "{}", Optional("ON ", self.securable.as_ref(), ""))?;
        write!(f, " {to} {}", List(&self.principals))?;
        f.write_str(word(self.grant_option && !revoke, " WITH GRANT OPTION"))?;
        f.write_str(word(self.cascade, " CASCADE"))?;
        write!(f, "{}", Optional("AS ", self.grantor.as_ref(), ""))
    }
}

impl fmt::Display for AlterAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ALTER AUTHORIZATION ON {} TO ", self.securable)?;
        match &self.owner {
            Some(owner) => write!(f, "{owner}"),
            None => f.write_str("SCHEMA OWNER"),
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, OptionalList("(", &self.columns, ")"))
    }
}

impl fmt::Display for Securable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.class {
            Some(class) => write!(f, "{class}::{}", self.name),
            None => write!(f, "{}", self.name),
        }
    }
}

impl fmt::Display for ModuleContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller => f.write_str("EXECUTE AS CALLER"),
            Self::Creator => f.write_str("EXECUTE AS SELF"),
            Self::Owner => f.write_str("EXECUTE AS OWNER"),
            Self::User(name) => write!(f, "EXECUTE AS {}", Text(name)),
        }
    }
}

impl fmt::Display for ExecuteAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.principal {
            ImpersonatedPrincipal::Caller => f.write_str("EXECUTE AS CALLER")?,
            ImpersonatedPrincipal::User(name) => write!(f, "EXECUTE AS USER = {name}")?,
            ImpersonatedPrincipal::Login(name) => write!(f, "EXECUTE AS LOGIN = {name}")?,
        }
        f.write_str(word(self.no_revert, " WITH NO REVERT"))?;
        match &self.cookie {
            Some(variable) => write!(f, " WITH COOKIE INTO {variable}"),
            None => Ok(()),
        }
    }
}
