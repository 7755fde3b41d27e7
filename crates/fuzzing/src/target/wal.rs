//! Headers and frame headers of any content, and recovery of an altered WAL.

use std::sync::OnceLock;

use crate::log::Log;
use crate::{World, altered};
use selenite_format::wal::{FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE, header_from_disk, header_to_disk};

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let mut world = World::new(include_bytes!("../../../../testdata/vectors/wal/good.vec"), "wal");
        let file = altered(&world.original, &[1]);
        let mut database = world.database();
        let mut log = Log::new(&database, &file);
        log.recover(&mut database).expect("a good vector");
        let pages: Vec<_> = (0..log.frame_count)
            .map(|index| log.read(&mut database, index).expect("a good frame"))
            .collect();
        assert_eq!(pages.len(), 4);
        for (number, page) in pages {
            world.add_sealed(number, page);
        }
        world
    })
}

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    if let Some(header) = data.first_chunk::<HEADER_SIZE>() {
        if let Ok(disk) = header_to_disk(header) {
            assert_eq!(header_from_disk(&disk), Ok(*header));
            assert!(header_from_disk(header).is_err());
        }
        if let Ok(given) = header_from_disk(header) {
            assert_eq!(header_to_disk(&given), Ok(*header));
        }
    }
    if let Some(header) = data.first_chunk::<FRAME_HEADER_SIZE>() {
        assert_eq!(FrameHeader::parse(header).encode(), *header);
    }
    let world = world();
    let file = altered(&world.original, data);
    let mut database = world.database();
    let mut log = Log::new(&database, &file);
    if let Ok(overlay) = log.recover(&mut database) {
        world.check(overlay);
    }
}
