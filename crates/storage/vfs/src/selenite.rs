//! The VFS `selenite`: selects the treatment of a file by its role.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_int};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use selenite_format::anchor::ShortAnchor;

use crate::clear_file::ClearFile;
use crate::database::{Content, Credentials, Database};
use crate::environment;
use crate::error::VfsError;
use crate::ffi::{
    Api, Code, FunctionCall, LowerVfs, Name, OpenFlags, OpenedFile, Registered, SchemaFile, VFS_NAME, Vfs,
    check_support, file_identity, make_private_file, path_of_name, register,
};
use crate::file_counts::{DatabaseFileCounts, FileCounts};
use crate::host::{Host, Identify};
use crate::last_errors::LastError;
use crate::locked_memory;
use crate::main_file::MainFile;
use crate::main_file::anchor_check::AnchorCheck;
use crate::main_file::move_over::{self, MoveOver};
use crate::moving_journal::{MovingJournal, journal_of};
use crate::nameless_file::NamelessFile;
use crate::open_databases::OpenDatabases;
use crate::own_descriptors;
use crate::role::Role;
use crate::settings::Settings;
use crate::wal_file::WalFile;

/// The VFS of one copy of SQLite.
pub struct Selenite {
    host: Arc<Host>,
    databases: Arc<OpenDatabases>,
}

/// The state of each copy of SQLite in this process that has loaded the VFS.
struct Installed {
    host: Arc<Host>,
    databases: Arc<OpenDatabases>,
    registered: Registered,
}

static INSTALLED: Mutex<BTreeMap<usize, Installed>> = Mutex::new(BTreeMap::new());

/// Registers the VFS with a copy of SQLite, once: above the VFS that is the default at that time,
/// not "unix" by name.
///
/// `SELENITE_DEFAULT=1` makes it the default immediately.
///
/// # Errors
/// A message for the user.
pub fn install(api: Api) -> Result<(), String> {
    check_support()?;
    let lower = api.find_vfs(None).ok_or("SQLite has no VFS")?;
    install_above(api, lower, file_identity)
}

/// As [`install`], above a VFS chosen by the caller, for tests.
///
/// # Errors
/// A message for the user.
pub fn install_above(api: Api, lower: LowerVfs, identify: Identify) -> Result<(), String> {
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if installed.contains_key(&api.identity()) {
        return Ok(());
    }
    let host = Arc::new(Host::new(api, lower, identify));
    let databases = Arc::new(OpenDatabases::default());
    // Measurements use this variable to disable AES instructions
    // (docs/decisions/0007-two-gcm-libraries.md).
    if environment::variable("OPENSSL_ia32cap").is_some() {
        selenite_cipher::prefer_aws_lc();
    }
    let default = environment::variable("SELENITE_DEFAULT").is_some_and(|value| value == "1");
    let vfs = Box::new(Selenite {
        host: host.clone(),
        databases: databases.clone(),
    });
    let registered = register(api, VFS_NAME, lower, vfs, default).map_err(|code| code.to_string())?;
    let known = Installed {
        host,
        databases,
        registered,
    };
    installed.insert(api.identity(), known);
    Ok(())
}

/// Registers another VFS with each copy of SQLite that has loaded this one. It is made of the VFS
/// below this one, and of this one: for files that have to be sealed.
///
/// # Errors
/// A message for the user.
pub fn register_beside(name: &CStr, make: impl Fn(LowerVfs, LowerVfs) -> Box<dyn Vfs>) -> Result<(), String> {
    for host in hosts() {
        let sealed = host
            .api
            .find_vfs(Some(VFS_NAME))
            .ok_or("the VFS selenite is not registered")?;
        register(host.api, name, host.lower, make(host.lower, sealed), false).map_err(|code| code.to_string())?;
    }
    Ok(())
}

pub(crate) fn host_of(api: &Api) -> Option<Arc<Host>> {
    let installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    installed.get(&api.identity()).map(|installed| installed.host.clone())
}

