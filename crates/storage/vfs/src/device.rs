//! What a device's promises are worth when every page is sealed.

use std::ffi::c_int;

use crate::ffi::{Code, Control, LowerFile, RawControl};

/// The promises (`SQLITE_IOCAP_*`) passed on for a file of ours; an unencrypted file keeps its own.
///
/// Powersafe overwrite is the device's to claim, or the URI's (`psow`): a page lies at a multiple of its size, as
/// SQLite takes it to, so what SQLite does for its sectors (journal headers of a sector, commits in the WAL that are
/// padded, all pages of a sector journaled) protects the same bytes. Atomic writes are not passed on: they would be
/// of SQLite's offsets. Reads of parts of a page are not offered either.
pub fn characteristics(lower: c_int, is_plain: bool) -> c_int {
    const SAFE_APPEND: c_int = 0x200;
    const SEQUENTIAL: c_int = 0x400;
    const UNDELETABLE_WHEN_OPEN: c_int = 0x800;
    const POWERSAFE_OVERWRITE: c_int = 0x1000;
    const IMMUTABLE: c_int = 0x2000;
    if is_plain {
        return lower;
    }
    lower & (SAFE_APPEND | SEQUENTIAL | UNDELETABLE_WHEN_OPEN | POWERSAFE_OVERWRITE | IMMUTABLE)
}

/// A file control on a WAL or journal: what would be of the VFS below alone is passed down.
///
/// # Errors
/// `NOTFOUND` for what is answered by the database file only; as the VFS below has it.
pub fn control_beside_main(lower: &mut LowerFile, control: &mut RawControl) -> Result<(), Code> {
    let raw = *control;
    match control.parse() {
        Control::Atomic | Control::Visit(_) => Err(Code::NOTFOUND),
        Control::MmapSize(size) => {
            *size = 0;
            lower.forbid_mapping();
            Ok(())
        }
        Control::Pragma(_)
        | Control::SizeHint
        | Control::ChunkSize
        | Control::VfsName(_)
        | Control::CheckpointStart
        | Control::CheckpointDone
        | Control::PowersafeOverwrite(_)
        | Control::Connection(_)
        | Control::Other => lower.control(&raw),
    }
}
