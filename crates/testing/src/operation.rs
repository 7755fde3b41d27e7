//! The operations in the log of a disk.

use std::sync::Arc;

use selenite_vfs::role::Role;

/// Identifies a file on a disk, independent of its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Inode(pub u64);

/// One entry of a disk's log.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A file was created.
    Create {
        /// The file.
        inode: Inode,
        /// Its path; `None` for a nameless file.
        path: Option<String>,
        /// The role of the file.
        role: Role,
    },
    /// Bytes were written.
    Write {
        /// The file.
        inode: Inode,
        /// The role of the file.
        role: Role,
        /// The offset in the file.
        offset: u64,
        /// The bytes written.
        data: Arc<[u8]>,
    },
    /// A file was truncated or extended.
    Truncate {
        /// The file.
        inode: Inode,
        /// The new size in bytes.
        size: u64,
    },
    /// The content of a file was made durable.
    Sync {
        /// The file.
        inode: Inode,
        /// The role of the file.
        role: Role,
    },
    /// Created, renamed and deleted names were made durable.
    SyncFolder,
    /// A file was renamed atomically; any file of the new name lost it.
    Rename {
        /// The file.
        inode: Inode,
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// A name was removed.
    Delete {
        /// The file of that name.
        inode: Inode,
        /// The name.
        path: String,
    },
}

impl Operation {
    /// The file that the operation affects.
    #[must_use]
    pub fn inode(&self) -> Option<Inode> {
        match self {
            Self::Create { inode, .. }
            | Self::Write { inode, .. }
            | Self::Truncate { inode, .. }
            | Self::Sync { inode, .. }
            | Self::Rename { inode, .. }
            | Self::Delete { inode, .. } => Some(*inode),
            Self::SyncFolder => None,
        }
    }

    /// A description for messages, without the bytes.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Create { inode, path, role } => format!("create {role} {} as {path:?}", inode.0),
            Self::Write {
                inode,
                role,
                offset,
                data,
            } => format!("write {} bytes at {offset} of {role} {}", data.len(), inode.0),
            Self::Truncate { inode, size } => format!("truncate {} to {size}", inode.0),
            Self::Sync { inode, role } => format!("sync {role} {}", inode.0),
            Self::SyncFolder => "sync the folder".to_owned(),
            Self::Rename { inode, from, to } => format!("rename {} from {from} to {to}", inode.0),
            Self::Delete { inode, path } => format!("delete {} at {path}", inode.0),
        }
    }
}
