use super::*;
use crate::Width;
use crate::data_type::tests::all_types;

fn dec(precision: u8, scale: u8) -> DataType {
    DataType::Decimal { precision, scale }
}

fn varchar(length: u16) -> DataType {
    DataType::VarChar(Width::Limited(length))
}

#[test]
fn the_common_type_is_the_higher_one_and_holds_both() {
    let nvarchar = |length| DataType::NVarChar(Width::Limited(length));
    let cases = [
        (DataType::Int, DataType::BigInt, DataType::BigInt),
        (DataType::Int, varchar(5), DataType::Int),
        (DataType::Bit, DataType::TinyInt, DataType::TinyInt),
        (varchar(2), varchar(4), varchar(4)),
        (varchar(8000), nvarchar(10), nvarchar(4000)),
        (varchar(2), nvarchar(4), nvarchar(4)),
        (DataType::Char(2), DataType::Char(5), DataType::Char(5)),
        (DataType::Char(9), varchar(5), varchar(9)),
        (varchar(5), DataType::VarChar(Width::Max), DataType::VarChar(Width::Max)),
        (
            DataType::Binary(2),
            DataType::VarBinary(Width::Limited(3)),
            DataType::VarBinary(Width::Limited(3)),
        ),
        (dec(5, 2), dec(8, 1), dec(9, 2)),
        (dec(38, 0), dec(38, 38), dec(38, 0)),
        (dec(5, 2), DataType::Int, dec(12, 2)),
        (dec(5, 2), DataType::Money, dec(19, 4)),
        (dec(5, 2), DataType::Real, DataType::Real),
        (DataType::DateTime2(3), DataType::DateTime2(5), DataType::DateTime2(5)),
        (DataType::DateTime2(0), DataType::DateTime, DataType::DateTime2(3)),
        (DataType::DateTime, DataType::Date, DataType::DateTime),
        (DataType::Time(2), varchar(5), DataType::Time(2)),
        (DataType::UniqueIdentifier, varchar(36), DataType::UniqueIdentifier),
    ];
    for (left, right, expected) in cases {
        assert_eq!(left.unify(&right), Ok(expected), "{left} {right}");
        assert_eq!(right.unify(&left), Ok(expected), "{right} {left}");
    }
    let numeric = DataType::Numeric { precision: 4, scale: 1 };
    assert_eq!(dec(3, 0).unify(&numeric), Ok(numeric));
}

#[test]
fn types_without_a_common_type_clash() {
    let clash = |left: DataType, right: DataType| left.unify(&right).unwrap_err().to_string();
    let text = "Operand type clash: uniqueidentifier is incompatible with datetime";
    assert_eq!(clash(DataType::DateTime, DataType::UniqueIdentifier), text);
    assert_eq!(
        clash(DataType::Int, DataType::Date),
        "Operand type clash: int is incompatible with date"
    );
    assert_eq!(
        clash(DataType::Date, DataType::Time(7)),
        "Operand type clash: time is incompatible with date"
    );
}

#[test]
fn operands_of_a_comparison_are_converted_only_if_required() {
    let equal = |left: DataType, right: DataType| left.comparable(Comparison::Equal, &right);
    let same = |left: DataType, right: DataType| assert_eq!(equal(left, right), Ok((left, right)));
    same(DataType::Char(5), DataType::NVarChar(Width::Max));
    same(dec(5, 2), dec(38, 10));
    same(DataType::SmallMoney, DataType::Money);
    same(DataType::SmallDateTime, DataType::DateTime2(7));
    let thirds = (DataType::DateTime2(7), DataType::DateTime2(3));
    assert_eq!(equal(DataType::DateTime, DataType::DateTime2(3)), Ok(thirds));
    same(DataType::Time(0), DataType::Time(7));
    same(DataType::Binary(5), DataType::VarBinary(Width::Max));
    assert_eq!(
        equal(DataType::Int, DataType::BigInt),
        Ok((DataType::BigInt, DataType::BigInt))
    );
    assert_eq!(equal(DataType::Int, varchar(3)), Ok((DataType::Int, DataType::Int)));
    assert_eq!(equal(dec(5, 2), DataType::Int), Ok((dec(5, 2), dec(10, 0))));
    assert_eq!(
        equal(DataType::Date, DataType::DateTime2(3)),
        Ok((DataType::DateTime2(3), DataType::DateTime2(3)))
    );
    let offset = DataType::DateTimeOffset(7);
    assert_eq!(equal(DataType::DateTime, offset), Ok((offset, offset)));
}

#[test]
fn an_invalid_comparison_names_the_types_in_the_written_order() {
    let refused = |left: DataType, comparison: Comparison, right: DataType| {
        let error = left.comparable(comparison, &right).unwrap_err();
        format!("{} {error}", error.number())
    };
    let text = "402 The data types datetime2 and time are incompatible in the less than or equal to operator.";
    assert_eq!(
        refused(DataType::DateTime2(7), Comparison::LessOrEqual, DataType::Time(7)),
        text
    );
    let text = "402 The data types time and date are incompatible in the equal to operator.";
    assert_eq!(refused(DataType::Time(7), Comparison::Equal, DataType::Date), text);
    let text = "206 Operand type clash: date is incompatible with int";
    assert_eq!(refused(DataType::Date, Comparison::Equal, DataType::Int), text);
    let text = "206 Operand type clash: int is incompatible with date";
    assert_eq!(refused(DataType::Int, Comparison::NotEqual, DataType::Date), text);
    let text = "206 Operand type clash: uniqueidentifier is incompatible with int";
    assert_eq!(
        refused(DataType::UniqueIdentifier, Comparison::Greater, DataType::Int),
        text
    );
}

#[test]
fn unify_is_symmetric_and_never_narrows() {
    for left in all_types() {
        assert_eq!(left.unify(&left), Ok(left));
        for right in all_types() {
            let (one, other) = (left.unify(&right), right.unify(&left));
            assert_eq!(one.is_ok(), other.is_ok(), "{left} {right}");
            let Ok(united) = one else { continue };
            assert_eq!(Ok(united), other);
            assert!(left.becomes(&united) && right.becomes(&united));
            assert_eq!(united.unify(&left), Ok(united), "{left} {right}");
            assert_eq!(
                united.precedence(),
                united.precedence().max(left.precedence()).max(right.precedence())
            );
        }
    }
}
