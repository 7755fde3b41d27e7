//! Memory for unencrypted pages, mapped in one piece.

use std::ptr::NonNull;
use std::sync::Arc;

use zeroize::Zeroize;

#[cfg(not(miri))]
use super::platform::Mapping;

/// A piece of zeroed memory, excluded from core dumps, and zero again in a forked child. Before use
/// it is divided into parts, each of which has one owner.
pub struct Arena {
    mapping: Arc<Mapping>,
    size: usize,
}

/// Bytes of an arena with one owner. The owner wipes them; dropping the last part unmaps the
/// memory.
pub struct ArenaPart {
    /// Keeps the memory mapped.
    _mapping: Arc<Mapping>,
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: a part has exclusive access to its bytes, as a `Box<[u8]>` would have.
unsafe impl Send for ArenaPart {}

impl Arena {
    /// Maps memory; `None` if there is none, or if the system cannot exclude it from core dumps and
    /// wipe it on fork.
    #[must_use]
    pub fn take(size: usize) -> Option<Self> {
        let mapping = Mapping::new(size)?;
        Some(Self {
            mapping: Arc::new(mapping),
            size,
        })
    }

    /// Divides it into consecutive parts of these sizes, as far as the memory suffices.
    #[must_use]
    pub fn cut(self, sizes: &[usize]) -> Vec<ArenaPart> {
        let mut done = 0_usize;
        let mut parts = Vec::with_capacity(sizes.len());
        for size in sizes {
            let Some(end) = done.checked_add(*size).filter(|end| *end <= self.size) else {
                break;
            };
            // SAFETY: `done <= end <= size`: within the mapping.
            let start = unsafe { self.mapping.start().add(done) };
            parts.push(ArenaPart {
                _mapping: self.mapping.clone(),
                start,
                size: *size,
            });
            done = end;
        }
        parts
    }
}

impl ArenaPart {
    /// The part's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: within the mapping, which `self` keeps; no other part overlaps it, and `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.size) }
    }

    /// The part's bytes, to be written to.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }

    /// Wipes a range of the bytes.
    pub fn wipe(&mut self, range: std::ops::Range<usize>) {
        let Some(bytes) = self.bytes_mut().get_mut(range) else {
            return;
        };
        // SAFETY: any bytes are valid words.
        let (before, words, after) = unsafe { bytes.align_to_mut::<u64>() };
        before.zeroize();
        // Wiping single bytes takes eight times as long: 14 ms for 64 MiB, when a database is
        // closed.
        words.zeroize();
        after.zeroize();
    }
}

/// Miri does not support madvise(2): there the memory is the allocator's.
#[cfg(miri)]
struct Mapping {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: nothing reads or writes through it; any thread may free it.
#[cfg(miri)]
unsafe impl Send for Mapping {}
// SAFETY: as above.
#[cfg(miri)]
unsafe impl Sync for Mapping {}

#[cfg(miri)]
impl Mapping {
    fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn new(size: usize) -> Option<Self> {
        let layout = Self::layout(size)?;
        // SAFETY: the size is not 0 (`layout`).
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        Some(Self {
            start: NonNull::new(start)?,
            size,
        })
    }

    fn layout(size: usize) -> Option<std::alloc::Layout> {
        let align = if size >= HUGE { HUGE } else { 4096 };
        std::alloc::Layout::from_size_align(size, align)
            .ok()
            .filter(|layout| layout.size() > 0)
    }
}

#[cfg(miri)]
impl Drop for Mapping {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.size) {
            // SAFETY: allocated in `new` with this layout; no part exists any more: each keeps the
            // mapping.
            unsafe { std::alloc::dealloc(self.start.as_ptr(), layout) };
        }
    }
}

/// The size of a large page (transparent huge pages, x86-64 and most of AArch64).
#[cfg(any(miri, test))]
const HUGE: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_lie_side_by_side_and_do_not_overlap() {
        let sizes = [4096, 2 << 20, (2 << 20) + 4096, 6 << 20];
        // Under Miri, checking a million bytes takes a minute.
        for size in sizes.into_iter().take(if cfg!(miri) { 1 } else { 4 }) {
            let arena = Arena::take(size).unwrap();
            assert!(size < HUGE || arena.mapping.start().addr().get().is_multiple_of(HUGE));
            let half = size / 2;
            let mut parts = arena.cut(&[half, size - half, 1]);
            assert_eq!(parts.len(), 2, "there is no room for the third");
            assert!(parts.iter().all(|part| part.bytes().iter().all(|byte| *byte == 0)));
            parts[0].bytes_mut().fill(1);
            parts[1].bytes_mut().fill(2);
            assert!(parts[0].bytes().iter().all(|byte| *byte == 1));
            drop(parts.remove(0));
            assert!(parts[0].bytes().iter().all(|byte| *byte == 2));
            parts[0].wipe(3..21);
            assert!(parts[0].bytes()[3..21].iter().all(|byte| *byte == 0));
            assert_eq!((parts[0].bytes()[2], parts[0].bytes()[21]), (2, 2));
        }
        assert!(Arena::take(0).is_none());
    }

    #[cfg(not(miri))]
    /// The kernel's flags of the mapping at an address (proc(5), `VmFlags`).
    fn flags_at(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut is_here = false;
        for line in maps.lines() {
            let range = line.split(' ').next().unwrap().split_once('-');
            if let Some((start, end)) = range
                && let (Ok(start), Ok(end)) = (usize::from_str_radix(start, 16), usize::from_str_radix(end, 16))
            {
                is_here = (start..end).contains(&address);
            }
            if is_here && let Some(flags) = line.strip_prefix("VmFlags:") {
                return format!("{flags} ");
            }
        }
        panic!("nothing is mapped at {address:x}");
    }

    #[cfg(not(miri))]
    #[test]
    fn the_kernel_keeps_it_from_core_dumps_and_from_children() {
        for size in [4096, 2 << 20, 4 << 20] {
            let parts = Arena::take(size).unwrap().cut(&[size]);
            for address in [parts[0].start.addr().get(), parts[0].start.addr().get() + size - 1] {
                let flags = flags_at(address);
                assert!(flags.contains(" dd ") && flags.contains(" wf "), "{flags}");
            }
        }
    }

    #[cfg(not(miri))]
    #[test]
    fn a_forked_child_finds_zeros() {
        let mut parts = Arena::take(4 << 20).unwrap().cut(&[4 << 20]);
        parts[0].bytes_mut().fill(7);
        // SAFETY: the child only reads memory and exits.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let empty = parts[0].bytes().iter().all(|byte| *byte == 0);
            // SAFETY: exits without running any code of the parent.
            unsafe { libc::_exit(i32::from(!empty)) };
        }
        let mut status = 0;
        // SAFETY: waits for the child made above.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
        assert!(parts[0].bytes().iter().all(|byte| *byte == 7));
    }
}
