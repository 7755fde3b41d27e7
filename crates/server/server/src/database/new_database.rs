//! CREATE DATABASE: a name and a file, both of them or neither.
//!
//! - `creation-is-noted-first`: master.db first notes that the database is being created, which is
//!   visible to no one, and then which file it will be. The file is written completely under the
//!   name of a draft, and gets its own name in one step, and only where no file has that name. Then
//!   master.db notes that the database exists.
//! - `next-start-completes`: the next start completes or undoes what a kill between two of these
//!   steps left ([`crate::database::unfinished`]): the noted id tells whether the file is ours.
//! - `draft-is-named-by-id`: the draft is named by the database's id, which no other database has
//!   meanwhile: a file with that name was left by a kill.

use std::path::{Path, PathBuf};

use selenite::storage::{Disk, Storage};
use selenite::{Access, Database, Draft, EngineError, Layout, Suite};
use selenite_keyring::OriginPolicy;

use crate::NewDatabases;
use crate::catalog::{catalog_rows, principals};
use crate::database::database_connection::look_by;
use crate::database::expectation::plain_access;
use crate::master::{DatabaseName, DatabaseRecord, Master, MasterError, load_commitment};

/// A database that is being created.
pub struct NewDatabase<'a> {
    master: &'a Master,
    access: Access,
    new_databases: NewDatabases,
    record: DatabaseRecord,
    path: PathBuf,
    owner: Option<NewOwner>,
}

/// The login that creates a database and is no administrator: it becomes a user of it, in `db_owner`.
#[derive(Clone, Debug)]
pub struct NewOwner {
    /// Its name, which the user gets.
    pub name: String,
    /// Its security id.
    pub sid: Vec<u8>,
}

/// Why none was created.
#[derive(Debug)]
pub enum NotMade {
    /// A database of that name exists.
    Taken(String),
    /// There is a file at its path that the server does not know.
    FileIsThere(PathBuf),
    /// The error of master.db.
    Master(MasterError),
    /// The error of the file.
    Failed(String),
}

impl From<EngineError> for NotMade {
    fn from(error: EngineError) -> Self {
        if let EngineError::Exists { path, .. } = error {
            return Self::FileIsThere(path);
        }
        Self::Failed(error.to_string())
    }
}

impl From<MasterError> for NotMade {
    fn from(error: MasterError) -> Self {
        if let MasterError::Taken(name) = error {
            return Self::Taken(name);
        }
        Self::Master(error)
    }
}

impl<'a> NewDatabase<'a> {
    /// Notes that it is being created.
    ///
    /// # Errors
    /// [`NotMade`]; nothing is noted then.
    pub fn begin(
        master: &'a Master,
        folder: &Path,
        (access, new_databases): (&Access, NewDatabases),
        (name, owner): (&DatabaseName, Option<NewOwner>),
    ) -> Result<Self, NotMade> {
        let path = name.path(folder);
        let record = master.add_database(name)?;
        let new = Self {
            master,
            // No other process makes a file under a draft's name, and from here on its commitment identifies it.
            access: Access {
                origin: Some(OriginPolicy::Any),
                ..plain_access(access)
            },
            new_databases,
            record,
            path,
            owner,
        };
        if let Some(there) = in_the_way(&new.path) {
            new.give_up();
            return Err(NotMade::FileIsThere(there));
        }
        Ok(new)
    }

    /// Creates its file, under a draft's name.
    ///
    /// # Errors
    /// [`NotMade`].
    pub fn make(&self) -> Result<Draft<'static>, NotMade> {
        let path = draft_of(&self.path, self.record.id)?;
        remove_draft(&path).map_err(|error| NotMade::Failed(error.to_string()))?;
        let draft = Draft::create_at(&Disk, path)?;
        let layout = match self.new_databases {
            // Under the server's identity, from the first byte on.
            NewDatabases::Encrypted => Layout::default(),
            // In clear until SET ENCRYPTION ON; the layout is the one that it is switched on in.
            NewDatabases::Clear => Layout {
                suite: Suite::None,
                ..Layout::default()
            },
        };
        drop(Database::create(&Disk, draft.path(), &self.access, &layout)?);
        self.fill(draft.path())?;
        let known = load_commitment(draft.path(), &self.access)?;
        let (id, commitment) = known.ok_or_else(|| NotMade::Failed("a new file without an id".to_owned()))?;
        self.master.note_file_id(self.record.id, id)?;
        self.master.note_commitment(self.record.id, commitment)?;
        Ok(draft)
    }

    fn fill(&self, path: &Path) -> Result<(), NotMade> {
        let failed = |error: &dyn std::fmt::Display| NotMade::Failed(error.to_string());
        let connection = look_by(path, &self.access).map_err(|error| failed(&error))?;
        catalog_rows::ensure(&connection, "main").map_err(|error| failed(&error))?;
        if let Some(owner) = &self.owner {
            let added = principals::add_owner(&connection, (&owner.name, &owner.sid), self.record.created);
            added.map_err(|error| failed(&error))?;
        }
        connection.close().map_err(|(_, error)| failed(&error))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`NotMade`].
    pub fn publish(&self, draft: Draft<'_>) -> Result<(), NotMade> {
        let failed = |error: std::io::Error| NotMade::Failed(error.to_string());
        draft.finish(&Disk.attributes(draft.path()).map_err(failed)?)?;
        if let Some(there) = in_the_way(&self.path) {
            return Err(NotMade::FileIsThere(there));
        }
        Ok(draft.publish(&self.path)?)
    }

    /// Notes that it exists.
    ///
    /// # Errors
    /// The error of master.db.
    pub fn finish(self) -> Result<DatabaseRecord, MasterError> {
        if self.new_databases == NewDatabases::Encrypted {
            self.master.require_encryption(self.record.id, true)?;
        }
        self.master.finish_file(self.record.id)?;
        Ok(self.record)
    }

    /// Its number.
    pub fn id(&self) -> i32 {
        self.record.id
    }

    fn give_up(&self) {
        // What can't be undone here is undone by the next start.
        let _ = self.master.remove_database(&self.record.name);
    }
}

/// A file at the path of a new database's, or that SQLite would take for a part of it.
pub fn in_the_way(path: &Path) -> Option<PathBuf> {
    let files = COMPANIONS.iter().map(|companion| beside(path, companion));
    files.into_iter().find(|file| file.symlink_metadata().is_ok())
}

/// The path of the draft of a new database.
///
/// # Errors
/// [`EngineError::Usage`] for an invalid file name.
pub fn draft_of(path: &Path, database_id: i32) -> Result<PathBuf, EngineError> {
    Draft::path_of(path, &format!("{database_id:08x}"))
}

/// Removes a draft, and SQLite's files beside it.
///
/// # Errors
/// The error of the system.
pub fn remove_draft(path: &Path) -> std::io::Result<()> {
    for companion in ["-journal", "-wal", "-shm", ""] {
        remove_if_there(&beside(path, companion))?;
    }
    Ok(())
}

/// Removes a file, if it exists.
///
/// # Errors
/// The error of the system.
pub fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The path with this suffix.
pub fn beside(path: &Path, companion: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(companion);
    PathBuf::from(name)
}

/// A database's file and those beside it, the database first.
pub const COMPANIONS: [&str; 6] = ["", "-wal", "-shm", "-journal", "-selenite", "-selenite-pause"];
