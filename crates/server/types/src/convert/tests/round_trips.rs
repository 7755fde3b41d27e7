use proptest::prelude::*;

use super::*;
use crate::{DateTimeMinutes, DateTimeOffset, DateTimeTicks, Guid};

/// Converts a value to a type and back, in a style, with every DATEFORMAT.
fn round_trips(
    value: &Value,
    of: DataType,
    way: DataType,
    style: Option<i32>,
    format: DateFormat,
) -> Result<(), TestCaseError> {
    let there = convert(value, &of, &way, style, format);
    prop_assert!(there.is_ok(), "{:?} of {} in {:?}: {:?}", value, of, style, there);
    let back = convert(&there.clone().unwrap(), &way, &of, style, format);
    prop_assert_eq!(back.as_ref(), Ok(value), "{} by way of {:?} in {:?}", of, there, style);
    Ok(())
}

fn date_format() -> impl Strategy<Value = DateFormat> {
    prop::sample::select(vec![
        DateFormat::Mdy,
        DateFormat::Dmy,
        DateFormat::Ymd,
        DateFormat::Ydm,
        DateFormat::Myd,
        DateFormat::Dym,
    ])
}

fn any_moment(scale: u8) -> impl Strategy<Value = DateTime2> {
    let step = 10_i64.pow(u32::from(7 - scale));
    (0..=DateTime2::MAX.units() / step).prop_map(move |count| DateTime2::from_units(count * step).unwrap())
}

fn any_datetime() -> impl Strategy<Value = DateTime2> {
    let (days, ticks) = (DateTimeTicks::MIN.days..=DateTimeTicks::MAX.days, 0..25_920_000_u32);
    (days, ticks).prop_map(|(days, ticks)| DateTimeTicks { days, ticks }.date_time().unwrap())
}

const WAYS: [DataType; 3] = [VARCHAR, NVARCHAR, DataType::Char(60)];

