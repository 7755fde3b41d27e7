//! Converts pages to the sealed parts of a backup archive, and back (FORMAT 12).
//!
//! - bytes-only: these modules have no file, clock or source of randomness. The caller draws salts.
//! - compress-then-seal: content is compressed first, then sealed. The boundaries of compressed
//!   blocks are not visible without the key.
//! - authentic-before-unpacking: the content of a part is opened or refused: nothing is unpacked
//!   before it is authenticated, and never more than [`BLOCK_SIZE_MAX`] bytes at once.

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
