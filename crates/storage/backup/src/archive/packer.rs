//! Compresses blocks, one zstd frame each.

use super::block::BLOCK_SIZE_MAX;
use super::error::ArchiveError;

/// How hard to try, as zstd counts it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompressionLevel {
    /// What comes in goes out, in a frame: for databases whose rows come from strangers who can see the lengths of
    /// backups.
    None,
    /// From 1 to 19.
    Zstd(i32),
}

impl Default for CompressionLevel {
    /// zstd's own.
    fn default() -> Self {
        Self::Zstd(3)
    }
}

/// Compresses blocks one after the other. One for each thread.
pub struct Packer {
    level: CompressionLevel,
    compressor: zstd::bulk::Compressor<'static>,
}

impl Packer {
    /// Takes the memory that it needs: about 1 MiB at level 3.
    ///
    /// # Errors
    /// [`ArchiveError::Malformed`] for a level that zstd does not have.
    pub fn new(level: CompressionLevel) -> Result<Self, ArchiveError> {
        let number = match level {
            CompressionLevel::None => 1,
            CompressionLevel::Zstd(number) => number,
        };
        let compressor = zstd::bulk::Compressor::new(number);
        Ok(Self {
            level,
            compressor: compressor.map_err(|_| ArchiveError::Malformed { what: "zstd level" })?,
        })
    }

    /// Packs a block of [`BLOCK_SIZE_MAX`] bytes at most into `out`, which is emptied before: `method (1)`, then its
    /// bytes.
    ///
    /// # Panics
    /// If the block is larger.
    pub fn pack(&mut self, block: &[u8], out: &mut Vec<u8>) {
        assert!(block.len() <= BLOCK_SIZE_MAX);
        out.clear();
        if self.level != CompressionLevel::None {
            out.resize(1 + zstd::zstd_safe::compress_bound(block.len()), 0);
            out[0] = Method::Zstd as u8;
            if let Ok(size) = self.compressor.compress_to_buffer(block, &mut out[1..])
                && size < block.len()
            {
                out.truncate(1 + size);
                return;
            }
            out.clear();
        }
        out.push(Method::Stored as u8);
        out.extend_from_slice(block);
    }
}

/// How a block lies in a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// As it is: where compressing is not wanted, or would make it longer.
    Stored = 0,
    /// One zstd frame (RFC 8878).
    Zstd = 1,
}

/// Bytes of a packed block, at most.
pub(crate) const PACKED_SIZE_MAX: usize = BLOCK_SIZE_MAX + 1;
