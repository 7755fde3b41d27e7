//! The wrapped key of a backup archive, for recipients who can open archives without the database's
//! identities: for each of them a binary age file of the key's 32 bytes (FORMAT 12.3).
//!
//! - mac-decides: an age file proves nothing: anyone who knows a recipient can make one. A key from
//!   it is the archive's key if, and only if, the archive's MAC is valid under it. This shows who
//!   could read the archive, not who wrote it.

use selenite_cipher::Secret;

use crate::key_error::ServiceFailure;
use crate::{AgeRecipient, Identity, KeyError};

/// Wraps an archive's key for one recipient.
///
/// `KeyServiceUnavailable` if a required plugin did not respond; `CannotWrap` if its result
/// exceeds the size limit.
pub fn wrap(recipient: &AgeRecipient, key: &Secret<32>) -> Result<Vec<u8>, KeyError> {
    recipient.wrap_archive_key(key)
}

/// Unwraps an archive's key from the given files with the first identity that opens one. `is_right`
/// returns whether a key is the archive's (mac-decides).
///
/// `NoKey` without identities; `KeyServiceUnavailable` if a plugin failed and no other identity
/// opened a file; else `WrongKey`.
pub fn unwrap(
    identities: &[Box<dyn Identity>],
    files: &[Vec<u8>],
    is_right: &dyn Fn(&Secret<32>) -> bool,
) -> Result<Secret<32>, KeyError> {
    if identities.is_empty() {
        return Err(KeyError::NoKey);
    }
    let mut away = None;
    for identity in identities {
        for file in files {
            match identity.unwrap_archive_key(file) {
                Ok(key) if is_right(&key) => return Ok(key),
                Ok(_) | Err(KeyError::WrongKey) => {}
                Err(error) => {
                    // A plugin that timed out is not tried with every file.
                    let is_timeout = matches!(
                        error,
                        KeyError::KeyServiceUnavailable {
                            failure: ServiceFailure::TimedOut(_),
                            ..
                        }
                    );
                    away.get_or_insert(error);
                    if is_timeout {
                        break;
                    }
                }
            }
        }
    }
    Err(away.unwrap_or(KeyError::WrongKey))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AgeIdentity;
    use crate::fixture::{age, passphrase, raw};

    const KEY: [u8; 32] = [0x6b; 32];

    fn wrapped_for(identity: &AgeIdentity) -> Vec<u8> {
        use crate::Recipient;
        wrap(&identity.describe().parse().unwrap(), &Secret::new(KEY)).unwrap()
    }

    fn is_key(key: &Secret<32>) -> bool {
        *key.expose() == KEY
    }

    #[test]
    fn a_key_is_unwrapped_by_its_recipient_only() {
        let (one, two) = (age(), age());
        let files = [wrapped_for(&two), wrapped_for(&one)];
        let with = |identities: Vec<Box<dyn Identity>>, files: &[Vec<u8>]| unwrap(&identities, files, &is_key);
        assert!(is_key(&with(vec![raw(1), one], &files).unwrap()));
        for identities in [vec![raw(1) as Box<dyn Identity>], vec![age()], vec![passphrase("x")]] {
            assert!(matches!(with(identities, &files), Err(KeyError::WrongKey)));
        }
        assert!(matches!(with(vec![two], &files[1..]), Err(KeyError::WrongKey)));
        assert!(matches!(with(vec![], &files), Err(KeyError::NoKey)));
    }

    /// mac-decides: a foreign file before the right one does not hide the right one.
    #[test]
    fn a_key_of_another_archive_is_skipped() {
        use crate::Recipient;
        let own = age();
        let foreign = wrap(&own.describe().parse().unwrap(), &Secret::new([1; 32])).unwrap();
        let files = [foreign.clone(), b"no age file".to_vec(), wrapped_for(&own)];
        let identities: Vec<Box<dyn Identity>> = vec![own];
        assert!(is_key(&unwrap(&identities, &files, &is_key).unwrap()));
        assert!(matches!(
            unwrap(&identities, &[foreign], &is_key),
            Err(KeyError::WrongKey)
        ));
    }

    #[test]
    fn a_truncated_altered_or_foreign_file_is_the_wrong_key() {
        use crate::Recipient;
        let own = age();
        let file = wrapped_for(&own);
        let slot = own
            .wrap(crate::fixture::DATABASE, crate::fixture::SLOT, &Secret::new(KEY))
            .unwrap();
        let identities: Vec<Box<dyn Identity>> = vec![own];
        let of = |file: Vec<u8>| unwrap(&identities, &[file], &|_| true);
        for cut in 0..file.len() {
            assert!(matches!(of(file[..cut].to_vec()), Err(KeyError::WrongKey)), "{cut}");
            let mut altered = file.clone();
            altered[cut] ^= 1;
            assert!(matches!(of(altered), Err(KeyError::WrongKey)), "{cut}");
        }
        assert!(matches!(of(slot.wrapped), Err(KeyError::WrongKey)));
    }
}
