//! A part of the pages of one size, under its own lock.
//!
//! - slots-of-parts: a page is stored in a slot: a piece of one of the parts of memory that were
//!   added, all with the same number of slots except the last. Tables have their final size from
//!   the beginning: nothing is allocated for a page.
//! - vacant-is-wiped: slots without a page are wiped, and listed in `vacant`.

use std::hint::black_box;

use super::filter::{Filter, PageAddress};
use crate::ffi::ArenaPart;

/// Which slots may be used for a new page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Room {
    /// A slot without a page.
    Vacant,
    /// A slot with a page of the same file that no later reader will request, if there is one near
    /// the clock hand.
    Dead,
    /// A slot whose page was not requested recently.
    Any,
}

/// Some of the pages of one size.
pub struct Shard {
    page_bytes: usize,
    /// Open addressing: the page's number in the high bits, its slot plus one in the low bits; 0
    /// for none.
    index: Box<[u64]>,
    slots: Vec<Slot>,
    vacant: Vec<u32>,
    parts: Vec<ArenaPart>,
    /// The number of slots of each part except the last.
    slots_per_part: usize,
    /// The clock hand: where the search for a page to evict continues.
    hand: usize,
    /// Pages found here since memory was last added.
    hit_count: u32,
    /// Pages that were to be stored here when there was no room.
    refused_count: u32,
}

#[derive(Clone, Copy)]
struct Slot {
    key: PageAddress,
    generation: u64,
    /// The number of passes of the clock hand that it survives.
    lives: u8,
}

impl Shard {
    /// A shard without memory, with tables for up to `slot_count_max` slots.
    pub fn new(page_bytes: usize, slots_per_part: usize, slot_count_max: usize) -> Self {
        Self {
            page_bytes,
            index: vec![0; index_size(slot_count_max)].into_boxed_slice(),
            slots: Vec::with_capacity(slot_count_max),
            vacant: Vec::with_capacity(slot_count_max),
            parts: Vec::with_capacity(slot_count_max.div_ceil(slots_per_part) + 1),
            slots_per_part,
            hand: 0,
            hit_count: 0,
            refused_count: 0,
        }
    }

    /// The size of its tables in bytes.
    pub fn table_bytes(slots_per_part: usize, slot_count_max: usize) -> usize {
        index_size(slot_count_max) * size_of::<u64>()
            + slot_count_max * (size_of::<Slot>() + size_of::<u32>())
            + (slot_count_max.div_ceil(slots_per_part) + 1) * size_of::<ArenaPart>()
    }

    /// Adds memory. After a part with fewer slots than the others none can be added.
    pub fn add_part(&mut self, part: ArenaPart) {
        let whole = self.slots.len().is_multiple_of(self.slots_per_part);
        let count = (part.bytes().len() / self.page_bytes).min(self.slots_per_part);
        if !whole || self.slots.len() + count > self.slots.capacity() || count == 0 {
            return;
        }
        for _ in 0..count {
            self.vacant.push(to_u32(self.slots.len()));
            self.slots.push(Slot::NONE);
        }
        // The lowest slot is used first: unused memory is then used in order.
        self.vacant.sort_unstable_by(|one, other| other.cmp(one));
        self.parts.push(part);
        self.hit_count = 0;
    }

    /// Removes the part that was added last, if there are `part_count`, with its pages.
    pub fn remove_part(&mut self, part_count: usize, filter: &Filter) {
        if self.parts.len() < part_count {
            return;
        }
        let first = part_count.saturating_sub(1) * self.slots_per_part;
        for slot in first..self.slots.len() {
            self.vacate(slot, filter);
        }
        self.slots.truncate(first);
        self.vacant.retain(|slot| to_usize(*slot) < first);
        self.parts.truncate(part_count.saturating_sub(1));
        self.hand = 0;
    }

    /// Whether the memory that was added last has been worth it: as many pages were found since then
    /// as one part has slots.
    pub fn has_paid(&self) -> bool {
        to_usize(self.hit_count) >= self.slots_per_part
    }

