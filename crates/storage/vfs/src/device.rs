//! Which device characteristics remain valid when every page is sealed.

use std::ffi::c_int;

use crate::ffi::{Code, Control, LowerFile, RawControl};

/// The device characteristics (`SQLITE_IOCAP_*`) reported for an encrypted file; an unencrypted
/// file keeps its own.
///
/// Powersafe overwrite is claimed by the device or by the URI (`psow`): a page starts at a multiple
/// of its size, as SQLite assumes, so SQLite's measures for sectors (journal headers of a sector,
/// padded commits in the WAL, journaling all pages of a sector) protect the same bytes. Atomic
/// writes are not reported: they would refer to SQLite's offsets. Neither are reads of parts of a
/// page.
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

/// Handles a file control on a WAL or journal; controls for the VFS below are passed on.
///
/// # Errors
/// `NOTFOUND` for controls that only the database file handles; errors of the VFS below.
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
