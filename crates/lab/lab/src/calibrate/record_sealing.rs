//! The cipher alone, on records as engines append them to a log that does not consist of pages.
//!
//! Those engines (PostgreSQL, MariaDB, SQL Server) are not measured: their own cost of a record is
//! the same with and without encryption, and the cipher is the difference.

use std::hint::black_box;

use selenite_cipher::{DataKey, DatabaseId, Epoch, PageKey, PageNo, PageNonce, Secret, SessionId, Suite, TRAILER_SIZE};
use selenite_worker::WorkerError;
use selenite_worker::meter::WorkTimer;

use super::arm_database::mean_ns;

/// Encrypts pieces under one key.
pub struct RecordSealing {
    key: PageKey,
    counter: u32,
}

impl RecordSealing {
    /// Encrypts by a suite.
    #[must_use]
    pub fn new(suite: Suite) -> Self {
        let key = DataKey::new(Secret::new([4; 32]), DatabaseId([2; 16]), Epoch(1), suite);
        Self {
            key: key.page_key(SESSION),
            counter: 0,
        }
    }

    /// CPU nanoseconds of a piece of `bytes` bytes.
    ///
    /// # Errors
    /// None is known.
    pub fn measure(&mut self, bytes: u32) -> Result<f64, WorkerError> {
        let plain = vec![0x5a; bytes as usize];
        let mut sealed = plain.clone();
        let mut trailer = [0; TRAILER_SIZE];
        let kib = if self.key.suite().is_deprecated() { 64 } else { 1024 };
        let count = kib * 1024 / bytes;
        let part = WorkTimer::start();
        for _ in 0..count {
            self.counter += 1;
            let nonce = PageNonce {
                session: SESSION,
                salt: [3; 8],
                counter: self.counter,
            };
            self.key
                .seal(PageNo(2), &nonce, black_box(&plain), &mut sealed, &mut trailer);
        }
        let ns = mean_ns(part, count);
        black_box(&sealed);
        ns
    }
}

/// The sizes of pieces: a small record, a page, and the writes of a group commit.
pub const RECORD_BYTES: [u32; 3] = [128, 4096, 65_536];

const SESSION: SessionId = SessionId([1; 16]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_seals_pieces_of_all_sizes() {
        for suite in Suite::ALL {
            let mut sealing = RecordSealing::new(suite);
            for bytes in RECORD_BYTES {
                assert!(sealing.measure(bytes).unwrap() > 0.0, "{suite}");
            }
        }
    }
}
