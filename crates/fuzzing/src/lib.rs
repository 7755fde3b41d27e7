//! What the fuzz targets share: the reader that checks the vectors, and altered files for it.
//!
//! - released-was-sealed: a page that is released was sealed, under the number that it is released
//!   as.
#![forbid(unsafe_code)]

use std::collections::HashSet;

use selenite_cipher::PageNo;

pub mod archive;
#[path = "../../storage/format/tests/format/database.rs"]
pub mod database;
#[path = "../../storage/format/tests/format/journal.rs"]
pub mod journal;
#[path = "../../storage/format/tests/format/log.rs"]
pub mod log;
#[path = "../../storage/format/tests/format/overlay.rs"]
pub mod overlay;
pub mod target;
#[path = "../../storage/format/tests/format/vector.rs"]
pub mod vector;

use database::Database;
use overlay::Overlay;
use vector::{Sparse, Vector};

/// A vector with a WAL or journal, and every page that was sealed for it.
pub struct World {
    pub vector: Vector,
    pub original: Vec<u8>,
    sealed: HashSet<(u32, Vec<u8>)>,
}

impl World {
    /// `name` is the file beside the database.
    pub fn new(bytes: &[u8], name: &str) -> Self {
        let vector = Vector::parse(bytes);
        let file = vector.file(name).expect("the vector has the file");
        let original = file.read(0, usize::try_from(file.size).expect("a small file"));
        let mut world = Self {
            vector,
            original,
            sealed: HashSet::new(),
        };
        let mut database = world.database();
        let in_file = 1..=database.page_count();
        let pages: Vec<_> = in_file
            .map(|number| (number, database.page(PageNo(number)).expect("a good vector")))
            .collect();
        world.sealed.extend(pages);
        world
    }

    pub fn database(&self) -> Database<'_> {
        Database::open(&self.vector).expect("a good vector")
    }

    /// Takes what an unaltered file gives as sealed.
    pub fn add_sealed(&mut self, number: u32, page: Vec<u8>) {
        self.sealed.insert((number, page));
    }

    /// Whether all pages of `overlay` were sealed under their numbers.
    pub fn check(&self, overlay: Overlay) {
        for page in overlay.pages {
            assert!(self.sealed.contains(&page), "page {} was never sealed", page.0);
        }
    }
}

/// The whole of a file, or the original with the alterations that `data` says: 6 bytes for each.
pub fn altered(original: &[u8], data: &[u8]) -> Sparse {
    let bytes = match data.split_first() {
        Some((0, whole)) => whole.to_vec(),
        Some((_, alterations)) => {
            let mut bytes = original.to_vec();
            for alteration in alterations.chunks_exact(6) {
                alter(&mut bytes, alteration);
            }
            bytes
        }
        None => Vec::new(),
    };
    Sparse {
        size: bytes.len() as u64,
        extents: vec![(0, bytes)],
    }
}

/// Flips bits, sets a byte, copies or fills a stretch as long as something that is read at once, or cuts the end off.
fn alter(bytes: &mut Vec<u8>, alteration: &[u8]) {
    if bytes.is_empty() {
        return;
    }
    let position = |at: usize| usize::from(u16::from_le_bytes([alteration[at], alteration[at + 1]]));
    let size = bytes.len();
    let (to, from) = (position(1) % size, position(3) % size);
    let length = match alteration[5] >> 4 {
        0 => 1,
        1 => 4,
        2 => 8,
        3 => 24,
        4 => 48,
        5 => 1024,
        6 => 1032,
        _ => 1048,
    };
    let length = length.min(size - to).min(size - from);
    match alteration[0] % 5 {
        0 => bytes[to] ^= alteration[5],
        1 => bytes[to] = alteration[5],
        2 => bytes.copy_within(from..from + length, to),
        3 => bytes[to..to + length].fill(alteration[3]),
        _ => bytes.truncate(to.max(size / 2)),
    }
}
