mod any_value;

use std::borrow::Cow;

use super::*;
use crate::data_type::tests::all_types;
use crate::{
    Collation, DataType, Date, DateTime2, DateTimeOffset, DateTimeTicks, Decimal, Family, Guid, TimeOfDay, Value,
    Width, collate, compare,
};

fn read_text(text: &str, declared: DataType) -> Result<Value, MisfitCause> {
    from_stored(StoredRef::Text(text.as_bytes()), &declared).map_err(|misfit| misfit.cause)
}

fn cause(stored: StoredRef<'_>, declared: DataType) -> MisfitCause {
    let misfit = from_stored(stored, &declared).unwrap_err();
    assert_eq!((misfit.found, misfit.declared), (stored.class(), declared));
    misfit.cause
}

#[test]
fn null_is_null_in_every_type() {
    for declared in all_types() {
        assert_eq!(to_stored(&Value::Null, &declared), Ok(Stored::Null));
        assert_eq!(from_stored(StoredRef::Null, &declared), Ok(Value::Null));
    }
}

#[test]
fn dates_and_times_have_the_documented_forms() {
    let noon = DateTime2 {
        date: Date::from_civil(2024, 2, 9).unwrap(),
        time: TimeOfDay::from_clock(12, 5, 9, 1_230_000).unwrap(),
    };
    let stored = |value: Value, declared: DataType| {
        let Stored::Text(text) = to_stored(&value, &declared).unwrap() else {
            panic!("{declared} is no text");
        };
        text.into_owned()
    };
    assert_eq!(stored(Value::Date(noon.date), DataType::Date), "2024-02-09");
    assert_eq!(stored(Value::Date(Date(0)), DataType::Date), "0001-01-01");
    assert_eq!(stored(Value::Time(noon.time), DataType::Time(7)), "12:05:09.1230000");
    assert_eq!(stored(Value::Time(noon.time), DataType::Time(3)), "12:05:09.123");
    assert_eq!(
        stored(Value::DateTime(noon), DataType::DateTime),
        "2024-02-09 12:05:09.123"
    );
    assert_eq!(
        stored(Value::DateTime(noon), DataType::DateTime2(7)),
        "2024-02-09 12:05:09.1230000"
    );
    let minute = DateTime2 {
        time: TimeOfDay::from_clock(23, 59, 0, 0).unwrap(),
        ..noon
    };
    assert_eq!(
        stored(Value::DateTime(minute), DataType::SmallDateTime),
        "2024-02-09 23:59:00"
    );
    assert_eq!(
        stored(Value::DateTime(minute), DataType::DateTime2(0)),
        "2024-02-09 23:59:00"
    );
    let offset = |offset_minutes| {
        Value::DateTimeOffset(DateTimeOffset {
            utc: noon,
            offset_minutes,
        })
    };
    assert_eq!(
        stored(offset(330), DataType::DateTimeOffset(3)),
        "2024-02-09 12:05:09.123 +05:30"
    );
    assert_eq!(
        stored(offset(-60), DataType::DateTimeOffset(3)),
        "2024-02-09 12:05:09.123 -01:00"
    );
}

