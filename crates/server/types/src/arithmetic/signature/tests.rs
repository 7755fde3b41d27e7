use super::*;
use crate::Width;
use crate::data_type::tests::all_types;
use crate::storage::declared_type;

const ALL: [Operator; 8] = [
    Operator::Add,
    Operator::Subtract,
    Operator::Multiply,
    Operator::Divide,
    Operator::Modulo,
    Operator::BitAnd,
    Operator::BitOr,
    Operator::BitXor,
];

fn dec(precision: u8, scale: u8) -> DataType {
    DataType::Decimal { precision, scale }
}

fn num(precision: u8, scale: u8) -> DataType {
    DataType::Numeric { precision, scale }
}

fn varchar(length: u16) -> DataType {
    DataType::VarChar(Width::Limited(length))
}

fn nvarchar(length: u16) -> DataType {
    DataType::NVarChar(Width::Limited(length))
}

fn varbinary(length: u16) -> DataType {
    DataType::VarBinary(Width::Limited(length))
}

fn result(operator: Operator, left: DataType, right: DataType) -> DataType {
    operator.signature(&left, &right).unwrap().result
}

fn refused(operator: Operator, left: DataType, right: DataType) -> String {
    let error = operator.signature(&left, &right).unwrap_err();
    format!("{} {error}", error.number())
}

#[test]
fn integers_have_the_wider_type_as_result() {
    use DataType::{BigInt, Bit, Int, SmallInt, TinyInt};
    for operator in ALL {
        assert_eq!(result(operator, Int, Int), Int);
        assert_eq!(result(operator, TinyInt, TinyInt), TinyInt);
        assert_eq!(result(operator, SmallInt, Int), Int);
        assert_eq!(result(operator, BigInt, Int), BigInt);
        assert_eq!(result(operator, Bit, TinyInt), TinyInt);
        assert_eq!(result(operator, Int, Bit), Int);
    }
}

#[test]
fn decimals_have_the_documented_precision_and_scale() {
    let cases = [
        (Operator::Add, dec(10, 2), dec(10, 2), dec(11, 2)),
        (Operator::Add, dec(5, 2), dec(8, 4), dec(9, 4)),
        (Operator::Subtract, dec(38, 2), dec(38, 2), dec(38, 2)),
        (Operator::Add, dec(38, 20), dec(38, 20), dec(38, 20)),
        (Operator::Add, dec(38, 10), dec(38, 30), dec(38, 10)),
        (Operator::Add, dec(30, 20), dec(38, 30), dec(38, 28)),
        (Operator::Add, dec(38, 38), dec(38, 0), dec(38, 0)),
        (Operator::Multiply, dec(10, 2), dec(10, 2), dec(21, 4)),
        (Operator::Multiply, dec(20, 5), dec(23, 5), dec(38, 6)),
        (Operator::Multiply, dec(30, 10), dec(30, 10), dec(38, 6)),
        (Operator::Multiply, dec(30, 20), dec(30, 20), dec(38, 17)),
        (Operator::Multiply, dec(38, 2), dec(38, 2), dec(38, 4)),
        (Operator::Divide, dec(5, 2), dec(5, 2), dec(13, 8)),
        (Operator::Divide, dec(5, 2), dec(10, 0), dec(16, 13)),
        (Operator::Divide, dec(38, 0), dec(38, 0), dec(38, 6)),
        (Operator::Divide, dec(30, 3), dec(10, 4), dec(38, 7)),
        (Operator::Modulo, dec(10, 2), dec(5, 4), dec(5, 4)),
        (Operator::Modulo, dec(38, 0), dec(38, 38), dec(38, 38)),
    ];
    for (operator, left, right, expected) in cases {
        assert_eq!(result(operator, left, right), expected, "{left} {operator:?} {right}");
    }
}

#[test]
fn exact_numbers_next_to_a_decimal_become_the_decimal_of_their_type() {
    assert_eq!(result(Operator::Divide, num(3, 1), DataType::Int), num(14, 12));
    assert_eq!(
        result(Operator::Divide, num(3, 1), DataType::of_integer_constant(3)),
        num(8, 6)
    );
    assert_eq!(result(Operator::Add, DataType::TinyInt, dec(5, 2)), dec(6, 2));
    assert_eq!(result(Operator::Add, DataType::BigInt, dec(5, 2)), dec(22, 2));
    assert_eq!(result(Operator::Add, DataType::Bit, dec(5, 2)), dec(6, 2));
    assert_eq!(result(Operator::Add, DataType::Money, dec(5, 2)), dec(20, 4));
    assert_eq!(result(Operator::Multiply, dec(5, 2), DataType::SmallMoney), dec(16, 6));
    let Signature { left, right, .. } = Operator::Add.signature(&DataType::Int, &num(5, 2)).unwrap();
    assert_eq!((left, right), (num(10, 0), num(5, 2)));
}