/// Why a file of the connection was last refused, or one that it could not attach.
pub(crate) fn last_error_of(api: &Api, files: &[SchemaFile]) -> Option<LastError> {
    let (host, databases) = {
        let installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = installed.get(&api.identity())?;
        (known.host.clone(), known.databases.clone())
    };
    databases.last_error_of(&host, files)
}

/// Why the file at a path was last refused in this process, by any copy of SQLite.
#[must_use]
pub fn last_error_at(path: &Path) -> Option<LastError> {
    hosts().iter().find_map(|host| host.last_error_at(path))
}

/// The reads and writes of a database's files by this process, since it first opened them: calls of
/// the VFS below, whether the database is encrypted or not. `None` for a database that was never
/// opened here.
///
/// Counting takes no locks and never waits; this function visits every open file of the database.
#[must_use]
pub fn file_counts(database: &Path) -> Option<DatabaseFileCounts> {
    // A file is open in one copy of SQLite at a time; another copy may have had it open before.
    let counts = hosts();
    let counts = counts.iter().filter_map(|host| host.file_meters.read(database));
    counts.reduce(DatabaseFileCounts::plus)
}

/// The counts of all temporary files: sorts, statement journals, temporary databases.
#[must_use]
pub fn temporary_file_counts() -> FileCounts {
    let hosts = hosts();
    let counts = hosts.iter().map(|host| host.file_meters.read_temporary());
    counts.fold(FileCounts::default(), FileCounts::plus)
}

/// Counts a sync of a database's file that the caller made with its own descriptor.
pub fn note_sync(database: &Path, role: Role, time: Duration) {
    let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let hosts = hosts();
    // One copy is enough: the counts of all copies are added up.
    let _ = hosts.iter().any(|host| host.file_meters.note_sync(database, role, ns));
}

/// Removes the counts of a deleted database: another one at its path starts at 0.
pub fn forget_file_counts(database: &Path) {
    for host in hosts() {
        host.file_meters.forget(database);
    }
}

/// All copies of SQLite in this process that have loaded the VFS.
fn hosts() -> Vec<Arc<Host>> {
    let installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    installed.values().map(|installed| installed.host.clone()).collect()
}

/// Keeps the error message of a function outside the VFS, for `selenite_last_error()`.
pub fn keep_error(call: &FunctionCall<'_>, of: &str, what: &str) {
    if let Some(host) = host_of(call.api()) {
        let main = call.files().into_iter().next().and_then(|file| file.path);
        host.keep_text(main.as_deref().unwrap_or(of), &format!("{of}: {what}"));
    }
}

pub(crate) fn make_default(api: &Api) -> Result<(), Code> {
    let registered = {
        let installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        installed.get(&api.identity()).ok_or(Code::MISUSE)?.registered
    };
    registered.set_default(true)
}

const ANCHORED_IS_EMPTY: &str =
    "with anchor= it has to exist, and to be encrypted; make it without, and run selenite follow --first-anchor";

impl Selenite {
    fn try_open(&self, name: Option<&Name<'_>>, flags: OpenFlags) -> Result<OpenedFile, VfsError> {
        match (Role::of(flags, name.is_some()), name) {
            (Role::Main, Some(name)) => self.open_main(name, flags),
            (Role::Wal, Some(name)) => self.open_beside(name, flags, Role::Wal),
            (Role::Journal, Some(name)) => self.open_beside(name, flags, Role::Journal),
            (Role::SuperJournal, Some(name)) => {
                let (lower, flags) = self.host.lower.open(Some(name), flags)?;
                Ok(OpenedFile {
                    file: Box::new(ClearFile::new(lower)),
                    flags,
                    has_shm: false,
                })
            }
            (Role::Nameless, name) => {
                let (mut lower, flags) = self.host.lower.open(name, flags)?;
                lower.set_meter(Some(self.host.file_meters.temporary_meter()));
                let file = NamelessFile::new(self.host.clone(), lower)?;
                Ok(OpenedFile {
                    file: Box::new(file),
                    flags,
                    has_shm: false,
                })
            }
            (Role::Main | Role::Wal | Role::Journal | Role::SuperJournal, None) => Err(Code::CANTOPEN.into()),
        }
    }

