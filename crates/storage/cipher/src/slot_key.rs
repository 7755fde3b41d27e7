//! The key of a raw or passphrase slot, under which the master key is wrapped (FORMAT 4.5).

#[cfg(not(feature = "fips"))]
use argon2::{Algorithm, Argon2, Block, Params, Version};
use aws_lc_rs::pbkdf2;
#[cfg(not(feature = "fips"))]
use zeroize::Zeroize;

use crate::pseudorandom_key::PseudorandomKey;
use crate::wrapping_key::WrappingKey;
use crate::{CostRefused, DatabaseId, PassphraseCost, Pbkdf2Cost, Secret, SlotId, Unauthentic};

/// The key that encrypts the master key in one slot.
pub struct SlotKey(WrappingKey);

impl SlotKey {
    /// The key of a raw slot.
    pub fn from_raw(raw: &Secret<32>, slot_id: SlotId) -> Self {
        let extracted = PseudorandomKey::extract(&slot_id.0, raw.expose());
        Self(WrappingKey::new(&extracted.expand(&[b"selenite/1 slot raw"])))
    }

    /// The key of a passphrase slot. One line ending after the passphrase is not part of it.
    ///
    /// # Errors
    /// [`CostRefused`] if the cost is outside the limits, which is checked first, if there is not
    /// enough memory, and in the FIPS build.
    #[cfg(feature = "fips")]
    pub fn from_passphrase(_passphrase: &[u8], cost: &PassphraseCost) -> Result<Self, CostRefused> {
        cost.check()?;
        Err(CostRefused::NotApproved)
    }

    /// The key of a passphrase slot. One line ending after the passphrase is not part of it.
    ///
    /// # Errors
    /// [`CostRefused`] if the cost is outside the limits, which is checked first, if there is not
    /// enough memory, and in the FIPS build.
    #[cfg(not(feature = "fips"))]
    pub fn from_passphrase(passphrase: &[u8], cost: &PassphraseCost) -> Result<Self, CostRefused> {
        cost.check()?;
        let mut memory = Memory::new(cost.memory_kib)?;
        let params =
            Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32)).map_err(|_| CostRefused::OutsideLimits)?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut outcome = Ok(());
        let key = Secret::fill(|bytes: &mut [u8; 32]| {
            outcome = argon2.hash_password_into_with_memory(
                without_line_end(passphrase),
                &cost.salt,
                bytes,
                memory.0.as_mut_slice(),
            );
        });
        match outcome {
            Ok(()) => Ok(Self(WrappingKey::new(&key))),
            // The only remaining reason is a passphrase above 4 GiB.
            Err(_) => Err(CostRefused::OutsideLimits),
        }
    }

    /// The key of a passphrase slot that is stretched by PBKDF2. One line ending is not part of the passphrase.
    ///
    /// # Errors
    /// [`CostRefused::OutsideLimits`], which is checked first.
    pub fn from_passphrase_by_pbkdf2(passphrase: &[u8], cost: &Pbkdf2Cost) -> Result<Self, CostRefused> {
        let iterations = cost.check()?;
        let key = Secret::fill(|bytes: &mut [u8; 32]| {
            let passphrase = without_line_end(passphrase);
            pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &cost.salt, passphrase, bytes);
        });
        Ok(Self(WrappingKey::new(&key)))
    }

    /// The identifier of a raw key, by which a slot refers to it.
    pub fn raw_key_id(raw: &Secret<32>) -> [u8; 16] {
        let extracted = PseudorandomKey::extract(&[], raw.expose());
        *extracted.expand(&[b"selenite/1 key id"]).expose()
    }

    /// Wraps the master key. `nonce` is random, and never used again.
    pub fn wrap(
        &self,
        nonce: [u8; 12],
        database_id: DatabaseId,
        slot_id: SlotId,
        kind: u16,
        master: &Secret<32>,
    ) -> [u8; 92] {
        let plain = Secret::fill(|plain: &mut [u8; 64]| {
            plain[..16].copy_from_slice(&database_id.0);
            plain[16..32].copy_from_slice(&slot_id.0);
            plain[32..].copy_from_slice(master.expose());
        });
        let mut wrapped = [0; 92];
        let place = place(database_id, slot_id, kind);
        self.0.wrap(nonce, &place, plain.expose(), &mut wrapped);
        wrapped
    }

    /// Unwraps the master key.
    ///
    /// # Errors
    /// It was wrapped under another key, for another database, slot or kind, or was altered.
    pub fn unwrap(
        &self,
        database_id: DatabaseId,
        slot_id: SlotId,
        kind: u16,
        wrapped: &[u8],
    ) -> Result<Secret<32>, Unauthentic> {
        let place = place(database_id, slot_id, kind);
        let mut outcome = Ok(());
        let plain = Secret::fill(|plain: &mut [u8; 64]| {
            outcome = self.0.unwrap(&place, wrapped, plain);
        });
        outcome?;
        let (names, master) = plain.expose().split_at(32);
        if names[..16] != database_id.0 || names[16..] != slot_id.0 {
            return Err(Unauthentic);
        }
        Ok(Secret::fill(|bytes| bytes.copy_from_slice(master)))
    }
}

