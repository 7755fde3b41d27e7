//! Parts of an archive, sealed with its key.

use selenite_backup::archive::PartHeader;
use selenite_cipher::{ArchiveId, ArchiveKey, PartKind, Secret};

pub fn key() -> ArchiveKey {
    ArchiveKey::new(Secret::new([1; 32]), ArchiveId([7; 16]))
}

/// A part of one piece. Not by `PartWriter`, which takes and wipes 16 MiB each time.
pub fn sealed(kind: PartKind, number: u32, content: &[u8]) -> Vec<u8> {
    let header = PartHeader {
        kind,
        number,
        archive_id: ArchiveId([7; 16]),
        salt: [5; 16],
    };
    let mut piece = content.to_vec();
    let tag = key()
        .part_key(kind, number, &header.salt)
        .seal_piece(0, true, &mut piece);
    [header.encode().as_slice(), &piece, &tag].concat()
}

/// A block, packed already, behind its size.
pub fn sized(packed: &[u8]) -> Vec<u8> {
    let size = u32::try_from(packed.len()).expect("a small block");
    [size.to_be_bytes().as_slice(), packed].concat()
}