#[test]
fn numbers_and_binary_have_the_documented_forms() {
    let decimal = |unscaled, precision, scale| {
        to_stored(
            &Value::Decimal(Decimal { unscaled, scale }),
            &DataType::Decimal { precision, scale },
        )
        .unwrap()
        .into_owned()
    };
    assert_eq!(decimal(-12_345, 18, 2), Stored::Integer(-12_345));
    let mut bytes = vec![0x80; 1];
    bytes.extend([0; 14]);
    bytes.push(5);
    assert_eq!(decimal(5, 19, 2), Stored::Blob(Cow::Owned(bytes)));
    assert_eq!(
        decimal(-1, 38, 0),
        Stored::Blob(Cow::Owned([&[0x7f][..], &[0xff; 15]].concat()))
    );
    assert_eq!(
        to_stored(&Value::Money(-15_000), &DataType::Money),
        Ok(Stored::Integer(-15_000))
    );
    assert_eq!(to_stored(&Value::Bit(true), &DataType::Bit), Ok(Stored::Integer(1)));
    let guid = Guid([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    let ordered = vec![10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];
    assert_eq!(
        to_stored(&Value::Guid(guid), &DataType::UniqueIdentifier),
        Ok(Stored::Blob(Cow::Owned(ordered)))
    );
}

#[test]
fn padding_is_not_stored_and_is_restored() {
    let padded = Value::Text("ab   ".into());
    assert_eq!(to_stored(&padded, &DataType::Char(5)), Ok(Stored::Text("ab".into())));
    assert_eq!(read_text("ab", DataType::Char(5)), Ok(padded.clone()));
    assert_eq!(
        read_text("ab        ", DataType::Char(5)),
        Ok(padded.clone()),
        "blanks do not count"
    );
    assert_eq!(
        read_text("\u{e9}", DataType::NChar(3)),
        Ok(Value::Text("\u{e9}  ".into()))
    );
    assert_eq!(
        read_text("\u{1f600}", DataType::NChar(3)),
        Ok(Value::Text("\u{1f600} ".into()))
    );
    assert_eq!(read_text("", DataType::Char(2)), Ok(Value::Text("  ".into())));
    let varchar = DataType::VarChar(Width::Limited(5));
    assert_eq!(
        to_stored(&padded, &varchar),
        Ok(Stored::Text("ab   ".into())),
        "varchar keeps its blanks"
    );
    assert_eq!(read_text("ab   ", varchar), Ok(padded));
}

#[test]
fn a_number_out_of_range_is_a_misfit() {
    for (integer, declared) in [
        (2, DataType::Bit),
        (-1, DataType::TinyInt),
        (256, DataType::TinyInt),
        (32_768, DataType::SmallInt),
        (2_147_483_648, DataType::Int),
        (-2_147_483_649, DataType::Int),
        (2_147_483_648, DataType::SmallMoney),
        (1_000, DataType::Decimal { precision: 3, scale: 1 }),
        (-1_000, DataType::Numeric { precision: 3, scale: 3 }),
    ] {
        assert_eq!(
            cause(StoredRef::Integer(integer), declared),
            MisfitCause::Range,
            "{integer} {declared}"
        );
    }
    let wide = DataType::Decimal {
        precision: 20,
        scale: 0,
    };
    let bytes = (10_i128.pow(20).cast_unsigned() ^ (1 << 127)).to_be_bytes();
    assert_eq!(cause(StoredRef::Blob(&bytes), wide), MisfitCause::Range);
    assert_eq!(cause(StoredRef::Blob(&[0; 16]), wide), MisfitCause::Range);
    assert_eq!(cause(StoredRef::Blob(&[0; 15]), wide), MisfitCause::Size);
    assert_eq!(cause(StoredRef::Integer(1), wide), MisfitCause::Class);
    for (real, declared) in [
        (f64::NAN, DataType::Float),
        (f64::INFINITY, DataType::Float),
        (f64::NAN, DataType::Real),
        (0.1, DataType::Real),
        (1e300, DataType::Real),
    ] {
        assert_eq!(cause(StoredRef::Real(real), declared), MisfitCause::NotFinite, "{real}");
    }
    assert_eq!(from_stored(StoredRef::Real(0.5), &DataType::Real), Ok(Value::Real(0.5)));
}

#[test]
fn text_and_bytes_that_do_not_fit_are_misfits() {
    let varchar = DataType::VarChar(Width::Limited(3));
    let nvarchar = DataType::NVarChar(Width::Limited(3));
    assert_eq!(read_text("abcd", varchar), Err(MisfitCause::Length));
    assert_eq!(read_text("abc ", varchar), Err(MisfitCause::Length));
    assert_eq!(read_text("abcd", DataType::Char(3)), Err(MisfitCause::Length));
    assert_eq!(
        read_text("\u{e9}\u{e9}\u{e9}", varchar),
        Ok(Value::Text("\u{e9}\u{e9}\u{e9}".into()))
    );
    assert_eq!(read_text("\u{3b1}", varchar), Err(MisfitCause::CodePage));
    assert_eq!(
        read_text("\u{3b1}", DataType::VarChar(Width::Max)),
        Err(MisfitCause::CodePage)
    );
    assert_eq!(
        read_text("\u{3b1}\u{1f600}", nvarchar),
        Ok(Value::Text("\u{3b1}\u{1f600}".into()))
    );
    assert_eq!(
        read_text("\u{1f600}\u{1f600}", nvarchar),
        Err(MisfitCause::Length),
        "four units"
    );
    for declared in [varchar, nvarchar, DataType::Char(9), DataType::NVarChar(Width::Max)] {
        assert_eq!(cause(StoredRef::Text(b"a\xff"), declared), MisfitCause::Encoding);
        assert_eq!(cause(StoredRef::Blob(b"a"), declared), MisfitCause::Class);
        assert_eq!(cause(StoredRef::Integer(1), declared), MisfitCause::Class);
    }
    assert_eq!(cause(StoredRef::Blob(&[1, 2]), DataType::Binary(3)), MisfitCause::Size);
    assert_eq!(
        cause(StoredRef::Blob(&[1, 2]), DataType::VarBinary(Width::Limited(1))),
        MisfitCause::Length
    );
    assert_eq!(
        cause(StoredRef::Blob(&[0; 17]), DataType::UniqueIdentifier),
        MisfitCause::Size
    );
    assert_eq!(
        cause(StoredRef::Text(b"x"), DataType::UniqueIdentifier),
        MisfitCause::Class
    );
}

#[test]
fn a_date_in_another_form_is_a_misfit() {
    for text in [
        "2024-2-9",
        "2024-02-30",
        "0000-01-01",
        "20240209",
        "2024-02-09 ",
        " 2024-02-09",
        "2024/02/09",
        "2024-02-09 00:00:00",
        "",
        "-024-02-09",
    ] {
        assert_eq!(read_text(text, DataType::Date), Err(MisfitCause::Form), "{text:?}");
    }
    for text in [
        "24:00:00",
        "12:60:00",
        "12:00:60",
        "12:00",
        "12:00:00.",
        "12:00:00.1",
        "1:00:00",
        "12:00:00Z",
        "12:00:00,123",
    ] {
        assert_eq!(read_text(text, DataType::Time(3)), Err(MisfitCause::Form), "{text:?}");
        assert_eq!(read_text(text, DataType::Time(0)), Err(MisfitCause::Form), "{text:?}");
    }
    for text in [
        "2024-02-09 12:00:00",
        "2024-02-09 12:00:00.001",
        "2024-02-09T12:00:00.000",
        "1752-12-31 00:00:00.000",
        "2024-02-09 12:00:00.9999",
    ] {
        assert_eq!(read_text(text, DataType::DateTime), Err(MisfitCause::Form), "{text:?}");
    }
    for text in [
        "2024-02-09 12:00:01",
        "1899-12-31 00:00:00",
        "2079-06-07 00:00:00",
        "2024-02-09 12:00",
    ] {
        assert_eq!(
            read_text(text, DataType::SmallDateTime),
            Err(MisfitCause::Form),
            "{text:?}"
        );
    }
    for text in [
        "2024-02-09 12:00:00",
        "2024-02-09 12:00:00 +14:01",
        "2024-02-09 12:00:00 +01:60",
        "2024-02-09 12:00:00 -00:00",
        "2024-02-09 12:00:00+01:00",
        "2024-02-09 12:00:00 01:00 ",
        "9999-12-31 23:00:00 +02:00",
        "0001-01-01 00:00:00 -00:01",
    ] {
        assert_eq!(
            read_text(text, DataType::DateTimeOffset(0)),
            Err(MisfitCause::Form),
            "{text:?}"
        );
    }
    assert!(read_text("2024-02-09 12:00:00.997", DataType::DateTime).is_ok());
    assert!(read_text("2079-06-06 23:59:00", DataType::SmallDateTime).is_ok());
    assert!(read_text("2024-02-09 12:00:00 -14:00", DataType::DateTimeOffset(0)).is_ok());
}

#[test]
fn a_misfit_is_never_written() {
    let written =
        |value: Value, declared: DataType| to_stored(&value, &declared).map(|_| ()).map_err(|misfit| misfit.cause);
    assert_eq!(written(Value::Int(1), DataType::BigInt), Err(MisfitCause::Class));
    assert_eq!(written(Value::Text("1".into()), DataType::Int), Err(MisfitCause::Class));
    assert_eq!(
        written(Value::Float(f64::NAN), DataType::Float),
        Err(MisfitCause::NotFinite)
    );
    assert_eq!(
        written(Value::Real(f32::INFINITY), DataType::Real),
        Err(MisfitCause::NotFinite)
    );
    assert_eq!(
        written(Value::Text("abc".into()), DataType::Char(2)),
        Err(MisfitCause::Length)
    );
    assert_eq!(
        written(Value::Text("\u{3b1}".into()), DataType::Char(2)),
        Err(MisfitCause::CodePage)
    );
    assert_eq!(
        written(Value::Date(Date(u32::MAX)), DataType::Date),
        Err(MisfitCause::Range)
    );
    assert_eq!(
        written(Value::Time(TimeOfDay(u64::MAX)), DataType::Time(7)),
        Err(MisfitCause::Range)
    );
    assert_eq!(
        written(Value::Time(TimeOfDay(1)), DataType::Time(6)),
        Err(MisfitCause::Range)
    );
    assert_eq!(
        written(Value::Money(1 << 31), DataType::SmallMoney),
        Err(MisfitCause::Range)
    );
    let other_scale = Value::Decimal(Decimal { unscaled: 1, scale: 1 });
    assert_eq!(
        written(other_scale, DataType::Decimal { precision: 5, scale: 2 }),
        Err(MisfitCause::Range)
    );
    let odd = DateTime2 {
        date: Date(730_000),
        time: TimeOfDay(10_000),
    };
    assert_eq!(
        written(Value::DateTime(odd), DataType::DateTime),
        Err(MisfitCause::Range)
    );
    let far = DateTimeOffset {
        utc: odd,
        offset_minutes: 841,
    };
    assert_eq!(
        written(Value::DateTimeOffset(far), DataType::DateTimeOffset(7)),
        Err(MisfitCause::Range)
    );
}

#[test]
fn a_misfit_names_the_class_and_the_type_but_no_data() {
    let misfit = from_stored(StoredRef::Text(b"secret"), &DataType::DateTime2(3)).unwrap_err();
    assert_eq!(
        misfit.to_string(),
        "TEXT where datetime2(3) is declared: not in the type's form"
    );
    assert!(!format!("{misfit:?}").contains("secret"));
    let misfit = from_stored(StoredRef::Integer(300), &DataType::TinyInt).unwrap_err();
    assert_eq!(misfit.to_string(), "INTEGER where tinyint is declared: out of range");
}

#[test]
fn a_declared_type_parses_in_every_spelling() {
    for data_type in all_types() {
        let name = declared_name(&data_type);
        assert_eq!(declared_type(&name), Ok(data_type));
        assert_eq!(declared_type(name.trim_matches('"')), Ok(data_type));
        assert_eq!(
            declared_type(
                &name
                    .to_uppercase()
                    .replace('(', " ( ")
                    .replace(',', " , ")
                    .replace(')', " ) ")
            ),
            Ok(data_type)
        );
    }
    assert_eq!(declared_type("double  precision"), Ok(DataType::Float));
    for name in [
        "",
        "(",
        "int(",
        "int)",
        "decimal(10;2)",
        "decimal(-1)",
        "decimal(,)",
        "varchar(max",
        "clob",
        "varchar(99999999999999999999)",
        "varchar(+5)",
    ] {
        assert!(declared_type(name).is_err(), "{name:?}");
    }
    assert_eq!(declared_type("clob").unwrap_err().number(), 2715);
}

#[test]
fn sqlite_gives_no_type_an_affinity_that_changes_its_form() {
    // The rules of https://sqlite.org/datatype3.html#determination_of_column_affinity, in their order.
    for data_type in all_types() {
        let name = declared_name(&data_type).to_uppercase();
        let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let affinity = if has(&["INT"]) {
            StorageClass::Integer
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            StorageClass::Text
        } else if has(&["BLOB"]) {
            StorageClass::Blob
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            StorageClass::Real
        } else {
            // NUMERIC would convert text that looks like a number, and no form does.
            assert_ne!(data_type.storage_class(), StorageClass::Real, "{name}");
            assert_ne!(data_type.family(), Family::Text, "{name}");
            continue;
        };
        assert_eq!(data_type.storage_class(), affinity, "{name}");
    }
}

#[test]
fn two_offsets_of_one_instant_are_equal() {
    assert_eq!(
        instant_order(b"2024-02-09 12:00:00 +01:00", b"2024-02-09 12:00:00 -01:00"),
        Ordering::Equal
    );
    assert_eq!(
        instant_order(b"2024-02-09 12:00:00 +01:00", b"2024-02-09 12:00:01 -01:00"),
        Ordering::Less
    );
    assert_eq!(instant_order(b"short", b"shorter"), Ordering::Greater);
}
