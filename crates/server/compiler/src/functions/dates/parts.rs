//! DATEFROMPARTS and related functions.

use selenite_types::{
    CivilParts, ClockParts, DataType, Value, date_from_parts, datetime_from_parts, datetime2_from_parts,
    datetimeoffset_from_parts, smalldatetime_from_parts, time_from_parts,
};

use crate::functions::Arguments;
use crate::functions::typing::constant_whole;
use crate::{Expr, SqlError};

/// The type of TIMEFROMPARTS, whose last argument is a constant.
pub(super) fn time_type(arguments: &[Expr]) -> DataType {
    DataType::Time(scale(arguments.get(4)))
}

/// The type of DATETIME2FROMPARTS, whose last argument is a constant.
pub(super) fn datetime2_type(arguments: &[Expr]) -> DataType {
    DataType::DateTime2(scale(arguments.get(7)))
}

/// The type of DATETIMEOFFSETFROMPARTS, whose last argument is a constant.
pub(super) fn datetimeoffset_type(arguments: &[Expr]) -> DataType {
    DataType::DateTimeOffset(scale(arguments.get(9)))
}

/// The number of fractional digits, which binding has checked to be a constant.
fn scale(argument: Option<&Expr>) -> u8 {
    constant_whole(argument)
        .and_then(|scale| u8::try_from(scale).ok())
        .filter(|scale| *scale <= 7)
        .unwrap_or(7)
}

/// DATEFROMPARTS.
pub(super) fn date(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(date_from_parts(civil(call)?)?)
}

/// TIMEFROMPARTS.
pub(super) fn time(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let clock = ClockParts {
        scale: call.int(4)?,
        ..clock(call, 0)?
    };
    Ok(time_from_parts(clock)?)
}

/// DATETIMEFROMPARTS.
pub(super) fn datetime(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(datetime_from_parts(civil(call)?, clock(call, 3)?)?)
}

/// SMALLDATETIMEFROMPARTS.
pub(super) fn smalldatetime(call: &Arguments<'_>) -> Result<Value, SqlError> {
    Ok(smalldatetime_from_parts(civil(call)?, call.int(3)?, call.int(4)?)?)
}

/// DATETIME2FROMPARTS.
pub(super) fn datetime2(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let clock = ClockParts {
        scale: call.int(7)?,
        ..clock(call, 3)?
    };
    Ok(datetime2_from_parts(civil(call)?, clock)?)
}

/// DATETIMEOFFSETFROMPARTS.
pub(super) fn datetimeoffset(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let clock = ClockParts {
        scale: call.int(9)?,
        ..clock(call, 3)?
    };
    Ok(datetimeoffset_from_parts(
        civil(call)?,
        clock,
        call.int(7)?,
        call.int(8)?,
    )?)
}

fn civil(call: &Arguments<'_>) -> Result<CivilParts, SqlError> {
    Ok(CivilParts {
        year: call.int(0)?,
        month: call.int(1)?,
        day: call.int(2)?,
    })
}

/// Hour, minute, second and fraction, from argument `first` on.
fn clock(call: &Arguments<'_>, first: usize) -> Result<ClockParts, SqlError> {
    Ok(ClockParts {
        hour: call.int(first)?,
        minute: call.int(first + 1)?,
        second: call.int(first + 2)?,
        fraction: call.int(first + 3)?,
        scale: 0,
    })
}
