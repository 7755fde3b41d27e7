//! Headers and records of any content, and roll-back of an altered journal.

use std::sync::OnceLock;

use crate::journal::Journal;
use crate::{World, altered};
use selenite_format::PageSize;
use selenite_format::journal::{HEADER_SIZE, Header, MAGIC, Record, magic_from_disk, magic_to_disk};

fn world() -> &'static World {
    static WORLD: OnceLock<World> = OnceLock::new();
    WORLD.get_or_init(|| {
        let mut world = World::new(
            include_bytes!("../../../../testdata/vectors/journal/good.vec"),
            "journal",
        );
        let file = altered(&world.original, &[1]);
        let overlay = Journal::default()
            .roll_back(&mut world.database(), &file)
            .expect("a good vector");
        assert_eq!(overlay.pages.len(), 3);
        for (number, page) in overlay.pages {
            world.add_sealed(number, page);
        }
        world
    })
}

/// Panics if an invariant does not hold.
pub fn fuzz(data: &[u8]) {
    if let Some(&start) = data.first_chunk::<8>() {
        let stored = magic_to_disk(start);
        assert_eq!(stored[0], 0);
        let given = magic_from_disk(stored);
        assert_eq!(given == MAGIC, start[1..] == MAGIC[1..]);
        assert_eq!(given[1..], start[1..]);
    }
    if let Some(bytes) = data.first_chunk::<HEADER_SIZE>()
        && let Some(header) = Header::parse(bytes)
    {
        assert_eq!(header.encode(), *bytes);
    }
    if let Some(record) = Record::parse(data, PageSize::MIN) {
        let again = [
            &record.page_no.0.to_be_bytes(),
            record.image,
            &record.checksum.to_be_bytes(),
        ]
        .concat();
        assert_eq!(again, data);
    }
    let world = world();
    let file = altered(&world.original, data);
    if let Ok(overlay) = Journal::default().roll_back(&mut world.database(), &file) {
        world.check(overlay);
    }
}