    /// Opens a database; again if another file has taken its name meanwhile: it would be left behind before it is
    /// registered as one that moves (`move_over.rs`).
    fn open_main(&self, name: &Name<'_>, flags: OpenFlags) -> Result<OpenedFile, VfsError> {
        let identify = || (self.host.identify)(name.path());
        for _ in 0..move_over::REPLACED_MAX {
            let before = identify();
            let opened = self.open_main_once(name, flags);
            let is_replaced = before.is_some() && identify() != before;
            let is_refused = opened.as_ref().is_err_and(|error| !error.is_retired());
            if is_refused || !is_replaced {
                return opened;
            }
        }
        self.open_main_once(name, flags)
    }

    fn open_main_once(&self, name: &Name<'_>, flags: OpenFlags) -> Result<OpenedFile, VfsError> {
        let config = Host::load_config()?;
        let settings = Settings::read(name, &environment::variable, &config)?;
        let path = name.path();
        let text = path.to_string_lossy().into_owned();
        if flags.has(OpenFlags::CREATE) && is_missing_or_empty(path) {
            settings.check_new()?;
        }
        if settings.anchor.is_some() && is_missing_or_empty(path) {
            return Err(VfsError::Unexpected(ANCHORED_IS_EMPTY));
        }
        if settings.lock_memory {
            locked_memory::lock()?;
        }
        let credentials = Credentials::load(config, &settings, path, self.host.is_linked(path))?;
        if let Some(readable) = settings
            .identity
            .as_ref()
            .and_then(selenite_keyring::readable_by_others)
        {
            self.host.warn_of_readers(readable);
        }
        if let Some(size) = settings.pool_size {
            self.host.pool.set_limit(size);
        }
        let gate = own_descriptors::gate();
        let open_guard = self.host.register_open(&text, |is_present| {
            own_descriptors::has_open(path) && !is_ours(path, is_present)
        })?;
        let is_made = flags.has(OpenFlags::CREATE) && self.make_private(name);
        let open = || self.host.lower.open(Some(name), flags);
        let ((mut lower, flags), descriptors) = match settings.may_move() {
            true => own_descriptors::noting(path, open)?,
            false => (open()?, Vec::new()),
        };
        drop(gate);
        lower.set_meter(self.host.meter(&settings, &text, Role::Main));
        let has_shm = lower.has_shm();
        let database = Arc::new(Database::open(open_guard, credentials, settings, text, lower)?);
        self.databases.add(name, &database);
        let has_content = !matches!(database.content(), Content::Empty);
        let may_move = has_content && has_shm && database.settings.may_move();
        let anchor = self.anchor_of(&database)?;
        let mut file = MainFile::new(database)?;
        if let (Some(anchor), Some(log)) = (anchor, name.log()) {
            file.set_anchor_check(AnchorCheck::new(anchor, log.keep()));
        }
        if may_move && move_over::register(&descriptors) {
            file.set_move_over(MoveOver::new(name.keep(), flags));
        }
        if is_made {
            file.note_made();
        }
        Ok(OpenedFile {
            file: Box::new(file),
            flags,
            has_shm,
        })
    }

