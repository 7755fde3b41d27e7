//! Unpacks blocks from [`super::Packer`].

use super::block::BLOCK_SIZE_MAX;
use super::error::ArchiveError;
use super::packer::Method;

/// Unpacks blocks one after the other. Each thread needs its own.
pub struct Unpacker(zstd::bulk::Decompressor<'static>);

impl Unpacker {
    /// Allocates the memory for decompression.
    ///
    /// # Errors
    /// [`ArchiveError::Malformed`] if zstd cannot allocate it.
    pub fn new() -> Result<Self, ArchiveError> {
        let made = zstd::bulk::Decompressor::new();
        Ok(Self(made.map_err(|_| ArchiveError::Malformed { what: "zstd" })?))
    }

    /// Unpacks a block into `out`, which is cleared first. The output has at most
    /// [`BLOCK_SIZE_MAX`] bytes, whatever size the frame states.
    ///
    /// # Errors
    /// [`ArchiveError::Malformed`].
    pub fn unpack(&mut self, packed: &[u8], out: &mut Vec<u8>) -> Result<(), ArchiveError> {
        let malformed = |what| ArchiveError::Malformed { what };
        let (&method, bytes) = packed.split_first().ok_or(malformed("empty block"))?;
        out.clear();
        if method == Method::Stored as u8 {
            if bytes.len() > BLOCK_SIZE_MAX {
                return Err(malformed("block size"));
            }
            out.extend_from_slice(bytes);
            return Ok(());
        }
        if method != Method::Zstd as u8 {
            return Err(malformed("compression method"));
        }
        // zstd itself would unpack several consecutive frames, skip skippable frames, and accept an
        // empty input as a frame.
        let is_one = bytes.starts_with(FRAME_MAGIC)
            && zstd::zstd_safe::find_frame_compressed_size(bytes).is_ok_and(|size| size == bytes.len());
        if !is_one {
            return Err(malformed("one compressed frame"));
        }
        out.resize(BLOCK_SIZE_MAX, 0);
        let size = self.0.decompress_to_buffer(bytes, &mut out[..]);
        out.truncate(size.map_err(|_| malformed("compressed block"))?);
        Ok(())
    }
}

/// RFC 8878, 3.1.1.
const FRAME_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::{CompressionLevel, Packer};

    #[test]
    fn packing_round_trips_and_never_grows() {
        let text = b"to be or not to be ".repeat(5000);
        let mut state = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        })
        .take(70_000)
        .collect();
        for level in [
            CompressionLevel::None,
            CompressionLevel::default(),
            CompressionLevel::Zstd(19),
        ] {
            let (mut packer, mut unpacker) = (Packer::new(level).unwrap(), Unpacker::new().unwrap());
            let (mut packed, mut block) = (Vec::new(), Vec::new());
            for bytes in [text.as_slice(), &noise, &[], &[0; BLOCK_SIZE_MAX]] {
                packer.pack(bytes, &mut packed);
                assert!(packed.len() <= bytes.len() + 1);
                unpacker.unpack(&packed, &mut block).unwrap();
                assert_eq!(block, bytes);
            }
            packer.pack(&text, &mut packed);
            assert_eq!(packed.len() < 1000, level != CompressionLevel::None);
        }
    }

    /// Four kilobytes that would unpack to gigabytes.
    #[test]
    fn a_frame_that_unpacks_to_more_than_a_block_is_refused() {
        let bomb = zstd::bulk::compress(&vec![0; BLOCK_SIZE_MAX + 1], 3).unwrap();
        let packed = [&[1], bomb.as_slice()].concat();
        let mut out = Vec::new();
        assert!(Unpacker::new().unwrap().unpack(&packed, &mut out).is_err());
        for packed in [&[][..], &[2, 0], &[1, 0, 0, 0], &vec![0; BLOCK_SIZE_MAX + 2]] {
            assert!(Unpacker::new().unwrap().unpack(packed, &mut out).is_err());
        }
    }

    #[test]
    fn a_block_is_one_frame() {
        let frame = zstd::bulk::compress(b"pages", 3).unwrap();
        let frame = frame.as_slice();
        let skippable: &[u8] = &[0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9];
        let mut out = Vec::new();
        let mut unpack = |frames: &[&[u8]]| {
            let packed = [&[1], frames.concat().as_slice()].concat();
            Unpacker::new().unwrap().unpack(&packed, &mut out)
        };
        assert!(unpack(&[frame]).is_ok());
        for frames in [
            &[][..],
            &[frame, frame],
            &[skippable],
            &[skippable, frame],
            &[frame, skippable],
            &[frame, &[0]],
        ] {
            assert!(unpack(frames).is_err(), "{frames:?}");
        }
    }
}
