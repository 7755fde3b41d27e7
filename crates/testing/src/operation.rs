//! What was done to a disk.

use std::sync::Arc;

use selenite_vfs::role::Role;

/// A file on a disk, whatever its name is now.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Inode(pub u64);

/// One entry of a disk's log.
#[derive(Clone, Debug)]
pub enum Operation {
    /// A file was made.
    Create {
        /// It.
        inode: Inode,
        /// Its path; `None` for a nameless file.
        path: Option<String>,
        /// What it is for.
        role: Role,
    },
    /// Bytes were written.
    Write {
        /// The file.
        inode: Inode,
        /// What the file is for.
        role: Role,
        /// Where.
        offset: u64,
        /// What.
        data: Arc<[u8]>,
    },
    /// A file was cut or grown.
    Truncate {
        /// The file.
        inode: Inode,
        /// Its size since.
        size: u64,
    },
    /// What was written to a file is on the disk for good.
    Sync {
        /// The file.
        inode: Inode,
        /// What the file is for.
        role: Role,
    },
    /// What was created and deleted is.
    SyncFolder,
    /// A file got another name, in one step with losing its own; a file that had it has none.
    Rename {
        /// The file.
        inode: Inode,
        /// Its name before.
        from: String,
        /// Its name since.
        to: String,
    },
    /// A name was taken away.
    Delete {
        /// The file that had it.
        inode: Inode,
        /// The name.
        path: String,
    },
}

impl Operation {
    /// The file that this is about.
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

    /// For people, without the bytes.
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