    /// The room for a page that did not find any, and no memory is added: one page in eight may
    /// displace another, so that the pages stay those that are requested.
    pub fn room_when_refused(&mut self) -> Room {
        self.refused_count = self.refused_count.wrapping_add(1);
        if self.refused_count.is_multiple_of(8) {
            Room::Any
        } else {
            Room::Dead
        }
    }

    /// Whether the shard has no pages.
    pub fn is_empty(&self) -> bool {
        self.vacant.len() == self.slots.len()
    }

    /// Copies a page, if it is here in that generation, and returns whether it is.
    pub fn read(&mut self, key: PageAddress, generation: u64, out: &mut [u8]) -> bool {
        let Some(place) = self.find(key).map(|entry| self.slot_at(entry)) else {
            return false;
        };
        let slot = &mut self.slots[place];
        if slot.generation != generation {
            return false;
        }
        slot.lives = LIVES_MAX.min(slot.lives + 1);
        self.hit_count = self.hit_count.saturating_add(1);
        copy(self.bytes(place), out);
        true
    }

    /// Replaces an older generation of a page that is here, and returns whether the page is here.
    pub fn renew(&mut self, key: PageAddress, generation: u64, bytes: &[u8]) -> bool {
        let Some(place) = self.find(key).map(|entry| self.slot_at(entry)) else {
            return false;
        };
        if self.slots[place].generation < generation {
            self.slots[place].generation = generation;
            copy(bytes, self.bytes_mut(place));
        }
        true
    }

    /// Stores a page that is not here, if there is room of that kind, and returns whether there
    /// was.
    pub fn put(&mut self, key: PageAddress, generation: u64, bytes: &[u8], room: Room, filter: &Filter) -> bool {
        let vacant = self.vacant.pop().map(to_usize);
        let place = match (vacant, room) {
            (Some(place), _) => Some(place),
            (None, Room::Vacant) => None,
            (None, Room::Dead) => self.find_dead(key.file, generation),
            (None, Room::Any) => self.find_idle(key.file, generation),
        };
        let Some(place) = place else { return false };
        if vacant.is_none() {
            self.unlist(place, filter);
        }
        self.slots[place] = Slot {
            key,
            generation,
            lives: 0,
        };
        copy(bytes, self.bytes_mut(place));
        self.list(place);
        filter.enter(key);
        true
    }

    /// Removes the pages of a file.
    pub fn forget_file(&mut self, file: u32, filter: &Filter) {
        for place in 0..self.slots.len() {
            if self.slots[place].key.file == file && self.slots[place].key.page != 0 {
                self.vacate(place, filter);
                self.vacant.push(to_u32(place));
            }
        }
    }

    /// Wipes a slot; the caller adds it to `vacant`.
    fn vacate(&mut self, place: usize, filter: &Filter) {
        if self.slots[place].key.page == 0 {
            return;
        }
        self.unlist(place, filter);
        self.slots[place] = Slot::NONE;
        let (part, range) = self.place_of(place);
        self.parts[part].wipe(range);
    }

    fn find_dead(&mut self, file: u32, generation: u64) -> Option<usize> {
        for _ in 0..DEAD_STEPS.min(self.slots.len()) {
            let place = self.step();
            if self.slots[place].is_dead(file, generation) {
                return Some(place);
            }
        }
        None
    }

    fn find_idle(&mut self, file: u32, generation: u64) -> Option<usize> {
        let steps = STEPS_MAX.min(self.slots.len());
        let mut place = None;
        for _ in 0..steps {
            let next = self.step();
            place = Some(next);
            let slot = &mut self.slots[next];
            if slot.is_dead(file, generation) || slot.lives == 0 {
                break;
            }
            slot.lives -= 1;
        }
        place
    }

    fn step(&mut self) -> usize {
        let place = self.hand;
        self.hand = if place + 1 < self.slots.len() { place + 1 } else { 0 };
        place
    }

