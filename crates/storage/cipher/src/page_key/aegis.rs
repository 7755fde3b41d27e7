//! AEGIS, with four lanes.
//!
//! The library's out-of-place functions use a state that it wipes byte by byte, which takes longer
//! than sealing a page. Copying the page and working in place is faster.

use aegis::{aegis128x4, aegis256x4};

use super::copy::copy;
use crate::{PageNonce, Secret, Trailer, Unauthentic};

/// A key of AEGIS-128X4.
pub(super) struct Aegis128X4(Secret<16>);

impl Aegis128X4 {
    pub(super) fn new(key: Secret<16>) -> Self {
        Self(key)
    }

    pub(super) fn seal(&self, aad: &[u8], nonce: &PageNonce, plain: &[u8], out: &mut [u8]) -> [u8; 16] {
        copy(plain, out);
        self.cipher(nonce).encrypt_in_place(out, aad)
    }

    pub(super) fn open_in_place(&self, aad: &[u8], trailer: &Trailer, body: &mut [u8]) -> Result<(), Unauthentic> {
        self.cipher(&trailer.nonce)
            .decrypt_in_place(body, &trailer.tag, aad)
            .map_err(|_| Unauthentic)
    }

    fn cipher(&self, nonce: &PageNonce) -> aegis128x4::Aegis128X4<16> {
        aegis128x4::Aegis128X4::new(self.0.expose(), &padded(nonce))
    }
}

/// A key of AEGIS-256X4.
pub(super) struct Aegis256X4(Secret<32>);

impl Aegis256X4 {
    pub(super) fn new(key: Secret<32>) -> Self {
        Self(key)
    }

    pub(super) fn seal(&self, aad: &[u8], nonce: &PageNonce, plain: &[u8], out: &mut [u8]) -> [u8; 16] {
        copy(plain, out);
        self.cipher(nonce).encrypt_in_place(out, aad)
    }

    pub(super) fn open_in_place(&self, aad: &[u8], trailer: &Trailer, body: &mut [u8]) -> Result<(), Unauthentic> {
        self.cipher(&trailer.nonce)
            .decrypt_in_place(body, &trailer.tag, aad)
            .map_err(|_| Unauthentic)
    }

    fn cipher(&self, nonce: &PageNonce) -> aegis256x4::Aegis256X4<16> {
        aegis256x4::Aegis256X4::new(self.0.expose(), &padded(nonce))
    }
}

/// The nonce, padded with zeros (FORMAT 5.2).
fn padded<const N: usize>(nonce: &PageNonce) -> [u8; N] {
    let mut padded = [0; N];
    padded[..12].copy_from_slice(&nonce.bytes());
    padded
}
