//! SERVERPROPERTY and COLLATIONPROPERTY.

use std::sync::Arc;

use selenite_types::{Collation, DataType, Value};

use crate::functions::Arguments;
use crate::functions::conversion::{variant_name, variant_of};
use crate::{DEFAULT_COLLATION, Server, SqlError};

/// SERVERPROPERTY: a sql_variant of the property's own type.
pub(super) fn of_server(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let server = call.environment.server();
    let property = call.text(0)?.to_ascii_lowercase();
    if let "sqlcharset" | "sqlsortorder" = property.as_str() {
        let number = if property == "sqlcharset" {
            CHARACTER_SET
        } else {
            SORT_ORDER
        };
        let number = u8::try_from(number).map_or(Value::Null, Value::TinyInt);
        return Ok(variant_of(DataType::TinyInt, number));
    }
    Ok(match number_of(&property, server) {
        Some(number) => variant_of(DataType::Int, Value::Int(number)),
        None => text_of_server(&property, server).map_or(Value::Null, |text| variant_name(&text)),
    })
}

/// A property that is an int.
fn number_of(property: &str, server: &Server) -> Option<i32> {
    Some(match property {
        "collationid" => COLLATION_ID,
        "comparisonstyle" => COMPARISON_STYLE,
        "engineedition" => server.engine_edition,
        "lcid" => LCID,
        "processid" => server.process_id,
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
    let value = match call.text(1)?.to_ascii_lowercase().as_str() {
        "codepage" => Value::Int(collation.code_page()),
        "lcid" => Value::Int(LCID),
        "comparisonstyle" => Value::Int(collation.comparison_style()),
        "version" => Value::Int(collation.version().into()),
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

/// The number of the character set iso_1.
const CHARACTER_SET: i32 = 1;
