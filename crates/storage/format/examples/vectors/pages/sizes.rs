//! The number of pages, and their offsets (FORMAT 2.2 to 2.4).

use selenite_cipher::Suite;
use selenite_format::{Geometry, PageSize, Superblock};

use super::{images, sample};
use crate::vector::{Sparse, Vector};
use crate::world::{Sealer, encode, main_file_of, superblock};

pub fn all() -> Vec<Vector> {
    let suite = Suite::Aes256;
    let mut cut = images(suite);
    cut[1].truncate(1000);
    cut.truncate(2);
    let cut = Vector::new(
        "page/cut",
        "unauthentic page 2",
        "page 2 is cut off after 1000 bytes: it counts, and is refused",
    )
    .line("pages", 2)
    .released(1, &sample()[0])
    .refused(2, "unauthentic")
    .file(main_file_of(&superblock(suite), &cut));
    let displaced = [PageSize::MIN, PageSize::DEFAULT, PageSize::MAX].map(|page_size| displaced(suite, page_size));
    [vec![cut], displaced.to_vec()].concat()
}

/// A sparse file of 1 GiB: its first page, and those near the displaced page and the lock page.
fn displaced(suite: Suite, page_size: PageSize) -> Vector {
    let geometry = Geometry::new(page_size);
    let (lock, displaced) = (geometry.lock_page().0, geometry.displaced_page().0);
    let mut sealer = Sealer::new(1, suite);
    let superblock = encode(&Superblock {
        page_size,
        ..superblock(suite)
    });
    let mut file = Sparse::new("main").put(0, superblock.clone()).put(32768, superblock);
    let name = format!("page/displaced-{page_size}");
    let comment = format!("page {displaced} lies in the place of page {lock}, so that no page lies on a lock byte");
    // With pages of 64 KiB the displaced page is the last page before the lock page.
    let (numbers, count): (&[u32], u32) = if page_size == PageSize::MAX {
        (&[displaced], lock - 1)
    } else {
        (
            &[1, displaced - 1, displaced, displaced + 1, lock - 1, lock + 1],
            lock + 1,
        )
    };
    let mut vector = Vector::new(&name, "ok", &comment).line("pages", count);
    for &number in numbers {
        let page = page_saying(number, page_size.bytes());
        file = file.put(place(number, displaced, lock, page_size), sealer.seal(number, &page));
        vector = vector.released(number, &page);
    }
    vector.file(file)
}

/// FORMAT 2.2 and 2.3, implemented independently of the crate.
fn place(number: u32, displaced: u32, lock: u32, page_size: PageSize) -> u64 {
    let number = if number == displaced { lock } else { number };
    65536 + (u64::from(number) - 1) * page_size.as_u64()
}

/// A page that begins with its number and is otherwise zero.
fn page_saying(number: u32, size: usize) -> Vec<u8> {
    let mut page = vec![0; size];
    page[..4].copy_from_slice(&number.to_be_bytes());
    page
}
