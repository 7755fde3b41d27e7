//! A disk in memory: files, their locks, a log of all operations, and injected faults.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selenite_vfs::ffi::Code;
use selenite_vfs::role::Role;

use crate::content::to_u64;
use crate::fault::{Failure, Faults};
use crate::lock_table::{Handle, LockTable};
use crate::shm_table::ShmTable;
use crate::{Call, CallRecord, Content, Fault, Image, Inode, Operation};

/// Changes bytes on their way to or from the disk: a planted bug. Its last argument is what SQLite
/// did through the spy.
pub type Shim = Arc<dyn Fn(Role, u64, &mut [u8], &[SpiedCall]) + Send + Sync>;

/// A disk in memory. Connections of several threads may share it.
#[derive(Default)]
pub struct Disk {
    state: Mutex<State>,
    origin: Vec<Origin>,
}

/// A file that existed from the start.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) path: String,
    pub(crate) inode: Inode,
    pub(crate) role: Role,
    pub(crate) content: Content,
}

/// A delayed write: see [`Failure::Late`].
pub(crate) type Late = (Inode, Handle, u64, Vec<u8>);

#[derive(Default)]
pub(crate) struct State {
    pub(crate) names: BTreeMap<String, Inode>,
    pub(crate) nodes: BTreeMap<Inode, Node>,
    next: u64,
    pub(crate) log: Vec<Operation>,
    calls: Option<Vec<CallRecord>>,
    spied: Vec<SpiedCall>,
    faults: Faults,
    pub(crate) late: Vec<Late>,
    capacity: Option<u64>,
    ignored_syncs: Vec<Role>,
    pub(crate) damaged_sector: Option<u32>,
    forgotten: Range<u64>,
    read_shim: Option<Shim>,
    write_shim: Option<Shim>,
}

pub(crate) struct Node {
    pub(crate) role: Role,
    pub(crate) content: Content,
    pub(crate) locks: LockTable,
    pub(crate) shm: ShmTable,
    pub(crate) open_count: u64,
    pub(crate) has_name: bool,
}

/// A read or write as SQLite requested it, above Selenite: see [`crate::spy`].
#[derive(Clone, Debug)]
pub struct SpiedCall {
    /// Read or write.
    pub call: Call,
    /// The role of the file.
    pub role: Role,
    /// The offset in the file.
    pub offset: u64,
    /// The bytes. For a read: the buffer, initially full of [`BUFFER_BYTE`], as SQLite received it.
    pub data: Arc<[u8]>,
    /// The result that SQLite received.
    pub answer: Result<(), Code>,
}

/// A byte other than zero, and unlikely in a database.
pub const BUFFER_BYTE: u8 = 0xb5;

thread_local! {
    static CURRENT: RefCell<Vec<Arc<Disk>>> = const { RefCell::new(Vec::new()) };
}

/// While this value lives, the files of the thread are on the entered disk.
pub struct DiskGuard(());

impl Drop for DiskGuard {
    fn drop(&mut self) {
        CURRENT.with_borrow_mut(Vec::pop);
    }
}

