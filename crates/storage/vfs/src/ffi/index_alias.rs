//! The WAL index at addresses of ours, so that a connection can move to another index while SQLite keeps the addresses
//! that it was given (`Wal.apWiData` in wal.c).

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::ptr::NonNull;

use super::ShmRegion;
use super::platform::{SharedAlias, system_page_size};

/// The regions that SQLite has, by number.
#[derive(Default)]
pub struct IndexAlias(BTreeMap<c_int, Region>);

struct Region {
    alias: SharedAlias,
    /// Where the region begins in the mapping, which begins at a page of the system.
    offset: usize,
    size: usize,
}

impl IndexAlias {
    /// Gives a region of the VFS below an address of ours; `None` if the system can't do that.
    pub fn add(&mut self, number: c_int, below: ShmRegion) -> Option<ShmRegion> {
        if let Some(known) = self.0.get(&number) {
            return known.shown();
        }
        if below.is_read_only {
            return None;
        }
        let (start, offset) = page_of(below)?;
        let size = below.size();
        let mapped = (offset + size).next_multiple_of(system_page_size());
        let region = Region {
            alias: SharedAlias::new(start, mapped)?,
            offset,
            size,
        };
        let shown = region.shown();
        self.0.insert(number, region);
        shown
    }

    /// The numbers of the regions, ascending, and their size in bytes.
    pub fn regions(&self) -> impl Iterator<Item = (c_int, usize)> {
        self.0.iter().map(|(number, region)| (*number, region.size))
    }

    /// Lets a region show that of another index. Returns whether it does.
    pub fn retarget(&self, number: c_int, below: ShmRegion) -> bool {
        let (Some(region), Some((start, offset))) = (self.0.get(&number), page_of(below)) else {
            return false;
        };
        offset == region.offset && !below.is_read_only && region.alias.retarget(start)
    }

    /// Lets the first region show zeros of this connection alone, and returns it; `None` if there is none.
    pub fn blank_first(&self) -> Option<ShmRegion> {
        let region = self.0.get(&0)?;
        region.alias.blank().then(|| region.shown()).flatten()
    }
}

impl Region {
    fn shown(&self) -> Option<ShmRegion> {
        // SAFETY: the offset is within the mapping.
        let start = unsafe { self.alias.start().add(self.offset) };
        ShmRegion::from_raw(start.as_ptr().cast(), self.size, false)
    }
}

/// The page of the system in which a region begins, and the offset in it.
fn page_of(region: ShmRegion) -> Option<(NonNull<u8>, usize)> {
    let start = NonNull::new(region.as_ptr().cast::<u8>())?;
    let offset = start.addr().get() % system_page_size();
    // SAFETY: a region of the VFS below lies in a mapping, which begins at a page of the system.
    Some((unsafe { start.sub(offset) }, offset))
}
