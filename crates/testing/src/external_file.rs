//! Files that a program uses besides SQLite, without SQLite's locks. Creation, writes, renames and
//! removals are recorded in the disk's log.

use std::sync::Arc;

use selenite_vfs::role::Role;

use crate::lock_table::Handle;
use crate::{Disk, Inode, Operation};

/// An open file. It remains usable after its name is removed.
pub struct ExternalFile {
    disk: Arc<Disk>,
    inode: Inode,
    handle: Handle,
}

impl Disk {
    /// Opens a file; `None` if it does not exist.
    #[must_use]
    pub fn open_external(self: &Arc<Self>, path: &str) -> Option<ExternalFile> {
        let mut state = self.lock();
        let inode = *state.names.get(path)?;
        let handle = Handle(state.number());
        state.nodes.get_mut(&inode)?.open_count += 1;
        let disk = self.clone();
        Some(ExternalFile { disk, inode, handle })
    }

    /// Creates an empty file; returns whether the name was free.
    pub fn create(&self, path: &str) -> bool {
        let mut state = self.lock();
        let is_new = !state.names.contains_key(path);
        if is_new {
            state.create(Role::Main, Some(path));
        }
        is_new
    }

    /// Renames a file, replacing any file of the new name; returns whether it existed. The new name
    /// is durable once its folder is synced.
    pub fn rename(&self, from: &str, to: &str) -> bool {
        let mut state = self.lock();
        let Some(inode) = state.names.remove(from) else {
            return false;
        };
        let replaced = state.names.insert(to.to_owned(), inode);
        state.log.push(Operation::Rename {
            inode,
            from: from.to_owned(),
            to: to.to_owned(),
        });
        if let Some(replaced) = replaced {
            if let Some(node) = state.nodes.get_mut(&replaced) {
                node.has_name = false;
            }
            state.drop_unused(replaced);
        }
        true
    }

    /// Removes a file's name; returns whether it existed. The removal is durable as with [`Disk::rename`].
    pub fn unlink(&self, path: &str) -> bool {
        self.lock().delete(path, false).is_ok()
    }

    /// Makes all names durable.
    pub fn sync_folder(&self) {
        self.lock().log.push(Operation::SyncFolder);
    }

    /// All existing names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().names.keys().cloned().collect()
    }
}

impl ExternalFile {
    /// The file's inode.
    #[must_use]
    pub fn inode(&self) -> Inode {
        self.inode
    }

    /// Reads into `out` and returns the number of bytes read.
    #[must_use]
    pub fn read(&self, out: &mut [u8], offset: u64) -> usize {
        self.disk.lock().read(self.inode, out, offset).unwrap_or(0)
    }

    /// The file's size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        let state = self.disk.lock();
        state.nodes.get(&self.inode).map_or(0, |node| node.content.size())
    }

    /// Writes.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn write(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        let written = self.disk.lock().write(self.inode, bytes, offset);
        written.map_err(|_| std::io::ErrorKind::StorageFull.into())
    }

    /// Truncates the file, or extends it with zeros.
    ///
    /// # Errors
    /// If the disk is full.
    pub fn set_size(&self, size: u64) -> std::io::Result<()> {
        let now = self.size();
        if size > now {
            return self.write(&vec![0; usize::try_from(size - now).unwrap_or(0)], now);
        }
        let cut = self.disk.lock().truncate(self.inode, size);
        cut.map_err(|code| std::io::Error::other(code.to_string()))
    }

    /// Makes the written bytes durable.
    pub fn sync(&self) {
        // A disk with the planted bug of ignored syncs ignores this one, too.
        let _ = self.disk.lock().sync(self.inode, false);
    }
}

impl Drop for ExternalFile {
    fn drop(&mut self) {
        self.disk.lock().close(self.inode, self.handle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Namespace, Replay, Tear};

    #[test]
    fn a_rename_over_a_file_is_atomic_in_a_crash() {
        let disk = Disk::new();
        assert!(disk.create("/old") && disk.create("/new") && !disk.create("/new"));
        disk.sync_folder();
        let (old, new) = (disk.open_external("/old").unwrap(), disk.open_external("/new").unwrap());
        old.write(b"old", 0).unwrap();
        new.set_size(5).unwrap();
        new.write(b"new", 0).unwrap();
        old.sync();
        new.sync();
        assert!(disk.rename("/new", "/old") && !disk.rename("/new", "/old"));
        assert_eq!(
            (disk.bytes("/old").unwrap(), disk.names()),
            (b"new\0\0".to_vec(), vec!["/old".to_owned()])
        );
        let mut out = [0; 9];
        assert_eq!((old.read(&mut out, 0), &out[..3]), (3, b"old".as_slice()));
        disk.sync_folder();
        let log = disk.log();
        let image = |position, tear| {
            let mut replay = Replay::new(&disk, &log, Namespace::AtFolderSync);
            replay.advance(position);
            replay.image(tear).0
        };
        assert_eq!(image(log.len() - 1, Tear::None).bytes("/old"), b"old");
        assert_eq!(image(log.len() - 1, Tear::All).bytes("/old"), b"new\0\0");
        assert_eq!(image(log.len(), Tear::None).bytes("/old"), b"new\0\0");
        assert_eq!(image(log.len(), Tear::None).files.len(), 1);
    }
}
