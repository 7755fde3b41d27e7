//! Anonymous memory that is excluded from core dumps, and zero in a forked child.

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// Zeroed memory, aligned to [`HUGE`] if it is as large.
pub(in crate::ffi) struct Mapping {
    start: NonNull<u8>,
    /// A multiple of the system's page size.
    size: usize,
}

// SAFETY: a mapping is only unmapped, when it is dropped; any thread may do that (mmap(2)).
unsafe impl Send for Mapping {}
// SAFETY: as above: nothing reads or writes through it.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// At least `size` bytes; `None` if there are none, or if the kernel cannot exclude them from
    /// core dumps and wipe them on fork (before Linux 4.14).
    pub(in crate::ffi) fn new(size: usize) -> Option<Self> {
        let mapping = Self::map(size)?;
        let is_private = mapping.advise(libc::MADV_DONTDUMP) && mapping.advise(libc::MADV_WIPEONFORK);
        is_private.then_some(mapping)
    }

    pub(in crate::ffi) fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn map(size: usize) -> Option<Self> {
        // Maps more than requested, so that it contains an address that is a multiple of `HUGE`;
        // the rest is unmapped.
        let extent = Extent::of(size, super::super::system_page_size())?;
        let start = map_anonymous(extent.mapped)?;
        let (before, after) = extent.surplus(start.addr().get());
        // SAFETY: `before + size + after` is what was mapped.
        let aligned = unsafe { start.add(before) };
        if before > 0 {
            // SAFETY: the first bytes of the mapping made above, to which no other reference
            // exists.
            unsafe { libc::munmap(start.as_ptr().cast(), before) };
        }
        if after > 0 {
            // SAFETY: `before + size <= mapped`: the end of the part that is kept.
            let end = unsafe { aligned.add(extent.size) };
            // SAFETY: the last bytes of the mapping made above, to which no other reference exists.
            unsafe { libc::munmap(end.as_ptr().cast(), after) };
        }
        let mapping = Self {
            start: aligned,
            size: extent.size,
        };
        if size >= HUGE {
            // One page fault then maps 2 MiB, if the system supports it.
            let _ = mapping.advise(libc::MADV_HUGEPAGE);
        }
        Some(mapping)
    }

    fn advise(&self, advice: libc::c_int) -> bool {
        // SAFETY: this value owns the mapping; a kernel that does not know the advice returns an
        // error and does nothing.
        unsafe { libc::madvise(self.start.as_ptr().cast(), self.size, advice) == 0 }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping made in `new`; no part exists any more: each keeps the mapping.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}

/// The words of a process that are never unmapped; and whether the kernel wipes them in a child.
pub(in crate::ffi) fn map_fork_words() -> Option<(&'static [AtomicU64; 64], bool)> {
    let mapping = std::mem::ManuallyDrop::new(Mapping::map(size_of::<[AtomicU64; 64]>())?);
    let wiped_by_kernel = mapping.advise(libc::MADV_WIPEONFORK);
    // Session and counters stay out of core dumps.
    let _ = mapping.advise(libc::MADV_DONTDUMP);
    // SAFETY: zero bytes of at least that size, aligned, never unmapped: atomics of 8 bytes.
    let words = unsafe { mapping.start.cast::<[AtomicU64; 64]>().as_ref() };
    Some((words, wiped_by_kernel))
}

fn map_anonymous(size: usize) -> Option<NonNull<u8>> {
    // SAFETY: an anonymous mapping at an address of the kernel's choice.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    NonNull::new(start.cast())
}

/// The sizes of a mapping, in whole pages of the system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extent {
    size: usize,
    /// `size`, and room to align it.
    mapped: usize,
}

impl Extent {
    fn of(size: usize, system_page: usize) -> Option<Self> {
        let slack = if size >= HUGE { HUGE } else { 0 };
        let size = size.checked_next_multiple_of(system_page).filter(|size| *size > 0)?;
        Some(Self {
            size,
            mapped: size.checked_add(slack)?,
        })
    }

    /// The bytes before and after the part that is kept, of a mapping at this address.
    fn surplus(self, address: usize) -> (usize, usize) {
        let slack = self.mapped - self.size;
        let before = match slack {
            0 => 0,
            _ => address.next_multiple_of(HUGE) - address,
        };
        (before, slack - before)
    }
}

/// The size of a large page (transparent huge pages, x86-64 and most of AArch64).
const HUGE: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// munmap(2) and madvise(2) refuse addresses within a page.
    #[test]
    fn every_part_of_a_mapping_begins_and_ends_at_a_page_of_the_system() {
        for page in [4096, 16384, 65536] {
            for size in [
                512,
                4096,
                12288,
                page,
                page + 1,
                HUGE - 4096,
                HUGE,
                HUGE + 4096,
                3 * HUGE + 20480,
            ] {
                let extent = Extent::of(size, page).unwrap();
                assert!(extent.size >= size && extent.size < size + page, "{extent:?}");
                for first in 0..HUGE / page {
                    let address = (1 << 40) + first * page;
                    let (before, after) = extent.surplus(address);
                    assert_eq!(before + extent.size + after, extent.mapped);
                    let pieces = [before, extent.size, after];
                    assert!(pieces.iter().all(|piece| piece.is_multiple_of(page)), "{pieces:?}");
                    assert!(size < HUGE || (address + before).is_multiple_of(HUGE));
                }
            }
            assert_eq!(Extent::of(0, page), None);
            assert_eq!(Extent::of(usize::MAX, page), None);
        }
    }
}
