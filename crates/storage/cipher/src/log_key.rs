//! The log key, for the content of WAL and rollback journal other than sealed pages (FORMAT 4.6).
//!
//! It is not bound to an epoch: a log may be written under one epoch and read under the next.

use aws_lc_rs::cmac;

use crate::pseudorandom_key::PseudorandomKey;
use crate::trailer::{TRAILER_HEAD_SIZE, TRAILER_SIZE};
use crate::xts_key::XtsKey;
use crate::{DatabaseId, Secret};

/// The keys of WAL frame headers and of journal checksums.
pub struct LogKey {
    frame: XtsKey,
    journal: cmac::Key,
}

impl LogKey {
    /// Derives the keys of FORMAT 4.6. The secret is wiped afterwards.
    pub fn new(secret: Secret<32>, database_id: DatabaseId) -> Self {
        let extracted = PseudorandomKey::extract(&database_id.0, secret.expose());
        let frame = extracted.expand::<64>(&[b"selenite/1 wal frame"]);
        let journal = extracted.expand::<32>(&[b"selenite/1 journal checksum"]);
        Self {
            frame: XtsKey::new(&frame),
            journal: cmac::Key::new(cmac::AES_256, journal.expose()).expect("an AES-256 key has 32 bytes"),
        }
    }

    /// Seals, in place, bytes 8 to 24 of the header of WAL frame number `frame` (FORMAT 6.2).
    pub fn seal_frame_block(&self, frame: u64, page_no: u32, commit_size: u32, block: &mut [u8; 16]) {
        self.frame.seal(frame_tweak(frame, page_no, commit_size), block);
    }

    /// Opens, in place, what [`LogKey::seal_frame_block`] sealed.
    ///
    /// There is no tag: altered bytes or another position yield random bytes, not an error.
    pub fn open_frame_block(&self, frame: u64, page_no: u32, commit_size: u32, block: &mut [u8; 16]) {
        self.frame.open(frame_tweak(frame, page_no, commit_size), block);
    }

    /// The number to add to SQLite's checksum of a journal record, by its trailer (FORMAT 7.2).
    pub fn journal_mask(&self, trailer: &[u8; TRAILER_SIZE]) -> u32 {
        let mut mac = [0; 16];
        cmac::sign_to_buffer(&self.journal, &trailer[..TRAILER_HEAD_SIZE], &mut mac)
            .expect("CMAC with AES writes 16 bytes, which the buffer has");
        u32::from_be_bytes([mac[0], mac[1], mac[2], mac[3]])
    }
}

/// The tweak of a frame header: its position and the two plaintext fields.
fn frame_tweak(frame: u64, page_no: u32, commit_size: u32) -> [u8; 16] {
    let mut tweak = [0; 16];
    tweak[..8].copy_from_slice(&frame.to_be_bytes());
    tweak[8..12].copy_from_slice(&page_no.to_be_bytes());
    tweak[12..].copy_from_slice(&commit_size.to_be_bytes());
    tweak
}
