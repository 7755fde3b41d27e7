//! The SQLite VFS `sim`: files on the thread's [`Disk`]. Selenite is installed above it as
//! `selenite`, and [`crate::spy`] above Selenite as `spy`.

use std::ffi::{CStr, c_int};
use std::sync::OnceLock;

use selenite_vfs::ffi::{Api, Code, Name, OpenFlags, OpenedFile, Vfs, install_linked, register};
use selenite_vfs::role::Role;
use selenite_vfs::selenite::install_above;

use crate::fault::code_of;
use crate::lock_table::Handle;
use crate::sim_file::SimFile;
use crate::{Call, Disk, spy};

static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();

/// Registers `sim`, `selenite` and `spy` with the linked SQLite, once per process.
///
/// # Panics
/// If SQLite rejects them.
pub fn install() {
    static LINKED: OnceLock<()> = OnceLock::new();
    LINKED.get_or_init(|| {
        let installer = selenite_vfs::ffi::Installer {
            install: install_all,
            ..selenite_vfs::installer()
        };
        install_linked(installer, rusqlite::ffi::sqlite3_auto_extension).expect("SQLite takes an extension");
        // The first connection initialises SQLite's function table.
        rusqlite::Connection::open_in_memory().expect("a database in memory needs no file");
    });
}

fn install_all(api: Api) -> Result<(), String> {
    INSTALLED
        .get_or_init(|| {
            let system = api.find_vfs(None).ok_or("SQLite has no VFS")?;
            register(api, c"sim", system, Box::new(Sim), false).map_err(|code| code.to_string())?;
            let sim = api.find_vfs(Some(c"sim")).ok_or("sim was not registered")?;
            install_above(api, sim, identify)?;
            spy::register_above(api)
        })
        .clone()
}

/// The counterpart of device and inode.
fn identify(path: &std::path::Path) -> Option<(u64, u64)> {
    let disk = Disk::current().ok()?;
    let inode = disk.lock().names.get(path.to_str()?).copied()?;
    Some((u64::try_from(std::sync::Arc::as_ptr(&disk).addr()).ok()?, inode.0))
}

struct Sim;

impl Vfs for Sim {
    fn open(&self, name: Option<&Name<'_>>, flags: OpenFlags) -> Result<OpenedFile, Code> {
        let disk = Disk::current()?;
        let role = Role::of(flags, name.is_some());
        let path = name.map(|name| name.path().to_string_lossy().into_owned());
        let (inode, handle) = {
            let mut state = disk.lock();
            state.enter(Call::Open, role, 0, 0).map_err(code_of)?;
            let found = path.as_ref().and_then(|path| state.names.get(path).copied());
            let inode = match found {
                Some(inode) => inode,
                None if flags.has(OpenFlags::CREATE) => state.create(role, path.as_deref()),
                None => return Err(Code::CANTOPEN),
            };
            let handle = Handle(state.number());
            let node = state.node(inode)?;
            node.open_count += 1;
            if flags.has(OpenFlags::DELETE_ON_CLOSE) && path.is_none() {
                node.has_name = false;
            }
            (inode, handle)
        };
        // os_unix.c: the first sync of a journal that may be new syncs its folder, too.
        let syncs_folder = flags.has(OpenFlags::CREATE)
            && match role {
                Role::Wal | Role::Journal | Role::SuperJournal => true,
                Role::Main | Role::Nameless => false,
            };
        let has_shm = role == Role::Main;
        Ok(OpenedFile {
            file: Box::new(SimFile {
                disk,
                inode,
                handle,
                role,
                syncs_folder,
                is_read_only: !flags.has(OpenFlags::READ_WRITE),
            }),
            flags,
            has_shm,
        })
    }

    fn delete(&self, path: &CStr, sync_dir: bool) -> Result<(), Code> {
        let disk = Disk::current()?;
        let path = path.to_string_lossy();
        let mut state = disk.lock();
        let role = role_of(
            &state
                .names
                .get(&*path)
                .and_then(|inode| Some(state.nodes.get(inode)?.role)),
        );
        state.enter(Call::Delete, role, 0, 0).map_err(code_of)?;
        state.delete(&path, sync_dir)
    }

    fn access(&self, path: &CStr, flags: c_int) -> Result<bool, Code> {
        const EXISTS: c_int = 0;
        let disk = Disk::current()?;
        let state = disk.lock();
        let path = path.to_string_lossy();
        let size = state.names.get(&*path).map(|inode| state.nodes[inode].content.size());
        // os_unix.c: an empty file does not count as one that exists.
        Ok(size.is_some_and(|size| flags != EXISTS || size > 0))
    }

    fn full_pathname(&self, path: &CStr, out: &mut [u8]) -> Result<bool, Code> {
        let bytes = path.to_bytes_with_nul();
        let place = out.get_mut(..bytes.len()).ok_or(Code::CANTOPEN)?;
        place.copy_from_slice(bytes);
        Ok(false)
    }
}

fn role_of(role: &Option<Role>) -> Role {
    role.unwrap_or(Role::Main)
}
