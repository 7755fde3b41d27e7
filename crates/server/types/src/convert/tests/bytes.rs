use super::*;
use crate::{DateTimeOffset, Guid};

fn to_bytes(value: &Value, from: DataType, to: DataType) -> Vec<u8> {
    match cast(value, from, to) {
        Ok(Value::Binary(bytes)) => bytes.to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn integers_are_big_endian() {
    for (value, from, to, expected) in [
        (Value::Int(258), DataType::Int, DataType::Binary(4), &[0, 0, 1, 2][..]),
        (Value::Int(258), DataType::Int, DataType::Binary(1), &[2]),
        (Value::Int(258), DataType::Int, DataType::Binary(6), &[0, 0, 0, 0, 1, 2]),
        (Value::Int(258), DataType::Int, varbinary(30), &[0, 0, 1, 2]),
        (Value::Int(123_456), DataType::Int, DataType::Binary(2), &[0xe2, 0x40]),
        (Value::Int(-1), DataType::Int, VARBINARY, &[0xff; 4]),
        (Value::TinyInt(1), DataType::TinyInt, VARBINARY, &[1]),
        (Value::SmallInt(258), DataType::SmallInt, varbinary(1), &[2]),
        (
            Value::BigInt(-2),
            DataType::BigInt,
            VARBINARY,
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe],
        ),
        (Value::Bit(true), DataType::Bit, VARBINARY, &[1]),
        (Value::Money(1), DataType::Money, VARBINARY, &[0, 0, 0, 0, 0, 0, 0, 1]),
        (Value::Money(1), DataType::SmallMoney, VARBINARY, &[0, 0, 0, 1]),
        (
            Value::Float(1.0),
            DataType::Float,
            VARBINARY,
            &[0x3f, 0xf0, 0, 0, 0, 0, 0, 0],
        ),
        (Value::Float(1.0), DataType::Float, varbinary(4), &[0; 4]),
        (Value::Real(1.0), DataType::Real, VARBINARY, &[0x3f, 0x80, 0, 0]),
    ] {
        assert_eq!(to_bytes(&value, from, to), expected, "{value:?} as {to}");
    }
}

#[test]
fn leading_bytes_are_ignored() {
    for (from, to, expected) in [
        (&[1, 2][..], DataType::Int, Value::Int(258)),
        (&[1, 2, 3, 4, 5], DataType::Int, Value::Int(33_752_069)),
        (&[0xff, 1], DataType::TinyInt, Value::TinyInt(1)),
        (&[0xff, 0xff, 0xff, 0xff], DataType::Int, Value::Int(-1)),
        (&[], DataType::BigInt, Value::BigInt(0)),
        (&[1], DataType::Money, Value::Money(1)),
        (&[0xff, 0xff, 0xff, 0xff], DataType::SmallMoney, Value::Money(-1)),
    ] {
        assert_eq!(cast(&bytes(from), VARBINARY, to), Ok(expected), "{from:?} as {to}");
    }
}

#[test]
fn decimals_have_the_binary_form_of_sql_server() {
    let from = decimal(5, 1);
    assert_eq!(to_bytes(&number(15, 1), from, VARBINARY), [5, 1, 0, 1, 15, 0, 0, 0]);
    assert_eq!(
        to_bytes(&number(-15, 1), from, DataType::Binary(10)),
        [0, 0, 5, 1, 0, 0, 15, 0, 0, 0]
    );
    assert_eq!(to_bytes(&number(15, 1), from, DataType::Binary(2)), [5, 1]);
    assert_eq!(
        to_bytes(&number(1 << 32, 0), decimal(20, 0), VARBINARY),
        [20, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
    );
    let read = |from: &[u8], to| cast(&bytes(from), VARBINARY, to);
    assert_eq!(read(&[5, 2, 0, 1, 0x96, 0, 0, 0], decimal(5, 2)), Ok(number(150, 2)));
    assert_eq!(read(&[5, 2, 0, 0, 0xe1, 0, 0, 0], decimal(4, 1)), Ok(number(-23, 1)));
    assert_eq!(read(&[5, 2, 0, 1, 0x96], decimal(5, 2)), Ok(number(150, 2)));
    for wrong in [
        &[][..],
        &[5, 2, 0, 1],
        &[0, 0, 0, 1, 1],
        &[39, 0, 0, 1, 1],
        &[2, 3, 0, 1, 1],
        &[1, 0, 0, 1, 10],
        &[5, 0, 0, 0, 0],
        &[5, 0, 0, 2, 1],
    ] {
        assert_eq!(
            refused(cast(&bytes(wrong), DataType::Binary(9), decimal(5, 2))),
            (8114, "Error converting data type varbinary to numeric.".into()),
            "{wrong:?}"
        );
    }
}

#[test]
fn text_becomes_the_bytes_of_its_own_encoding() {
    assert_eq!(
        to_bytes(&text("abc"), VARCHAR, DataType::Binary(5)),
        [0x61, 0x62, 0x63, 0, 0]
    );
    assert_eq!(to_bytes(&text("a\u{20ac}"), VARCHAR, VARBINARY), [0x61, 0x80]);
    assert_eq!(to_bytes(&text("abc"), NVARCHAR, VARBINARY), [0x61, 0, 0x62, 0, 0x63, 0]);
    assert_eq!(to_bytes(&text("abc"), NVARCHAR, varbinary(3)), [0x61, 0, 0x62]);
    assert_eq!(cast(&bytes(b"ABC"), VARBINARY, VARCHAR), Ok(text("ABC")));
    assert_eq!(
        cast(&bytes(&[0x80]), VARBINARY, DataType::Char(3)),
        Ok(text("\u{20ac}  "))
    );
    assert_eq!(cast(&bytes(&[0x41]), VARBINARY, NVARCHAR), Ok(text("A")));
    // A documented pitfall: 0x41 converted by way of nvarchar is 0x4100.
    let way = cast(&bytes(&[0x41]), VARBINARY, NVARCHAR).unwrap();
    assert_eq!(to_bytes(&way, NVARCHAR, VARBINARY), [0x41, 0]);
    assert_eq!(
        refused(cast(&bytes(&[0, 0xd8, 0x41, 0]), VARBINARY, NVARCHAR)),
        (40510, "Text with half a surrogate pair is not supported.".into())
    );
}

#[test]
fn styles_1_and_2_are_hexadecimal() {
    let name = bytes(b"Name");
    assert_eq!(styled(&name, VARBINARY, VARCHAR, 1), Ok(text("0x4E616D65")));
    assert_eq!(styled(&name, VARBINARY, NVARCHAR, 2), Ok(text("4E616D65")));
    assert_eq!(
        styled(&name, VARBINARY, DataType::Char(12), 1),
        Ok(text("0x4E616D65  "))
    );
    assert_eq!(styled(&name, VARBINARY, varchar(6), 1), Ok(text("0x4E61")));
    assert_eq!(styled(&text("0x4E616D65"), VARCHAR, VARBINARY, 1), Ok(name.clone()));
    assert_eq!(styled(&text("4e616d65"), NVARCHAR, VARBINARY, 2), Ok(name));
    assert_eq!(
        styled(&text("4E61"), VARCHAR, DataType::Binary(4), 2),
        Ok(bytes(&[0x4e, 0x61, 0, 0]))
    );
    assert_eq!(
        styled(&text("4E616D65"), VARCHAR, varbinary(2), 2),
        Ok(bytes(&[0x4e, 0x61]))
    );
    for (wrong, style) in [("4E61", 1), ("0x4E61", 2), ("0x4E6", 1), ("4G", 2), ("", 1)] {
        assert_eq!(
            refused(styled(&text(wrong), VARCHAR, VARBINARY, style)),
            (8114, "Error converting data type varchar to varbinary.".into()),
            "{wrong:?}"
        );
    }
    assert_eq!(refused(styled(&text("a"), VARCHAR, VARBINARY, 7)).0, 9809);
}

#[test]
fn dates_have_the_binary_form_of_sql_server() {
    let at = moment(2008, 1, 2, (12, 34, 56), 1_234_567);
    let date = Value::Date(at.date);
    assert_eq!(
        to_bytes(&date, DataType::Date, VARBINARY)[..],
        at.date.0.to_le_bytes()[..3]
    );
    assert_eq!(
        to_bytes(&Value::Date(Date::BASE), DataType::Date, VARBINARY),
        [0x5b, 0x95, 0x0a]
    );
    let time = Value::Time(TimeOfDay(12_345_678));
    assert_eq!(
        to_bytes(&time, DataType::Time(7), VARBINARY),
        [7, 0x4e, 0x61, 0xbc, 0, 0]
    );
    assert_eq!(
        to_bytes(&Value::Time(TimeOfDay(20_000_000)), DataType::Time(0), VARBINARY),
        [0, 2, 0, 0]
    );
    assert_eq!(
        to_bytes(&Value::Time(TimeOfDay(20_000_000)), DataType::Time(3), VARBINARY),
        [3, 0xd0, 0x07, 0, 0]
    );
    let datetime = Value::DateTime(moment(1900, 1, 2, (0, 0, 1), 0));
    assert_eq!(
        to_bytes(&datetime, DataType::DateTime, VARBINARY),
        [0, 0, 0, 1, 0, 0, 1, 0x2c]
    );
    assert_eq!(
        to_bytes(&datetime, DataType::DateTime, DataType::Binary(4)),
        [0, 0, 1, 0x2c]
    );
    let small = Value::DateTime(moment(1900, 1, 2, (1, 1, 0), 0));
    assert_eq!(
        to_bytes(&small, DataType::SmallDateTime, DataType::Binary(5)),
        [0, 0, 1, 0, 61]
    );
    assert_eq!(
        refused(cast(&time, DataType::Time(7), varbinary(3))),
        (8152, "String or binary data would be truncated.".into())
    );
}

#[test]
fn binary_literals_of_ssms_scripts_are_converted() {
    let read = |from: &[u8], to| cast(&bytes(from), VARBINARY, to);
    assert_eq!(
        read(&[0xd1, 0x34, 0x0b], DataType::Date),
        Ok(Value::Date(Date(0x0b34d1)))
    );
    // CAST(0x07A00627C0A5173D0B0000 AS datetimeoffset).
    let wire = [0x07, 0xa0, 0x06, 0x27, 0xc0, 0xa5, 0x17, 0x3d, 0x0b, 0x00, 0x00];
    let Ok(Value::DateTimeOffset(at)) = read(&wire, DataType::DateTimeOffset(7)) else {
        panic!("not read")
    };
    assert_eq!((at.offset_minutes, at.utc.date), (0, Date(0x0b3d17)));
    assert_eq!(
        read(&[1, 2], DataType::DateTime),
        Ok(Value::DateTime(moment(1900, 1, 1, (0, 0, 0), 8_600_000)))
    );
    assert_eq!(
        refused(read(&[0x61, 0], DataType::SmallDateTime)),
        (
            210,
            "Conversion failed when converting datetime from binary/varbinary string.".into()
        )
    );
    for (wrong, to) in [
        (&[1][..], DataType::Date),
        (&[0xff, 0xff, 0xff], DataType::Date),
        (&[8, 0, 0, 0, 0, 0], DataType::Time(7)),
        (&[7, 0xff, 0xff, 0xff, 0xff, 0xff], DataType::Time(7)),
        (&[7, 0, 0], DataType::DateTime2(7)),
        (&[], DataType::DateTime2(7)),
        (&[0, 0, 0, 0, 0, 0, 0, 0xff, 0x7f], DataType::DateTimeOffset(7)),
    ] {
        assert_eq!(refused(read(wrong, to)).0, 241, "{wrong:?} as {to}");
    }
}

#[test]
fn uniqueidentifiers_are_sixteen_bytes() {
    let wire: Vec<u8> = (1..=16).collect();
    let guid = Value::Guid(Guid(wire.clone().try_into().unwrap()));
    assert_eq!(to_bytes(&guid, DataType::UniqueIdentifier, VARBINARY), wire);
    assert_eq!(
        to_bytes(&guid, DataType::UniqueIdentifier, DataType::Binary(8)),
        wire[..8]
    );
    assert_eq!(cast(&bytes(&wire), VARBINARY, DataType::UniqueIdentifier), Ok(guid));
    let short = cast(&bytes(&[1]), VARBINARY, DataType::UniqueIdentifier).unwrap();
    assert_eq!(
        shown(&short, DataType::UniqueIdentifier),
        "00000001-0000-0000-0000-000000000000"
    );
}

#[test]
fn a_datetimeoffset_is_stored_in_utc() {
    let local = moment(2024, 3, 1, (1, 2, 3), 0);
    let value = Value::DateTimeOffset(DateTimeOffset::from_local(local, 330).unwrap());
    let wire = to_bytes(&value, DataType::DateTimeOffset(0), VARBINARY);
    assert_eq!(wire.len(), 9);
    assert_eq!(wire[7..], [0x4a, 0x01]);
    assert_eq!(cast(&bytes(&wire), VARBINARY, DataType::DateTimeOffset(0)), Ok(value));
}
