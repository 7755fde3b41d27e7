//! The log of the vectors, frame by frame.

use selenite_cipher::Suite;
use selenite_format::wal::{FRAME_HEADER_SIZE, FrameHeader, HEADER_SIZE, header_to_disk};

use crate::world::{PAGE_SIZE, Sealer, log_key, pages_of};

pub const AES: Suite = Suite::Aes256;
/// A database in WAL mode, and its log: two transactions, with commit frames 2 and 3.
const DATABASE: &[u8] = include_bytes!("../../../../../../testdata/sqlite/wal.db");
const LOG: &[u8] = include_bytes!("../../../../../../testdata/sqlite/wal.db-wal");

/// A frame as SQLite wrote it.
#[derive(Clone)]
pub struct Frame {
    pub header: FrameHeader,
    pub page: Vec<u8>,
}

pub fn frames() -> Vec<Frame> {
    let frames = LOG[HEADER_SIZE..].chunks(FRAME_HEADER_SIZE + PAGE_SIZE);
    frames
        .map(|bytes| {
            let (header, page) = bytes.split_first_chunk().expect("a whole frame");
            Frame {
                header: FrameHeader::parse(header),
                page: page.to_vec(),
            }
        })
        .collect()
}

pub fn log_header() -> [u8; HEADER_SIZE] {
    *LOG.first_chunk().expect("a header")
}

impl Frame {
    /// The frame with its own image, sealed for position `index`.
    pub fn seal(&self, index: u64, sealer: &mut Sealer) -> Vec<u8> {
        self.with_image(index, sealer.seal(self.header.page_no.0, &self.page))
    }

    pub fn with_image(&self, index: u64, image: Vec<u8>) -> Vec<u8> {
        let mut header = self.header;
        log_key().seal_frame_block(index, header.page_no.0, header.commit_size, &mut header.block);
        [header.encode().to_vec(), image].concat()
    }
}

/// The log, sealed under epoch 1.
pub fn sealed(frames: &[Frame]) -> Vec<Vec<u8>> {
    sealed_under(&mut Sealer::new(1, AES), frames)
}

pub fn sealed_under(sealer: &mut Sealer, frames: &[Frame]) -> Vec<Vec<u8>> {
    frames
        .iter()
        .zip(0..)
        .map(|(frame, index)| frame.seal(index, sealer))
        .collect()
}

pub fn file(frames: &[Vec<u8>]) -> Vec<u8> {
    let header = header_to_disk(&log_header()).expect("SQLite's own header");
    [header.to_vec(), frames.concat()].concat()
}

/// The pages that SQLite reads if the first `committed` frames are valid.
pub fn pages_after(committed: usize) -> Vec<Vec<u8>> {
    let mut pages = pages_of(DATABASE);
    for frame in &frames()[..committed] {
        let index = usize::try_from(frame.header.page_no.0 - 1).expect("small");
        pages.resize(pages.len().max(index + 1), Vec::new());
        pages[index] = frame.page.clone();
    }
    pages
}

pub fn database_images(epoch: u32) -> Vec<Vec<u8>> {
    let pages = pages_of(DATABASE);
    // The counters differ from those of the log's frames: it is one session, and no nonce may be reused.
    let mut sealer = Sealer::new(epoch, AES).after(100);
    sealer.seal_all(&pages)
}