/// The associated data of a slot.
fn place(database_id: DatabaseId, slot_id: SlotId, kind: u16) -> Vec<u8> {
    [
        b"selenite/1 slot".as_slice(),
        &database_id.0,
        &slot_id.0,
        &kind.to_be_bytes(),
    ]
    .concat()
}

/// The passphrase without one trailing LF or CR LF, which files and terminals add.
fn without_line_end(passphrase: &[u8]) -> &[u8] {
    match passphrase {
        [head @ .., b'\r', b'\n'] | [head @ .., b'\n'] => head,
        all => all,
    }
}

/// The memory of Argon2id. It is allocated here, so that a lack of memory is an error, and wiped on drop.
#[cfg(not(feature = "fips"))]
struct Memory(Vec<Block>);

#[cfg(not(feature = "fips"))]
impl Memory {
    fn new(memory_kib: u32) -> Result<Self, CostRefused> {
        let block_count = usize::try_from(memory_kib).map_err(|_| CostRefused::OutOfMemory)?;
        let mut blocks = Vec::new();
        blocks
            .try_reserve_exact(block_count)
            .map_err(|_| CostRefused::OutOfMemory)?;
        blocks.resize(block_count, Block::new());
        Ok(Self(blocks))
    }
}

#[cfg(not(feature = "fips"))]
impl Drop for Memory {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(Zeroize::zeroize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATABASE: DatabaseId = DatabaseId([1; 16]);
    const SLOT: SlotId = SlotId([2; 16]);

    /// AES-GCM does not commit to its key: a file can be made that opens under two. The identifiers
    /// inside are compared, so that such a file is useless for another slot.
    #[test]
    fn unwrap_refuses_a_good_tag_over_the_names_of_another_database_or_slot() {
        let slot = SlotKey::from_raw(&Secret::new([3; 32]), SLOT);
        for (database_byte, slot_byte, good) in [(1, 2, true), (9, 2, false), (1, 9, false)] {
            let mut plain = [7; 64];
            plain[..16].fill(database_byte);
            plain[16..32].fill(slot_byte);
            let mut wrapped = [0; 92];
            let place = place(DATABASE, SLOT, 1);
            slot.0.wrap([4; 12], &place, &plain, &mut wrapped);
            let master = slot.unwrap(DATABASE, SLOT, 1, &wrapped);
            assert_eq!(master.is_ok(), good);
        }
    }

    #[test]
    fn a_passphrase_loses_one_line_end_and_no_more() {
        for (given, kept) in [
            ("pass", "pass"),
            ("pass\n", "pass"),
            ("pass\r\n", "pass"),
            ("pass\n\n", "pass\n"),
            ("pass\r", "pass\r"),
            (" pass \n", " pass "),
            ("\n", ""),
            ("", ""),
        ] {
            assert_eq!(without_line_end(given.as_bytes()), kept.as_bytes());
        }
    }
}
