//! Functions that encrypt values, and random bytes.

use selenite_types::{DataType, Width};

use super::{Function, Rule, Typing};

mod message;
mod passphrase;
mod random;

use Rule::{BinaryOnly, Int, TextOrBinaryOnly};

pub(super) static FUNCTIONS: &[Function] = &[
    Function::new("crypt_gen_random", &[Int, BinaryOnly], BYTES, random::crypt_gen_random)
        .optional(1)
        .making_nulls()
        .of_row(),
    Function::refused("decryptbyasymkey"),
    Function::refused("decryptbycert"),
    Function::refused("decryptbykey"),
    Function::refused("decryptbykeyautoasymkey"),
    Function::refused("decryptbykeyautocert"),
    Function::new("decryptbypassphrase", OPENING, BYTES, passphrase::decrypt)
        .optional(2)
        .taking_nulls(),
    Function::refused("encryptbyasymkey"),
    Function::refused("encryptbycert"),
    Function::refused("encryptbykey"),
    Function::new("encryptbypassphrase", SEALING, BYTES, passphrase::encrypt)
        .optional(2)
        .taking_nulls()
        .of_row(),
    Function::refused("pwdcompare"),
    Function::refused("pwdencrypt"),
    Function::refused("signbyasymkey"),
    Function::refused("signbycert"),
    Function::refused("verifysignedbyasymkey"),
    Function::refused("verifysignedbycert"),
];

/// Passphrase, cleartext, whether an authenticator is added, its data.
const SEALING: &[Rule] = &[TextOrBinaryOnly, TextOrBinaryOnly, Int, TextOrBinaryOnly];
/// The same with the message.
const OPENING: &[Rule] = &[TextOrBinaryOnly, BinaryOnly, Int, TextOrBinaryOnly];
const BYTES: Typing = Typing::Is(DataType::VarBinary(Width::Limited(8000)));

#[cfg(test)]
mod tests;
