//! Functions of any value: type tests, hashes, checksums; and new identifiers.

use selenite_types::{DataType, Width};

use super::{Function, Rule, Typing};

mod checksum;
mod hash;
mod kind;

use Rule::{Any, National, TextOrBinaryOnly};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("binary_checksum", &[Any], INT, checksum::binary_checksum)
        .repeated(1024)
        .never_null(),
    Function::new("checksum", &[Any], INT, checksum::checksum)
        .repeated(1024)
        .never_null(),
    Function::refused("compress"),
    Function::refused("crypt_gen_random"),
    Function::refused("decompress"),
    Function::refused("decryptbycert"),
    Function::refused("decryptbykey"),
    Function::refused("decryptbypassphrase"),
    Function::refused("encryptbycert"),
    Function::refused("encryptbykey"),
    Function::refused("encryptbypassphrase"),
    Function::new(
        "hashbytes",
        &[National, TextOrBinaryOnly],
        Typing::Is(BYTES),
        hash::hash_bytes,
    )
    .making_nulls(),
    Function::new("isnumeric", &[Any], INT, kind::is_numeric).never_null(),
    Function::new("newid", &[], Typing::Is(DataType::UniqueIdentifier), kind::new_id)
        .never_null()
        .of_row(),
    Function::refused("newsequentialid"),
    Function::refused("parse"),
    Function::refused("pwdcompare"),
    Function::refused("pwdencrypt"),
    Function::refused("sql_variant_property"),
    Function::refused("try_parse"),
];

const INT: Typing = Typing::Is(DataType::Int);
const BYTES: DataType = DataType::VarBinary(Width::Limited(8000));

#[cfg(test)]
mod tests;
