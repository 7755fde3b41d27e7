//! The points at which a machine can crash, and the state of unsynced writes at that time.

use crate::random::{Random, seed_of};
use crate::{Inode, Operation};

/// A crash after some operations of a log.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CrashPoint {
    /// How many operations had begun.
    pub position: usize,
    /// The state of the operations that were not synced.
    pub tear: Tear,
}

/// The state of the operations that were not synced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tear {
    /// All were completed: the process crashed, not the machine.
    All,
    /// None was completed.
    None,
    /// All were completed but the last, a write, of which only this many first bytes were written.
    Head(usize),
    /// All were completed but the last, a write, of which this many first bytes were not written.
    Tail(usize),
    /// Each was completed or not, at random with this seed.
    Subset(u64),
    /// For each sector, a random number of the writes to it was completed, in order, with this seed.
    Sectors(u64),
    /// As `Sectors`, but an incomplete write also damages its sector: the bytes that it writes or,
    /// without powersafe overwrite, all bytes of the sector.
    Damaged {
        /// The seed of the random choices.
        seed: u64,
        /// The size of a sector in bytes.
        sector_size: u32,
        /// Whether bytes outside the write are kept.
        powersafe: bool,
    },
}

/// The damage that a power failure does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The size of a sector in bytes.
    pub sector_size: u32,
    /// Whether only the bytes being written are damaged, not the rest of the sector.
    pub powersafe: bool,
}

/// The number of tears that are tried at one operation.
#[derive(Clone, Copy, Debug)]
pub struct Density {
    /// Cuts of a write.
    pub cuts: u64,
    /// Subsets of operations, and as many of sectors.
    pub subsets: u64,
}

impl Density {
    /// Enough for a scenario of several hundred operations.
    pub const USUAL: Self = Self { cuts: 3, subsets: 2 };
    /// For a scenario of several ten operations.
    pub const DENSE: Self = Self { cuts: 24, subsets: 12 };
}

/// All crash points of a log that affect named files.
#[must_use]
pub fn enumerate(log: &[Operation], density: Density, damage: Option<Damage>, seed: u64) -> Vec<CrashPoint> {
    let mut points = Vec::new();
    let named = Named::of(log);
    for (index, operation) in log.iter().enumerate() {
        if !operation.inode().is_none_or(|inode| named.has(inode)) {
            continue;
        }
        let position = index + 1;
        let mut random = Random::new(seed_of(&[seed, crate::content::to_u64(index)]));
        let mut tears = vec![Tear::All, Tear::None];
        if let Operation::Write { data, .. } = operation {
            add_cuts(&mut tears, data.len(), density.cuts, &mut random);
        }
        for _ in 0..density.subsets {
            tears.push(Tear::Subset(random.draw()));
            tears.push(Tear::Sectors(random.draw()));
            if let Some(Damage { sector_size, powersafe }) = damage {
                tears.extend([random.draw(), random.draw()].map(|seed| Tear::Damaged {
                    seed,
                    sector_size,
                    powersafe,
                }));
            }
        }
        points.extend(tears.into_iter().map(|tear| CrashPoint { position, tear }));
    }
    points
}

/// Adds cuts in the first bytes, where magic numbers are, at the ends of sectors, and anywhere.
/// SQLite assumes that a disk writes a sector from either end
/// (sqlite.org/atomiccommit.html#_hardware_assumptions).
fn add_cuts(tears: &mut Vec<Tear>, size: usize, count: u64, random: &mut Random) {
    let size_of = crate::content::to_u64(size);
    if count > 0 && size > HEAD_SIZE {
        let cut = 1 + crate::content::to_usize(random.below(HEAD_SIZE_U64));
        tears.extend([Tear::Head(cut), Tear::Tail(cut)]);
    }
    for number in 0..count {
        let cut = if number % 2 == 0 && size_of > SECTOR_SIZE {
            SECTOR_SIZE * (1 + random.below((size_of - 1) / SECTOR_SIZE))
        } else if size_of > 1 {
            1 + random.below(size_of - 1)
        } else {
            continue;
        };
        let cut = crate::content::to_usize(cut);
        tears.push(if number % 4 == 3 {
            Tear::Tail(cut)
        } else {
            Tear::Head(cut)
        });
    }
}

/// The files of a log that have a name.
struct Named(Vec<Inode>);

impl Named {
    fn of(log: &[Operation]) -> Self {
        let nameless = log.iter().filter_map(|operation| {
            if let Operation::Create { inode, path: None, .. } = operation {
                return Some(*inode);
            }
            None
        });
        Self(nameless.collect())
    }

    fn has(&self, inode: Inode) -> bool {
        self.0.binary_search(&inode).is_err()
    }
}

/// The size of the longest magic number, that of a superblock.
const HEAD_SIZE: usize = 16;
const HEAD_SIZE_U64: u64 = 16;
/// The unit in which a disk writes.
pub(crate) const SECTOR_SIZE: u64 = 512;
