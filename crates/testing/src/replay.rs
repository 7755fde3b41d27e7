//! Reconstructs the disk after a crash from the log of the disk that crashed.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::ops::Range;

use selenite_vfs::role::Role;

use crate::content::{to_u64, to_usize};
use crate::crash_point::SECTOR_SIZE;
use crate::random::{Random, seed_of};
use crate::{Content, Disk, Image, Inode, Operation, Tear};

/// When a created or deleted name becomes durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Namespace {
    /// When its folder is synced, and not before (POSIX).
    AtFolderSync,
    /// Immediately, as on a journaling file system that writes its journal in order.
    AtOnce,
}

/// Moves forward through a log and constructs crash images.
pub struct Replay<'a> {
    log: &'a [Operation],
    namespace: Namespace,
    position: usize,
    durable: State,
    /// Operations that have begun and are not durable, in order.
    pending: Vec<usize>,
    /// The number of durable operations. It only increases, so it identifies a durable state.
    settled: usize,
}

#[derive(Clone, Default)]
struct State {
    names: BTreeMap<String, Inode>,
    files: BTreeMap<Inode, (Role, Content)>,
}

/// The completed part of a pending operation.
enum Part {
    All,
    Nothing,
    Head(usize),
    Tail(usize),
    /// Of the file's `count` pending writes, each sector has a random number of the first ones, by this seed.
    Sectors {
        seed: u64,
        count: u64,
    },
    /// As `Sectors`; in addition, an incomplete write damages its bytes.
    Damaged {
        seed: u64,
        count: u64,
        sector_size: u64,
        powersafe: bool,
    },
}

/// The position of an operation among those pending on its file.
#[derive(Clone, Copy)]
struct Order {
    index: u64,
    count: u64,
}

impl<'a> Replay<'a> {
    /// Starts at the beginning of `log`, the log of `disk`.
    #[must_use]
    pub fn new(disk: &Disk, log: &'a [Operation], namespace: Namespace) -> Self {
        let mut durable = State::default();
        for origin in disk.origin() {
            durable.names.insert(origin.path.clone(), origin.inode);
            durable
                .files
                .insert(origin.inode, (origin.role, origin.content.clone()));
        }
        Self {
            log,
            namespace,
            position: 0,
            durable,
            pending: Vec::new(),
            settled: 0,
        }
    }

    /// Advances until `position` operations have begun; never moves back.
    pub fn advance(&mut self, position: usize) {
        while self.position < position {
            self.step(self.position);
            self.position += 1;
        }
    }

    /// The disk after a crash at this position, and a number that differs between different images.
    #[must_use]
    pub fn image(&self, tear: Tear) -> (Image, u64) {
        let mut state = self.durable.clone();
        let mut hasher = DefaultHasher::new();
        self.settled.hash(&mut hasher);
        let mut orders = self.orders();
        for (number, &index) in self.pending.iter().enumerate() {
            let operation = &self.log[index];
            let Some(order) = orders.get_mut(&operation.inode()) else {
                continue;
            };
            let part = part_of(tear, operation, number, index + 1 == self.position, *order);
            let mut note = |done: u64| (index, done).hash(&mut hasher);
            state.apply(operation, &part, order.index, &mut note);
            order.index += 1;
        }
        (state.into_image(), hasher.finish())
    }

    fn orders(&self) -> BTreeMap<Option<Inode>, Order> {
        let mut orders = BTreeMap::new();
        for &index in &self.pending {
            let order = orders
                .entry(self.log[index].inode())
                .or_insert(Order { index: 0, count: 0 });
            order.count += 1;
        }
        orders
    }

    fn step(&mut self, index: usize) {
        match &self.log[index] {
            Operation::Sync { inode, .. } => {
                let mut settled = |operation: &Operation| matches!(operation, Operation::Write { inode: of, .. } | Operation::Truncate { inode: of, .. } if of == inode);
                self.settle(&mut settled);
            }
            Operation::SyncFolder => self.settle(&mut is_of_folder),
            Operation::Create { .. } | Operation::Rename { .. } | Operation::Delete { .. } => {
                self.pending.push(index);
                if self.namespace == Namespace::AtOnce {
                    self.settle(&mut is_of_folder);
                }
            }
            Operation::Write { .. } | Operation::Truncate { .. } => self.pending.push(index),
        }
    }

    fn settle(&mut self, settled: &mut dyn FnMut(&Operation) -> bool) {
        let (log, durable, count) = (self.log, &mut self.durable, self.pending.len());
        self.pending.retain(|&index| {
            let operation = &log[index];
            let is_settled = settled(operation);
            if is_settled {
                durable.apply(operation, &Part::All, 0, &mut |_| ());
            }
            !is_settled
        });
        self.settled += count - self.pending.len();
    }
}

fn is_of_folder(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Create { .. } | Operation::Rename { .. } | Operation::Delete { .. }
    )
}

