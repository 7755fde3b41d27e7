//! A map of bounded size that forgets what was not used for the longest time.

use std::collections::HashMap;
use std::hash::Hash;

/// Two generations: what is used moves to the younger one, and when that is full the older one is dropped. Between
/// `generation_size` and twice as many of the entries used last are kept, and no operation takes longer than a lookup
/// in two hash maps.
pub struct RecentMap<K, V> {
    young: HashMap<K, V>,
    old: HashMap<K, V>,
    generation_size: usize,
}

impl<K: Eq + Hash, V: Default> RecentMap<K, V> {
    /// An empty map that keeps at most twice `generation_size` entries.
    pub fn new(generation_size: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            generation_size,
        }
    }

    /// The value of a key. Does not count as a use.
    pub fn find(&self, key: &K) -> Option<&V> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    /// The value of a key, which is made if it is missing. Counts as a use.
    pub fn entry(&mut self, key: K) -> &mut V {
        if !self.young.contains_key(&key) && self.young.len() >= self.generation_size {
            self.old = std::mem::take(&mut self.young);
        }
        let before = self.old.remove(&key);
        self.young.entry(key).or_insert_with(|| before.unwrap_or_default())
    }

    /// All entries.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.young.iter_mut().chain(self.old.iter_mut())
    }

    /// Drops the entries that are not to be kept.
    pub fn retain(&mut self, mut keeps: impl FnMut(&K) -> bool) {
        self.young.retain(|key, _| keeps(key));
        self.old.retain(|key, _| keeps(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_is_kept_and_the_rest_is_bounded() {
        let mut map = RecentMap::<u32, u32>::new(10);
        for number in 0..1000 {
            *map.entry(number) = number;
            // Used again and again, and so never forgotten.
            *map.entry(0) += 1;
            assert!(map.young.len() <= 10 && map.old.len() <= 10);
        }
        assert_eq!(map.find(&0), Some(&1000));
        assert!((990..1000).all(|number| map.find(&number) == Some(&number)));
        assert_eq!(map.find(&900), None);
        assert!(map.entries_mut().count() <= 20);
        map.retain(|key| *key == 0);
        assert_eq!(map.entries_mut().count(), 1);
    }
}