    /// The anchor with which a database has to be compared.
    fn anchor_of(&self, database: &Database) -> Result<Option<ShortAnchor>, VfsError> {
        let Some(place) = &database.settings.anchor else {
            return Ok(None);
        };
        let look = || match database.content() {
            Content::Sealed(view) => place.expect(database.config(), &view.unlocked),
            Content::Empty | Content::Plain => Err(VfsError::Unexpected(ANCHORED_IS_EMPTY)),
        };
        let found = match look() {
            // Another process may have changed keys, and an anchor been written, since the superblock was read.
            Err(VfsError::Older(_)) => {
                database.refresh(&mut database.lock())?;
                look()
            }
            found => found,
        };
        match found {
            Ok(anchor) => Ok(Some(anchor)),
            Err(error @ VfsError::NoAnchor(_)) if database.settings.allow_no_anchor => {
                self.host.remark(&database.path, &error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Creates a new database that only its owner may access: SQLite's own VFS would let everyone
    /// read it that the umask allows. That VFS gives logs and journals the mode of their database.
    /// Returns whether the file was created. For another mode, a caller names a file that has it
    /// (`modeof=`), or creates the file first.
    fn make_private(&self, name: &Name<'_>) -> bool {
        let is_on_disk = self.host.lower.name().to_bytes().starts_with(b"unix");
        // An existing file stays; any other obstacle is an error that the VFS below encounters and
        // reports.
        is_on_disk && name.parameter(c"modeof").is_none() && make_private_file(name.text()).is_ok()
    }

    /// Opens a WAL or journal, with the treatment of its database.
    fn open_beside(&self, name: &Name<'_>, flags: OpenFlags, role: Role) -> Result<OpenedFile, VfsError> {
        // A file that is opened read-only may be the journal of another database, which SQLite
        // reads for its super-journal.
        let is_own = !flags.has(OpenFlags::READ_ONLY);
        let found = self.databases.find(&name.database());
        let database = found.or_else(|| self.databases.find_by_suffix(name).filter(|_| is_own));
        let (mut lower, flags) = self.host.lower.open(Some(name), flags)?;
        if let Some(database) = &database {
            lower.set_meter(self.host.meter(&database.settings, &database.path, role));
        }
        let commits = match (&database, role) {
            (Some(database), Role::Wal) if self.host.counts_calls(&database.settings) => {
                self.host.file_meters.commit_meter(&database.path)
            }
            (Some(_) | None, _) => None,
        };
        let file: Box<dyn crate::ffi::File> = match (database, role) {
            (Some(database), Role::Wal) => Box::new(WalFile::new(database, lower, commits, (name.keep(), flags))?),
            (Some(database), Role::Journal) if database.settings.may_move() => {
                Box::new(MovingJournal::new(database, lower, (name.keep(), flags))?)
            }
            (Some(database), _) => journal_of(&database, lower)?,
            // Without its database (SQLite reads the journals of others for super-journals) it is only read.
            (None, _) if !flags.has(OpenFlags::READ_ONLY) => {
                return Err(VfsError::SettingsMismatch("a journal without its database"));
            }
            (None, _) => Box::new(ClearFile::new(lower)),
        };
        Ok(OpenedFile {
            file,
            flags,
            has_shm: false,
        })
    }
}

impl Vfs for Selenite {
    fn open(&self, name: Option<&Name<'_>>, flags: OpenFlags) -> Result<OpenedFile, Code> {
        self.try_open(name, flags).map_err(|error| {
            let path = name.map_or_else(
                || "a temporary file".into(),
                |name| name.path().to_string_lossy().into_owned(),
            );
            self.host.report_unopened(&path, &error)
        })
    }

    fn delete(&self, path: &CStr, sync_dir: bool) -> Result<(), Code> {
        self.host.lower.delete(path, sync_dir)
    }

    fn access(&self, path: &CStr, flags: c_int) -> Result<bool, Code> {
        self.host.lower.access(path, flags)
    }

    fn full_pathname(&self, path: &CStr, out: &mut [u8]) -> Result<bool, Code> {
        let found = self.host.lower.full_pathname(path, out)?;
        let asked = path_of_name(path);
        if let Ok(full) = CStr::from_bytes_until_nul(out) {
            let full = path_of_name(full);
            self.host.note_link(full, selenite_keyring::passes_link(asked));
        }
        Ok(found)
    }

    fn is_sealing(&self) -> bool {
        true
    }
}

/// Whether a descriptor of this process on that file may belong to this copy, under another path.
fn is_ours(path: &Path, is_present: &dyn Fn(&str) -> bool) -> bool {
    std::fs::canonicalize(path).is_ok_and(|real| is_present(&real.to_string_lossy()))
}

fn is_missing_or_empty(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |metadata| metadata.len() == 0)
}
