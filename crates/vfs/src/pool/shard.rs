//! A part of the pool, under a lock of its own.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use zeroize::Zeroize;

/// A page of one of the files.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PageKey {
    /// The file's number in the pool.
    pub file: u32,
    /// The page's number in the file.
    pub page: u32,
}

/// Some of the pages of the pool.
#[derive(Default)]
pub struct Shard {
    places: HashMap<PageKey, usize, BuildHasherDefault<PageHasher>>,
    slots: Vec<Slot>,
    /// Where the search for a page to be given up goes on.
    hand: usize,
}

/// One page; wiped when dropped.
pub struct Slot {
    key: PageKey,
    generation: u64,
    /// The generation of its file that new readers see.
    present: Arc<AtomicU64>,
    /// How many rounds of the hand it survives.
    lives: u8,
    bytes: Box<[u8]>,
}

impl Shard {
    /// Copies a page, if it is here in that generation, and says whether it is.
    pub fn read(&mut self, key: PageKey, generation: u64, out: &mut [u8]) -> bool {
        let Some(slot) = self.places.get(&key).map(|place| &mut self.slots[*place]) else {
            return false;
        };
        if slot.generation != generation || slot.bytes.len() != out.len() {
            return false;
        }
        slot.lives = LIVES_MAX.min(slot.lives + 1);
        copy(&slot.bytes, out);
        true
    }

    /// Puts a newer generation of a page in the place of the one that is here, if it is; says whether the page is here.
    pub fn renew(&mut self, key: PageKey, generation: u64, bytes: &[u8]) -> bool {
        let Some(slot) = self.places.get(&key).map(|place| &mut self.slots[*place]) else {
            return false;
        };
        if slot.generation < generation && slot.bytes.len() == bytes.len() {
            slot.generation = generation;
            copy(bytes, &mut slot.bytes);
        }
        true
    }

    /// Adds a page.
    pub fn add(&mut self, slot: Slot) {
        self.places.insert(slot.key, self.slots.len());
        self.slots.push(slot);
    }

    /// Gives up a page and answers what it was. With `only_dead` one that no reader to come will ask for, if there is one
    /// close to the hand.
    pub fn evict(&mut self, only_dead: bool) -> Option<Slot> {
        let steps = if only_dead {
            DEAD_STEPS
        } else {
            STEPS_MAX.min(4 * self.slots.len())
        };
        for _ in 0..steps {
            let slot = self.slots.get_mut(self.hand)?;
            if slot.is_dead() || (!only_dead && slot.lives == 0) {
                return self.take(self.hand);
            }
            if !only_dead {
                slot.lives -= 1;
            }
            self.hand = (self.hand + 1) % self.slots.len();
        }
        if only_dead { None } else { self.take(self.hand) }
    }

    /// Gives up any page.
    pub fn pop(&mut self) -> Option<Slot> {
        self.take(self.slots.len().checked_sub(1)?)
    }

    /// Gives up the pages of a file, and answers what they were.
    pub fn take_file(&mut self, file: u32) -> Vec<Slot> {
        let mut taken = Vec::new();
        let mut place = 0;
        while place < self.slots.len() {
            if self.slots[place].key.file == file {
                taken.extend(self.take(place));
            } else {
                place += 1;
            }
        }
        taken
    }

    /// The last slot takes the place of the one that goes.
    fn take(&mut self, place: usize) -> Option<Slot> {
        if place >= self.slots.len() {
            return None;
        }
        let slot = self.slots.swap_remove(place);
        self.places.remove(&slot.key);
        if let Some(moved) = self.slots.get(place) {
            self.places.insert(moved.key, place);
        }
        if self.hand >= self.slots.len() {
            self.hand = 0;
        }
        Some(slot)
    }
}

impl Slot {
    /// A page as it was opened.
    pub fn new(key: PageKey, generation: u64, present: Arc<AtomicU64>, bytes: &[u8]) -> Self {
        let mut slot = Self {
            key,
            generation,
            present,
            lives: 0,
            bytes: vec![0; bytes.len()].into_boxed_slice(),
        };
        copy(bytes, &mut slot.bytes);
        slot
    }

    /// The same memory for another page of the same size.
    pub fn reuse(mut self, key: PageKey, generation: u64, present: &Arc<AtomicU64>, bytes: &[u8]) -> Self {
        self.key = key;
        self.generation = generation;
        if !Arc::ptr_eq(&self.present, present) {
            self.present = present.clone();
        }
        self.lives = 0;
        copy(bytes, &mut self.bytes);
        self
    }

    /// The size of its page.
    pub fn page_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn is_dead(&self) -> bool {
        self.present.load(Ordering::Relaxed) != self.generation
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.bytes.zeroize();
    }
}

/// In parts of 1 KiB: glibc's copy of a whole page may be many times slower (see `page_buffer.rs`).
fn copy(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks(1024).zip(to.chunks_mut(1024)) {
        to.copy_from_slice(black_box(from));
    }
}

/// Numbers of pages are no secret and nobody chooses them to collide: one multiplication (Knuth, 6.4) does.
#[derive(Default)]
pub struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0.rotate_left(32) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A page that is asked for often survives so many rounds.
const LIVES_MAX: u8 = 3;
/// How far the hand goes at most: bounds the time under the lock.
const STEPS_MAX: usize = 64;
const DEAD_STEPS: usize = 2;
