use super::*;
use crate::{Decimal, Value};

/// One of every type, with every kind of argument.
pub(crate) fn all_types() -> Vec<DataType> {
    let mut types = vec![
        DataType::Bit,
        DataType::TinyInt,
        DataType::SmallInt,
        DataType::Int,
        DataType::BigInt,
        DataType::SmallMoney,
        DataType::Money,
        DataType::Real,
        DataType::Float,
        DataType::Char(10),
        DataType::VarChar(Width::Limited(20)),
        DataType::VarChar(Width::Max),
        DataType::NChar(10),
        DataType::NVarChar(Width::Limited(20)),
        DataType::NVarChar(Width::Max),
        DataType::Binary(8),
        DataType::VarBinary(Width::Limited(8000)),
        DataType::VarBinary(Width::Max),
        DataType::Date,
        DataType::SmallDateTime,
        DataType::DateTime,
        DataType::UniqueIdentifier,
        DataType::SqlVariant,
        DataType::Xml,
    ];
    for (precision, scale) in [(1, 0), (9, 9), (18, 4), (19, 0), (38, 10), (38, 38)] {
        types.push(DataType::Decimal { precision, scale });
        types.push(DataType::Numeric { precision, scale });
    }
    for scale in 0..=7 {
        types.extend([
            DataType::Time(scale),
            DataType::DateTime2(scale),
            DataType::DateTimeOffset(scale),
        ]);
    }
    types
}

#[test]
fn a_type_displays_as_in_t_sql() {
    let shown = |data_type: DataType| data_type.to_string();
    assert_eq!(
        shown(DataType::Decimal {
            precision: 10,
            scale: 2
        }),
        "decimal(10,2)"
    );
    assert_eq!(
        shown(DataType::Numeric {
            precision: 38,
            scale: 0
        }),
        "numeric(38,0)"
    );
    assert_eq!(shown(DataType::NVarChar(Width::Max)), "nvarchar(max)");
    assert_eq!(shown(DataType::VarChar(Width::Limited(50))), "varchar(50)");
    assert_eq!(shown(DataType::Char(1)), "char(1)");
    assert_eq!(shown(DataType::DateTime2(7)), "datetime2(7)");
    assert_eq!(shown(DataType::DateTime), "datetime");
    assert_eq!(shown(DataType::Float), "float");
}

#[test]
fn messages_name_types_without_arguments_except_max() {
    assert_eq!(DataType::VarChar(Width::Limited(50)).bare_name(), "varchar");
    assert_eq!(DataType::VarChar(Width::Max).bare_name(), "varchar(max)");
    assert_eq!(DataType::DateTime2(3).bare_name(), "datetime2");
    assert_eq!(DataType::Decimal { precision: 5, scale: 2 }.bare_name(), "decimal");
    assert_eq!(DataType::Decimal { precision: 5, scale: 2 }.overflow_name(), "numeric");
    assert_eq!(DataType::TinyInt.overflow_name(), "tinyint");
}

#[test]
fn precedence_is_a_strict_order_except_for_decimal_and_numeric() {
    for left in all_types() {
        for right in all_types() {
            let same = left.keyword() == right.keyword()
                || (left.family() == Family::Decimal && right.family() == Family::Decimal);
            assert_eq!(left.precedence() == right.precedence(), same, "{left} {right}");
        }
    }
    assert!(DataType::DateTimeOffset(0).precedence() > DataType::DateTime2(7).precedence());
    assert!(DataType::DateTime.precedence() > DataType::Float.precedence());
    assert!(DataType::Decimal { precision: 1, scale: 0 }.precedence() > DataType::Money.precedence());
    assert!(DataType::Bit.precedence() > DataType::NVarChar(Width::Max).precedence());
    assert!(DataType::UniqueIdentifier.precedence() > DataType::NVarChar(Width::Max).precedence());
    assert!(DataType::Char(1).precedence() > DataType::VarBinary(Width::Max).precedence());
}

