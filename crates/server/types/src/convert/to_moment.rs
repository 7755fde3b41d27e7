//! Conversion to date and time types.

use crate::{
    DataType, Date, DateTime2, DateTimeMinutes, DateTimeOffset, DateTimeTicks, Decimal, TimeOfDay, Value,
    convert::{
        ConversionError, ConversionFault,
        date_text::{Rules, StyleFault, TextFault, TextMoment, read_moment},
        float_bits::FloatBits,
        integer_type::last_bytes,
        request::Request,
        to_binary::time_length,
        to_decimal::amount,
    },
    dates::{MomentType, TICKS_PER_DAY, exact_of_datetime, unit_of_scale},
    decimal::power_of_ten,
};

/// Numbers are days since 1900-01-01; a missing part is 1900-01-01, midnight or +00:00.
pub(crate) fn to_moment(value: &Value, request: &Request<'_>) -> Result<Value, ConversionError> {
    let to = MomentType::of(request.to).ok_or_else(|| request.misfit())?;
    let days = |days: i64| from_days(Some(days), Some(0), request);
    match value {
        Value::Text(text) => from_text(text, to, request),
        Value::Binary(bytes) => from_bytes(bytes, to).ok_or_else(|| unreadable_bytes(to, request)),
        Value::Bit(bit) => days(i64::from(*bit)),
        Value::TinyInt(number) => days(i64::from(*number)),
        Value::SmallInt(number) => days(i64::from(*number)),
        Value::Int(number) => days(i64::from(*number)),
        Value::BigInt(number) => days(*number),
        Value::Decimal(number) => from_decimal(*number, request),
        Value::Money(units) => from_decimal(amount(*units), request),
        Value::Real(number) => from_float(f64::from(*number), request),
        Value::Float(number) => from_float(*number, request),
        Value::Date(date) => from_local(DateTime2::at_midnight(*date), to, request),
        Value::Time(time) => from_local(
            DateTime2 {
                date: Date::BASE,
                time: *time,
            },
            to,
            request,
        ),
        Value::DateTime(moment) if *request.from == DataType::DateTime => {
            from_local(exact_of_datetime(*moment), to, request)
        }
        Value::DateTime(moment) => from_local(*moment, to, request),
        Value::DateTimeOffset(moment) => from_offset(*moment, to, request),
        Value::Null | Value::Guid(_) | Value::SqlVariant(_) => Err(request.misfit()),
    }
}

fn from_offset(moment: DateTimeOffset, to: MomentType, request: &Request<'_>) -> Result<Value, ConversionError> {
    if let MomentType::DateTimeOffset(scale) = to {
        let utc = moment.utc.rounded(scale).ok_or_else(|| out_of_range(request))?;
        return Ok(Value::DateTimeOffset(DateTimeOffset { utc, ..moment }));
    }
    from_local(moment.local(), to, request)
}

/// Converts a value without an offset.
fn from_local(local: DateTime2, to: MomentType, request: &Request<'_>) -> Result<Value, ConversionError> {
    if matches!(to, MomentType::DateTimeOffset(_)) && !matches!(request.style, None | Some(0 | 1)) {
        return Err(request.no_style());
    }
    rounded(local, to).ok_or_else(|| out_of_range(request))
}

/// Rounds once to the type's precision; `None` outside of its range.
fn rounded(local: DateTime2, to: MomentType) -> Option<Value> {
    match to {
        MomentType::Date => Some(Value::Date(local.date)),
        MomentType::Time(scale) => Some(Value::Time(local.time.rounded(scale).0)),
        MomentType::SmallDateTime => DateTimeMinutes::nearest(local)
            .and_then(DateTimeMinutes::date_time)
            .map(Value::DateTime),
        MomentType::DateTime => DateTimeTicks::nearest(local)
            .and_then(DateTimeTicks::date_time)
            .map(Value::DateTime),
        MomentType::DateTime2(scale) => local.rounded(scale).map(Value::DateTime),
        MomentType::DateTimeOffset(scale) => {
            let utc = local.rounded(scale)?;
            Some(Value::DateTimeOffset(DateTimeOffset { utc, offset_minutes: 0 }))
        }
    }
}

fn out_of_range(request: &Request<'_>) -> ConversionError {
    request.fail(ConversionFault::DateRange)
}

