//! To the types of dates and times.

use crate::{
    DataType, Date, DateTime2, DateTimeMinutes, DateTimeOffset, DateTimeTicks, Decimal, TimeOfDay, Value,
    convert::{
        ConversionError, ConversionFault,
        date_text::{Rules, StyleFault, TextFault, TextMoment, read_moment},
        exact::{power_of_ten, rescaled},
        float_bits::FloatBits,
        request::Request,
        to_binary::time_length,
        to_integer::last_bytes,
    },
    dates::{TICKS_PER_DAY, exact_of_datetime, unit_of_scale},
};

/// Numbers are days since 1900-01-01; what a type does not tell is 1900-01-01, midnight and +00:00.
pub(crate) fn to_moment(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let days = |days: i64| from_days(Some(days), Some(0), request);
    match value {
        Value::Text(text) => from_text(text, request),
        Value::Binary(bytes) => from_bytes(bytes, request),
        Value::Bit(bit) => days(i64::from(*bit)),
        Value::TinyInt(number) => days(i64::from(*number)),
        Value::SmallInt(number) => days(i64::from(*number)),
        Value::Int(number) => days(i64::from(*number)),
        Value::BigInt(number) => days(*number),
        Value::Decimal(number) => from_decimal(*number, request),
        Value::Money(units) => from_decimal(
            Decimal {
                unscaled: i128::from(*units),
                scale: 4,
            },
            request,
        ),
        Value::Real(number) => from_float(f64::from(*number), request),
        Value::Float(number) => from_float(*number, request),
        Value::Date(date) => from_local(DateTime2::at_midnight(*date), request),
        Value::Time(time) => from_local(
            DateTime2 {
                date: Date::BASE,
                time: *time,
            },
            request,
        ),
        Value::DateTime(moment) if *request.from == DataType::DateTime => {
            from_local(exact_of_datetime(*moment), request)
        }
        Value::DateTime(moment) => from_local(*moment, request),
        Value::DateTimeOffset(moment) => match request.to {
            DataType::DateTimeOffset(scale) => {
                let utc = moment.utc.rounded(*scale).ok_or_else(|| out_of_range(request))?;
                Ok(Value::DateTimeOffset(DateTimeOffset {
                    utc,
                    offset_minutes: moment.offset_minutes,
                }))
            }
            _ => from_local(moment.local(), request),
        },
        Value::Null | Value::Guid(_) => Err(request.misfit()),
    }
}

/// A moment without an offset, rounded once to what the type can tell apart.
fn from_local(local: DateTime2, request: &Request<'_>) -> Result<Value, ConversionError> {
    let converted = match request.to {
        DataType::Date => Some(Value::Date(local.date)),
        DataType::Time(scale) => Some(Value::Time(local.time.rounded(*scale).0)),
        DataType::SmallDateTime => DateTimeMinutes::nearest(local)
            .and_then(DateTimeMinutes::date_time)
            .map(Value::DateTime),
        DataType::DateTime => DateTimeTicks::nearest(local)
            .and_then(DateTimeTicks::date_time)
            .map(Value::DateTime),
        DataType::DateTime2(scale) => local.rounded(*scale).map(Value::DateTime),
        DataType::DateTimeOffset(_) if !matches!(request.style, None | Some(0 | 1)) => return Err(request.no_style()),
        DataType::DateTimeOffset(scale) => {
            let utc = local.rounded(*scale);
            utc.map(|utc| Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes: 0 }))
        }
        _ => return Err(request.misfit()),
    };
    converted.ok_or_else(|| out_of_range(request))
}

fn out_of_range(request: &Request<'_>) -> ConversionError {
    request.fail(ConversionFault::DateRange)
}

fn from_text(text: &str, request: &Request<'_>) -> Result<Value, ConversionError> {
    let is_old = matches!(request.to, DataType::DateTime | DataType::SmallDateTime);
    let style = request.style.unwrap_or(0);
    let rules = Rules::of(request.style, request.format, is_old).map_err(|fault| match fault {
        StyleFault::NoStyle => request.no_style(),
        StyleFault::Hijri => request.fail_with(
            ConversionFault::Unsupported,
            format!("CONVERT style {style} (Hijri calendar)"),
        ),
    })?;
    let moment = read_moment(text, &rules).map_err(|fault| match fault {
        TextFault::Range if is_old => out_of_range(request),
        TextFault::Range | TextFault::Syntax => request.fail(ConversionFault::DateSyntax),
        TextFault::OtherStyle => request.fail_with(ConversionFault::OtherStyle, style.to_string()),
    })?;
    from_text_moment(&moment, request)
}

fn from_text_moment(moment: &TextMoment, request: &Request<'_>) -> Result<Value, ConversionError> {
    let date = moment.date.unwrap_or(Date::BASE);
    if *request.to == DataType::Date {
        return Ok(Value::Date(date));
    }
    if let DataType::Time(scale) = request.to {
        // What was rounded up to midnight stays before it.
        let time = TimeOfDay(moment.units).min(TimeOfDay::MAX);
        return Ok(Value::Time(time.rounded(*scale).0));
    }
    let unreadable = || request.fail(ConversionFault::DateSyntax);
    let units = i64::try_from(moment.units).map_err(|_| unreadable())?;
    let local = DateTime2::at_midnight(date).checked_add_units(units);
    let local = local.ok_or_else(unreadable)?;
    match request.to {
        DataType::DateTime2(scale) => local.rounded(*scale).map(Value::DateTime).ok_or_else(unreadable),
        DataType::DateTimeOffset(scale) => {
            let local = local.rounded(*scale).ok_or_else(unreadable)?;
            DateTimeOffset::from_local(local, moment.offset_minutes.unwrap_or(0))
                .map(Value::DateTimeOffset)
                .ok_or_else(|| request.fail(ConversionFault::Unreadable))
        }
        _ => from_local(local, request),
    }
}

