use super::*;
use crate::storage::{Stored, StoredRef, from_stored, to_stored, variant_key, variant_order};
use crate::{Conversion, Guid, Width, conversion};

fn variant(value: &str, of: &DataType) -> Value {
    let text = DataType::VarChar(Width::Limited(8000));
    let typed = convert(&Value::Text(value.into()), &text, of, None, DateFormat::default()).unwrap();
    convert(&typed, of, &DataType::SqlVariant, None, DateFormat::default()).unwrap()
}

fn form(value: &Value) -> String {
    let Stored::Text(text) = to_stored(value, &DataType::SqlVariant).unwrap() else {
        panic!("{value:?}")
    };
    text.into_owned()
}

const MONEY: DataType = DataType::Money;
const NUMERIC: DataType = DataType::Numeric { precision: 9, scale: 2 };
const WIDE: DataType = DataType::Decimal {
    precision: 38,
    scale: 0,
};

#[test]
fn values_of_one_family_compare_by_value_and_families_by_their_rank() {
    let ordered: &[&[(&str, DataType)]] = &[
        &[("00112233-4455-6677-8899-AABBCCDDEEFF", DataType::UniqueIdentifier)],
        &[("a", DataType::VarChar(Width::Limited(5))), ("A ", DataType::NChar(4))],
        &[("b", DataType::NVarChar(Width::Limited(1)))],
        &[("-1.5", NUMERIC)],
        &[
            ("0", DataType::Bit),
            ("0", DataType::Int),
            ("0.00", NUMERIC),
            ("0", MONEY),
        ],
        &[
            ("10", DataType::TinyInt),
            ("10", DataType::BigInt),
            ("10.00", NUMERIC),
            ("10", MONEY),
            ("10", WIDE),
        ],
        &[("99999999999999999999999999999999999999", WIDE)],
        &[("-2", DataType::Float)],
        &[("0.5", DataType::Real), ("0.5", DataType::Float)],
        &[("12:00", DataType::Time(0)), ("1900-01-01 12:00", DataType::DateTime)],
        &[
            ("2026-01-31", DataType::Date),
            ("2026-01-31 00:00", DataType::DateTime2(7)),
        ],
        &[
            ("2026-01-31 12:00", DataType::SmallDateTime),
            ("2026-01-31 13:00 +01:00", DataType::DateTimeOffset(0)),
        ],
    ];
    for (low, equal) in ordered.iter().enumerate() {
        for (high, others) in ordered.iter().enumerate() {
            for (left, of_left) in equal.iter() {
                for (right, of_right) in others.iter() {
                    let (a, b) = (variant(left, of_left), variant(right, of_right));
                    let name = format!("{of_left} {left}, {of_right} {right}");
                    assert_eq!(crate::compare(&a, &b, COLLATION), Some(low.cmp(&high)), "{name}");
                    assert_eq!(variant_order(&form(&a), &form(&b)), low.cmp(&high), "{name}");
                    let keys = [&a, &b].map(|value| variant_key(form(value).as_bytes()));
                    assert_eq!(keys[0] == keys[1], low == high, "{name}");
                }
            }
        }
    }
}

#[test]
fn the_stored_form_is_the_type_and_the_value() {
    for (value, of, text) in [
        ("5", DataType::Int, "int 5"),
        ("12.3", NUMERIC, "numeric(9,2) 1230"),
        ("0.5", DataType::Float, "float 0.5"),
        ("a b", DataType::NVarChar(Width::Limited(20)), "nvarchar(20) a b"),
        ("ab", DataType::Char(5), "char(5) ab"),
        (
            "2026-01-31 13:45",
            DataType::DateTime2(3),
            "datetime2(3) 2026-01-31 13:45:00.000",
        ),
        ("1", WIDE, "decimal(38,0) 80000000000000000000000000000001"),
    ] {
        let value = variant(value, &of);
        assert_eq!(form(&value), text);
        assert_eq!(
            from_stored(StoredRef::Text(text.as_bytes()), &DataType::SqlVariant).unwrap(),
            value
        );
    }
    for other in [
        "",
        "int",
        "int ",
        "int 05",
        "int +5",
        "int x",
        "INT 5",
        "integer 5",
        "tinyint 256",
        "float NaN",
        "float inf",
        "float 1",
        "varbinary(2) 0",
        "varbinary(2) 0A",
        "varbinary(2) 010203",
        "varchar(max) a",
        "timestamp 0000000000000000",
        "sql_variant int 5",
        "varchar(1) ab",
        "datetime2(3) 2026-01-31",
        "numeric(9,2) 10000000000",
    ] {
        from_stored(StoredRef::Text(other.as_bytes()), &DataType::SqlVariant).expect_err(other);
        assert_eq!(variant_order(other, "int 5"), Ordering::Greater, "{other}");
        assert_eq!(variant_order(other, other), Ordering::Equal, "{other}");
    }
    from_stored(StoredRef::Integer(5), &DataType::SqlVariant).unwrap_err();
}

#[test]
fn a_value_keeps_its_type_and_converts_as_a_value_of_it() {
    let to = |value: &Value, to: DataType| convert(value, &DataType::SqlVariant, &to, None, DateFormat::default());
    let number = variant("12.5", &NUMERIC);
    assert_eq!(to(&number, DataType::Int).unwrap(), Value::Int(12));
    assert_eq!(
        to(&number, DataType::VarChar(Width::Max)).unwrap(),
        Value::Text("12.50".into())
    );
    assert_eq!(to(&number, DataType::SqlVariant).unwrap(), number);
    assert_eq!(to(&number, DataType::Date).unwrap_err().number(), 529);
    assert_eq!(
        to(&variant("x", &DataType::Char(3)), DataType::Int)
            .unwrap_err()
            .number(),
        245
    );
    let Value::SqlVariant(number) = number else {
        panic!("{number:?}")
    };
    assert_eq!((number.data_type(), number.total_size()), (&NUMERIC, 9));
    assert_eq!(DataType::SqlVariant.data_length(&Value::SqlVariant(number)), Some(5));
    assert_eq!(SqlVariant::of(DataType::Int, Value::Null), Some(Value::Null));
}

#[test]
fn a_sql_variant_converts_only_explicitly_and_holds_no_large_value() {
    let variant = DataType::SqlVariant;
    for (from, expected) in [
        (DataType::VarChar(Width::Max), Conversion::Never),
        (DataType::NVarChar(Width::Max), Conversion::Never),
        (DataType::VarBinary(Width::Max), Conversion::Never),
        (DataType::RowVersion, Conversion::Never),
        (DataType::Char(8000), Conversion::Implicit),
        (DataType::UniqueIdentifier, Conversion::Implicit),
    ] {
        assert_eq!(conversion(&from, &variant), expected, "{from}");
        let back = if from == DataType::RowVersion {
            Conversion::Never
        } else {
            Conversion::Explicit
        };
        assert_eq!(conversion(&variant, &from), back, "{from}");
    }
    assert_eq!(
        SqlVariant::of(DataType::RowVersion, Value::Binary([0; 8].as_slice().into())),
        None
    );
    assert_eq!(SqlVariant::of(variant, Value::Guid(Guid([0; 16]))), None);
    let error = Conversion::check_implicit(&variant, &DataType::Int).unwrap_err();
    assert_eq!(
        (error.number(), error.to_string().as_str()),
        (
            257,
            "Implicit conversion from data type sql_variant to int is not allowed. Use the CONVERT function to run this query."
        )
    );
}
