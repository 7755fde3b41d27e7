//! The page keys of the sessions met last.

use selenite_cipher::{DataKey, PageKey, SessionId};

/// 64 sessions: a key costs about as much as a page to derive and about half a KiB to keep, and a file
/// rarely holds pages of more writers side by side.
const KEY_COUNT_MAX: usize = 64;

/// A bounded number of page keys, the one used last in front.
pub(crate) struct KeyCache {
    keys: Vec<PageKey>,
}

impl KeyCache {
    pub(crate) fn new() -> Self {
        Self {
            keys: Vec::with_capacity(KEY_COUNT_MAX),
        }
    }

    /// The key of a session, derived if it is not here; the one unused for longest makes room.
    pub(crate) fn key(&mut self, data_key: &DataKey, session: SessionId) -> &PageKey {
        let found = self
            .keys
            .iter()
            .position(|key| key.session() == session && key.epoch() == data_key.epoch());
        match found {
            Some(index) => self.keys[..=index].rotate_right(1),
            None => {
                self.keys.truncate(KEY_COUNT_MAX - 1);
                self.keys.insert(0, data_key.page_key(session));
            }
        }
        &self.keys[0]
    }

    /// Forgets all keys.
    pub(crate) fn clear(&mut self) {
        self.keys.clear();
    }
}

#[cfg(test)]
mod tests {
    use selenite_cipher::{DatabaseId, Epoch, Secret, Suite};

    use super::*;

    fn data_key(epoch: u32) -> DataKey {
        let id = DatabaseId([1; 16]);
        DataKey::new(Secret::new([2; 32]), id, Epoch(epoch), Suite::Aes256)
    }

    #[test]
    fn key_tells_sessions_and_epochs_apart() {
        let mut cache = KeyCache::new();
        for _ in 0..2 {
            for epoch in 1..=3 {
                for session in 0..=5 {
                    let session = SessionId([session; 16]);
                    let key = cache.key(&data_key(epoch), session);
                    assert_eq!((key.epoch(), key.session()), (Epoch(epoch), session));
                }
            }
        }
        assert_eq!(cache.keys.len(), 18);
    }

    #[test]
    fn key_keeps_no_more_than_its_limit_and_drops_the_one_unused_for_longest() {
        let mut cache = KeyCache::new();
        for session in 0..=255 {
            cache.key(&data_key(1), SessionId([0; 16]));
            cache.key(&data_key(1), SessionId([session; 16]));
        }
        let kept: Vec<u8> = cache.keys.iter().map(|key| key.session().0[0]).collect();
        assert_eq!(cache.keys.len(), KEY_COUNT_MAX);
        assert_eq!(cache.keys.capacity(), KEY_COUNT_MAX);
        assert_eq!(kept[..3], [255, 0, 254]);
    }
}
