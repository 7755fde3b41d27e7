//! The runs of pages that an earlier copy has done: a file beside the draft, with records of 40
//! bytes.
//!
//! A record is the number of the run (8 bytes, big-endian) and a SHA-256 of the trailers of its
//! pages in the database and in the draft. It is written after the draft was synced. It needs no
//! other check: every write of a page has a new trailer (FORMAT 5.1), so if both files have these
//! trailers, they have these pages. A record that is torn, belongs to another draft, or describes
//! pages that were written since then does not match, and its run is copied again. The last record
//! of a run counts.

use std::collections::HashMap;
use std::io;

use selenite_cipher::Sha256;
use selenite_cipher::TRAILER_SIZE;

use crate::storage::WriteAt;

/// A hash of the trailers of a run: those in the database, then those in the draft.
pub type RunDigest = [u8; 32];

/// A run that was copied and synced.
#[derive(Clone, Copy)]
pub struct DoneRun {
    /// Its number, from 0.
    pub number: u64,
    /// The hash of its trailers.
    pub digest: RunDigest,
}

/// Collects the trailers of a run.
pub struct Trailers {
    of_source: Vec<u8>,
    of_draft: Vec<u8>,
}

impl Trailers {
    /// With room for the trailers of `page_count` pages.
    pub fn new(page_count: usize) -> Self {
        Self {
            of_source: Vec::with_capacity(page_count * TRAILER_SIZE),
            of_draft: Vec::with_capacity(page_count * TRAILER_SIZE),
        }
    }

    /// Removes all trailers, for the next run.
    pub fn clear(&mut self) {
        self.of_source.clear();
        self.of_draft.clear();
    }

    /// Adds a page of the database.
    pub fn add_source(&mut self, image: &[u8]) {
        self.of_source.extend_from_slice(trailer(image));
    }

    /// Adds a page of the draft.
    pub fn add_draft(&mut self, image: &[u8]) {
        self.of_draft.extend_from_slice(trailer(image));
    }

    /// The hash of all trailers so far.
    pub fn digest(&self) -> RunDigest {
        let mut hash = Sha256::new();
        hash.update(&self.of_source);
        hash.update(&self.of_draft);
        hash.finalize()
    }
}

fn trailer(image: &[u8]) -> &[u8] {
    &image[image.len().saturating_sub(TRAILER_SIZE)..]
}

/// Reads all records.
pub fn read(file: &dyn WriteAt) -> io::Result<HashMap<u64, RunDigest>> {
    let mut runs = HashMap::new();
    let mut chunk = vec![0; CHUNK_RECORDS * RECORD_SIZE];
    let mut offset = 0;
    loop {
        let count = file.read_at(&mut chunk, offset)?;
        for record in chunk[..count].chunks_exact(RECORD_SIZE) {
            let (number, digest) = record.split_at(8);
            let number = u64::from_be_bytes(number.try_into().expect("eight bytes"));
            runs.insert(number, digest.try_into().expect("the rest of 40 bytes"));
        }
        if count < chunk.len() {
            return Ok(runs);
        }
        offset += u64::try_from(count).unwrap_or(u64::MAX);
    }
}

/// Writes records at an offset, and returns the offset after them.
pub fn write(file: &dyn WriteAt, runs: &[DoneRun], offset: u64) -> io::Result<u64> {
    let mut bytes = Vec::with_capacity(runs.len() * RECORD_SIZE);
    for run in runs {
        bytes.extend_from_slice(&run.number.to_be_bytes());
        bytes.extend_from_slice(&run.digest);
    }
    file.write_at(&bytes, offset)?;
    Ok(offset + u64::try_from(bytes.len()).unwrap_or(0))
}

/// The offset of the next record: after the last complete one.
pub fn end(file: &dyn WriteAt) -> io::Result<u64> {
    let record_size = u64::try_from(RECORD_SIZE).unwrap_or(1);
    Ok(file.size()? / record_size * record_size)
}

const RECORD_SIZE: usize = 40;
const CHUNK_RECORDS: usize = 4096;