/// Days since 1900-01-01 and ticks of a day, which may be a day full; none is beyond what a number tells.
fn from_days(days: Option<i64>, ticks: Option<u32>, request: &Request<'_>) -> Result<Value, ConversionError> {
    let moment = days.zip(ticks).and_then(|(days, ticks)| {
        let (days, ticks) = if ticks >= TICKS_PER_DAY {
            (days.checked_add(1)?, 0)
        } else {
            (days, ticks)
        };
        let moment = DateTimeTicks {
            days: i32::try_from(days).ok()?,
            ticks,
        }
        .date_time()?;
        if *request.to == DataType::SmallDateTime {
            DateTimeMinutes::nearest(moment)?.date_time()
        } else {
            Some(moment)
        }
    });
    moment
        .map(Value::DateTime)
        .ok_or_else(|| request.fail(ConversionFault::ExpressionOverflow))
}

fn from_decimal(number: Decimal, request: &Request<'_>) -> Result<Value, ConversionError> {
    // A tick is more than a hundred-millionth of a day: twenty digits tell them apart many times over.
    let scale = number.scale.min(20);
    let number = rescaled(number.unscaled, number.scale, scale).zip(power_of_ten(scale));
    let days = number.and_then(|(number, one)| i64::try_from(number.div_euclid(one)).ok());
    let ticks = number.and_then(|(number, one)| {
        let part = number.rem_euclid(one) * i128::from(TICKS_PER_DAY);
        u32::try_from((part + one / 2) / one).ok()
    });
    from_days(days, ticks, request)
}

fn from_float(number: f64, request: &Request<'_>) -> Result<Value, ConversionError> {
    let whole = |number: f64| FloatBits::of(number).and_then(FloatBits::truncated);
    let days = whole(number.floor()).and_then(|days| i64::try_from(days).ok());
    let ticks = ((number - number.floor()) * f64::from(TICKS_PER_DAY)).round();
    from_days(days, whole(ticks).and_then(|ticks| u32::try_from(ticks).ok()), request)
}

/// SQL Server's own bytes: of the old types the last ones count, the highest first; of the newer ones all, the lowest first.
fn from_bytes(bytes: &[u8], request: &Request<'_>) -> Result<Value, ConversionError> {
    let old = || request.fail(ConversionFault::BinaryDateTime);
    let value = match request.to {
        DataType::DateTime => {
            let [d0, d1, d2, d3, t0, t1, t2, t3] = last_bytes(bytes);
            let (days, ticks) = (
                i32::from_be_bytes([d0, d1, d2, d3]),
                u32::from_be_bytes([t0, t1, t2, t3]),
            );
            return DateTimeTicks { days, ticks }
                .date_time()
                .map(Value::DateTime)
                .ok_or_else(old);
        }
        DataType::SmallDateTime => {
            let [d0, d1, m0, m1] = last_bytes(bytes);
            let (days, minutes) = (u16::from_be_bytes([d0, d1]), u16::from_be_bytes([m0, m1]));
            return DateTimeMinutes { days, minutes }
                .date_time()
                .map(Value::DateTime)
                .ok_or_else(old);
        }
        DataType::Date => date_of(bytes).map(Value::Date),
        DataType::Time(scale) => match split_time(bytes) {
            Some((time, [])) => Some(Value::Time(time.rounded(*scale).0)),
            Some(_) | None => None,
        },
        DataType::DateTime2(scale) => split_time(bytes).and_then(|(time, date)| {
            DateTime2 {
                date: date_of(date)?,
                time,
            }
            .rounded(*scale)
            .map(Value::DateTime)
        }),
        DataType::DateTimeOffset(scale) => split_time(bytes).and_then(|(time, rest)| {
            let (date, offset) = rest.split_at_checked(3)?;
            let utc = DateTime2 {
                date: date_of(date)?,
                time,
            }
            .rounded(*scale)?;
            let offset_minutes = i16::from_le_bytes(offset.try_into().ok()?);
            let moment = DateTimeOffset { utc, offset_minutes };
            DateTimeOffset::from_local(moment.checked_local()?, offset_minutes).map(Value::DateTimeOffset)
        }),
        _ => None,
    };
    value.ok_or_else(|| request.fail(ConversionFault::DateSyntax))
}

/// The time at the beginning, with its scale before it, and what follows.
fn split_time(bytes: &[u8]) -> Option<(TimeOfDay, &[u8])> {
    let (scale, rest) = bytes.split_first()?;
    if *scale > 7 {
        return None;
    }
    let (time, rest) = rest.split_at_checked(time_length(*scale))?;
    let units = time
        .iter()
        .rev()
        .fold(0_u64, |units, byte| units << 8 | u64::from(*byte));
    let time = TimeOfDay(units.checked_mul(unit_of_scale(*scale))?);
    (time <= TimeOfDay::MAX).then_some((time, rest))
}

fn date_of(bytes: &[u8]) -> Option<Date> {
    let [first, second, third] = bytes else { return None };
    let date = Date(u32::from_le_bytes([*first, *second, *third, 0]));
    (date <= Date::MAX).then_some(date)
}
