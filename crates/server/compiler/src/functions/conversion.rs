//! Functions of any value: type tests, hashes, checksums, compression, PARSE; and new identifiers.

use selenite_types::{DataType, Width};

use super::{Function, Rule, Typing};

mod checksum;
mod compression;
mod hash;
mod kind;
mod parse;
mod variant;

pub(crate) use kind::{check_sequential_default, sequential_default};
pub(super) use parse::parsed;
pub(crate) use variant::{variant_name, variant_of};

use Rule::{AnyButXml, BinaryOnly, National, Plain, TextOrBinaryOnly, Variant};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("binary_checksum", &[AnyButXml], INT, checksum::binary_checksum)
        .repeated(1024)
        .never_null(),
    Function::new("checksum", &[AnyButXml], INT, checksum::checksum)
        .repeated(1024)
        .never_null(),
    Function::new(
        "compress",
        &[TextOrBinaryOnly],
        Typing::Is(LONG_BYTES),
        compression::compress,
    ),
    Function::new(
        "decompress",
        &[BinaryOnly],
        Typing::Is(LONG_BYTES),
        compression::decompress,
    )
    .making_nulls(),
    Function::new(
        "hashbytes",
        &[National, TextOrBinaryOnly],
        Typing::Is(BYTES),
        hash::hash_bytes,
    )
    .making_nulls(),
    Function::new("isnumeric", &[Plain], INT, kind::is_numeric).never_null(),
    Function::new("newid", &[], Typing::Is(DataType::UniqueIdentifier), kind::new_id)
        .never_null()
        .of_row(),
    Function::new(
        "newsequentialid",
        &[],
        Typing::Is(DataType::UniqueIdentifier),
        kind::new_sequential_id,
    )
    .never_null()
    .of_row(),
    Function::new("parse", parse::RULES, INT, parse::parse).optional(1),
    Function::new(
        "sql_variant_property",
        &[Variant, National],
        Typing::Is(DataType::SqlVariant),
        variant::property,
    )
    .making_nulls(),
    Function::new("try_parse", parse::RULES, INT, parse::try_parse)
        .optional(1)
        .making_nulls(),
];

const INT: Typing = Typing::Is(DataType::Int);
const BYTES: DataType = DataType::VarBinary(Width::Limited(8000));
const LONG_BYTES: DataType = DataType::VarBinary(Width::Max);

#[cfg(test)]
mod tests;
