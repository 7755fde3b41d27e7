//! The part of SQL Server's encrypted values that is encrypted, as Microsoft described it ("SQL Server EncryptByKey
//! cryptographic message description", 2009): a magic number, two lengths, the integrity bytes, the cleartext.
//!
//! - integrity-is-optional: CBC authenticates nothing. The magic number and the padding detect another key, with a
//!   probability; the integrity bytes, where the caller has them made, another cleartext or authenticator.

use aes::{Aes128, Aes192, Aes256};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use cbc::{Decryptor, Encryptor};
use des::{TdesEde2, TdesEde3};
use sha1::{Digest, Sha1};

/// The cipher of a message, by the size of its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Algorithm {
    /// Triple DES with two keys: 16 bytes.
    TripleDes,
    /// AES with 16, 24 or 32 bytes.
    Aes,
}

impl Algorithm {
    /// The size of a block, and of the initialization vector.
    pub(super) fn block_size(self) -> usize {
        match self {
            Self::TripleDes => 8,
            Self::Aes => 16,
        }
    }
}

/// Encrypts a cleartext of at most 65535 bytes. `None` if the key or the vector has another size than the algorithm's.
pub(super) fn seal(
    algorithm: Algorithm,
    key: &[u8],
    iv: &[u8],
    clear: &[u8],
    authenticator: Option<&[u8]>,
) -> Option<Vec<u8>> {
    let integrity = authenticator.map(|authenticator| integrity(clear, authenticator));
    let integrity = integrity.as_ref().map_or(&[][..], |bytes| &bytes[..]);
    let mut message = MAGIC.to_vec();
    message.extend(u16::try_from(integrity.len()).ok()?.to_le_bytes());
    message.extend(u16::try_from(clear.len()).ok()?.to_le_bytes());
    message.extend(integrity);
    message.extend(clear);
    match (algorithm, key.len()) {
        (Algorithm::TripleDes, 16) => encrypt::<TdesEde2>(key, iv, &message),
        (Algorithm::TripleDes, _) => encrypt::<TdesEde3>(key, iv, &message),
        (Algorithm::Aes, 16) => encrypt::<Aes128>(key, iv, &message),
        (Algorithm::Aes, 24) => encrypt::<Aes192>(key, iv, &message),
        (Algorithm::Aes, _) => encrypt::<Aes256>(key, iv, &message),
    }
}

/// Decrypts a message. `None` if the key is another one, or the message was altered as far as that is seen, or has another
/// authenticator, or has one and none is given.
pub(super) fn open(
    algorithm: Algorithm,
    key: &[u8],
    iv: &[u8],
    sealed: &[u8],
    authenticator: Option<&[u8]>,
) -> Option<Vec<u8>> {
    let message = match (algorithm, key.len()) {
        (Algorithm::TripleDes, 16) => decrypt::<TdesEde2>(key, iv, sealed),
        (Algorithm::TripleDes, _) => decrypt::<TdesEde3>(key, iv, sealed),
        (Algorithm::Aes, 16) => decrypt::<Aes128>(key, iv, sealed),
        (Algorithm::Aes, 24) => decrypt::<Aes192>(key, iv, sealed),
        (Algorithm::Aes, _) => decrypt::<Aes256>(key, iv, sealed),
    }?;
    let rest = message.strip_prefix(&MAGIC)?;
    let (integrity_size, rest) = rest.split_first_chunk()?;
    let (clear_size, rest) = rest.split_first_chunk()?;
    let (found, clear) = rest.split_at_checked(u16::from_le_bytes(*integrity_size).into())?;
    let expected = authenticator.map(|authenticator| integrity(clear, authenticator));
    let is_whole = clear.len() == usize::from(u16::from_le_bytes(*clear_size));
    let is_right = found == expected.as_ref().map_or(&[][..], |bytes| &bytes[..]);
    (is_whole && is_right).then(|| clear.to_vec())
}

/// The integrity bytes: found in messages of SQL Server's (testdata/tsql/encrypted_values.txt).
fn integrity(clear: &[u8], authenticator: &[u8]) -> [u8; 20] {
    Sha1::new()
        .chain_update(clear)
        .chain_update(authenticator)
        .finalize()
        .into()
}

fn encrypt<C: BlockCipherEncrypt + KeyInit>(key: &[u8], iv: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let cipher = Encryptor::<C>::new_from_slices(key, iv).ok()?;
    Some(cipher.encrypt_padded_vec::<Pkcs7>(message))
}

fn decrypt<C: BlockCipherDecrypt + KeyInit>(key: &[u8], iv: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let cipher = Decryptor::<C>::new_from_slices(key, iv).ok()?;
    cipher.decrypt_padded_vec::<Pkcs7>(sealed).ok()
}

/// 0xBAADF00D, little-endian.
const MAGIC: [u8; 4] = [0x0D, 0xF0, 0xAD, 0xBA];
