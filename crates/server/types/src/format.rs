//! Values as text, as in CAST to varchar, PRINT and messages.
//!
//! - `formatting-is-total`: formatting never fails: a value that does not belong to its type is
//!   formatted on a best-effort basis.
//! - `text-is-not-fitted`: the result has its natural length; [`crate::convert`] truncates or pads
//!   it.

mod float_text;
mod guid_text;
mod moment_text;
mod number_text;

pub(crate) use float_text::{float_text, float_with_six_decimals};
pub(crate) use guid_text::{ORDER as GUID_ORDER, guid_text, push_hex};
pub(crate) use moment_text::{MomentTextFault, default_style, moment_text};
pub(crate) use number_text::{decimal_text, money_text};

use crate::{DataType, Value, decode_code_page};

/// The text of `value` of type `of`, as by CAST to varchar; `None` for NULL.
///
/// datetime and smalldatetime have style 0 (`Jan  2 2006  3:04PM`), the newer date types style 121, money two
/// fractional digits, float six digits; binary is decoded as characters.
#[must_use]
pub fn text_of(value: &Value, of: &DataType) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::Bit(bit) => u8::from(*bit).to_string(),
        Value::TinyInt(number) => number.to_string(),
        Value::SmallInt(number) => number.to_string(),
        Value::Int(number) => number.to_string(),
        Value::BigInt(number) => number.to_string(),
        Value::Decimal(number) => decimal_text(*number),
        Value::Money(units) => money_text(*units, 0),
        Value::Real(number) => float_text(f64::from(*number), true, 0).unwrap_or_default(),
        Value::Float(number) => float_text(*number, false, 0).unwrap_or_default(),
        Value::Text(text) => text.to_string(),
        Value::Binary(bytes) => decode_code_page(bytes),
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::DateTimeOffset(_) => {
            moment_text(value, of, default_style(of)).unwrap_or_default()
        }
        Value::Guid(guid) => guid_text(*guid),
        Value::SqlVariant(variant) => return text_of(variant.value(), variant.data_type()),
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Date, DateTime2, Decimal, Guid, TimeOfDay};

    #[test]
    fn each_value_has_the_text_of_print() {
        let moment = DateTime2 {
            date: Date::from_civil(2006, 1, 2).unwrap(),
            time: TimeOfDay::from_clock(15, 4, 5, 70_000).unwrap(),
        };
        for (value, of, text) in [
            (Value::Bit(true), DataType::Bit, "1"),
            (Value::TinyInt(255), DataType::TinyInt, "255"),
            (Value::SmallInt(-1), DataType::SmallInt, "-1"),
            (Value::Int(i32::MIN), DataType::Int, "-2147483648"),
            (Value::BigInt(i64::MIN), DataType::BigInt, "-9223372036854775808"),
            (
                Value::Decimal(Decimal {
                    unscaled: -50,
                    scale: 2,
                }),
                DataType::Decimal { precision: 5, scale: 2 },
                "-0.50",
            ),
            (Value::Money(12_345_678), DataType::Money, "1234.57"),
            (Value::Real(0.1), DataType::Real, "0.1"),
            (Value::Float(1_234_567_890.0), DataType::Float, "1.23457e+009"),
            (Value::Text("abc ".into()), DataType::Char(4), "abc "),
            (
                Value::Binary([0x41, 0x80].as_slice().into()),
                DataType::Binary(2),
                "A\u{20ac}",
            ),
            (Value::Date(moment.date), DataType::Date, "2006-01-02"),
            (Value::Time(moment.time), DataType::Time(3), "15:04:05.007"),
            (Value::DateTime(moment), DataType::DateTime, "Jan  2 2006  3:04PM"),
            (Value::DateTime(moment), DataType::SmallDateTime, "Jan  2 2006  3:04PM"),
            (
                Value::DateTime(moment),
                DataType::DateTime2(7),
                "2006-01-02 15:04:05.0070000",
            ),
            (
                Value::Guid(Guid(
                    *b"\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff",
                )),
                DataType::UniqueIdentifier,
                "33221100-5544-7766-8899-AABBCCDDEEFF",
            ),
        ] {
            assert_eq!(text_of(&value, &of).as_deref(), Some(text), "{of}");
        }
        assert_eq!(text_of(&Value::Null, &DataType::Int), None);
    }
}
