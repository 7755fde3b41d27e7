//! tiberius's values, and the texts by which they travel: ../python/native.py says how.

use chrono::{DateTime, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime};
use tiberius::numeric::Numeric;
use tiberius::{ColumnData, FromSql, IntoSql, Query};
use uuid::Uuid;

/// The text by which a value travels.
pub fn text_of(data: ColumnData<'static>) -> Option<String> {
    match &data {
        ColumnData::U8(value) => value.map(|value| value.to_string()),
        ColumnData::I16(value) => value.map(|value| value.to_string()),
        ColumnData::I32(value) => value.map(|value| value.to_string()),
        ColumnData::I64(value) => value.map(|value| value.to_string()),
        ColumnData::F32(value) => value.map(|value| format!("{value:e}")),
        ColumnData::F64(value) => value.map(|value| format!("{value:e}")),
        ColumnData::Bit(value) => value.map(|value| u8::from(value).to_string()),
        ColumnData::String(value) => value.as_ref().map(|value| value.to_string()),
        ColumnData::Guid(value) => value.map(|value| value.to_string().to_uppercase()),
        ColumnData::Binary(value) => value.as_ref().map(|value| hexadecimal(value)),
        ColumnData::Numeric(value) => value.map(decimal),
        ColumnData::Xml(value) => value.as_ref().map(|value| value.to_string()),
        // It counts 300ths of a second, which SQL Server shows as thousandths.
        ColumnData::DateTime(value) => value.map(|value| {
            let seconds = value.seconds_fragments() / 300;
            let thousandths = (value.seconds_fragments() % 300 * 10 + 1) / 3;
            let day = NaiveDate::from_ymd_opt(1900, 1, 1).expect("a day") + chrono::TimeDelta::days(value.days().into());
            let time = NaiveTime::from_num_seconds_from_midnight_opt(seconds, 0).expect("a time");
            format!("{day} {time}.{thousandths:03}")
        }),
        ColumnData::SmallDateTime(_) | ColumnData::DateTime2(_) => {
            let value: Option<NaiveDateTime> = NaiveDateTime::from_sql(&data).expect("a moment");
            value.map(|value| value.format("%Y-%m-%d %H:%M:%S%.9f").to_string())
        }
        ColumnData::Time(_) => {
            let value = NaiveTime::from_sql(&data).expect("a time");
            value.map(|value| value.format("%H:%M:%S%.9f").to_string())
        }
        ColumnData::Date(_) => {
            let value = NaiveDate::from_sql(&data).expect("a date");
            value.map(|value| value.format("%Y-%m-%d").to_string())
        }
        ColumnData::DateTimeOffset(_) => {
            let value: Option<DateTime<FixedOffset>> = DateTime::from_sql(&data).expect("a moment");
            value.map(|value| value.format("%Y-%m-%d %H:%M:%S%.9f%:z").to_string())
        }
    }
}

/// Binds a parameter of a T-SQL type.
pub fn bind(query: &mut Query<'_>, kind: &str, text: Option<&str>) {
    let base = kind.split('(').next().expect("a name");
    match base {
        "bit" => query.bind(text.map(|text| text == "1")),
        "tinyint" => query.bind(text.map(|text| text.parse::<u8>().expect("a number"))),
        "smallint" => query.bind(text.map(|text| text.parse::<i16>().expect("a number"))),
        "int" => query.bind(text.map(|text| text.parse::<i32>().expect("a number"))),
        "bigint" => query.bind(text.map(|text| text.parse::<i64>().expect("a number"))),
        "real" => query.bind(text.map(|text| text.parse::<f32>().expect("a number"))),
        "float" => query.bind(text.map(|text| text.parse::<f64>().expect("a number"))),
        "decimal" | "numeric" | "money" | "smallmoney" => query.bind(text.map(numeric)),
        "binary" | "varbinary" => query.bind(text.map(bytes)),
        "date" => query.bind(text.map(|text| text.parse::<NaiveDate>().expect("a date"))),
        "time" => query.bind(text.map(|text| text.parse::<NaiveTime>().expect("a time"))),
        "datetime" | "smalldatetime" | "datetime2" => query.bind(text.map(|text| {
            let text = text.replace(' ', "T");
            text.parse::<NaiveDateTime>().expect("a moment")
        })),
        "datetimeoffset" => query.bind(text.map(|text| DateTime::parse_from_rfc3339(text).expect("a moment"))),
        "uniqueidentifier" => query.bind(text.map(|text| text.parse::<Uuid>().expect("a GUID"))),
        _ => query.bind(text.map(str::to_owned)),
    }
}

/// A value of a column of a bulk copy.
pub fn data_of(kind: &str, text: Option<&str>) -> ColumnData<'static> {
    match kind.split('(').next().expect("a name") {
        "bit" => text.map(|text| text == "1").into_sql(),
        "int" => text.map(|text| text.parse::<i32>().expect("a number")).into_sql(),
        "bigint" => text.map(|text| text.parse::<i64>().expect("a number")).into_sql(),
        "float" => text.map(|text| text.parse::<f64>().expect("a number")).into_sql(),
        "decimal" => text.map(numeric).into_sql(),
        "varbinary" => text.map(bytes).into_sql(),
        "datetime2" => {
            let moment = |text: &str| text.replace(' ', "T").parse::<NaiveDateTime>().expect("a moment");
            text.map(moment).into_sql()
        }
        "uniqueidentifier" => text.map(|text| text.parse::<Uuid>().expect("a GUID")).into_sql(),
        _ => text.map(str::to_owned).into_sql(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("0x{digits}")
}

fn bytes(text: &str) -> Vec<u8> {
    let digits = &text[2..];
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).expect("digits")).collect()
}

/// The driver's own text leaves out the sign of what is between -1 and 0.
fn decimal(value: Numeric) -> String {
    let scale = usize::from(value.scale());
    let digits = format!("{:0>width$}", value.value().unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    let sign = if value.value() < 0 { "-" } else { "" };
    let dot = if scale > 0 { "." } else { "" };
    format!("{sign}{whole}{dot}{part}")
}

fn numeric(text: &str) -> Numeric {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let value = format!("{whole}{part}").parse().expect("a number");
    Numeric::new_with_scale(value, u8::try_from(part.len()).expect("a scale"))
}
