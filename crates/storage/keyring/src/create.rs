//! The keys of a new database.

use selenite_cipher::{DatabaseId, Epoch, MasterKey, Secret, Suite};
use selenite_format::{EpochRecord, PageSize, SLOT_COUNT_MAX, State, Superblock};

use crate::{KeyError, Origin, Pin, Random, Recipient, Unlocked, random, slot};

/// Makes database id, master key, log key and the data key of epoch 1, and a slot for every recipient.
///
/// `now` is in seconds since 1970-01-01 UTC. Ids, keys and their nonces are drawn from `random`;
/// all other randomness of slots is drawn by their providers from the system.
///
/// `NoRecipient` and `TooManySlots` if there are none or more than 32; else the errors of [`Recipient::wrap`].
pub fn create(
    page_size: PageSize,
    suite: Suite,
    recipients: &[Box<dyn Recipient>],
    now: u64,
    random: &mut Random<'_>,
) -> Result<Unlocked, KeyError> {
    KeyError::check_sealing(suite)?;
    if recipients.len() > SLOT_COUNT_MAX {
        return Err(KeyError::TooManySlots);
    }
    let database_id = DatabaseId(random::draw(random));
    let master = MasterKey::new(secret(random), database_id);
    let data_key = secret(random);
    let log_key = secret(random);
    let epoch = Epoch(1);
    let wrapped = master.wrap_data_key(random::draw(random), epoch, suite, &data_key);
    let slots = recipients
        .iter()
        .map(|to| slot::make(to.as_ref(), "", &master, now, random))
        .collect::<Result<Vec<_>, _>>()?;
    let first = slots.first().ok_or(KeyError::NoRecipient)?.id;
    let superblock = Superblock {
        generation: 1,
        database_id,
        page_size,
        state: State::Steady,
        pages_exist: false,
        epoch_max: epoch,
        sealing_epoch: epoch,
        cursor: 0,
        master_created: now,
        log_key: master.wrap_log_key(random::draw(random), &log_key),
        epochs: vec![EpochRecord {
            epoch,
            suite,
            created: now,
            wrapped,
        }],
        slots,
    };
    let unlocked = Unlocked {
        superblock,
        master,
        slot: first,
        pin: Pin::Unknown,
        origin: Origin::Own,
    };
    // Errors of encoding are found before anything is written.
    unlocked.encode()?;
    Ok(unlocked)
}

/// A new secret key.
pub(crate) fn secret(random: &mut Random<'_>) -> Secret<32> {
    Secret::fill(|bytes: &mut [u8; 32]| random(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::raw;
    use crate::os_random;

    #[test]
    fn create_makes_generation_1_with_epoch_1_and_a_slot_for_each_recipient() {
        let recipients: Vec<Box<dyn Recipient>> = vec![raw(1), raw(2)];
        let made = create(PageSize::DEFAULT, Suite::Aes256, &recipients, 77, &mut os_random).unwrap();
        let superblock = &made.superblock;
        assert_eq!((superblock.generation, superblock.state), (1, State::Steady));
        assert_eq!((superblock.epoch_max, superblock.sealing_epoch), (Epoch(1), Epoch(1)));
        assert_eq!((superblock.master_created, superblock.slots[1].created), (77, 77));
        assert!(!superblock.pages_exist);
        assert_eq!(superblock.slots.len(), 2);
        let keys = made.data_keys().unwrap();
        assert_eq!(
            (keys.len(), keys[0].epoch(), keys[0].suite()),
            (1, Epoch(1), Suite::Aes256)
        );
        assert!(made.log_key().is_ok());
        assert_eq!(Superblock::parse(&made.encode().unwrap()).unwrap(), *superblock);
    }

    #[test]
    fn every_key_id_and_nonce_is_drawn_again() {
        let mut drawn: Vec<Vec<u8>> = Vec::new();
        let mut count = 0u8;
        let mut random = |bytes: &mut [u8]| {
            count += 1;
            bytes.fill(count);
            drawn.push(bytes.to_vec());
        };
        create(PageSize::DEFAULT, Suite::Aes256, &[raw(1), raw(2)], 0, &mut random).unwrap();
        let sizes: Vec<usize> = drawn.iter().map(Vec::len).collect();
        assert_eq!(sizes, [16, 32, 32, 32, 12, 16, 16, 12]);
    }

    #[test]
    fn create_needs_1_to_32_recipients() {
        let with = |count: u8| {
            let recipients: Vec<Box<dyn Recipient>> = (0..count).map(|byte| raw(byte) as _).collect();
            create(PageSize::DEFAULT, Suite::Aes256, &recipients, 0, &mut os_random)
        };
        assert!(matches!(with(0), Err(KeyError::NoRecipient)));
        assert_eq!(with(32).unwrap().superblock.slots.len(), 32);
        assert!(matches!(with(33), Err(KeyError::TooManySlots)));
    }
}