    /// Adds a slot to the index.
    fn list(&mut self, place: usize) {
        let key = self.slots[place].key;
        let mut entry = self.home(key);
        while self.index[entry] != 0 {
            entry = self.next(entry);
        }
        self.index[entry] = u64::from(key.page) << 32 | u64::from(to_u32(place) + 1);
    }

    /// Removes a slot from the index. Later entries move up, so that a search ends at the first gap
    /// (Knuth, 6.4, R).
    fn unlist(&mut self, place: usize, filter: &Filter) {
        let key = self.slots[place].key;
        let Some(mut gap) = self.find(key) else { return };
        filter.leave(key);
        let mut entry = self.next(gap);
        while self.index[entry] != 0 {
            let home = self.home(self.slots[self.slot_at(entry)].key);
            let mask = self.index.len() - 1;
            if entry.wrapping_sub(home) & mask >= entry.wrapping_sub(gap) & mask {
                self.index[gap] = self.index[entry];
                gap = entry;
            }
            entry = self.next(entry);
        }
        self.index[gap] = 0;
    }

    fn find(&self, key: PageAddress) -> Option<usize> {
        let mut entry = self.home(key);
        loop {
            let listed = self.index[entry];
            if listed == 0 {
                return None;
            }
            if listed >> 32 == u64::from(key.page) && self.slots[self.slot_at(entry)].key.file == key.file {
                return Some(entry);
            }
            entry = self.next(entry);
        }
    }

    fn slot_at(&self, entry: usize) -> usize {
        usize::try_from((self.index[entry] & u64::from(u32::MAX)) - 1).unwrap_or(0)
    }

    /// Page numbers are not secret and an attacker does not gain from collisions: one
    /// multiplication suffices (Knuth, 6.4).
    fn home(&self, key: PageAddress) -> usize {
        let mixed = (u64::from(key.file).rotate_left(40) ^ u64::from(key.page)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from(mixed >> 32).unwrap_or(0) & (self.index.len() - 1)
    }

    fn next(&self, entry: usize) -> usize {
        (entry + 1) & (self.index.len() - 1)
    }

    fn place_of(&self, place: usize) -> (usize, std::ops::Range<usize>) {
        let start = place % self.slots_per_part * self.page_bytes;
        (place / self.slots_per_part, start..start + self.page_bytes)
    }

    fn bytes(&self, place: usize) -> &[u8] {
        let (part, range) = self.place_of(place);
        &self.parts[part].bytes()[range]
    }

    fn bytes_mut(&mut self, place: usize) -> &mut [u8] {
        let (part, range) = self.place_of(place);
        &mut self.parts[part].bytes_mut()[range]
    }
}

impl Slot {
    const NONE: Self = Self {
        key: PageAddress { file: 0, page: 0 },
        generation: 0,
        lives: 0,
    };

    fn is_dead(&self, file: u32, generation: u64) -> bool {
        self.key.file == file && self.generation != generation
    }
}

/// Copies in pieces of 1 KiB: glibc's copy of a whole page may be many times slower (see
/// `page_buffer.rs`).
fn copy(from: &[u8], to: &mut [u8]) {
    for (from, to) in from.chunks(1024).zip(to.chunks_mut(1024)) {
        to.copy_from_slice(black_box(from));
    }
}

/// At least half of the index stays free.
fn index_size(slot_count_max: usize) -> usize {
    (slot_count_max * 2).max(2).next_power_of_two()
}

fn to_usize(slot: u32) -> usize {
    usize::try_from(slot).unwrap_or(usize::MAX)
}

/// A shard of 2^32 slots would have 4 TiB.
fn to_u32(slot: usize) -> u32 {
    u32::try_from(slot).unwrap_or(u32::MAX)
}

/// The number of passes that a page requested often survives.
const LIVES_MAX: u8 = 3;
/// The maximal number of steps of the clock hand: bounds the time under the lock.
const STEPS_MAX: usize = 64;
const DEAD_STEPS: usize = 2;

#[cfg(test)]
#[cfg(not(selenite_loom))]
mod tests;
