//! The key of one backup archive: what seals its parts and authenticates its manifest (FORMAT 12).
//!
//! I1. A part is sealed under a key of its own, made of 128 random bits too: to seal a part of the same number anew is safe.
//! I2. The nonce of a piece is its number and whether it is the last: pieces can't be put in another order, dropped, or cut
//!     off at the end (Hoang, Reyhanitabar, Rogaway, Vizar: Online Authenticated-Encryption and its Nonce-Reuse
//!     Misuse-Resistance, 2015, section 7).

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use zeroize::Zeroize;

use crate::pseudorandom_key::PseudorandomKey;
use crate::{Secret, Unauthentic};

/// Tells archives apart: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArchiveId(pub [u8; 16]);

/// The key of one archive.
pub struct ArchiveKey {
    secret: Secret<32>,
    archive_id: ArchiveId,
    extracted: PseudorandomKey,
    mac_key: hmac::Key,
}

impl ArchiveKey {
    /// Derives the keys of FORMAT 12.2.
    pub fn new(secret: Secret<32>, archive_id: ArchiveId) -> Self {
        let extracted = PseudorandomKey::extract(&archive_id.0, secret.expose());
        let mac_key = extracted.expand::<32>(&[b"selenite/1 archive mac"]);
        Self {
            mac_key: hmac::Key::new(hmac::HMAC_SHA256, mac_key.expose()),
            secret,
            archive_id,
            extracted,
        }
    }

    /// The key itself, to be wrapped.
    pub fn secret(&self) -> &Secret<32> {
        &self.secret
    }

    /// Which archive it is of.
    pub fn archive_id(&self) -> ArchiveId {
        self.archive_id
    }

    /// The MAC of a manifest's bytes.
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

    /// The key of what is sealed as `kind` number `number`, with these random bits.
    pub fn part_key(&self, kind: PartKind, number: u32, salt: &[u8; 16]) -> PartKey {
        let key =
            self.extracted
                .expand::<32>(&[b"selenite/1 archive part", &[kind as u8], &number.to_be_bytes(), salt]);
        let key = UnboundKey::new(&AES_256_GCM, key.expose()).expect("an AES-256 key has 32 bytes");
        PartKey(LessSafeKey::new(key))
    }
}

/// What of an archive is sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartKind {
    /// Pages.
    Part = 1,
    /// Which pages are where.
    Index = 2,
    /// What a manifest says.
    Facts = 3,
    /// Pages that were written to the database's log afterwards.
    Log = 4,
}

/// The key of one part.
pub struct PartKey(LessSafeKey);

impl PartKey {
    /// Seals a piece where it is, and answers its tag.
    ///
    /// # Panics
    /// For a piece of 64 GiB or more, the limit of GCM.
    pub fn seal_piece(&self, number: u32, is_last: bool, piece: &mut [u8]) -> [u8; PIECE_TAG_SIZE] {
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce(number, is_last), Aad::empty(), piece)
            .expect("a piece is far below the limit of GCM");
        let mut bytes = [0; PIECE_TAG_SIZE];
        bytes.copy_from_slice(tag.as_ref());
        bytes
    }

    /// Opens a piece where it is, its tag behind it; answers what was sealed. What does not open is wiped.
    ///
    /// # Errors
    /// It is of another place, part or archive, or was altered.
    pub fn open_piece<'a>(&self, number: u32, is_last: bool, piece: &'a mut [u8]) -> Result<&'a [u8], Unauthentic> {
        let size = piece.len().checked_sub(PIECE_TAG_SIZE).ok_or(Unauthentic)?;
        if self
            .0
            .open_in_place(nonce(number, is_last), Aad::empty(), piece)
            .is_err()
        {
            piece.zeroize();
            return Err(Unauthentic);
        }
        Ok(&piece[..size])
    }
}

fn nonce(number: u32, is_last: bool) -> Nonce {
    let mut bytes = [0; 12];
    bytes[7..11].copy_from_slice(&number.to_be_bytes());
    bytes[11] = u8::from(is_last);
    Nonce::assume_unique_for_key(bytes)
}

/// Bytes that a sealed piece is longer.
pub const PIECE_TAG_SIZE: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> ArchiveKey {
        ArchiveKey::new(Secret::new([byte; 32]), ArchiveId([9; 16]))
    }

    fn sealed(key: &PartKey, number: u32, is_last: bool) -> Vec<u8> {
        let mut piece = b"pages".to_vec();
        let tag = key.seal_piece(number, is_last, &mut piece);
        piece.extend(tag);
        piece
    }

    #[test]
    fn a_piece_opens_in_its_place_alone() {
        let part = key(1).part_key(PartKind::Part, 3, &[4; 16]);
        let piece = sealed(&part, 7, false);
        assert_eq!(part.open_piece(7, false, &mut piece.clone()).unwrap(), b"pages");
        for (number, is_last) in [(7, true), (6, false), (8, false)] {
            assert!(part.open_piece(number, is_last, &mut piece.clone()).is_err());
        }
        let others = [
            key(2).part_key(PartKind::Part, 3, &[4; 16]),
            key(1).part_key(PartKind::Index, 3, &[4; 16]),
            key(1).part_key(PartKind::Part, 4, &[4; 16]),
            key(1).part_key(PartKind::Part, 3, &[5; 16]),
            ArchiveKey::new(Secret::new([1; 32]), ArchiveId([8; 16])).part_key(PartKind::Part, 3, &[4; 16]),
        ];
        for other in &others {
            assert!(other.open_piece(7, false, &mut piece.clone()).is_err());
        }
    }

    #[test]
    fn what_was_altered_is_wiped() {
        let part = key(1).part_key(PartKind::Part, 0, &[0; 16]);
        let piece = sealed(&part, 0, true);
        for at in 0..piece.len() {
            let mut altered = piece.clone();
            altered[at] ^= 1;
            assert!(part.open_piece(0, true, &mut altered).is_err());
            assert!(altered.iter().all(|&byte| byte == 0));
        }
        assert!(part.open_piece(0, true, &mut [0; 15]).is_err());
    }

    #[test]
    fn a_manifest_is_of_its_key() {
        let mac = key(1).mac(b"manifest");
        assert!(key(1).mac_is_valid(b"manifest", &mac));
        assert!(!key(1).mac_is_valid(b"manifesT", &mac) && !key(2).mac_is_valid(b"manifest", &mac));
    }
}
