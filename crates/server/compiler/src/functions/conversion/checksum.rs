//! CHECKSUM and BINARY_CHECKSUM.
//!
//! - `equal-lists-equal-checksums`: equal lists of values have equal checksums; in CHECKSUM text is
//!   compared by its collation.
//! - `whole-number-is-its-checksum`: an integer's checksum is the integer itself, as in SQL Server;
//!   those of other types are specific to this server.

use selenite_types::{Collation, Value};

use crate::SqlError;
use crate::functions::Arguments;

pub(super) fn checksum(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let order = call.collation.named;
    Ok(Value::Int(all(call.values, |text| hash(&order.key(text.as_bytes())))))
}

/// BINARY_CHECKSUM: text is compared by code points.
pub(super) fn binary_checksum(call: &Arguments<'_>) -> Result<Value, SqlError> {
    let order = Collation::BIN2;
    Ok(Value::Int(all(call.values, |text| hash(&order.key(text.as_bytes())))))
}

fn all(values: &[Value], of_text: impl Fn(&str) -> u32) -> i32 {
    let sum = values
        .iter()
        .fold(0_u32, |sum, value| sum.rotate_left(4) ^ of(value, &of_text));
    i32::from_ne_bytes(sum.to_ne_bytes())
}

fn of(value: &Value, of_text: impl Fn(&str) -> u32) -> u32 {
    match value {
        Value::Null => NULL,
        Value::Bit(bit) => u32::from(*bit),
        Value::TinyInt(number) => u32::from(*number),
        Value::SmallInt(number) => u32::from_ne_bytes(i32::from(*number).to_ne_bytes()),
        Value::Int(number) => u32::from_ne_bytes(number.to_ne_bytes()),
        Value::BigInt(number) | Value::Money(number) => match i32::try_from(*number) {
            Ok(number) => u32::from_ne_bytes(number.to_ne_bytes()),
            Err(_) => hash(&number.to_be_bytes()),
        },
        // Decimals that differ only in trailing zeros are equal.
        Value::Decimal(number) => {
            let (mut unscaled, mut scale) = (number.unscaled, number.scale);
            while scale > 0 && unscaled % 10 == 0 {
                unscaled /= 10;
                scale -= 1;
            }
            hash(&unscaled.to_be_bytes()) ^ u32::from(scale)
        }
        Value::Real(number) => hash(&(f64::from(*number) + 0.0).to_bits().to_be_bytes()),
        Value::Float(number) => hash(&(number + 0.0).to_bits().to_be_bytes()),
        Value::Text(text) => of_text(text),
        Value::Binary(bytes) => hash(bytes),
        Value::Date(date) => date.0,
        Value::Time(time) => hash(&time.0.to_be_bytes()),
        Value::DateTime(moment) => hash(&moment.time.0.to_be_bytes()) ^ moment.date.0,
        Value::DateTimeOffset(moment) => hash(&moment.utc.time.0.to_be_bytes()) ^ moment.utc.date.0,
        Value::Guid(guid) => hash(&guid.0),
        Value::SqlVariant(variant) => hash(&variant.key()),
    }
}

/// FNV-1a of 32 bits.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

/// The value of CHECKSUM(NULL).
const NULL: u32 = 0x7fff_ffff;
