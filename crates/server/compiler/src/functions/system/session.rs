//! The connection and its user; the session's counters.

use std::sync::Arc;

use selenite_types::{DataType, Value, Width};

use super::property::constant_text;
use crate::functions::Arguments;
use crate::functions::globals::identity;
use crate::{CursorScope, Expr, Key, SqlError, same_name};

/// APP_NAME.
pub(super) fn application(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(text(&call.environment.connection().application))
}

/// HOST_NAME.
pub(super) fn host(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(text(&call.environment.connection().host))
}

/// HOST_ID.
pub(super) fn host_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let id = &call.environment.connection().host_id;
    Ok(call.text_result(&format!("{id:<10}")))
}

/// SUSER_SNAME, also with a security identifier, and SYSTEM_USER.
pub(super) fn login(call: &Arguments<'_>) -> Result<Value, SqlError> {
    if let Some(sid) = call.values.first() {
        let Value::Binary(sid) = sid else {
            return Ok(Value::Null);
        };
        let login = call.environment.login(Key::Sid(sid))?;
        return Ok(login.map_or(Value::Null, |login| Value::Text(login.name)));
    }
    Ok(text(&call.environment.connection().login))
}

/// ORIGINAL_LOGIN.
pub(super) fn original_login(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(text(&call.environment.connection().original_login))
}

/// USER, CURRENT_USER and SESSION_USER.
pub(super) fn user(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let user = call.environment.user(Key::Current)?;
    Ok(user.map_or(Value::Null, |user| Value::Text(user.name)))
}

/// CONTEXT_INFO.
pub(super) fn context_info(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let info = call.environment.session().context_info.as_ref();
    Ok(info.map_or(Value::Null, |info| Value::Binary(Arc::clone(info))))
}

/// CURRENT_TRANSACTION_ID.
pub(super) fn transaction_id(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::BigInt(call.environment.session().transaction_id))
}

/// XACT_STATE.
pub(super) fn transaction_state(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::SmallInt(call.environment.session().transaction_state))
}

/// SCOPE_IDENTITY.
pub(super) fn scope_identity(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(identity(call.environment.session().scope_identity))
}

/// ROWCOUNT_BIG.
pub(super) fn row_count(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(Value::BigInt(call.environment.session().row_count))
}

/// GETANSINULL: new columns are nullable by default in every database.
pub(super) fn ansi_null(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let key = if call.values.is_empty() {
        crate::Key::Current
    } else {
        crate::Key::Name(call.text(0)?)
    };
    Ok(call.environment.database(key)?.map_or(Value::Null, |_| Value::Int(1)))
}

/// The type of CONNECTIONPROPERTY: the property's base type in SQL Server's sql_variant.
pub(super) fn property_type(arguments: &[Expr]) -> DataType {
    match constant_text(arguments.first()).as_deref() {
        Some("local_tcp_port") => DataType::Int,
        Some("client_net_address" | "local_net_address") => DataType::VarChar(Width::Limited(48)),
        Some(_) | None => DataType::NVarChar(Width::Limited(40)),
    }
}

/// CONNECTIONPROPERTY.
pub(super) fn property(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let connection = call.environment.connection();
    let given = |text: &Option<Arc<str>>| text.as_ref().map_or(Value::Null, |text| Value::Text(Arc::clone(text)));
    let value = match call.text(0)?.to_ascii_lowercase().as_str() {
        "net_transport" | "physical_net_transport" => text(&connection.net_transport),
        "protocol_type" => text(&connection.protocol_type),
        "auth_scheme" => text(&connection.auth_scheme),
        "local_net_address" => given(&connection.local_net_address),
        "client_net_address" => given(&connection.client_net_address),
        "local_tcp_port" if call.data_type == DataType::Int => {
            connection.local_tcp_port.map_or(Value::Null, Value::Int)
        }
        "local_tcp_port" => connection
            .local_tcp_port
            .map_or(Value::Null, |port| call.text_result(&port.to_string())),
        _ => Value::Null,
    };
    Ok(value)
}

fn text(text: &Arc<str>) -> Value {
    Value::Text(Arc::clone(text))
}

/// CURSOR_STATUS: -3 for a name that no cursor has.
pub(super) fn cursor_status(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let (Some(Value::Text(kind)), Some(Value::Text(name))) = (call.values.first(), call.values.get(1)) else {
        return Ok(Value::SmallInt(NO_CURSOR));
    };
    let scope = match kind.trim_end().to_ascii_lowercase().as_str() {
        "local" => CursorScope::Local,
        "global" => CursorScope::Global,
        "variable" => CursorScope::Variable,
        _ => return Ok(Value::SmallInt(NO_CURSOR)),
    };
    let cursors = &call.environment.session().cursors;
    let found = cursors
        .iter()
        .find(|cursor| cursor.scope == scope && same_name(&cursor.name, name.trim_end()));
    Ok(Value::SmallInt(found.map_or(NO_CURSOR, |cursor| cursor.status)))
}

/// CURSOR_STATUS of a name that is not known.
const NO_CURSOR: i16 = -3;
