//! The rollback journal of a database that another one may take the name of (`main_file/move_over.rs`).
//!
//! - follows-the-database: with `journal_mode` TRUNCATE or PERSIST SQLite keeps the journal open between transactions.
//!   When the connection has moved, the journal of the new database is opened by its name, and treated as its kind asks:
//!   nothing of an encrypted database is written as that of an unencrypted one.

use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;

use crate::clear_file::ClearFile;
use crate::database::{Content, Database};
use crate::error::VfsError;
use crate::ffi::{Code, File, KeptName, LockLevel, LowerFile, OpenFlags, RawControl, SyncFlags};
use crate::journal_file::JournalFile;
use crate::role::Role;

/// An open journal.
pub struct MovingJournal {
    database: Arc<Database>,
    file: Box<dyn File>,
    /// With what it can be opened again.
    reopen: (KeptName, OpenFlags),
    /// Of [`Database::file_no`].
    file_no: u64,
}

/// The journal of a database, as its kind asks.
///
/// # Errors
/// If the system's random number generator fails.
pub fn journal_of(database: &Arc<Database>, lower: LowerFile) -> Result<Box<dyn File>, VfsError> {
    Ok(match database.content() {
        Content::Plain => Box::new(ClearFile::new(lower)),
        Content::Sealed(_) | Content::Empty => Box::new(JournalFile::new(database.clone(), lower)?),
    })
}

impl MovingJournal {
    /// A journal that was just opened.
    ///
    /// # Errors
    /// As [`journal_of`].
    pub fn new(database: Arc<Database>, lower: LowerFile, reopen: (KeptName, OpenFlags)) -> Result<Self, VfsError> {
        Ok(Self {
            file: journal_of(&database, lower)?,
            file_no: database.file_no(),
            database,
            reopen,
        })
    }

    /// `follows-the-database`.
    fn file(&mut self) -> Result<&mut dyn File, Code> {
        let file_no = self.database.file_no();
        if self.file_no != file_no {
            let opened = self.open_again();
            self.file = opened.map_err(|error| self.database.report(&error))?;
            self.file_no = file_no;
        }
        Ok(self.file.as_mut())
    }

    fn open_again(&self) -> Result<Box<dyn File>, VfsError> {
        let (name, flags) = &self.reopen;
        let host = &self.database.host;
        let flags = OpenFlags(flags.0 | OpenFlags::CREATE.0);
        let (mut lower, _) = host.lower.open(Some(name.get()), flags)?;
        lower.set_meter(host.meter(&self.database.settings, &self.database.path, Role::Journal));
        journal_of(&self.database, lower)
    }
}

impl File for MovingJournal {
    fn read(&mut self, out: &mut [u8], offset: u64) -> Result<(), Code> {
        self.file()?.read(out, offset)
    }

    fn write(&mut self, data: &[u8], offset: u64) -> Result<(), Code> {
        self.file()?.write(data, offset)
    }

    fn truncate(&mut self, size: u64) -> Result<(), Code> {
        self.file()?.truncate(size)
    }

    fn sync(&mut self, flags: SyncFlags) -> Result<(), Code> {
        self.file()?.sync(flags)
    }

    fn size(&mut self) -> Result<u64, Code> {
        self.file()?.size()
    }

    fn lock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.file()?.lock(level)
    }

    fn unlock(&mut self, level: LockLevel) -> Result<(), Code> {
        self.file()?.unlock(level)
    }

    fn check_reserved_lock(&mut self) -> Result<bool, Code> {
        self.file()?.check_reserved_lock()
    }

    fn control(&mut self, control: &mut RawControl) -> Result<(), Code> {
        self.file()?.control(control)
    }

    fn sector_size(&mut self) -> c_int {
        self.file.sector_size()
    }

    fn device_characteristics(&mut self) -> c_int {
        self.file.device_characteristics()
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self.file.as_any()
    }
}
