//! The connection and its user; the session's counters.

use std::sync::Arc;

use selenite_types::{DataType, Value, Width};

use crate::functions::Arguments;
use crate::functions::conversion::variant_of;
use crate::functions::globals::identity;
use crate::{CursorScope, Key, SqlError, same_name};

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
    let login = call.environment.login(Key::Current)?;
    Ok(login.map_or(Value::Null, |login| Value::Text(login.name)))
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

/// SESSION_CONTEXT.
pub(super) fn context(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(call
        .environment
        .session()
        .context
        .value(call.text(0)?.trim_end_matches(' ')))
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

/// CONNECTIONPROPERTY: a sql_variant of the property's own type.
pub(super) fn property(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let connection = call.environment.connection();
    let name = |name: &Arc<str>| variant_of(DataType::NVarChar(Width::Limited(40)), text(name));
    let address = |address: &Option<Arc<str>>| {
        let address = address.as_ref().map_or(Value::Null, text);
        variant_of(DataType::VarChar(Width::Limited(48)), address)
    };
    Ok(match call.text(0)?.to_ascii_lowercase().as_str() {
        "net_transport" | "physical_net_transport" => name(&connection.net_transport),
        "protocol_type" => name(&connection.protocol_type),
        "auth_scheme" => name(&connection.auth_scheme),
        "local_net_address" => address(&connection.local_net_address),
        "client_net_address" => address(&connection.client_net_address),
        "local_tcp_port" => {
            let port = connection.local_tcp_port.map_or(Value::Null, Value::Int);
            variant_of(DataType::Int, port)
        }
        _ => Value::Null,
    })
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
