//! A value of a row, in its stored form.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use selenite_types::storage::{Stored, to_stored};
use selenite_types::{DataType, DateFormat, Decimal, Moment, SqlVariant, Value, convert};

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// NULL.
    Null,
    /// A whole number, or a bit.
    Whole(i64),
    /// A number of type float, or of type real if no digit of it is lost there.
    Real(f64),
    /// Text, or a moment.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Cell {
    /// A datetime of seconds since 1970-01-01 UTC, shown `offset_minutes` ahead of it; NULL for 0.
    pub fn of_seconds(seconds: i64, offset_minutes: i16) -> Self {
        let millis = u64::try_from(seconds).unwrap_or(0).saturating_mul(1000);
        Self::of_millis(millis, offset_minutes)
    }

    /// Like [`Cell::of_seconds`], for milliseconds.
    pub fn of_millis(millis: u64, offset_minutes: i16) -> Self {
        if millis == 0 {
            return Self::Null;
        }
        // A datetime has steps of 1/300 s, shown as 0, 3 and 7 ms.
        let ticks = (millis % 1000 * 3 + 5) / 10;
        let millis = millis - millis % 1000 + (ticks * 10 + 1) / 3;
        let moment = Moment {
            unix_ns: millis.saturating_mul(1_000_000),
            offset_minutes,
        };
        match to_stored(&Value::DateTime(moment.local()), &DataType::DateTime2(3)) {
            Ok(Stored::Text(text)) => Self::Text(text.into_owned()),
            Ok(Stored::Null | Stored::Integer(_) | Stored::Real(_) | Stored::Blob(_)) | Err(_) => Self::Null,
        }
    }

    /// Like [`Cell::of_millis`], for a moment.
    pub fn of_time(time: Option<SystemTime>, offset_minutes: i16) -> Self {
        let since = time
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .unwrap_or_default();
        Self::of_millis(u64::try_from(since.as_millis()).unwrap_or(0), offset_minutes)
    }

    /// A value as a sql_variant.
    pub fn of_variant(data_type: DataType, value: Value) -> Self {
        Self::variant(&SqlVariant::of(data_type, value).unwrap_or(Value::Null))
    }

    /// A value of type sql_variant.
    pub fn variant(variant: &Value) -> Self {
        match to_stored(variant, &DataType::SqlVariant) {
            Ok(Stored::Text(text)) => Self::Text(text.into_owned()),
            Ok(Stored::Null | Stored::Integer(_) | Stored::Real(_) | Stored::Blob(_)) | Err(_) => Self::Null,
        }
    }

    /// A whole number of a type as a sql_variant; NULL if it is none of the type.
    pub fn whole_variant(data_type: DataType, number: i128) -> Self {
        let number = Value::Decimal(Decimal {
            unscaled: number,
            scale: 0,
        });
        let value = convert(&number, &WIDEST, &data_type, None, DateFormat::default());
        Self::of_variant(data_type, value.unwrap_or(Value::Null))
    }

    /// A count, the greatest of its column's type if it is too great.
    pub fn count(count: u64, max: i64) -> Self {
        Self::Whole(i64::try_from(count).unwrap_or(i64::MAX).min(max))
    }
}

/// Rows as a JSON array of arrays, bytes as hexadecimal digits.
pub fn json(rows: &[Vec<Cell>]) -> String {
    let mut written = String::from("[");
    for (number, row) in rows.iter().enumerate() {
        written.push_str(if number == 0 { "[" } else { ",[" });
        for (at, cell) in row.iter().enumerate() {
            if at > 0 {
                written.push(',');
            }
            write(&mut written, cell);
        }
        written.push(']');
    }
    written.push(']');
    written
}

fn write(written: &mut String, cell: &Cell) {
    let _ = match cell {
        Cell::Null => write!(written, "null"),
        Cell::Whole(number) => write!(written, "{number}"),
        Cell::Real(number) if number.is_finite() => write!(written, "{number:?}"),
        Cell::Real(_) => write!(written, "null"),
        Cell::Text(text) => {
            quote(written, text);
            Ok(())
        }
        Cell::Bytes(bytes) => {
            written.push('"');
            for byte in bytes {
                // Writing into a String can't fail.
                let _ = write!(written, "{byte:02x}");
            }
            written.push('"');
            Ok(())
        }
    };
}

fn quote(written: &mut String, text: &str) {
    written.push('"');
    for sign in text.chars() {
        match sign {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            sign if u32::from(sign) < 0x20 => {
                let _ = write!(written, "\\u{:04x}", u32::from(sign));
            }
            sign => written.push(sign),
        }
    }
    written.push('"');
}

impl From<bool> for Cell {
    fn from(bit: bool) -> Self {
        Self::Whole(i64::from(bit))
    }
}

impl From<i32> for Cell {
    fn from(number: i32) -> Self {
        Self::Whole(i64::from(number))
    }
}

impl From<u8> for Cell {
    fn from(number: u8) -> Self {
        Self::Whole(i64::from(number))
    }
}

impl From<i16> for Cell {
    fn from(number: i16) -> Self {
        Self::Whole(i64::from(number))
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<&String> for Cell {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&[u8]> for Cell {
    fn from(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }
}

impl From<Vec<u8>> for Cell {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Holds every whole number.
const WIDEST: DataType = DataType::Decimal {
    precision: 38,
    scale: 0,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_json_whatever_is_in_them() {
        let row = vec![
            Cell::Null,
            Cell::Whole(-5),
            Cell::Real(0.5),
            Cell::from("a\"\\\n\u{e9}"),
            Cell::from(vec![0, 255]),
        ];
        assert_eq!(
            json(&[row.clone(), row[..1].to_vec()]),
            "[[null,-5,0.5,\"a\\\"\\\\\\u000a\u{e9}\",\"00ff\"],[null]]"
        );
        assert_eq!(json(&[]), "[]");
    }

    #[test]
    fn moments_are_datetimes_in_the_servers_time() {
        assert_eq!(Cell::of_seconds(0, 0), Cell::Null);
        assert_eq!(Cell::of_millis(86_400_999, 60), Cell::from("1970-01-02 01:00:01.000"));
        assert_eq!(Cell::of_millis(86_400_005, 0), Cell::from("1970-01-02 00:00:00.007"));
    }
}
