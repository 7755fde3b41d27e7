//! A second address of a shared mapping, which can be given another mapping while it is in use.

use std::ptr::NonNull;

/// Pages of a shared mapping (mmap(2), MAP_SHARED) of another owner, at an address of ours.
pub(in crate::ffi) struct SharedAlias {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: it is only remapped and unmapped, by one thread at a time; any thread may do that (mremap(2)).
unsafe impl Send for SharedAlias {}

impl SharedAlias {
    /// Of `size` bytes at `target`, both multiples of the system's page size; `None` if that is no shared mapping.
    pub(in crate::ffi) fn new(target: NonNull<u8>, size: usize) -> Option<Self> {
        // SAFETY: an old size of 0 leaves the mapping at `target` as it is, and maps its pages at a free address.
        let start = unsafe { libc::mremap(target.as_ptr().cast(), 0, size, libc::MREMAP_MAYMOVE) };
        if start == libc::MAP_FAILED {
            return None;
        }
        Some(Self {
            start: NonNull::new(start.cast())?,
            size,
        })
    }

    pub(in crate::ffi) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Shows the pages at `target` instead. Returns whether it does.
    pub(in crate::ffi) fn retarget(&self, target: NonNull<u8>) -> bool {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: as in `new`; what is replaced is this value's own mapping, whose users read whatever is there.
        let moved = unsafe {
            libc::mremap(
                target.as_ptr().cast(),
                0,
                self.size,
                flags,
                self.start.as_ptr().cast::<libc::c_void>(),
            )
        };
        moved != libc::MAP_FAILED
    }

    /// Shows zeros instead, which no other process shares. Returns whether it does.
    pub(in crate::ffi) fn blank(&self) -> bool {
        // SAFETY: what is replaced is this value's own mapping, as in `retarget`.
        let mapped = unsafe {
            libc::mmap(
                self.start.as_ptr().cast(),
                self.size,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        mapped != libc::MAP_FAILED
    }
}

impl Drop for SharedAlias {
    fn drop(&mut self) {
        // SAFETY: this value's own mapping, which its owner has stopped to use.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.size) };
    }
}