fn part_of(tear: Tear, operation: &Operation, number: usize, is_last: bool, order: Order) -> Part {
    match tear {
        Tear::All => Part::All,
        Tear::None => Part::Nothing,
        Tear::Head(size) if is_last => Part::Head(size),
        Tear::Tail(size) if is_last => Part::Tail(size),
        Tear::Head(_) | Tear::Tail(_) => Part::All,
        Tear::Subset(seed) => {
            // Some crashes lose little, others nearly everything.
            let kept = [1, 4, 7][to_usize(seed % 3)];
            if Random::new(seed_of(&[seed, to_u64(number)])).chance(kept, 8) {
                Part::All
            } else {
                Part::Nothing
            }
        }
        Tear::Sectors(seed) => Part::Sectors {
            seed: seed_of(&[seed, operation.inode().map_or(0, |inode| inode.0)]),
            count: order.count,
        },
        Tear::Damaged {
            seed,
            sector_size,
            powersafe,
        } => Part::Damaged {
            seed: seed_of(&[seed, operation.inode().map_or(0, |inode| inode.0)]),
            count: order.count,
            sector_size: u64::from(sector_size),
            powersafe,
        },
    }
}

impl State {
    fn apply(&mut self, operation: &Operation, part: &Part, order: u64, note: &mut dyn FnMut(u64)) {
        match operation {
            Operation::Create { inode, path, role } => {
                self.files.entry(*inode).or_insert_with(|| (*role, Content::default()));
                if let (Some(path), true) = (path, part.is_whole(order)) {
                    self.names.insert(path.clone(), *inode);
                    note(1);
                }
            }
            Operation::Rename { inode, from, to } => {
                if part.is_whole(order) && self.names.get(from) == Some(inode) {
                    self.names.remove(from);
                    self.names.insert(to.clone(), *inode);
                    note(1);
                }
            }
            Operation::Delete { inode, path } => {
                if part.is_whole(order) && self.names.get(path) == Some(inode) {
                    self.names.remove(path);
                    note(1);
                }
            }
            Operation::Truncate { inode, size } => {
                if let (Some((_, content)), true) = (self.files.get_mut(inode), part.is_whole(order)) {
                    content.truncate(*size);
                    note(1);
                }
            }
            Operation::Write {
                inode,
                role,
                offset,
                data,
            } => {
                let (_, content) = self.files.entry(*inode).or_insert_with(|| (*role, Content::default()));
                write_part(content, *offset, data, part, order, note);
            }
            Operation::Sync { .. } | Operation::SyncFolder => {}
        }
    }

    fn into_image(self) -> Image {
        let files = self.names.into_iter().filter_map(|(path, inode)| {
            let (role, content) = self.files.get(&inode)?;
            Some((path, (*role, content.clone())))
        });
        Image { files: files.collect() }
    }
}

impl Part {
    fn is_whole(&self, order: u64) -> bool {
        match self {
            Self::All | Self::Head(_) | Self::Tail(_) => true,
            Self::Nothing => false,
            Self::Sectors { seed, count } | Self::Damaged { seed, count, .. } => order < reach(*seed, *count, u64::MAX),
        }
    }
}

/// The number of completed writes to a sector.
fn reach(seed: u64, count: u64, sector: u64) -> u64 {
    let mut random = Random::new(seed_of(&[seed, sector]));
    let (one, two) = (random.below(count + 1), random.below(count + 1));
    // Some crashes lose little, others nearly everything.
    match seed % 3 {
        0 => one.min(two),
        1 => one,
        _ => one.max(two),
    }
}

/// Calls `each` with every sector that a write touches, and the part of the write in that sector.
fn by_sector(offset: u64, size: usize, sector_size: u64, mut each: impl FnMut(u64, Range<u64>)) {
    let end = offset + to_u64(size);
    let mut at = offset;
    while at < end {
        let sector = at / sector_size;
        let stop = ((sector + 1) * sector_size).min(end);
        each(sector, at..stop);
        at = stop;
    }
}

/// Damages a sector: fills it with zeros, ones, one byte, bytes from elsewhere in the file, or random bytes.
fn damage(content: &mut Content, place: Range<u64>, mut random: Random) {
    let mut bytes = vec![0; to_usize(place.end - place.start)];
    match random.below(5) {
        0 => {}
        1 => bytes.fill(0xff),
        2 => bytes.fill(random.draw().to_le_bytes()[0]),
        3 => {
            let from = random.below(content.size().max(1)) / 512 * 512;
            content.read(&mut bytes, from);
        }
        _ => bytes.fill_with(|| random.draw().to_le_bytes()[0]),
    }
    content.write(&bytes, place.start);
}

