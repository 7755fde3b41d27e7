use super::*;
use crate::{DateTimeOffset, Guid};

fn to_text(value: &Value, from: DataType, to: DataType) -> String {
    match cast(value, from, to) {
        Ok(Value::Text(text)) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn text_is_truncated_and_padded_without_an_error() {
    let hello = text("hello world");
    assert_eq!(to_text(&hello, VARCHAR, varchar(5)), "hello");
    assert_eq!(to_text(&hello, VARCHAR, DataType::Char(13)), "hello world  ");
    assert_eq!(to_text(&hello, VARCHAR, DataType::NChar(3)), "hel");
    assert_eq!(to_text(&hello, VARCHAR, DataType::VarChar(Width::Max)), "hello world");
    assert_eq!(to_text(&text("ab  "), DataType::Char(4), varchar(9)), "ab  ");
}

#[test]
fn characters_outside_of_code_page_1252_become_question_marks() {
    let greek = text("a\u{3b1}\u{20ac}\u{1f600}");
    assert_eq!(to_text(&greek, NVARCHAR, VARCHAR), "a?\u{20ac}??");
    assert_eq!(to_text(&greek, NVARCHAR, varchar(4)), "a?\u{20ac}?");
    assert_eq!(
        to_text(&greek, NVARCHAR, nvarchar(4)),
        "a\u{3b1}\u{20ac}",
        "no half pair"
    );
    assert_eq!(to_text(&greek, NVARCHAR, DataType::NChar(4)), "a\u{3b1}\u{20ac} ");
}

#[test]
fn integers_that_are_too_long_become_an_asterisk_or_an_error() {
    for (value, from) in [
        (Value::TinyInt(100), DataType::TinyInt),
        (Value::SmallInt(100), DataType::SmallInt),
        (Value::Int(-10), DataType::Int),
    ] {
        assert_eq!(to_text(&value, from, varchar(2)), "*");
        assert_eq!(to_text(&value, from, DataType::Char(2)), "* ");
        let error = refused(cast(&value, from, nvarchar(2)));
        assert_eq!(
            error,
            (
                8115,
                "Arithmetic overflow error converting expression to data type nvarchar.".into()
            )
        );
    }
    assert_eq!(
        refused(cast(&Value::BigInt(123), DataType::BigInt, varchar(2))).1,
        "Arithmetic overflow error converting expression to data type varchar."
    );
    assert_eq!(to_text(&Value::Int(-10), DataType::Int, varchar(3)), "-10");
}

#[test]
fn other_numbers_that_are_too_long_have_separate_errors() {
    let value = number(12_345, 2);
    assert_eq!(
        refused(cast(&value, decimal(5, 2), varchar(5))),
        (
            8115,
            "Arithmetic overflow error converting numeric to data type varchar.".into()
        )
    );
    assert_eq!(
        refused(cast(&value, decimal(5, 2), nvarchar(5))).1,
        "Arithmetic overflow error converting expression to data type nvarchar."
    );
    for from in [DataType::Money, DataType::SmallMoney] {
        assert_eq!(
            refused(cast(&Value::Money(999_900), from, varchar(4))),
            (
                234,
                "There is insufficient result space to convert a money value to varchar.".into()
            )
        );
    }
    assert_eq!(
        refused(cast(&Value::Float(1234.5), DataType::Float, varchar(2))),
        (
            232,
            "Arithmetic overflow error for type varchar, value = 1234.500000.".into()
        )
    );
    assert_eq!(
        refused(cast(&Value::Float(1234.5), DataType::Float, nvarchar(2))).0,
        8115
    );
    let guid = Value::Guid(Guid([7; 16]));
    assert_eq!(
        refused(cast(&guid, DataType::UniqueIdentifier, varchar(35))),
        (
            8170,
            "Insufficient result space to convert uniqueidentifier value to char.".into()
        )
    );
    assert_eq!(refused(cast(&guid, DataType::UniqueIdentifier, nvarchar(35))).0, 8115);
}

#[test]
fn dates_are_truncated_and_datetimeoffsets_are_not() {
    let value = Value::DateTime(moment(2006, 1, 2, (15, 4, 5), 70_000));
    let style = |style, to| styled(&value, DataType::DateTime, to, style);
    assert_eq!(style(121, varchar(10)), Ok(text("2006-01-02")));
    assert_eq!(style(112, DataType::Char(6)), Ok(text("200601")));
    assert_eq!(style(100, DataType::NChar(21)), Ok(text("Jan  2 2006  3:04PM  ")));
    assert_eq!(style(121, NVARCHAR), Ok(text("2006-01-02 15:04:05.007")));
    let offset = Value::DateTimeOffset(DateTimeOffset {
        utc: DateTime2::BASE,
        offset_minutes: 0,
    });
    let error = refused(cast(&offset, DataType::DateTimeOffset(0), varchar(10)));
    assert_eq!(error.0, 241);
    assert_eq!(
        cast(&offset, DataType::DateTimeOffset(0), varchar(26)),
        Ok(text("1900-01-01 00:00:00 +00:00"))
    );
}

#[test]
fn an_unknown_style_is_an_error() {
    let date = Value::Date(Date::BASE);
    assert_eq!(
        refused(styled(&date, DataType::Date, VARCHAR, 999)),
        (
            281,
            "999 is not a valid style number when converting from date to a character string.".into()
        )
    );
    assert_eq!(
        refused(styled(&date, DataType::Date, varchar(9), 108)),
        (8114, "Error converting data type date to varchar.".into())
    );
    assert_eq!(
        refused(styled(&date, DataType::Date, VARCHAR, 130)),
        (40510, "CONVERT style 130 (Hijri calendar) is not supported.".into())
    );
    assert_eq!(
        refused(styled(&Value::Float(1.0), DataType::Float, VARCHAR, 128)).1,
        "CONVERT style 128 of float is not supported."
    );
    assert_eq!(
        refused(styled(&bytes(&[1]), VARBINARY, VARCHAR, 3)),
        (
            9809,
            "The style 3 is not supported for conversions from varbinary to varchar.".into()
        )
    );
}

#[test]
fn uniqueidentifiers_have_optional_braces() {
    let plain = "0E984725-C51C-4BF4-9960-E1C80E27ABA0";
    let guid = read(plain, DataType::UniqueIdentifier).unwrap();
    assert_eq!(shown(&guid, DataType::UniqueIdentifier), plain);
    let Value::Guid(Guid(wire)) = guid else {
        panic!("{guid:?}")
    };
    assert_eq!(wire[..8], [0x25, 0x47, 0x98, 0x0e, 0x1c, 0xc5, 0xf4, 0x4b]);
    for other in [
        format!("{{{plain}}}"),
        plain.to_lowercase(),
        format!("{plain}wrong"),
        format!("{{{plain}}} and more"),
        format!("{plain}  "),
    ] {
        assert_eq!(read(&other, DataType::UniqueIdentifier), Ok(guid.clone()), "{other}");
    }
    for wrong in [
        "",
        "abc",
        " 0E984725-C51C-4BF4-9960-E1C80E27ABA0",
        "0E984725C51C4BF49960E1C80E27ABA0",
        "{0E984725-C51C-4BF4-9960-E1C80E27ABA0",
        "0E984725-C51C-4BF4-9960-E1C80E27ABA",
        "0E984725-C51C-4BF4-9960-E1C80E27ABAG",
        "0E98472-5C51C-4BF4-9960-E1C80E27ABA0",
    ] {
        assert_eq!(
            refused(read(wrong, DataType::UniqueIdentifier)),
            (
                8169,
                "Conversion failed when converting from a character string to uniqueidentifier.".into()
            ),
            "{wrong:?}"
        );
    }
}
