//! Compresses blocks to one zstd frame each.

use super::block::BLOCK_SIZE_MAX;
use super::error::ArchiveError;

/// The compression level of zstd.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompressionLevel {
    /// No compression: for databases with rows from untrusted users who can see the sizes of backups.
    None,
    /// From 1 to 19.
    Zstd(i32),
}

impl Default for CompressionLevel {
    /// The default level of zstd.
    fn default() -> Self {
        Self::Zstd(3)
    }
}

/// Compresses blocks one after the other. Each thread needs its own.
pub struct Packer {
    level: CompressionLevel,
    compressor: zstd::bulk::Compressor<'static>,
}

impl Packer {
    /// Allocates the memory for compression: about 1 MiB at level 3.
    ///
    /// # Errors
    /// [`ArchiveError::Malformed`] for a level that zstd does not support.
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

    /// Packs a block of up to [`BLOCK_SIZE_MAX`] bytes into `out`, which is cleared first: `method
    /// (1)`, then the stored or compressed bytes.
    ///
    /// # Panics
    /// If the block is too large.
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

/// How a block is stored in a part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Uncompressed: if compression is off, or would increase the size.
    Stored = 0,
    /// One zstd frame (RFC 8878).
    Zstd = 1,
}

/// The maximum size of a packed block, in bytes.
pub(crate) const PACKED_SIZE_MAX: usize = BLOCK_SIZE_MAX + 1;
