//! A cache of the page keys of recently used sessions.

use crate::{DataKey, Epoch, PageKey, SessionId};

/// 64 sessions: deriving a key costs about as much as a page, storing it about half a KiB, and a
/// file rarely contains interleaved pages of more writers.
const KEY_COUNT_MAX: usize = 64;

/// A bounded number of page keys. Keys are not moved: one is as long as a dozen of the names that
/// are searched.
pub(crate) struct KeyCache {
    /// The session and epoch of the key at the same index in `keys`.
    names: Vec<(SessionId, Epoch)>,
    keys: Vec<PageKey>,
    /// The value of `clock` when each key was last used.
    used: Vec<u64>,
    clock: u64,
    /// The index of the key used last, which is usually used next.
    last: usize,
}

impl KeyCache {
    pub(crate) fn new() -> Self {
        Self {
            names: Vec::with_capacity(KEY_COUNT_MAX),
            keys: Vec::with_capacity(KEY_COUNT_MAX),
            used: Vec::with_capacity(KEY_COUNT_MAX),
            clock: 0,
            last: 0,
        }
    }

    /// The key of a session, derived on a cache miss; evicts the least recently used key.
    pub(crate) fn key(&mut self, data_key: &DataKey, session: SessionId) -> &PageKey {
        let name = (session, data_key.epoch());
        if self.names.get(self.last) != Some(&name) {
            self.last = match self.names.iter().position(|held| *held == name) {
                Some(index) => index,
                None => self.insert(name, data_key.page_key(session)),
            };
            self.clock += 1;
            self.used[self.last] = self.clock;
        }
        &self.keys[self.last]
    }

    fn insert(&mut self, name: (SessionId, Epoch), key: PageKey) -> usize {
        if self.keys.len() < KEY_COUNT_MAX {
            self.names.push(name);
            self.keys.push(key);
            self.used.push(0);
            return self.keys.len() - 1;
        }
        let oldest = (0..self.used.len()).min_by_key(|&index| self.used[index]).unwrap_or(0);
        self.names[oldest] = name;
        self.keys[oldest] = key;
        oldest
    }

    /// Forgets all keys.
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.keys.clear();
        self.used.clear();
    }
}

#[cfg(test)]
mod tests {
    use crate::{DatabaseId, Secret, Suite};

    use super::*;

    fn data_key(epoch: u32) -> DataKey {
        let id = DatabaseId([1; 16]);
        DataKey::new(Secret::new([2; 32]), id, Epoch(epoch), Suite::Aes256)
    }

    #[test]
    fn key_distinguishes_sessions_and_epochs() {
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
    fn key_evicts_the_least_recently_used_at_the_limit() {
        let mut cache = KeyCache::new();
        for session in 0..=255 {
            cache.key(&data_key(1), SessionId([0; 16]));
            cache.key(&data_key(1), SessionId([session; 16]));
        }
        let mut kept: Vec<u8> = cache.keys.iter().map(|key| key.session().0[0]).collect();
        kept.sort_unstable();
        assert_eq!(cache.keys.len(), KEY_COUNT_MAX);
        assert_eq!(cache.keys.capacity(), KEY_COUNT_MAX);
        assert_eq!(kept, [0].into_iter().chain(193..=255).collect::<Vec<u8>>());
    }
}
