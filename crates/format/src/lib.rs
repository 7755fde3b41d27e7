//! Selenite: the bytes of superblock, key slot, page trailer, WAL frame and journal record.
#![forbid(unsafe_code)]
