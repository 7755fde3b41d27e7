//! Programs by their text.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selenite_compiler::program::Program;

/// Keeps the programs that ran last. A program never changes, so that all sessions share them.
#[derive(Default)]
pub(crate) struct ProgramCache(Mutex<Entries>);

/// What distinguishes programs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ProgramKey {
    /// The statements.
    pub text: Arc<str>,
    /// The parameters of sp_executesql and related ones; empty of a batch.
    pub parameters: Arc<str>,
    /// How the text was read.
    pub quoted_identifier: bool,
    /// Whether a query of it is that of an API cursor.
    pub is_cursor: bool,
}

impl ProgramKey {
    /// The bytes of its texts.
    fn size(&self) -> usize {
        self.text.len() + self.parameters.len()
    }
}

#[derive(Default)]
struct Entries {
    programs: HashMap<ProgramKey, CachedProgram>,
    /// Counts uses of cached programs.
    now: u64,
    /// Bytes of their texts.
    size: usize,
}

struct CachedProgram {
    program: Arc<Program>,
    used: u64,
}

impl ProgramCache {
    /// The program of that text, if it is kept.
    pub fn find(&self, key: &ProgramKey) -> Option<Arc<Program>> {
        let mut entries = self.entries();
        entries.now += 1;
        let now = entries.now;
        let kept = entries.programs.get_mut(key)?;
        kept.used = now;
        Some(kept.program.clone())
    }

    /// Keeps a program, if it is not too long, instead of the one that was not used for longest.
    pub fn keep(&self, key: ProgramKey, program: &Arc<Program>) {
        let size = key.size();
        if size > TEXT_SIZE_MAX {
            return;
        }
        let mut entries = self.entries();
        entries.now += 1;
        let used = entries.now;
        let program = program.clone();
        if let Some(kept) = entries.programs.get_mut(&key) {
            // Two sessions compiled it at the same time.
            *kept = CachedProgram { program, used };
            return;
        }
        while entries.programs.len() >= PROGRAM_COUNT_MAX || entries.size + size > SIZE_MAX {
            let oldest = entries.programs.iter().min_by_key(|(_, kept)| kept.used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                break;
            };
            entries.programs.remove(&oldest);
            entries.size -= oldest.size();
        }
        entries.size += size;
        entries.programs.insert(key, CachedProgram { program, used });
    }

    /// Keeps none of them.
    pub fn clear(&self) {
        let mut entries = self.entries();
        entries.programs.clear();
        entries.size = 0;
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 512 programs, of which one has some tens of KiB at most.
const PROGRAM_COUNT_MAX: usize = 512;
/// 2 MiB of texts: a program takes up to a hundred times as much.
const SIZE_MAX: usize = 2 << 20;
/// 16 KiB: what is longer is generated, and seldom comes twice.
const TEXT_SIZE_MAX: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;

    fn key(text: &str) -> ProgramKey {
        ProgramKey {
            text: Arc::from(text),
            parameters: Arc::from(""),
            quoted_identifier: true,
            is_cursor: false,
        }
    }

    #[test]
    fn the_program_that_was_not_used_for_longest_goes_first() {
        let cache = ProgramCache::default();
        let program = Arc::new(compile(&key("PRINT 1"), &|| true).unwrap());
        for number in 0..PROGRAM_COUNT_MAX {
            assert!(cache.find(&key(&number.to_string())).is_none());
            cache.keep(key(&number.to_string()), &program);
        }
        assert!(cache.find(&key("0")).is_some());
        cache.keep(key("one more"), &program);
        assert!(cache.find(&key("0")).is_some());
        assert!(cache.find(&key("1")).is_none());
        assert!(cache.find(&key("one more")).is_some());
    }

    #[test]
    fn long_texts_take_the_place_of_several() {
        let cache = ProgramCache::default();
        let program = Arc::new(compile(&key("PRINT 1"), &|| true).unwrap());
        let long = |number: usize| key(&format!("{number:>width$}", width = TEXT_SIZE_MAX));
        let count = SIZE_MAX / TEXT_SIZE_MAX;
        for number in 0..=count {
            cache.keep(long(number), &program);
            cache.keep(long(number), &program);
        }
        assert!(cache.find(&long(0)).is_none());
        assert!((1..=count).all(|number| cache.find(&long(number)).is_some()));
    }

    #[test]
    fn a_long_text_is_not_kept() {
        let cache = ProgramCache::default();
        let long = key(&format!("PRINT 1 {}", " ".repeat(TEXT_SIZE_MAX)));
        let program = Arc::new(compile(&long, &|| true).unwrap());
        cache.keep(long.clone(), &program);
        assert!(cache.find(&long).is_none());
    }

    #[test]
    fn programs_of_the_same_text_differ_by_how_it_was_read() {
        let cache = ProgramCache::default();
        let program = Arc::new(compile(&key("PRINT 1"), &|| true).unwrap());
        cache.keep(key("PRINT 1"), &program);
        let other = ProgramKey {
            quoted_identifier: false,
            ..key("PRINT 1")
        };
        assert!(cache.find(&other).is_none());
    }
}
