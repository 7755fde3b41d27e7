use proptest::prelude::*;
use selenite_types::{Decimal, Width};

use super::*;
use crate::MessagePart;
use crate::sample::value;

fn written(data_type: DataType, value: Value) -> Vec<u8> {
    let Some(Value::SqlVariant(variant)) = SqlVariant::of(data_type, value) else {
        panic!("{data_type}")
    };
    assert!(cell(&variant).unwrap().fits(variant.value()));
    let mut out = Vec::new();
    append(&variant, &mut out).unwrap();
    out
}

fn from_hex(digits: &str) -> Vec<u8> {
    let digits = digits.replace(' ', "");
    let pairs = digits.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    pairs.map(byte).collect()
}

fn parsed(bytes: &[u8]) -> Result<Value, ValueError> {
    parse(&mut ByteReader::new(bytes, MessagePart::Rpc))
}

#[test]
fn each_kind_of_type_has_its_properties_before_the_value() {
    let numeric = DataType::Numeric { precision: 5, scale: 2 };
    let decimal = Value::Decimal(Decimal {
        unscaled: -123,
        scale: 2,
    });
    let text = DataType::NVarChar(Width::Limited(20));
    for (data_type, value, bytes) in [
        (DataType::Int, Value::Int(5), "06000000 3800 05000000"),
        (numeric, decimal, "09000000 6C02 0502 00 7B000000"),
        (text, Value::Text("ab".into()), "0D000000 E707 0904D00034 2800 61006200"),
        (
            DataType::VarBinary(Width::Limited(4)),
            Value::Binary([1, 2].as_slice().into()),
            "06000000 A502 0400 0102",
        ),
    ] {
        let bytes = from_hex(bytes);
        assert_eq!(written(data_type, value.clone()), bytes, "{data_type}");
        assert_eq!(parsed(&bytes).unwrap(), SqlVariant::of(data_type, value).unwrap());
    }
    assert_eq!(parsed(&[0; 4]).unwrap(), Value::Null);
}

#[test]
fn a_value_that_is_cut_off_or_of_no_base_type_is_refused() {
    let whole = written(DataType::NVarChar(Width::Limited(20)), Value::Text("ab".into()));
    for size in 0..whole.len() {
        parsed(&whole[..size]).unwrap_err();
        // The length is right, and the properties or the value are not there.
        if let Some(rest @ 1..) = size.checked_sub(4).and_then(|rest| u32::try_from(rest).ok()) {
            let mut cut = whole[..size].to_vec();
            cut[..4].copy_from_slice(&rest.to_le_bytes());
            assert!(rest >= 9 && rest % 2 == 1 || parsed(&cut).is_err(), "{rest}");
        }
    }
    for bytes in [
        // NaN, a date beyond the calendar, varchar(max), char(5) of one character, 25 bits, a sql_variant, text.
        "0A000000 3E00 000000000000F87F",
        "05000000 2800 FFFFFF",
        "0A000000 A707 0904D00034 FFFF 61",
        "0A000000 AF07 0904D00034 0500 61",
        "06000000 3200 00000000",
        "06000000 6200 05000000",
        "06000000 2300 05000000",
        "06000000 1F00 05000000",
        "06000000 3804 05000000",
    ] {
        let bytes = from_hex(bytes);
        let error = parsed(&bytes).unwrap_err();
        assert!(matches!(error, ValueError::Value(_)), "{bytes:02X?}: {error:?}");
    }
    let mut long = vec![0xA5, 2, 0x40, 0x1F];
    long.resize(8010, 0);
    let long = [&8010_u32.to_le_bytes(), long.as_slice()].concat();
    assert!(matches!(parsed(&long), Err(ValueError::Value(LENGTH))));
}

proptest! {
    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40), base in any::<u8>()) {
        let size = u32::try_from(bytes.len() + 1).unwrap();
        let whole = [&size.to_le_bytes(), [base].as_slice(), &bytes].concat();
        if let Ok(Value::SqlVariant(variant)) = parsed(&whole) {
            let mut again = Vec::new();
            append(&variant, &mut again).unwrap();
            prop_assert_eq!(parsed(&again).unwrap(), Value::SqlVariant(variant));
        }
    }

    #[test]
    fn a_value_is_parsed_as_it_was_written(value in value(DataType::SqlVariant)) {
        let Value::SqlVariant(variant) = &value else { panic!("{value:?}") };
        let mut out = Vec::new();
        append(variant, &mut out).unwrap();
        prop_assert_eq!(parsed(&out).unwrap(), value);
    }
}
