//! Where a machine stops, and what of the last unsynced writes it had done by then.

use crate::random::{Random, seed_of};
use crate::{Inode, Operation};

/// A crash after that many operations of a log.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CrashPoint {
    /// How many operations were begun.
    pub position: usize,
    /// What became of those that were not synced.
    pub tear: Tear,
}

/// What became of the operations that were not synced.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tear {
    /// All were done: the process stopped, not the machine.
    All,
    /// None was.
    None,
    /// All were but the last, a write, of which only so many first bytes were.
    Head(usize),
    /// All were but the last, a write, of which so many first bytes were not.
    Tail(usize),
    /// Each was, or was not: by this seed.
    Subset(u64),
    /// Of every sector, the writes to it were done up to some: by this seed.
    Sectors(u64),
    /// As with `Sectors`, but of a sector to which a write was under way the bytes that it writes are others, or,
    /// without powersafe overwrite, all of its bytes.
    Damaged {
        /// By this seed.
        seed: u64,
        /// Of so many bytes.
        sector_size: u32,
        /// Whether what was not being written is kept.
        powersafe: bool,
    },
}

/// What a power failure damages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damage {
    /// The size of a sector.
    pub sector_size: u32,
    /// Whether only what was being written is damaged, not the rest of its sector.
    pub powersafe: bool,
}

/// How many tears are tried at one operation.
#[derive(Clone, Copy, Debug)]
pub struct Density {
    /// Cuts through a write.
    pub cuts: u64,
    /// Subsets of operations, and as many of sectors.
    pub subsets: u64,
}

impl Density {
    /// Enough for a scenario of some hundred operations.
    pub const USUAL: Self = Self { cuts: 3, subsets: 2 };
    /// For a scenario of some ten.
    pub const DENSE: Self = Self { cuts: 24, subsets: 12 };
}

/// All crash points of a log that concern files with a name.
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

/// In the first bytes, where magics are; at a sector's end, and anywhere. SQLite assumes that a disk writes a sector
/// from either end (sqlite.org/atomiccommit.html#_hardware_assumptions).
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

/// The files of a log that were not made without a name.
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

/// The longest magic is that of a superblock.
const HEAD_SIZE: usize = 16;
const HEAD_SIZE_U64: u64 = 16;
/// What a disk writes in one piece.
pub(crate) const SECTOR_SIZE: u64 = 512;
