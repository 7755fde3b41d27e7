//! The key of one backup archive: it encrypts the parts and authenticates the manifest (FORMAT 12).
//!
//! - key-per-part: each part is sealed under its own key, which is derived with 128 random bits. A
//!   second part with the same number can therefore be sealed safely.
//! - nonce-is-position: the nonce of a piece is its number and whether it is the last. Pieces
//!   cannot be reordered, dropped, or cut off at the end (Hoang, Reyhanitabar, Rogaway, Vizar:
//!   Online Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance, 2015, section 7).
//! - salt-is-a-mac: if the master key is known, the salt of a part is a MAC of its content under a
//!   key derived from the master key. A holder of the archive key alone cannot forge a part of the
//!   database. Equal salts imply equal content, so the random bits of key-per-part are not needed
//!   (as with the synthetic IV of RFC 5297).

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;
use zeroize::Zeroize;

use crate::pseudorandom_key::PseudorandomKey;
use crate::{Secret, Unauthentic};

/// Identifies an archive: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArchiveId(pub [u8; 16]);

/// The key of one archive.
pub struct ArchiveKey {
    secret: Secret<32>,
    archive_id: ArchiveId,
    extracted: PseudorandomKey,
    mac_key: hmac::Key,
    /// `None` without the database's master key (salt-is-a-mac).
    origin_key: Option<hmac::Key>,
}

impl ArchiveKey {
    /// Derives the keys of FORMAT 12.2 from the archive key alone, as a recipient has it.
    pub fn new(secret: Secret<32>, archive_id: ArchiveId) -> Self {
        let extracted = PseudorandomKey::extract(&archive_id.0, secret.expose());
        let mac_key = extracted.expand::<32>(&[b"selenite/1 archive mac"]);
        Self {
            mac_key: hmac::Key::new(hmac::HMAC_SHA256, mac_key.expose()),
            secret,
            archive_id,
            extracted,
            origin_key: None,
        }
    }

    /// The same with the origin key (FORMAT 12.2), which comes from the master key.
    pub(crate) fn with_origin(secret: Secret<32>, archive_id: ArchiveId, origin_key: &Secret<32>) -> Self {
        Self {
            origin_key: Some(hmac::Key::new(hmac::HMAC_SHA256, origin_key.expose())),
            ..Self::new(secret, archive_id)
        }
    }

    /// A copy of the key.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        Self {
            origin_key: self.origin_key.clone(),
            ..Self::new(self.secret.duplicate(), self.archive_id)
        }
    }

    /// The same key without the origin key, for reading an archive of unknown origin.
    #[must_use]
    pub fn without_origin(self) -> Self {
        Self {
            origin_key: None,
            ..self
        }
    }

    /// Whether it has the origin key. With it, the origin is checked on opening and marked on sealing.
    pub fn has_origin(&self) -> bool {
        self.origin_key.is_some()
    }

    /// The origin MAC of the concatenated byte slices (FORMAT 12.2); `None` without the origin key.
    pub fn origin_mac<'a>(&self, bytes: impl IntoIterator<Item = &'a [u8]>) -> Option<[u8; 32]> {
        let mut context = hmac::Context::with_key(self.origin_key.as_ref()?);
        bytes.into_iter().for_each(|bytes| context.update(bytes));
        let mac = context.sign();
        let mac = mac.as_ref().try_into();
        Some(mac.expect("HMAC-SHA-256 has 32 bytes"))
    }

    /// The key itself, to be wrapped.
    pub fn secret(&self) -> &Secret<32> {
        &self.secret
    }

    /// The archive that the key belongs to.
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

    /// The key of part `number` of kind `kind`, derived with `salt`.
    pub fn part_key(&self, kind: PartKind, number: u32, salt: &[u8; 16]) -> PartKey {
        let key =
            self.extracted
                .expand::<32>(&[b"selenite/1 archive part", &[kind as u8], &number.to_be_bytes(), salt]);
        let key = UnboundKey::new(&AES_256_GCM, key.expose()).expect("an AES-256 key has 32 bytes");
        PartKey(LessSafeKey::new(key))
    }
}

/// Compares two MACs in constant time.
#[must_use]
pub fn macs_are_equal(one: &[u8], other: &[u8]) -> bool {
    verify_slices_are_equal(one, other).is_ok()
}

/// The kinds of sealed parts in an archive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartKind {
    /// Pages.
    Part = 1,
    /// The index: the location of each page.
    Index = 2,
    /// The content of a manifest.
    Facts = 3,
    /// Pages written to the database's log after the archive was made.
    Log = 4,
}

/// The key of one part.
pub struct PartKey(LessSafeKey);

impl PartKey {
    /// The key of the sections of a trace (FORMAT 14.2), which is sealed as the parts of an archive are.
    pub fn of_trace(secret: &Secret<32>, id: &[u8; 16], salt: &[u8; 16]) -> Self {
        let key = PseudorandomKey::extract(id, secret.expose()).expand::<32>(&[b"selenite/1 trace", salt]);
        let key = UnboundKey::new(&AES_256_GCM, key.expose()).expect("an AES-256 key has 32 bytes");
        Self(LessSafeKey::new(key))
    }

    /// Seals a piece in place and returns its tag.
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

    /// Opens a piece in place, with its tag at the end, and returns the plaintext. The buffer is
    /// wiped on failure.
    ///
    /// # Errors
    /// The piece belongs to another position, part or archive, or was altered.
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

/// Bytes that sealing adds to a piece.
pub const PIECE_TAG_SIZE: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DatabaseId;
    use crate::MasterKey;

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
    fn a_piece_opens_at_its_position_only() {
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
    fn altered_pieces_are_wiped() {
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
    fn an_origin_mac_depends_on_master_key_database_and_archive() {
        let of = |master: u8, database: u8, archive: u8| {
            let master = MasterKey::new(Secret::new([master; 32]), DatabaseId([database; 16]));
            master.archive_key(Secret::new([1; 32]), ArchiveId([archive; 16]))
        };
        let mac = |key: &ArchiveKey| key.origin_mac([b"con".as_slice(), b"tent"]);
        let own = mac(&of(1, 2, 3));
        assert!(own.is_some() && own == of(1, 2, 3).origin_mac([b"content".as_slice()]));
        assert_eq!(mac(&of(1, 2, 3).duplicate()), own);
        for other in [of(9, 2, 3), of(1, 9, 3), of(1, 2, 9)] {
            assert_ne!(mac(&other), own);
        }
        assert_eq!(mac(&of(1, 2, 3).without_origin()), None);
        assert_eq!(mac(&key(1)), None);
    }

    #[test]
    fn a_manifest_mac_depends_on_the_archive_key() {
        let mac = key(1).mac(b"manifest");
        assert!(key(1).mac_is_valid(b"manifest", &mac));
        assert!(!key(1).mac_is_valid(b"manifesT", &mac) && !key(2).mac_is_valid(b"manifest", &mac));
    }
}
