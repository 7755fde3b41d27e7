//! AES in CBC mode over the whole blocks of a buffer, and key derivation by PBKDF2.

use std::fmt;

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, consts::U16};
use cbc::cipher::{BlockModeDecrypt, BlockModeEncrypt, InnerIvInit};
use pbkdf2::pbkdf2_hmac;
use selenite_cipher::Secret;

/// A hash function in a key derivation or a MAC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the functions' own names")]
pub enum Hash {
    Sha1,
    Sha256,
    Sha512,
}

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sha1 => "SHA1",
            Self::Sha256 => "SHA256",
            Self::Sha512 => "SHA512",
        })
    }
}

/// Decrypts a buffer. A last block that is not whole is one of ciphertext stealing (NIST SP 800-38A,
/// addendum, CBC-CS3); bytes after at most one whole block stay as they are.
pub fn decrypt_cbc<C: BlockCipherDecrypt<BlockSize = U16>>(cipher: &C, iv: [u8; 16], data: &mut [u8]) {
    let (chained, stolen) = split_stolen(data);
    let previous = chained.last_chunk().copied().unwrap_or(iv);
    let (blocks, _) = Array::slice_as_chunks_mut(chained);
    cbc::Decryptor::inner_iv_init(cipher, &Array(iv)).decrypt_blocks(blocks);
    if stolen.len() <= BLOCK {
        return;
    }
    let (last, partial) = stolen.split_at_mut(BLOCK);
    let mut opened = Array([0; BLOCK]);
    opened.copy_from_slice(last);
    cipher.decrypt_block(&mut opened);
    // What is missing of the block before was the padding of the last one.
    let mut before = opened;
    before[..partial.len()].copy_from_slice(partial);
    for (byte, mask) in partial.iter_mut().zip(opened) {
        *byte ^= mask;
    }
    cipher.decrypt_block(&mut before);
    for ((out, byte), mask) in last.iter_mut().zip(before).zip(previous) {
        *out = byte ^ mask;
    }
}

/// Encrypts a buffer, with ciphertext stealing as in [`decrypt_cbc`].
pub fn encrypt_cbc<C: BlockCipherEncrypt<BlockSize = U16>>(cipher: &C, iv: [u8; 16], data: &mut [u8]) {
    let (chained, stolen) = split_stolen(data);
    let (blocks, _) = Array::slice_as_chunks_mut(chained);
    let mut encryptor = cbc::Encryptor::inner_iv_init(cipher, &Array(iv));
    encryptor.encrypt_blocks(blocks);
    if stolen.len() <= BLOCK {
        return;
    }
    let (last, partial) = stolen.split_at_mut(BLOCK);
    let mut pair = [Array([0; BLOCK]), Array([0; BLOCK])];
    pair[0].copy_from_slice(last);
    pair[1][..partial.len()].copy_from_slice(partial);
    encryptor.encrypt_blocks(&mut pair);
    partial.copy_from_slice(&pair[0][..partial.len()]);
    last.copy_from_slice(&pair[1]);
}

/// Splits off the last whole block and the one behind it that is not whole; nothing if all blocks
/// are whole.
fn split_stolen(data: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    let whole = data.len() / BLOCK;
    let at = if data.len().is_multiple_of(BLOCK) {
        whole
    } else {
        whole.saturating_sub(1)
    };
    data.split_at_mut(at * BLOCK)
}

const BLOCK: usize = 16;

/// Derives a key from a passphrase by PBKDF2 (RFC 8018).
pub fn derive<const N: usize>(hash: Hash, passphrase: &[u8], salt: &[u8], iterations: u32) -> Secret<N> {
    Secret::fill(|out| match hash {
        Hash::Sha1 => pbkdf2_hmac::<sha1::Sha1>(passphrase, salt, iterations, out),
        Hash::Sha256 => pbkdf2_hmac::<sha2::Sha256>(passphrase, salt, iterations, out),
        Hash::Sha512 => pbkdf2_hmac::<sha2::Sha512>(passphrase, salt, iterations, out),
    })
}
