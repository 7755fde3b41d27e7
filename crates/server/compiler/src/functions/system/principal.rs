//! Users, logins and roles.

use selenite_types::Value;

use crate::functions::Arguments;
use crate::{Key, SqlError, same_name};

/// USER_NAME.
pub(super) fn user_name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let key = if call.values.is_empty() {
        Key::Current
    } else {
        Key::Id(call.int(0)?)
    };
    Ok(call
        .environment
        .user(key)?
        .map_or(Value::Null, |user| Value::Text(user.name)))
}

/// USER_ID and DATABASE_PRINCIPAL_ID.
pub(super) fn user_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let key = if call.values.is_empty() {
        Key::Current
    } else {
        Key::Name(call.text(0)?)
    };
    Ok(call
        .environment
        .user(key)?
        .map_or(Value::Null, |user| Value::Int(user.id)))
}

/// SUSER_NAME.
pub(super) fn login_name(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let key = if call.values.is_empty() {
        Key::Current
    } else {
        Key::Id(call.int(0)?)
    };
    Ok(call
        .environment
        .login(key)?
        .map_or(Value::Null, |login| Value::Text(login.name)))
}

/// SUSER_ID.
pub(super) fn login_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let key = if call.values.is_empty() {
        Key::Current
    } else {
        Key::Name(call.text(0)?)
    };
    Ok(call
        .environment
        .login(key)?
        .map_or(Value::Null, |login| Value::Int(login.id)))
}

/// IS_MEMBER: NULL for an unknown role.
pub(super) fn is_member(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let found = call
        .environment
        .user(Key::Name(call.text(0)?))?
        .filter(|role| role.is_role);
    Ok(found.map_or(Value::Null, |role| Value::Int(i32::from(role.is_member))))
}

/// IS_ROLEMEMBER for the current user.
pub(super) fn is_role_member(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let user = call.environment.user(Key::Current)?;
    let is_current = |name: &str| user.as_ref().is_some_and(|user| same_name(&user.name, name));
    if call.values.len() > 1 && !is_current(call.text(1)?) {
        return Err(SqlError::unsupported("IS_ROLEMEMBER of another user"));
    }
    is_member(call)
}

/// HAS_PERMS_BY_NAME.
pub(super) fn has_permission(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let given = |at: usize| match call.values.get(at) {
        None | Some(Value::Null) => Ok(None),
        Some(_) => call.text(at).map(Some),
    };
    let Some(permission) = given(2)? else {
        return Ok(Value::Null);
    };
    let column = match (given(3)?, given(4)?) {
        (column, None) => column,
        (Some(column), Some(class)) if class.trim_end().eq_ignore_ascii_case("COLUMN") => Some(column),
        (Some(_) | None, Some(_)) => return Ok(Value::Null),
    };
    let found = (call.environment).has_permission(given(0)?, given(1)?, permission, column)?;
    Ok(found.map_or(Value::Null, |has| Value::Int(i32::from(has))))
}

/// IS_SRVROLEMEMBER for the current login.
pub(super) fn is_server_role_member(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let login = call.environment.login(Key::Current)?;
    let is_current = |name: &str| login.as_ref().is_some_and(|login| same_name(&login.name, name));
    if call.values.len() > 1 && !is_current(call.text(1)?) {
        return Err(SqlError::unsupported("IS_SRVROLEMEMBER of another login"));
    }
    let found = call
        .environment
        .login(Key::Name(call.text(0)?))?
        .filter(|role| role.is_role);
    Ok(found.map_or(Value::Null, |role| Value::Int(i32::from(role.is_member))))
}