proptest! {
    #[test]
    fn integers_round_trip_through_text_and_binary(number in any::<i64>(), style in prop::option::of(0..3_i32)) {
        let bigint = Value::BigInt(number);
        for way in WAYS {
            round_trips(&bigint, DataType::BigInt, way, style, DateFormat::Mdy)?;
            let int = Value::Int(i32::try_from(number >> 32).unwrap());
            round_trips(&int, DataType::Int, way, style, DateFormat::Mdy)?;
            let money = Value::Money(number);
            round_trips(&money, DataType::Money, way, Some(2), DateFormat::Mdy)?;
        }
        round_trips(&bigint, DataType::BigInt, VARBINARY, None, DateFormat::Mdy)?;
        round_trips(&bigint, DataType::BigInt, DataType::Binary(20), None, DateFormat::Mdy)?;
        round_trips(&Value::Money(number), DataType::Money, VARBINARY, None, DateFormat::Mdy)?;
        round_trips(&bigint, DataType::BigInt, decimal(19, 0), None, DateFormat::Mdy)?;
        round_trips(&Value::Money(number), DataType::Money, decimal(19, 4), None, DateFormat::Mdy)?;
    }

    #[test]
    fn decimals_round_trip_through_text_and_binary(
        unscaled in -(10_i128.pow(38) - 1)..10_i128.pow(38),
        shrink in 0..38_u32,
        scale in 0..=38_u8,
    ) {
        let value = number(unscaled / 10_i128.pow(shrink), scale);
        for way in WAYS {
            round_trips(&value, decimal(38, scale), way, None, DateFormat::Mdy)?;
        }
        round_trips(&value, decimal(38, scale), VARBINARY, None, DateFormat::Mdy)?;
    }

    #[test]
    fn floats_round_trip_through_style_3(bits in any::<u64>(), real_bits in any::<u32>()) {
        let (float, real) = (f64::from_bits(bits), f32::from_bits(real_bits));
        for way in WAYS {
            if float.is_finite() {
                round_trips(&Value::Float(float), DataType::Float, way, Some(3), DateFormat::Mdy)?;
            }
            if real.is_finite() {
                round_trips(&Value::Real(real), DataType::Real, way, Some(3), DateFormat::Mdy)?;
            }
        }
    }

    #[test]
    fn guids_round_trip(guid in any::<[u8; 16]>()) {
        let value = Value::Guid(Guid(guid));
        for way in [VARCHAR, NVARCHAR, DataType::Char(60), VARBINARY, DataType::Binary(16), DataType::Binary(30)] {
            round_trips(&value, DataType::UniqueIdentifier, way, None, DateFormat::Mdy)?;
        }
    }

    #[test]
    fn dates_round_trip_through_every_style_with_a_century(day in 0..=Date::MAX.0, format in date_format()) {
        let value = Value::Date(Date(day));
        for way in WAYS {
            for style in [20, 21, 23, 25, 101, 102, 103, 104, 105, 106, 107, 110, 111, 112, 113, 120, 121, 126] {
                round_trips(&value, DataType::Date, way, Some(style), format)?;
            }
            round_trips(&value, DataType::Date, way, None, format)?;
        }
        round_trips(&value, DataType::Date, VARBINARY, None, format)?;
    }

    #[test]
    fn times_round_trip_through_every_style_with_their_digits(moment in any_moment(7), scale in 0..=7_u8, format in date_format()) {
        let time = TimeOfDay(moment.time.0 / 10_u64.pow(u32::from(7 - scale)) * 10_u64.pow(u32::from(7 - scale)));
        for way in WAYS {
            for style in [9, 13, 14, 21, 25, 109, 113, 114, 121, 126, 127] {
                round_trips(&Value::Time(time), DataType::Time(scale), way, Some(style), format)?;
            }
            round_trips(&Value::Time(time), DataType::Time(scale), way, None, format)?;
        }
        round_trips(&Value::Time(time), DataType::Time(scale), VARBINARY, None, format)?;
    }

    #[test]
    fn datetimes_round_trip_through_every_style_with_milliseconds(moment in any_datetime(), format in date_format()) {
        let value = Value::DateTime(moment);
        for way in WAYS {
            for style in [9, 13, 21, 109, 113, 121, 126] {
                round_trips(&value, DataType::DateTime, way, Some(style), format)?;
            }
        }
        for way in [VARBINARY, DataType::DateTime2(7), DataType::DateTime2(3), DataType::DateTimeOffset(7), DataType::Float] {
            round_trips(&value, DataType::DateTime, way, None, format)?;
        }
    }

    #[test]
    fn smalldatetimes_round_trip_through_every_style_with_minutes(days in any::<u16>(), minutes in 0..1440_u16, format in date_format()) {
        let value = Value::DateTime(DateTimeMinutes { days, minutes }.date_time().unwrap());
        for way in WAYS {
            for style in [9, 13, 20, 21, 109, 113, 120, 121, 126] {
                round_trips(&value, DataType::SmallDateTime, way, Some(style), format)?;
            }
            round_trips(&value, DataType::SmallDateTime, way, None, format)?;
        }
        for way in [VARBINARY, DataType::DateTime, DataType::DateTime2(0), decimal(20, 10)] {
            round_trips(&value, DataType::SmallDateTime, way, None, format)?;
        }
    }

    #[test]
    fn datetime2s_round_trip_through_every_style_with_their_digits(
        (scale, moment) in (0..=7_u8).prop_flat_map(|scale| any_moment(scale).prop_map(move |moment| (scale, moment))),
        offset in -840..=840_i16,
        format in date_format(),
    ) {
        let value = Value::DateTime(moment);
        for way in WAYS {
            for style in [9, 13, 21, 25, 109, 113, 121, 126, 127] {
                round_trips(&value, DataType::DateTime2(scale), way, Some(style), format)?;
            }
            round_trips(&value, DataType::DateTime2(scale), way, None, format)?;
        }
        round_trips(&value, DataType::DateTime2(scale), VARBINARY, None, format)?;
        if let Some(moment) = DateTimeOffset::from_local(moment, offset) {
            let value = Value::DateTimeOffset(moment);
            for way in WAYS {
                for style in [9, 13, 21, 25, 109, 113, 121, 126] {
                    round_trips(&value, DataType::DateTimeOffset(scale), way, Some(style), format)?;
                }
                round_trips(&value, DataType::DateTimeOffset(scale), way, None, format)?;
            }
            round_trips(&value, DataType::DateTimeOffset(scale), VARBINARY, None, format)?;
        }
    }

    #[test]
    fn binary_round_trips_through_hexadecimal_and_text_through_binary(bytes in prop::collection::vec(any::<u8>(), 0..29), word in "\\PC{0,20}") {
        let value = super::bytes(&bytes);
        for style in [1, 2] {
            round_trips(&value, VARBINARY, VARCHAR, Some(style), DateFormat::Mdy)?;
            round_trips(&value, VARBINARY, NVARCHAR, Some(style), DateFormat::Mdy)?;
        }
        round_trips(&value, VARBINARY, VARCHAR, None, DateFormat::Mdy)?;
        round_trips(&text(&word), NVARCHAR, VARBINARY, None, DateFormat::Mdy)?;
    }
}