impl Disk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self::default())
    }

    /// A disk with the files of an image, all of them synced.
    #[must_use]
    pub fn of_image(image: &Image) -> Arc<Self> {
        let mut disk = Self::default();
        let mut state = State::default();
        for (path, (role, content)) in &image.files {
            let inode = state.add(*role, content.clone(), Some(path));
            disk.origin.push(Origin {
                path: path.clone(),
                inode,
                role: *role,
                content: content.clone(),
            });
        }
        disk.state = Mutex::new(state);
        Arc::new(disk)
    }

    /// Makes this the disk of the current thread.
    #[must_use]
    pub fn enter(self: &Arc<Self>) -> DiskGuard {
        CURRENT.with_borrow_mut(|disks| disks.push(self.clone()));
        DiskGuard(())
    }

    /// The disk of the current thread.
    ///
    /// # Errors
    /// `CANTOPEN` if the thread has none.
    pub fn of_thread() -> Result<Arc<Self>, Code> {
        Self::current()
    }

    pub(crate) fn current() -> Result<Arc<Self>, Code> {
        CURRENT.with_borrow(|disks| disks.last().cloned()).ok_or(Code::CANTOPEN)
    }

    /// The named files in the state that a program sees now.
    #[must_use]
    pub fn image(&self) -> Image {
        let state = self.lock();
        let files = state.names.iter().map(|(path, inode)| {
            let node = &state.nodes[inode];
            (path.clone(), (node.role, node.content.clone()))
        });
        Image { files: files.collect() }
    }

    /// The bytes of a file, as another program reads them that opens it beside SQLite.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<Vec<u8>> {
        let state = self.lock();
        let inode = state.names.get(path)?;
        Some(state.nodes.get(inode)?.content.to_vec())
    }

    /// Removes a file, as another program would beside SQLite; returns whether it existed. The
    /// removal is durable once the folder is synced.
    pub fn remove(&self, path: &str) -> bool {
        self.lock().delete(path, true).is_ok()
    }

    /// Syncs a file, as another program would beside SQLite; returns whether it existed.
    pub fn sync(&self, path: &str) -> bool {
        let mut state = self.lock();
        let inode = state.names.get(path).copied();
        inode.is_some_and(|inode| state.sync(inode, false).is_ok())
    }

    /// Leaves the WAL index in the state of a process that crashes between writing the two copies of its header.
    pub fn tear_index(&self, path: &str) {
        let mut state = self.lock();
        let inode = state.names[path];
        if let Some(node) = state.nodes.get_mut(&inode) {
            node.shm.tear();
        }
    }

    /// The log of all operations.
    #[must_use]
    pub fn log(&self) -> Vec<Operation> {
        self.lock().log.clone()
    }

    /// The number of operations in the log.
    #[must_use]
    pub fn position(&self) -> usize {
        self.lock().log.len()
    }

    /// Starts recording calls, and discards the previous record.
    pub fn watch(&self) {
        self.lock().calls = Some(Vec::new());
    }

    /// The calls since [`Disk::watch`].
    #[must_use]
    pub fn calls(&self) -> Vec<CallRecord> {
        self.lock().calls.clone().unwrap_or_default()
    }

    /// All reads and writes that SQLite made through the spy.
    #[must_use]
    pub fn spied_calls(&self) -> Vec<SpiedCall> {
        self.lock().spied.clone()
    }

    /// Adds a fault.
    pub fn inject(&self, fault: Fault) {
        self.lock().faults.add(fault);
    }

    /// Removes all faults and the limit.
    pub fn clear_faults(&self) {
        let mut state = self.lock();
        state.faults.clear();
        state.capacity = None;
    }

    /// How many calls have failed since [`Disk::clear_faults`].
    #[must_use]
    pub fn fault_hits(&self) -> u64 {
        self.lock().faults.hits()
    }

    /// Limits the total size of the files to `capacity` bytes; beyond it, writes fail with SQLITE_FULL.
    pub fn limit(&self, capacity: u64) {
        self.lock().capacity = Some(capacity);
    }

    /// The total size of the files in bytes.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.lock().used()
    }

    /// Withdraws the promise of powersafe overwrite (sqlite.org/psow.html): a write may now damage
    /// all of a sector of the given size.
    pub fn forbid_powersafe_overwrite(&self, sector_size: u32) {
        self.lock().damaged_sector = Some(sector_size);
    }

    /// A planted bug: syncs of these files succeed without effect.
    pub fn ignore_syncs(&self, role: Role) {
        self.lock().ignored_syncs.push(role);
    }

    /// For databases larger than this machine's memory: bytes of the database written in this range are not kept.
    pub fn forget(&self, range: Range<u64>) {
        self.lock().forgotten = range;
    }

    /// A planted bug: changes the bytes of reads.
    pub fn shim_reads(&self, shim: Shim) {
        self.lock().read_shim = Some(shim);
    }

    /// A planted bug: changes the bytes of writes.
    pub fn shim_writes(&self, shim: Shim) {
        self.lock().write_shim = Some(shim);
    }

    pub(crate) fn record_spied_call(&self, spied: SpiedCall) {
        self.lock().spied.push(spied);
    }

    /// Changes a file without any call of the VFS.
    ///
    /// # Panics
    /// If there is no such file.
    pub fn tamper(&self, path: &str, edit: impl FnOnce(&mut Content)) {
        let mut state = self.lock();
        let inode = state.names.get(path).copied();
        let node = inode.and_then(|inode| state.nodes.get_mut(&inode));
        assert!(node.is_some(), "no file {path}");
        if let Some(node) = node {
            edit(&mut node.content);
        }
    }

    pub(crate) fn origin(&self) -> &[Origin] {
        &self.origin
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Counts a call, and returns its failure if a fault applies.
    pub(crate) fn enter(&mut self, call: Call, role: Role, offset: u64, size: usize) -> Result<(), Failure> {
        if let Some(calls) = &mut self.calls {
            calls.push(CallRecord {
                call,
                role,
                offset,
                size,
            });
        }
        self.faults.meet(call, role).map_or(Ok(()), Err)
    }

    pub(crate) fn node(&mut self, inode: Inode) -> Result<&mut Node, Code> {
        self.nodes.get_mut(&inode).ok_or(Code::IOERR)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    pub(crate) fn create(&mut self, role: Role, path: Option<&str>) -> Inode {
        let inode = self.add(role, Content::default(), path);
        self.log.push(Operation::Create {
            inode,
            path: path.map(str::to_owned),
            role,
        });
        inode
    }

    fn add(&mut self, role: Role, content: Content, path: Option<&str>) -> Inode {
        let inode = Inode(self.number());
        self.nodes.insert(
            inode,
            Node {
                role,
                content,
                locks: LockTable::default(),
                shm: ShmTable::default(),
                open_count: 0,
                has_name: path.is_some(),
            },
        );
        if let Some(path) = path {
            self.names.insert(path.to_owned(), inode);
        }
        inode
    }

    pub(crate) fn read(&mut self, inode: Inode, out: &mut [u8], offset: u64) -> Result<usize, Code> {
        let node = self.node(inode)?;
        let (role, known) = (node.role, node.content.read(out, offset));
        if let Some(shim) = &self.read_shim {
            shim(role, offset, &mut out[..known], &self.spied);
        }
        Ok(known)
    }

    pub(crate) fn write(&mut self, inode: Inode, data: &[u8], offset: u64) -> Result<(), Code> {
        let role = self.node(inode)?.role;
        let end = offset + to_u64(data.len());
        let growth = end.saturating_sub(self.node(inode)?.content.size());
        if self.capacity.is_some_and(|capacity| self.used() + growth > capacity) {
            return Err(Code::FULL);
        }
        if role == Role::Main && self.forgotten.contains(&offset) && end <= self.forgotten.end {
            let node = self.node(inode)?;
            node.content.truncate(end.max(node.content.size()));
            return Ok(());
        }
        let mut data: Arc<[u8]> = data.into();
        if let (Some(shim), Some(bytes)) = (&self.write_shim, Arc::get_mut(&mut data)) {
            shim(role, offset, bytes, &self.spied);
        }
        self.node(inode)?.content.write(&data, offset);
        self.log.push(Operation::Write {
            inode,
            role,
            offset,
            data,
        });
        Ok(())
    }

    pub(crate) fn truncate(&mut self, inode: Inode, size: u64) -> Result<(), Code> {
        self.node(inode)?.content.truncate(size);
        self.log.push(Operation::Truncate { inode, size });
        Ok(())
    }

    pub(crate) fn sync(&mut self, inode: Inode, with_folder: bool) -> Result<(), Code> {
        let role = self.node(inode)?.role;
        if self.ignored_syncs.contains(&role) {
            return Ok(());
        }
        self.log.push(Operation::Sync { inode, role });
        if with_folder {
            self.log.push(Operation::SyncFolder);
        }
        Ok(())
    }

    pub(crate) fn delete(&mut self, path: &str, sync_folder: bool) -> Result<(), Code> {
        let inode = self.names.remove(path).ok_or(Code::IOERR_DELETE_NOENT)?;
        self.log.push(Operation::Delete {
            inode,
            path: path.to_owned(),
        });
        self.node(inode)?.has_name = false;
        self.drop_unused(inode);
        if sync_folder {
            self.log.push(Operation::SyncFolder);
        }
        Ok(())
    }

    pub(crate) fn close(&mut self, inode: Inode, handle: Handle) {
        let Some(node) = self.nodes.get_mut(&inode) else { return };
        node.locks.unlock(handle, selenite_vfs::ffi::LockLevel::NONE);
        node.shm.unmap(handle);
        node.open_count -= 1;
        self.drop_unused(inode);
    }

    pub(crate) fn drop_unused(&mut self, inode: Inode) {
        if self
            .nodes
            .get(&inode)
            .is_some_and(|node| node.open_count == 0 && !node.has_name)
        {
            self.nodes.remove(&inode);
        }
    }

    fn used(&self) -> u64 {
        self.nodes.values().map(|node| node.content.size()).sum()
    }
}
