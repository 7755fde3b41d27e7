//! Changes of the key under which pages are sealed (FORMAT 3.1, 3.2): a new epoch is listed beside
//! the old one, every page is re-encrypted, and then the old epoch is removed.
//!
//! - two-epochs-meanwhile: during the change two epochs are listed. A writer that takes the write
//!   lock after [`begin`] seals under the new one. A checkpoint that took its lock earlier still
//!   writes pages of the old one, and the caller's scans find them.
//! - old-key-ends-here: [`end`] removes the old data key, which makes everything still sealed under
//!   it unreadable: the caller has checked every page, log and journal before.
//! - order-without-clock: the times of keys define which of two is younger, independently of the
//!   clock: of two epochs and a master key that are listed together, each that was made later has
//!   no earlier time, and a master key that was made later has a later time.

use selenite_cipher::{Epoch, Suite};
use selenite_format::{EpochRecord, State, Superblock};

use crate::change::{Change, Report, next};
use crate::create::secret;
use crate::{KeyError, Random, Unlocked, random};

/// Lists a new epoch with a new data key, under which pages are sealed from then on. `now` is in
/// seconds since 1970-01-01 UTC.
///
/// `UnderWay` if pages are already being re-encrypted.
pub fn begin(from: &Unlocked, suite: Suite, now: u64, random: &mut Random<'_>) -> Result<Change, KeyError> {
    KeyError::check_sealing(suite)?;
    let old = match (from.superblock.state, from.superblock.epochs.as_slice()) {
        (State::Steady, [old]) => old.suite,
        _ => return Err(KeyError::UnderWay),
    };
    let mut to = next(from)?;
    let number = from.superblock.epoch_max.0.checked_add(1);
    let epoch = Epoch(number.ok_or(KeyError::GenerationExhausted)?);
    let key = secret(random);
    let wrapped = to.master.wrap_data_key(random::draw(random), epoch, suite, &key);
    to.superblock.epochs.push(EpochRecord {
        epoch,
        suite,
        created: now.max(from.superblock.master_created),
        wrapped,
    });
    to.superblock.epoch_max = epoch;
    to.superblock.sealing_epoch = epoch;
    let state = match (old, suite) {
        (Suite::None, Suite::None) => return Err(KeyError::NothingToChange),
        (Suite::None, _) => State::SwitchingOn,
        (_, Suite::None) => State::SwitchingOff,
        _ => State::Changing,
    };
    to.set_state(state, 0);
    finish(to, false)
}

/// Records that all pages up to `cursor` are re-encrypted and durable.
///
/// `NotUnderWay` if no pages are being re-encrypted.
pub fn advance(from: &Unlocked, cursor: u32) -> Result<Change, KeyError> {
    let mut to = under_way(from)?;
    let state = to.superblock.state;
    to.set_state(state, cursor);
    finish(to, false)
}

/// Records that all pages are re-encrypted, while a log may still contain pages of the old epoch.
///
/// `NotUnderWay` if no pages are being re-encrypted.
pub fn all_done(from: &Unlocked) -> Result<Change, KeyError> {
    let mut to = under_way(from)?;
    let cursor = to.superblock.cursor;
    to.set_state(State::Finishing, cursor);
    finish(to, false)
}

/// Removes the old epoch.
///
/// `NotUnderWay` unless all pages were recorded as re-encrypted.
pub fn end(from: &Unlocked) -> Result<Change, KeyError> {
    if from.superblock.state != State::Finishing {
        return Err(KeyError::NotUnderWay);
    }
    let mut to = under_way(from)?;
    let sealing = to.superblock.sealing_epoch;
    to.superblock.epochs.retain(|record| record.epoch == sealing);
    to.set_state(State::Steady, 0);
    finish(to, true)
}

/// Whether pages are being re-encrypted under a data key that was made under the present master
/// key. A holder of an older master key only does not know that data key.
pub fn is_since_master(superblock: &Superblock) -> bool {
    superblock.state != State::Steady
        && superblock
            .sealing()
            .is_some_and(|epoch| epoch.created >= superblock.master_created)
}

fn under_way(from: &Unlocked) -> Result<Unlocked, KeyError> {
    match from.superblock.state {
        State::SwitchingOn | State::SwitchingOff | State::Changing | State::Finishing => next(from),
        State::Steady | State::Retired => Err(KeyError::NotUnderWay),
    }
}

/// Encodes the superblock, so that errors are found before anything is written.
fn finish(unlocked: Unlocked, revokes_access: bool) -> Result<Change, KeyError> {
    unlocked.encode()?;
    Ok(Change {
        unlocked,
        revokes_access,
        report: Report::default(),
    })
}

#[cfg(test)]
mod tests {
    use selenite_format::{PageSize, Superblock};

