//! Model: a change of keys between writers that use the generation mark.

use std::sync::Arc;

use crate::atomics::{AtomicU64, Mutex, Ordering};
use crate::ffi::ShmMemory;

use super::*;

/// The first superblock of the valid test vector.
fn superblock() -> Superblock {
    let vector = include_bytes!("../../../../../testdata/vectors/superblock/good.vec");
    let start = vector.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
    let size = u32::from_be_bytes(*vector[start + 24..].first_chunk().unwrap());
    let size = usize::try_from(size).unwrap();
    Superblock::parse(&vector[start..start + size]).unwrap()
}

/// The file's generation, the WAL's write lock, and the index. A writer holds the lock, and so does
/// a thread that changes keys.
struct World {
    generation: AtomicU64,
    write_lock: Mutex<()>,
    index: ShmMemory,
}

impl World {
    fn mark(&self) -> GenerationMark {
        GenerationMark::new(self.index.region())
    }

    /// The start of a write transaction: by the mark, or else by the file (set-by-writers).
    fn write(&self, view: &mut Superblock) {
        let _held = self.write_lock.lock().unwrap();
        if !self.mark().is_of(view) {
            view.generation = self.generation.load(Ordering::Relaxed);
            self.mark().set(view);
        }
        assert_eq!(
            view.generation,
            self.generation.load(Ordering::Relaxed),
            "an old view seals"
        );
    }

    /// A change of keys; without `survives` the process is killed before it sets the mark again.
    fn change(&self, survives: bool) {
        let _held = self.write_lock.lock().unwrap();
        self.mark().clear();
        let generation = self.generation.load(Ordering::Relaxed) + 1;
        self.generation.store(generation, Ordering::Relaxed);
        if survives {
            let mut view = superblock();
            view.generation = generation;
            self.mark().set(&view);
        }
    }
}

#[test]
fn no_writer_uses_a_mark_from_before_a_change() {
    let good = superblock();
    for survives in [true, false] {
        let good = good.clone();
        loom::model(move || {
            let world = Arc::new(World {
                generation: AtomicU64::new(good.generation),
                write_lock: Mutex::new(()),
                index: ShmMemory::new(136),
            });
            let (changed, mut view) = (world.clone(), good.clone());
            let (other, mut others_view) = (world.clone(), good.clone());
            let change = loom::thread::spawn(move || changed.change(survives));
            let writer = loom::thread::spawn(move || {
                other.write(&mut others_view);
                other.write(&mut others_view);
            });
            world.write(&mut view);
            // A reader without the lock that finds the mark of its view after a change would have
            // an outdated view.
            let seen = world.mark().is_of(&view);
            change.join().unwrap();
            writer.join().unwrap();
            if view.generation != world.generation.load(Ordering::Relaxed) {
                assert!(!world.mark().is_of(&view), "{seen}");
            }
            world.write(&mut view);
        });
    }
}