fn write_part(content: &mut Content, offset: u64, data: &[u8], part: &Part, order: u64, note: &mut dyn FnMut(u64)) {
    match part {
        Part::All => {
            content.write(data, offset);
            note(to_u64(data.len()));
        }
        Part::Nothing => {}
        Part::Head(size) => {
            let size = (*size).min(data.len());
            content.write(&data[..size], offset);
            note(to_u64(size));
        }
        Part::Tail(size) => {
            let size = (*size).min(data.len());
            content.write(&data[size..], offset + to_u64(size));
            note(u64::MAX - to_u64(size));
        }
        Part::Sectors { seed, count } => by_sector(offset, data.len(), SECTOR_SIZE, |sector, place| {
            if order < reach(*seed, *count, sector) {
                content.write(
                    &data[to_usize(place.start - offset)..to_usize(place.end - offset)],
                    place.start,
                );
                note(place.start);
            }
        }),
        Part::Damaged {
            seed,
            count,
            sector_size,
            powersafe,
        } => by_sector(offset, data.len(), *sector_size, |sector, place| {
            let reach = reach(*seed, *count, sector);
            if order < reach {
                content.write(
                    &data[to_usize(place.start - offset)..to_usize(place.end - offset)],
                    place.start,
                );
                note(place.start);
            } else if order == reach {
                let whole = sector * sector_size..((sector + 1) * sector_size).min(place.end.max(content.size()));
                let place = if *powersafe { place } else { whole };
                note(u64::MAX - place.start);
                damage(content, place, Random::new(seed_of(&[*seed, sector, 1])));
            }
        }),
    }
}

/// The crash images already replayed, with the number of commits acknowledged before each.
#[derive(Default)]
pub struct ReplayedCrashes(BTreeSet<(u64, u64)>);

impl ReplayedCrashes {
    /// Adds an image; returns whether it is new.
    pub fn insert(&mut self, image: u64, acknowledged: u64) -> bool {
        self.0.insert((image, acknowledged))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A disk with a file of 1024 synced bytes of 1 and an unsynced write of 1024 bytes of 2, and a
    /// file created later.
    fn crashed() -> Arc<Disk> {
        let disk = Disk::new();
        let mut state = disk.lock();
        let first = state.create(Role::Main, Some("/first"));
        state.write(first, &[1; 1024], 0).unwrap();
        state.sync(first, true).unwrap();
        let second = state.create(Role::Journal, Some("/second"));
        state.write(second, b"second", 0).unwrap();
        state.sync(second, false).unwrap();
        state.write(first, &[2; 1024], 0).unwrap();
        drop(state);
        disk
    }

    fn image(namespace: Namespace, tear: Tear) -> Image {
        let disk = crashed();
        let log = disk.log();
        let mut replay = Replay::new(&disk, &log, namespace);
        replay.advance(log.len());
        replay.image(tear).0
    }

    #[test]
    fn synced_writes_are_kept_and_the_others_follow_the_tear() {
        let first = |tear| image(Namespace::AtOnce, tear).bytes("/first");
        assert_eq!(first(Tear::None), [1; 1024]);
        assert_eq!(first(Tear::All), [2; 1024]);
        assert_eq!(first(Tear::Head(100)), [[2; 100].as_slice(), &[1; 924]].concat());
        assert_eq!(first(Tear::Tail(100)), [[1; 100].as_slice(), &[2; 924]].concat());
    }

    #[test]
    fn a_name_is_durable_with_its_folder_only() {
        let has = |namespace, tear| image(namespace, tear).files.contains_key("/second");
        assert!(!has(Namespace::AtFolderSync, Tear::None));
        assert!(has(Namespace::AtFolderSync, Tear::All));
        assert!(has(Namespace::AtOnce, Tear::None));
    }

    #[test]
    fn damage_reaches_the_rest_of_a_sector_unless_overwriting_is_powersafe() {
        let disk = Disk::new();
        let mut state = disk.lock();
        let file = state.create(Role::Main, Some("/first"));
        state.write(file, &[1; 8192], 0).unwrap();
        state.sync(file, true).unwrap();
        state.write(file, &[2; 100], 4196).unwrap();
        drop(state);
        let log = disk.log();
        let mut replay = Replay::new(&disk, &log, Namespace::AtOnce);
        replay.advance(log.len());
        for powersafe in [true, false] {
            let mut rest_is_damaged = 0;
            for seed in 0..200 {
                let tear = Tear::Damaged {
                    seed,
                    sector_size: 4096,
                    powersafe,
                };
                let bytes = replay.image(tear).0.bytes("/first");
                assert_eq!(bytes[..4096], [1; 4096], "another sector");
                rest_is_damaged += u32::from(bytes[4296..] != [1; 3896]);
            }
            assert_eq!(rest_is_damaged > 0, !powersafe);
        }
    }

    #[test]
    fn seeds_keep_and_drop_whole_sectors() {
        let mut seen = BTreeSet::new();
        for seed in 0..64 {
            let bytes = image(Namespace::AtOnce, Tear::Sectors(seed)).bytes("/first");
            assert!(bytes.chunks(512).all(|sector| sector == [sector[0]; 512]));
            seen.insert((bytes[0], bytes[1023]));
        }
        assert_eq!(seen.len(), 4, "{seen:?}");
    }
}