    use super::*;
    use crate::change::renew_master;
    use crate::fixture::raw;
    use crate::{create, os_random};

    fn database(suite: Suite) -> Unlocked {
        create(PageSize::DEFAULT, suite, &[raw(1)], 5, &mut os_random).unwrap()
    }

    fn begun(from: Suite, to: Suite) -> Unlocked {
        begin(&database(from), to, 77, &mut os_random).unwrap().unlocked
    }

    #[test]
    fn a_whole_change_lists_two_epochs_and_then_the_new_one() {
        let begun = begun(Suite::Aes256, Suite::Aegis256X4);
        let superblock = &begun.superblock;
        assert_eq!((superblock.state, superblock.cursor), (State::Changing, 0));
        assert_eq!((superblock.epoch_max, superblock.sealing_epoch), (Epoch(2), Epoch(2)));
        assert_eq!((superblock.epochs.len(), superblock.epochs[1].created), (2, 77));
        let keys = begun.data_keys().unwrap();
        assert_eq!((keys[0].suite(), keys[1].suite()), (Suite::Aes256, Suite::Aegis256X4));

        let advanced = advance(&begun, 9).unwrap().unlocked;
        assert_eq!(advanced.superblock.cursor, 9);
        assert!(matches!(end(&advanced), Err(KeyError::NotUnderWay)));
        let done = all_done(&advanced).unwrap().unlocked;
        assert_eq!(done.superblock.state, State::Finishing);
        let ended = end(&done).unwrap();
        assert!(ended.revokes_access);
        let superblock = &ended.unlocked.superblock;
        assert_eq!((superblock.state, superblock.cursor), (State::Steady, 0));
        assert_eq!((superblock.epochs.len(), superblock.epoch_max), (1, Epoch(2)));
        assert_eq!(ended.unlocked.data_keys().unwrap()[0].epoch(), Epoch(2));
        assert_eq!(superblock.generation, 5);
        let bytes = ended.unlocked.encode().unwrap();
        assert_eq!(Superblock::parse(&bytes).unwrap(), *superblock);
    }

    #[test]
    fn on_off_and_another_key_have_different_states() {
        let state = |from, to| begun(from, to).superblock.state;
        assert_eq!(state(Suite::None, Suite::Aes256), State::SwitchingOn);
        assert_eq!(state(Suite::Aes256, Suite::None), State::SwitchingOff);
        assert_eq!(state(Suite::Aes256, Suite::Aes256), State::Changing);
    }

    /// Clocks of other machines, clocks that were set back, and two changes in one second.
    #[test]
    fn the_order_of_keys_is_independent_of_the_clock() {
        for times in [[1000, 1000, 1000], [1000, 500, 1], [1, 2, 3], [u64::MAX - 9, 1, 1]] {
            let [first, second, third] = times;
            let recipient = raw(1);
            let renewed = |from: &Unlocked, now| {
                let renewed = renew_master(from, &[recipient.as_ref()], now, &mut os_random);
                renewed.unwrap().unlocked
            };
            let begun = begin(&database(Suite::Aes256), Suite::Aes256, first, &mut os_random).unwrap();
            let begun = begun.unlocked;
            assert!(is_since_master(&begun.superblock), "{times:?}");
            let older = renewed(&begun, second);
            assert!(!is_since_master(&older.superblock), "{times:?}");
            let older = renewed(&older, third);
            assert!(!is_since_master(&older.superblock), "{times:?}");
            let steady = end(&all_done(&older).unwrap().unlocked).unwrap().unlocked;
            assert!(!is_since_master(&steady.superblock), "{times:?}");
            let younger = begin(&steady, Suite::Aes256, third, &mut os_random).unwrap().unlocked;
            assert!(is_since_master(&younger.superblock), "{times:?}");
            // In the steady state times are not compared: the time is that of the clock.
            assert_eq!(renewed(&steady, third).superblock.master_created, third);
        }
    }

    #[test]
    fn changes_run_one_at_a_time_and_only_after_begin() {
        let steady = database(Suite::Aes256);
        assert!(matches!(advance(&steady, 1), Err(KeyError::NotUnderWay)));
        assert!(matches!(all_done(&steady), Err(KeyError::NotUnderWay)));
        assert!(matches!(end(&steady), Err(KeyError::NotUnderWay)));
        let begun = begun(Suite::Aes256, Suite::Aes128);
        let again = begin(&begun, Suite::Aes256, 1, &mut os_random);
        assert!(matches!(again, Err(KeyError::UnderWay)));
        let none = begin(&database(Suite::None), Suite::None, 1, &mut os_random);
        assert!(matches!(none, Err(KeyError::NothingToChange)));
    }
}
