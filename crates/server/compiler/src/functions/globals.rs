//! Global variables: properties of the session and the server.

use std::sync::Arc;

use selenite_types::{DataType, Value, Width};

use super::{Arguments, Function, SYSNAME, Typing};
use crate::SqlError;

pub(super) static FUNCTIONS: &[Function] = &[
    Function::refused("@@connections"),
    Function::refused("@@cpu_busy"),
    global("@@cursor_rows", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().cursor_rows))
    }),
    global("@@datefirst", DataType::TinyInt, |call| {
        Ok(Value::TinyInt(call.environment.session().date_first.number()))
    }),
    global(
        "@@dbts",
        DataType::VarBinary(Width::Limited(8)),
        super::row_version::last,
    ),
    global("@@error", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().error))
    }),
    global("@@fetch_status", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().fetch_status))
    }),
    global("@@identity", IDENTITY, |call| {
        Ok(identity(call.environment.session().identity))
    })
    .taking_nulls(),
    Function::refused("@@idle"),
    Function::refused("@@io_busy"),
    global("@@langid", DataType::SmallInt, |call| {
        Ok(Value::SmallInt(call.environment.session().language_id))
    }),
    global("@@language", SYSNAME, |call| {
        Ok(Value::Text(Arc::clone(&call.environment.session().language)))
    }),
    global("@@lock_timeout", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().lock_timeout_ms))
    }),
    global("@@max_connections", DataType::Int, |call| {
        Ok(Value::Int(call.environment.server().connection_count_max))
    }),
    global("@@max_precision", DataType::TinyInt, |_| Ok(Value::TinyInt(38))),
    global("@@microsoftversion", DataType::Int, |call| {
        Ok(Value::Int(packed_version(call)))
    }),
    global("@@nestlevel", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().nest_level))
    }),
    global("@@options", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().options))
    }),
    Function::refused("@@pack_received"),
    Function::refused("@@pack_sent"),
    Function::refused("@@packet_errors"),
    global("@@procid", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().procedure_id))
    }),
    global("@@remserver", SYSNAME, |_| Ok(Value::Null)).taking_nulls(),
    global("@@rowcount", DataType::Int, row_count),
    global("@@servername", SYSNAME, |call| {
        Ok(Value::Text(Arc::clone(&call.environment.server().name)))
    }),
    global("@@servicename", SYSNAME, |call| {
        Ok(Value::Text(Arc::clone(&call.environment.server().service_name)))
    }),
    global("@@spid", DataType::SmallInt, |call| {
        Ok(Value::SmallInt(call.environment.session().spid))
    }),
    global("@@textsize", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().text_size))
    }),
    Function::refused("@@timeticks"),
    Function::refused("@@total_errors"),
    Function::refused("@@total_read"),
    Function::refused("@@total_write"),
    global("@@trancount", DataType::Int, |call| {
        Ok(Value::Int(call.environment.session().transaction_count))
    }),
    global("@@version", VERSION, |call| {
        Ok(call.text_result(&call.environment.server().version))
    }),
];

/// A session or server property that is never NULL.
const fn global(
    name: &'static str,
    data_type: DataType,
    run: fn(&Arguments<'_>) -> Result<Value, SqlError>,
) -> Function {
    Function::new(name, &[], Typing::Is(data_type), run)
        .never_null()
        .of_statement()
}

/// `@@ROWCOUNT`: ROWCOUNT_BIG returns a count beyond int.
fn row_count(call: &Arguments<'_>) -> Result<Value, SqlError> {
    call.whole_result(call.environment.session().row_count)
}

/// An identity value in the widest type of an identity.
pub(super) fn identity(value: Option<selenite_types::Decimal>) -> Value {
    value.map_or(Value::Null, Value::Decimal)
}

/// Major, minor and build in one number.
fn packed_version(call: &Arguments<'_>) -> i32 {
    let [major, minor, build, _] = call.environment.server().product_version;
    ((i32::from(major) & 0x7f) << 24) | ((i32::from(minor) & 0xff) << 16) | i32::from(build)
}

/// The type of `@@IDENTITY` and related functions.
pub(super) const IDENTITY: DataType = DataType::Numeric {
    precision: 38,
    scale: 0,
};

/// The declared type of `@@VERSION` in SQL Server.
const VERSION: DataType = DataType::NVarChar(Width::Limited(300));
