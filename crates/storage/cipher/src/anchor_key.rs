//! The key of anchors: it authenticates that the writer of an anchor had the master key (FORMAT 10).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;

use crate::pseudorandom_key::PseudorandomKey;

/// The key of a database's anchors under one master key, and its identifier.
pub struct AnchorKey {
    mac_key: hmac::Key,
    id: [u8; 16],
}

impl AnchorKey {
    /// Expands the key of FORMAT 10.2.
    pub(crate) fn new(extracted: &PseudorandomKey) -> Self {
        let mac_key = extracted.expand::<32>(&[b"selenite/1 anchor mac"]);
        let id = extracted.expand::<16>(&[b"selenite/1 anchor key id"]);
        Self {
            mac_key: hmac::Key::new(hmac::HMAC_SHA256, mac_key.expose()),
            id: *id.expose(),
        }
    }

    /// The identifier of the key; it reveals nothing about the key.
    pub fn id(&self) -> [u8; 16] {
        self.id
    }

    /// The MAC of an anchor's bytes.
    pub fn mac(&self, bytes: &[u8]) -> [u8; 32] {
        let mut mac = [0; 32];
        hmac::sign_to_buffer(&self.mac_key, bytes, &mut mac)
            .expect("HMAC-SHA-256 writes 32 bytes, which the buffer has");
        mac
    }

    /// Whether `mac` is the MAC of `bytes`, compared in constant time.
    pub fn mac_is_valid(&self, bytes: &[u8], mac: &[u8; 32]) -> bool {
        verify_slices_are_equal(&self.mac(bytes), mac).is_ok()
    }
}
