//! A database under one new data key, for a copy in which every page is sealed anew (FORMAT 3.2).
//!
//! P1. Nothing else changes: database id, master key, log key and slots stay, so that pins stay valid, and who could open
//!     the old file can open the copy.
//! P2. The copy's generations are above those that the old file gets when it is retired (FORMAT 3.10).

use selenite_cipher::{Epoch, Suite};
use selenite_format::{EpochRecord, State};

use crate::create::secret;
use crate::{KeyError, Random, Unlocked, random};

/// Makes a data key for the epoch after the highest that was ever used. `now` is in seconds since 1970-01-01 UTC.
///
/// `GenerationExhausted` if there is no such number.
pub fn draw(from: &Unlocked, suite: Suite, now: u64, random: &mut Random<'_>) -> Result<EpochRecord, KeyError> {
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

/// The copy's superblock, with that epoch alone. The same arguments give the same bytes.
///
/// `Tampered` if the record is not of this database, or not of its next epoch.
pub fn superblock(from: &Unlocked, record: EpochRecord) -> Result<Unlocked, KeyError> {
    let epoch = next_epoch(from)?;
    if record.epoch != epoch {
        return Err(crate::unlocked::tampered("the number of a new epoch"));
    }
    from.data_secret(&record)?;
    let generation = from.superblock.generation.checked_add(RETIREMENT + 1);
    let mut to = from.with_generation(generation.ok_or(KeyError::GenerationExhausted)?);
    to.superblock.epochs = vec![record];
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

/// Retiring a file takes a right away: it is written to both places, each under a generation of its own (FORMAT 3.7).
const RETIREMENT: u64 = 2;

#[cfg(test)]
mod tests {
    use selenite_format::{PageSize, Superblock};

    use super::*;
    use crate::fixture::raw;
    use crate::{create, os_random};

    #[test]
    fn a_copy_has_one_new_epoch_and_is_else_the_same() {
        let from = create(PageSize::DEFAULT, Suite::Aes256, &[raw(1), raw(2)], 5, &mut os_random).unwrap();
        let record = draw(&from, Suite::Aegis128X4, 77, &mut os_random).unwrap();
        let to = superblock(&from, record.clone()).unwrap();
        assert_eq!(
            to.encode().unwrap(),
            superblock(&from, record).unwrap().encode().unwrap()
        );
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
        assert!(matches!(superblock(&from, foreign), Err(KeyError::Tampered { .. })));
        let mut later = draw(&from, Suite::Aes256, 1, &mut os_random).unwrap();
        later.epoch = Epoch(3);
        assert!(matches!(superblock(&from, later), Err(KeyError::Tampered { .. })));
    }
}
