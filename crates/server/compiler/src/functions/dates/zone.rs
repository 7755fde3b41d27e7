//! AT TIME ZONE.

use selenite_types::{DataType, DateError, Value};

use crate::expr::{Rule, Typing, seconds_scale};
use crate::functions::Arguments;
use crate::time_zone::TimeZone;
use crate::{Expr, Function, SqlError};

/// AT TIME ZONE: the moment, and the name of the zone.
pub(crate) static AT_TIME_ZONE: Function = Function::new(
    "AT TIME ZONE",
    &[Rule::ZonedMoment, Rule::National],
    Typing::By(zone_type),
    at_time_zone,
)
.making_nulls();

fn zone_type(arguments: &[Expr]) -> DataType {
    DataType::DateTimeOffset(arguments.first().map_or(7, |moment| seconds_scale(&moment.data_type)))
}

/// A time without an offset is one of the zone; one with an offset is converted to the zone.
fn at_time_zone(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let name = call.text(1)?;
    let zone = TimeZone::find(name.trim_end_matches(' ')).ok_or_else(|| SqlError::unknown_time_zone(name))?;
    let found = if let Value::DateTimeOffset(moment) = call.value(0) {
        zone.at_instant(moment.utc)
    } else if let Value::DateTime(moment) = call.value(0) {
        zone.at_local(*moment)
    } else {
        return Err(SqlError::internal("AT TIME ZONE of what is no moment"));
    };
    let overflow = DateError::OffsetOverflow {
        function: "AT TIME ZONE",
    };
    Ok(Value::DateTimeOffset(found.ok_or(overflow)?))
}
