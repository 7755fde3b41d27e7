//! LEFT_SHIFT, RIGHT_SHIFT and BIT_COUNT: integers and bytes as bit strings.
//!
//! A shift is logical: bits shifted out are lost, and zeros are shifted in, whatever the sign was.

use std::sync::Arc;

use selenite_types::{DataType, Value};

use crate::functions::Arguments;
use crate::{Expr, SqlError};

/// The type of the first argument.
pub(super) fn same(arguments: &[Expr]) -> DataType {
    arguments.first().map_or(DataType::Int, |first| first.data_type)
}

/// `<<`.
pub(super) fn left_shift(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let amount = call.bigint(1)?;
    shifted(call, amount)
}

/// `>>`.
pub(super) fn right_shift(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let amount = call.bigint(1)?;
    // The least integer has no negation; it shifts all bits out in either direction.
    shifted(call, amount.checked_neg().unwrap_or(i64::MAX))
}

pub(super) fn bit_count(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let count = bytes_of(call)?
        .iter()
        .map(|byte| u64::from(byte.count_ones()))
        .sum::<u64>();
    Ok(Value::BigInt(i64::try_from(count).unwrap_or(i64::MAX)))
}

/// The first argument shifted left by `amount`; right if `amount` is negative.
fn shifted(call: &Arguments<'_>, amount: i64) -> Result<Value, SqlError> {
    let bytes = bytes_of(call)?;
    let count = i64::try_from(bytes.len()).unwrap_or(i64::MAX).saturating_mul(8);
    if amount.unsigned_abs() >= count.unsigned_abs() {
        return Ok(value_of(call, vec![0; bytes.len()]));
    }
    let distance = usize::try_from(amount.unsigned_abs()).unwrap_or(usize::MAX);
    let (whole, part) = (distance / 8, u32::try_from(distance % 8).unwrap_or(0));
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().map_or(0, u16::from);
    let moved = (0..bytes.len()).map(|at| {
        // Two adjacent bytes as one number, which contains the resulting byte.
        let pair = if amount >= 0 {
            ((byte(at.checked_add(whole)) << 8) | byte(at.checked_add(whole + 1))) << part
        } else {
            ((byte(at.checked_sub(whole + 1)) << 8) | byte(at.checked_sub(whole))) >> part
        };
        let [high, low] = pair.to_be_bytes();
        if amount >= 0 { high } else { low }
    });
    let moved = moved.collect();
    Ok(value_of(call, moved))
}

/// The first argument's bytes, most significant first.
fn bytes_of(call: &Arguments<'_>) -> Result<Vec<u8>, SqlError> {
    if let Value::Binary(bytes) = call.value(0) {
        return Ok(bytes.to_vec());
    }
    let number = call.bigint(0)?.to_be_bytes();
    let size = [DataType::TinyInt, DataType::SmallInt, DataType::Int]
        .into_iter()
        .position(|known| known == call.data_type(0))
        .map_or(8, |at| 1 << at);
    Ok(number.get(number.len() - size..).unwrap_or(&[]).to_vec())
}

/// Bytes as a value of the first argument's type.
fn value_of(call: &Arguments<'_>, bytes: Vec<u8>) -> Value {
    let mut wide = [0; 8];
    for (to, from) in wide.iter_mut().rev().zip(bytes.iter().rev()) {
        *to = *from;
    }
    let [.., a, b, c, d] = wide;
    if call.data_type == DataType::TinyInt {
        Value::TinyInt(d)
    } else if call.data_type == DataType::SmallInt {
        Value::SmallInt(i16::from_be_bytes([c, d]))
    } else if call.data_type == DataType::Int {
        Value::Int(i32::from_be_bytes([a, b, c, d]))
    } else if call.data_type == DataType::BigInt {
        Value::BigInt(i64::from_be_bytes(wide))
    } else {
        Value::Binary(Arc::from(bytes))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{assert_shown, fault, type_of};

    #[test]
    fn a_shift_shifts_zeros_in() {
        assert_shown(&[
            ("LEFT_SHIFT(12345, 5)", "395040"),
            ("RIGHT_SHIFT(12345, 5)", "385"),
            ("12345 << 5", "395040"),
            ("12345 >> 5", "385"),
            ("1 << -1", "0"),
            ("4 << -1", "2"),
            ("4 >> -1", "8"),
            ("1 << 31", "-2147483648"),
            ("1 << 32", "0"),
            ("-1 >> 31", "1"),
            ("-1 >> 0", "-1"),
            ("CAST(1 AS bigint) << 40", "1099511627776"),
            ("CAST(1 AS bigint) << 64", "0"),
            ("CAST(1 AS bigint) >> CAST(-9223372036854775808 AS bigint)", "0"),
            ("CAST(255 AS tinyint) << 4", "240"),
            ("CAST(-1 AS smallint) >> 8", "255"),
            ("1 + 1 << 2", "8"),
            ("CAST(NULL AS int) << 1", "NULL"),
            ("CONVERT(varchar(20), 0x0102 << 4, 1)", "0x1020"),
            ("CONVERT(varchar(20), 0x0102 >> 4, 1)", "0x0010"),
            ("CONVERT(varchar(20), 0x010203 << 12, 1)", "0x203000"),
            ("BIT_COUNT(7)", "3"),
            ("BIT_COUNT(-1)", "32"),
            ("BIT_COUNT(0xF0F0)", "8"),
        ]);
        assert_eq!(type_of("CAST(1 AS tinyint) << 1"), "tinyint");
        assert_eq!(type_of("BIT_COUNT(1)"), "bigint");
    }

    #[test]
    fn only_whole_numbers_and_bytes_are_shifted_and_by_whole_numbers_alone() {
        for text in [
            "LEFT_SHIFT('1', 1)",
            "LEFT_SHIFT(1.5, 1)",
            "1 << '1'",
            "1 << 1.0",
            "BIT_COUNT(1.0)",
            "LEFT_SHIFT(CAST(0x01 AS varbinary(max)), 1)",
        ] {
            assert_eq!(fault(text).0, 8116, "{text}");
        }
    }
}
