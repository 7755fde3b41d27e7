//! Searches all bytes that reached a disk, at any time and in any file, for bytes that must not appear there.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use memchr::memmem::Finder;
use selenite_vfs::role::Role;

use crate::content::{to_u64, to_usize};
use crate::{Content, Disk, Inode, Operation};

/// An occurrence of bytes that were searched for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sighting {
    /// The index of the marker or word.
    pub marker: usize,
    /// The role of the file.
    pub role: Role,
    /// The offset in the file.
    pub offset: u64,
    /// The number of operations before it.
    pub position: usize,
}

/// Searches for markers, each at least [`MARKER_SIZE_MIN`] bytes long. Each file is searched after
/// every write, so that a marker written in two pieces is found, too.
///
/// # Panics
/// If a marker is so short that it would be found by chance.
#[must_use]
pub fn find_markers(disk: &Disk, markers: &[&[u8]]) -> Vec<Sighting> {
    assert!(markers.iter().all(|marker| marker.len() >= MARKER_SIZE_MIN));
    let finders: Vec<_> = markers.iter().map(Finder::new).collect();
    let reach = markers.iter().map(|marker| marker.len()).max().unwrap_or(1) - 1;
    let mut sightings = Vec::new();
    for_each_region(disk, reach, &mut |position, role, offset, region| {
        for (marker, finder) in finders.iter().enumerate() {
            for found in finder.find_iter(region) {
                sightings.push(Sighting {
                    marker,
                    role,
                    offset: offset + to_u64(found),
                    position,
                });
            }
        }
    });
    sightings
}

/// Searches for any of a set of words of 8 bytes.
#[must_use]
pub fn find_words(disk: &Disk, words: &HashSet<[u8; 8]>) -> Vec<Sighting> {
    let mut sightings = Vec::new();
    for_each_region(disk, 7, &mut |position, role, offset, region| {
        for (index, window) in region.windows(8).enumerate() {
            let is_wanted = window.try_into().is_ok_and(|word: [u8; 8]| words.contains(&word));
            if is_wanted {
                sightings.push(Sighting {
                    marker: 0,
                    role,
                    offset: offset + to_u64(index),
                    position,
                });
            }
        }
    });
    sightings
}

/// The roles of the files in which a marker was found.
#[must_use]
pub fn roles_of(sightings: &[Sighting], marker: usize) -> Vec<Role> {
    let mut roles: Vec<Role> = Vec::new();
    for sighting in sightings.iter().filter(|sighting| sighting.marker == marker) {
        if !roles.contains(&sighting.role) {
            roles.push(sighting.role);
        }
    }
    roles
}

/// A write: offset and bytes.
pub type Write = (u64, Arc<[u8]>);

/// All writes to files of one role.
#[must_use]
pub fn writes_of(disk: &Disk, wanted: Role) -> Vec<Write> {
    let mut writes = Vec::new();
    for operation in disk.log() {
        if let Operation::Write { role, offset, data, .. } = operation
            && role == wanted
        {
            writes.push((offset, data));
        }
    }
    writes
}

/// A callback for one write: number of operations before it, role of the file, offset of the bytes, bytes.
type Show<'a> = &'a mut dyn FnMut(usize, Role, u64, &[u8]);

/// Calls `show` for every write, with `reach` bytes of the file before and after it in the state at that time.
fn for_each_region(disk: &Disk, reach: usize, show: Show<'_>) {
    let mut files: BTreeMap<Inode, Content> = BTreeMap::new();
    for origin in disk.origin() {
        show(0, origin.role, 0, &origin.content.to_vec());
        files.insert(origin.inode, origin.content.clone());
    }
    for (index, operation) in disk.log().iter().enumerate() {
        match operation {
            Operation::Write {
                inode,
                role,
                offset,
                data,
            } => {
                let content = files.entry(*inode).or_default();
                content.write(data, *offset);
                let start = offset.saturating_sub(to_u64(reach));
                let end = (offset + to_u64(data.len() + reach)).min(content.size());
                let mut region = vec![0; to_usize(end - start)];
                content.read(&mut region, start);
                show(index + 1, *role, start, &region);
            }
            Operation::Truncate { inode, size } => files.entry(*inode).or_default().truncate(*size),
            Operation::Create { .. }
            | Operation::Sync { .. }
            | Operation::SyncFolder
            | Operation::Rename { .. }
            | Operation::Delete { .. } => {}
        }
    }
}

/// Eight random bytes match a given position with probability 2^-64.
pub const MARKER_SIZE_MIN: usize = 8;