#[test]
fn a_result_of_numeric_and_decimal_is_numeric() {
    assert_eq!(result(Operator::Add, dec(5, 2), num(5, 2)), num(6, 2));
    assert_eq!(result(Operator::Add, num(5, 2), dec(5, 2)), num(6, 2));
    assert_eq!(result(Operator::Add, dec(5, 2), DataType::Int), dec(13, 2));
}

#[test]
fn an_integer_constant_has_just_its_digits() {
    let cases = [
        (0, 1),
        (7, 1),
        (-9, 1),
        (10, 2),
        (1_234_567_890, 10),
        (i64::MIN, 19),
        (i64::MAX, 19),
    ];
    for (constant, digits) in cases {
        assert_eq!(DataType::of_integer_constant(constant), num(digits, 0), "{constant}");
    }
}

#[test]
fn money_and_approximate_numbers_win_by_precedence() {
    use DataType::{BigInt, Float, Int, Money, Real, SmallMoney};
    assert_eq!(result(Operator::Multiply, Money, Int), Money);
    assert_eq!(result(Operator::Divide, SmallMoney, Money), Money);
    assert_eq!(result(Operator::Add, BigInt, SmallMoney), SmallMoney);
    assert_eq!(result(Operator::Modulo, Money, Money), Money);
    assert_eq!(result(Operator::Add, Real, Int), Real);
    assert_eq!(result(Operator::Add, Money, Real), Real);
    assert_eq!(result(Operator::Add, dec(10, 2), Real), Real);
    assert_eq!(result(Operator::Divide, Real, Float), Float);
    assert_eq!(result(Operator::Subtract, varchar(5), Float), Float);
}

#[test]
fn string_lengths_are_added_up_to_the_maximum() {
    let max = DataType::VarChar(Width::Max);
    let cases = [
        (varchar(10), varchar(20), varchar(30)),
        (varchar(5000), varchar(5000), varchar(8000)),
        (nvarchar(3000), nvarchar(3000), nvarchar(4000)),
        (varchar(2), nvarchar(3), nvarchar(5)),
        (varchar(8000), nvarchar(1), nvarchar(4000)),
        (max, varchar(5), max),
        (
            varchar(5),
            DataType::NVarChar(Width::Max),
            DataType::NVarChar(Width::Max),
        ),
        (max, nvarchar(5), DataType::NVarChar(Width::Max)),
        (DataType::Char(5), DataType::Char(6), DataType::Char(11)),
        (DataType::Char(5), DataType::NChar(6), DataType::NChar(11)),
        (DataType::Char(5), varchar(6), varchar(11)),
        (DataType::NChar(5), varchar(6), nvarchar(11)),
        (DataType::Binary(5), DataType::Binary(6), DataType::Binary(11)),
        (DataType::Binary(5), varbinary(6), varbinary(11)),
        (varbinary(8000), varbinary(1), varbinary(8000)),
    ];
    for (left, right, expected) in cases {
        assert_eq!(result(Operator::Add, left, right), expected, "{left} + {right}");
    }
}

#[test]
fn text_and_binary_next_to_a_number_become_the_numbers_type() {
    assert_eq!(result(Operator::Add, varchar(5), DataType::Int), DataType::Int);
    assert_eq!(
        result(Operator::Modulo, DataType::TinyInt, varchar(5)),
        DataType::TinyInt
    );
    assert_eq!(result(Operator::Multiply, varchar(5), dec(5, 2)), dec(11, 4));
    assert_eq!(result(Operator::Add, DataType::Money, nvarchar(5)), DataType::Money);
    assert_eq!(
        result(Operator::Divide, DataType::BigInt, varbinary(2)),
        DataType::BigInt
    );
    assert_eq!(result(Operator::BitAnd, DataType::Int, varbinary(2)), DataType::Int);
    assert_eq!(result(Operator::BitOr, varchar(5), DataType::Bit), DataType::Bit);
    assert_eq!(
        refused(Operator::Modulo, varchar(5), dec(5, 2)),
        "402 The data types varchar and decimal are incompatible in the modulo operator."
    );
}

#[test]
fn datetime_arithmetic_accepts_numbers_and_datetimes() {
    use DataType::{DateTime, Float, Int, SmallDateTime};
    assert_eq!(result(Operator::Add, DateTime, Int), DateTime);
    assert_eq!(result(Operator::Subtract, DateTime, DateTime), DateTime);
    assert_eq!(result(Operator::Subtract, SmallDateTime, DateTime), DateTime);
    assert_eq!(result(Operator::Add, Float, SmallDateTime), SmallDateTime);
    assert_eq!(result(Operator::Add, varchar(20), DateTime), DateTime);
    assert_eq!(
        refused(Operator::Multiply, DateTime, Int),
        "257 Implicit conversion from data type datetime to int is not allowed. \
         Use the CONVERT function to run this query."
    );
    assert_eq!(
        refused(Operator::Divide, DateTime, DateTime),
        "8117 Operand data type datetime is invalid for divide operator."
    );
}

