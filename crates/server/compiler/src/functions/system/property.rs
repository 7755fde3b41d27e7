//! SERVERPROPERTY and COLLATIONPROPERTY.
//!
//! The result has the property's base type in SQL Server's sql_variant if the property's name is a constant; else it is
//! text.

use std::sync::Arc;

use selenite_types::{Collation, DataType, Value};

use crate::functions::{Arguments, SYSNAME};
use crate::{DEFAULT_COLLATION, Expr, ExprKind, Server, SqlError};

/// A constant text in lower case.
pub(super) fn constant_text(argument: Option<&Expr>) -> Option<String> {
    let ExprKind::Literal(Value::Text(text)) = &argument?.kind else {
        return None;
    };
    Some(text.to_ascii_lowercase())
}

/// The type of SERVERPROPERTY.
pub(super) fn server_type(arguments: &[Expr]) -> DataType {
    match constant_text(arguments.first()).as_deref() {
        Some("sqlcharset" | "sqlsortorder") => DataType::TinyInt,
        Some(property) if number_of(property, None).is_some() => DataType::Int,
        Some(_) | None => SYSNAME,
    }
}

/// SERVERPROPERTY.
pub(super) fn of_server(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let server = call.environment.server();
    let property = call.text(0)?.to_ascii_lowercase();
    let Some(number) = number_of(&property, Some(server)) else {
        return Ok(text_of_server(&property, server).map_or(Value::Null, |text| call.text_result(&text)));
    };
    if call.data_type == DataType::TinyInt {
        return Ok(u8::try_from(number).map_or(Value::Null, Value::TinyInt));
    }
    if call.data_type == DataType::Int {
        return Ok(i32::try_from(number).map_or(Value::Null, Value::Int));
    }
    Ok(call.text_result(&number.to_string()))
}

/// An integer property; without a server any integer, for its type.
fn number_of(property: &str, server: Option<&Server>) -> Option<i64> {
    let of_server = |fact: fn(&Server) -> i32| server.map_or(0, |server| i64::from(fact(server)));
    Some(match property {
        "collationid" => i64::from(COLLATION_ID),
        "comparisonstyle" => i64::from(COMPARISON_STYLE),
        "engineedition" => of_server(|server| server.engine_edition),
        "lcid" => i64::from(LCID),
        "processid" => of_server(|server| server.process_id),
        "sqlcharset" => 1,
        "sqlsortorder" => i64::from(SORT_ORDER),
        "filestreamconfiguredlevel"
        | "filestreameffectivelevel"
        | "hadrmanagerstatus"
        | "isadvancedanalyticsinstalled"
        | "isbigdatacluster"
        | "isclustered"
        | "isexternalauthenticationonly"
        | "isfulltextinstalled"
        | "ishadrenabled"
        | "isintegratedsecurityonly"
        | "islocaldb"
        | "ispolybaseinstalled"
        | "issingleuser"
        | "istempdbmetadatamemoryoptimized"
        | "isxtpsupported" => 0,
        _ => return None,
    })
}

fn text_of_server(property: &str, server: &Server) -> Option<String> {
    let [major, minor, build, revision] = server.product_version;
    let name = |text: &Arc<str>| text.to_string();
    Some(match property {
        "collation" => DEFAULT_COLLATION.to_owned(),
        "computernamephysicalnetbios" | "machinename" => name(&server.machine_name),
        "edition" => name(&server.edition),
        "instancedefaultdatapath" | "instancedefaultlogpath" | "instancedefaultbackuppath" => name(&server.data_path),
        "instancename" => name(server.instance_name.as_ref()?),
        "licensetype" => "DISABLED".to_owned(),
        "productbuild" => build.to_string(),
        "productlevel" => name(&server.product_level),
        "productmajorversion" => major.to_string(),
        "productminorversion" => minor.to_string(),
        "productversion" => format!("{major}.{minor}.{build}.{revision}"),
        "resourceversion" => format!("{major}.{minor:02}.{build}"),
        "servername" => name(&server.name),
        "sqlcharsetname" => "iso_1".to_owned(),
        "sqlsortordername" => "nocase_iso".to_owned(),
        _ => return None,
    })
}

/// COLLATIONPROPERTY.
pub(super) fn of_collation(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let Some(collation) = Collation::from_name(call.text(0)?) else {
        return Ok(Value::Null);
    };
    let style = if collation == Collation::Latin1GeneralBin2 {
        0
    } else {
        COMPARISON_STYLE
    };
    let value = match call.text(1)?.to_ascii_lowercase().as_str() {
        "codepage" => Value::Int(1252),
        "lcid" => Value::Int(LCID),
        "comparisonstyle" => Value::Int(style),
        "version" => Value::Int(0),
        _ => Value::Null,
    };
    Ok(value)
}

/// The TDS collation of `SQL_Latin1_General_CP1_CI_AS`.
const COLLATION_ID: i32 = 872_468_488;

/// Case, kana type and width are ignored.
pub(super) const COMPARISON_STYLE: i32 = 196_609;

/// The locale English (United States).
pub(super) const LCID: i32 = 1033;

/// The SQL sort order of `SQL_Latin1_General_CP1_CI_AS`.
pub(super) const SORT_ORDER: i32 = 52;
