//! Pages to the sealed parts of a backup archive, and back (FORMAT 12).
//!
//! - bytes-only: bytes in, bytes out: no file, clock or source of randomness. Salts are drawn by
//!   the caller.
//! - compress-then-seal: compressed first, sealed then; where one compressed block ends and the
//!   next begins is told to no one without the key.
//! - authentic-before-unpacking: whatever a part holds is opened or refused: nothing is unpacked
//!   that was not authentic, and nothing beyond [`BLOCK_SIZE_MAX`] bytes at once.

mod block;
mod error;
mod index;
mod packer;
mod padding;
mod part;
mod unpacker;

pub use block::{BLOCK_SIZE_MAX, Block, PackedPage, page_count_max};
pub use error::ArchiveError;
pub use index::{IndexBlock, index_count_max};
pub use packer::{CompressionLevel, Packer};
pub use padding::padded;
pub use part::{
    BLOCK_COUNT_MAX, CONTENT_SIZE_MAX, LOG_OBJECT_SIZE_MAX, OpenPart, PART_HEADER_SIZE, PART_SIZE_MAX, PIECE_SIZE,
    PartHeader, PartWriter, is_part_size,
};
pub use unpacker::Unpacker;