fn from_text(text: &str, to: MomentType, request: &Request<'_>) -> Result<Value, ConversionError> {
    let style = request.style.unwrap_or(0);
    let rules = Rules::of(request.style, request.format, to.is_old()).map_err(|fault| match fault {
        StyleFault::NoStyle => request.no_style(),
        StyleFault::Hijri => request.hijri(style),
    })?;
    let moment = read_moment(text, &rules).map_err(|fault| match fault {
        TextFault::Range if to.is_old() => out_of_range(request),
        TextFault::Range | TextFault::Syntax => request.fail(ConversionFault::DateSyntax),
        TextFault::OtherStyle => request.fail_with(ConversionFault::OtherStyle, style.to_string()),
    })?;
    from_text_moment(&moment, to, request)
}

fn from_text_moment(moment: &TextMoment, to: MomentType, request: &Request<'_>) -> Result<Value, ConversionError> {
    let date = moment.date.unwrap_or(Date::BASE);
    if to == MomentType::Date {
        return Ok(Value::Date(date));
    }
    if let MomentType::Time(scale) = to {
        // A time that rounds up to midnight becomes the last unit before it.
        let time = TimeOfDay(moment.units).min(TimeOfDay::MAX);
        return Ok(Value::Time(time.rounded(scale).0));
    }
    let unreadable = || request.fail(ConversionFault::DateSyntax);
    let units = i64::try_from(moment.units).map_err(|_| unreadable())?;
    let local = DateTime2::at_midnight(date)
        .checked_add_units(units)
        .ok_or_else(unreadable)?;
    if let MomentType::DateTimeOffset(scale) = to {
        let local = local.rounded(scale).ok_or_else(unreadable)?;
        return DateTimeOffset::from_local(local, moment.offset_minutes.unwrap_or(0))
            .map(Value::DateTimeOffset)
            .ok_or_else(|| request.fail(ConversionFault::Unreadable));
    }
    rounded(local, to).ok_or_else(|| {
        if to.is_old() {
            out_of_range(request)
        } else {
            unreadable()
        }
    })
}

/// Days since 1900-01-01 and ticks of a day, which may be a complete day; `None` if the number is out of range.
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
    // A tick is larger than 10^-8 day: twenty digits are far more than required.
    let scale = number.scale.min(20);
    let one = power_of_ten(scale).and_then(|one| i128::try_from(one).ok());
    let number = number.rescale(scale).map(|number| number.unscaled).zip(one);
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

/// SQL Server's binary form: for the old types the last bytes, big-endian; for the newer ones all bytes, little-endian.
fn from_bytes(bytes: &[u8], to: MomentType) -> Option<Value> {
    match to {
        MomentType::DateTime => {
            let [d0, d1, d2, d3, t0, t1, t2, t3] = last_bytes(bytes);
            let (days, ticks) = (
                i32::from_be_bytes([d0, d1, d2, d3]),
                u32::from_be_bytes([t0, t1, t2, t3]),
            );
            DateTimeTicks { days, ticks }.date_time().map(Value::DateTime)
        }
        MomentType::SmallDateTime => {
            let [d0, d1, m0, m1] = last_bytes(bytes);
            let (days, minutes) = (u16::from_be_bytes([d0, d1]), u16::from_be_bytes([m0, m1]));
            DateTimeMinutes { days, minutes }.date_time().map(Value::DateTime)
        }
        MomentType::Date => date_of(bytes).map(Value::Date),
        MomentType::Time(scale) => {
            let (time, rest) = split_time(bytes)?;
            rest.is_empty().then(|| Value::Time(time.rounded(scale).0))
        }
        MomentType::DateTime2(scale) => {
            let (time, date) = split_time(bytes)?;
            DateTime2 {
                date: date_of(date)?,
                time,
            }
            .rounded(scale)
            .map(Value::DateTime)
        }
        MomentType::DateTimeOffset(scale) => {
            let (time, rest) = split_time(bytes)?;
            let (date, offset) = rest.split_at_checked(3)?;
            let utc = DateTime2 {
                date: date_of(date)?,
                time,
            }
            .rounded(scale)?;
            let offset_minutes = i16::from_le_bytes(offset.try_into().ok()?);
            let local = DateTimeOffset { utc, offset_minutes }.checked_local()?;
            DateTimeOffset::from_local(local, offset_minutes).map(Value::DateTimeOffset)
        }
    }
}

fn unreadable_bytes(to: MomentType, request: &Request<'_>) -> ConversionError {
    request.fail(if to.is_old() {
        ConversionFault::BinaryDateTime
    } else {
        ConversionFault::DateSyntax
    })
}

/// Splits off the scale and the time at the beginning.
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
