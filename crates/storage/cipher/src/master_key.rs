//! The master key: key slots contain it, and all other keys depend on it (FORMAT 4.1 to 4.3).

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::hmac;

use crate::pseudorandom_key::PseudorandomKey;
use crate::wrapping_key::WrappingKey;
use crate::{AnchorKey, ArchiveId, ArchiveKey, DatabaseId, Epoch, Secret, SlotId, Suite, Unauthentic};

/// The master key of one database, and the keys derived from it.
pub struct MasterKey {
    secret: Secret<32>,
    database_id: DatabaseId,
    mac_key: hmac::Key,
    wrapping_key: WrappingKey,
    commitment: [u8; 32],
}

impl MasterKey {
    /// Derives the keys of FORMAT 4.2.
    pub fn new(secret: Secret<32>, database_id: DatabaseId) -> Self {
        let extracted = PseudorandomKey::extract(&database_id.0, secret.expose());
        let mac_key = extracted.expand::<32>(&[b"selenite/1 superblock mac"]);
        let wrapping_key = extracted.expand::<32>(&[b"selenite/1 key wrap"]);
        let commitment = extracted.expand::<32>(&[b"selenite/1 commitment"]);
        Self {
            secret,
            database_id,
            mac_key: hmac::Key::new(hmac::HMAC_SHA256, mac_key.expose()),
            wrapping_key: WrappingKey::new(&wrapping_key),
            commitment: *commitment.expose(),
        }
    }

    /// The master key itself, for a new slot.
    pub fn secret(&self) -> &Secret<32> {
        &self.secret
    }

    /// The database of the key.
    pub fn database_id(&self) -> DatabaseId {
        self.database_id
    }

    /// The MAC of a superblock's bytes.
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

    /// The value by which a keyring file recognises this database; it reveals nothing about the key.
    pub fn commitment(&self) -> [u8; 32] {
        self.commitment
    }

    /// The key of this database's anchors. It is derived on demand, since few users have an anchor.
    pub fn anchor_key(&self) -> AnchorKey {
        AnchorKey::new(&PseudorandomKey::extract(&self.database_id.0, self.secret.expose()))
    }

    /// Wraps the data key of an epoch. `nonce` is random, and never used again.
    pub fn wrap_data_key(&self, nonce: [u8; 12], epoch: Epoch, suite: Suite, data_key: &Secret<32>) -> [u8; 60] {
        self.wrap(nonce, &self.data_key_place(epoch, suite), data_key)
    }

    /// Unwraps the data key of an epoch.
    ///
    /// # Errors
    /// It was wrapped by another master key, for another database, epoch or suite, or was altered.
    pub fn unwrap_data_key(&self, epoch: Epoch, suite: Suite, wrapped: &[u8; 60]) -> Result<Secret<32>, Unauthentic> {
        self.unwrap(&self.data_key_place(epoch, suite), wrapped)
    }

    /// Wraps the log key. `nonce` is random, and never used again.
    pub fn wrap_log_key(&self, nonce: [u8; 12], log_key: &Secret<32>) -> [u8; 60] {
        self.wrap(nonce, &self.log_key_place(), log_key)
    }

    /// Unwraps the log key.
    ///
    /// # Errors
    /// It was wrapped by another master key or for another database, or was altered.
    pub fn unwrap_log_key(&self, wrapped: &[u8; 60]) -> Result<Secret<32>, Unauthentic> {
        self.unwrap(&self.log_key_place(), wrapped)
    }

    /// Wraps the key of a backup archive. `nonce` is random, and never used again.
    pub fn wrap_archive_key(&self, nonce: [u8; 12], key: &ArchiveKey) -> [u8; 60] {
        self.wrap(nonce, &self.archive_key_place(key.archive_id()), key.secret())
    }

    /// Unwraps the key of a backup archive.
    ///
    /// # Errors
    /// It was wrapped by another master key, for another database or archive, or was altered.
    pub fn unwrap_archive_key(&self, archive_id: ArchiveId, wrapped: &[u8; 60]) -> Result<ArchiveKey, Unauthentic> {
        let secret = self.unwrap(&self.archive_key_place(archive_id), wrapped)?;
        Ok(self.archive_key(secret, archive_id))
    }

    /// The keys of an archive, with its origin key (FORMAT 12.2).
    pub fn archive_key(&self, secret: Secret<32>, archive_id: ArchiveId) -> ArchiveKey {
        ArchiveKey::with_origin(secret, archive_id, &self.archive_origin_key(archive_id))
    }

    /// The origin key of an archive (FORMAT 12.2): a `--recipient` of the archive does not have it.
    fn archive_origin_key(&self, archive_id: ArchiveId) -> Secret<32> {
        let extracted = PseudorandomKey::extract(&self.database_id.0, self.secret.expose());
        extracted.expand::<32>(&[b"selenite/1 archive origin", &archive_id.0])
    }

    /// Wraps the origin token of a slot: its origin mark. `nonce` is random, and never used again.
    pub fn wrap_origin_token(&self, nonce: [u8; 12], slot_id: SlotId, token: &Secret<32>) -> [u8; 60] {
        self.wrap(nonce, &self.origin_mark_place(slot_id), token)
    }

    /// Unwraps the origin mark of a slot.
    ///
    /// # Errors
    /// It was wrapped by another master key, for another database or slot, or was altered.
    pub fn unwrap_origin_token(&self, slot_id: SlotId, mark: &[u8; 60]) -> Result<Secret<32>, Unauthentic> {
        self.unwrap(&self.origin_mark_place(slot_id), mark)
    }

    fn wrap(&self, nonce: [u8; 12], place: &[u8], key: &Secret<32>) -> [u8; 60] {
        let mut wrapped = [0; 60];
        self.wrapping_key.wrap(nonce, place, key.expose(), &mut wrapped);
        wrapped
    }

    fn unwrap(&self, place: &[u8], wrapped: &[u8; 60]) -> Result<Secret<32>, Unauthentic> {
        let mut outcome = Ok(());
        let key = Secret::fill(|plain| {
            outcome = self.wrapping_key.unwrap(place, wrapped, plain);
        });
        outcome.map(|()| key)
    }

    /// The associated data of a wrapped data key.
    fn data_key_place(&self, epoch: Epoch, suite: Suite) -> Vec<u8> {
        [
            b"selenite/1 data key".as_slice(),
            &self.database_id.0,
            &epoch.0.to_be_bytes(),
            &suite.id().to_be_bytes(),
        ]
        .concat()
    }

    /// The associated data of a wrapped archive key.
    fn archive_key_place(&self, archive_id: ArchiveId) -> Vec<u8> {
        [b"selenite/1 archive key".as_slice(), &self.database_id.0, &archive_id.0].concat()
    }

    /// The associated data of an origin mark.
    fn origin_mark_place(&self, slot_id: SlotId) -> Vec<u8> {
        [b"selenite/1 origin mark".as_slice(), &self.database_id.0, &slot_id.0].concat()
    }

    /// The associated data of the wrapped log key.
    fn log_key_place(&self) -> Vec<u8> {
        [b"selenite/1 log key".as_slice(), &self.database_id.0].concat()
    }
}