/// Left operand, operator, right operand, and SQL Server's message.
const REFUSED: &str = "\
bit + bit: 402 The data types bit and bit are incompatible in the add operator.
bit % bit: 402 The data types bit and bit are incompatible in the modulo operator.
bit * bit: 8117 Operand data type bit is invalid for multiply operator.
bit - varchar: 402 The data types bit and varchar are incompatible in the subtract operator.
varchar / bit: 8117 Operand data type varchar is invalid for divide operator.
float % int: 402 The data types float and int are incompatible in the modulo operator.
real % float: 8117 Operand data type real is invalid for modulo operator.
varbinary % real: 402 The data types varbinary and real are incompatible in the modulo operator.
varbinary + real: 206 Operand type clash: varbinary is incompatible with real
varbinary - varbinary: 402 The data types varbinary and varbinary are incompatible in the subtract operator.
varbinary * varbinary: 8117 Operand data type varbinary is invalid for multiply operator.
varchar + varbinary: 402 The data types varchar and varbinary are incompatible in the add operator.
varchar - varchar: 8117 Operand data type varchar is invalid for subtract operator.
varchar * varchar: 8117 Operand data type varchar is invalid for multiply operator.
varchar % nvarchar: 402 The data types varchar and nvarchar are incompatible in the modulo operator.
nvarchar(max) - text: 402 The data types nvarchar(max) and varchar(max) are incompatible in the subtract operator.
datetime + time: 402 The data types datetime and time are incompatible in the add operator.
datetime - date: 402 The data types datetime and date are incompatible in the subtract operator.
date + date: 8117 Operand data type date is invalid for add operator.
date + datetime2: 8117 Operand data type date is invalid for add operator.
datetime2 - int: 206 Operand type clash: datetime2 is incompatible with int
varchar + date: 402 The data types varchar and date are incompatible in the add operator.
varchar + uniqueidentifier: 402 The data types varchar and uniqueidentifier are incompatible in the add operator.
uniqueidentifier + int: 206 Operand type clash: uniqueidentifier is incompatible with int
numeric & int: 402 The data types numeric and int are incompatible in the '&' operator.
varchar | varchar: 402 The data types varchar and varchar are incompatible in the '|' operator.
varbinary ^ varbinary: 402 The data types varbinary and varbinary are incompatible in the '^' operator.
decimal & float: 8117 Operand data type decimal is invalid for '&' operator.
datetime ^ uniqueidentifier: 8117 Operand data type datetime is invalid for '^' operator.
datetime | int: 402 The data types datetime and int are incompatible in the '|' operator.";

#[test]
fn refused_pairs_have_the_messages_of_sql_server() {
    for line in REFUSED.lines() {
        let (pair, expected) = line.split_once(": ").unwrap();
        let [left, sign, right] = pair.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let operator = ALL["+-*/%&|^".find(sign).unwrap()];
        let [left, right] = [left, right].map(|name| declared_type(name).unwrap());
        assert_eq!(refused(operator, left, right), expected);
    }
}

#[test]
fn unary_operators_keep_the_type_except_minus_of_tinyint() {
    let minus = |operand: DataType| {
        UnaryOperator::Minus
            .result_type(&operand)
            .map_err(|error| error.to_string())
    };
    assert_eq!(minus(DataType::TinyInt), Ok(DataType::SmallInt));
    assert_eq!(minus(DataType::Int), Ok(DataType::Int));
    assert_eq!(minus(num(2, 1)), Ok(num(2, 1)));
    assert_eq!(
        minus(DataType::Bit),
        Err("Operand data type bit is invalid for minus operator.".to_owned())
    );
    let not = |operand: DataType| {
        UnaryOperator::BitNot
            .result_type(&operand)
            .map_err(|error| error.to_string())
    };
    assert_eq!(not(DataType::TinyInt), Ok(DataType::TinyInt));
    assert_eq!(not(DataType::Bit), Ok(DataType::Bit));
    assert_eq!(
        not(DataType::Float),
        Err("Operand data type float is invalid for '~' operator.".to_owned())
    );
    for data_type in all_types() {
        assert_eq!(UnaryOperator::Plus.result_type(&data_type), Ok(data_type));
    }
}

#[test]
fn every_pair_has_a_signature_of_valid_types_or_an_error() {
    for operator in ALL {
        for left in all_types() {
            for right in all_types() {
                let Ok(signature) = operator.signature(&left, &right) else {
                    continue;
                };
                for side in [signature.left, signature.right, signature.result] {
                    if let Some((precision, scale)) = side.decimal_digits() {
                        assert!(
                            (1..=38).contains(&precision) && scale <= precision,
                            "{left} {right} {side}"
                        );
                    }
                }
                assert!(
                    left.becomes(&signature.left) && right.becomes(&signature.right),
                    "{left} {operator:?} {right}"
                );
            }
        }
    }
}
