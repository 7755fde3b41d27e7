//! A database under one new data key, for a copy in which every page is re-encrypted (FORMAT 3.2).
//!
//! - identity-kept: database id, master key and slots are kept, so that pins remain valid, and
//!   every identity that opens the old file opens the copy. The log key is new, too: no log of the
//!   old file is ever read with the copy.
//! - generation-above: the copy's generations are above those that the old file gets when it is
//!   retired (FORMAT 3.10).

use selenite_cipher::{Epoch, Suite};
use selenite_format::{EpochRecord, State};

use crate::create::secret;
use crate::{KeyError, Random, Unlocked, random};

/// Makes a data key for the next epoch after the highest ever used. `now` is in seconds since 1970-01-01 UTC.
///
/// `GenerationExhausted` if there is no such number.
pub fn draw(from: &Unlocked, suite: Suite, now: u64, random: &mut Random<'_>) -> Result<EpochRecord, KeyError> {
    KeyError::check_sealing(suite)?;
    let epoch = next_epoch(from)?;
    let key = secret(random);
    Ok(EpochRecord {
        epoch,
        suite,
        // FORMAT 3.12.
        created: now.max(from.superblock.master_created),
        wrapped: from.master.wrap_data_key(random::draw(random), epoch, suite, &key),
    })
}

/// Makes a log key for the copy, and wraps it.
pub fn draw_log_key(from: &Unlocked, random: &mut Random<'_>) -> [u8; 60] {
    let key = secret(random);
    from.master.wrap_log_key(random::draw(random), &key)
}

/// The copy's superblock, with this epoch only and this log key. The result depends on the arguments only.
///
/// `Tampered` if the record is not for this database and its next epoch, or the log key is not for
/// this database or is the old one.
pub fn superblock(from: &Unlocked, record: EpochRecord, log_key: [u8; 60]) -> Result<Unlocked, KeyError> {
    let epoch = next_epoch(from)?;
    if log_key == from.superblock.log_key {
        return Err(crate::unlocked::tampered("a log key that is not new"));
    }
    if record.epoch != epoch {
        return Err(crate::unlocked::tampered("the number of a new epoch"));
    }
    from.data_secret(&record)?;
    let generation = from.superblock.generation.checked_add(RETIREMENT + 1);
    let mut to = from.with_generation(generation.ok_or(KeyError::GenerationExhausted)?);
    to.superblock.epochs = vec![record];
    to.superblock.log_key = log_key;
    to.log_secret()?;
    to.superblock.epoch_max = epoch;
    to.superblock.sealing_epoch = epoch;
    to.set_state(State::Steady, 0);
    to.encode()?;
    Ok(to)
}

fn next_epoch(from: &Unlocked) -> Result<Epoch, KeyError> {
    let number = from.superblock.epoch_max.0.checked_add(1);
    Ok(Epoch(number.ok_or(KeyError::GenerationExhausted)?))
}

/// Retiring a file revokes access: it is written to both places, each with its own generation (FORMAT 3.7).
const RETIREMENT: u64 = 2;

#[cfg(test)]
mod tests {
    use selenite_format::{PageSize, Superblock};

    use super::*;
    use crate::fixture::raw;
    use crate::{create, os_random};

    #[test]
    fn a_copy_differs_only_in_its_epoch_and_log_key() {
        let from = create(PageSize::DEFAULT, Suite::Aes256, &[raw(1), raw(2)], 5, &mut os_random).unwrap();
        let record = draw(&from, Suite::Aegis128X4, 77, &mut os_random).unwrap();
        let log_key = draw_log_key(&from, &mut os_random);
        let to = superblock(&from, record.clone(), log_key).unwrap();
        assert_eq!(
            to.encode().unwrap(),
            superblock(&from, record, log_key).unwrap().encode().unwrap()
        );
        let log_secret = |unlocked: &crate::Unlocked| *unlocked.log_secret().unwrap().expose();
        assert_ne!(log_secret(&to), log_secret(&from));
        let keys = to.data_keys().unwrap();
        assert_eq!(
            (keys.len(), keys[0].epoch(), keys[0].suite()),
            (1, Epoch(2), Suite::Aegis128X4)
        );
        let expected = Superblock {
            generation: from.superblock.generation + 3,
            epoch_max: Epoch(2),
            sealing_epoch: Epoch(2),
            epochs: to.superblock.epochs.clone(),
            log_key,
            ..from.superblock.clone()
        };
        assert_eq!(to.superblock, expected);
        assert_eq!(to.master.commitment(), from.master.commitment());
    }

    #[test]
    fn a_record_of_another_database_or_epoch_is_refused() {
        let from = create(PageSize::DEFAULT, Suite::Aes256, &[raw(1)], 5, &mut os_random).unwrap();
        let other = create(PageSize::DEFAULT, Suite::Aes256, &[raw(1)], 5, &mut os_random).unwrap();
        let foreign = draw(&other, Suite::Aes256, 1, &mut os_random).unwrap();
        let log_key = draw_log_key(&from, &mut os_random);
        let made = |record, log_key| superblock(&from, record, log_key);
        assert!(matches!(made(foreign, log_key), Err(KeyError::Tampered { .. })));
        let mut later = draw(&from, Suite::Aes256, 1, &mut os_random).unwrap();
        later.epoch = Epoch(3);
        assert!(matches!(made(later, log_key), Err(KeyError::Tampered { .. })));
        let record = draw(&from, Suite::Aes256, 1, &mut os_random).unwrap();
        for log_key in [from.superblock.log_key, draw_log_key(&other, &mut os_random)] {
            assert!(matches!(made(record.clone(), log_key), Err(KeyError::Tampered { .. })));
        }
        assert!(made(record, log_key).is_ok());
    }
}