#[test]
fn sys_types_have_the_documented_numbers() {
    let of = |data_type: DataType| {
        let SystemType {
            system_type_id,
            user_type_id,
            max_length,
            precision,
            scale,
        } = data_type.describe();
        assert_eq!(u32::from(system_type_id), user_type_id);
        (system_type_id, max_length, precision, scale)
    };
    assert_eq!(of(DataType::Int), (56, 4, 10, 0));
    assert_eq!(of(DataType::Bit), (104, 1, 1, 0));
    assert_eq!(of(DataType::Money), (60, 8, 19, 4));
    assert_eq!(of(DataType::SmallMoney), (122, 4, 10, 4));
    assert_eq!(of(DataType::Float), (62, 8, 53, 0));
    assert_eq!(of(DataType::Real), (59, 4, 24, 0));
    assert_eq!(of(DataType::Decimal { precision: 9, scale: 2 }), (106, 5, 9, 2));
    assert_eq!(
        of(DataType::Decimal {
            precision: 10,
            scale: 2
        }),
        (106, 9, 10, 2)
    );
    assert_eq!(
        of(DataType::Numeric {
            precision: 28,
            scale: 0
        }),
        (108, 13, 28, 0)
    );
    assert_eq!(
        of(DataType::Numeric {
            precision: 38,
            scale: 38
        }),
        (108, 17, 38, 38)
    );
    assert_eq!(of(DataType::Date), (40, 3, 10, 0));
    assert_eq!(of(DataType::Time(7)), (41, 5, 16, 7));
    assert_eq!(of(DataType::Time(0)), (41, 3, 8, 0));
    assert_eq!(of(DataType::DateTime2(7)), (42, 8, 27, 7));
    assert_eq!(of(DataType::DateTime2(3)), (42, 7, 23, 3));
    assert_eq!(of(DataType::DateTime2(0)), (42, 6, 19, 0));
    assert_eq!(of(DataType::DateTimeOffset(7)), (43, 10, 34, 7));
    assert_eq!(of(DataType::DateTimeOffset(0)), (43, 8, 26, 0));
    assert_eq!(of(DataType::DateTime), (61, 8, 23, 3));
    assert_eq!(of(DataType::SmallDateTime), (58, 4, 16, 0));
    assert_eq!(of(DataType::NVarChar(Width::Limited(4000))), (231, 8000, 0, 0));
    assert_eq!(of(DataType::NVarChar(Width::Max)), (231, -1, 0, 0));
    assert_eq!(of(DataType::VarChar(Width::Limited(8000))), (167, 8000, 0, 0));
    assert_eq!(of(DataType::UniqueIdentifier), (36, 16, 0, 0));
}

#[test]
fn data_length_is_that_of_datalength() {
    let decimal = |unscaled| Value::Decimal(Decimal { unscaled, scale: 0 });
    let wide = DataType::Decimal {
        precision: 38,
        scale: 0,
    };
    assert_eq!(DataType::Int.data_length(&Value::Int(1)), Some(4));
    assert_eq!(DataType::Int.data_length(&Value::Null), None);
    assert_eq!(wide.data_length(&decimal(0)), Some(5));
    assert_eq!(wide.data_length(&decimal(4_294_967_295)), Some(5));
    assert_eq!(wide.data_length(&decimal(-4_294_967_296)), Some(9));
    assert_eq!(wide.data_length(&decimal(1 << 64)), Some(13));
    assert_eq!(wide.data_length(&decimal(1 << 96)), Some(17));
    let text = Value::Text("h\u{e9}".into());
    assert_eq!(DataType::NVarChar(Width::Max).data_length(&text), Some(4));
    assert_eq!(DataType::VarChar(Width::Max).data_length(&text), Some(2));
    assert_eq!(
        DataType::VarBinary(Width::Max).data_length(&Value::Binary([1, 2, 3][..].into())),
        Some(3)
    );
    assert_eq!(DataType::DateTimeOffset(0).byte_length_max(), Some(8));
}
