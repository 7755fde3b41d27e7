//! Which runs of pages an earlier copy has done: a file beside the draft, of records of 40 bytes.
//!
//! A record is the run's number (8 bytes, big-endian) and a SHA-256 of the trailers of its pages in the database and
//! in the draft. It is written after the draft was synced. It proves itself: a trailer is new for every write of a page
//! (FORMAT 5.1), so where both files have those trailers, they have those pages. A record that is torn, of another
//! draft, or of pages that were written since fits nothing, and the run is copied again. A later record of a run
//! counts.

use std::collections::HashMap;
use std::io;

use selenite_cipher::TRAILER_SIZE;
use sha2::{Digest, Sha256};

use crate::storage::WriteAt;

/// What the trailers of a run were: those in the database, then those in the draft.
pub type RunDigest = [u8; 32];

/// A run that is done.
#[derive(Clone, Copy)]
pub struct DoneRun {
    /// Its number, from 0.
    pub number: u64,
    /// Its trailers'.
    pub digest: RunDigest,
}

/// Gathers the trailers of a run.
pub struct Trailers {
    of_source: Vec<u8>,
    of_draft: Vec<u8>,
}

impl Trailers {
    /// Room for those of so many pages.
    pub fn new(page_count: usize) -> Self {
        Self {
            of_source: Vec::with_capacity(page_count * TRAILER_SIZE),
            of_draft: Vec::with_capacity(page_count * TRAILER_SIZE),
        }
    }

    /// Begins another run.
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

    /// Of all of them.
    pub fn digest(&self) -> RunDigest {
        let mut hash = Sha256::new();
        hash.update(&self.of_source);
        hash.update(&self.of_draft);
        hash.finalize().into()
    }
}

fn trailer(image: &[u8]) -> &[u8] {
    &image[image.len().saturating_sub(TRAILER_SIZE)..]
}

/// Reads the records that are there.
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

/// Writes records at an offset; answers the next.
pub fn write(file: &dyn WriteAt, runs: &[DoneRun], offset: u64) -> io::Result<u64> {
    let mut bytes = Vec::with_capacity(runs.len() * RECORD_SIZE);
    for run in runs {
        bytes.extend_from_slice(&run.number.to_be_bytes());
        bytes.extend_from_slice(&run.digest);
    }
    file.write_at(&bytes, offset)?;
    Ok(offset + u64::try_from(bytes.len()).unwrap_or(0))
}

/// Where the next record goes: behind the last whole one.
pub fn end(file: &dyn WriteAt) -> io::Result<u64> {
    let record_size = u64::try_from(RECORD_SIZE).unwrap_or(1);
    Ok(file.size()? / record_size * record_size)
}

const RECORD_SIZE: usize = 40;
const CHUNK_RECORDS: usize = 4096;
