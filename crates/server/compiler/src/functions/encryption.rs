//! Functions that encrypt and sign values, their keys, and random bytes.

use selenite_types::{DataType, Value, Width};

use super::{Arguments, Function, Rule, SYSNAME, Typing};
use crate::SqlError;

mod argument;
mod key;
mod key_pair;
mod message;
mod metadata;
mod passphrase;
mod random;

use Rule::{BinaryOnly, Guid, GuidOrBinary, Int, National, TextOrBinaryOnly};

pub(super) static FUNCTIONS: &[Function] = &[
    named("asymkey_id", DataType::Int, metadata::asymmetric_key_id),
    Function::refused("asymkeyproperty"),
    named("cert_id", DataType::Int, metadata::certificate_id),
    Function::new("certencoded", &[Int], BYTES, metadata::certificate_bytes)
        .making_nulls()
        .of_definitions(),
    Function::refused("certprivatekey"),
    Function::new(
        "certproperty",
        &[Int, National],
        Typing::Is(DataType::SqlVariant),
        metadata::certificate_property,
    )
    .making_nulls()
    .of_definitions(),
    Function::new("crypt_gen_random", &[Int, BinaryOnly], BYTES, random::crypt_gen_random)
        .optional(1)
        .making_nulls()
        .of_row(),
    decrypting("decryptbyasymkey", BY_PAIR, key_pair::decrypt_by_asymmetric_key).optional(1),
    decrypting("decryptbycert", BY_PAIR, key_pair::decrypt_by_certificate).optional(1),
    decrypting("decryptbykey", BY_OPEN_KEY, key::decrypt).optional(2),
    decrypting(
        "decryptbykeyautoasymkey",
        BY_KEY_OF_PAIR,
        key::decrypt_by_asymmetric_key,
    )
    .optional(2),
    decrypting("decryptbykeyautocert", BY_KEY_OF_PAIR, key::decrypt_by_certificate).optional(2),
    Function::new("decryptbypassphrase", OPENING, BYTES, passphrase::decrypt)
        .optional(2)
        .taking_nulls(),
    encrypting("encryptbyasymkey", DATA_OF_PAIR, key_pair::encrypt_by_asymmetric_key),
    encrypting("encryptbycert", DATA_OF_PAIR, key_pair::encrypt_by_certificate),
    encrypting("encryptbykey", OF_KEY, key::encrypt).optional(2),
    encrypting("encryptbypassphrase", SEALING, passphrase::encrypt).optional(2),
    named("key_guid", DataType::UniqueIdentifier, metadata::key_guid),
    named("key_id", DataType::Int, metadata::key_id),
    Function::new("key_name", &[GuidOrBinary], Typing::Is(SYSNAME), metadata::key_name)
        .making_nulls()
        .of_definitions(),
    Function::refused("pwdcompare"),
    Function::refused("pwdencrypt"),
    encrypting("signbyasymkey", SIGNING, key_pair::sign_by_asymmetric_key).optional(1),
    encrypting("signbycert", SIGNING, key_pair::sign_by_certificate).optional(1),
    Function::refused("symkeyproperty"),
    verifying("verifysignedbyasymkey", key_pair::verify_by_asymmetric_key),
    verifying("verifysignedbycert", key_pair::verify_by_certificate),
];

type Run = fn(&Arguments<'_>) -> Result<Value, SqlError>;

/// A property of the key of a name.
const fn named(name: &'static str, result: DataType, run: Run) -> Function {
    Function::new(name, &[National], Typing::Is(result), run)
        .making_nulls()
        .of_definitions()
}

/// Bytes that differ in each call.
const fn encrypting(name: &'static str, rules: &'static [Rule], run: Run) -> Function {
    Function::new(name, rules, BYTES, run).taking_nulls().of_row()
}

/// What a key decrypts, as long as the session may use it.
const fn decrypting(name: &'static str, rules: &'static [Rule], run: Run) -> Function {
    Function::new(name, rules, BYTES, run).taking_nulls().of_statement()
}

const fn verifying(name: &'static str, run: Run) -> Function {
    Function::new(
        name,
        &[Int, TextOrBinaryOnly, BinaryOnly],
        Typing::Is(DataType::Int),
        run,
    )
    .taking_nulls()
    .of_statement()
}

/// Passphrase, cleartext, whether an authenticator is added, its data.
const SEALING: &[Rule] = &[TextOrBinaryOnly, TextOrBinaryOnly, Int, TextOrBinaryOnly];
/// The same with the message.
const OPENING: &[Rule] = &[TextOrBinaryOnly, BinaryOnly, Int, TextOrBinaryOnly];
/// GUID of the key, cleartext, whether an authenticator is added, its data.
const OF_KEY: &[Rule] = &[Guid, TextOrBinaryOnly, Int, TextOrBinaryOnly];
/// Message, whether an authenticator was added, its data.
const BY_OPEN_KEY: &[Rule] = &[BinaryOnly, Int, TextOrBinaryOnly];
/// Number of the key pair, its password, and the same.
const BY_KEY_OF_PAIR: &[Rule] = &[Int, National, BinaryOnly, Int, TextOrBinaryOnly];
/// Number of the key pair, cleartext.
const DATA_OF_PAIR: &[Rule] = &[Int, TextOrBinaryOnly];
/// Number of the key pair, message, password.
const BY_PAIR: &[Rule] = &[Int, BinaryOnly, National];
/// Number of the key pair, data, password.
const SIGNING: &[Rule] = &[Int, TextOrBinaryOnly, National];
const BYTES: Typing = Typing::Is(DataType::VarBinary(Width::Limited(8000)));

#[cfg(test)]
mod tests;
